# SPDX-License-Identifier: MIT
"""SuperLU_DIST's example programs (Debian package libsuperlu-dist-dev): a sparse system solved with four ranks.

Some solve once, others again with another right-hand side or another matrix of the same pattern; in some every rank
has the whole matrix ("ABglobal"), and some have layers of ranks ("3d").
"""

import re
from pathlib import Path

from families import Family
from packages.jobs import ONE_THREAD, Job, Output, Skip, find_family, launcher_missing
from packages.results import debian_version

SUITE = "superlu-dist"
MATRICES = {"d": "big.rua", "s": "big.rua", "z": "cg20.cua"}
LEFT_OUT = {
    "drive3d3": "crashes without Lapwing, in another way each time",
    "drive4": "wants ten ranks, which poll",
    "_spawn": "is started by another program",
}
RESULT = re.compile(r"^.*(?:\|\|X-Xtrue\|\||Nonzeros in|nonzeros in|Tiny Pivots|zero diagonal|Steps).*", re.MULTILINE)
TIMES = re.compile(r"REFINEMENT time\s+\S+")


def summarize(output: Output) -> list[str]:
    """How far each solution is from the true one, what the factors hold, and steps of refinement."""
    # Each rank prints some of these, in any order.
    return sorted(" ".join(TIMES.sub("", match.group()).split()) for match in RESULT.finditer(output.text))


def list_grid(program: Path) -> list[str]:
    """Rows, columns and layers of four ranks: with more in a layer, all of these stop at a zero on the diagonal."""
    return ["-r", "1", "-c", "1", "-d", "4"] if "3d" in program.name else ["-r", "2", "-c", "2"]


def make_job(program: Path, family: Family, version: str) -> Job | Skip:
    """One program."""
    name = f"{SUITE}-{program.name}"
    reason = next((reason for part, reason in LEFT_OUT.items() if part in program.name), "")
    if reason:
        return Skip(name, reason, SUITE, family.name)
    matrix = str(program.parent / MATRICES[program.name[1]])
    return Job(
        name,
        family,
        [str(program), *list_grid(program), matrix],
        summarize,
        environment=ONE_THREAD,
        timeout_s=60.0,
        ranks=4,
        suite=SUITE,
        version=version,
    )


def list_jobs(wheels: Path, _build: Path) -> list[Job | Skip]:
    """Debian builds them for Open MPI."""
    family = find_family("openmpi4", wheels)
    folder = next(iter(Path("/usr/lib").glob("*/superlu-dist/tests/EXAMPLE")), None)
    reason = launcher_missing(family) or ("" if folder else "the package libsuperlu-dist-dev is not installed")
    if folder is None or reason:
        return [Skip(SUITE, reason)]
    version = debian_version("libsuperlu-dist-dev")
    return [make_job(program, family, version) for program in sorted(folder.glob("p?drive*"))]
