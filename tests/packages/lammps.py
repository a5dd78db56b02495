# SPDX-License-Identifier: MIT
"""LAMMPS (Debian package lammps): a crystal that melts, its halo exchanged with Irecv, Send and Wait."""

import re
import shutil
from pathlib import Path

from packages.jobs import Job, Output, Skip, find_family, launcher_missing
from packages.results import debian_version

# All digits: a byte that arrived wrong or too late moves the last ones within a few steps.
INPUT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 20 0 20 0 20
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 10 delay 0 check no
fix 1 all nve
thermo 10
thermo_style custom step temp pe etotal press
thermo_modify format float %.15g
run 60
"""

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
