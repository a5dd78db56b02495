# SPDX-License-Identifier: MIT
"""GPAW (Debian package gpaw): the electrons of a water molecule on a grid, each rank with a half of it.

Python starts the calls, a library in C makes them: nonblocking messages of the borders, and sums.
"""

import re
from pathlib import Path

from packages.jobs import ONE_THREAD, Job, Output, Skip, find_family, launcher_missing
from packages.results import debian_version

PYTHON = Path("/usr/bin/python3")
LIBRARY = Path("/usr/lib/python3/dist-packages/gpaw")
SETUPS = Path("/usr/share/gpaw-setups")
INPUT = """
from ase import Atoms
from gpaw import FD, GPAW
from gpaw.mpi import world

cell, bond = 6.0, 0.74
middle = cell / 2
places = [(middle, middle, middle), (middle, middle + bond, middle), (middle + bond, middle, middle)]
molecule = Atoms("OH2", positions=places, cell=(cell, cell, cell))
molecule.calc = GPAW(mode=FD(), h=0.2, txt=None, maxiter=20, parallel={"domain": (2, 1, 1)},
                     convergence={"energy": 0.01, "density": 0.01, "eigenstates": 0.01})
energy = molecule.get_potential_energy()
if world.rank == 0:
    print(f"energy {energy:.6f} eV")
"""


def summarize(output: Output) -> list[str]:
    """The energy."""
    return re.findall(r"^energy .*", output.text, re.MULTILINE)


def list_jobs(wheels: Path, _build: Path) -> list[Job | Skip]:
    """Debian builds it for Open MPI."""
    family = find_family("openmpi4", wheels)
    is_there = LIBRARY.exists() and SETUPS.exists()
    reason = launcher_missing(family) or ("" if is_there else "the packages gpaw and gpaw-data are not installed")
    if reason:
        return [Skip("gpaw", reason)]
    words, version = [str(PYTHON), "water.py"], debian_version("gpaw")
    return [
        Job("gpaw", family, words, summarize, {"water.py": INPUT}, ONE_THREAD, is_overlapping=True, version=version)
    ]
