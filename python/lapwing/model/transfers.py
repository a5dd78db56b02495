# SPDX-License-Identifier: MIT
"""How long the transfers of a call take by the parameters of a measured system, when both ends are ready."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lapwing.model.classes import BOTH_WAYS, CallClass, is_collective, shorten_name
from lapwing.model.profile import JobProfile, RankProfile, SiteStatistics, SizeBucket, Way
from lapwing.model.system import EAGER, Route, System

SEND_STARTS = frozenset(["Isend", "Ibsend", "Issend", "Irsend"])
RECEIVE_STARTS = frozenset(["Irecv", "Imrecv"])
SENDS = frozenset(["Send", "Rsend"])
EXCHANGES = frozenset(["Sendrecv", "Sendrecv_replace"])
# Between two ranks the messages of a collective cross; among more each rank sends to one and receives from another.
RANKS_OF_CROSSING_COLLECTIVES = 2
# A wait that ends fewer messages than these, of a rank's usual ones, ends one.
MESSAGES_MIN = 1.5


@dataclass(frozen=True)
class Mix:
    """The nonblocking messages of a rank. out_share: what part of their bytes it sends. sizes: of its starts."""

    mean_bytes: float
    out_share: float
    sizes: tuple[SizeBucket, ...] = ()

    def find_message_bytes(self, ended_bytes: float) -> float:
        """Return how long the messages are that a wait for so many bytes ends, most of its bytes: none longer than all.

        A rank that also starts many small ones has a small mean, and no such message.
        """
        known = [row for row in self.sizes if row.count and row.bits <= int(ended_bytes).bit_length()]
        whole = sum(row.bytes_total for row in known)
        return sum(row.bytes_total**2 / row.count for row in known) / whole if whole else self.mean_bytes


@dataclass(frozen=True)
class Transfers:
    """What one rank's transfers take. hosts: of all ranks. is_stock: the run was one without Lapwing's progress."""

    system: System
    rank: RankProfile
    hosts: Mapping[int, str]
    mix: Mix
    is_stock: bool = True

    def estimate_ns(self, site: SiteStatistics, size_bytes: float) -> float | None:
        """Return the time of one call with so many bytes; None where the system does not tell it."""
        exchange_ns = self._estimate_exchange_ns(site, size_bytes, with_lapwing=not self.is_stock)
        if exchange_ns is not None:
            return exchange_ns
        route = self.system.find_route(self._is_within(site))
        if route is None or is_collective(site.function):
            return None
        if site.call_class is CallClass.WAIT:
            return estimate_wait_us(route, self.mix, size_bytes) * 1e3
        return estimate_message_us(route, site.function, size_bytes) * 1e3

    def estimate_crossing_ns(self, site: SiteStatistics, size_bytes: float, data_ns: float) -> float | None:
        """Return what a call whose data takes data_ns takes where its messages cross at once, as under Lapwing.

        None where that makes no difference, or the system does not tell it.
        """
        if not self.is_stock:
            return None
        if is_collective(site.function):
            return self._scale_collective_ns(site, size_bytes, data_ns)
        return self._estimate_exchange_ns(site, size_bytes, with_lapwing=True)

    def estimate_duplex(self, site: SiteStatistics, size_bytes: float) -> float:
        """Return what part of a message is spared where it goes beside one of the other direction: all on most links.

        A run that is Lapwing's own has that already.
        """
        route = self.system.find_route(self._is_within(site))
        at_once_us = route.predict_exchange_us(size_bytes, with_lapwing=True) if route else None
        if route is None or at_once_us is None or not self.is_stock:
            return float(self.is_stock)
        one_us = route.predict_half_trip_us(size_bytes)
        return min(1.0, max(0.0, 2 - at_once_us / one_us)) if one_us > 0 else 0.0

    def _scale_collective_ns(self, site: SiteStatistics, size_bytes: float, data_ns: float) -> float | None:
        """Shorten a collective as an exchange of its size is: how its messages are cut is the library's own matter."""
        route = self.system.find_route(self._is_within(site))
        is_crossing = shorten_name(site.function) in BOTH_WAYS and len(self.hosts) == RANKS_OF_CROSSING_COLLECTIVES
        if route is None or not is_crossing:
            return None
        stock_us = route.predict_exchange_us(size_bytes, with_lapwing=False)
        lapwing_us = route.predict_exchange_us(size_bytes, with_lapwing=True)
        return data_ns * lapwing_us / stock_us if stock_us and lapwing_us else None

    def _estimate_exchange_ns(self, site: SiteStatistics, size_bytes: float, with_lapwing: bool) -> float | None:
        """Return the time of one call whose messages cross; None where none do, or the system does not tell it."""
        route = self.system.find_route(self._is_within(site))
        exchange_us = estimate_exchange_us(route, self.mix, site, size_bytes, with_lapwing) if route else None
        return None if exchange_us is None else exchange_us * 1e3

    def _is_within(self, site: SiteStatistics) -> bool:
        """Say whether most of the site's bytes stay on its host; without a known peer, whether all ranks are there."""
        own = self.hosts.get(self.rank.rank, "")
        if not site.peers:
            return all(host == own for host in self.hosts.values())
        near = sum(peer.bytes_total for peer in site.peers if self.hosts.get(peer.rank, "") == own)
        return 2 * near >= sum(peer.bytes_total for peer in site.peers)


