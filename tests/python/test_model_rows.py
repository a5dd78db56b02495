# SPDX-License-Identifier: MIT
"""Blocking calls in a row, whose messages travel at once where the calls return early."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from model_simulation import Program, Step, measure_programs, profile_programs
from test_model_waits import be_sure, make_route, make_system

from lapwing.model.profile import JobProfile, Peer, RankProfile, Row, Way
from lapwing.model.refined import Prediction, predict_ways
from lapwing.model.rows import find_mutual
from lapwing.model.setup import Setup, make_setup
from lapwing.model.sites import make_baseline
from lapwing.model.system import Exchange, System

ROUNDS, MESSAGE_BYTES, WORK_NS = 40, 1 << 20, 8e6
CROSSING = "messages of calls in a row cross"
Order = Callable[[int], Sequence[str]]


def turn(rank: int) -> Sequence[str]:
    """One message each way, one call after the other."""
    return ("send", "recv") if rank else ("recv", "send")


def several(rank: int) -> Sequence[str]:
    """Two messages each way."""
    return ("send", "send", "recv", "recv") if rank else ("recv", "recv", "send", "send")


def one_direction(rank: int) -> Sequence[str]:
    """Two messages from rank 1, and nothing back."""
    return ("send", "send") if rank else ("recv", "recv")


def make_program(rank: int, order: Order, between_ns: float = 0.0) -> Program:
    """Calls in a row, whose buffers are used at once, and work. between_ns: work after each call."""
    steps: list[Step] = []
    verbs = order(rank)
    for number in range(ROUNDS):
        messages = [len(verbs) * number + part for part in range(len(verbs))]
        for verb, message in zip(verbs, messages, strict=True):
            steps += [Step(verb, f"{verb}.c", messages=(message,), size_bytes=MESSAGE_BYTES)]
            steps += [Step("compute", time_ns=between_ns)] if between_ns else []
        steps += [Step("touch", messages=tuple(messages)), Step("compute", time_ns=WORK_NS)]
    return steps


def make_programs(order: Order, between_ns: float = 0.0) -> Sequence[Program]:
    return [make_program(rank, order, between_ns) for rank in range(2)]


def make_ideal_setup(profile: JobProfile, rows_cross: float = 1.0) -> Setup:
    return replace(make_setup(profile, threshold_bytes=1), cpu_ns_per_byte=0.0, hold_ns=0.0, rows_cross=rows_cross)


def predict(profile: JobProfile, setup: Setup, system: System | None = None) -> Prediction:
    return predict_ways(profile, setup, [Way.DEFERRED], make_baseline(profile, system))[0]


@pytest.mark.parametrize("order", [turn, several])
def test_messages_of_both_directions_are_foreseen_to_cross(order: Order) -> None:
    programs = make_programs(order)
    profile = profile_programs(programs)
    measured_ns = measure_programs(programs, Way.DEFERRED)
    assert measured_ns < 0.8 * profile.elapsed_ns
    assert predict(profile, make_ideal_setup(profile)).expected_ns == pytest.approx(measured_ns, rel=0.03)


def test_of_one_direction_nothing_is_foretold() -> None:
    profile = profile_programs(make_programs(one_direction))
    assert predict(profile, make_ideal_setup(profile)).expected_ns == pytest.approx(profile.elapsed_ns, rel=0.01)


def test_work_between_the_calls_parts_a_row() -> None:
    profile = profile_programs(make_programs(turn, between_ns=WORK_NS))
    rows = [site.row for rank in profile.ranks for site in rank.sites]
    assert [row.crossing_bytes for row in rows if row] == [0] * 4


def test_interval_reaches_from_none_to_all() -> None:
    programs = make_programs(turn)
    profile = profile_programs(programs)
    prediction = predict(profile, replace(make_ideal_setup(profile), rows_cross=make_setup(profile).rows_cross))
    (effect,) = (effect for effect in prediction.effects if effect.name == CROSSING)
    assert prediction.expected_ns + effect.low_ns == pytest.approx(measure_programs(programs, Way.DEFERRED), rel=0.03)
    assert prediction.expected_ns + effect.high_ns == pytest.approx(profile.elapsed_ns, rel=0.01)


def test_record_that_knows_no_rows_foretells_none() -> None:
    profile = profile_programs(make_programs(turn))
    ranks = [replace(rank, sites=tuple(replace(site, row=None) for site in rank.sites)) for rank in profile.ranks]
    unknown = replace(profile, ranks=tuple(ranks))
    assert predict(unknown, make_ideal_setup(unknown)).expected_ns == pytest.approx(profile.elapsed_ns, rel=0.01)


def make_link(at_once: float) -> System:
    """A system in which two messages that cross take so many times one message's time."""
    route = make_route("between", 8.0)
    one_us = route.predict_half_trip_us(MESSAGE_BYTES)
    exchange = Exchange(MESSAGE_BYTES, be_sure(2 * one_us), be_sure(at_once * one_us))
    return make_system(replace(route, exchanges=(exchange,)))


@pytest.mark.parametrize(("at_once", "spared"), [(1.0, 1.0), (1.5, 0.5), (2.0, 0.0)])
def test_link_that_cannot_do_both_at_once_spares_less(at_once: float, spared: float) -> None:
    profile = profile_programs(make_programs(turn))
    setup = make_ideal_setup(profile)
    foreseen_ns = profile.elapsed_ns - predict(profile, setup, make_link(at_once)).expected_ns
    assert foreseen_ns == pytest.approx(spared * ROUNDS * 8.0 * MESSAGE_BYTES, rel=0.05, abs=0.01 * profile.elapsed_ns)


def edit_sites(rank: RankProfile, **changes: object) -> RankProfile:
    return replace(rank, sites=tuple(replace(site, **changes) for site in rank.sites))


def test_what_a_peer_does_not_let_cross_does_not() -> None:
    profile = profile_programs(make_programs(turn))
    alone = edit_sites(profile.ranks[1], row=Row(1, MESSAGE_BYTES, 0))
    assert find_mutual(replace(profile, ranks=(profile.ranks[0], alone)))[0] == 0.0


def test_sample_of_first_calls_alone_makes_no_more_cross_than_there_is() -> None:
    """One wrapper calls MPI for both directions, and each sample was a receive."""
    profile = profile_programs(make_programs(turn))
    ranks = []
    for rank in profile.ranks:
        (site, other) = rank.sites
        whole = site.bytes.total + other.bytes.total
        both = replace(site, bytes=replace(site.bytes, total=whole), sent_bytes=whole // 2, received_bytes=whole // 2)
        peers = (Peer(1 - rank.rank, 1, whole),)
        ranks.append(
            replace(rank, sites=(replace(both, row=Row(9, 9 * MESSAGE_BYTES, 9 * MESSAGE_BYTES), peers=peers),))
        )
    assert find_mutual(replace(profile, ranks=tuple(ranks))) == {0: 0.5, 1: 0.5}
