# SPDX-License-Identifier: MIT
"""The table of `lapwing bench overlap --phases`."""

from collections.abc import Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from lapwing.report.summary import format_bytes
from lapwing.report.tables import format_ms

COLUMNS = ("calls", "size", "comm", "comp", "stock", "1st", "2nd", "on", "steady", "ok")
CAPTION = (
    "comm and comp: stock, in milliseconds; the rest is overlap beside work, after\n"
    "a phase of messages alone: stock, the 1st call, the 2nd, from the 3rd on\n"
    "steady: with --learn off; ok: from the 3rd on no more than 0.03 below that"
)


def make_phases_table(results: Sequence[dict[str, Any]], title: str) -> Table:
    """Make the table."""
    table = Table(title=title, caption=CAPTION, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    for row in results:
        table.add_row(*make_phases_row(row))
    return table


def make_phases_row(row: dict[str, Any]) -> list[str]:
    """Write one point."""
    overlaps = row["overlap_by_call"]
    stock = sum(overlaps["stock"]) / len(overlaps["stock"])
    return [
        row["kind"],
        format_bytes(row["size_bytes"]),
        format_ms(row["comm_us"]["median"]),
        format_ms(row["comp_us"]["median"]),
        f"{stock:.2f}",
        *(f"{overlap:.2f}" for overlap in overlaps["lapwing"][:2]),
        f"{row['overlap_followed']:.2f}",
        f"{row['overlap_steady']:.2f}",
        "yes" if row["is_followed"] else "no",
    ]
