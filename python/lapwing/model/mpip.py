# SPDX-License-Identifier: MIT
"""Reads the text reports of mpiP 3.x, the profiler that the dedicated-core paper used.

A report has sections that begin with a line "@--- title ---": the time of each task, the call sites with their
place in the source, and for each call site and rank the count and the longest, mean and shortest call. Numbers
have three digits. Reports that end early, repeat a rank or contradict themselves are refused; sections that
are not known are skipped.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite

from lapwing.errors import RecordError
from lapwing.model.profile import (
    FunctionStatistics,
    JobProfile,
    Moments,
    RankProfile,
    SiteStatistics,
    Source,
)

FIRST_LINE = "@ mpiP"
LAST_SECTION = "End of Report"
REMEDY = "give the whole text report of mpiP 3 (its default, not the one of -c)"
UNKNOWN = (
    "slack: how long after a call its data is first used, or how much computation lies between a start and its wait",
    "which part of a wait is for a late peer: only estimated, from the fastest call of each site",
    "sizes of received messages, and the sizes of single messages",
    "how many cores a rank computes on (give --cores), and how the computation scales",
    "times below three digits: sums are count x mean",
)


@dataclass(frozen=True)
class Section:
    """The lines of one section, without rules and its title."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class CallSite:
    """Where a site is: its innermost frame."""

    file: str
    line: int
    caller: str
    function: str


class MpipError(ValueError):
    """A line that does not fit its section."""


def parse_number(text: str) -> float:
    """Read a number that cannot be negative."""
    try:
        number = float(text)
    except ValueError:
        raise MpipError(f"{text!r} stands where a number should") from None
    if not isfinite(number) or number < 0 or number > 1e15:
        raise MpipError(f"{text!r} is no possible number")
    return number


def parse_count(text: str) -> int:
    """Read a whole number."""
    if not re.fullmatch(r"[0-9]{1,15}", text):
        raise MpipError(f"{text!r} stands where a whole number should")
    return int(text)


def split_sections(text: str) -> Iterator[Section]:
    """Yield the sections in file order."""
    title, lines = "", list[str]()
    for line in text.splitlines():
        if line.startswith("@---"):
            yield Section(title, tuple(lines))
            title, lines = line.strip("@- "), []
        elif line.strip() and not re.fullmatch(r"-{20,}\s*", line):
            lines.append(line)
    yield Section(title, tuple(lines))


def find_section(sections: Sequence[Section], title: str) -> Section | None:
    """Return the first section whose title begins so."""
    return next((section for section in sections if section.title.startswith(title)), None)


def parse_header(lines: Sequence[str]) -> dict[str, str]:
    """Return the fields of the head, e.g. "Version"."""
    pairs = (line[1:].partition(":") for line in lines if line.startswith("@"))
    return {name.strip(): value.strip() for name, colon, value in pairs if colon}


def parse_hosts(lines: Sequence[str]) -> dict[int, str]:
    """Return the host of each task."""
    hosts: dict[int, str] = {}
    for line in lines:
        match = re.fullmatch(r"@ MPI Task Assignment\s*:\s*([0-9]{1,9})\s+(\S+)\s*", line)
        if match:
            hosts[int(match[1])] = match[2]
    return hosts


def parse_task_times(section: Section) -> dict[int, tuple[float, float]]:
    """Return AppTime and MPITime of each task, in seconds; the line of sums (*) is left out."""
    times: dict[int, tuple[float, float]] = {}
    for line in section.lines:
        words = line.split()
        if words[0] in ("Task", "*"):
            continue
        if len(words) < 3:
            raise MpipError(f"the task line {line.strip()!r} is cut short")
        task = parse_count(words[0])
        if task in times:
            raise MpipError(f"task {task} stands there twice")
        times[task] = (parse_number(words[1]), parse_number(words[2]))
    return times


