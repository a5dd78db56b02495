# SPDX-License-Identifier: MIT
"""What waiting at a call site was for, from the transfers' time and from what both ends did.

- data: as long as the transfers take alone, when both ends are ready;
- of that, progress that nobody made: the data could have moved during the computation between start and wait;
- the rest is for the other end: a sender that had not called yet, or a receiver that was late; but progress again where
  the other end had started a nonblocking operation, and computed for longer than this one.

A record has sums, and no times of single messages. So the ends are matched by rank, not by message.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from lapwing.model.classes import CallClass, is_collective, shorten_name
from lapwing.model.profile import JobProfile, RankProfile, SiteStatistics, Way
from lapwing.model.setup import Setup
from lapwing.model.sites import Baseline, SiteTimes, hide, measure_room_ns, take_rank_apart
from lapwing.model.transfers import SENDS, measure_mix

SYNCHRONOUS_SENDS = SENDS | {"Ssend", "Bsend"}
WAITING = (CallClass.BLOCKING, CallClass.WAIT)
SiteKey = tuple[str, str, int]
UNEVEN_SHARE_MIN = 0.1
# Ranks whose work differs by no more of the job's time have about as much to do.
EVEN_SHARE_MAX = 0.05


@dataclass(frozen=True)
class WaitCauses:
    """What the time at some call sites was for, in ns.

    transfer: data, and nothing lay beside it. progress: data that nobody moved while this rank computed. away: a peer
    that had started, and computed. sender: a sender that had not called yet. receiver: a receiver that was late.
    uneven: of these two, what a rank with more to do explains.
    """

    transfer_ns: float = 0.0
    progress_ns: float = 0.0
    away_ns: float = 0.0
    sender_ns: float = 0.0
    receiver_ns: float = 0.0
    uneven_ns: float = 0.0

    @property
    def missed_ns(self) -> float:
        """Return the time for progress that nobody made, at either end."""
        return self.progress_ns + self.away_ns

    @property
    def late_ns(self) -> float:
        """Return the time for other ranks that were not there."""
        return self.sender_ns + self.receiver_ns

    @property
    def uneven_share(self) -> float:
        """Return what part of the waiting for others a rank that has more to do explains."""
        return self.uneven_ns / self.late_ns if self.late_ns > 0 else 0.0

    @property
    def is_uneven(self) -> bool:
        """Say whether that explains most of it."""
        return self.uneven_ns >= self.late_ns / 2

    @property
    def is_partly_uneven(self) -> bool:
        """Say whether it explains enough to be named."""
        return self.uneven_share >= UNEVEN_SHARE_MIN

    def __add__(self, other: "WaitCauses") -> "WaitCauses":
        """Add the times of other sites."""
        return WaitCauses(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


def sum_causes(parts: Iterable[WaitCauses]) -> WaitCauses:
    """Add up."""
    return sum(parts, WaitCauses())


@dataclass(frozen=True)
class Ends:
    """What is known of each rank.

    work_ns: what it did itself. slack_ns: its mean computation between start and wait, by call site.
    """

    work_ns: Mapping[int, float]
    slack_ns: Mapping[int, Mapping[SiteKey, float]]

    def measure_lead_ns(self, rank: int) -> float:
        """Return how much more the rank with the most work has to do."""
        return max(self.work_ns.values()) - self.work_ns[rank]

    def measure_absence_ns(self, rank: int, site: SiteStatistics) -> float:
        """Return for how much longer than this rank its peers compute between start and wait.

        At the same call site, as ranks of one program do; a blocking call meets any wait of its peer's. A blocking
        collective matches nothing that was started.
        """
        if is_collective(site.function):
            return 0.0
        peers = [peer.rank for peer in site.peers] or list(self.slack_ns)
        others = [self._find_slack_ns(peer, site) for peer in peers if peer != rank and peer in self.slack_ns]
        return max(0.0, max(others, default=0.0) - self.slack_ns[rank].get(site.key, 0.0))

    def _find_slack_ns(self, peer: int, site: SiteStatistics) -> float:
        """Return what a peer computes between start and wait of what it exchanges at a site."""
        known = self.slack_ns[peer]
        if site.call_class is CallClass.WAIT:
            return known.get(site.key, 0.0)
        return sum(known.values()) / len(known) if known else 0.0


def measure_work_ns(rank: RankProfile) -> float:
    """Return what a rank did without waiting for another."""
    calls_ns = sum(f.time.total for f in rank.functions if f.call_class not in WAITING)
    return float(rank.computation_ns + calls_ns)


def is_even(profile: JobProfile) -> bool | None:
    """Say whether all ranks have about as much to do; None where some of them are missing."""
    if profile.missing_count:
        return None
    work_ns = [measure_work_ns(rank) for rank in profile.ranks]
    return max(work_ns, default=0.0) - min(work_ns, default=0.0) <= EVEN_SHARE_MAX * profile.elapsed_ns


def measure_slack_ns(sites: Iterable[SiteTimes], setup: Setup) -> dict[SiteKey, float]:
    """Return the mean computation between start and wait at each of a rank's waits."""
    waits = [times.site for times in sites if times.site.call_class is CallClass.WAIT]
    return {site.key: measure_room_ns(site.slack, setup) for site in waits}


