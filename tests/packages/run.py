# SPDX-License-Identifier: MIT
"""Run real programs, unchanged, stock and under `lapwing run`, and compare what they say.

Stock comes first, repeated, in the same session. Where a run under Lapwing differs from all of these, stock is
repeated more: a program that gives that outcome by itself too is reported as unsteady, any other difference is a
failure. With --results each outcome becomes a line of JSON; --table prints docs/tested.md from such files.
"""

import argparse
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests"), str(ROOT / "tests/mpi")]

from packages import (  # noqa: E402
    abinit,
    abyss,
    cp2k,
    dolfinx,
    gpaw,
    gromacs,
    hdf5,
    hpcc,
    hypre,
    lammps,
    liggghts,
    mpb,
    mpich_tests,
    mumps,
    netpipe,
    neuron,
    nwchem,
    opencoarrays,
    openfoam,
    p4est,
    petsc,
    python_packages,
    python_programs,
    quantum_espresso,
    scalapack,
    superlu_dist,
)
from packages.jobs import Job, Outcome, Run, Skip, run_job  # noqa: E402
from packages.results import Result, append_result, find_mpi_version, format_table, read_results  # noqa: E402

SKIP = 77
STOCK_REPEATS = 4
SMALL = ["--threshold", "1KiB", "--learn", "off"]
VARIANTS: Mapping[str, Sequence[str]] = {
    "default": [],
    "userfaultfd": [*SMALL, "--hold", "userfaultfd"],
    "userfaultfd-user": [*SMALL, "--hold", "userfaultfd-user"],
    "signal": [*SMALL, "--hold", "signal"],
    "userfaultfd-1": ["--threshold", "1", "--learn", "off", "--hold", "userfaultfd"],
    "signal-1": ["--threshold", "1", "--learn", "off", "--hold", "signal"],
}
USUAL_VARIANTS = ("default", "userfaultfd", "userfaultfd-user", "signal")
LISTS = (
    hpcc.list_jobs,
    lammps.list_jobs,
    quantum_espresso.list_jobs,
    cp2k.list_jobs,
    nwchem.list_jobs,
    liggghts.list_jobs,
    abyss.list_jobs,
    mpb.list_jobs,
    abinit.list_jobs,
    gpaw.list_jobs,
    dolfinx.list_jobs,
    neuron.list_jobs,
    openfoam.list_jobs,
    netpipe.list_jobs,
    scalapack.list_jobs,
    superlu_dist.list_jobs,
    hypre.list_jobs,
    mumps.list_jobs,
    hdf5.list_jobs,
    p4est.list_jobs,
    petsc.list_jobs,
    python_programs.list_jobs,
    opencoarrays.list_jobs,
    gromacs.list_jobs,
    python_packages.list_jobs,
    mpich_tests.list_jobs,
)


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    job: Job
    variant: str
    verdict: str
    reason: str
    run: Run

    @property
    def ops(self) -> int:
        """Calls that Lapwing overlapped."""
        counters = self.run.summary.get("counters", {})
        assert isinstance(counters, dict)
        return sum(int(counters.get(f"ops_{kind}", 0)) for kind in ("send", "receive", "collective"))

    @property
    def passes(self) -> Mapping[str, int]:
        """Calls that Lapwing passed, by reason."""
        passes = self.run.summary.get("passes", {})
        assert isinstance(passes, dict)
        return {reason: int(row["calls"]) for reason, row in passes.items()}


@dataclass(frozen=True)
class Stock:
    """A job without Lapwing, repeated."""

    runs: Sequence[Run]

    @property
    def is_hanging(self) -> bool:
        """Whether it hangs by itself: then nothing can be said about it under Lapwing."""
        return any(run.outcome.exit_code is None for run in self.runs)

    def count_outcomes(self) -> Mapping[str, int]:
        """Outcomes, in words that differ where outcomes do."""
        kinds: list[Outcome] = []
        counts: dict[str, int] = {}
        for run in self.runs:
            same = [n for n, kind in enumerate(kinds) if not find_difference(kind, run.outcome)]
            number = same[0] if same else len(kinds)
            kinds += [] if same else [run.outcome]
            words = run.outcome.describe() + (f" (outcome {number + 1})" if number else "")
            counts[words] = counts.get(words, 0) + 1
        return counts


