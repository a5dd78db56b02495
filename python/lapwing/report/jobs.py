# SPDX-License-Identifier: MIT
"""What a folder of records says of the jobs that ran: those of ranks that had Lapwing by default, and of `lapwing run`.

Ranks append to their host's file, whatever their job (src/record/format.h); here they are put together again.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from lapwing.errors import LapwingError, RecordError
from lapwing.profile.job_file import is_profile
from lapwing.profile.record import JobRecord, RankRecord, read_folder, read_job
from lapwing.report.summary import (
    Totals,
    count_words,
    describe_engine,
    describe_ops,
    describe_passes,
    describe_ranks,
    describe_times,
    format_bytes,
    format_count,
    format_seconds,
    make_json,
    sum_job,
)
from lapwing.screen import Screen

SCHEMA = "lapwing-jobs-1"
NS_PER_S = 1_000_000_000
PATTERNS = ("*.ranks", "*.record")
SKEW_NS = 10 * NS_PER_S  # by which the clocks of hosts may differ
MOVED = ("bytes_send", "bytes_receive", "bytes_collective")
WAITED = ("touch_wait_ns", "call_wait_ns")


@dataclass(frozen=True)
class FolderRecord:
    """The jobs of some folders, the earliest first, and what could not be read."""

    jobs: Sequence[JobRecord]
    damaged: Sequence[str]


def sum_counters(counters: Mapping[str, int], names: Iterable[str]) -> int:
    """Sum those of these names."""
    return sum(counters.get(name, 0) for name in names)


def find_end_ns(record: RankRecord) -> int:
    """Return when a rank ended, on its host's clock."""
    return record.started_unix_ns + record.counters.get("run_ns", 0)


def make_key(record: RankRecord) -> tuple[str, int, str]:
    """Return what ranks of a job have in common; a launcher's name for it also joins several programs."""
    return record.launch or f"program {record.program}", record.size, record.abi


@dataclass
class OpenJob:
    """A job whose ranks are still being found: each is there once, and all run at the same time."""

    records: list[RankRecord]
    ranks: set[int]
    end_ns: int  # of the rank that ended first

    def takes(self, record: RankRecord) -> bool:
        """Say whether a rank can be of this job."""
        return record.rank not in self.ranks and not self.is_over(record.started_unix_ns)

    def is_over(self, now_ns: int) -> bool:
        """Say whether no rank that starts now can be of this job."""
        return len(self.ranks) == self.records[0].size or now_ns > self.end_ns + SKEW_NS

    def add(self, record: RankRecord) -> None:
        """Take a rank in."""
        self.records.append(record)
        self.ranks.add(record.rank)
        self.end_ns = min(self.end_ns, find_end_ns(record))


def find_open(record: RankRecord, jobs: Sequence[OpenJob]) -> OpenJob | None:
    """Return the earliest of these jobs that a rank can be of."""
    return next((job for job in jobs if job.takes(record)), None)


def group_ranks(records: Iterable[RankRecord]) -> list[list[RankRecord]]:
    """Put the ranks of each job together, the earliest job first. Who never knew a rank was no MPI process."""
    jobs: list[list[RankRecord]] = []
    opened: dict[tuple[str, int, str], list[OpenJob]] = {}
    known = [record for record in records if record.rank >= 0]
    for record in sorted(known, key=lambda record: record.started_unix_ns):
        key = make_key(record)
        left = [job for job in opened.get(key, []) if not job.is_over(record.started_unix_ns)]
        found = find_open(record, left)
        if found is None:
            found = OpenJob([], set(), find_end_ns(record))
            left.append(found)
            jobs.append(found.records)
        found.add(record)
        opened[key] = left
    return jobs


def find_start_ns(job: JobRecord) -> int:
    """Return when the first rank of a job started; 0 where no record says so."""
    return min((record.started_unix_ns for record in job.ranks), default=0)


def find_elapsed_s(job: JobRecord) -> float:
    """Return how long the longest rank ran, from MPI_Init on."""
    return max((record.counters.get("run_ns", 0) for record in job.ranks), default=0) / NS_PER_S


def name_programs(job: JobRecord) -> str:
    """Name the programs of a job."""
    return ", ".join(count_words(record.program for record in job.ranks)) or "?"


def split_launches(job: JobRecord) -> list[JobRecord]:
    """Return the jobs of a run, whose script may have started several."""
    return [JobRecord(job.about, ranks, job.damaged) for ranks in group_ranks(job.ranks)] or [job]


def read_kept(folder: Path) -> tuple[list[JobRecord], list[str]]:
    """Read the jobs that `lapwing run` kept in a folder; name what cannot be read."""
    jobs: list[JobRecord] = []
    damaged: list[str] = []
    for path in sorted(folder.glob("*.record")):
        try:
            jobs += [] if is_profile(path) else split_launches(read_job(path))
        except RecordError as error:
            damaged.append(error.message)
    return jobs, damaged


