# SPDX-License-Identifier: MIT
"""What `lapwing advise --inputs` shows: a table on the terminal, a page with the paper's figures and tables, JSON."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from lapwing.advise.campaign import CampaignBar, CampaignRun, list_bars, list_parameters
from lapwing.advise.document import encode_advice
from lapwing.report.alpha import COLOURS, draw_curves
from lapwing.report.html import (
    MARGIN,
    WIDTH,
    make_cell,
    make_document,
    make_legend,
    make_rectangle,
    make_svg,
    make_table,
    make_text,
)
from lapwing.report.summary import format_seconds

SCHEMA = "lapwing-campaign-1"
BAR_HEIGHT, GROUP_SPACE, NAME_WIDTH = 14, 14, 190
TICKS = 5


def format_bar(bar: CampaignBar) -> str:
    """Write a speedup with its interval."""
    ends = "" if bar.low is None or bar.high is None else f" ({bar.low:.2f}-{bar.high:.2f})"
    return f"{bar.speedup:.2f}{ends}"


def list_rows(run: CampaignRun) -> Iterator[tuple[str, ...]]:
    """Yield a row for each bar, so that a label that wraps keeps its speedup; the first one says what ran."""
    bars = [(bar.label, format_bar(bar)) for bar in list_bars(run)] or [("-", "")]
    ranks, time = str(run.advice.rank_count), format_seconds(run.advice.profile_s)
    yield run.name, ranks, time, *bars[0], run.advice.verdict[0]
    for bar in bars[1:]:
        yield "", "", "", *bar, ""


def print_campaign(console: Console, runs: Sequence[CampaignRun]) -> None:
    """Print what was found of each line."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("run", "ranks", "profiled", "speedup by", "", "verdict"):
        table.add_column(name)
    for run in runs:
        for row in list_rows(run):
            table.add_row(*row)
        table.add_section()
    console.print(table)


def list_labels(runs: Sequence[CampaignRun]) -> list[str]:
    """Return the labels of all bars, each once."""
    return list(dict.fromkeys(bar.label for run in runs for bar in list_bars(run)))


def draw_group(run: CampaignRun, labels: Sequence[str], y: float, scale: float) -> Iterator[str]:
    """Draw the bars of one run below one another."""
    yield make_text(NAME_WIDTH - 8, y + BAR_HEIGHT, run.name, "end")
    for number, bar in enumerate(list_bars(run)):
        colour = COLOURS[labels.index(bar.label) % len(COLOURS)]
        top, width = y + number * BAR_HEIGHT, bar.speedup * scale
        yield make_rectangle(NAME_WIDTH, top, width, BAR_HEIGHT - 3, colour, f"{bar.label}: {format_bar(bar)}")
        if bar.low is not None and bar.high is not None:
            middle = top + (BAR_HEIGHT - 3) / 2
            ends = f"M{NAME_WIDTH + bar.low * scale:.1f} {middle:.1f}H{NAME_WIDTH + bar.high * scale:.1f}"
            yield f'<path d="{ends}" stroke="#222" stroke-width="1.5"/>'


def draw_campaign(runs: Sequence[CampaignRun]) -> str:
    """Return figures 2 to 4 of the paper for these runs: speedups over the run without progress."""
    labels = list_labels(runs)
    bars = [bar for run in runs for bar in list_bars(run)]
    if not bars:
        return ""
    most = 1.05 * max(1.0, *(max(bar.speedup, bar.high or 0.0) for bar in bars))
    scale = (WIDTH - NAME_WIDTH - MARGIN) / most
    shapes: list[str] = []
    y = 6.0
    for run in runs:
        shapes += draw_group(run, labels, y, scale)
        y += max(1, len(list_bars(run))) * BAR_HEIGHT + GROUP_SPACE
    one = NAME_WIDTH + scale
    shapes.append(f'<path d="M{one:.1f} 0V{y:.0f}" stroke="#444" stroke-dasharray="4 4"/>')
    for tick in range(TICKS + 1):
        value = most * tick / TICKS
        shapes.append(make_text(NAME_WIDTH + value * scale, y + 14, f"{value:.2f}"))
    legend = make_legend((label, COLOURS[number % len(COLOURS)]) for number, label in enumerate(labels))
    return make_svg(shapes, round(y + 20)) + legend


def make_parameter_rows(runs: Sequence[CampaignRun]) -> Iterator[str]:
    """Yield the parameters, a column for each run."""
    columns = [list_parameters(run) for run in runs]
    for name in columns[0]:
        values = [column[name] for column in columns]
        yield make_cell(name) + "".join(make_cell("-" if one is None else f"{one:.6g}", one) for one in values)


def make_campaign_page(runs: Sequence[CampaignRun]) -> str:
    """Make the page."""
    names = [run.name for run in runs]
    verdicts = (make_cell(run.name) + make_cell(" ".join(run.advice.verdict)) for run in runs)
    curves = [run.curve for run in runs if run.curve]
    alpha = f"<h2>The paper's model: speedup over alpha</h2>{draw_curves(curves, [])}" if curves else ""
    body = (
        "<h1>A campaign</h1>\n"
        f"<h2>Speedup over the run without progress</h2>{draw_campaign(runs)}\n"
        f"{make_table('verdicts', ['run', 'verdict'], verdicts)}\n{alpha}\n"
        "<h2>Parameters of the mean rank, in the paper's names; times in seconds</h2>"
        f"{make_table('parameters', ['', *names], make_parameter_rows(runs))}"
    )
    return make_document("Lapwing: a campaign", body)


def encode_campaign(runs: Sequence[CampaignRun]) -> str:
    """Write everything for programs."""
    rows: list[dict[str, Any]] = [
        {
            "name": run.name,
            "parameters": list_parameters(run),
            "speedups": [asdict(bar) for bar in list_bars(run)],
            "speedup_over_alpha": [list(point) for point in run.curve.points] if run.curve else None,
            "advice": json.loads(encode_advice(run.advice)),
        }
        for run in runs
    ]
    return json.dumps({"schema": SCHEMA, "runs": rows}, indent=1) + "\n"
