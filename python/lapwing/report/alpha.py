# SPDX-License-Identifier: MIT
"""The alpha curves of one or several runs: in a terminal, on a page, and for programs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from lapwing.model.alpha import NO_PROGRESS, SYMBOLS, AlphaCurve
from lapwing.report.html import (
    HEIGHT,
    MARGIN,
    WIDTH,
    make_cell,
    make_document,
    make_dot,
    make_legend,
    make_svg,
    make_table,
    make_text,
)
from lapwing.report.summary import format_seconds

SCHEMA = "lapwing-alpha-1"
COLOURS = ("#d1495b", "#2e86ab", "#4a7c59", "#edae49", "#7b5ea7", "#999999")
MARKS = "abcdefghijklmnopqrstuvwxyz"
PLOT_ROWS, PLOT_COLUMNS = 9, 51
TICKS = 5
BREAK_EVEN = 1.0
LEAST_SPAN = 0.02
NAME_WIDTH_MIN = 16
WIDTH_UNLIMITED = 10_000


def find_span(lines: Iterable[Sequence[tuple[float, float]]]) -> tuple[float, float]:
    """Return the least and the largest speedup to show; where it pays, 1, is always there."""
    speedups = [BREAK_EVEN, *(speedup for points in lines for _, speedup in points)]
    low, high = min(speedups), max(speedups)
    spare = max(LEAST_SPAN, high - low) * 0.05
    return low - spare, high + spare


def mark_of(number: int) -> str:
    """Return the letter of a curve."""
    return MARKS[number % len(MARKS)]


def draw_text(curves: Sequence[AlphaCurve]) -> list[str]:
    """Draw the curves by letters, and the line of no gain by dots."""
    low, high = find_span(curve.points for curve in curves)
    grid = [[" "] * PLOT_COLUMNS for _ in range(PLOT_ROWS)]

    def find_row(speedup: float) -> int:
        return round((high - speedup) / (high - low) * (PLOT_ROWS - 1))

    grid[find_row(BREAK_EVEN)] = ["·"] * PLOT_COLUMNS
    for number, curve in enumerate(curves):
        for column in range(PLOT_COLUMNS):
            grid[find_row(curve.speedup(column / (PLOT_COLUMNS - 1)))][column] = mark_of(number)
    # Last, as the line of no gain may be the first or the last row, too.
    labels = {0: f"{high:5.2f}", PLOT_ROWS - 1: f"{low:5.2f}", find_row(BREAK_EVEN): f"{BREAK_EVEN:5.2f}"}
    rows = [f"{labels.get(number, ''):>5} |{''.join(row)}" for number, row in enumerate(grid)]
    return [*rows, f"{'alpha':>5} 0{'0.5':^{PLOT_COLUMNS - 1}}1"]


def describe_break_even(curve: AlphaCurve) -> str:
    """Say from which share on a core pays."""
    alpha = curve.break_even_alpha
    if alpha is None:
        return "never"
    return "at once" if alpha == 0 else f"from {alpha:.2f}"


def list_chosen(curve: AlphaCurve, alpha: float) -> tuple[str, str]:
    """Write speedup and time at a share."""
    return f"{curve.speedup(alpha):.2f}", format_seconds(curve.time_s(alpha))


def list_cells(curve: AlphaCurve, alphas: Sequence[float]) -> list[str]:
    """Write a curve's figures."""
    chosen = [f"{speedup} ({time})" for speedup, time in (list_chosen(curve, alpha) for alpha in alphas)]
    ends = [f"{curve.points[0][1]:.2f}", f"{curve.points[-1][1]:.2f}"]
    return [*ends, f"{curve.slope:+z.3f}", describe_break_even(curve), *chosen]


def list_heads(alphas: Sequence[float]) -> list[str]:
    """Name the figures."""
    return ["alpha 0", "alpha 1", "slope", "pays", *(f"alpha {alpha:g}" for alpha in alphas)]


def list_labels(curves: Sequence[AlphaCurve]) -> list[str]:
    """Name the curves as in the plot."""
    return [f"{mark_of(number)} {curve.run.name}" for number, curve in enumerate(curves)]