def parse_call_sites(section: Section | None) -> dict[int, CallSite]:
    """Return the sites by number. Level 0 is the call; a name with spaces (C++) lies between line and call."""
    sites: dict[int, CallSite] = {}
    for line in section.lines if section else ():
        words = line.split()
        if words[0] == "ID" or len(words) < 4 or words[1] != "0":
            continue
        number = parse_count(words[0])
        if number in sites:
            raise MpipError(f"call site {number} stands there twice")
        has_line = len(words) >= 5 and words[3].isdigit()
        caller = " ".join(words[4 if has_line else 3 : -1])
        sites[number] = CallSite(words[2], parse_count(words[3]) if has_line else 0, caller, words[-1])
    return sites


@dataclass(frozen=True)
class SiteRow:
    """One line of a section per call site and rank: count and extremes, in the section's unit.

    rank: None for all ranks together.
    """

    function: str
    site: int
    rank: int | None
    moments: Moments


def parse_site_row(words: Sequence[str], unit: float) -> SiteRow:
    """Read "Name Site Rank Count Max Mean Min ..."."""
    count, rank = parse_count(words[3]), None if words[2] == "*" else parse_count(words[2])
    maximum, mean, minimum = (parse_number(word) * unit for word in words[4:7])
    if not minimum <= mean <= maximum:
        raise MpipError(f"least, mean and greatest of site {words[1]} on rank {words[2]} contradict each other")
    moments = Moments(count, round(count * mean), round(minimum), round(maximum))
    return SiteRow(words[0], parse_count(words[1]), rank, moments)


def parse_site_rows(section: Section | None, unit: float) -> list[SiteRow]:
    """Return the rows of a section; a site and rank stand there once."""
    rows: dict[tuple[int, int | None], SiteRow] = {}
    for line in section.lines if section else ():
        words = line.split()
        if words[0] == "Name":
            continue
        if len(words) < 7:
            raise MpipError(f"the line {line.strip()!r} is cut short")
        row = parse_site_row(words, unit)
        if (row.site, row.rank) in rows:
            raise MpipError(f"site {row.site} stands there twice for rank {words[2]}")
        rows[row.site, row.rank] = row
    return list(rows.values())


def spread_row(row: SiteRow, own: Sequence[SiteRow], tasks: Iterable[int]) -> Iterator[SiteRow]:
    """Yield what a row of all ranks tells of ranks without a row: mpiP leaves out what its threshold (-t) hides."""
    known = {entry.rank for entry in own}
    missing = [task for task in tasks if task not in known]
    count = row.moments.count - sum(entry.moments.count for entry in own)
    total = row.moments.total - sum(entry.moments.total for entry in own)
    least, most = row.moments.minimum * count, row.moments.maximum * count
    total = round(min(max(total, least), most))  # means have three digits: the difference may be off
    for number, task in enumerate(missing if count > 0 else ()):
        share = count // len(missing) + (number < count % len(missing))
        if share:
            moments = replace(row.moments, count=share, total=round(total * share / count))
            yield replace(row, rank=task, moments=moments)


def complete_rows(rows: Sequence[SiteRow], tasks: Iterable[int]) -> list[SiteRow]:
    """Return a row for each rank, also where a site has only one for all of them."""
    own: dict[int, list[SiteRow]] = defaultdict(list)
    for row in rows:
        if row.rank is not None:
            own[row.site].append(row)
    together = [row for row in rows if row.rank is None]
    spread = [entry for row in together for entry in spread_row(row, own[row.site], tasks)]
    return [*(row for row in rows if row.rank is not None), *spread]


def make_site(
    row: SiteRow, sites: Mapping[int, CallSite], sent: Mapping[tuple[int, int | None], Moments]
) -> SiteStatistics:
    """Join what the sections say about a site."""
    place = sites.get(row.site, CallSite("", 0, "", row.function))
    is_address = place.file.startswith("0x")
    return SiteStatistics(
        function=f"MPI_{row.function}",
        time=row.moments,
        module=place.file if is_address else f"site {row.site}",
        file="" if is_address or place.file in ("[unknown]", "unknown") else place.file,
        line=0 if is_address else place.line,
        caller="" if place.caller == "[unknown]" else place.caller,
        bytes=sent.get((row.site, row.rank), Moments()),
    )


