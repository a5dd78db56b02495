# SPDX-License-Identifier: MIT
"""Plots of the experiments that follow papers: bip and sendtime."""

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from lapwing.report.plots import prepare_axes
from lapwing.report.progress_plots import COLOURS

PANELS = (
    ("send_us", "MPI_Send"),
    ("isend_wait_us", "MPI_Wait after Isend and work"),
    ("recv_arrived_us", "MPI_Recv after arrival"),
    ("recv_us", "MPI_Recv before arrival"),
)


def list_contenders(results: Sequence[dict[str, Any]]) -> list[str]:
    """Return who was measured."""
    return list(results[0]["contenders"]) if results else []


def plot_bip(results: Sequence[dict[str, Any]], title: str) -> Figure:
    """Plot total times over sizes as the report does: a panel for each contender, a line for each way."""
    names, sizes = list_contenders(results), [row["size_bytes"] for row in results]
    figure = Figure(figsize=(4.5 * max(1, len(names)), 4.5), layout="constrained")
    for axes, name in zip(figure.subplots(1, max(1, len(names)), squeeze=False, sharey=True)[0], names, strict=False):
        for number, way in enumerate(results[0]["contenders"][name]):
            times = [row["contenders"][name][way]["time_us"]["median"] for row in results]
            axes.plot(sizes, times, "o-", markersize=3, color=COLOURS[number], label=way)
        axes.plot(sizes, [row["optimum_us"] for row in results], "--", color="black", label="optimum")
        prepare_axes(axes, sizes, "time, µs")
        axes.set_title(name)
        axes.legend(fontsize="small")
    figure.suptitle(title)
    return figure


def plot_sendtime(results: Sequence[dict[str, Any]], title: str) -> Figure:
    """Plot the paper's figures: a panel for each call, a line for each contender."""
    sizes = [row["size_bytes"] for row in results]
    figure = Figure(figsize=(9, 7), layout="constrained")
    for axes, (key, name) in zip(figure.subplots(2, 2).flat, PANELS, strict=True):
        for number, contender in enumerate(list_contenders(results)):
            times = [row["contenders"][contender][key]["median"] for row in results]
            axes.plot(sizes, times, "o-", markersize=3, color=COLOURS[number % len(COLOURS)], label=contender)
        prepare_axes(axes, sizes, "µs")
        axes.set_yscale("log")
        axes.set_title(name)
    figure.axes[0].legend(fontsize="small")
    figure.suptitle(title)
    return figure
