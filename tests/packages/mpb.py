# SPDX-License-Identifier: MIT
"""MPB (Debian package mpb-mpi): the bands of light in a lattice of rods.

Each step transforms the field of each band, transposed between the ranks by FFTW.
"""

import re
import shutil
from pathlib import Path

from packages.jobs import ONE_THREAD, Job, Output, Skip, find_family, launcher_missing
from packages.results import debian_version

INPUT = """
(set! num-bands 4)
(set! resolution 64)
(set! tolerance 1e-9)
(set! deterministic? true)
(set! geometry-lattice (make lattice (size 1 1 no-size)))
(set! geometry (list (make cylinder (center 0 0 0) (radius 0.2) (height infinity)
                                    (material (make dielectric (epsilon 11.56))))))
(set! k-points (list (vector3 0 0 0) (vector3 0.5 0 0) (vector3 0.5 0.5 0)))
(run-tm)
"""
# Not the steps: how many there are, and the last digits, change from run to run without Lapwing too.
RESULT = re.compile(r"^ *(?:tmfreqs:|Band \d+ range:|Gap ).*", re.MULTILINE)
LONG = re.compile(r"\d+\.\d{7,}")


def summarize(output: Output) -> list[str]:
    """Frequencies and their ranges, to the digits that they converge to."""
    lines = (match.group().strip() for match in RESULT.finditer(output.text))
    # The launcher passes on errors and output in any order.
    return sorted(LONG.sub(lambda digits: f"{float(digits.group()):.6f}", line) for line in lines)


def list_jobs(wheels: Path, _build: Path) -> list[Job | Skip]:
    """Debian builds it for Open MPI."""
    program = shutil.which("mpb-mpi")
    family = find_family("openmpi4", wheels)
    reason = launcher_missing(family) or ("" if program else "the package mpb-mpi is not installed")
    if program is None or reason:
        return [Skip("mpb", reason)]
    words = [program, "rods.ctl"]
    version = debian_version("mpb-mpi")
    return [Job("mpb", family, words, summarize, {"rods.ctl": INPUT}, ONE_THREAD, is_overlapping=True, version=version)]
