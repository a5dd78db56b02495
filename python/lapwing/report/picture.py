# SPDX-License-Identifier: MIT
"""The picture of one run (`lapwing run --timeline N`): what became of the ops of each call site, and a drawing.

The record is a profile's file whose sites are those of ops. It has no times of calls that MPI did as ever: of these it
knows why they were passed.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from lapwing.profile.job_file import Atlas, ProfileJob
from lapwing.profile.rank_file import KIND_OP as CELL_OP
from lapwing.profile.rank_file import KIND_PASS, KIND_TOUCHED, Event, RankFile, Sample
from lapwing.profile.record import load_names, load_reason_help
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
from lapwing.report.summary import format_bytes, format_time
from lapwing.report.trace import (
    KIND_ANNOUNCED,
    KIND_CALL,
    KIND_ENGINE,
    KIND_OP,
    KIND_RELEASE,
    KIND_TOUCH,
    NAMES,
    describe_site,
)

PICTURE_SCHEMA = "lapwing-picture-1"
GOOD_SHARE, POOR_SHARE = 0.9, 0.1
RANKS_MAX, EVENTS_MAX = 16, 3000
# Of a rank's row: offset and height of each kind, its colour, and what the legend says.
LANES = {
    KIND_CALL: (0, 12, "#d1495b", "in the call"),
    KIND_TOUCH: (0, 12, "#edae49", "waits at a touch"),
    KIND_OP: (14, 8, "#c9dfcc", "under way in the background"),
    KIND_RELEASE: (14, 8, "#2e86ab", "memory given back"),
    KIND_ANNOUNCED: (14, 8, "#222222", "announced"),
    KIND_ENGINE: (24, 6, "#7b5ea7", "engine awake"),
}
ROW_HEIGHT = 40


@dataclass
class SiteStory:
    """What became of one call site's messages, over all ranks; times in ns."""

    kind: str
    place: str
    ops: int = 0
    bytes: int = 0
    least_bytes: int = 0
    most_bytes: int = 0
    call_ns: int = 0
    overlapped_ns: int = 0
    lasted_ns: int = 0
    touches: int = 0
    until_touch_ns: int = 0
    touch_wait_ns: int = 0
    passes: Counter[str] = field(default_factory=Counter)

    @property
    def share(self) -> float:
        """Return the part of the time under way in which the program went on."""
        return min(1.0, self.overlapped_ns / self.lasted_ns) if self.lasted_ns else 1.0


def add_sizes(story: SiteStory, sizes: Sample) -> None:
    """Add one rank's messages; before its ops."""
    if sizes.count:
        story.least_bytes = min(story.least_bytes, sizes.minimum) if story.ops else sizes.minimum
        story.most_bytes = max(story.most_bytes, sizes.maximum)
        story.bytes += sizes.total


def add_rank(stories: dict[tuple[str, str], SiteStory], rank: RankFile, atlas: Atlas) -> None:
    """Add what one rank knows of its sites."""
    reasons = load_names("reasons")
    for site in rank.sites:
        kind, place = describe_site(site, atlas)
        story = stories.setdefault((kind, place), SiteStory(kind, place if site.address else "place not known"))
        add_sizes(story, site.bytes)
        story.call_ns += site.time.total
        for cell in site.cells.get(CELL_OP, ()):
            story.ops += cell.count
            story.overlapped_ns += cell.first
            story.lasted_ns += cell.second
        for cell in site.cells.get(KIND_TOUCHED, ()):
            story.touches += cell.count
            story.until_touch_ns += cell.first
            story.touch_wait_ns += cell.second
        for cell in site.cells.get(KIND_PASS, ()):
            name = reasons[cell.key] if cell.key < len(reasons) else f"reason {cell.key}"
            story.passes[name] += cell.count


def tell_stories(job: ProfileJob) -> list[SiteStory]:
    """Return all call sites; those with the most bytes in the background first, then those passed most."""
    stories: dict[tuple[str, str], SiteStory] = {}
    for rank, atlas in job.iterate_ranks():
        add_rank(stories, rank, atlas)
    return sorted(stories.values(), key=lambda story: (-story.bytes, -story.passes.total(), story.place))


def explain_ops(story: SiteStory) -> str:
    """Say how much was overlapped, and what ended it."""
    share = f"{story.share:.0%} of {format_time(story.lasted_ns / story.ops)} overlapped"
    if story.touches == 0:
        cause = (
            "no touch came before the data" if story.share >= GOOD_SHARE else "the program waited elsewhere meanwhile"
        )
        return f"{share}: {cause}"
    slack, wait = story.until_touch_ns / story.touches, story.touch_wait_ns / story.touches
    ended = (
        f"{story.touches} of {story.ops} touched after {format_time(slack)}, and waited {format_time(wait)} on average"
    )
    cause = "; the work before the touch is too short" if story.share <= POOR_SHARE else ""
    return f"{share}: {ended}{cause}"


def explain_passes(story: SiteStory) -> list[str]:
    """Say why calls were given to MPI, the most frequent reason first."""
    texts: Mapping[str, str] = load_reason_help()
    return [f"{count} passed: {texts.get(reason, reason)}" for reason, count in story.passes.most_common()]


