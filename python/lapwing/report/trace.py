# SPDX-License-Identifier: MIT
"""Chrome trace events of a recorded timeline: a file for Perfetto or chrome://tracing."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lapwing.errors import LapwingError
from lapwing.outfiles import write_whole
from lapwing.profile.job_file import PICTURE, Atlas, ProfileJob
from lapwing.profile.rank_file import Event, RankFile, RawSite
from lapwing.report.totals import describe_place

KIND_CALL, KIND_SLACK = 1, 2
# Of the picture of a run (`lapwing run --timeline`):
KIND_OP, KIND_ANNOUNCED, KIND_TOUCH, KIND_RELEASE, KIND_ENGINE = 3, 4, 5, 6, 7
LANES = {
    KIND_CALL: "MPI calls",
    KIND_SLACK: "slack",
    KIND_OP: "in the background",
    KIND_ANNOUNCED: "announced",
    KIND_TOUCH: "waits at a touch",
    KIND_RELEASE: "memory given back",
    KIND_ENGINE: "engine awake",
}
NAMES = {
    KIND_SLACK: "slack of {}",
    KIND_OP: "{} under way",
    KIND_ANNOUNCED: "{} announced",
    KIND_TOUCH: "touch of {}",
    KIND_RELEASE: "release of {}",
    KIND_ENGINE: "engine",
}
# Of one row several may be under way at once, and the second to begin need not be the first to end.
SIDE_BY_SIDE = frozenset([KIND_SLACK, KIND_OP])


def describe_site(site: RawSite | None, atlas: Atlas) -> tuple[str, str]:
    """Return the function of a site, and its place."""
    if site is None:
        return "a call", ""
    code = atlas.find(site.address)
    place = code.place
    return site.function, describe_place(place.file, place.line, place.function, code.module, code.offset)


def make_event(rank: RankFile, event: Event, site: RawSite | None, atlas: Atlas, origin_ns: int) -> dict[str, Any]:
    """Make one event; times are microseconds since the first rank's start."""
    function, place = describe_site(site, atlas)
    is_slack, is_instant = event.kind == KIND_SLACK, event.kind == KIND_ANNOUNCED
    offset_ns = rank.header.started_unix_ns - rank.header.started_ns - origin_ns
    amount = {"computation_us": event.bytes / 1000} if is_slack else {"bytes": event.bytes}
    return {
        "name": NAMES.get(event.kind, "{}").format(function),
        "cat": LANES.get(event.kind, "other"),
        "ts": (event.start_ns + offset_ns) / 1000,
        **({"ph": "i", "s": "t"} if is_instant else {"ph": "X", "dur": event.length_ns / 1000}),
        "pid": rank.header.rank,
        "tid": event.kind,
        "args": {"place": place, **amount},
    }


def split_event(event: dict[str, Any], number: int) -> Iterator[dict[str, Any]]:
    """Yield begin and end of what lies side by side: slices of one row would have to nest."""
    common = {"id": f"{event['pid']}-{number}", "name": event["name"], "cat": event["cat"]}
    common |= {"pid": event["pid"], "tid": event["tid"]}
    yield {**common, "ph": "b", "ts": event["ts"], "args": event["args"]}
    yield {**common, "ph": "e", "ts": event["ts"] + event["dur"]}


def make_names(rank: RankFile) -> Iterator[dict[str, Any]]:
    """Yield what names a rank's rows."""
    name = f"rank {rank.header.rank} ({rank.header.host})"
    yield {"name": "process_name", "ph": "M", "pid": rank.header.rank, "args": {"name": name}}
    kinds = {event.kind for event in rank.events}
    for kind, lane in ((kind, lane) for kind, lane in LANES.items() if kind in kinds):
        yield {"name": "thread_name", "ph": "M", "pid": rank.header.rank, "tid": kind, "args": {"name": lane}}


def iterate_events(job: ProfileJob) -> Iterator[dict[str, Any]]:
    """Yield the events of all ranks, one rank in memory at a time."""
    origin_ns: int | None = None
    for rank, atlas in job.iterate_ranks():
        origin_ns = rank.header.started_unix_ns if origin_ns is None else origin_ns
        sites = {site.number: site for site in rank.sites}
        if rank.events:
            yield from make_names(rank)
        for number, event in enumerate(rank.events):
            made = make_event(rank, event, sites.get(event.site), atlas, origin_ns)
            yield from split_event(made, number) if event.kind in SIDE_BY_SIDE else (made,)


def refuse_empty(job: ProfileJob) -> LapwingError:
    """Say why a job has no events: it was profiled without a timeline, or nothing went on in its background."""
    if job.about.get(PICTURE):
        return LapwingError("nothing went on in the background of this run", "lapwing report FILE alone says why")
    return LapwingError("the record has no timeline", "profile with --timeline 100000")


def write_trace(job: ProfileJob, path: Path) -> int:
    """Write the file; return the number of events. Without any the path stays as it is."""
    count = 0
    with write_whole(path) as output:
        output.write(b'{"displayTimeUnit":"ms","traceEvents":[')
        for event in iterate_events(job):
            output.write(b",\n" if count else b"\n")
            output.write(json.dumps(event, separators=(",", ":")).encode())
            count += 1
        output.write(b"\n]}\n")
        if not count:
            raise refuse_empty(job)
    return count
