# SPDX-License-Identifier: MIT
"""Plot of `lapwing bench predict`: times as the paper's figures 2 to 4 show them, and all errors."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lapwing.report.summary import format_bytes

# Who stands beside whom in a group of bars: way, what of it, colour.
BARS = (
    ("stock", "measured", "#555555"),
    ("events", "measured", "#2e86ab"),
    ("events", "predicted", "#9cc9dd"),
    ("events", "paper", "#dfe7ea"),
    ("deferred", "measured", "#d1495b"),
    ("deferred", "predicted", "#eeb4bb"),
    ("deferred", "paper", "#f3e1e3"),
)
WIDTH = 0.8 / len(BARS)


def choose_height(way: dict[str, Any], part: str) -> float:
    """Return a bar's height in seconds."""
    time_us: float = way["measured_us"]["median"] if part == "measured" else way[f"{part}_us"]
    return time_us * 1e-6


def list_ends(way: dict[str, Any], part: str) -> tuple[float, float] | None:
    """Return a bar's whisker: quartiles of what was measured, the interval of what was predicted."""
    if part == "measured":
        spread = way["measured_us"]
        return spread["first_quartile"] * 1e-6, spread["third_quartile"] * 1e-6
    return (way["low_us"] * 1e-6, way["high_us"] * 1e-6) if part == "predicted" else None


def draw_bars(axes: Axes, rows: Sequence[dict[str, Any]]) -> None:
    """Draw a group of bars for each size."""
    for place, (name, part, colour) in enumerate(BARS):
        for number, row in enumerate(rows):
            way, x = row["ways"][name], number + (place - len(BARS) / 2 + 0.5) * WIDTH
            axes.bar(x, choose_height(way, part), WIDTH, color=colour, label=f"{name}, {part}" if not number else None)
            ends = list_ends(way, part)
            if ends:
                axes.vlines(x, *ends, color="black", linewidth=0.8)
    axes.set_xticks(range(len(rows)), [format_bytes(row["size_bytes"]) for row in rows])
    axes.set_ylabel("seconds")


def plot_predicted(results: Sequence[dict[str, Any]], title: str) -> Figure:
    """Plot a row for each MPI, a panel for each character."""
    rows = [row for row in results if row["ways"]]
    mpis, characters = (list(dict.fromkeys(row[key] for row in rows)) for key in ("mpi", "character"))
    figure = Figure(figsize=(3.6 * max(1, len(characters)), 3.2 * max(1, len(mpis)) + 0.6), layout="constrained")
    grid = figure.subplots(max(1, len(mpis)), max(1, len(characters)), squeeze=False)
    for line, mpi in enumerate(mpis):
        for column, character in enumerate(characters):
            own = [row for row in rows if (row["mpi"], row["character"]) == (mpi, character)]
            if own:
                draw_bars(grid[line][column], own)
            grid[line][column].set_title(f"{mpi}: {character}")
    if rows:
        figure.legend(*grid[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=len(BARS))
    figure.suptitle(f"predicted and measured, {title}")
    return figure
