# SPDX-License-Identifier: MIT
"""Programs of the harm suite that distributions package: how to run them, and where they print the time that it took.

All time themselves, after MPI_Init: the launcher's start is not in it.
"""

import gzip
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lapwing.bench.contenders import Contender
from lapwing.bench.installed_inputs import (
    GROMACS_STEPS,
    GROMACS_TOPOLOGY,
    SILICON_POTENTIAL,
    make_gromacs_parameters,
    make_hpcc_input,
    make_lammps_input,
    make_quantum_espresso_input,
)
from lapwing.bench.place import ROOT_ALLOWED, Place, check_exit
from lapwing.errors import LapwingError
from lapwing.files import find_preload

PREPARE_LIMIT_S, RUN_LIMIT_S = 300.0, 300.0
# Linear algebra with threads of its own would fight with the ranks for the cores.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Installed:
    """How one of them is run."""

    words: Sequence[str]
    packages: str  # Debian's names
    times: str  # finds the seconds that it took, several to be added
    output: str = ""  # the file that has them; none: standard output
    files: Mapping[str, str] = field(default_factory=dict)
    unpacked: Mapping[str, str] = field(default_factory=dict)  # name: what it is unpacked from
    steps: Sequence[Sequence[str]] = ()  # make its input
    mpi: str = "openmpi"  # for which Debian builds it


LAMMPS = Installed(
    ["lmp", "-in", "melt.txt", "-log", "none"],
    "lammps",
    r"^Loop time of (\S+) on 2 procs",
    files={"melt.txt": make_lammps_input(neighbour_steps=20, printed_steps=50, step_count=600)},
)
GROMACS = Installed(
    ["gmx_mpi", "mdrun", "-reprod", "-ntomp", "1", "-pin", "off", "-s", "topol.tpr", "-g", "md.log"],
    "gromacs",
    r"^ +Time: +\S+ +(\S+) +\S+$",
    output="md.log",
    files={"topol.top": GROMACS_TOPOLOGY, "grompp.mdp": make_gromacs_parameters(step_count=1200)},
    steps=[["gmx", *words] for words in GROMACS_STEPS],
)
QUANTUM_ESPRESSO = Installed(
    ["pw.x", "-in", "silicon.txt"],
    "quantum-espresso quantum-espresso-data",
    r"^ +electrons +: .* CPU +([\d.]+)s WALL",
    files={"silicon.txt": make_quantum_espresso_input(cutoff=30.0, mesh="12 12 12 1 1 1")},
    unpacked={"Si.pz-vbc.UPF": SILICON_POTENTIAL},
)
HPCC = Installed(
    ["hpcc"],
    "hpcc",
    r"^(?:HPL|PTRANS|MPIRandomAccess_LCG|MPIRandomAccess|MPIFFT)_time\d?=(\S+)",
    output="hpccoutf.txt",
    files={"hpccinf.txt": make_hpcc_input("Lapwing's harm suite", size=3000)},
)


def check_installed(installed: Installed, mpi_name: str) -> None:
    """Say what is to be typed where a program is not here."""
    if mpi_name != installed.mpi:
        raise LapwingError(f"Debian builds it for {installed.mpi}", "run it with that MPI")
    programs = {installed.words[0], *(step[0] for step in installed.steps)}
    missing = [name for name in sorted(programs) if shutil.which(name) is None]
    missing += [path for path in installed.unpacked.values() if not Path(path).exists()]
    if missing:
        remedy = f"apt-get install {installed.packages}"
        raise LapwingError(f"there is no {', '.join(missing)}: {remedy}", remedy)


def prepare_installed(installed: Installed, folder: Path) -> None:
    """Write and make a program's input."""
    for name, text in installed.files.items():
        (folder / name).write_text(text)
    for name, packed in installed.unpacked.items():
        (folder / name).write_bytes(gzip.decompress(Path(packed).read_bytes()))
    try:
        for step in installed.steps:
            subprocess.run(step, cwd=folder, check=True, capture_output=True, timeout=PREPARE_LIMIT_S)
    except (OSError, subprocess.SubprocessError) as error:
        raise LapwingError(f"its input cannot be made: {error}", "run that by hand") from error


def remove_output(installed: Installed, folder: Path) -> None:
    """Forget the last run: some programs append."""
    if installed.output:
        (folder / installed.output).unlink(missing_ok=True)


def read_time_us(installed: Installed, folder: Path, printed: str) -> float:
    """Return the time that a run says it took."""
    path = folder / installed.output
    text = path.read_text(errors="replace") if installed.output and path.exists() else printed
    seconds = [float(found) for found in re.findall(installed.times, text, re.MULTILINE)]
    if not seconds:
        raise LapwingError("it printed no time", "run it by hand", 1)
    return 1e6 * sum(seconds)


def run_installed(installed: Installed, place: Place, contender: Contender) -> float:
    """Run one of them, two ranks over shared memory; return the microseconds that it says it took."""
    remove_output(installed, place.folder)
    variables = {**os.environ, **place.mpi.environment, **ONE_THREAD, **(ROOT_ALLOWED if os.geteuid() == 0 else {})}
    variables["LAPWING_PRELOAD"] = str(find_preload().resolve())  # it runs in another folder
    line = place.command(contender, installed.words)
    try:
        done = subprocess.run(
            line,
            cwd=place.folder,
            env=variables,
            capture_output=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=RUN_LIMIT_S,
        )
    except subprocess.TimeoutExpired as error:
        raise LapwingError(f"it took longer than {RUN_LIMIT_S:.0f} s", "run it by hand", 1) from error
    check_exit(line, done.returncode, done.stderr)
    return read_time_us(installed, place.folder, done.stdout)
