# SPDX-License-Identifier: MIT
"""Blocking calls in a row: which of their messages travel at once where calls return early.

A call that returns early lets the next one begin. Messages of one direction then share the link as before, and those of
the other direction go beside them. The recorder looks at a sample of calls: how many bytes go beside those of the calls
behind (SiteStatistics.row). Over all calls of a row that adds up to what the row is spared.

Both ends of a message must have begun it. So of what a rank could let cross only as much does as its peers could.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from lapwing.model.profile import JobProfile, RankProfile, SiteStatistics


def share_crossing(site: SiteStatistics) -> float:
    """Return what part of a site's bytes goes beside messages of the calls behind; nothing where that is not known."""
    return site.row.crossing_bytes / site.row.bytes_total if site.row and site.row.bytes_total else 0.0


def list_messages(rank: RankProfile) -> list[SiteStatistics]:
    """Return the sites whose rows are known."""
    return [site for site in rank.sites if site.row is not None and site.bytes.total]


def average_crossing(sites: Iterable[SiteStatistics]) -> float:
    """Return what part of all bytes of some sites crosses in rows."""
    known = list(sites)
    whole = sum(site.bytes.total for site in known)
    return sum(share_crossing(site) * site.bytes.total for site in known) / whole if whole else 0.0


def find_most(sites: Iterable[SiteStatistics]) -> float:
    """Return the part that can cross at most: all of the direction that has less, but for what crosses in one call.

    The recorder looks at a sample, which may hold too many first calls of rows.
    """
    known = [site for site in sites if site.both_ways_bytes is not None]
    whole = sum(site.bytes.total for site in known)
    ways = (sum(site.sent_bytes or 0 for site in known), sum(site.received_bytes or 0 for site in known))
    return max(0, min(ways) - sum(site.both_ways_bytes or 0 for site in known)) / whole if whole else 1.0


def weigh_peers(sites: Iterable[SiteStatistics]) -> dict[int, int]:
    """Return the bytes that some sites exchange with each rank."""
    weights: dict[int, int] = defaultdict(int)
    for site in sites:
        for peer in site.peers:
            weights[peer.rank] += peer.bytes_total
    return weights


def limit_by_peers(own: float, most: float, weights: Mapping[int, int], shares: Mapping[int, float]) -> float:
    """Return how much of what a rank's sample lets cross can: no more than its most, nor than its peers let."""
    known = {rank: weight for rank, weight in weights.items() if rank in shares}
    whole = sum(known.values())
    if own <= 0 or not whole:
        return 0.0
    return sum(weight * min(most, shares[rank]) for rank, weight in known.items()) / whole / own


def find_mutual(profile: JobProfile) -> dict[int, float]:
    """Return for each rank, of the part that crosses by its own record, the part that does by its peers' as well."""
    sites = {rank.rank: list_messages(rank) for rank in profile.ranks}
    own = {rank: average_crossing(known) for rank, known in sites.items()}
    shares = {rank: min(own[rank], find_most(known)) for rank, known in sites.items()}
    return {rank: limit_by_peers(own[rank], shares[rank], weigh_peers(known), shares) for rank, known in sites.items()}
