# SPDX-License-Identifier: MIT
"""Waiting for late peers is not promised away: programs whose ranks are late in turn, or one always, and meet."""

from dataclasses import replace

import pytest
from model_simulation import NS_PER_BYTE, Program, Step, measure_programs, profile_programs
from test_model_terms import MS, SIZE, make_job, make_rank, make_site, make_slack, predict

from lapwing.advise.words import explain_nothing
from lapwing.model.lateness import limit_absorbed, measure_late_work_ns
from lapwing.model.outcomes import SiteOutcome
from lapwing.model.profile import JobProfile, Moments, RankProfile, SiteStatistics, Way
from lapwing.model.refined import Prediction, predict_ways
from lapwing.model.setup import make_setup
from lapwing.model.sites import CallGroup, SiteTimes
from lapwing.model.study import study_profile
from lapwing.model.waits import sum_all_causes
from lapwing.report.findings import find_in_profile

ROUNDS, LONG_NS, SHORT_NS, SLACK_NS = 20, 40 * MS, 10 * MS, 20 * MS
TRANSFER_NS = SIZE * NS_PER_BYTE


def is_late(kind: str, number: int, rank: int) -> bool:
    return {"in turn": number % 2 == rank, "one": rank == 0, "none": False}[kind]


def make_program(rank: int, kind: str, meets: bool) -> Program:
    """Work, a large message from rank 0 to rank 1, work, and its touch; ranks that meet exchange a word before that."""
    steps: list[Step] = []
    for number in range(ROUNDS):
        large, word = 2 * number, 2 * number + 1
        steps += [
            Step("compute", time_ns=LONG_NS if is_late(kind, number, rank) else SHORT_NS),
            Step("recv" if rank else "send", "exchange.c", messages=(large,), size_bytes=SIZE),
        ]
        if meets:
            verb = "send" if rank else "recv"
            steps += [Step(verb, "meet.c", messages=(word,), size_bytes=8), Step("touch", messages=(word,))]
        steps += [Step("compute", time_ns=SLACK_NS), Step("touch", messages=(large,))]
    return steps


def profile(kind: str, meets: bool) -> JobProfile:
    return replace(profile_programs([make_program(rank, kind, meets) for rank in range(2)]), cores_per_rank=1)


def predict_deferred(known: JobProfile) -> Prediction:
    setup = replace(make_setup(known), cpu_ns_per_byte=0.0, hold_ns=0.0)
    return predict_ways(known, setup, [Way.DEFERRED])[0]


@pytest.mark.parametrize("meets", [True, False])
@pytest.mark.parametrize("kind", ["in turn", "one", "none"])
def test_prediction_of_late_ranks_is_near_the_simulated_run(kind: str, meets: bool) -> None:
    measured_ns = measure_programs([make_program(rank, kind, meets) for rank in range(2)], Way.DEFERRED)
    assert predict_deferred(profile(kind, meets)).expected_ns == pytest.approx(measured_ns, rel=0.03)


def test_lateness_comes_back_where_ranks_meet() -> None:
    prediction = predict_deferred(profile("in turn", meets=True))
    assert prediction.terms.imbalance == pytest.approx(ROUNDS * (LONG_NS - SHORT_NS) / 2, rel=0.02)


def test_interval_has_lateness_that_no_meeting_brings_back() -> None:
    effects = {effect.name: effect for effect in predict_deferred(profile("in turn", meets=True)).effects}
    assert effects["imbalance that moves between ranks"].low_ns == pytest.approx(
        -ROUNDS * (SLACK_NS - TRANSFER_NS), rel=0.05
    )


NO_WORK = Moments()


def absorb(function: str, count: int, before: Moments = NO_WORK) -> float:
    """Return what of 10 ms ten calls absorb where others follow."""
    own = replace(make_site("MPI_Recv", 10, MS), computation_before=before)
    other = make_site(function, count, MS, line=2)
    absorbing = SiteOutcome(SiteTimes(own, 0.0, ()), hidden_with_idle_ns=10 * MS, changed_count=10)
    limited = limit_absorbed([absorbing, SiteOutcome(SiteTimes(other, 0.0, ()))])
    return limited[0].hidden_with_idle_ns


@pytest.mark.parametrize(
    ("function", "left_ns"),
    [("MPI_Barrier", 0), ("MPI_Allreduce", 0), ("MPI_Waitall", 0), ("MPI_Send", 10 * MS), ("MPI_Isend", 10 * MS)],
)
def test_calls_that_wait_for_others_are_meetings(function: str, left_ns: float) -> None:
    assert absorb(function, 10) == left_ns


def test_meetings_in_some_rounds_bring_back_lateness_of_those() -> None:
    assert absorb("MPI_Barrier", 2) == pytest.approx(8 * MS)


def test_calls_in_a_row_are_one_before_a_meeting() -> None:
    """Only every fifth of ten calls has work before it: with two meetings no round is without one."""
    assert absorb("MPI_Barrier", 2, Moments(10, 10 * MS, 0, 5 * MS)) == 0


def test_send_that_waits_for_a_late_receiver_is_a_meeting() -> None:
    group = CallGroup(10, 1.0, data_ns=0.0, idle_ns=MS)
    own = SiteOutcome(SiteTimes(make_site("MPI_Recv", 10, MS), 0.0, ()), hidden_with_idle_ns=MS, changed_count=10)
    other = SiteOutcome(SiteTimes(make_site("MPI_Send", 10, MS, line=2), 0.0, (group,)))
    assert limit_absorbed([own, other])[0].hidden_with_idle_ns == 0


