# SPDX-License-Identifier: MIT
"""The few lines that `lapwing run` prints at the end, and the same as JSON."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from signal import Signals
from typing import Any

from lapwing.profile.record import JobRecord, Pass, RankRecord, load_reason_help

SCHEMA = "lapwing-run-1"
SILENT = (
    "crashed, killed, ended by MPI_Abort, kept out of Lapwing, the disk is full, or its host does not see the folder "
    "of the records"
)
FULL_DISK = "full_disk"  # of what is known of a run: the disk that has no room for records
KEPT_OUT = "kept_out"  # of what is known of a run: what keeps Lapwing out of ranks
CONTAINERS = ("apptainer", "singularity", "ch-run", "podman", "docker", "enroot", "sarus", "shifter")
INTERRUPTED_BY = "interrupted_by"  # of what is known of a run: the signal that somebody ended it with
KILLED = "its ranks crashed, were killed or called MPI_Abort"


@dataclass(frozen=True)
class Totals:
    """The sums over the ranks of a job."""

    expected: int
    reporting: int
    complete: int
    counters: Mapping[str, int]
    passes: Mapping[str, Pass]
    holds: Sequence[str]
    progress: Sequence[str]
    libraries: Sequence[str]
    notices: Mapping[str, int]


def count_words(words: Iterable[str]) -> list[str]:
    """Return the different words, the most frequent first, without empty ones."""
    return [word for word, _ in Counter(word for word in words if word and word != "none").most_common()]


def sum_passes(records: Sequence[RankRecord]) -> dict[str, Pass]:
    """Sum the passes, the most frequent reason first."""
    calls: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for record in records:
        for reason, row in record.passes.items():
            calls[reason] += row.calls
            sizes[reason] += row.bytes
    return {reason: Pass(count, sizes[reason]) for reason, count in calls.most_common() if count and reason != "none"}


def sum_job(job: JobRecord) -> Totals:
    """Sum a job; processes that never knew a rank were no MPI processes."""
    records = [record for record in job.ranks if record.rank >= 0 or record.notice]
    counters: Counter[str] = Counter()
    for record in records:
        counters.update(record.counters)
    return Totals(
        expected=max((record.size for record in records), default=0),
        reporting=len([record for record in records if record.rank >= 0]),
        complete=len([record for record in records if record.is_complete]),
        counters=counters,
        passes=sum_passes(records),
        holds=count_words(record.hold for record in records),
        progress=count_words(record.progress for record in records),
        libraries=count_words(record.mpi_library for record in records),
        notices=Counter(record.notice for record in records if record.notice),
    )


def format_short(number: float) -> str:
    """Write a number in three digits, or as a whole number."""
    return f"{number:.3g}" if number < 999.5 else f"{number:.0f}"  # 999.5 in three digits is 1e+03


def format_bytes(number: float) -> str:
    """Write a number of bytes for people."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if number < 1024:
            return f"{number:.0f} B" if unit == "B" else f"{format_short(number)} {unit}"
        number /= 1024
    return f"{format_short(number)} TiB"


def format_time(ns: float) -> str:
    """Write a time for people."""
    for limit, factor, unit in ((1e3, 1, "ns"), (1e6, 1e-3, "us"), (1e9, 1e-6, "ms")):
        if ns < limit:
            return f"{format_short(ns * factor)} {unit}"
    return f"{ns * 1e-9:.2f} s"


def format_seconds(time_s: float) -> str:
    """Write seconds for people."""
    return format_time(time_s * 1e9)


def format_count(number: int, word: str) -> str:
    """Write a number with its noun."""
    return f"{number:,} {word}" + ("" if number == 1 else "s")


def describe_collectives(totals: Totals) -> str:
    """Say how many collectives were overlapped."""
    collectives, moved_bytes = totals.counters.get("ops_collective", 0), totals.counters.get("bytes_collective", 0)
    return f"{format_count(collectives, 'collective')} ({format_bytes(moved_bytes)})"


