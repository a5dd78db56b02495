# SPDX-License-Identifier: MIT
"""What `lapwing profile` and `lapwing report` print of a profile: a summary that fits a screen, and JSON."""

from collections.abc import Iterator
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table

from lapwing.model.classes import CallClass, shorten_name
from lapwing.profile.job_file import ONE_JOB_REMEDY, SEVERAL_JOBS
from lapwing.report.held import describe_waiting, is_waiting
from lapwing.report.summary import format_bytes, format_count, format_time
from lapwing.report.totals import CLASSES, JobTotals, SiteTotals, Sum, TouchSum

SCHEMA = "lapwing-profile-summary-1"
FUNCTIONS_MAX = 6
SITES_MAX = 8
TOUCHES_MAX = 6
SHARE_MIN = 0.0005
PLACE_LENGTH_MAX = 36
NUMBER_WIDTH = 7
NAMES = {
    CallClass.BLOCKING: "blocking calls",
    CallClass.WAIT: "waits",
    CallClass.START: "nonblocking starts",
    CallClass.TEST: "completion tests",
    CallClass.OTHER: "other MPI calls",
}


def format_share(part_ns: float, total_ns: float) -> str:
    """Write a share of the time."""
    share = part_ns / total_ns if total_ns else 0.0
    return f"{100 * share:.1f} %" if share >= SHARE_MIN or part_ns == 0 else "< 0.1 %"


def describe_job(totals: JobTotals) -> str:
    """Say what ran."""
    command = totals.about.get("command")
    name = " ".join(map(str, command)) if isinstance(command, list) else ""
    ranks = f"{len(totals.ranks)} of {format_count(totals.world_size, 'rank')}"
    if totals.job_count > 1:
        ranks = f"{format_count(len(totals.ranks), 'rank')} in {totals.job_count} jobs"
    time = format_time(totals.elapsed_ns)
    return f"{name + ': ' if name else ''}{ranks}, {time} from MPI_Init to MPI_Finalize (slowest rank)"


def describe_computation(totals: JobTotals) -> tuple[str, str]:
    """Write share and time of the computation. Of ranks with several threads in MPI at once it is the least."""
    time_ns = totals.computation_ns
    share, time = format_share(time_ns, totals.rank_time_ns), format_time(time_ns)
    if not totals.has_threaded_calls:
        return share, time
    return ("", f"at least {time}") if time_ns else ("", "not known")


def describe_imbalance(totals: JobTotals) -> str:
    """Say how unevenly the ranks compute; nothing where several threads make that unknown."""
    if totals.has_threaded_calls:
        return ""
    times = [rank.computation_ns for rank in totals.ranks]
    mean_ns = sum(times) / len(times)
    slowest = max(totals.ranks, key=lambda rank: rank.computation_ns)
    least, most = format_time(min(times)), format_time(max(times))
    uneven = format_share(max(times) - mean_ns, mean_ns)
    return f"computation takes {least} to {most}; the longest, on rank {slowest.rank}, is {uneven} above the mean"


