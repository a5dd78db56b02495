# SPDX-License-Identifier: MIT
"""What `lapwing advise` prints: the verdict, ways predicted and measured, call sites, remarks. It fits a screen."""

from rich.console import Console
from rich.table import Table

from lapwing.advise.advice import Advice, Measured, WayAdvice
from lapwing.advise.judge import Predicted, predict_speedup
from lapwing.model.profile import Way
from lapwing.report.summary import format_count, format_seconds

COLUMNS = ("time\npredicted", "\nmeasured", "speedup\npredicted", "\nmeasured", "\ninside")
SITES_MAX, FINDINGS_MAX = 3, 2


def format_predicted(predicted: Predicted | None, stock: Predicted | None) -> tuple[str, str]:
    """Write a predicted time, and the speedup with its interval."""
    if predicted is None:
        return "-", "-"
    if stock is None or stock is predicted:
        return format_seconds(predicted.time_s), ""
    return format_seconds(predicted.time_s), "{:.2f} ({:.2f}-{:.2f})".format(*predict_speedup(predicted, stock.time_s))


def format_measured(measured: Measured | None, is_stock: bool) -> tuple[str, str, str]:
    """Write a measured time, its speedup with its bounds, and whether it lies in the predicted interval."""
    if measured is None:
        return "-", "-", "-"
    time, bounds = format_seconds(measured.time.median), measured.interval
    if is_stock:
        return time, "", ""
    certain = f" ({bounds.low:.2f}-{bounds.high:.2f})" if bounds else ""
    return time, f"{measured.speedup.median:.2f}{certain}", "yes" if measured.is_inside else "no"


def format_way(way: WayAdvice, advice: Advice) -> tuple[str, ...]:
    """Write the row of a way."""
    stock = next((entry.predicted for entry in advice.ways if entry.way is Way.STOCK), None)
    predicted_s, predicted = format_predicted(way.predicted, stock)
    measured_s, measured, inside = format_measured(way.measured, way.way is Way.STOCK)
    return way.way.value, predicted_s, measured_s, predicted, measured, inside


def list_shown(advice: Advice) -> list[WayAdvice]:
    """Return the ways that were measured, or could have been, and what a rewrite promises."""
    shown = (Way.STOCK, Way.REWRITTEN)
    return [way for way in advice.ways if way.measured or (way.predicted and (way.way in shown or not way.reason))]


def make_way_table(advice: Advice) -> Table:
    """Make the table of the ways."""
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("way to run", overflow="fold")
    for name in COLUMNS:
        table.add_column(name, justify="right", overflow="fold")
    for way in list_shown(advice):
        table.add_row(*format_way(way, advice), style="bold" if way.way is advice.best else None)
    return table


def describe_left_out(advice: Advice) -> str:
    """Say which ways were not measured, and why."""
    left_out = [way for way in advice.ways if way.measured is None and way.reason and way.way is not Way.REWRITTEN]
    reasons = dict.fromkeys(way.reason for way in left_out)
    parts = [", ".join(w.way.value for w in left_out if w.reason == reason) + f": {reason}" for reason in reasons]
    return f"not measured: {'; '.join(parts)}" if parts else ""


def describe_times(advice: Advice) -> str:
    """Say what the times are."""
    ranks = format_count(advice.rank_count, "rank")
    if not advice.is_measured:
        return f"{ranks}; times are the launcher's"
    rounds = f"{format_count(advice.round_count, 'round')} in turn"
    bounds = " (bounds, each 95 % certain)" if any(w.measured and w.measured.interval for w in advice.ways) else ""
    text = f"medians{bounds} of the launcher's times, stock without Lapwing's library"
    noise = f"; from one round to the next stock's time differs by {100 * advice.scatter:.1f} %"
    return f"{ranks}, {rounds}; {text}{noise if advice.round_count > 1 else ''}"


def describe_beside(advice: Advice) -> str:
    """Say what part of the times is not the program's between MPI_Init and MPI_Finalize."""
    text = f"of each time {format_seconds(advice.launch_s)} lie before MPI_Init and after MPI_Finalize (profiled run)"
    start = f"; `lapwing run` itself takes {format_seconds(advice.start_s)}, counted in Lapwing's times"
    return text + (start if advice.start_s else "")


def print_advice(advice: Advice, console: Console) -> None:
    """Print everything."""
    for number, text in enumerate(advice.verdict):
        console.print(text, style="bold" if number == 0 else None, highlight=False, markup=False, soft_wrap=number == 0)
    console.print()
    console.print(make_way_table(advice))
    console.print()
    notes = [describe_times(advice), describe_beside(advice), describe_left_out(advice)]
    for text in notes:
        if text:
            console.print(text, highlight=False, markup=False)
    for text in [*(site.text for site in advice.sites[:SITES_MAX]), *advice.findings[:FINDINGS_MAX]]:
        console.print(f"- {text}", highlight=False, markup=False)
    for text in advice.remarks:
        console.print(f"remark: {text}", highlight=False, markup=False)
