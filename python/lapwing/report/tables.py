# SPDX-License-Identifier: MIT
"""Tables of the experiments for the terminal."""

from collections.abc import Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from lapwing.report.summary import format_bytes, format_short, format_time


def format_us(time_us: float) -> str:
    """Write microseconds for people."""
    return format_time(time_us * 1000)


def format_spread(spread: dict[str, float]) -> str:
    """Write a median with its quartiles."""
    quartiles = f"{format_us(spread['first_quartile'])} to {format_us(spread['third_quartile'])}"
    return f"{format_us(spread['median'])} ({quartiles})"


def format_ratio(share: float | None) -> str:
    """Write a part of what is possible; a dash where nothing is, or nobody knows."""
    return "-" if share is None else f"{share:.2f}"


def make_pingpong_table(results: Sequence[dict[str, Any]], title: str) -> Table:
    """Make the table of round trips."""
    table = Table("size", "stock (quartiles)", "lapwing (quartiles)", "ratio", title=title)
    for row in results:
        times = [format_spread(row[f"{name}_us"]) for name in ("stock", "lapwing")]
        table.add_row(format_bytes(row["size_bytes"]), *times, f"{row['ratio']:.3f}")
    return table


OVERLAP_COLUMNS = (
    "size",
    "comm",
    "comp",
    "stock",
    "Lapw.",
    "best",
    "limit*",
    "speed-\nup",
    "over-\nlap\nstock",
    "over-\nlap\nLapw.",
    "of\nlimit*",
)
CAPTION = (
    "times in milliseconds; comm and comp: stock's, alone; best = max(comm, comp);\n"
    "overlap = 1 - (time - best) / min(comm, comp)\n"
    "* best when the transfer's own processor time is charged to the computing core"
)


def format_ms(time_us: float) -> str:
    """Write microseconds as milliseconds in three digits."""
    return format_short(time_us / 1000)


def make_overlap_table(results: Sequence[dict[str, Any]], title: str) -> Table:
    """Make the table of the overlap experiment: a section for each amount of work."""
    table = Table(title=title, caption=CAPTION, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in OVERLAP_COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    last_us = None
    for row in results:
        if row["compute_us"] != last_us:
            last_us = row["compute_us"]
            table.add_section()
        table.add_row(*make_overlap_row(row))
    return table


def make_overlap_row(row: dict[str, Any]) -> list[str]:
    """Write one point."""
    stock, lapwing = row["stock"], row["lapwing"]
    limit, share = row.get("limit_shared_core_us"), row.get("share_of_shared_core_limit")
    return [
        format_bytes(row["size_bytes"]),
        format_ms(stock["comm_us"]["median"]),
        format_ms(stock["comp_us"]["median"]),
        format_ms(stock["both_us"]["median"]),
        format_ms(lapwing["both_us"]["median"]),
        format_ms(row["optimum_us"]),
        "-" if limit is None else format_ms(limit),
        f"{row['speedup']:.2f}",
        f"{stock['overlap']:.2f}",
        f"{lapwing['overlap']:.2f}",
        format_ratio(share),
    ]