def describe_ops(totals: Totals) -> str:
    """Say how much was overlapped."""
    counters = totals.counters
    sends, receives = counters.get("ops_send", 0), counters.get("ops_receive", 0)
    collectives = counters.get("ops_collective", 0)
    if sends + receives + collectives == 0:
        return "no call was overlapped"
    if sends + receives == 0:
        return f"overlapped {describe_collectives(totals)}"
    of_collectives = f", and {describe_collectives(totals)}" if collectives else ""
    return (
        f"overlapped {format_count(sends, 'send')} ({format_bytes(counters.get('bytes_send', 0))}) and "
        f"{format_count(receives, 'receive')} ({format_bytes(counters.get('bytes_receive', 0))}){of_collectives}"
    )


def describe_assisted(totals: Totals) -> list[str]:
    """Say how many nonblocking operations went on while the program computed."""
    assisted, slack_ns = totals.counters.get("assisted", 0), totals.counters.get("assisted_ns", 0)
    if assisted == 0:
        return []
    return [
        f"kept {format_count(assisted, 'nonblocking operation')} going; {format_time(slack_ns / assisted)} on average "
        "from the start to the first wait or test"
    ]


def describe_taken(totals: Totals) -> list[str]:
    """Say what was received before the program asked for it."""
    taken = totals.counters.get("taken", 0)
    if taken == 0:
        return []
    return [f"received {format_count(taken, 'message')} early ({format_bytes(totals.counters.get('taken_bytes', 0))})"]


def describe_ranks(totals: Totals) -> str:
    """Say how many ranks reported."""
    if totals.reporting > totals.expected:
        return f"{totals.reporting} processes reporting"
    return f"{totals.reporting} of {format_count(totals.expected, 'rank')} reporting"


def describe_times(totals: Totals) -> str:
    """Say what was gained and where the program waited all the same."""
    counters = totals.counters
    touches = format_count(counters.get("touches", 0), "touch").replace("touchs", "touches")
    beside_ns = counters.get("beside_ns")  # older records do not tell it
    beside = "" if beside_ns is None else f"ran on for {format_time(beside_ns)} beside these transfers; "
    return (
        f"{beside}waited {format_time(counters.get('touch_wait_ns', 0))} at {touches}, "
        f"{format_time(counters.get('call_wait_ns', 0))} in later calls (sums over ranks)"
    )


def describe_engine(totals: Totals) -> str:
    """Say what Lapwing cost."""
    counters = totals.counters
    cpu_ns, run_ns = counters.get("engine_cpu_ns", 0), counters.get("run_ns", 0)
    share = f" ({100 * cpu_ns / run_ns:.2g} % of a core)" if run_ns else ""
    hold, progress = ", ".join(totals.holds) or "none", ", ".join(totals.progress) or "none"
    return (
        f"engine {format_time(cpu_ns)} of processor time{share}; arming and releasing holds "
        f"{format_time(counters.get('hold_ns', 0))}; hold {hold}, progress {progress}"
    )


def describe_passes(totals: Totals) -> list[str]:
    """Say which calls went to MPI unchanged, and why."""
    if not totals.passes:
        return []
    texts = load_reason_help()
    calls = sum(row.calls for row in totals.passes.values())
    lines = [f"passed {format_count(calls, 'call')} to MPI unchanged:"]
    for reason, row in totals.passes.items():
        lines.append(f"  {row.calls:>10,}  {format_bytes(row.bytes):>9}  {texts.get(reason, reason)}")
    return lines


def describe_problems(job: JobRecord, totals: Totals) -> list[str]:
    """Say what the numbers above leave out."""
    lines = [f"notice: {notice} ({format_count(number, 'process')})" for notice, number in totals.notices.items()]
    lines = [line.replace("processs", "processes") for line in lines]
    silent = totals.expected - totals.reporting
    if silent > 0:
        lines.append(f"notice: {format_count(silent, 'rank')} left no record: {job.about.get(FULL_DISK) or SILENT}")
    unfinished = totals.reporting - totals.complete
    if unfinished > 0:
        lines.append(f"notice: {format_count(unfinished, 'rank')} ended without MPI_Finalize")
    return lines + [f"notice: {text}" for text in job.damaged]


