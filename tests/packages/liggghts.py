# SPDX-License-Identifier: MIT
"""LIGGGHTS (Debian package liggghts): 1800 grains that fall into a box.

Each step sends the grains at the border to the neighbour, by Irecv, Send and Wait in one buffer.
"""

import hashlib
import re
import shutil
from pathlib import Path

from packages.jobs import Job, Output, Skip, find_family, launcher_missing
from packages.results import debian_version

# All digits: a byte that arrived wrong or too late moves the last ones as soon as grains touch.
INPUT = """
units si
atom_style granular
atom_modify map array
boundary f f f
newton off
communicate single vel yes
region box block -0.05 0.05 -0.05 0.05 0.0 0.15 units box
create_box 1 box
neighbor 0.002 bin
neigh_modify delay 0
fix young all property/global youngsModulus peratomtype 5.e6
fix poisson all property/global poissonsRatio peratomtype 0.45
fix restitution all property/global coefficientRestitution peratomtypepair 1 0.9
fix friction all property/global coefficientFriction peratomtypepair 1 0.05
pair_style gran model hertz tangential history
pair_coeff * *
timestep 0.00001
fix gravity all gravity 9.81 vector 0.0 0.0 -1.0
fix floor all wall/gran model hertz tangential history primitive type 1 zplane 0.0
fix sphere all particletemplate/sphere 15485863 atom_type 1 density constant 2500 radius constant 0.0025
fix kinds all particledistribution/discrete 15485867 1 sphere 1.0
region filled block -0.04 0.04 -0.04 0.04 0.01 0.14 units box
fix fill all insert/pack seed 32452843 distributiontemplate kinds vel constant 0. 0. -0.5 &
    insert_every once overlapcheck yes all_in yes particles_in_region 1800 region filled
fix move all nve/sphere
thermo_style custom step atoms ke
thermo_modify format float %.15g
thermo 500
run 1
dump grains all custom 1000 grains.*.dump id x y z vx vy vz
dump_modify grains format "%d %.15g %.15g %.15g %.15g %.15g %.15g"
run 3000
"""
STEP = re.compile(r"^\s*\d+ +\d+ +\d+(\.\d+)?(e[-+]\d+)?\s*$")


def summarize(output: Output) -> list[str]:
    """The kinetic energy at each printed step, and where all grains are at some."""
    lines = [line.strip() for line in output.text.splitlines() if STEP.match(line)]
    dumps = sorted(output.folder.glob("grains.*.dump"))
    return lines + [f"{dump.name} {hashlib.sha256(dump.read_bytes()).hexdigest()}" for dump in dumps]


def list_jobs(wheels: Path, _build: Path) -> list[Job | Skip]:
    """Debian builds it for Open MPI."""
    program = shutil.which("liggghts")
    family = find_family("openmpi4", wheels)
    reason = launcher_missing(family) or ("" if program else "the package liggghts is not installed")
    if program is None or reason:
        return [Skip("liggghts", reason)]
    words = [program, "-in", "grains.txt", "-log", "none"]
    version = debian_version("liggghts")
    return [Job("liggghts", family, words, summarize, {"grains.txt": INPUT}, is_overlapping=True, version=version)]
