# SPDX-License-Identifier: MIT
"""The end of a recorded timeline as a drawing: MPI calls above, slack below, a row for each rank.

Profiles hold events only with `--timeline N`. All of them go to Perfetto (trace.py); a page shows a window.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from lapwing.model.classes import CallClass, classify_function
from lapwing.profile.job_file import Atlas, ProfileJob
from lapwing.profile.rank_file import RankFile
from lapwing.report.html import COLOURS, MARGIN, WIDTH, make_legend, make_rectangle, make_svg, make_text
from lapwing.report.profile import NAMES
from lapwing.report.summary import format_time
from lapwing.report.trace import KIND_SLACK, describe_site

RANKS_MAX, BARS_MAX = 16, 3000
ROW_HEIGHT, CALL_HEIGHT, SLACK_HEIGHT = 34, 16, 6
SLACK_COLOUR = "#c9dfcc"


@dataclass(frozen=True)
class Bar:
    """One call, or the slack of one buffer: from the call's return to the first touch."""

    start_ns: int
    length_ns: int
    title: str
    call_class: CallClass | None  # None: slack

    @property
    def end_ns(self) -> int:
        """When it ended."""
        return self.start_ns + self.length_ns


@dataclass(frozen=True)
class Row:
    """A rank. bars: the last ones, by their start, on the clock of the first rank's host."""

    rank: int
    bars: Sequence[Bar]


def make_bars(rank: RankFile, atlas: Atlas, origin_ns: int) -> Iterator[Bar]:
    """Yield a rank's bars."""
    sites = {site.number: site for site in rank.sites}
    offset_ns = rank.header.started_unix_ns - rank.header.started_ns - origin_ns
    for event in rank.events:
        function, place = describe_site(sites.get(event.site), atlas)
        is_slack = event.kind == KIND_SLACK
        title = f"{'slack of ' if is_slack else ''}{function} {place}: {format_time(event.length_ns)}"
        call_class = None if is_slack else classify_function(function)
        yield Bar(event.start_ns + offset_ns, event.length_ns, title, call_class)


def read_rows(job: ProfileJob) -> list[Row]:
    """Read the first ranks' last events; one rank in memory at a time, and not the thousands behind them."""
    rows: list[Row] = []
    origin_ns: int | None = None
    for rank, atlas in islice(job.iterate_ranks(), RANKS_MAX):
        origin_ns = rank.header.started_unix_ns if origin_ns is None else origin_ns
        bars = sorted(make_bars(rank, atlas, origin_ns), key=lambda bar: bar.start_ns)
        if bars:
            rows.append(Row(rank.header.rank, bars[-BARS_MAX:]))
    return rows


def find_window(rows: Sequence[Row], most: int = BARS_MAX) -> tuple[int, int]:
    """Return begin and end, in nanoseconds, of the last stretch of which every row knows all, with so many bars."""
    end_ns = max(bar.end_ns for row in rows for bar in row.bars)
    starts = sorted(bar.start_ns for row in rows for bar in row.bars)[-most:]
    return max(starts[0], *(row.bars[0].start_ns for row in rows)), end_ns


def draw_row(row: Row, y: float, begin_ns: int, place: Callable[[int], float]) -> Iterator[str]:
    """Draw a rank; bars that began before the window are cut."""
    yield make_text(MARGIN - 6, y + CALL_HEIGHT - 3, f"rank {row.rank}", "end")
    for bar in row.bars:
        if bar.end_ns < begin_ns:
            continue
        x = place(max(bar.start_ns, begin_ns))
        width = place(bar.end_ns) - x
        if bar.call_class is None:
            yield make_rectangle(x, y + CALL_HEIGHT + 2, width, SLACK_HEIGHT, SLACK_COLOUR, bar.title)
        else:
            yield make_rectangle(x, y, width, CALL_HEIGHT, COLOURS[bar.call_class], bar.title)


def draw_timeline(job: ProfileJob) -> str:
    """Return the drawing with its legend; empty when the profile has no events."""
    rows = read_rows(job)
    if not rows:
        return ""
    begin_ns, end_ns = find_window(rows)
    scale = (WIDTH - MARGIN) / max(end_ns - begin_ns, 1)

    def place(time_ns: int) -> float:
        return MARGIN + (time_ns - begin_ns) * scale

    shapes = [shape for number, row in enumerate(rows) for shape in draw_row(row, number * ROW_HEIGHT, begin_ns, place)]
    height = len(rows) * ROW_HEIGHT + 20
    shapes.append(make_text(MARGIN, height - 4, "0", "start"))
    shapes.append(make_text(WIDTH, height - 4, format_time(end_ns - begin_ns), "end"))
    shown = {bar.call_class for row in rows for bar in row.bars}
    legend = [(NAMES[c], COLOURS[c]) for c in CallClass if c in shown]
    return make_svg(shapes, height) + make_legend([*legend, ("slack: from return to first touch", SLACK_COLOUR)])