def name_signal(exit_code: int) -> str:
    """Return the signal that an exit code tells of, as shells have it; empty when it tells of none."""
    return next((known.name for known in Signals if known == exit_code - 128), "")


def describe_failure(exit_code: Any) -> tuple[str, bool]:
    """Say how an exit code explains that nobody left a record, and whether it does so alone.

    MPICH's launcher ends with the signal's number, which may be any program's own exit code, too.
    """
    if not isinstance(exit_code, int) or exit_code == 0:
        return "", False
    name = name_signal(exit_code)
    if name:
        return f"{KILLED}, or the run was interrupted (the exit code {exit_code} is that of {name})", True
    return f"{KILLED} (the exit code is {exit_code})", False


def describe_container(command: Sequence[str]) -> str:
    """Say what keeps ranks in a container from leaving records; empty where the command starts none."""
    name = next((name for name in (Path(word).name for word in command) if name in CONTAINERS), "")
    if not name:
        return ""
    return (
        f"the container ({name}) does not show its ranks the folder of liblapwing.so and the folder in which the run "
        "was started, or does not hand LD_PRELOAD and LAPWING_RECORD_DIR to them"
    )


def format_unused(about: Mapping[str, Any]) -> str:
    """Say that nobody left a record, and why that may be. about: what the record says of the run."""
    if about.get(INTERRUPTED_BY):
        return f"the run was interrupted ({about[INTERRUPTED_BY]}) before a rank left a record"
    cause, is_alone = describe_failure(about.get("exit_code"))
    if about.get(FULL_DISK) and not cause:
        return f"no process left a record: {about[FULL_DISK]}"
    if is_alone:
        return f"no process left a record: {cause}"
    likely = [text for text in (cause, about.get(KEPT_OUT), describe_container(about.get("command", []))) if text]
    causes = [
        *likely,
        "no MPI program was started, the run was interrupted, the disk is full, the program is statically linked or "
        "set-uid, it uses MPI by sessions alone, it opened MPI, or a library that calls MPI, by dlmopen or with "
        "RTLD_DEEPBIND, it did not get LD_PRELOAD, it runs as another user than the command (setpriv or sudo in a "
        "wrapper), or its host does not see the folder of the records (start in a shared folder)",
    ]
    return f"no process left a record: {', '.join(causes)}"


def format_summary(job: JobRecord) -> list[str]:
    """Make the lines of the summary."""
    totals = sum_job(job)
    if not job.ranks and not job.damaged:
        return [format_unused(job.about)]
    lines = [f"{describe_ops(totals)}; {describe_ranks(totals)}"]
    if any(totals.counters.get(f"ops_{kind}", 0) for kind in ("send", "receive", "collective")):
        lines.append(describe_times(totals))
    lines += describe_assisted(totals)
    lines += describe_taken(totals)
    if totals.reporting:
        lines.append(describe_engine(totals))
    return lines + describe_passes(totals) + describe_problems(job, totals)


def make_json(job: JobRecord) -> dict[str, Any]:
    """Make the summary for programs."""
    totals = sum_job(job)
    return {
        "schema": SCHEMA,
        "job": dict(job.about),
        "ranks_expected": totals.expected,
        "ranks_reporting": totals.reporting,
        "ranks_complete": totals.complete,
        "hold": list(totals.holds),
        "progress": list(totals.progress),
        "mpi_libraries": list(totals.libraries),
        "counters": dict(totals.counters),
        "passes": {reason: {"calls": row.calls, "bytes": row.bytes} for reason, row in totals.passes.items()},
        "notices": dict(totals.notices),
        "damaged": list(job.damaged),
    }
