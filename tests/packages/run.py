# SPDX-License-Identifier: MIT
"""Run real programs, unchanged, stock and under `lapwing run`, and compare what they say.

Stock comes first, in the same session. Where a run under Lapwing differs, stock is repeated: a program that
gives that outcome by itself too is reported as unsteady, any other difference is a failure.
"""

import argparse
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/mpi")]

from packages import hpcc, lammps, python_programs, quantum_espresso, scalapack  # noqa: E402
from packages.jobs import RANKS, Job, Outcome, Run, Skip, run_job  # noqa: E402

SKIP = 77
STOCK_REPEATS = 4
SMALL = ["--threshold", "1KiB", "--learn", "off"]
VARIANTS: Mapping[str, Sequence[str]] = {
    "default": [],
    "userfaultfd": [*SMALL, "--hold", "userfaultfd"],
    "userfaultfd-user": [*SMALL, "--hold", "userfaultfd-user"],
    "signal": [*SMALL, "--hold", "signal"],
}
LISTS = (
    hpcc.list_jobs,
    lammps.list_jobs,
    quantum_espresso.list_jobs,
    scalapack.list_jobs,
    python_programs.list_jobs,
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
        return int(counters.get("ops_send", 0)) + int(counters.get("ops_receive", 0))

    @property
    def passes(self) -> Mapping[str, int]:
        """Calls that Lapwing passed, by reason."""
        passes = self.run.summary.get("passes", {})
        assert isinstance(passes, dict)
        return {reason: int(row["calls"]) for reason, row in passes.items()}


class Bench:
    """Where jobs run; what stock gave is kept."""

    def __init__(self, preload: Path, folder: Path) -> None:
        self.preload = preload
        self.folder = folder
        self._count = 0

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
    summary = row.run.summary
    if not summary.get("mpi_libraries") or not summary.get("ranks_complete") == summary.get("ranks_expected") == RANKS:
        return f"{summary.get('ranks_complete')} of {RANKS} ranks left a complete record"
    if summary.get("damaged") or summary.get("notices"):
        return f"notices {summary.get('notices')}, damaged {summary.get('damaged')}"
    return ""


def is_unsteady(bench: Bench, job: Job, outcome: Outcome) -> bool:
    """Whether stock gives this outcome too, now and then."""
    return any(not find_difference(bench.run(job, None).outcome, outcome) for _ in range(STOCK_REPEATS))


def judge(bench: Bench, stock: Run, row: Row) -> Row:
    """Compare a run with stock, and with more of stock where it differs."""
    wrong = find_difference(stock.outcome, row.run.outcome)
    if wrong and is_unsteady(bench, row.job, row.run.outcome):
        return Row(row.job, row.variant, "pass", f"unsteady without Lapwing too: {wrong}", row.run)
    wrong = wrong or check_summary(row)
    return Row(row.job, row.variant, "FAIL" if wrong else "pass", wrong, row.run)


def run_stock(bench: Bench, job: Job) -> Run:
    """A stock run that ends; one that hangs is repeated, since some programs do now and then."""
    run = bench.run(job, None)
    for _ in range(STOCK_REPEATS):
        if run.outcome.exit_code is not None:
            break
        run = bench.run(job, None)
    return run


def format_row(row: Row) -> str:
    """One line of the table."""
    passes = ", ".join(f"{reason} {calls}" for reason, calls in sorted(row.passes.items(), key=lambda item: -item[1]))
    ops = f"{row.ops:>6}" if row.variant != "stock" else f"{'-':>6}"
    head = f"{row.verdict:5}{name_job(row.job):28}{row.variant:17}{row.run.elapsed_s:6.1f} s {ops} "
    return f"{head} {row.run.outcome.describe():22} {passes} {row.reason}".rstrip()


def check_overlap(rows: Sequence[Row]) -> str:
    """A program whose calls can be overlapped must have had some, in at least one variant."""
    is_wanted = bool(rows) and rows[0].job.is_overlapping
    return "no variant overlapped a call" if is_wanted and not any(row.ops for row in rows) else ""


def run_variants(bench: Bench, job: Job, variants: Sequence[str]) -> list[str]:
    """Run a job stock and in all variants, print its rows, return what failed."""
    stock = run_stock(bench, job)
    if stock.outcome.exit_code is None or not stock.outcome.lines:
        print(format_row(Row(job, "stock", "FAIL", "stock gives nothing to compare with", stock)), stock.text[-600:])
        return [f"{name_job(job)}: stock {stock.outcome.describe()}"]
    print(format_row(Row(job, "stock", "", "", stock)), flush=True)
    rows: list[Row] = []
    for variant in variants:
        row = judge(bench, stock, Row(job, variant, "", "", bench.run(job, VARIANTS[variant])))
        print(format_row(row), row.run.text[-1500:] if row.verdict == "FAIL" else "", flush=True)
        rows.append(row)
    failed = [f"{name_job(job)}/{row.variant}: {row.reason}" for row in rows if row.verdict == "FAIL"]
    idle = check_overlap(rows)
    return failed + ([f"{name_job(job)}: {idle}"] if idle else [])


def select_jobs(arguments: argparse.Namespace) -> tuple[list[Job], list[Skip]]:
    """The jobs that can run here, and the others."""
    wanted: Sequence[str] = arguments.job
    found = [job for make in LISTS for job in make(arguments.wheels, arguments.build)]
    found = [job for job in found if not wanted or any(job.name.startswith(name) for name in wanted)]
    jobs = [job for job in found if isinstance(job, Job)]
    jobs = [job for job in jobs if not arguments.mpi or job.family.name in arguments.mpi]
    return jobs, [job for job in found if isinstance(job, Skip)]


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preload", type=Path, required=True, help="liblapwing.so")
    parser.add_argument("--build", type=Path, default=ROOT / "build/packages", help="where sources and runs lie")
    parser.add_argument("--wheels", type=Path, default=ROOT / ".venv/mpi", help="environments with MPI wheels")
    parser.add_argument("--mpi", action="append", default=[], help="only this MPI (repeatable)")
    parser.add_argument("--job", action="append", default=[], help="only jobs whose name begins so (repeatable)")
    parser.add_argument("--variant", action="append", choices=VARIANTS, help="only this variant (repeatable)")
    return parser.parse_args()


def main() -> int:
    """Run all jobs; 1 when one differs from stock, 77 when none could run."""
    arguments = parse_arguments()
    arguments.build = arguments.build.resolve()
    runs = arguments.build / "runs"
    shutil.rmtree(runs, ignore_errors=True)
    bench = Bench(arguments.preload.resolve(), runs)
    jobs, skips = select_jobs(arguments)
    failures: list[str] = []
    for job in jobs:
        failures += run_variants(bench, job, arguments.variant or list(VARIANTS))
    for skip in skips:
        print(f"skip {skip.name}: {skip.reason}")
    for failure in failures:
        print(f"FAIL {failure}")
    print(f"{len(jobs)} programs, {len(failures)} failed, {len(skips)} skipped")
    return 1 if failures else 0 if jobs else SKIP


if __name__ == "__main__":
    sys.exit(main())