def make_named_table(title: str, labels: Sequence[str], heads: Sequence[str]) -> Table:
    """Make a table whose rows begin with a run's name, which stays readable however many figures there are."""
    longest = max(map(cell_len, labels))
    table = Table(title=title, box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("", min_width=min(NAME_WIDTH_MIN, longest), overflow="fold")
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    return table


def make_curve_table(curves: Sequence[AlphaCurve], alphas: Sequence[float]) -> Table:
    """Make the table of the speedups, a row for each run."""
    labels = list_labels(curves)
    table = make_named_table("paper's model: speedup by a dedicated core", labels, list_heads(alphas))
    for label, curve in zip(labels, curves, strict=True):
        table.add_row(label, *list_cells(curve, alphas))
    return table


def make_chosen_table(curves: Sequence[AlphaCurve], alphas: Sequence[float]) -> Table:
    """Make the table of the chosen shares, a row for each of each run."""
    labels = list_labels(curves)
    table = make_named_table("paper's model, at the chosen alpha", labels, ["alpha", "speedup", "time"])
    for label, curve in zip(labels, curves, strict=True):
        for alpha in alphas:
            table.add_row(label, f"{alpha:g}", *list_chosen(curve, alpha))
    return table


def choose_tables(console: Console, curves: Sequence[AlphaCurve], alphas: Sequence[float]) -> list[Table]:
    """Return one table, or one more of the chosen shares where the line is too short for both."""
    kept = NAME_WIDTH_MIN - 2  # of a name beside its mark; what is longer is folded
    short = [replace(curve, run=replace(curve.run, name=curve.run.name[:kept])) for curve in curves]
    unlimited = console.options.update(width=WIDTH_UNLIMITED)
    needed = console.measure(make_curve_table(short, alphas), options=unlimited).maximum
    if not alphas or needed <= console.width:
        return [make_curve_table(curves, alphas)]
    return [make_curve_table(curves, []), make_chosen_table(curves, alphas)]


def print_curves(console: Console, curves: Sequence[AlphaCurve], alphas: Sequence[float]) -> None:
    """Print plot and tables."""
    for line in draw_text(curves):
        console.print(line, highlight=False, soft_wrap=True)
    for table in choose_tables(console, curves, alphas):
        console.print(table)


def draw_axes(low: float, high: float) -> Iterator[str]:
    """Draw the axes, and where a core begins to pay."""
    bottom, right = HEIGHT - 30, WIDTH - 20
    for tick in range(TICKS + 1):
        x = MARGIN + (right - MARGIN) * tick / TICKS
        y = bottom - (bottom - 10) * tick / TICKS
        yield make_text(x, bottom + 18, f"{tick / TICKS:.1f}")
        yield make_text(MARGIN - 6, y + 4, f"{low + (high - low) * tick / TICKS:.2f}", "end")
    yield f'<path d="M{MARGIN} 10V{bottom}H{right}" fill="none" stroke="#444"/>'
    y = bottom - (BREAK_EVEN - low) / (high - low) * (bottom - 10)
    yield f'<path d="M{MARGIN} {y:.1f}H{right}" stroke="#444" stroke-dasharray="4 4"/>'


@dataclass(frozen=True)
class AlphaLine:
    """A line to draw. points and marks: (alpha, speedup); a mark is a dot with its figures."""

    name: str
    points: Sequence[tuple[float, float]]
    marks: Sequence[tuple[float, float]] = ()


def draw_lines(lines: Sequence[AlphaLine]) -> str:
    """Return figure 5 of the dedicated-core paper for these lines, with its legend."""
    low, high = find_span(line.points for line in lines)
    bottom, right = HEIGHT - 30, WIDTH - 20

    def place(alpha: float, speedup: float) -> tuple[float, float]:
        y = bottom - (speedup - low) / (high - low) * (bottom - 10)
        return MARGIN + (right - MARGIN) * alpha, y

    shapes = list(draw_axes(low, high))
    names = [(line.name, COLOURS[number % len(COLOURS)]) for number, line in enumerate(lines)]
    for line, (name, colour) in zip(lines, names, strict=True):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in line.points))
        shapes.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for alpha, speedup in line.marks:
            shapes.append(make_dot(*place(alpha, speedup), colour, f"{name}, alpha {alpha:g}: {speedup:.3f}"))
    return make_svg(shapes) + make_legend(names)


def draw_curves(curves: Sequence[AlphaCurve], alphas: Sequence[float]) -> str:
    """Return figure 5 for these runs."""
    return draw_lines(
        [AlphaLine(curve.run.name, curve.points, [(a, curve.speedup(a)) for a in alphas]) for curve in curves]
    )


def list_parameters(curve: AlphaCurve) -> Mapping[str, float]:
    """Return the rows of the paper's Tables I and II."""
    values = asdict(curve.run.parameters)
    return {NO_PROGRESS: curve.run.no_progress_s, **{symbol: values[name] for symbol, name in SYMBOLS.items()}}


def make_parameter_rows(curves: Sequence[AlphaCurve]) -> Iterator[str]:
    """Yield the parameters, a column for each run."""
    columns = [list_parameters(curve) for curve in curves]
    for symbol in columns[0]:
        yield make_cell(symbol) + "".join(make_cell(f"{column[symbol]:.6g}", column[symbol]) for column in columns)


def make_alpha_page(curves: Sequence[AlphaCurve], alphas: Sequence[float]) -> str:
    """Make a page of its own, which needs no network."""
    speedups = (
        make_cell(curve.run.name) + "".join(make_cell(text) for text in list_cells(curve, alphas)) for curve in curves
    )
    parameters = make_table("parameters", ["", *(curve.run.name for curve in curves)], make_parameter_rows(curves))
    body = (
        "<h1>Speedup by a dedicated core, over the share of blocking calls made nonblocking</h1>\n"
        f"{draw_curves(curves, alphas)}\n{make_table('speedups', ['run', *list_heads(alphas)], speedups)}\n"
        f"<h2>Parameters of one rank, in the paper's names; times in seconds</h2>{parameters}"
    )
    return make_document("Lapwing: speedup over alpha", body)


def encode_curve(curve: AlphaCurve, alphas: Sequence[float]) -> dict[str, Any]:
    """Write a curve for programs."""
    return {
        "name": curve.run.name,
        "parameters": dict(list_parameters(curve)),
        "speedup_over_alpha": [list(point) for point in curve.points],
        "slope": curve.slope,
        "break_even_alpha": curve.break_even_alpha,
        "chosen": [
            {"alpha": alpha, "speedup": curve.speedup(alpha), "dedicated_s": curve.time_s(alpha)} for alpha in alphas
        ],
    }