class Bench:
    """Where jobs run, and where their results go."""

    def __init__(self, preload: Path, folder: Path, results: Path | None, repeats: int) -> None:
        self.preload = preload
        self.folder = folder
        self.results = results
        self.repeats = repeats
        self._count = 0

    def run_stock(self, job: Job) -> Stock:
        """Without Lapwing, several times; one hang is enough to know that it hangs."""
        runs: list[Run] = []
        while len(runs) < self.repeats and (not runs or runs[-1].outcome.exit_code is not None):
            runs.append(self.run(job, None))
        return Stock(runs)

    def run(self, job: Job, options: Sequence[str] | None) -> Run:
        """Run once, in a folder that goes away unless the run is of interest."""
        self._count += 1
        folder = self.folder / f"{self._count}"
        run = run_job(job, folder, options, self.preload)
        shutil.rmtree(folder)
        return run


def name_job(job: Job) -> str:
    """Name in the table."""
    return f"{job.name}/{job.family.name}"


def find_difference(stock: Outcome, other: Outcome) -> str:
    """Say where two outcomes part; empty when they agree."""
    if stock.exit_code != other.exit_code:
        return f"{other.describe()}; stock: {stock.describe()}"
    if list(stock.lines) == list(other.lines):
        return ""
    pairs = zip([*stock.lines, "(end)"], [*other.lines, "(end)"], strict=False)
    expected, found = next((a, b) for a, b in pairs if a != b)
    return f"says {found!r}; stock: {expected!r}"


def check_summary(row: Row) -> str:
    """What is wrong with Lapwing's own account of a run; empty when nothing is."""
    summary, ranks = row.run.summary, row.job.ranks
    # A program that is ended from outside, or that ends itself early, leaves what it leaves.
    if row.run.outcome.exit_code != 0:
        return ""
    if not summary.get("mpi_libraries") or not summary.get("ranks_complete") == summary.get("ranks_expected") == ranks:
        return f"{summary.get('ranks_complete')} of {ranks} ranks left a complete record"
    if summary.get("damaged") or summary.get("notices"):
        return f"notices {summary.get('notices')}, damaged {summary.get('damaged')}"
    return ""


def is_unsteady(bench: Bench, job: Job, outcome: Outcome) -> bool:
    """Whether stock gives this outcome too, now and then."""
    return any(not find_difference(bench.run(job, None).outcome, outcome) for _ in range(STOCK_REPEATS))


def judge(bench: Bench, stock: Stock, row: Row) -> Row:
    """Compare a run with stock, and with more of stock where it differs."""
    differences = [find_difference(run.outcome, row.run.outcome) for run in stock.runs]
    wrong = "" if "" in differences else differences[0]
    if wrong and is_unsteady(bench, row.job, row.run.outcome):
        return Row(row.job, row.variant, "unsteady", f"without Lapwing too: {wrong}", row.run)
    wrong = wrong or check_summary(row)
    return Row(row.job, row.variant, "differs" if wrong else "same", wrong, row.run)


def format_row(row: Row) -> str:
    """One line of the table."""
    passes = ", ".join(f"{reason} {calls}" for reason, calls in sorted(row.passes.items(), key=lambda item: -item[1]))
    ops = f"{row.ops:>6}" if row.variant != "stock" else f"{'-':>6}"
    head = f"{row.verdict:9}{name_job(row.job):40} {row.variant:17}{row.run.elapsed_s:6.1f} s {ops} "
    return f"{head} {row.run.outcome.describe():22} {passes} {row.reason}".rstrip()


def check_overlap(rows: Sequence[Row]) -> str:
    """A program whose calls can be overlapped must have had some, in at least one variant."""
    is_wanted = bool(rows) and rows[0].job.is_overlapping
    return "no variant overlapped a call" if is_wanted and not any(row.ops for row in rows) else ""


def make_result(row: Row, outcomes: Mapping[str, int]) -> Result:
    """What is kept of a row."""
    return Result(
        program=row.job.row,
        part=row.job.name,
        mpi=row.job.family.name,
        variant=row.variant,
        mpi_version=find_mpi_version(row.job.family.launcher),
        version=row.job.version,
        outcomes=outcomes,
        verdict=row.verdict,
        reason=row.reason,
        ops=row.ops,
        passes=row.passes,
        elapsed_s=round(row.run.elapsed_s, 1),
    )


def report(bench: Bench, row: Row, outcomes: Mapping[str, int]) -> None:
    """Print a row and keep it."""
    print(format_row(row), row.run.text[-1500:] if row.verdict == "differs" else "", flush=True)
    append_result(bench.results, make_result(row, outcomes))