def measure_out_share(rank: RankProfile, times: SiteTimes) -> float:
    """Return what part of a site's messages its rank sends."""
    if times.site.call_class is CallClass.WAIT:
        return measure_mix(rank).out_share
    return 1.0 if shorten_name(times.site.function) in SYNCHRONOUS_SENDS else 0.0


def measure_missed_ns(times: SiteTimes, setup: Setup) -> float:
    """Return what of a wait's data could have moved before it."""
    if times.site.call_class is not CallClass.WAIT or times.site.slack is None:
        return 0.0
    return min(times.data_ns, hide(times.groups, times.site.slack, setup, 0.0, 1.0)[0])


def explain_site(rank: RankProfile, times: SiteTimes, ends: Ends, uneven_share: float, missed_ns: float) -> WaitCauses:
    """Explain one site. uneven_share: of the rank's waiting for others; missed_ns: data that could have moved."""
    uneven_ns = uneven_share * times.idle_ns
    absence_ns = times.site.time.count * ends.measure_absence_ns(rank.rank, times.site)
    away_ns = min(times.idle_ns - uneven_ns, absence_ns)
    late_ns, out_share = times.idle_ns - away_ns, measure_out_share(rank, times)
    return WaitCauses(
        transfer_ns=times.data_ns - missed_ns,
        progress_ns=missed_ns,
        away_ns=away_ns,
        sender_ns=late_ns * (1 - out_share),
        receiver_ns=late_ns * out_share,
        uneven_ns=uneven_ns,
    )


def explain_rank(
    rank: RankProfile, sites: Sequence[SiteTimes], ends: Ends, setup: Setup, is_stock: bool
) -> dict[SiteKey, WaitCauses]:
    """Explain all sites of a rank that wait."""
    waiting = [times for times in sites if times.site.call_class in WAITING]
    idle_ns = sum(times.idle_ns for times in waiting)
    uneven_share = min(1.0, ends.measure_lead_ns(rank.rank) / idle_ns) if idle_ns > 0 else 0.0
    missed_ns = [measure_missed_ns(times, setup) if is_stock else 0.0 for times in waiting]
    # The same computation is not used twice.
    limit = min(1.0, rank.covered_ns / sum(missed_ns)) if rank.covered_ns is not None and sum(missed_ns) > 0 else 1.0
    found: dict[SiteKey, WaitCauses] = {}
    for times, missed in zip(waiting, missed_ns, strict=True):
        causes = explain_site(rank, times, ends, uneven_share, missed * limit)
        found[times.site.key] = found.get(times.site.key, WaitCauses()) + causes
    return found


Waits = Mapping[int, Mapping[SiteKey, WaitCauses]]


def explain_waits(profile: JobProfile, baseline: Baseline, setup: Setup) -> Waits:
    """Explain all waiting of a job, by rank and call site."""
    apart = {rank.rank: take_rank_apart(baseline, rank, setup) for rank in profile.ranks}
    ends = Ends(
        {rank.rank: measure_work_ns(rank) for rank in profile.ranks},
        {number: measure_slack_ns(sites, setup) for number, sites in apart.items()},
    )
    is_stock = profile.way is Way.STOCK
    return {rank.rank: explain_rank(rank, apart[rank.rank], ends, setup, is_stock) for rank in profile.ranks}


def sum_site_causes(waits: Waits, key: SiteKey) -> WaitCauses:
    """Add up one call site over all ranks."""
    return sum_causes(sites[key] for sites in waits.values() if key in sites)


def sum_all_causes(waits: Waits) -> WaitCauses:
    """Add up everything."""
    return sum_causes(causes for sites in waits.values() for causes in sites.values())
