# SPDX-License-Identifier: MIT
"""What the time at a call site consists of: the call itself, moving data, waiting for a late peer."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import sqrt

from lapwing.model.classes import CallClass, is_collective
from lapwing.model.distribution import (
    Distribution,
    Part,
    calculate_expected_minimum,
    calculate_mean,
    normalise,
    scale,
    shift,
)
from lapwing.model.profile import JobProfile, Link, Moments, RankProfile, SiteStatistics, SizeBucket, Slack, Source
from lapwing.model.rows import find_mutual, share_crossing
from lapwing.model.setup import BYTES_PER_NS_MAX, CALL_FLOOR_MAX_NS, Setup
from lapwing.model.system import System
from lapwing.model.transfers import Transfers, list_transfers

# So many calls of one size, over all ranks, and one of them will have met a peer that was ready.
FASTEST_COUNT_MIN = 8
LONG_NS = 1e18  # longer than any transfer
# Standard deviation of a uniform distribution over one power of two, relative to its mean.
OCTAVE_SPREAD = 1 / (1.5 * sqrt(12))


@dataclass(frozen=True)
class CallGroup:
    """Calls of one site and about one size. Times are those of one call, beyond the call's own cost.

    turn_ns: of data_ns, what messages that cross take because they take turns, which they do not under Lapwing.
    row_ns: of data_ns, what can go on beside messages of the calls behind, where calls return early.
    """

    count: int
    size_bytes: float
    data_ns: float
    idle_ns: float
    turn_ns: float = 0.0
    row_ns: float = 0.0


@dataclass(frozen=True)
class SiteTimes:
    """One site on one rank, taken apart: count x floor_ns + data + idle = the measured total."""

    site: SiteStatistics
    floor_ns: float
    groups: tuple[CallGroup, ...]

    @property
    def data_ns(self) -> float:
        """Return the time in which data moved."""
        return sum(group.count * group.data_ns for group in self.groups)

    @property
    def turn_ns(self) -> float:
        """Return the part of that in which messages that cross waited for each other; of collectives it is unknown."""
        return 0.0 if is_collective(self.site.function) else sum(group.count * group.turn_ns for group in self.groups)

    @property
    def idle_ns(self) -> float:
        """Return the time spent waiting for late peers."""
        return sum(group.count * group.idle_ns for group in self.groups)

    @property
    def own_ns(self) -> float:
        """Return what the calls cost in any case."""
        return self.floor_ns * self.site.time.count


@dataclass(frozen=True)
class Fastest:
    """The fastest of some calls."""

    count: int
    time_ns: int


PoolKey = tuple[object, ...]
ApartKey = tuple[int, float | None, bool]


@dataclass(frozen=True)
class Baseline:
    """What is pooled over all ranks: the fastest call of each size, by site and by kind; each function's fastest.

    transfers: of each rank, where a system was measured. apart remembers ranks that were taken apart: thousands of
    ranks are looked at for every way and variation. is_alone: there is no other rank to wait for. leads_ns: what each
    rank waits because the rank with most work has more to do. mutual: of each rank, what part of its messages that
    could cross in rows can by its peers' records, too.
    """

    fastest: Mapping[PoolKey, Fastest]
    floors_ns: Mapping[str, float]
    link: Link | None
    transfers: Mapping[int, Transfers] = field(default_factory=dict)
    is_alone: bool = False
    leads_ns: Mapping[int, float] = field(default_factory=dict)
    mutual: Mapping[int, float] = field(default_factory=dict)
    apart: dict[ApartKey, list[SiteTimes]] = field(default_factory=dict, compare=False, repr=False)


def list_buckets(site: SiteStatistics) -> tuple[SizeBucket, ...]:
    """Return the sizes; calls whose size is not known are one more bucket, with what is left of bytes and time."""
    time = site.time
    count = time.count - sum(bucket.count for bucket in site.sizes)
    if count <= 0:
        return site.sizes
    size_bytes = max(0, site.bytes.total - sum(bucket.bytes_total for bucket in site.sizes))
    left_ns = max(0, time.total - sum(bucket.time_total_ns for bucket in site.sizes))
    least_ns = min(time.minimum, left_ns // count)
    return (*site.sizes, SizeBucket((size_bytes // count).bit_length(), count, size_bytes, left_ns, least_ns))


def make_keys(site: SiteStatistics, bits: int) -> tuple[PoolKey, PoolKey]:
    """Return the pools of a bucket: its site on all ranks, and all sites that do the same."""
    return (*site.key, bits), (site.call_class, is_collective(site.function), bits)


def pool_fastest(profile: JobProfile) -> dict[PoolKey, Fastest]:
    """Find the fastest call of each pool."""
    pools: dict[PoolKey, Fastest] = {}
    for rank in profile.ranks:
        for site in list_sites(rank):
            for bucket in list_buckets(site):
                for key in make_keys(site, bucket.bits) if bucket.count else ():
                    old = pools.get(key, Fastest(0, bucket.time_min_ns))
                    pools[key] = Fastest(old.count + bucket.count, min(old.time_ns, bucket.time_min_ns))
    return pools


def find_floors(profile: JobProfile) -> dict[str, float]:
    """Return the least time of each function, where it can be the cost of the call alone (paper, IV)."""
    floors: dict[str, float] = {}
    for rank in profile.ranks:
        for function in rank.functions:
            if function.time.count:
                least_ns = min(floors.get(function.function, function.time.minimum), function.time.minimum)
                floors[function.function] = least_ns
    return {name: least_ns if least_ns <= CALL_FLOOR_MAX_NS else 0.0 for name, least_ns in floors.items()}


def is_alone(profile: JobProfile) -> bool:
    """Say whether a job has one rank. Where a record does not say how many there were, its peers may tell."""
    peers = {peer.rank for rank in profile.ranks for site in rank.sites for peer in site.peers}
    own = {rank.rank for rank in profile.ranks}
    return profile.source is Source.RECORD and not profile.missing_count and own == {0} and peers <= own


def measure_leads_ns(profile: JobProfile) -> dict[int, float]:
    """Return for how long each rank waits because the rank with most work has more to do.

    It waits for as much longer than that rank, if both end together, wherever its calls stand.
    """
    blocked_ns = {
        rank.rank: sum(f.time.total for f in rank.functions if f.call_class in (CallClass.BLOCKING, CallClass.WAIT))
        for rank in profile.ranks
    }
    work_ns = {rank.rank: rank.elapsed_ns - blocked_ns[rank.rank] for rank in profile.ranks}
    most = max(work_ns, key=work_ns.__getitem__, default=0)
    return {rank: max(0.0, min(blocked_ns[rank] - blocked_ns[most], work_ns[most] - work_ns[rank])) for rank in work_ns}


def make_baseline(profile: JobProfile, system: System | None = None) -> Baseline:
    """Pool what the sites of all ranks tell about each other."""
    return Baseline(
        pool_fastest(profile),
        find_floors(profile),
        profile.link,
        list_transfers(profile, system),
        is_alone(profile),
        measure_leads_ns(profile),
        find_mutual(profile),
    )


def ask_network_ns(baseline: Baseline, site: SiteStatistics, bucket: SizeBucket, rank: int) -> float | None:
    """Return what a measured system or link says of a call of this size; None where there is none that knows."""
    transfers = baseline.transfers.get(rank)
    known_ns = transfers.estimate_ns(site, bucket.bytes_total / bucket.count) if transfers else None
    if known_ns is not None or baseline.link is None or is_collective(site.function):
        return known_ns
    return baseline.link.latency_ns + bucket.bytes_total / bucket.count / baseline.link.bytes_per_s * 1e9


def estimate_transfer_ns(baseline: Baseline, site: SiteStatistics, bucket: SizeBucket, rank: int) -> float:
    """Return how long a call of this size takes when its peer is ready.

    A rendezvous moves data only while both ends are inside MPI, so the fastest receive of a size is its
    transfer time. A measured network knows better, but not for collectives.
    """
    known_ns = ask_network_ns(baseline, site, bucket, rank)
    if known_ns is not None:
        return known_ns
    own, alike = (baseline.fastest[key] for key in make_keys(site, bucket.bits))
    return float(own.time_ns if own.count >= FASTEST_COUNT_MIN else alike.time_ns)


def estimate_turn_ns(baseline: Baseline, site: SiteStatistics, bucket: SizeBucket, rank: int, data_ns: float) -> float:
    """Return what of a call's time for data is spared where messages that cross travel at once."""
    transfers = baseline.transfers.get(rank)
    size_bytes = bucket.bytes_total / bucket.count
    at_once_ns = transfers.estimate_crossing_ns(site, size_bytes, data_ns) if transfers else None
    return 0.0 if at_once_ns is None else max(0.0, data_ns - at_once_ns)


