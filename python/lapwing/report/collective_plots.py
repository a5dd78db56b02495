# SPDX-License-Identifier: MIT
"""Plot of `lapwing bench collective`: overlap over sizes, a column for each collective."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lapwing.report.plots import COLOURS, prepare_axes

NONBLOCKING_COLOUR = "#e0a030"
SHAPES = {"apart": "overlap, work apart", "in_order": "overlap, work in order"}


def plot_collective(results: Sequence[dict[str, Any]], title: str) -> Figure:
    """Plot stock, Lapwing and the limit; above work apart from the data, below work that reads them in order."""
    functions = list(dict.fromkeys(row["function"] for row in results))
    figure = Figure(figsize=(max(5.0, 4.0 * len(functions)), 7), layout="constrained")
    grid = figure.subplots(len(SHAPES), len(functions), squeeze=False, sharey=True)
    for column, function in enumerate(functions):
        for place, (shape, label) in enumerate(SHAPES.items()):
            rows = [row for row in results if (row["function"], row["shape"]) == (function, shape)]
            draw_panel(grid[place][column], rows, label)
        grid[0][column].set_title(function)
    grid[0][0].legend(fontsize="small")
    figure.suptitle(title)
    return figure


def draw_panel(axes: Axes, rows: Sequence[dict[str, Any]], label: str) -> None:
    """Draw one collective beside one kind of work; several amounts of work lie over one size."""
    sizes = [row["size_bytes"] for row in rows]
    for name in rows[0]["contenders"]:
        overlaps = [row["contenders"][name]["overlap"] for row in rows]
        axes.plot(sizes, overlaps, "o-", markersize=3, color=COLOURS.get(name, NONBLOCKING_COLOUR), label=name)
    axes.plot(sizes, [row["limit_overlap"] for row in rows], "_--", color=COLOURS["optimum"], label="limit")
    prepare_axes(axes, sorted(set(sizes)), label)