def make_table(*columns: str) -> Table:
    """Make a table: names left, numbers right."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for number, column in enumerate(columns):
        if number == 0:
            table.add_column(column, overflow="fold")
        else:
            table.add_column(column, justify="right", no_wrap=True, min_width=NUMBER_WIDTH)
    return table


def make_class_table(totals: JobTotals) -> Table:
    """Make the table of the classes of the dedicated-core paper."""
    table = make_table("time of all ranks", "share", "time", "calls", "bytes")
    whole_ns = totals.rank_time_ns
    table.add_row("computation", *describe_computation(totals), "", "")
    for call_class in CLASSES:
        time_ns, count = totals.class_ns(call_class), totals.class_count(call_class)
        if count:
            size = totals.class_bytes(call_class)
            cells = (format_share(time_ns, whole_ns), format_time(time_ns), f"{count:,}")
            table.add_row(NAMES[call_class], *cells, format_bytes(size) if size else "")
    return table


def make_sum_cells(entry: Sum, whole_ns: int) -> tuple[str, ...]:
    """Write a sum of calls."""
    return (
        format_share(entry.time_ns, whole_ns),
        f"{entry.count:,}",
        format_time(entry.mean_ns),
        format_time(entry.time_max_ns),
        format_bytes(entry.bytes / entry.bytes_count) if entry.bytes_count else "",
    )


def make_function_table(totals: JobTotals) -> Table:
    """Make the table of the longest functions."""
    table = make_table("function", "share", "calls", "mean", "longest", "message")
    for name, entry in totals.list_functions()[:FUNCTIONS_MAX]:
        table.add_row(name, *make_sum_cells(entry, totals.rank_time_ns))
    return table


def shorten_place(place: str) -> str:
    """Cut the middle out of a long place: compilers make long names."""
    kept = PLACE_LENGTH_MAX // 2 - 1
    return place if len(place) <= PLACE_LENGTH_MAX else f"{place[:kept]}..{place[-kept:]}"


def make_site_table(totals: JobTotals) -> Table:
    """Make the table of the longest call sites."""
    table = make_table("call site", "share", "calls", "mean", "longest", "message", "slack")
    for site in totals.list_sites()[:SITES_MAX]:
        slack_ns = site.computation_mean_ns
        slack = "" if slack_ns is None else format_time(slack_ns)
        name = f"{shorten_place(site.place)} {shorten_name(site.function)}"
        table.add_row(name, *make_sum_cells(site.sum, totals.rank_time_ns), slack)
    return table


def name_message(function: str) -> tuple[str, str]:
    """Return what a blocking call is in a sentence, and what its buffer's first touch is."""
    name = shorten_name(function)
    if name in ("Recv", "Mrecv"):
        return "receive", "touched"
    if name in ("Send", "Bsend", "Ssend", "Rsend"):
        return "send", "written"
    return name, "touched"


def describe_touch(site: SiteTotals, touch: TouchSum) -> str:
    """Say when and where a site's buffers are touched first. The computation until then is known of all places only."""
    message, touched = name_message(site.function)
    wall, computation_ns = format_time(touch.mean_ns), site.computation_mean_ns or 0.0
    share = f"{touch.count:,} of {format_count(site.sampled_count, 'sample')}"
    average = "on average" if touch.count == site.sampled_count else "on average over all samples"
    return (
        f"the {message} at {site.place} is first {touched} at {touch.place}, {wall} later "
        f"({share}; {format_time(computation_ns)} of computation {average})"
    )


def iterate_touches(totals: JobTotals) -> Iterator[str]:
    """Yield the sentences about the longest blocking sites that were sampled."""
    for site in totals.list_sites():
        touch = site.first_touch
        if touch is not None:
            yield describe_touch(site, touch)


def iterate_waiting(totals: JobTotals) -> Iterator[str]:
    """Yield the sentences about the longest sites where Lapwing would wait."""
    for site in totals.list_sites():
        if is_waiting(site.held_count, site.unheld):
            message, _ = name_message(site.function)
            yield f"the {message} at {site.place}: {describe_waiting(site.held_count, site.unheld)}"


def iterate_notes(totals: JobTotals) -> Iterator[str]:
    """Yield what the numbers above leave out."""
    if totals.job_count > 1:
        yield f"notice: the record holds {totals.job_count} jobs: {SEVERAL_JOBS}; {ONE_JOB_REMEDY}"
    if totals.has_threaded_calls:
        yield "notice: several threads of a rank called MPI: shares add up over threads, and may exceed 100 %"
    unfinished = [rank.rank for rank in totals.ranks if not rank.is_complete]
    if unfinished:
        ranks = format_count(len(unfinished), "rank")
        yield f"notice: {ranks} ended without MPI_Finalize (first: rank {unfinished[0]})"
    if totals.lost_calls:
        yield f"notice: {format_count(totals.lost_calls, 'call')} found no room in the record"
    if totals.lost_requests:
        lost = format_count(totals.lost_requests, "request")
        yield f"notice: {lost} could not be followed, too many at once: their waits count without slack and bytes"
    damaged = totals.about.get("damaged")
    for text in damaged if isinstance(damaged, list) else ():
        yield f"notice: {text}"
    if totals.watch_count:
        cost = format_share(totals.watch_cost_ns, totals.rank_time_ns)
        yield f"slack: {totals.watch_count:,} sampled buffers, which took {cost} of the time"