def estimate_row_ns(baseline: Baseline, site: SiteStatistics, bucket: SizeBucket, rank: int, data_ns: float) -> float:
    """Return what of a call's time for data can go on beside the messages of the calls behind."""
    share = share_crossing(site) * baseline.mutual.get(rank, 0.0)
    transfers = baseline.transfers.get(rank)
    if share <= 0 or transfers is None:
        return share * data_ns
    return share * data_ns * transfers.estimate_duplex(site, bucket.bytes_total / bucket.count)


def find_floor_ns(baseline: Baseline, site: SiteStatistics) -> float:
    """Return what one call costs even when nothing is left to do. A blocking call may be deferred altogether."""
    if site.call_class not in (CallClass.WAIT, CallClass.TEST):
        return 0.0
    return min(baseline.floors_ns.get(site.function, 0.0), site.time.minimum)


def had_come(bucket: SizeBucket, fast_ns: float) -> bool:
    """Say whether the data of the fastest call had come before it, as no network carries so much in its time.

    Only where this rank's own waits differ: one that always waits long waits for a peer that has more to do, whose
    own waits find their data there.
    """
    mean_ns = bucket.time_total_ns / bucket.count
    is_beyond = fast_ns <= bucket.bytes_total / bucket.count / BYTES_PER_NS_MAX
    return is_beyond and bucket.time_min_ns <= mean_ns / 2


