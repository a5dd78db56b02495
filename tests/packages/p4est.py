# SPDX-License-Identifier: MIT
"""p4est's tests (from its source package, with Debian package libp4est-dev; tests/packages/fetch.sh).

Trees of squares and cubes that are refined and handed to other ranks, whose borders find each other.
"""

import re
from pathlib import Path

from families import Family
from packages.jobs import Job, Output, Skip, build_missing, find_family
from packages.results import debian_version

SUITE = "p4est"
# They never start MPI, or hardly send.
LEFT_OUT = re.compile(r"conn_|hash|all6|edge_face|face_transform|order|brick|periodic|quadrants")
# Ten seconds of work, with few messages.
SLOW = {"test_ghost3", "test_iterate3", "test_lnodes3", "test_balance_seeds2", "test_balance_seeds3"}
VARYING = re.compile(r"[Tt]ime|second|Mean|Maximum|Minimum|Summary")


def summarize(output: Output) -> list[str]:
    """What is said of each tree, whatever the order of the ranks: all but times."""
    lines = (" ".join(line.split()) for line in output.text.splitlines())
    return sorted(line for line in lines if line and not VARYING.search(line))


def list_programs(folder: Path) -> list[Path]:
    """Those that say something about messages."""
    programs = sorted(folder.glob("test_*"))
    return [program for program in programs if not LEFT_OUT.search(program.name) and program.name not in SLOW]


def make_job(program: Path, family: Family, version: str) -> Job:
    """One test."""
    name = f"{SUITE}-{program.name.removeprefix('test_')}"
    return Job(name, family, [str(program)], summarize, timeout_s=60.0, ranks=3, suite=SUITE, version=version)


def list_jobs(wheels: Path, build: Path) -> list[Job | Skip]:
    """Debian builds the library for Open MPI."""
    family = find_family("openmpi4", wheels)
    programs = list_programs(build / "p4est")
    reason = build_missing(family, programs)
    if reason:
        return [Skip(SUITE, reason)]
    return [make_job(program, family, debian_version("libp4est-dev")) for program in programs]
