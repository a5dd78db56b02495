# SPDX-License-Identifier: MIT
"""ScaLAPACK's testers (Debian package scalapack-mpi-test), prebuilt for Open MPI and for MPICH.

The programs are Fortran, but they communicate through BLACS, which is C; only x*hseqr calls MPI from Fortran too.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from families import Family
from packages.jobs import Job, Output, Skip, find_family, launcher_missing
from packages.results import debian_version

FOLDERS = {"openmpi4": "openmpi-tests", "mpich4": "mpich-tests"}
COUNTED = re.compile(r"^\s*\d+ tests (completed|skipped).*|^\s*Finished .* tests", re.MULTILINE)
# These want a larger grid than two ranks give, and abort; how far they come first differs from run to run.
WANT_MORE_RANKS = re.compile(r"x(C|F)btest|x.(g?sep|svd|heevr|syevr)$")
SLOW = ("xdhseqr",)  # 12 seconds, of work that hardly communicates


def summarize(output: Output) -> list[str]:
    """How many residual checks passed and failed, and the tester's own count."""
    counts = [f"{word} {len(re.findall(word, output.text))}" for word in ("PASSED", "FAILED")]
    return counts + [match.group().strip() for match in COUNTED.finditer(output.text)]


def list_testers(folder: Path) -> Iterator[Path]:
    """Those that two ranks can run."""
    for program in sorted(folder.glob("x*")):
        if not WANT_MORE_RANKS.match(program.name) and program.name not in SLOW:
            yield program


def read_input(folder: Path) -> dict[str, str]:
    """The testers read their cases from the folder that they run in."""
    return {path.name: path.read_text() for path in folder.glob("*.dat")}


def make_job(program: Path, family: Family) -> Job:
    """One tester."""
    return Job(
        f"scalapack-{program.name}",
        family,
        [str(program)],
        summarize,
        files=read_input(program.parent),
        timeout_s=30.0,
        suite="scalapack",
        version=debian_version("scalapack-mpi-test"),
    )


def list_jobs(wheels: Path, _build: Path) -> list[Job | Skip]:
    """All testers, for both MPIs."""
    jobs: list[Job | Skip] = []
    for name, folder_name in FOLDERS.items():
        family = find_family(name, wheels)
        folder = next(iter(Path("/usr/lib").glob(f"*/scalapack/{folder_name}")), None)
        reason = launcher_missing(family) or ("" if folder else "the package scalapack-mpi-test is not installed")
        if folder is None or reason:
            jobs.append(Skip("scalapack", reason, mpi=name))
            continue
        for program in list_testers(folder):
            jobs.append(make_job(program, family))
    return jobs
