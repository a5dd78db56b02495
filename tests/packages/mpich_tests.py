# SPDX-License-Identifier: MIT
"""MPICH's own tests (test/mpi of Debian's source package mpich), as tests/packages/fetch.sh builds them."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from families import Family
from packages.jobs import Job, Output, Skip, find_family, launcher_missing
from packages.results import debian_version

SUITE = "mpich-tests"
# The tests wait by polling: more ranks than this on two cores take minutes each.
MOST_RANKS = 4
GROUPS = (
    "pt2pt",
    "threads/pt2pt",
    "threads/comm",
    "threads/init",
    *(f"f77/{name}" for name in ("pt2pt", "datatype", "coll", "attr", "comm", "topo")),
    *(f"f08/{name}" for name in ("pt2pt", "subarray", "datatype", "coll", "misc", "attr", "comm", "topo")),
    "coll",
)
# Gigabytes of memory, or minutes of polling.
TOO_LARGE = {"large_message", "big_count_status", "huge_underflow", "huge_anysrc", "huge_dupcomm", "huge_ssend"}
TIMES = re.compile(r"\d+\.\d+|0x[0-9a-f]+")


def summarize(output: Output) -> list[str]:
    """What it printed, whatever the order of the ranks, without times and addresses."""
    return sorted(TIMES.sub("#", line.strip()) for line in output.text.splitlines() if line.strip())


def find_list(build: Path, group: str) -> Path | None:
    """A group's list of tests: with the sources, or beside the programs where it is made from a pattern."""
    folders = [build / "mpich-tests" / group, *build.glob(f"source/mpich-*/test/mpi/{group}")]
    return next((folder / "testlist" for folder in folders if (folder / "testlist").exists()), None)


def read_list(path: Path | None) -> Iterator[tuple[str, int, list[str]]]:
    """Program, ranks and arguments of each line of a list of tests that needs no special setting."""
    lines = path.read_text().splitlines() if path else []
    for line in dict.fromkeys(lines):
        words = line.split()
        if len(words) < 2 or line.startswith("#") or not words[1].isdigit() or "@" in words[0]:
            continue
        if any(word.startswith(("env=", "xfail=", "mem=", "strict=", "resultTest=")) for word in words[2:]):
            continue
        yield words[0], int(words[1]), [word[4:] for word in words[2:] if word.startswith("arg=")]


def skip_reason(program: Path, ranks: int, arguments: Sequence[str]) -> str:
    """Why a test is left out; empty when it is not."""
    if not program.exists():
        return "does not build here"
    if ranks > MOST_RANKS:
        return f"wants more than {MOST_RANKS} ranks, which poll"
    is_large = program.name in TOO_LARGE or "-count=4194304" in arguments
    return "takes gigabytes, or minutes" if is_large else ""


def list_group(build: Path, group: str, family: Family, version: str) -> Iterator[Job | Skip]:
    """The tests of one folder."""
    suite = f"{SUITE}-{group.replace('/', '-')}"
    for name, ranks, arguments in read_list(find_list(build, group)):
        program = build / "mpich-tests" / group / name
        part = "-".join([suite, name, *(word.strip("-") for word in arguments), str(ranks)])
        reason = skip_reason(program, ranks, arguments)
        if reason:
            yield Skip(part, reason, suite, family.name)
            continue
        words = [str(program), *arguments]
        yield Job(part, family, words, summarize, timeout_s=60.0, suite=suite, version=version, ranks=ranks)


def list_jobs(wheels: Path, build: Path) -> list[Job | Skip]:
    """The groups that were built."""
    family = find_family("mpich4", wheels)
    is_built = (build / "mpich-tests").exists()
    reason = launcher_missing(family) or ("" if is_built else "not built: tests/packages/fetch.sh builds it")
    if reason:
        return [Skip(SUITE, reason, mpi=family.name)]
    version = debian_version("mpich")
    return [job for group in GROUPS for job in list_group(build, group, family, version)]
