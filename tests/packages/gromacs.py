# SPDX-License-Identifier: MIT
"""GROMACS (Debian package gromacs): a box of water, its particles exchanged with Sendrecv, its mesh with Alltoall."""

import re
import shutil
import subprocess
from pathlib import Path

from packages.jobs import Job, Output, Skip, find_family, launcher_missing
from packages.results import debian_version

from lapwing.bench.installed_inputs import GROMACS_STEPS, GROMACS_TOPOLOGY, make_gromacs_parameters

PARAMETERS = make_gromacs_parameters(step_count=60, print_lines="nstenergy = 20\nnstlog = 20\n")
# Seven figures of each energy: -reprod makes the program's own order of summation the same in each run.
ENERGIES = re.compile(r"^ +(-?\d\.\d{5}e[+-]\d\d *)+$")


def summarize(output: Output) -> list[str]:
    """The energies of each report."""
    log = output.folder / "md.log"
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return [line.strip() for line in lines if ENERGIES.match(line)]


def prepare(program: str, build: Path) -> Path:
    """Make the run's input with the program's own tools."""
    folder = build / "gromacs"
    if (folder / "topol.tpr").exists():
        return folder / "topol.tpr"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "topol.top").write_text(GROMACS_TOPOLOGY)
    (folder / "grompp.mdp").write_text(PARAMETERS)
    for words in GROMACS_STEPS:
        subprocess.run([program, *words], cwd=folder, check=True, capture_output=True, timeout=300)
    return folder / "topol.tpr"


def list_jobs(wheels: Path, build: Path) -> list[Job | Skip]:
    """Debian builds it for Open MPI."""
    program, tool = shutil.which("gmx_mpi"), shutil.which("gmx")
    family = find_family("openmpi4", wheels)
    reason = launcher_missing(family) or ("" if program and tool else "the package gromacs is not installed")
    if program is None or tool is None or reason:
        return [Skip("gromacs", reason, mpi=family.name)]
    try:
        run_input = prepare(tool, build)
    except (OSError, subprocess.SubprocessError) as error:
        return [Skip("gromacs", f"its input was not made ({type(error).__name__})", mpi=family.name)]
    words = [program, "mdrun", "-reprod", "-ntomp", "1", "-pin", "off", "-s", str(run_input), "-g", "md.log"]
    version = debian_version("gromacs")
    return [Job("gromacs", family, words, summarize, timeout_s=200.0, version=version)]
