# SPDX-License-Identifier: MIT
"""Tables of `lapwing bench predict`: predicted beside measured, and what profiling costs."""

from collections.abc import Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from lapwing.report.summary import format_bytes
from lapwing.report.tables import format_ms

COLUMNS = ("way", "took", "quartiles", "model", "interval", "%", "paper", "%")
CAPTION = """\
times in milliseconds; %: predicted / measured - 1, * outside the interval;
paper: its formula without the price of a core (each rank here has only one),
blocking calls as they are (events) or all made nonblocking (deferred)"""


def format_error(error: float | None) -> str:
    """Write a share in percent with its sign."""
    return "-" if error is None else f"{100 * error:+.1f}"


def format_range(low: float, high: float) -> str:
    """Write two times."""
    return f"{format_ms(low)}-{format_ms(high)}"


def make_way_row(name: str, way: dict[str, Any]) -> list[str]:
    """Write one way of one case."""
    measured = way["measured_us"]
    return [
        name,
        format_ms(measured["median"]),
        format_range(measured["first_quartile"], measured["third_quartile"]),
        format_ms(way["predicted_us"]),
        format_range(way["low_us"], way["high_us"]),
        format_error(way["error"]) + ("" if way["is_within"] else "*"),
        "-" if way["paper_us"] is None else format_ms(way["paper_us"]),
        format_error(way["paper_error"]),
    ]


def make_table(results: Sequence[dict[str, Any]], title: str) -> Table:
    """Make the table of one MPI."""
    table = Table(title=title, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("", no_wrap=True)
    for name in COLUMNS:
        table.add_column(name, justify="left" if name == "way" else "right", no_wrap=True)
    for result in results:
        label = f"{result['character']}\n{format_bytes(result['size_bytes'])}"
        cells = zip(*(make_way_row(name, way) for name, way in result["ways"].items()), strict=True)
        if result["ways"]:
            table.add_row(label, *("\n".join(column) for column in cells))
    return table


def format_errors(errors: dict[str, float]) -> tuple[str, str]:
    """Write the median and the worst of errors."""
    return f"{100 * errors['median']:.1f} %", f"{100 * errors['worst']:.1f} %"


def make_summary_table(summary: dict[str, Any]) -> Table:
    """Make the table of all errors in short: by the first profile, and by the median of all rounds' predictions."""
    table = Table(title="sizes of the errors: medians and worst", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    columns = ("way", "first\nprofile", "worst", "in\ninterval", "all\nprofiles", "worst", "paper", "worst")
    for name in columns:
        table.add_column(name, justify="left" if name == "way" else "right", no_wrap=True)
    for name, row in summary.items():
        first, every, paper = (format_errors(row[key]) for key in ("refined", "refined_median_of_profiles", "paper"))
        within = f"{row['within_interval']} of {row['refined']['count']}"
        table.add_row(name, *first, within, *every, *paper)
    return table


def make_cost_table(cost: dict[str, Any]) -> Table:
    """Make the table of what profiling costs."""
    table = Table(title="profiled / stock", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("character", "median", "quartiles", "pairs"):
        table.add_column(name, justify="left" if name == "character" else "right", no_wrap=True)
    for name, row in cost.items():
        quartiles = f"{row['first_quartile']:.3f}-{row['third_quartile']:.3f}"
        table.add_row(name, f"{row['median']:.3f}", quartiles, str(row["count"]))
    return table


def print_predicted(console: Console, document: dict[str, Any], where: str) -> None:
    """Print the tables of all MPIs, the summaries, and what could not be measured."""
    results = document["results"]
    for mpi in dict.fromkeys(row["mpi"] for row in results):
        console.print(make_table([row for row in results if row["mpi"] == mpi], f"{mpi}, {where}"))
    console.print(CAPTION, highlight=False)
    console.print(make_summary_table(document["summary"]))
    console.print(make_cost_table(document["profile_cost"]))
    for row in results:
        for name, cause in row["failures"].items():
            case = f"{row['mpi']}, {row['character']} {format_bytes(row['size_bytes'])}, {name}"
            console.print(f"not measured: {case}: {cause}", highlight=False, markup=False)
