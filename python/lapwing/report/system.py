# SPDX-License-Identifier: MIT
"""Tables of a system's parameters, and of the multithreading paper's equations beside measured times."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from lapwing.model.system import EQUATIONS, Check, Estimate, Exchange, Route, SizeParameters, System
from lapwing.report.summary import format_bytes, format_short

PARAMETERS = ("o_s", "o_r", "o_sb", "o_rb", "g_s", "g_r")
SHOWN_FACTOR = 4  # of the sizes in the table: each is so many times the last one
PARAMETER_CAPTION = """\
medians in microseconds, and how far bounds of 95 % each lie off; -: cannot be
told apart.
o_s, o_r: MPI_Isend, MPI_Irecv (with MPI_Wait, up to the eager limit); o_sb,
o_rb: MPI_Send, MPI_Recv; g_s, g_r: distance of messages in a row, by end"""
EQUATION_CAPTION = """\
median microseconds of the call / of the equation. 1, 2: o_s + L + o_r, and
(k - 1) G above the eager limit; 3: o_sb; 4: o_s; 5: o_rb; 6: as 1 and 2, since
both ranks come at once. 3 and 5 are Lapwing's times: it has the paper's thread"""


def make_table(title: str, *columns: str) -> Table:
    """Make a table: words left, numbers right."""
    table = Table(title=title, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right", no_wrap=True)
    return table


def format_number(value: float) -> str:
    """Write three digits, below a tenth two, and no powers of ten."""
    return format_short(value) if value >= 0.1 else f"{value:.2g}"


def format_estimate(estimate: Estimate | None) -> str:
    """Write a number, and how far its bounds lie off at most."""
    if estimate is None:
        return "-"
    if estimate.value <= 0:
        return f"0-{format_number(estimate.high)}"
    off = max(estimate.high - estimate.value, estimate.value - estimate.low) / estimate.value
    return f"{format_number(estimate.value)}±{100 * off:.0f}%" if off < 1 else f"{format_number(estimate.value)}±>99%"


def choose_rows(route: Route) -> list[SizeParameters]:
    """Return the sizes that are shown: some, and both sides of the eager limit."""
    rows, least = [], 0
    beyond = next((row.size_bytes for row in route.sizes if row.size_bytes > route.eager_bytes), 0)
    for row in route.sizes:
        if row.o_s is not None and (row.size_bytes >= least or row.size_bytes in (route.eager_bytes, beyond)):
            rows.append(row)
            least = max(least, row.size_bytes) * SHOWN_FACTOR if row.size_bytes >= least else least
    return rows


def make_parameter_table(route: Route) -> Table:
    """Make the table of overheads and gaps."""
    table = make_table("overheads and gaps, us", "", *PARAMETERS)
    for row in choose_rows(route):
        table.add_row(format_bytes(row.size_bytes), *(format_estimate(getattr(row, name)) for name in PARAMETERS))
    return table


def make_interval_table(route: Route) -> Table:
    """Make the table of the lines that half a round trip follows."""
    table = make_table("half a round trip", "protocol", "from", "to", "at its begin, us", "G, ns per byte")
    for interval in route.intervals:
        ends = format_bytes(interval.first_bytes), format_bytes(interval.last_bytes)
        table.add_row(interval.protocol, *ends, format_estimate(interval.base_us), format_estimate(interval.byte_ns))
    return table


def make_check_table(checks: Sequence[Check]) -> Table:
    """Make the table of predicted and measured round trips."""
    table = make_table("round trips of other jobs, us", "", "measured", "predicted", "error")
    for check in checks:
        cells = format_estimate(check.measured_us), format_number(check.predicted_us), f"{100 * check.error:+.1f} %"
        table.add_row(format_bytes(check.size_bytes), *cells)
    return table


def make_exchange_table(exchanges: Sequence[Exchange]) -> Table:
    """Make the table of messages that cross."""
    table = make_table("both ranks send at once, us", "", "stock", "Lapwing")
    for row in exchanges:
        table.add_row(format_bytes(row.size_bytes), format_estimate(row.stock_us), format_estimate(row.lapwing_us))
    return table


def describe_route(route: Route) -> list[str]:
    """Say what the parameters amount to."""
    title = {"within": "Within a host", "between": "Between hosts"}[route.where]
    how = ", ".join(filter(None, (route.transport, route.rate)))
    byte_ns = route.byte_ns
    return [
        f"{title} ({how}): L {format_estimate(route.latency_us)} us, G {byte_ns.value:.4g} "
        f"({byte_ns.low:.4g}-{byte_ns.high:.4g}) ns per byte, which is {1e3 / max(byte_ns.value, 1e-3):.4g} MB/s; "
        f"eager up to {format_bytes(route.eager_bytes)}",
        *(f"Cannot be told apart: {remark}." for remark in route.remarks),
    ]


def print_route(console: Console, route: Route) -> None:
    """Print one route."""
    for line in describe_route(route):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    console.print(make_parameter_table(route))
    console.print(PARAMETER_CAPTION, highlight=False)
    console.print(make_interval_table(route))
    console.print(make_check_table(route.checks))
    if route.checks:
        worst = max(route.checks, key=lambda check: abs(check.error))
        text = f"Worst: {100 * worst.error:+.1f} % at {format_bytes(worst.size_bytes)}"
        console.print(text, highlight=False)
    if route.exchanges:
        console.print(make_exchange_table(route.exchanges))
    console.print()


def print_system(console: Console, system: System, missing: Mapping[str, str]) -> None:
    """Print everything. missing: why a route could not be measured."""
    console.print(system.library, highlight=False, markup=False, soft_wrap=True)
    for route in system.routes:
        print_route(console, route)
    for where, cause in missing.items():
        console.print(f"{where}: not measured, {cause}", highlight=False, markup=False, soft_wrap=True)


def make_equation_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Make the table of the equations."""
    heads = [f"{number}: {key.removesuffix('_us')}" for number, key, _, _ in EQUATIONS]
    table = make_table("the paper's equations", "", *heads)
    for size in dict.fromkeys(row["size_bytes"] for row in rows):
        cells = {(row["equation"], row["call"]): row for row in rows if row["size_bytes"] == size}
        found = (cells.get((number, key)) for number, key, _, _ in EQUATIONS)
        table.add_row(format_bytes(size), *(format_equation(row) if row else "-" for row in found))
    return table


def format_equation(row: Mapping[str, Any]) -> str:
    """Write a measured and a calculated time."""
    calculated = row["calculated_us"]
    return f"{row['measured_us']:.4g} / {'-' if calculated is None else format(calculated, '.4g')}"


def print_equations(console: Console, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the equations beside the measured times."""
    console.print(make_equation_table(rows))
    console.print(EQUATION_CAPTION, highlight=False)
