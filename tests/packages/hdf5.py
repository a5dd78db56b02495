# SPDX-License-Identifier: MIT
"""HDF5's parallel tests (from its source package, with Debian package libhdf5-openmpi-dev; tests/packages/fetch.sh).

Files that all ranks write and read, piece by piece and together, compared with what went in.
"""

import re
from pathlib import Path

from families import Family
from packages.jobs import Job, Output, Skip, build_missing, find_family
from packages.results import debian_version

SUITE = "hdf5"
RANKS = {"testphdf5": 3, "t_mpi": 3, "t_pread": 4, "t_shapesame": 2, "t_pshutdown": 3, "t_init_term": 3}
VERDICT = re.compile(r"Testing|PASS|SKIP|fail|error|success", re.IGNORECASE)


def summarize(output: Output) -> list[str]:
    """The words of tests and their verdicts: lines of ranks have no order, and the launcher may join them."""
    return sorted(word for line in output.text.splitlines() if VERDICT.search(line) for word in line.split())


def make_job(name: str, folder: Path, family: Family, version: str) -> Job | Skip:
    """One program."""
    part = f"{SUITE}-{name}"
    if not (folder / name).exists():
        return Skip(part, "does not build here", SUITE, family.name)
    return Job(
        part, family, [str(folder / name)], summarize, timeout_s=240.0, ranks=RANKS[name], suite=SUITE, version=version
    )


def list_jobs(wheels: Path, build: Path) -> list[Job | Skip]:
    """Debian builds the library for both MPIs."""
    family = find_family("openmpi4", wheels)
    folder = build / "hdf5"
    is_built = (folder / "testphdf5").exists()
    reason = build_missing(family, is_built)
    if reason:
        return [Skip(SUITE, reason)]
    return [make_job(name, folder, family, debian_version("libhdf5-openmpi-dev")) for name in RANKS]