def estimate_message_us(route: Route, function: str, size_bytes: float) -> float:
    """Return the time of a blocking call: a send that needs nobody is over when its data is copied."""
    buffered_us = route.estimate_us("o_sb", size_bytes)
    is_buffered = shorten_name(function) in SENDS and route.choose_protocol(size_bytes) == EAGER
    return buffered_us if is_buffered and buffered_us is not None else route.predict_half_trip_us(size_bytes)


def estimate_wait_us(route: Route, mix: Mix, size_bytes: float) -> float:
    """Return the time of all messages that a wait ends: those of a direction after each other, both at once."""
    message_bytes = mix.find_message_bytes(size_bytes)
    if message_bytes <= 0 or size_bytes < MESSAGES_MIN * message_bytes:
        return route.predict_half_trip_us(size_bytes)
    one_way_bytes = size_bytes * max(mix.out_share, 1 - mix.out_share)
    first_bytes = min(message_bytes, one_way_bytes)
    return route.predict_half_trip_us(first_bytes) + (one_way_bytes - first_bytes) * route.byte_ns.value * 1e-3


def share_both_ways(site: SiteStatistics) -> float:
    """Return what part of an exchange's bytes crosses others: nothing where the other end is no process."""
    share = site.both_ways_share
    return 1.0 if share is None else share


def measure_exchange(mix: Mix, site: SiteStatistics, size_bytes: float) -> tuple[float, float, float]:
    """Return the bytes that a call sends while it receives as many, those of a message, and those that go one way."""
    if shorten_name(site.function) in EXCHANGES:
        both_bytes = size_bytes * share_both_ways(site)
        return both_bytes, size_bytes, size_bytes - both_bytes
    message_bytes = mix.find_message_bytes(size_bytes)
    is_several = message_bytes > 0 and size_bytes >= MESSAGES_MIN * message_bytes
    if site.call_class is not CallClass.WAIT or not is_several:
        return 0.0, 0.0, size_bytes
    both_bytes = size_bytes * min(mix.out_share, 1 - mix.out_share)
    return both_bytes, message_bytes, size_bytes - 2 * both_bytes


def estimate_exchange_us(
    route: Route, mix: Mix, site: SiteStatistics, size_bytes: float, with_lapwing: bool
) -> float | None:
    """Return the time of a call whose messages cross; what goes one way alone comes after them."""
    both_bytes, message_bytes, rest_bytes = measure_exchange(mix, site, size_bytes)
    exchange_us = route.predict_exchange_us(message_bytes, with_lapwing) if both_bytes > 0 else None
    if exchange_us is None:
        return None
    return exchange_us * both_bytes / message_bytes + rest_bytes * route.byte_ns.value * 1e-3


def sum_bytes(sites: Iterable[SiteStatistics], names: frozenset[str]) -> int:
    """Return the bytes of some functions."""
    return sum(site.bytes.total for site in sites if shorten_name(site.function) in names)


def measure_mix(rank: RankProfile) -> Mix:
    """Return the nonblocking messages of a rank; persistent ones, whose starts tell no direction, go both ways."""
    starts = [site for site in rank.sites if site.call_class is CallClass.START]
    count, whole = sum(site.bytes.count for site in starts), sum(site.bytes.total for site in starts)
    sent, received = sum_bytes(starts, SEND_STARTS), sum_bytes(starts, RECEIVE_STARTS)
    out_share = sent / (sent + received) if sent + received else 0.5
    sizes = tuple(bucket for site in starts for bucket in site.sizes)
    return Mix(whole / count if count else 0.0, out_share, sizes)


def list_transfers(profile: JobProfile, system: System | None) -> dict[int, Transfers]:
    """Return what is known of each rank's transfers: nothing without a system."""
    if system is None:
        return {}
    hosts = {rank.rank: rank.host for rank in profile.ranks}
    is_stock = profile.way is Way.STOCK
    return {rank.rank: Transfers(system, rank, hosts, measure_mix(rank), is_stock) for rank in profile.ranks}
