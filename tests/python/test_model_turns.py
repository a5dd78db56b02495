# SPDX-License-Identifier: MIT
"""Messages that cross: what they take where they take turns, and what is spared where they do not."""

from dataclasses import replace

import pytest
from model_simulation import Program, profile_programs
from test_model_waits import MS, ROUNDS, TRANSFER_NS, Character, be_sure, exchange, make_route, make_system, one_way

from lapwing.model.profile import (
    FunctionStatistics,
    JobProfile,
    Moments,
    RankProfile,
    SiteStatistics,
    SizeBucket,
    Source,
    Way,
)
from lapwing.model.study import Study, study_profile
from lapwing.model.system import Estimate, Exchange
from lapwing.model.transfers import list_transfers
from lapwing.report.findings import find_in_profile

# The simulated exchange takes TRANSFER_NS. Let that be two messages in turn, on a link that is twice as fast.
MESSAGE_BYTES = 1 << 20
AT_ONCE_NS = TRANSFER_NS / 2
TURNS = "messages take turns"
SMALL_TOO = (
    Exchange(1 << 10, be_sure(1.0), be_sure(1.0)),
    Exchange(MESSAGE_BYTES, be_sure(TRANSFER_NS / 1e3), be_sure(AT_ONCE_NS / 1e3)),
)


def make_exchange(lapwing_us: Estimate) -> Exchange:
    return Exchange(MESSAGE_BYTES, be_sure(TRANSFER_NS / 1e3), lapwing_us)


def study(character: Character, lapwing_us: Estimate, way: Way = Way.STOCK) -> Study:
    profile = replace(profile_programs([character(0), character(1)]), cores_per_rank=1, way=way)
    route = replace(make_route("between", AT_ONCE_NS / MESSAGE_BYTES), exchanges=(make_exchange(lapwing_us),))
    return study_profile(profile, threshold_bytes=1, system=make_system(route))


def wait_at_once(rank: int) -> Program:
    return exchange(rank, (5 * MS, 5 * MS), (0.0, 0.0))


def send_one_way(rank: int) -> Program:
    return one_way(rank, 5 * MS, 5 * MS)


def spare_ns(found: Study, way: Way) -> float:
    """Return what a way is predicted to spare."""
    return found.predictions[Way.STOCK].expected_ns - found.predictions[way].expected_ns


def list_kinds(found: Study) -> list[str]:
    return [finding.kind for finding in find_in_profile(found)]


@pytest.mark.parametrize("way", [Way.EVENTS, Way.DEFERRED])
def test_what_messages_in_turn_take_longer_is_spared(way: Way) -> None:
    found = study(wait_at_once, be_sure(AT_ONCE_NS / 1e3))
    assert spare_ns(found, way) == pytest.approx(ROUNDS * (TRANSFER_NS - AT_ONCE_NS), rel=0.02)
    assert TURNS in list_kinds(found)


def test_interval_reaches_to_where_nothing_is_spared() -> None:
    found = study(wait_at_once, be_sure(AT_ONCE_NS / 1e3))
    prediction = found.predictions[Way.DEFERRED]
    assert prediction.high_ns >= found.predictions[Way.STOCK].expected_ns * 0.99


def test_times_that_may_be_the_same_promise_nothing() -> None:
    unsure = Estimate(AT_ONCE_NS / 1e3, AT_ONCE_NS / 1e3, TRANSFER_NS / 1e3)
    found = study(wait_at_once, unsure)
    assert spare_ns(found, Way.EVENTS) == pytest.approx(0.0, abs=0.01 * TRANSFER_NS)
    assert TURNS not in list_kinds(found)


def test_many_small_messages_beside_large_ones_do_not_hide_the_turns() -> None:
    """HPCC starts as many messages of 8 bytes as of 2 MB: a mean of both is the size of none."""
    few = study(wait_at_once, be_sure(AT_ONCE_NS / 1e3))
    count, size_bytes = 100 * ROUNDS, 8
    sizes = (SizeBucket(4, count, count * size_bytes, count, 1),)
    small = SiteStatistics(
        "MPI_Isend", Moments(count, count, 1, 1), "small.c", bytes=Moments(count, count * 8, 8, 8), sizes=sizes
    )
    profile = few.profile
    ranks = tuple(replace(rank, sites=(*rank.sites, small)) for rank in profile.ranks)
    route = replace(make_route("between", AT_ONCE_NS / MESSAGE_BYTES), exchanges=SMALL_TOO)
    many = study_profile(replace(profile, ranks=ranks), threshold_bytes=1, system=make_system(route))
    assert spare_ns(many, Way.EVENTS) == pytest.approx(spare_ns(few, Way.EVENTS), rel=0.02)


