# SPDX-License-Identifier: MIT
"""The page of `lapwing advise --html`: verdict, ways predicted and measured, alpha curve, then the profile's page."""

from collections.abc import Callable, Iterable
from html import escape

from lapwing.advise.advice import Advice, WayAdvice
from lapwing.advise.judge import predict_speedup
from lapwing.advise.show import (
    describe_beside,
    describe_left_out,
    describe_times,
    format_way,
    list_shown,
)
from lapwing.model.profile import Way
from lapwing.report.alpha import AlphaLine, draw_lines
from lapwing.report.html import (
    WIDTH,
    make_body,
    make_cell,
    make_document,
    make_dot,
    make_legend,
    make_list,
    make_svg,
    make_table,
    make_text,
)
from lapwing.report.summary import format_seconds
from lapwing.report.totals import JobTotals

PREDICTED, MEASURED = "#2e86ab", "#d1495b"
NAME_WIDTH, ROW_HEIGHT = 190, 44
TICKS = 5
WAY_HEADS = ("way to run", "time predicted", "measured", "speedup predicted", "measured", "inside")


def make_line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1.0, dashes: str = "") -> str:
    """Draw a line."""
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    dash = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<line {ends} stroke="{colour}" stroke-width="{width}"{dash}/>'


def list_ticks(low: float, high: float) -> list[float]:
    """Return values evenly from one end to the other."""
    return [low + (high - low) * number / (TICKS - 1) for number in range(TICKS)]


def draw_way(way: WayAdvice, stock_s: float, y: float, place: Callable[[float], float]) -> Iterable[str]:
    """Draw the predicted speedup of a way with its interval, and below it what was measured with its bounds."""
    yield make_text(NAME_WIDTH - 8, y + 14, way.way.value, "end")
    if way.predicted is not None:
        expected, low, high = predict_speedup(way.predicted, stock_s)
        yield make_line(place(low), y + 6, place(high), y + 6, PREDICTED, 3)
        title = f"predicted {expected:.3f}, {low:.3f} to {high:.3f} ({format_seconds(way.predicted.time_s)})"
        yield make_dot(place(expected), y + 6, PREDICTED, title)
    if way.measured is not None:
        spread, bounds = way.measured.speedup, way.measured.interval
        if bounds is not None:
            yield make_line(place(bounds.low), y + 20, place(bounds.high), y + 20, MEASURED, 3)
        certain = f", bounds {bounds.low:.3f} to {bounds.high:.3f}" if bounds else ""
        title = f"measured {spread.median:.3f}{certain} ({format_seconds(way.measured.time.median)})"
        yield make_dot(place(spread.median), y + 20, MEASURED, title)


def list_speedups(ways: Iterable[WayAdvice], stock_s: float) -> list[float]:
    """Return all speedups that are drawn."""
    speedups = [1.0]
    for way in ways:
        speedups += predict_speedup(way.predicted, stock_s) if way.predicted else ()
        speedups += (way.measured.speedup.minimum, way.measured.speedup.maximum) if way.measured else ()
    return speedups


def draw_ways(advice: Advice) -> str:
    """Draw predicted against measured speedups, a row for each way."""
    ways = [way for way in list_shown(advice) if way.way is not Way.STOCK]
    stock_s = next((way.predicted.time_s for way in advice.ways if way.way is Way.STOCK and way.predicted), 0.0)
    if not ways or not stock_s:
        return ""
    speedups = list_speedups(ways, stock_s)
    low, high = 0.97 * min(speedups), 1.03 * max(speedups)

    def place(speedup: float) -> float:
        return NAME_WIDTH + (speedup - low) / (high - low) * (WIDTH - NAME_WIDTH - 40)

    bottom = ROW_HEIGHT * len(ways) + 8
    shapes = [make_line(place(tick), 0, place(tick), bottom, "#ddd") for tick in list_ticks(low, high)]
    shapes += [make_text(place(tick), bottom + 16, f"{tick:.2f}") for tick in list_ticks(low, high)]
    shapes.append(make_line(place(1), 0, place(1), bottom, "#777", 1, "4"))
    for number, way in enumerate(ways):
        shapes += draw_way(way, stock_s, ROW_HEIGHT * number + 8.0, place)
    legend = make_legend([("speedup predicted, with its interval", PREDICTED), ("measured, with its bounds", MEASURED)])
    return make_svg(shapes, bottom + 24) + legend


def make_way_row(way: WayAdvice, advice: Advice) -> str:
    """Make a row of the table of ways."""
    return "".join(make_cell(text) for text in format_way(way, advice))


def make_curve(advice: Advice) -> str:
    """Make the section of the paper's model."""
    if not advice.curve:
        return ""
    points = [(point.alpha, point.speedup) for point in advice.curve]
    pays = advice.break_even_alpha
    words = "no alpha pays for the core" if pays is None else f"the core pays from alpha {pays:.2f} on"
    return (
        "<h2>Speedup over alpha</h2>"
        f'<p class="dim">What the model of the dedicated-core paper predicts (its figure 5): {words}.</p>'
        + draw_lines([AlphaLine("a dedicated core", points, points)])
    )


def make_advice_body(advice: Advice) -> str:
    """Make the section of the advice."""
    lead, *rest = advice.verdict
    notes = [describe_times(advice), describe_beside(advice), describe_left_out(advice)]
    rows = [make_way_row(way, advice) for way in list_shown(advice)]
    parts = [
        "<h1>Lapwing: advice</h1>",
        f"<p><b>{escape(lead)}</b></p>",
        make_list(rest),
        "<h2>Predicted against measured</h2>",
        draw_ways(advice),
        make_table("ways", WAY_HEADS, rows),
        make_list(note for note in notes if note),
        "<h2>Where overlap is possible</h2>",
        make_list(site.text for site in advice.sites) or "<p>At no blocking call.</p>",
        make_list(advice.findings),
        make_curve(advice),
        make_list(advice.remarks),
    ]
    return "\n".join(parts)


def make_advice_page(advice: Advice, totals: JobTotals | None) -> str:
    """Make the whole page; without a profile, of the advice alone."""
    body = make_advice_body(advice)
    return make_document("Lapwing: advice", body + (make_body(totals) if totals else ""))
