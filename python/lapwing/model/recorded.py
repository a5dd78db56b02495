# SPDX-License-Identifier: MIT
"""Makes the model's profile of what `lapwing profile` recorded."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from lapwing.errors import RecordError
from lapwing.model.check import refuse_damaged
from lapwing.model.profile import (
    Calibration,
    FunctionStatistics,
    JobProfile,
    Moments,
    Peer,
    RankProfile,
    Row,
    SiteStatistics,
    SizeBucket,
    Slack,
    SlackBucket,
    Source,
    Touch,
)
from lapwing.model.scaling import derive_calibration, read_sweep
from lapwing.model.switched import may_carry_nonblocking, read_options, switch_off
from lapwing.profile.job_file import PICTURE, Atlas, ProfileJob, open_profile_job
from lapwing.profile.rank_file import (
    KIND_HELD,
    KIND_PASS,
    KIND_PEER,
    KIND_REDUCED,
    KIND_ROW,
    KIND_SIZE,
    KIND_SLACK,
    KIND_TOUCH,
    KIND_WAY,
    RankFile,
    RankHeader,
    RawSite,
    Sample,
)
from lapwing.profile.record import load_names

# Refusals that say nothing about the buffer: another call was being watched.
PASSING_REASONS = frozenset(["too_many_ops"])
HELD = "none"  # the reason of calls that could return early
NAMED_RANKS_MAX = 4


def make_moments(sample: Sample) -> Moments:
    """Take a sample over."""
    return Moments(sample.count, sample.total, sample.minimum, sample.maximum)


def add_moments(parts: Sequence[Moments]) -> Moments:
    """Put samples together."""
    full = [part for part in parts if part.count]
    if not full:
        return Moments()
    return Moments(
        sum(part.count for part in full),
        sum(part.total for part in full),
        min(part.minimum for part in full),
        max(part.maximum for part in full),
    )


def make_sizes(site: RawSite) -> tuple[SizeBucket, ...]:
    """Return the calls by message size."""
    cells = sorted(site.cells.get(KIND_SIZE, ()), key=lambda cell: cell.key)
    return tuple(SizeBucket(c.key, c.count, c.first, c.second, c.minimum) for c in cells if c.count)


def make_slack(site: RawSite) -> Slack | None:
    """Return the slack of the sampled calls."""
    if not site.sampled_count:
        return None
    cells = sorted(site.cells.get(KIND_SLACK, ()), key=lambda cell: cell.key)
    buckets = tuple(SlackBucket(cell.key, cell.count, cell.first) for cell in cells if cell.count)
    return Slack(site.sampled_count, buckets, site.wall_total_ns, site.censored_count)


def make_touches(site: RawSite, atlas: Atlas) -> tuple[Touch, ...]:
    """Return where the buffers were first touched, the most frequent place first."""
    touches = []
    for cell in sorted(site.cells.get(KIND_TOUCH, ()), key=lambda cell: -cell.count):
        code = atlas.find(cell.key)
        place = code.place
        where = (place.file, place.line, place.function, code.module, code.offset)
        touches.append(Touch(cell.count, *where, wall_total_ns=cell.first))
    return tuple(touches)


def count_reasons(site: RawSite, kind: int) -> dict[str, int]:
    """Return the cells of a kind whose keys are reasons."""
    names = load_names("reasons")
    cells = site.cells.get(kind, ())
    return {names[c.key] if 0 <= c.key < len(names) else f"reasons_{c.key}": c.count for c in cells if c.count}


def estimate_deferrable(site: RawSite, passes: Mapping[str, int]) -> int | None:
    """Return how many calls could return early: the share of the sampled ones, applied to all large ones.

    Where the record does not say which could (older ones, small messages), those that could be watched.
    """
    held = count_reasons(site, KIND_HELD)
    if held:
        return round(site.large_count * held.get(HELD, 0) / sum(held.values()))
    passing = sum(count for reason, count in passes.items() if reason in PASSING_REASONS)
    tried = site.watch_tried_count - passing
    if tried <= 0:
        return None
    return round(site.large_count * (1 - (site.watch_refused_count - passing) / tried))


def sum_way(site: RawSite, is_received: bool) -> int | None:
    """Return the bytes of a site's large messages in one direction; None in older records."""
    cells = site.cells.get(KIND_WAY, ())
    return sum(cell.first for cell in cells if cell.key == int(is_received)) if cells else None