def test_messages_one_way_meet_none() -> None:
    assert TURNS not in list_kinds(study(send_one_way, be_sure(AT_ONCE_NS / 1e3)))


def test_a_run_under_lapwing_has_no_turns_left() -> None:
    found = study(wait_at_once, be_sure(AT_ONCE_NS / 1e3), way=Way.EVENTS)
    assert TURNS not in list_kinds(found)


def make_job(name: str, size_bytes: int, rank_count: int = 2) -> JobProfile:
    """One call of a function on each rank."""
    time, sizes = Moments(1, round(TRANSFER_NS), round(TRANSFER_NS)), Moments(1, size_bytes, size_bytes, size_bytes)
    site = SiteStatistics(name, time, bytes=sizes)
    function = FunctionStatistics(name, time, bytes=sizes)
    ranks = tuple(
        RankProfile(rank, round(10 * TRANSFER_NS), functions=(function,), sites=(site,), host=f"host {rank}")
        for rank in range(rank_count)
    )
    return JobProfile(Source.RECORD, ranks)


def cross_ns(profile: JobProfile, size_bytes: int, data_ns: float) -> float | None:
    """Return what the call takes under Lapwing, of which an exchange takes half as long as in stock."""
    route = replace(make_route("between", 1.0), exchanges=(make_exchange(be_sure(AT_ONCE_NS / 1e3)),))
    transfers = list_transfers(profile, make_system(route))[0]
    return transfers.estimate_crossing_ns(profile.ranks[0].sites[0], size_bytes, data_ns)


@pytest.mark.parametrize("factor", [0.5, 1, 2])
def test_sendrecv_is_an_exchange_of_its_size(factor: float) -> None:
    size_bytes = round(factor * MESSAGE_BYTES)
    route = replace(make_route("between", 1.0), exchanges=(make_exchange(be_sure(AT_ONCE_NS / 1e3)),))
    profile = make_job("MPI_Sendrecv", size_bytes)
    transfers, site = list_transfers(profile, make_system(route))[0], profile.ranks[0].sites[0]
    assert transfers.estimate_ns(site, size_bytes) == pytest.approx(factor * TRANSFER_NS)
    assert cross_ns(profile, size_bytes, 0.0) == pytest.approx(factor * AT_ONCE_NS)


def test_sendrecv_with_no_process_at_one_end_is_no_exchange() -> None:
    profile = make_job("MPI_Sendrecv", MESSAGE_BYTES)
    one_way_sites = tuple(replace(site, sent_bytes=0, received_bytes=MESSAGE_BYTES) for site in profile.ranks[0].sites)
    ranks = (replace(profile.ranks[0], sites=one_way_sites), profile.ranks[1])
    assert cross_ns(replace(profile, ranks=ranks), MESSAGE_BYTES, 0.0) is None


@pytest.mark.parametrize("name", ["MPI_Allreduce", "MPI_Alltoallv", "MPI_Allgather_c", "MPI_Reduce_scatter"])
def test_collective_of_two_ranks_is_shortened_as_an_exchange_is(name: str) -> None:
    assert cross_ns(make_job(name, MESSAGE_BYTES), MESSAGE_BYTES, 7 * MS) == pytest.approx(3.5 * MS)


@pytest.mark.parametrize(("name", "rank_count"), [("MPI_Bcast", 2), ("MPI_Reduce", 2), ("MPI_Allreduce", 3)])
def test_collective_whose_messages_do_not_cross_stays(name: str, rank_count: int) -> None:
    assert cross_ns(make_job(name, MESSAGE_BYTES, rank_count), MESSAGE_BYTES, 7 * MS) is None


def test_what_a_collective_may_gain_is_one_end_of_the_interval() -> None:
    route = replace(make_route("between", 1.0), exchanges=(make_exchange(be_sure(AT_ONCE_NS / 1e3)),))
    found = study_profile(make_job("MPI_Allreduce", MESSAGE_BYTES), threshold_bytes=1, system=make_system(route))
    stock, way = found.predictions[Way.STOCK], found.predictions[Way.EVENTS]
    assert way.expected_ns == pytest.approx(stock.expected_ns, rel=0.01)
    assert way.low_ns == pytest.approx(stock.expected_ns - TRANSFER_NS / 2, rel=0.03)
    assert TURNS not in list_kinds(found)
