# SPDX-License-Identifier: MIT
"""The HTML report of a profile: one file that needs no network; drawings are inline SVG."""

from collections.abc import Callable, Iterable, Sequence
from html import escape
from math import log10
from statistics import fmean

from lapwing.model.classes import CallClass
from lapwing.report.profile import NAMES, describe_imbalance, describe_job, format_share, iterate_notes, iterate_touches
from lapwing.report.summary import format_bytes, format_time
from lapwing.report.totals import CLASSES, JobTotals, RankRow, SiteTotals

COLOURS = {
    "computation": "#8fb996",
    CallClass.BLOCKING: "#d1495b",
    CallClass.WAIT: "#edae49",
    CallClass.START: "#2e86ab",
    CallClass.TEST: "#7b5ea7",
    CallClass.OTHER: "#999999",
}
COLUMNS_MAX = 200
SITES_MAX = 1000
TOUCHES_MAX = 50
WIDTH, HEIGHT, MARGIN = 860, 260, 60

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; color: #222; }
h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin-top: 2em; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .25em .6em; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } tbody tr:nth-child(odd) { background: #f5f5f3; }
th { cursor: pointer; border-bottom: 2px solid #444; user-select: none; } th[aria-sort] { color: #d1495b; }
.scroll { overflow-x: auto; } .legend span { margin-right: 1.2em; } .legend i { display: inline-block; width: .8em;
height: .8em; margin-right: .35em; } svg { width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; }
input { padding: .3em; width: 20em; } li { margin: .2em 0; } .dim { color: #777; }
"""

# A click on a column's head sorts by it; the field above shows only the rows that contain its text.
SCRIPT = """
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  heads.forEach((head, column) => head.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") !== "descending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const order = (one, two) => {
      const a = value(one), b = value(two), numbers = a !== "" && b !== "" && !isNaN(a) && !isNaN(b);
      return (numbers ? a - b : String(a).localeCompare(b)) * (down ? -1 : 1);
    };
    body.append(...[...body.rows].sort(order));
  }));
}
const field = document.getElementById("filter");
field?.addEventListener("input", () => {
  for (const row of document.querySelectorAll("#sites tbody tr"))
    row.hidden = !row.textContent.toLowerCase().includes(field.value.toLowerCase());
});
"""


def make_cell(text: str, value: float | str | None = None) -> str:
    """Make a cell; what it is sorted by stands beside what it shows."""
    data = "" if value is None else f' data-value="{escape(str(value))}"'
    return f"<td{data}>{escape(text)}</td>"


def make_table(name: str, heads: Sequence[str], rows: Iterable[str]) -> str:
    """Make a sortable table."""
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f'<div class="scroll"><table class="sortable" id="{name}"><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div>"
    )


def make_legend(names: Iterable[tuple[str, str]]) -> str:
    """Explain colours."""
    spans = (f'<span><i style="background:{colour}"></i>{escape(text)}</span>' for text, colour in names)
    return f'<p class="legend">{"".join(spans)}</p>'


def make_rectangle(x: float, y: float, width: float, height: float, colour: str, title: str) -> str:
    """Draw a rectangle with a tooltip."""
    shape = f'x="{x:.2f}" y="{y:.2f}" width="{max(width, 0.3):.2f}" height="{max(height, 0):.2f}"'
    return f'<rect {shape} fill="{colour}"><title>{escape(title)}</title></rect>'


def make_text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    """Draw words."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def make_dot(x: float, y: float, colour: str, title: str) -> str:
    """Draw a point with a tooltip."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"><title>{escape(title)}</title></circle>'


def make_svg(shapes: Iterable[str], height: int = HEIGHT) -> str:
    """Put a drawing together."""
    box = f"0 0 {WIDTH} {height}"
    return f'<svg viewBox="{box}" role="img" xmlns="http://www.w3.org/2000/svg">{"".join(shapes)}</svg>'


def name_computation(totals: JobTotals) -> str:
    """Return what the computation is called: with several threads in MPI at once it is not all known."""
    return "computation (as far as known)" if totals.has_threaded_calls else "computation"


def list_parts(totals: JobTotals) -> list[tuple[str, str, int]]:
    """Return name, colour and time of everything that ranks do."""
    parts = [(name_computation(totals), COLOURS["computation"], totals.computation_ns)]
    parts = parts if totals.computation_ns else []
    return parts + [(NAMES[c], COLOURS[c], totals.class_ns(c)) for c in CLASSES if totals.class_ns(c)]


def draw_classes(totals: JobTotals) -> str:
    """Draw the time of all ranks as one bar."""
    shapes, x = [], 0.0
    whole_ns = sum(time_ns for _, _, time_ns in list_parts(totals)) or 1
    for name, colour, time_ns in list_parts(totals):
        width = WIDTH * time_ns / whole_ns
        shapes.append(make_rectangle(x, 0, width, 40, colour, f"{name}: {format_share(time_ns, whole_ns)}"))
        x += width
    legend = [(f"{name} {format_share(ns, whole_ns)}", colour) for name, colour, ns in list_parts(totals)]
    return make_svg(shapes, 40) + make_legend(legend)


def group_ranks(ranks: Sequence[RankRow]) -> list[Sequence[RankRow]]:
    """Put neighbouring ranks together when there are more than a screen has columns."""
    per_column = -(-len(ranks) // COLUMNS_MAX)
    return [ranks[start : start + per_column] for start in range(0, len(ranks), per_column)]


def name_ranks(ranks: Sequence[RankRow]) -> str:
    """Name a column."""
    first, last = ranks[0], ranks[-1]
    return f"rank {first.rank} on {first.host}" if len(ranks) == 1 else f"ranks {first.rank} to {last.rank}"


def draw_ranks(totals: JobTotals) -> str:
    """Draw each rank's time as a column: the imbalance."""
    columns = group_ranks(sorted(totals.ranks, key=lambda rank: rank.rank))
    width = (WIDTH - MARGIN) / len(columns)
    # Times of several threads add up to more than the run.
    whole_ns = max(rank.computation_ns + sum(rank.class_ns.values()) for rank in totals.ranks)
    whole_ns = max(whole_ns, totals.elapsed_ns)
    scale = (HEIGHT - 40) / (whole_ns or 1)
    marks = ((22, format_time(whole_ns)), (HEIGHT - 20, "0"))
    shapes = [make_text(MARGIN - 6, y, text, "end") for y, text in marks]
    for number, ranks in enumerate(columns):
        y = HEIGHT - 20.0
        parts = [(name_computation(totals), COLOURS["computation"], fmean(rank.computation_ns for rank in ranks))]
        parts += [(NAMES[c], COLOURS[c], fmean(rank.class_ns.get(c, 0) for rank in ranks)) for c in CLASSES]
        for name, colour, time_ns in parts:
            y -= time_ns * scale
            title = f"{name_ranks(ranks)}: {name} {format_time(time_ns)}"
            x = MARGIN + number * width
            shapes.append(make_rectangle(x, y, width * 0.92, time_ns * scale, colour, title))
    shapes.append(make_text((WIDTH + MARGIN) / 2, HEIGHT - 4, f"ranks 0 to {totals.world_size - 1}"))
    return make_svg(shapes)