def drop_zeros(record: RankRecord) -> RankRecord:
    """Leave out the reasons that a rank never had: a folder may hold very many ranks."""
    return replace(record, passes={name: row for name, row in record.passes.items() if row.calls})


def read_ranks(folder: Path) -> tuple[list[RankRecord], list[str]]:
    """Read what ranks have appended in a folder; equal complaints stand there once."""
    left = read_folder(folder, {})
    counts = Counter(f"{folder}: {text}" for text in left.damaged)
    damaged = [text if count == 1 else f"{text} ({count:,} times)" for text, count in counts.items()]
    return [drop_zeros(record) for record in left.ranks], damaged


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be read, or has no records."""
    if not os.access(folder, os.R_OK | os.X_OK):
        raise LapwingError(f"{folder} cannot be read", "ask its owner")
    if not any(True for pattern in PATTERNS for _ in folder.glob(pattern)):
        raise LapwingError(f"{folder} has no records", "give a folder of [reports] with its date")


def read_jobs(folders: Iterable[Path]) -> FolderRecord:
    """Read all jobs in these folders."""
    ranks: list[RankRecord] = []
    jobs: list[JobRecord] = []
    damaged: list[str] = []
    for folder in folders:
        check_folder(folder)
        left, cut = read_ranks(folder)
        kept, unread = read_kept(folder)
        ranks += left
        jobs += kept
        damaged += [*cut, *unread]
    jobs += [JobRecord({}, group) for group in group_ranks(ranks)]
    return FolderRecord(sorted(jobs, key=find_start_ns), damaged)


def format_start(job: JobRecord) -> str:
    """Write when a job started, in the reader's time."""
    start_ns = find_start_ns(job)
    return datetime.fromtimestamp(start_ns / NS_PER_S).strftime("%m-%d %H:%M") if start_ns else "?"


def format_ranks(totals: Totals) -> str:
    """Write how many ranks a job had, and how many of them left a record where some did not."""
    is_whole = totals.reporting == totals.expected
    return f"{totals.expected}" if is_whole else f"{totals.reporting} of {totals.expected}"


def make_row(job: JobRecord) -> list[str]:
    """Make a job's row."""
    totals = sum_job(job)
    counters = totals.counters
    run_ns, moved_bytes = counters.get("run_ns", 0), sum_counters(counters, MOVED)
    times_ns = [counters.get("beside_ns", 0), sum_counters(counters, WAITED), counters.get("engine_cpu_ns", 0)]
    return [
        format_start(job),
        name_programs(job),
        format_ranks(totals),
        format_seconds(find_elapsed_s(job)),
        format_bytes(moved_bytes) if moved_bytes else "-",
        *(f"{100 * time_ns / run_ns:.1f} %" if time_ns and run_ns else "-" for time_ns in times_ns),
    ]


NUMBERS = ("took", "overlapped", "ran on", "waited", "engine")
CAPTION = "of the ranks' time: ran on beside transfers, waited for them, engine at work"


def make_table(jobs: Iterable[JobRecord]) -> Table:
    """Make the table of jobs."""
    table = Table(box=SIMPLE_HEAD, padding=0, pad_edge=False, caption=CAPTION)
    for name in ("started", "program", "ranks"):
        table.add_column(name, no_wrap=name != "program", overflow="fold")
    for name in NUMBERS:
        table.add_column(name, no_wrap=True, justify="right")
    for job in jobs:
        table.add_row(*make_row(job))
    return table


def format_sums(record: FolderRecord) -> list[str]:
    """Say what all jobs together did."""
    ranks = [rank for job in record.jobs for rank in job.ranks]
    expected = sum(sum_job(job).expected for job in record.jobs)
    totals = replace(sum_job(JobRecord({}, ranks)), expected=expected)
    lines = [f"{format_count(len(record.jobs), 'job')}: {describe_ops(totals)}; {describe_ranks(totals)}"]
    if ranks:
        lines += [describe_times(totals), describe_engine(totals)]
    return lines + describe_passes(totals) + [f"notice: {text}" for text in record.damaged]


def print_jobs(record: FolderRecord, screen: Screen) -> None:
    """Print the jobs, and their sums."""
    if record.jobs:
        screen.print(make_table(record.jobs))
    for line in format_sums(record):
        screen.print(line, highlight=False)


def encode_job(job: JobRecord) -> dict[str, Any]:
    """Make a job's summary for programs."""
    start_ns = find_start_ns(job)
    return {
        "started_unix_s": start_ns / NS_PER_S if start_ns else None,
        "program": name_programs(job),
        "launch": next((record.launch for record in job.ranks if record.launch), ""),
        "elapsed_s": find_elapsed_s(job),
        **make_json(job),
    }


def encode_jobs(record: FolderRecord) -> str:
    """Write the jobs as JSON."""
    jobs = [encode_job(job) for job in record.jobs]
    return json.dumps({"schema": SCHEMA, "jobs": jobs, "damaged": list(record.damaged)}, indent=2)