def choose_weight(site: SiteStatistics, is_complete: bool, setup: Setup) -> float:
    """Return where between the fastest call and the mean the time for data is taken to lie.

    is_complete: the fastest found its requests complete, or nearly so. Of a wait it says nothing about the transfer
    then, and all of the time is taken to be for data, as in the paper. Among messages of unknown size the fastest may
    be small: it says nothing about large ones.
    """
    if setup.defers_unknown_sizes and site.lacks_sizes:
        return 1.0
    if setup.transfer_weight is not None:
        return setup.transfer_weight
    return 1.0 if site.call_class is CallClass.WAIT and is_complete else 0.0


def split_bucket(baseline: Baseline, site: SiteStatistics, bucket: SizeBucket, setup: Setup, rank: int) -> CallGroup:
    """Tell the time for data from the time for a late peer, in the calls of one size."""
    floor_ns, count = find_floor_ns(baseline, site), bucket.count
    mean_ns = max(bucket.time_total_ns / count - floor_ns, 0.0)
    fast_ns = min(max(estimate_transfer_ns(baseline, site, bucket, rank) - floor_ns, 0.0), mean_ns)
    is_guess = ask_network_ns(baseline, site, bucket, rank) is None
    is_complete = is_guess and (fast_ns <= floor_ns or had_come(bucket, fast_ns))
    data_ns = fast_ns + choose_weight(site, is_complete, setup) * (mean_ns - fast_ns)
    if site.late_peer_ns is not None and site.time.total > 0:
        data_ns = mean_ns * max(0.0, 1 - site.late_peer_ns / site.time.total)
    if baseline.is_alone or site.call_class not in (CallClass.WAIT, CallClass.BLOCKING):
        data_ns = mean_ns  # it waits for nobody: beyond its least time a test or a start moves data
    turn_ns = estimate_turn_ns(baseline, site, bucket, rank, data_ns)
    row_ns = estimate_row_ns(baseline, site, bucket, rank, data_ns)
    return CallGroup(count, bucket.bytes_total / count, data_ns, mean_ns - data_ns, turn_ns, row_ns)