def add_moments(first: Moments, second: Moments) -> Moments:
    """Join two samples."""
    if first.count == 0 or second.count == 0:
        return first if first.count else second
    return Moments(
        first.count + second.count,
        first.total + second.total,
        min(first.minimum, second.minimum),
        max(first.maximum, second.maximum),
    )


def sum_functions(sites: Sequence[SiteStatistics]) -> tuple[FunctionStatistics, ...]:
    """Sum the sites of a rank by function."""
    sums: dict[str, FunctionStatistics] = {}
    for site in sites:
        old = sums.get(site.function, FunctionStatistics(site.function, Moments()))
        sums[site.function] = replace(
            old, time=add_moments(old.time, site.time), bytes=add_moments(old.bytes, site.bytes)
        )
    return tuple(sums.values())


def make_rank(task: int, app_s: float, sites: Sequence[SiteStatistics], host: str) -> RankProfile:
    """Make a rank."""
    return RankProfile(task, round(app_s * 1e9), sum_functions(sites), tuple(sites), host)


def parse_sections(text: str) -> JobProfile:
    """Read a report that begins and ends as it should."""
    sections = list(split_sections(text))
    header = parse_header(sections[0].lines)
    times = find_section(sections, "MPI Time (seconds)")
    rows_section = find_section(sections, "Callsite Time statistics")
    if times is None:
        raise MpipError("the times of the tasks are missing")
    if rows_section is None:
        raise MpipError("the statistics of the call sites are missing (a concise report)")
    tasks, sites = parse_task_times(times), parse_call_sites(find_section(sections, "Callsites"))
    sent_rows = parse_site_rows(find_section(sections, "Callsite Message Sent statistics"), 1.0)
    sent = {(row.site, row.rank): row.moments for row in sent_rows}
    by_rank: dict[int, list[SiteStatistics]] = defaultdict(list)
    for row in complete_rows(parse_site_rows(rows_section, 1e6), tasks):
        if row.rank not in tasks or row.rank is None:
            raise MpipError(f"rank {row.rank} has call sites and no time")
        by_rank[row.rank].append(make_site(row, sites, sent))
    hosts = parse_hosts(sections[0].lines)
    ranks = tuple(make_rank(task, app_s, by_rank[task], hosts.get(task, "")) for task, (app_s, _) in tasks.items())
    return JobProfile(Source.MPIP, ranks, command=header.get("Command", ""), unknown=explain_unknown(tasks, ranks))


def explain_unknown(tasks: Mapping[int, tuple[float, float]], ranks: Sequence[RankProfile]) -> tuple[str, ...]:
    """Say what a report cannot tell; and what this one leaves out."""
    sites_s, tasks_s = sum(rank.mpi_ns for rank in ranks) / 1e9, sum(mpi_s for _, mpi_s in tasks.values())
    if tasks_s <= 0 or abs(sites_s / tasks_s - 1) <= 0.05:
        return UNKNOWN
    return (*UNKNOWN, f"all of the time: its call sites add up to {sites_s:.3g} s in MPI, its tasks to {tasks_s:.3g} s")


def is_mpip(text: str) -> bool:
    """Say whether a file is a report of mpiP."""
    return text.startswith(FIRST_LINE)


def parse_report(text: str, source: str) -> JobProfile:
    """Read a report, or say what is wrong with it."""
    if not re.search(rf"^@--- {LAST_SECTION}", text, re.MULTILINE):
        raise RecordError(f"{source} is a report of mpiP that is cut short", REMEDY)
    try:
        return parse_sections(text)
    except MpipError as error:
        raise RecordError(f"{source} is a report of mpiP that cannot be read: {error}", REMEDY) from error
