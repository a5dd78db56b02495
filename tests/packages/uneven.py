# SPDX-License-Identifier: MIT
"""Profiles of programs whose work is uneven, and of one whose work is even, for tests/python/test_model_uneven.py.

    uneven.py [--program NAME] [FOLDER]    records all of them on two emulated hosts at 1 Gb/s (Open MPI)

LAMMPS has its atoms in a part of the box, so that one rank has most of them; heat3d gives its last rank twice the
planes; of bench/characters.c one rank works twice as long. The fourth is heat3d with as many planes on each rank.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests"), str(ROOT / "tests/mpi")]

from packages.jobs import ONE_THREAD, find_family  # noqa: E402

from lapwing.bench.installed_inputs import make_lammps_input  # noqa: E402
from lapwing.model.document import FORMAT  # noqa: E402
from lapwing.model.profile import JobProfile, SiteStatistics  # noqa: E402
from lapwing.model.reader import read_profile  # noqa: E402

STEPS, WORK_MS = "20", 10
SOURCES = ("examples/heat3d.c", "bench/characters.c")


def make_uneven_lammps() -> str:
    """Atoms in 14 of 20 cells: the rank of the left half has 10 of them, the other one 4."""
    text = make_lammps_input(neighbour_steps=10, printed_steps=60, step_count=60)
    atoms = "region left block 0 14 0 20 0 20\ncreate_atoms 1 region left\n"
    return "processors 2 1 1\n" + text.replace("create_atoms 1 box\n", atoms)


def list_programs(folder: Path, units: str) -> dict[str, Sequence[str]]:
    """The command lines, by the name of the profile. units: of the characters' work."""
    heat3d, characters = str(folder / "heat3d"), str(folder / "characters")
    return {
        "lammps_uneven": ["lmp", "-in", "melt.txt", "-log", "none"],
        "heat3d_uneven": [heat3d, "512", "64", "150", STEPS, "all", "150"],
        "characters_uneven": [characters, "uneven", units, "262144", STEPS],
        "heat3d_even": [heat3d, "512", "64", "60", STEPS],
    }


def build(folder: Path) -> None:
    """Compile the two programs of ours, and write LAMMPS's input."""
    compiler = str(find_family("openmpi4", Path()).compiler)
    for source in SOURCES:
        program = folder / Path(source).stem
        subprocess.run([compiler, "-O2", "-g", "-o", program, ROOT / source, "-lm"], check=True)
    (folder / "melt.txt").write_text(make_uneven_lammps())


def record(name: str, words: Sequence[str], folder: Path, kept: Path) -> None:
    """Profile one program, and keep its profile as JSON."""
    family, path = find_family("openmpi4", Path()), folder / f"{name}.record"
    lab = [sys.executable, "-m", "lapwing", "lab", "--", "lapwing", "profile", "--quiet", "--output", str(path)]
    environment = {**os.environ, **family.environment, **ONE_THREAD}
    subprocess.run([*lab, str(family.launcher), "-n", "2", *words], cwd=folder, env=environment, check=True)
    command = " ".join([Path(words[0]).name, *words[1:]])
    profile = replace(shorten(read_profile(path), folder), name=name, command=command)
    document = json.loads(FORMAT.encode(profile))
    (kept / f"{name}.json").write_text(json.dumps(document, separators=(",", ":")) + "\n")


def shorten_site(site: SiteStatistics, folder: Path) -> SiteStatistics:
    """Leave out where its buffer is touched, why calls are passed, and which folders this machine has."""
    module, file = site.module.removeprefix(f"{folder}/"), site.file.removeprefix(f"{ROOT}/")
    return replace(site, touches=(), passes={}, module=module, file=file)


def shorten(profile: JobProfile, folder: Path) -> JobProfile:
    """Shorten all sites. folder: of the programs."""
    ranks = [replace(rank, sites=tuple(shorten_site(site, folder) for site in rank.sites)) for rank in profile.ranks]
    return replace(profile, ranks=tuple(ranks))


def main() -> int:
    """Record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "tests/python/profiles", help="where to")
    parser.add_argument("--program", action="append", default=[], help="only this one (repeatable)")
    arguments = parser.parse_args()
    kept = arguments.folder.absolute()
    if shutil.which("lmp") is None:
        print("skip: there is no lmp (apt-get install lammps)")
        return 77
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="lapwing-uneven-") as name:
        folder = Path(name).resolve()
        build(folder)
        calibrated = subprocess.run([folder / "characters", "--calibrate"], capture_output=True, check=True).stdout
        units = str(round(WORK_MS * float(json.loads(calibrated)["units_per_ms"])))
        for program, words in list_programs(folder, units).items():
            if not arguments.program or program in arguments.program:
                record(program, words, folder, kept)
    return 0


if __name__ == "__main__":
    sys.exit(main())
