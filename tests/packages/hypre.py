# SPDX-License-Identifier: MIT
"""hypre's examples (from its source package, with Debian package libhypre-dev; tests/packages/fetch.sh).

Structured and unstructured grids, whose solvers exchange borders on each of many levels.
"""

import re
from pathlib import Path

from families import Family
from packages.jobs import ONE_THREAD, Job, Output, Skip, build_missing, find_family
from packages.results import debian_version

SUITE = "hypre"
ARGUMENTS = {
    "ex1": "",
    "ex2": "",
    "ex3": "-n 40 -solver 0 -v 1 1",
    "ex4": "-n 40 -solver 10 -K 3 -B 0 -C 1 -U0 2 -F 4",
    "ex5": "-n 100 -solver 1",
    "ex6": "",
    "ex7": "-n 40 -solver 10 -K 5 -B 0 -C 0 -U0 1 -F 2 -v 1 1",
    "ex8": "",
    "ex9": "-n 40 -solver 0",
    "ex11": "-n 30",
    "ex12": "-n 40 -pfmg",
}
# Their grids are written for two; the others take any square number of ranks.
FOR_TWO_RANKS = {"ex1", "ex2", "ex6", "ex8", "ex12"}
TIMES = re.compile(r"time|second|memory", re.IGNORECASE)


def summarize(output: Output) -> list[str]:
    """The residual of each step, and what is said of the levels: all but times."""
    lines = (" ".join(line.split()) for line in output.text.splitlines())
    return [line for line in lines if line and not TIMES.search(line)]


def make_job(program: Path, family: Family, version: str) -> Job | Skip:
    """One example."""
    name = f"{SUITE}-{program.name}"
    if not program.exists():
        return Skip(name, "does not build here", SUITE, family.name)
    return Job(
        name,
        family,
        [str(program), *ARGUMENTS[program.name].split()],
        summarize,
        environment=ONE_THREAD,
        ranks=2 if program.name in FOR_TWO_RANKS else 4,
        suite=SUITE,
        version=version,
    )


def list_jobs(wheels: Path, build: Path) -> list[Job | Skip]:
    """Debian builds the library for Open MPI."""
    family = find_family("openmpi4", wheels)
    folder = build / "hypre"
    is_built = any(folder.glob("ex*"))
    reason = build_missing(family, is_built)
    if reason:
        return [Skip(SUITE, reason)]
    return [make_job(folder / name, family, debian_version("libhypre-dev")) for name in ARGUMENTS]