def make_profile_text(totals: JobTotals) -> RenderableType:
    """Make the whole summary."""
    if not totals.ranks:
        return "no rank left a profile"
    touches = list(iterate_touches(totals))[:TOUCHES_MAX]
    waiting = list(iterate_waiting(totals))[:TOUCHES_MAX]
    tables = [make_class_table(totals), make_function_table(totals), make_site_table(totals)]
    return Group(
        describe_job(totals),
        *filter(None, [describe_imbalance(totals)]),
        *(table for table in tables if table.row_count),
        *touches,
        *waiting,
        *iterate_notes(totals),
    )


def print_profile(totals: JobTotals, console: Console) -> None:
    """Print the summary."""
    console.print(make_profile_text(totals), highlight=False, soft_wrap=False)


def encode_sum(entry: Sum) -> dict[str, int]:
    """Make a sum of calls for programs."""
    return {
        "count": entry.count,
        "time_ns": entry.time_ns,
        "time_min_ns": entry.time_min_ns,
        "time_max_ns": entry.time_max_ns,
        "bytes": entry.bytes,
        "message_count": entry.bytes_count,
    }


def encode_touch(touch: TouchSum) -> dict[str, Any]:
    """Make a touch for programs."""
    return {
        "place": touch.place,
        "file": touch.file,
        "line": touch.line,
        "module": touch.module,
        "offset": touch.offset,
        "count": touch.count,
        "wall_ns": touch.wall_ns,
    }


def encode_site(site: SiteTotals) -> dict[str, Any]:
    """Make a call site for programs."""
    touches = sorted(site.touches.values(), key=lambda touch: -touch.count)
    return {
        "function": site.function,
        "class": site.call_class.value,
        "place": site.place,
        "file": site.file,
        "line": site.line,
        "caller": site.caller,
        "module": site.module,
        "offset": site.offset,
        **encode_sum(site.sum),
        "ranks": site.ranks,
        "time_of_slowest_rank_ns": site.time_of_slowest_ns,
        "transfer_ns": round(site.transfer_ns),
        "slack": {
            "sampled_count": site.sampled_count,
            "censored_count": site.censored_count,
            "wall_ns": site.slack_wall_ns,
            "computation_ns": site.slack_computation_ns,
        },
        "touches": [encode_touch(touch) for touch in touches],
        "passes": dict(site.passes),
        "held_count": site.held_count,
        "unheld": dict(site.unheld),
        "sizes": {str(bits): count for bits, count in sorted(site.sizes.items())},
        "computation_before_ns": site.before_ns,
    }


def encode_profile_totals(totals: JobTotals) -> dict[str, Any]:
    """Make the summary for programs: docs/records.md has the schema."""
    return {
        "schema": SCHEMA,
        "job": dict(totals.about),
        "world_size": totals.world_size,
        "elapsed_ns": totals.elapsed_ns,
        "rank_time_ns": totals.rank_time_ns,
        "computation_ns": totals.computation_ns,
        "mpi_libraries": list(totals.libraries),
        "watches": {"count": totals.watch_count, "cost_ns": totals.watch_cost_ns},
        "lost_calls": totals.lost_calls,
        "lost_requests": totals.lost_requests,
        "classes": {
            c.value: {"time_ns": totals.class_ns(c), "count": totals.class_count(c), "bytes": totals.class_bytes(c)}
            for c in CLASSES
        },
        "functions": {name: encode_sum(entry) for name, entry in totals.list_functions()},
        "sites": [encode_site(site) for site in totals.list_sites()],
        "ranks": [
            {
                "rank": rank.rank,
                "host": rank.host,
                "elapsed_ns": rank.elapsed_ns,
                "computation_ns": rank.computation_ns,
                "class_ns": {c.value: rank.class_ns.get(c, 0) for c in CLASSES},
                "is_complete": rank.is_complete,
            }
            for rank in totals.ranks
        ],
    }
