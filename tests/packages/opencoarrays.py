# SPDX-License-Identifier: MIT
"""OpenCoarrays' tests (Debian packages libcoarrays-mpich-dev and libcoarrays-openmpi-dev): Fortran on one-sided MPI."""

import re
from pathlib import Path

from families import Family
from packages.jobs import Job, Output, Skip, find_family, launcher_missing
from packages.results import debian_version

SUITE = "opencoarrays"
FOLDERS = {"mpich4": "mpich", "openmpi4": "openmpi"}
# What images print about themselves: addresses, times and their order differ from run to run.
VERDICT = re.compile(r"test passed|test failed|error stop|^stop", re.IGNORECASE)


def summarize(output: Output) -> list[str]:
    """The verdicts."""
    return sorted(line.strip() for line in output.text.splitlines() if VERDICT.search(line))


def make_job(program: Path, family: Family, version: str) -> Job:
    """One test, with two images."""
    name = f"{SUITE}-{program.name}"
    return Job(name, family, [str(program)], summarize, timeout_s=15.0, suite=SUITE, version=version)


def list_jobs(wheels: Path, _build: Path) -> list[Job | Skip]:
    """All tests, for both MPIs."""
    jobs: list[Job | Skip] = []
    for mpi, name in FOLDERS.items():
        family = find_family(mpi, wheels)
        folder = next(iter(Path("/usr/lib").glob(f"*/open-coarrays/{name}/bin/OpenCoarrays-*-tests")), None)
        reason = launcher_missing(family) or ("" if folder else f"the package libcoarrays-{name}-dev is not installed")
        if folder is None or reason:
            jobs.append(Skip(SUITE, reason, SUITE, mpi))
            continue
        version = debian_version(f"libcoarrays-{name}-dev")
        jobs += [make_job(program, family, version) for program in sorted(folder.iterdir())]
    return jobs