def make_row(site: RawSite) -> Row | None:
    """Return what the sampled calls begin before their own messages are over; None where nothing was sampled so."""
    cells = [cell for cell in site.cells.get(KIND_ROW, ()) if cell.count]
    if not cells:
        return None
    return Row(sum(c.count for c in cells), sum(c.first for c in cells), sum(c.second for c in cells))


def count_ordered(site: RawSite) -> int | None:
    """Return how many calls reduced what another order would change; None where none reduced anything."""
    cells = site.cells.get(KIND_REDUCED, ())
    return sum(cell.count for cell in cells if cell.key == 0) if cells else None


def make_site(site: RawSite, atlas: Atlas) -> SiteStatistics:
    """Take a call site over."""
    code = atlas.find(site.address)
    passes = count_reasons(site, KIND_PASS)
    held = count_reasons(site, KIND_HELD)
    peers = sorted(site.cells.get(KIND_PEER, ()), key=lambda cell: -cell.first)
    return SiteStatistics(
        function=site.function,
        time=make_moments(site.time),
        module=code.module,
        offset=code.offset,
        file=code.place.file,
        line=code.place.line,
        caller=code.place.function,
        bytes=make_moments(site.bytes),
        sizes=make_sizes(site),
        slack=make_slack(site),
        touches=make_touches(site, atlas),
        peers=tuple(Peer(cell.key, cell.count, cell.first) for cell in peers),
        deferrable_count=estimate_deferrable(site, passes),
        passes=passes,
        held_count=held.get(HELD, 0) if held else None,
        unheld={reason: count for reason, count in held.items() if reason != HELD},
        ordered_count=count_ordered(site),
        sent_bytes=sum_way(site, is_received=False),
        received_bytes=sum_way(site, is_received=True),
        row=make_row(site),
        computation_before=make_moments(site.before),
    )


def sum_functions(sites: Iterable[SiteStatistics]) -> tuple[FunctionStatistics, ...]:
    """Put the sites of each function together; functions by their time."""
    groups: dict[str, list[SiteStatistics]] = defaultdict(list)
    for site in sites:
        groups[site.function].append(site)
    functions = [
        FunctionStatistics(
            name, add_moments([site.time for site in group]), add_moments([site.bytes for site in group])
        )
        for name, group in groups.items()
    ]
    return tuple(sorted(functions, key=lambda function: -function.time.total))


def make_rank(rank: RankFile, atlas: Atlas) -> RankProfile:
    """Take a rank over."""
    header = rank.header
    sites = tuple(make_site(site, atlas) for site in rank.sites if site.time.count)
    return RankProfile(
        rank=max(0, header.rank),
        elapsed_ns=header.ended_ns - header.started_ns,
        functions=sum_functions(sites),
        sites=sites,
        host=header.host,
        covered_ns=header.covered_ns,
        has_threaded_calls=header.has_threads,
        is_complete=header.state == "finalized",
    )


def count_missing(headers: Sequence[RankHeader]) -> int:
    """Return how many ranks of the job left no profile that can be read, or ran without Lapwing."""
    present = {header.rank for header in headers}
    return max(0, max((header.size for header in headers), default=0) - len(present))


def describe_missing(headers: Sequence[RankHeader]) -> str:
    """Name the ranks that are missing; the first of them where they are many."""
    present, missing_count = {header.rank for header in headers}, count_missing(headers)
    size = len(present) + missing_count
    first = list(islice((rank for rank in range(size) if rank not in present), NAMED_RANKS_MAX))
    if missing_count == 1:
        return f"what rank {first[0]} of {size} did: the record has no profile of it"
    more = ", ..." if missing_count > NAMED_RANKS_MAX else ""
    names = ", ".join(map(str, first)) + more
    return f"what {missing_count} of {size} ranks did ({names}): the record has no profiles of them"


