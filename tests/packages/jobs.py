# SPDX-License-Identifier: MIT
"""What a real program's run is: its command, its files, and the part of its output that must not change."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from families import Family, list_families
from launching import end_group

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RANKS = 2  # MPICH's ranks poll: more of them than cores would take minutes
# Linear algebra with threads of its own would fight with the ranks for the cores.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Output:
    """What a program left: its text, and the folder that it ran in."""

    text: str
    folder: Path


@dataclass(frozen=True)
class Job:
    """One real program on one MPI."""

    name: str
    family: Family
    program: Sequence[str]
    summarize: Callable[[Output], list[str]]
    files: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 120.0
    # Whether some variant must overlap calls: else a run in which Lapwing did nothing would prove nothing.
    is_overlapping: bool = False
    ranks: int = RANKS
    suite: str = ""  # the collection that this is one program of: one row in the table
    version: str = ""

    @property
    def row(self) -> str:
        """The row of the table that this belongs to."""
        return self.suite or self.name


@dataclass(frozen=True)
class Skip:
    """A job that cannot run here."""

    name: str
    reason: str
    suite: str = ""
    mpi: str = ""


@dataclass(frozen=True)
class Outcome:
    """How a run ended, in the words that stock and Lapwing must have in common."""

    exit_code: int | None  # None: killed because it took too long
    lines: Sequence[str]

    def describe(self) -> str:
        """A few words for the table."""
        if self.exit_code is None:
            return "hangs"
        return f"exit {self.exit_code}, {len(self.lines)} lines"


@dataclass(frozen=True)
class Run:
    """One run."""

    outcome: Outcome
    elapsed_s: float
    text: str
    summary: Mapping[str, object] = field(default_factory=dict)


def find_family(name: str, wheels: Path) -> Family:
    """An MPI by its name."""
    return next(family for family in list_families(wheels) if family.name == name)


def launcher_missing(family: Family) -> str:
    """Why this MPI cannot start programs; empty when it can. Its compiler is not needed."""
    return "" if os.access(family.launcher, os.X_OK) else f"{family.launcher} not found"


def build_missing(family: Family, is_built: object) -> str:
    """Why what fetch.sh builds cannot run; empty when it can."""
    return launcher_missing(family) or ("" if is_built else "not built: tests/packages/fetch.sh builds it")


def launch_words(job: Job) -> list[str]:
    """The command line that a user would type."""
    return [str(job.family.launcher), *job.family.flags, "-n", str(job.ranks), *job.program]


def run_limited(
    command: Sequence[str], folder: Path, variables: Mapping[str, str], timeout_s: float
) -> tuple[int | None, str]:
    """Run to the end or to the time limit; return the exit code and all output."""
    log = folder / "output.txt"
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            exit_code: int | None = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            exit_code = None
        finally:
            # Also after a good end: a rank that outlived its launcher would disturb what comes next.
            end_group(process)
    return exit_code, log.read_text(errors="replace")


def run_job(job: Job, folder: Path, options: Sequence[str] | None, preload: Path) -> Run:
    """Run; under Lapwing once more with thrice the time where it took too long, as a busy machine makes it."""
    run = run_once(job, folder / "first", options, preload)
    if run.outcome.exit_code is not None or options is None:
        return run
    return run_once(replace(job, timeout_s=3 * job.timeout_s), folder / "second", options, preload)


def run_once(job: Job, folder: Path, options: Sequence[str] | None, preload: Path) -> Run:
    """Run stock (options is None) or under `lapwing run` with these options, in a fresh folder."""
    folder.mkdir(parents=True)
    for name, text in job.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    report = folder / "lapwing.json"
    command = launch_words(job)
    variables = {**ONE_THREAD, **job.family.environment, **job.environment}
    if options is not None:
        command = [sys.executable, "-m", "lapwing", "run", "--quiet", "--json", str(report), *options, *command]
        variables |= {"PYTHONPATH": str(ROOT / "python"), "LAPWING_PRELOAD": str(preload)}
    begin_s = time.monotonic()
    exit_code, text = run_limited(command, folder, variables, job.timeout_s)
    elapsed_s = time.monotonic() - begin_s
    lines = job.summarize(Output(text, folder)) if exit_code is not None else []
    summary = json.loads(report.read_text()) if report.exists() else {}
    return Run(Outcome(exit_code, lines), elapsed_s, text, summary)