def take_apart(baseline: Baseline, site: SiteStatistics, setup: Setup, rank: int = 0) -> SiteTimes:
    """Take the time of one site on one rank apart."""
    buckets = [bucket for bucket in list_buckets(site) if bucket.count]
    groups = tuple(split_bucket(baseline, site, bucket, setup, rank) for bucket in buckets)
    return SiteTimes(site, find_floor_ns(baseline, site), groups)


def cross_at_once(times: SiteTimes, with_collectives: bool) -> SiteTimes:
    """Return a site whose messages no longer take turns."""
    if is_collective(times.site.function) and not with_collectives:
        return times
    return replace(times, groups=tuple(map(end_turns, times.groups)))


def end_turns(group: CallGroup) -> CallGroup:
    """Let the messages of some calls cross at once."""
    data_ns = group.data_ns - group.turn_ns
    return replace(group, data_ns=data_ns, turn_ns=0.0, row_ns=min(group.row_ns, data_ns))


def list_sites(rank: RankProfile) -> list[SiteStatistics]:
    """Return the sites; calls that no site accounts for become one without a place, per function."""
    count: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for site in rank.sites:
        count[site.function] += site.time.count
        total[site.function] += site.time.total
    rest = [
        SiteStatistics(f.function, Moments(missing, max(0, f.time.total - total[f.function]), f.time.minimum))
        for f in rank.functions
        if (missing := f.time.count - count[f.function]) > 0
    ]
    return [*rank.sites, *rest]


def is_guessed(baseline: Baseline, times: SiteTimes, rank: int) -> bool:
    """Say whether what a site's time for data is rests on its fastest call alone."""
    site = times.site
    if site.call_class not in (CallClass.BLOCKING, CallClass.WAIT) or site.late_peer_ns is not None:
        return False
    return all(ask_network_ns(baseline, site, b, rank) is None for b in list_buckets(site) if b.count)


def leave_data(times: SiteTimes, share: float) -> SiteTimes:
    """Return a site of whose time for data this share is left; the rest was waiting for others."""
    groups = tuple(
        replace(g, data_ns=share * g.data_ns, idle_ns=g.idle_ns + (1 - share) * g.data_ns, turn_ns=share * g.turn_ns)
        for g in times.groups
    )
    return replace(times, groups=groups)


def admit_lead(baseline: Baseline, sites: list[SiteTimes], rank: int) -> list[SiteTimes]:
    """Let a rank that has less to do wait for others at least as long as that.

    Where a peer is late for every call of a site, the fastest of them says nothing about its transfer.
    """
    idle_ns, guessed = sum(times.idle_ns for times in sites), [is_guessed(baseline, times, rank) for times in sites]
    data_ns = sum(times.data_ns for times, is_guess in zip(sites, guessed, strict=True) if is_guess)
    missing_ns = baseline.leads_ns.get(rank, 0.0) - idle_ns
    if missing_ns <= 0 or data_ns <= 0:
        return sites
    share = max(0.0, 1 - missing_ns / data_ns)
    return [leave_data(t, share) if is_guess else t for t, is_guess in zip(sites, guessed, strict=True)]


def take_rank_apart(baseline: Baseline, rank: RankProfile, setup: Setup) -> list[SiteTimes]:
    """Take all sites of a rank apart. Of the setup, only what choose_weight() looks at matters.

    Where everything is taken to be for data, as one end of the interval has it, that stays.
    """
    key = (rank.rank, setup.transfer_weight, setup.defers_unknown_sizes)
    if key not in baseline.apart:
        sites = [take_apart(baseline, site, setup, rank.rank) for site in list_sites(rank)]
        takes_all = setup.transfer_weight == 1.0 or setup.defers_unknown_sizes
        baseline.apart[key] = sites if takes_all else admit_lead(baseline, sites, rank.rank)
    return baseline.apart[key]


def estimate_slack_error(slack: Slack) -> float:
    """Return the relative standard error of a site's mean slack.

    The spread is that between the buckets, and within a bucket that of a uniform distribution over an octave.
    """
    parts = [Part(b.computation_total_ns / b.count, b.count) for b in slack.buckets if b.count]
    mean = calculate_mean(parts)
    if mean <= 0:
        return 0.0
    between = calculate_mean([Part((part.value / mean - 1) ** 2, part.weight) for part in parts])
    return sqrt((between + OCTAVE_SPREAD**2) / max(1, slack.sampled_count))


