# SPDX-License-Identifier: MIT
"""CP2K (Debian packages cp2k and cp2k-data): four molecules of water, two steps of molecular dynamics.

Grids are transposed for FFTs and handed to other ranks, and matrices travel as messages of DBCSR.
"""

import re
import shutil
from pathlib import Path

from packages.jobs import ONE_THREAD, Job, Output, Skip, find_family, launcher_missing
from packages.results import debian_version

INPUT = """
&GLOBAL
  PROJECT water
  RUN_TYPE MD
  PRINT_LEVEL LOW
&END GLOBAL
&MOTION
  &MD
    ENSEMBLE NVE
    STEPS 1
    TIMESTEP 0.5
  &END MD
&END MOTION
&FORCE_EVAL
  METHOD Quickstep
  &DFT
    BASIS_SET_FILE_NAME BASIS_MOLOPT
    POTENTIAL_FILE_NAME GTH_POTENTIALS
    &MGRID
      CUTOFF 280
    &END MGRID
    &SCF
      EPS_SCF 1.0E-6
      &OT
        PRECONDITIONER FULL_SINGLE_INVERSE
      &END OT
    &END SCF
    &XC
      &XC_FUNCTIONAL PADE
      &END XC_FUNCTIONAL
    &END XC
  &END DFT
  &SUBSYS
    &CELL
      ABC 9.0 9.0 9.0
    &END CELL
    &COORD
      O 0.0 0.0 0.0
      H 0.76 0.59 0.0
      H -0.76 0.59 0.0
      O 3.0 0.0 0.0
      H 3.76 0.59 0.0
      H 2.24 0.59 0.0
      O 0.0 3.0 1.0
      H 0.76 3.59 1.0
      H -0.76 3.59 1.0
      O 3.0 3.0 4.0
      H 3.76 3.59 4.0
      H 2.24 3.59 4.0
    &END COORD
    &KIND H
      BASIS_SET DZVP-MOLOPT-SR-GTH
      POTENTIAL GTH-PADE-q1
    &END KIND
    &KIND O
      BASIS_SET DZVP-MOLOPT-SR-GTH
      POTENTIAL GTH-PADE-q6
    &END KIND
  &END SUBSYS
&END FORCE_EVAL
"""
# All digits: what arrived wrong or too late moves the last ones.
RESULT = re.compile(r"^ *(ENERGY\| .*|Total energy: .*)$", re.MULTILINE)


def summarize(output: Output) -> list[str]:
    """The energies of each step."""
    return [match[1] for match in RESULT.finditer(output.text)]


def list_jobs(wheels: Path, _build: Path) -> list[Job | Skip]:
    """Debian builds it for Open MPI."""
    program = shutil.which("cp2k.psmp")
    family = find_family("openmpi4", wheels)
    reason = launcher_missing(family) or ("" if program else "the packages cp2k and cp2k-data are not installed")
    if program is None or reason:
        return [Skip("cp2k", reason)]
    words = [program, "-i", "water.inp"]
    files = {"water.inp": INPUT}
    version = debian_version("cp2k")
    return [Job("cp2k", family, words, summarize, files, ONE_THREAD, is_overlapping=True, version=version)]
