# SPDX-License-Identifier: MIT
"""HPC Challenge (Debian package hpcc): LINPACK, transposition, random access, FFT, and large ping-pong."""

import re
import shutil
from pathlib import Path

from packages.jobs import Job, Output, Skip, find_family, launcher_missing
from packages.results import debian_version

# The program reads by line number; what follows the value is a remark.
INPUT = """HPL input
Lapwing's test of a real program
HPL.out  output file
8        to a file
1        number of problem sizes
1000     sizes
1        number of blocks
80       block sizes
0        row-major mapping
1        number of grids
1        P
2        Q
16.0     threshold
1        number of panel factorisations
2        right
1        number of recursive stops
4        smallest columns
1        number of panels
2        divisions
1        number of recursive factorisations
1        Crout
1        number of broadcasts
1        increasing ring, modified
1        number of depths
1        lookahead
2        swap by mix
64       swapping threshold
0        L1 transposed
0        U transposed
1        equilibration
8        alignment
separator
0        more sizes for PTRANS
1200     sizes
0        more blocks for PTRANS
40       blocks
"""

VERDICT = re.compile(r"(^WALL|PASSED|FAILED|Found \d+ errors|^Success=|Errors=|^Node\(s\) with error|Validates)")


def keep_verdict(line: str) -> str:
    """A line without what depends on speed."""
    if line.startswith("WALL"):
        return f"transposition {'PASSED' if 'PASSED' in line else 'FAILED'}"
    return line.strip()


def summarize(output: Output) -> list[str]:
    """Verdicts, residuals of the linear system, and counts of errors."""
    report = output.folder / "hpccoutf.txt"
    lines = report.read_text().splitlines() if report.exists() else []
    # A transposition has a line more where it used measurable processor time.
    return [keep_verdict(line) for line in lines if VERDICT.search(line) and not line.startswith("CPU")]


def list_jobs(wheels: Path, _build: Path) -> list[Job | Skip]:
    """Debian builds it for Open MPI."""
    program = shutil.which("hpcc")
    family = find_family("openmpi4", wheels)
    reason = launcher_missing(family) or ("" if program else "the package hpcc is not installed")
    if program is None or reason:
        return [Skip("hpcc", reason)]
    version = debian_version("hpcc")
    return [
        Job("hpcc", family, [program], summarize, files={"hpccinf.txt": INPUT}, is_overlapping=True, version=version)
    ]