@pytest.mark.parametrize(("functions", "left_ms"), [(("MPI_Recv", "MPI_Recv"), 20), (("MPI_Recv", "MPI_Send"), 60)])
def test_transfer_that_both_ends_hide_is_taken_off_once(functions: tuple[str, str], left_ms: float) -> None:
    """Two ranks hide 40 ms each: of receives they are two transfers, of a send and a receive the same one."""
    sites = [make_site(name, 10, 12 * MS, least_ns=6 * MS, slack=make_slack(10, 4 * MS)) for name in functions]
    job = make_job(*(make_rank(rank, 100 * MS, site) for rank, site in enumerate(sites)))
    assert predict(job, Way.DEFERRED).terms.imbalance == pytest.approx(left_ms * MS)


@pytest.mark.parametrize("function", ["MPI_Sendrecv", "MPI_Alltoall"])
def test_exchange_is_taken_off_once(function: str) -> None:
    site = make_site(function, 10, 12 * MS, least_ns=6 * MS, slack=make_slack(10, 4 * MS))
    job = make_job(make_rank(0, 100 * MS, site), make_rank(1, 100 * MS, site))
    assert predict(job, Way.DEFERRED).terms.imbalance == pytest.approx(60 * MS)


def make_ring(count: int, before: Moments) -> JobProfile:
    """Ranks that exchange in a ring: 6 ms of each call are for data, 12 for peers that are late."""
    site = make_site("MPI_Sendrecv", 10, 18 * MS, least_ns=6 * MS, slack=make_slack(10, 4 * MS))
    site = replace(site, computation_before=before)
    ranks = [make_rank(rank, 300 * MS, site) for rank in range(count)]
    return JobProfile(make_job(*ranks).source, tuple(ranks), cores_per_rank=1, matches_first=True)


def test_lateness_that_work_explains_stays() -> None:
    """In a third of the rounds each of three ranks computes for 18 ms longer: 120 ms of waiting are for that."""
    ring = make_ring(3, Moments(10, 160 * MS, 10 * MS, 28 * MS))
    stock, deferred = (predict(ring, way) for way in (Way.STOCK, Way.DEFERRED))
    assert deferred.terms.imbalance == pytest.approx(stock.terms.imbalance)
    assert stock.expected_ns - deferred.expected_ns == pytest.approx(40 * MS)


def test_lateness_that_work_does_not_explain_goes_with_the_transfers() -> None:
    ring = make_ring(3, Moments(10, 160 * MS, 16 * MS, 16 * MS))
    stock, deferred = (predict(ring, way) for way in (Way.STOCK, Way.DEFERRED))
    assert stock.terms.imbalance - deferred.terms.imbalance == pytest.approx(20 * MS)


def make_worker(rank: int, computation_ns: int, before: Moments) -> RankProfile:
    return make_rank(rank, computation_ns, replace(make_site("MPI_Recv", 10, MS), computation_before=before))


@pytest.mark.parametrize(
    ("before", "late_ns"),
    [
        (Moments(10, 50 * MS, 5 * MS, 5 * MS), 0),
        (Moments(10, 60 * MS, 5 * MS, 15 * MS), 10 * MS),  # once
        (Moments(10, 60 * MS, 5 * MS, 7 * MS), 10 * MS),  # never longer than the longest of its own
    ],
)
def test_work_explains_no_more_than_it_varies(before: Moments, late_ns: float) -> None:
    ranks = [make_worker(rank, before.total, before) for rank in range(2)]
    assert measure_late_work_ns(ranks[0], ranks) == pytest.approx(late_ns)


def test_work_explains_waiting_for_a_rank_that_has_more() -> None:
    ranks = [make_worker(rank, 10 * ms, Moments(10, 10 * ms, ms, ms)) for rank, ms in enumerate((5 * MS, 8 * MS))]
    assert measure_late_work_ns(ranks[0], ranks) == pytest.approx(30 * MS)
    assert measure_late_work_ns(ranks[1], ranks) == 0


def let_meet(known: JobProfile) -> JobProfile:
    """Return the profile with words that are barriers."""

    def rename(site: SiteStatistics) -> SiteStatistics:
        return replace(site, function="MPI_Barrier") if site.file == "meet.c" else site

    return replace(known, ranks=tuple(replace(rank, sites=tuple(map(rename, rank.sites))) for rank in known.ranks))


@pytest.mark.parametrize("meets", [True, False])
def test_only_lateness_that_stays_away_is_called_absorbed(meets: bool) -> None:
    found = find_in_profile(study_profile(let_meet(profile("in turn", meets))))
    texts = [finding.text for finding in found if finding.kind == "late in turn"]
    assert texts and any("absorb" in text for text in texts) != meets


def test_rank_that_is_always_late_is_called_uneven_work() -> None:
    """Every receive waits for it: the fastest says nothing about the transfer."""
    found = study_profile(profile("one", meets=True))
    kinds = [finding.kind for finding in find_in_profile(found)]
    assert "imbalance" in kinds and "late in turn" not in kinds
    assert "The work is uneven" in explain_nothing(found)
    assert sum_all_causes(found.waits).uneven_ns == pytest.approx(ROUNDS * (LONG_NS - SHORT_NS), rel=0.02)


def test_rank_that_is_always_late_leaves_the_transfers_their_time() -> None:
    found = study_profile(profile("one", meets=True))
    causes = sum_all_causes(found.waits)
    assert causes.transfer_ns == pytest.approx(2 * ROUNDS * TRANSFER_NS, rel=0.02)
