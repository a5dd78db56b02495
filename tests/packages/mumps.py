# SPDX-License-Identifier: MIT
"""MUMPS' simple tests (from its source package, with Debian package libmumps-dev; tests/packages/fetch.sh).

A small system of each precision; one rank has it, and three solve it.
"""

import re
from pathlib import Path

from families import Family
from packages.jobs import ONE_THREAD, Job, Output, Skip, build_missing, find_family
from packages.results import debian_version

SUITE = "mumps"
INPUTS = {"s": "real", "d": "real", "c": "cmplx", "z": "cmplx"}
TIMES = re.compile(r"time|MBYTES|elapsed", re.IGNORECASE)


def summarize(output: Output) -> list[str]:
    """What is said of each step, and the solution, with all digits: all but times and memory."""
    lines = (" ".join(line.split()) for line in output.text.splitlines())
    return sorted(line for line in lines if line and not TIMES.search(line))


def make_job(letter: str, folder: Path, family: Family, version: str) -> Job:
    """One precision."""
    name = f"{letter}simpletest"
    # The launchers give what they read to one rank, if they get anything.
    words = ["sh", "-c", f'exec "$0" <input_simpletest_{INPUTS[letter]}', str(folder / name)]
    files = {path.name: path.read_text() for path in folder.glob("input_simpletest_*")}
    return Job(f"{SUITE}-{name}", family, words, summarize, files, ONE_THREAD, ranks=3, suite=SUITE, version=version)


def list_jobs(wheels: Path, build: Path) -> list[Job | Skip]:
    """Debian builds the library for Open MPI."""
    family = find_family("openmpi4", wheels)
    folder = build / "mumps"
    is_built = all((folder / f"{letter}simpletest").exists() for letter in INPUTS)
    reason = build_missing(family, is_built)
    if reason:
        return [Skip(SUITE, reason)]
    return [make_job(letter, folder, family, debian_version("libmumps-dev")) for letter in INPUTS]
