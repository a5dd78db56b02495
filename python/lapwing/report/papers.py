# SPDX-License-Identifier: MIT
"""Tables of the experiments that follow papers: bip and sendtime."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from lapwing.report.progress import make_table
from lapwing.report.summary import format_bytes, format_short
from lapwing.report.tables import format_ms

BIP_CAPTION = """\
time in milliseconds (overlap); overlap = 1 - (time - max(comm, comp)) /
min(comm, comp), comm and comp of stock. nonblocking: start, work, wait;
outer: with a call after each quarter of the work, inner: after each product"""
SENDTIME_CAPTION = """\
median microseconds. write, read: the first touch of the buffer right after the
call, or after work, where a call that returned early makes the program wait"""
# Heads of the columns.
TIMES = {
    "send_us": "Send",
    "send_touch_us": "then write",
    "send_late_us": "Send, late receiver",
    "send_late_touch_us": "then write",
    "isend_us": "Isend",
    "isend_wait_us": "work, Wait",
    "isend_late_us": "Isend, Wait, late receiver",
    "isend_late_touch_us": "work, write",
    "start_late_us": "Start, Wait, late receiver",
    "start_late_touch_us": "work, write",
    "recv_us": "Recv before arrival",
    "recv_touch_us": "then read",
    "recv_arrived_us": "Recv after arrival",
    "recv_arrived_touch_us": "then read",
    "irecv_us": "Irecv",
    "irecv_wait_us": "work, Wait",
    "irecv_late_us": "Irecv, Wait, late sender",
    "irecv_late_touch_us": "work, read",
}
PARTS = (
    ("sending", ("send",)),
    ("sending, nonblocking", ("isend", "start")),
    ("receiving", ("recv",)),
    ("receiving, nonblocking", ("irecv",)),
)


def make_bip_table(row: Mapping[str, Any]) -> Table:
    """Make the table of one size."""
    comm, comp = row["comm_us"]["median"], row["comp_us"]["median"]
    title = f"{format_bytes(row['size_bytes'])}: comm {format_ms(comm)}, comp {format_ms(comp)}"
    ways = list(next(iter(row["contenders"].values())))
    table = make_table("", ways, f"{title}, best {format_ms(row['optimum_us'])}")
    for name, figures in row["contenders"].items():
        cells = [f"{format_ms(figures[way]['time_us']['median'])} ({figures[way]['overlap']:.2f})" for way in ways]
        table.add_row(name, *cells)
    return table


def print_bip(console: Console, results: Sequence[Mapping[str, Any]], title: str) -> None:
    """Print the tables of all sizes."""
    console.rule(title)
    for row in results:
        console.print(make_bip_table(row))
    console.print(BIP_CAPTION, highlight=False)


def make_sendtime_table(results: Sequence[Mapping[str, Any]], title: str, prefixes: Sequence[str]) -> Table:
    """Make the table of one part's times."""
    keys = [key for key in TIMES if key.split("_")[0] in prefixes]
    table = make_table("", [TIMES[key].replace(" ", "\n") for key in keys], title)
    for row in results:
        table.add_section()
        for name, spreads in row["contenders"].items():
            label = f"{format_bytes(row['size_bytes'])}, {name}"
            table.add_row(label, *(format_short(spreads[key]["median"]) for key in keys))
    return table


def print_sendtime(console: Console, results: Sequence[Mapping[str, Any]], title: str) -> None:
    """Print the tables of all parts."""
    console.rule(title)
    for part, prefixes in PARTS:
        console.print(make_sendtime_table(results, part, prefixes))
    console.print(SENDTIME_CAPTION, highlight=False)


def print_failures(console: Console, failures: Mapping[str, str]) -> None:
    """Print who could not be measured."""
    for name, cause in failures.items():
        console.print(f"not measured: {name}: {cause}", highlight=False, markup=False)
