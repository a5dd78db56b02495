# SPDX-License-Identifier: MIT
"""Plot of the progress experiment: overlap and slowdown over sizes, a line for each contender."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lapwing.report.plots import prepare_axes

COLOURS = ("#555555", "#edae49", "#d1495b", "#2e86ab", "#66a182", "#8d6a9f", "#b08968", "#00798c", "#c9ada7")
ROWS = (("overlap", "overlap", 1.0), ("slowdown", "time of the work, stock alone = 1", 1.0))


def choose_colours(results: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Give each contender the same colour everywhere."""
    names = list(dict.fromkeys(row["contender"] for result in results for row in result["points"]))
    return {name: COLOURS[number % len(COLOURS)] for number, name in enumerate(names)}


def list_panels(results: Sequence[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return the columns: each MPI's operations."""
    panels = []
    for result in results:
        for operation in dict.fromkeys(row["operation"] for row in result["points"]):
            rows = [row for row in result["points"] if row["operation"] == operation]
            panels.append((f"{result['mpi']}: {operation}", rows))
    return panels


def draw_panel(axes: Axes, rows: Sequence[dict[str, Any]], key: str, label: str, colours: dict[str, str]) -> None:
    """Draw one quantity of all contenders."""
    sizes = sorted({row["size_bytes"] for row in rows})
    for name, colour in colours.items():
        own = sorted((row["size_bytes"], row[key]) for row in rows if row["contender"] == name)
        if own:
            axes.plot(*zip(*own, strict=True), "o-", markersize=3, color=colour, label=name)
    prepare_axes(axes, sizes, label)


def plot_progress(results: Sequence[dict[str, Any]], title: str) -> Figure:
    """Plot overlap above slowdown, a column for each MPI and operation."""
    panels, colours = list_panels(results), choose_colours(results)
    figure = Figure(figsize=(max(5.0, 4.0 * len(panels)), 7), layout="constrained")
    grid = figure.subplots(len(ROWS), max(1, len(panels)), squeeze=False)
    for column, (name, rows) in enumerate(panels):
        for place, (key, label, ideal) in enumerate(ROWS):
            draw_panel(grid[place][column], rows, key, label, colours)
            grid[place][column].axhline(ideal, color="black", linewidth=0.8)
        grid[0][column].set_title(name)
    grid[0][0].legend(fontsize="small")
    figure.suptitle(f"nonblocking operations beside work, {title}")
    return figure