def list_unknown(job: ProfileJob, headers: Sequence[RankHeader]) -> tuple[str, ...]:
    """Say what such a record cannot tell."""
    sentences = ["when a peer was late: that is estimated from the fastest calls"]
    unfinished = [header.rank for header in headers if header.state != "finalized"]
    if unfinished:
        which = f"rank {unfinished[0]}" if len(unfinished) == 1 else f"{len(unfinished)} ranks"
        sentences.append(f"what {which} would have done: ended without MPI_Finalize")
    damaged = job.about.get("damaged")
    if count_missing(headers):
        sentences.append(describe_missing(headers))
    elif isinstance(damaged, list) and damaged:
        sentences.append(f"what {len(damaged)} more ranks did: they left no readable profile")
    return tuple(sentences)


def share_cores(core_count: int, online_count: int, rank_count: int) -> int:
    """Return the cores of one of a host's ranks. Sets of their own hold no more cores than the host has."""
    has_own = rank_count == 1 or core_count * rank_count <= online_count
    return core_count if has_own else max(1, core_count // rank_count)


def estimate_cores(headers: Sequence[RankHeader]) -> int | None:
    """Return the cores that a rank may compute on, the least of all ranks; None when the record does not say.

    A rank that is missing may have been on any of the hosts, and have used some of the cores.
    """
    counts = Counter(header.host for header in headers)
    if not headers or count_missing(headers) or not all(header.core_count for header in headers):
        return None
    return min(share_cores(header.core_count, header.online_count, counts[header.host]) for header in headers)


def find_matching(headers: Sequence[RankHeader]) -> bool | None:
    """Say whether any rank's receives would be matched first; None when the record does not say."""
    known = [header.matches_first for header in headers if header.matches_first is not None]
    return any(known) if known else None


def read_calibration(about: Mapping[str, Any], source: str) -> Calibration | None:
    """Return the calibration that `lapwing profile --calibrate` has added."""
    found = about.get("calibration")
    if found is None:
        return None
    try:
        calibration = Calibration(found["core_count"], tuple(found["full_ns"]), tuple(found["reduced_ns"]))
        numbers = (calibration.core_count, *calibration.full_ns, *calibration.reduced_ns)
        is_sound = all(type(number) is int and 0 < number < 1 << 63 for number in numbers)
    except (KeyError, TypeError):
        is_sound = False
    if not is_sound:
        raise RecordError(f"{source} is damaged", "profile again")
    return calibration


def convert_profile(job: ProfileJob) -> JobProfile:
    """Take a whole job over; the model wants all ranks at once."""
    command = job.about.get("command")
    options = read_options(job.about, str(job.path))
    sweep = read_sweep(job.about, str(job.path))
    headers: list[RankHeader] = []
    ranks: list[RankProfile] = []
    for rank, atlas in job.iterate_ranks():
        headers.append(rank.header)
        found = switch_off(make_rank(rank, atlas), options)
        ranks.append(found if job.is_checked else refuse_damaged(found, str(job.path)))
    core_count = estimate_cores(headers)
    measured = derive_calibration(sweep, core_count) if sweep else read_calibration(job.about, str(job.path))
    return JobProfile(
        source=Source.RECORD,
        ranks=tuple(ranks),
        name=job.path.name,
        command=" ".join(map(str, command)) if isinstance(command, list) else "",
        cores_per_rank=core_count,
        calibration=measured,
        scaling=sweep,
        matches_first=find_matching(headers),
        missing_count=count_missing(headers),
        carries_nonblocking=may_carry_nonblocking(options),
        unknown=list_unknown(job, headers),
    )


def read_recorded(path: Path) -> JobProfile:
    """Read a record of `lapwing profile`; the picture of a run has no times of calls."""
    job = open_profile_job(path)
    if job.about.get(PICTURE):
        raise RecordError(f"{path} holds the picture of a run, no profile", "record with `lapwing profile`")
    return convert_profile(job)