def skip_job(bench: Bench, skip: Skip) -> None:
    """Say what was not run, and keep it."""
    print(f"skip {skip.name}{f'/{skip.mpi}' if skip.mpi else ''}: {skip.reason}", flush=True)
    append_result(bench.results, Result(skip.suite or skip.name, skip.name, skip.mpi, "stock", skip=skip.reason))


def run_variants(bench: Bench, job: Job, variants: Sequence[str]) -> list[str]:
    """Run a job stock and in all variants, print its rows, return what failed."""
    stock = bench.run_stock(job)
    if stock.is_hanging:
        skip_job(bench, Skip(job.name, "hangs without Lapwing", job.suite, job.family.name))
        return []
    if not job.suite and not stock.runs[0].outcome.lines:
        print(stock.runs[0].text[-1500:])
        skip_job(bench, Skip(job.name, "stock gives nothing to compare with", job.suite, job.family.name))
        return [f"{name_job(job)}: stock {stock.runs[0].outcome.describe()}"]
    report(bench, Row(job, "stock", "", "", stock.runs[-1]), stock.count_outcomes())
    rows: list[Row] = []
    for variant in variants:
        row = judge(bench, stock, Row(job, variant, "", "", bench.run(job, VARIANTS[variant])))
        report(bench, row, {row.run.outcome.describe(): 1})
        rows.append(row)
    failed = [f"{name_job(job)}/{row.variant}: {row.reason}" for row in rows if row.verdict == "differs"]
    idle = check_overlap(rows)
    return failed + ([f"{name_job(job)}: {idle}"] if idle else [])


def select_jobs(arguments: argparse.Namespace) -> tuple[list[Job], list[Skip]]:
    """The jobs that can run here, and the others."""
    wanted: Sequence[str] = arguments.job
    found = [job for make in LISTS for job in make(arguments.wheels, arguments.build)]
    found = [job for job in found if not wanted or any(job.name.startswith(name) for name in wanted)]
    jobs = [job for job in found if isinstance(job, Job)]
    jobs = [job for job in jobs if not arguments.mpi or job.family.name in arguments.mpi]
    skips = [job for job in found if isinstance(job, Skip)]
    return jobs, [job for job in skips if not arguments.mpi or not job.mpi or job.mpi in arguments.mpi]


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preload", type=Path, help="liblapwing.so")
    parser.add_argument("--build", type=Path, default=ROOT / "build/packages", help="where sources and runs lie")
    parser.add_argument("--wheels", type=Path, default=ROOT / ".venv/mpi", help="environments with MPI wheels")
    parser.add_argument("--mpi", action="append", default=[], help="only this MPI (repeatable)")
    parser.add_argument("--job", action="append", default=[], help="only jobs whose name begins so (repeatable)")
    parser.add_argument("--variant", action="append", choices=VARIANTS, help="only this variant (repeatable)")
    parser.add_argument("--repeats", type=int, default=2, help="runs without Lapwing of each program")
    parser.add_argument("--results", type=Path, help="append each outcome to this file, as a line of JSON")
    parser.add_argument("--table", type=Path, action="append", help="run nothing: print what these files hold")
    arguments = parser.parse_args()
    if not arguments.table and not arguments.preload:
        parser.error("--preload or --table is needed")
    return arguments


def run_all(arguments: argparse.Namespace) -> int:
    """Run all jobs; 1 when one differs from stock, 77 when none could run."""
    arguments.build = arguments.build.resolve()
    # Several of these may run at once.
    runs = arguments.build / f"runs.{os.getpid()}"
    bench = Bench(arguments.preload.resolve(), runs, arguments.results, arguments.repeats)
    jobs, skips = select_jobs(arguments)
    failures: list[str] = []
    for job in jobs:
        failures += run_variants(bench, job, arguments.variant or USUAL_VARIANTS)
    for skip in skips:
        skip_job(bench, skip)
    shutil.rmtree(runs, ignore_errors=True)
    for failure in failures:
        print(f"FAIL {failure}")
    print(f"{len(jobs)} programs, {len(failures)} failed, {len(skips)} skipped")
    return 1 if failures else 0 if jobs else SKIP


def main() -> int:
    """Run, or print what earlier runs found."""
    arguments = parse_arguments()
    if arguments.table:
        print(format_table(read_results(arguments.table)), end="")
        return 0
    return run_all(arguments)


if __name__ == "__main__":
    sys.exit(main())