def spread_slack(slack: Slack, setup: Setup) -> list[Part]:
    """Return the distribution of the computation that a call of the site could hide behind."""
    parts = [Part(b.computation_total_ns / b.count, b.count) for b in slack.buckets if b.count]
    if setup.extends_censored and slack.censored_count:
        share = min(1.0, slack.censored_count / max(1, slack.sampled_count))
        kept = [Part(part.value, part.weight * (1 - share)) for part in normalise(parts)]
        parts = [*kept, Part(LONG_NS, share)]
    inside_ns = slack.wall_total_ns - sum(b.computation_total_ns for b in slack.buckets)
    if setup.overlaps_transfers:
        parts = shift(parts, max(0.0, inside_ns / max(1, slack.sampled_count)))
    return scale(parts, max(0.0, 1 + setup.slack_error * estimate_slack_error(slack)))


def measure_room_ns(slack: Slack | None, setup: Setup) -> float:
    """Return the mean computation that a call of the site could hide behind."""
    return calculate_mean(spread_slack(slack, setup)) if slack is not None else 0.0


def is_large(group: CallGroup, site: SiteStatistics, setup: Setup) -> bool:
    """Say whether calls reach the threshold. Of those whose size is not known the setup says it."""
    return group.size_bytes >= setup.threshold_bytes or (setup.defers_unknown_sizes and site.lacks_sizes)


def select_deferrable(times: SiteTimes, setup: Setup) -> tuple[CallGroup, ...]:
    """Return the calls that Lapwing would defer: large enough, and as many as it had no reason to pass."""
    left = times.site.deferrable_count if times.site.deferrable_count is not None else times.site.time.count
    chosen = []
    for group in sorted(times.groups, key=lambda group: -group.size_bytes):
        count = min(group.count, left) if is_large(group, times.site, setup) else 0
        chosen.append(replace(group, count=count))
        left -= count
    return tuple(group for group in chosen if group.count)


def measure_free_ns(groups: tuple[CallGroup, ...], cpu_ns_per_byte: float) -> float:
    """Return what of the transfers could hide at most: what they take from the computing core cannot."""
    return sum(g.count * max(0.0, g.data_ns - g.size_bytes * cpu_ns_per_byte) for g in groups)


def estimate_stolen_ns(groups: tuple[CallGroup, ...], hidden_ns: float, cpu_ns_per_byte: float) -> float:
    """Return by how much the hidden transfers stretch the computation; hide() has charged it to the call already."""
    cost_ns = sum(g.count * min(g.data_ns, g.size_bytes * cpu_ns_per_byte) for g in groups)
    free_ns = measure_free_ns(groups, cpu_ns_per_byte)
    return cost_ns * min(1.0, hidden_ns / free_ns) if free_ns > 0 else 0.0


def hide(
    groups: tuple[CallGroup, ...], slack: Slack | None, setup: Setup, cpu_ns_per_byte: float, ratio: float
) -> tuple[float, float]:
    """Return how much of the calls' time hides behind computation: of the data time, and with idle time included.

    One call hides min(slack, D - c): D is its transfer, c the processor time that the transfer takes from the
    computing core. With D > slack + c the transfer ends last, and all slack is won; else the computation
    does, c later than it would alone (the limit of a shared core, design of the lab: max(comm, comp + c)).
    """
    count = sum(group.count for group in groups)
    free = [Part(g.data_ns - g.size_bytes * cpu_ns_per_byte, g.count) for g in groups]
    data = shift(free, 0.0)
    if slack is None:
        unknown_ns = setup.unknown_slack * sum(part.value * part.weight for part in data)
        return unknown_ns, unknown_ns
    room: Distribution = scale(spread_slack(slack, setup), ratio)
    idle_ns = sum(group.count * group.idle_ns for group in groups) / count if count else 0.0
    hidden_ns = count * calculate_expected_minimum(room, data, setup.coupling)
    return hidden_ns, count * calculate_expected_minimum(room, shift(free, idle_ns), setup.coupling)