def make_axis(values: Sequence[float]) -> tuple[float, float]:
    """Return the powers of ten around positive values."""
    return float(int(log10(min(values)) // 1)), float(int(log10(max(values)) // 1) + 1)


def find_points(totals: JobTotals) -> list[tuple[SiteTotals, float, float]]:
    """Return sites with their mean transfer time and their mean slack."""
    points = []
    for site in totals.list_sites()[:SITES_MAX]:
        slack_ns = site.computation_mean_ns
        if slack_ns is not None and site.sum.count:
            points.append((site, max(site.transfer_ns / site.sum.count, 1.0), max(slack_ns, 1.0)))
    return points


def draw_grid(low: float, high: float, place: Callable[[float], float], is_across: bool) -> list[str]:
    """Draw the lines of powers of ten."""
    shapes = []
    for power in range(int(low), int(high) + 1):
        at = place(10.0**power)
        label = format_time(10.0**power)
        line = (at, 10, at, HEIGHT + 100) if is_across else (MARGIN, at, WIDTH - 40, at)
        shapes.append('<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="#ddd"/>'.format(*line))
        x, y = (at, HEIGHT + 116.0) if is_across else (MARGIN - 6.0, at + 4)
        shapes.append(make_text(x, y, label, "middle" if is_across else "end"))
    return shapes


def draw_slack(totals: JobTotals) -> str:
    """Draw slack against transfer time: above the diagonal a transfer fits into the slack."""
    points = find_points(totals)
    if not points:
        return "<p>No call's slack was measured.</p>"
    across, up = make_axis([x for _, x, _ in points]), make_axis([y for _, _, y in points])

    def place_x(value: float) -> float:
        return MARGIN + (log10(value) - across[0]) / (across[1] - across[0]) * (WIDTH - MARGIN - 40)

    def place_y(value: float) -> float:
        return HEIGHT + 100 - (log10(value) - up[0]) / (up[1] - up[0]) * (HEIGHT + 90)

    shapes = draw_grid(*across, place_x, True) + draw_grid(*up, place_y, False)
    low, high = max(across[0], up[0]), min(across[1], up[1])
    if low < high:
        ends = (place_x(10**low), place_y(10**low), place_x(10**high), place_y(10**high))
        line = 'x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"'.format(*ends)
        shapes.append(f'<line {line} stroke="#777" stroke-dasharray="4"/>')
    for site, x, y in points:
        radius = 3 + 12 * (site.sum.time_ns / (totals.rank_time_ns or 1)) ** 0.5
        title = f"{site.place} {site.function}: slack {format_time(y)}, transfer {format_time(x)}"
        circle = f'cx="{place_x(x):.1f}" cy="{place_y(y):.1f}" r="{radius:.1f}"'
        colour = COLOURS[site.call_class]
        shapes.append(f'<circle {circle} fill="{colour}" fill-opacity=".7"><title>{escape(title)}</title></circle>')
    shapes.append(make_text(WIDTH / 2, HEIGHT + 136, "transfer time of one call (the fastest of its size)"))
    return make_svg(shapes, HEIGHT + 145)


COUNTS = ("share", "calls", "mean", "longest", "message", "slack", "samples")
SITE_HEADS = ("call site", "function", *COUNTS, "first touch")


def make_site_row(site: SiteTotals, whole_ns: int) -> str:
    """Make a row of the table of call sites."""
    entry, slack_ns, touch = site.sum, site.computation_mean_ns, site.first_touch
    message = entry.bytes / entry.bytes_count if entry.bytes_count else None
    cells = (
        make_cell(site.place, site.place),
        make_cell(site.function),
        make_cell(format_share(entry.time_ns, whole_ns), entry.time_ns),
        make_cell(f"{entry.count:,}", entry.count),
        make_cell(format_time(entry.mean_ns), entry.mean_ns),
        make_cell(format_time(entry.time_max_ns), entry.time_max_ns),
        make_cell("" if message is None else format_bytes(message), -1 if message is None else message),
        make_cell("" if slack_ns is None else format_time(slack_ns), -1 if slack_ns is None else slack_ns),
        make_cell(f"{site.sampled_count:,}" if site.sampled_count else "", site.sampled_count),
        make_cell("" if touch is None else f"{touch.place}, {format_time(touch.mean_ns)} later"),
    )
    return "".join(cells)


def make_list(lines: Iterable[str]) -> str:
    """Make a list of sentences."""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def make_body(totals: JobTotals) -> str:
    """Make what the page shows."""
    if not totals.ranks:
        return "<p>No rank left a profile.</p>"
    touches = list(iterate_touches(totals))[:TOUCHES_MAX]
    rows = [make_site_row(site, totals.rank_time_ns) for site in totals.list_sites()[:SITES_MAX]]
    left_out = len(totals.sites) - len(rows)
    parts = [
        "<h1>Lapwing: profile</h1>",
        f"<p>{escape(describe_job(totals))}</p><p>{escape(describe_imbalance(totals))}</p>",
        make_list(iterate_notes(totals)),
        "<h2>Time by class, all ranks</h2>",
        draw_classes(totals),
        "<h2>Each rank</h2>",
        draw_ranks(totals),
        "<h2>Slack against transfer time</h2>",
        '<p class="dim">A circle is a call site, its area the share of the time. Above the dashed line a transfer '
        "fits into the computation that follows (blocking calls) or precedes (waits).</p>",
        draw_slack(totals),
        "<h2>First touches</h2>",
        make_list(touches) or "<p>None was sampled.</p>",
        "<h2>Call sites</h2>",
        '<p><input id="filter" type="search" placeholder="show only sites with this text"></p>',
        make_table("sites", SITE_HEADS, rows),
        f"<p>{left_out:,} more sites take less time each.</p>" if left_out > 0 else "",
    ]
    return "\n".join(parts)


def make_document(title: str, body: str, style: str = "") -> str:
    """Make a whole page, which needs no network; style: rules of its own."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<style>{STYLE}{style}</style></head>\n<body>{body}\n<script>{SCRIPT}</script></body></html>\n"
    )


def make_page(totals: JobTotals, timeline: str = "") -> str:
    """Make the page of a profile. timeline: a drawing (timeline.py), where the record has one."""
    drawing = f"<h2>The end of the timeline</h2>{timeline}" if timeline else ""
    return make_document("Lapwing: profile", make_body(totals) + drawing)
