# SPDX-License-Identifier: MIT
"""ABINIT (Debian package abinit): the electrons of a hydrogen molecule in plane waves.

Ranks share the grid, which each step transposes between them.
"""

import re
import shutil
from pathlib import Path

from packages.jobs import ONE_THREAD, Job, Output, Skip, find_family, launcher_missing
from packages.results import debian_version

POTENTIALS = Path("/usr/share/abinit/psp")
POTENTIAL = "01h.pspgth"
INPUT = f"""
ecut 20
acell 3*12
ntypat 1
znucl 1
natom 2
typat 1 1
xcart -0.7 0 0  0.7 0 0
kptopt 0
nkpt 1
istwfk 1
nband 2
nstep 15
toldfe 1.0d-8
diemac 2.0
paral_kgb 1
npfft 2
npband 1
pp_dirpath "{POTENTIALS}"
pseudos "{POTENTIAL}"
"""
RESULT = re.compile(r"^ *(?:ETOT|etotal|residm|fcart|>>>>>>>>> Etotal).*", re.MULTILINE)


def summarize(output: Output) -> list[str]:
    """The energy after each step, and the last one."""
    return [" ".join(match.group().split()) for match in RESULT.finditer(output.text)]


def list_jobs(wheels: Path, _build: Path) -> list[Job | Skip]:
    """Debian builds it for Open MPI."""
    program = shutil.which("abinit")
    family = find_family("openmpi4", wheels)
    is_there = program is not None and (POTENTIALS / POTENTIAL).exists()
    reason = launcher_missing(family) or ("" if is_there else "the packages abinit and abinit-data are not installed")
    if program is None or reason:
        return [Skip("abinit", reason)]
    words, version = [program, "h2.abi"], debian_version("abinit")
    return [
        Job("abinit", family, words, summarize, {"h2.abi": INPUT}, ONE_THREAD, is_overlapping=True, version=version)
    ]
