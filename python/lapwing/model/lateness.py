# SPDX-License-Identifier: MIT
"""What becomes of waiting for late peers when transfers hide: as much goes as is known to have come from them.

A peer is late because it computes, or because of a transfer of its own. Only what computation cannot explain becomes
less when transfers hide, and no transfer is taken off twice, since it shows at both of its ends.
A call that returns early puts waiting off. Where ranks meet before they are even again, it comes back there.
"""

from collections.abc import Sequence
from dataclasses import replace

from lapwing.model.classes import BOTH_WAYS, CallClass, comes_in, is_collective, shorten_name
from lapwing.model.outcomes import SiteOutcome
from lapwing.model.profile import RankProfile, SiteStatistics
from lapwing.model.transfers import measure_mix
from lapwing.model.waits import WAITING


def is_meeting(outcome: SiteOutcome) -> bool:
    """Say whether a site's calls still wait until others have called: not those that send small messages."""
    site = outcome.times.site
    if outcome.changed_count or site.call_class not in WAITING:
        return False
    return site.call_class is CallClass.WAIT or comes_in(site.function) or outcome.times.idle_ns > 0


def count_after_work(site: SiteStatistics) -> float:
    """Return how many of a site's calls have work before them, at least: of calls in a row only the first has."""
    before = site.computation_before
    return site.time.count * before.mean / before.maximum if before.maximum else site.time.count


def put_off(outcome: SiteOutcome, meeting_count: int) -> SiteOutcome:
    """Let a site's calls absorb lateness, but for those that a meeting follows."""
    more_ns = outcome.hidden_with_idle_ns - outcome.hidden_ns
    if more_ns <= 0 or not meeting_count:
        return outcome
    share = max(0.0, 1 - meeting_count / count_after_work(outcome.times.site))
    return replace(outcome, hidden_with_idle_ns=outcome.hidden_ns + share * more_ns)


def limit_absorbed(outcomes: Sequence[SiteOutcome]) -> list[SiteOutcome]:
    """Let waiting come back where ranks meet."""
    meeting_count = sum(o.times.site.time.count for o in outcomes if is_meeting(o))
    return [put_off(outcome, meeting_count) for outcome in outcomes]


def choose_out_share(rank: RankProfile, site: SiteStatistics) -> float:
    """Return what part of a site's transfers goes out."""
    if site.call_class is CallClass.WAIT:
        return measure_mix(rank).out_share
    if site.call_class is CallClass.TEST or shorten_name(site.function) in BOTH_WAYS:
        return 0.5
    return 0.0 if comes_in(site.function) else 1.0


def measure_distinct_ns(ranks: Sequence[tuple[RankProfile, Sequence[SiteOutcome]]]) -> float:
    """Return what hides of a job's transfers, each of them once.

    What one rank sends another receives, and all ranks are in a collective.
    """
    out_ns = in_ns = shared_ns = 0.0
    for rank, outcomes in ranks:
        for outcome in outcomes:
            site, hidden_ns = outcome.times.site, outcome.hidden_ns
            if is_collective(site.function):
                shared_ns += hidden_ns / len(ranks)
                continue
            out_share = choose_out_share(rank, site)
            out_ns += out_share * hidden_ns
            in_ns += (1 - out_share) * hidden_ns
    return max(out_ns, in_ns) + shared_ns


def measure_least_ns(rank: RankProfile) -> float:
    """Return what a rank would compute if it computed before each call as before the least one of its site."""
    return rank.computation_ns - sum(
        s.computation_before.total - s.computation_before.count * s.computation_before.minimum for s in rank.sites
    )


def measure_most_ns(rank: RankProfile) -> float:
    """Return what a rank would compute if it computed before each call as before the greatest one of its site."""
    return rank.computation_ns + sum(
        s.computation_before.count * s.computation_before.maximum - s.computation_before.total for s in rank.sites
    )


def measure_late_work_ns(rank: RankProfile, ranks: Sequence[RankProfile]) -> float:
    """Return for how long at most a rank waits because others compute longer before a call than it does.

    Neither by more than all of them vary, nor by more than the longest computation before each call.
    """
    least_ns = measure_least_ns(rank)
    by_each_ns = sum(
        peer.computation_ns - min(least_ns, measure_least_ns(peer)) for peer in ranks if peer.rank != rank.rank
    )
    longest_ns = max(measure_most_ns(peer) for peer in ranks) - rank.computation_ns
    return max(0.0, min(by_each_ns, longest_ns))