def explain(story: SiteStory) -> list[str]:
    """Say why the site's messages were overlapped, or not."""
    return [*([explain_ops(story)] if story.ops else []), *explain_passes(story)]


def encode_story(story: SiteStory) -> dict[str, Any]:
    """Write a call site for programs."""
    return {**vars(story), "passes": dict(story.passes), "overlapped": story.share, "why": explain(story)}


def describe_sizes(story: SiteStory) -> str:
    """Say how large the messages in the background were."""
    mean = format_bytes(story.bytes / story.ops)
    if story.least_bytes == story.most_bytes:
        return f"{mean} each"
    return f"{format_bytes(story.least_bytes)} to {format_bytes(story.most_bytes)}, {mean} on average"


def format_picture(stories: Sequence[SiteStory]) -> list[str]:
    """Make the lines that a terminal shows."""
    lines = []
    for story in stories:
        size = f", {describe_sizes(story)}" if story.ops else ""
        lines.append(f"{story.kind} at {story.place}: {story.ops} in the background{size}")
        lines += [f"    {text}" for text in explain(story)]
    return lines or ["no message was large enough for the background"]


@dataclass(frozen=True)
class Row:
    """A rank's last events, on the clock of the first rank's host."""

    rank: int
    events: Sequence[Event]
    titles: Mapping[int, str]  # by site
    offset_ns: int


def read_rows(job: ProfileJob) -> list[Row]:
    """Read the first ranks' last events."""
    rows: list[Row] = []
    origin_ns: int | None = None
    for rank, atlas in job.iterate_ranks():
        origin_ns = rank.header.started_unix_ns if origin_ns is None else origin_ns
        events = [event for event in rank.events if event.kind in LANES][-EVENTS_MAX:]
        if events and len(rows) < RANKS_MAX:
            titles = {site.number: " ".join(describe_site(site, atlas)) for site in rank.sites}
            offset_ns = rank.header.started_unix_ns - rank.header.started_ns - origin_ns
            rows.append(Row(rank.header.rank, sorted(events, key=lambda event: event.start_ns), titles, offset_ns))
    return rows


def find_window(rows: Sequence[Row]) -> tuple[int, int]:
    """Return begin and end, in nanoseconds, of the last stretch of which every row knows all."""
    ends = [event.start_ns + event.length_ns + row.offset_ns for row in rows for event in row.events]
    return max(row.events[0].start_ns + row.offset_ns for row in rows), max(ends)


def draw_row(row: Row, y: float, begin_ns: int, scale: float) -> Iterator[str]:
    """Draw a rank; what began before the window is cut."""
    yield make_text(MARGIN - 6, y + 12, f"rank {row.rank}", "end")
    for event in row.events:
        start_ns = event.start_ns + row.offset_ns
        end_ns = start_ns + event.length_ns
        if end_ns < begin_ns:
            continue
        top, height, colour, _ = LANES[event.kind]
        x = MARGIN + (max(start_ns, begin_ns) - begin_ns) * scale
        width = MARGIN + (end_ns - begin_ns) * scale - x
        name = NAMES.get(event.kind, "{}").format(row.titles.get(event.site, ""))
        yield make_rectangle(x, y + top, width, height, colour, f"{name}: {format_time(event.length_ns)}")


def draw_picture(job: ProfileJob) -> str:
    """Return the drawing with its legend; empty when there are no events."""
    rows = read_rows(job)
    if not rows:
        return ""
    begin_ns, end_ns = find_window(rows)
    scale = (WIDTH - MARGIN) / max(end_ns - begin_ns, 1)
    shapes = [shape for number, row in enumerate(rows) for shape in draw_row(row, number * ROW_HEIGHT, begin_ns, scale)]
    height = len(rows) * ROW_HEIGHT + 20
    shapes.append(make_text(MARGIN, height - 4, "0", "start"))
    shapes.append(make_text(WIDTH, height - 4, format_time(end_ns - begin_ns), "end"))
    shown = {event.kind for row in rows for event in row.events}
    legend = make_legend((text, colour) for kind, (_, _, colour, text) in LANES.items() if kind in shown)
    return make_svg(shapes, height) + legend


def make_picture_page(job: ProfileJob) -> str:
    """Make the page: the end of the run as a drawing, and what became of each call site."""
    rows = (
        make_cell(f"{story.kind} at {story.place}")
        + make_cell(str(story.ops), story.ops)
        + make_cell(format_bytes(story.bytes), story.bytes)
        + (make_cell(f"{story.share:.0%}", story.share) if story.ops else make_cell("-"))
        + make_cell("; ".join(explain(story)))
        for story in tell_stories(job)
    )
    command = escape(" ".join(map(str, job.about.get("command", ()))))
    table = make_table("sites", ("call site", "in the background", "bytes", "overlapped", "why"), rows)
    body = (
        f"\n<h1>The picture of one run</h1><p>{command}</p>\n<h2>Its end</h2>{draw_picture(job)}\n"
        f"<h2>Call sites</h2>{table}\n"
    )
    return make_document("Lapwing: one run", body)
