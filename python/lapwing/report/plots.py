# SPDX-License-Identifier: MIT
"""Plots of the experiments: times over sizes, both logarithmic, and speedups."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from lapwing.errors import LapwingError
from lapwing.report.summary import format_bytes

COLOURS = {"stock": "#555555", "lapwing": "#d1495b", "optimum": "#2e86ab"}
mpl.use("Agg")


def prepare_axes(axes: Axes, sizes: Sequence[int], label: str) -> None:
    """Give a plot its size axis."""
    axes.set_xscale("log", base=2)
    axes.set_xticks([size for number, size in enumerate(sizes) if number % max(1, len(sizes) // 6) == 0])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: format_bytes(value).replace(" ", "")))
    axes.set_xlabel("message size")
    axes.set_ylabel(label)
    axes.grid(visible=True, alpha=0.3)


def draw_spread(axes: Axes, sizes: Sequence[int], spreads: Sequence[dict[str, float]], name: str) -> None:
    """Draw medians, with the quartiles as a band."""
    colour = COLOURS[name]
    axes.plot(sizes, [row["median"] for row in spreads], "o-", markersize=3, color=colour, label=name)
    low, high = ([row[key] for row in spreads] for key in ("first_quartile", "third_quartile"))
    axes.fill_between(sizes, low, high, color=colour, alpha=0.2)


def plot_pingpong(results: Sequence[dict[str, Any]], title: str) -> Figure:
    """Plot round-trip times, and how much longer they are under Lapwing."""
    figure = Figure(figsize=(6, 6), layout="constrained")
    times, ratios = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
    sizes = [row["size_bytes"] for row in results]
    for name in ("stock", "lapwing"):
        draw_spread(times, sizes, [row[f"{name}_us"] for row in results], name)
    prepare_axes(times, sizes, "round trip, µs")
    times.set_yscale("log")
    times.legend()
    ratios.plot(sizes, [row["ratio"] for row in results], "o-", markersize=3, color=COLOURS["lapwing"])
    ratios.axhline(1, color="black", linewidth=0.8)
    prepare_axes(ratios, sizes, "lapwing / stock")
    figure.suptitle(title)
    return figure


def plot_overlap(results: Sequence[dict[str, Any]], title: str) -> Figure:
    """Plot for each amount of work the times and the speedups."""
    computes = sorted({row["compute_us"] for row in results})
    figure = Figure(figsize=(4.5 * len(computes), 7), layout="constrained")
    grid = figure.subplots(2, len(computes), squeeze=False)
    for column, compute_us in enumerate(computes):
        rows = [row for row in results if row["compute_us"] == compute_us]
        draw_overlap_times(grid[0][column], rows)
        draw_speedups(grid[1][column], rows)
        grid[0][column].set_title(f"2 x {compute_us:g} µs of work")
    figure.suptitle(title)
    return figure


def draw_overlap_times(axes: Axes, rows: Sequence[dict[str, Any]]) -> None:
    """Draw stock, Lapwing and the optimum."""
    sizes = [row["size_bytes"] for row in rows]
    for name in ("stock", "lapwing"):
        draw_spread(axes, sizes, [row[name]["both_us"] for row in rows], name)
    axes.plot(sizes, [row["optimum_us"] for row in rows], "--", color=COLOURS["optimum"], label="optimum")
    prepare_axes(axes, sizes, "time, µs")
    axes.set_yscale("log")
    axes.legend()


def draw_speedups(axes: Axes, rows: Sequence[dict[str, Any]]) -> None:
    """Draw the speedup and the best one possible."""
    sizes = [row["size_bytes"] for row in rows]
    axes.plot(sizes, [row["speedup"] for row in rows], "o-", markersize=3, color=COLOURS["lapwing"], label="lapwing")
    axes.plot(sizes, [row["speedup_optimum"] for row in rows], "--", color=COLOURS["optimum"], label="optimum")
    axes.axhline(1, color="black", linewidth=0.8)
    prepare_axes(axes, sizes, "speedup")
    axes.legend()


def plot_bars(names: Sequence[str], spreads: Sequence[dict[str, float]], title: str) -> Figure:
    """Plot one bar for each name, with quartiles as whiskers."""
    figure = Figure(figsize=(6, 0.6 * len(names) + 1.5), layout="constrained")
    axes = figure.subplots()
    colours = [COLOURS.get(name, "#999999") for name in names]
    medians = [row["median"] for row in spreads]
    low = [row["median"] - row["first_quartile"] for row in spreads]
    high = [row["third_quartile"] - row["median"] for row in spreads]
    axes.barh(list(names), medians, xerr=[low, high], color=colours, capsize=3)
    axes.invert_yaxis()
    axes.set_xlabel("seconds")
    axes.set_title(title)
    return figure


def save_plot(figure: Figure, path: Path) -> None:
    """Write a plot; the name's ending chooses the format."""
    try:
        figure.savefig(path, dpi=150)
    except (ValueError, OSError) as error:
        raise LapwingError(f"{path} was not written ({error})", "choose a name that ends in .png or .svg") from error
