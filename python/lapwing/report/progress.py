# SPDX-License-Identifier: MIT
"""Tables of the progress experiment."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from lapwing.report.summary import format_bytes, format_short
from lapwing.report.tables import format_ms, format_ratio

POINT_COLUMNS = ("time", "quartiles", "speed-\nup", "over-\nlap", "of\nlimit", "work", "alone", "CPU")
DISTURBED_LEAST = 1.1
SMALL_COLUMNS = ("8 B,\nus", "quartiles", "ratio", "messages\nper s", "ratio", "idle\nCPU")
POINT_CAPTION = """\
times in milliseconds; best = max(comm, comp); overlap = 1 - (time - best) /
min(comm, comp), comm and comp of stock; limit: best when the transfer's own
processor time is charged to the computing core; work: time of the computation
beside the operation, alone: of the operation by itself, stock's alone is 1;
CPU: processor time of the process's other threads; +: under Lapwing"""


def make_table(caption: str, columns: Sequence[str], title: str) -> Table:
    """Make an empty table."""
    table = Table(title=title, caption=caption, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("", no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def format_label(label: str) -> str:
    """Write a contender's name; the columns leave no room for Lapwing's."""
    return label.replace("lapwing ", "+ ")


def format_quartiles(spread: dict[str, float]) -> str:
    """Write the quartiles of a time."""
    return f"{format_ms(spread['first_quartile'])}-{format_ms(spread['third_quartile'])}"


def format_share(share: float) -> str:
    """Write a part of a core."""
    return f"{round(100 * share)} %"


def describe_point(row: dict[str, Any]) -> str:
    """Say what the rows of one point have in common; from stock's row."""
    limit = row.get("limit_shared_core_us")
    return (
        f"{row['operation']} {format_bytes(row['size_bytes'])}: comm {format_ms(row['comm_us']['median'])}, "
        f"comp {format_ms(row['comp_us']['median'])}, best {format_ms(row['optimum_us'])}"
        + (f", limit {format_ms(limit)}" if limit is not None else "")
    )


def make_point_row(row: dict[str, Any]) -> list[str]:
    """Write one contender at one point."""
    share = row.get("share_of_shared_core_limit")
    return [
        format_label(row["label"]),
        format_ms(row["both_us"]["median"]),
        format_quartiles(row["both_us"]),
        f"{row['speedup']:.2f}",
        f"{row['overlap']:.2f}",
        format_ratio(share),
        f"{row['slowdown']:.2f}",
        f"{row['comm_ratio']:.2f}",
        format_share(row["helpers_share"]),
    ]


def make_point_table(rows: Sequence[dict[str, Any]]) -> Table:
    """Make the table of one operation, size and amount of work; stock's row is the first."""
    table = make_table("", POINT_COLUMNS, describe_point(rows[0]))
    for row in rows:
        table.add_row(*make_point_row(row))
    return table


def make_small_table(small: Sequence[dict[str, Any]], title: str) -> Table:
    """Make the table of one MPI's small messages."""
    table = make_table(
        "ratio: best launch by stock's best; idle CPU: of other threads, nothing pending", SMALL_COLUMNS, title
    )
    for row in small:
        latency = row["latency_us"]
        quartiles = f"{format_short(latency['first_quartile'])}-{format_short(latency['third_quartile'])}"
        times = [format_short(latency["median"]), quartiles, f"{row['latency_ratio']:.3g}"]
        rate = [f"{row['messages_per_s']['median']:,.0f}", f"{row['rate_ratio']:.3g}"]
        table.add_row(format_label(row["label"]), *times, *rate, format_share(row["idle_share"]["median"]))
    return table


def group_points(points: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return the rows of each point."""
    groups = groupby(points, key=lambda row: (row["operation"], row["size_bytes"], row["compute_us"]))
    return [list(rows) for _, rows in groups]


def print_progress(console: Console, results: Sequence[dict[str, Any]], where: str) -> None:
    """Print the tables of all MPIs, and who could not be measured."""
    for result in results:
        console.rule(f"{result['mpi']}, {where}")
        for rows in group_points(result["points"]):
            console.print(make_point_table(rows))
        if result.get("ranks_per_core", 1) > 1:
            console.print(f"{result['ranks_per_core']} ranks share each core: comp is the work while all do theirs;")
            console.print("comm is longer than with a core per rank, since ranks that wait spin")
        if result["points"]:
            console.print(POINT_CAPTION, highlight=False)
            console.print(make_small_table(result["small"], "small messages"))
        if result.get("disturbed", 1) > DISTURBED_LEAST:
            times = f"up to {result['disturbed']:.2f} times as long as calibrated"
            console.print(f"notice: stock's work alone took {times}:")
            console.print("something else runs here, and the figures above are worth little")
        for name, cause in result["failures"].items():
            console.print(f"not measured: {name}: {cause}", highlight=False, markup=False)
