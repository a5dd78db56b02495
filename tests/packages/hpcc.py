# SPDX-License-Identifier: MIT
"""HPC Challenge (Debian package hpcc): LINPACK, transposition, random access, FFT, and large ping-pong."""

import re
import shutil
from pathlib import Path

from packages.jobs import Job, Output, Skip, find_family, launcher_missing
from packages.results import debian_version

from lapwing.bench.installed_inputs import make_hpcc_input

INPUT = make_hpcc_input("Lapwing's test of a real program", size=1000)
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
