# SPDX-License-Identifier: MIT
"""Single terms of the refined model, and the verdicts on assumptions: each on a profile made for it."""

from dataclasses import replace

import pytest

from lapwing.model.alpha import take_fitted_run
from lapwing.model.assumptions import Assumption
from lapwing.model.calibration import derive_parameters
from lapwing.model.classes import share_first_piece
from lapwing.model.comparison import COMPUTATION, compare_run
from lapwing.model.profile import (
    Calibration,
    Engine,
    FunctionStatistics,
    JobProfile,
    Link,
    Moments,
    RankProfile,
    SiteStatistics,
    SizeBucket,
    Slack,
    SlackBucket,
    Source,
    Sweep,
    Way,
)
from lapwing.model.refined import Prediction, predict_ways
from lapwing.model.scaling import change_cores
from lapwing.model.setup import CPU_NS_PER_BYTE, HOLD_NS, Setup, make_setup, measure_costs
from lapwing.model.sites import make_baseline, take_apart
from lapwing.model.study import study_profile

MS = 1_000_000
SIZE = 1 << 20


def make_slack(count: int, computation_ns: int, wall_ns: int | None = None) -> Slack:
    """Make slack that is always the same."""
    bucket = SlackBucket(computation_ns.bit_length(), count, count * computation_ns)
    return Slack(count, (bucket,), count * (wall_ns if wall_ns is not None else computation_ns))


def make_site(
    function: str, count: int, mean_ns: int, least_ns: int | None = None, slack: Slack | None = None, line: int = 1
) -> SiteStatistics:
    """Make a site whose messages are 1 MiB each."""
    least_ns = mean_ns if least_ns is None else least_ns
    bucket = SizeBucket(SIZE.bit_length(), count, count * SIZE, count * mean_ns, least_ns)
    time = Moments(count, count * mean_ns, least_ns, 2 * mean_ns)
    return SiteStatistics(
        function,
        time,
        file="a.c",
        line=line,
        bytes=Moments(count, count * SIZE, SIZE, SIZE),
        sizes=(bucket,),
        slack=slack,
    )


def make_rank(rank: int, computation_ns: int, *sites: SiteStatistics, more_ns: int = 0) -> RankProfile:
    """Make a rank that computes and makes these calls, one function per site."""
    functions = tuple(FunctionStatistics(site.function, site.time, site.bytes) for site in sites)
    elapsed_ns = computation_ns + sum(site.time.total for site in sites) + more_ns
    return RankProfile(rank, elapsed_ns, functions, sites, f"h{rank}")


def make_job(*ranks: RankProfile, cores: int = 16) -> JobProfile:
    """Make a job."""
    return JobProfile(Source.DOCUMENT, ranks, cores_per_rank=cores)


def make_plain_setup(profile: JobProfile) -> Setup:
    """Return a setup without processor time and holds."""
    return replace(make_setup(profile), cpu_ns_per_byte=0.0, hold_ns=0.0)


def predict(profile: JobProfile, way: Way, setup: Setup | None = None) -> Prediction:
    """Predict one way."""
    return predict_ways(profile, setup or make_plain_setup(profile), [way])[0]


def test_tests_cost_their_floor_on_a_dedicated_core_only() -> None:
    site = make_site("MPI_Test", 1000, 30_000, least_ns=2_000)
    profile = make_job(make_rank(0, 100 * MS, site))
    assert predict(profile, Way.EVENTS).terms.tests == pytest.approx(30 * MS)
    assert predict(profile, Way.DEDICATED).terms.tests == pytest.approx(2 * MS)


@pytest.mark.parametrize("way", [Way.STOCK, Way.EVENTS, Way.DEFERRED, Way.REWRITTEN])
def test_calls_of_several_threads_take_no_longer_than_their_rank(way: Way) -> None:
    """Four threads wait at once, each of them for as long as the rank runs."""
    sites = [make_site("MPI_Recv", 40, 10 * MS, least_ns=MS, line=line) for line in range(4)]
    rank = replace(make_rank(0, 0, *sites), elapsed_ns=400 * MS, has_threaded_calls=True)
    prediction = predict(make_job(rank, rank), way)
    assert prediction.expected_ns == pytest.approx(400 * MS)
    assert prediction.high_ns == pytest.approx(1.02 * 400 * MS)  # one run is like another


def test_imbalance_between_ranks_grows_with_the_computation() -> None:
    """Both ranks wait for each other in turn: 20 ms of the job lie beyond either's own work."""
    site = make_site("MPI_Recv", 10, 3 * MS, least_ns=MS)
    profile = make_job(make_rank(0, 100 * MS, site), make_rank(1, 100 * MS, site))
    stock, dedicated = (predict(profile, way) for way in (Way.STOCK, Way.DEDICATED))
    assert stock.terms.imbalance == pytest.approx(20 * MS)
    assert dedicated.terms.imbalance == pytest.approx(20 * MS * 16 / 15)


def test_leftover_slack_absorbs_imbalance_that_moves() -> None:
    site = make_site("MPI_Recv", 10, 3 * MS, least_ns=MS, slack=make_slack(10, 8 * MS))
    profile = make_job(make_rank(0, 100 * MS, site), make_rank(1, 100 * MS, site))
    prediction = predict(profile, Way.DEFERRED)
    effect = next(effect for effect in prediction.effects if effect.name == "imbalance that moves between ranks")
    assert prediction.terms.imbalance == pytest.approx(0)
    assert effect.high_ns == pytest.approx(20 * MS)


def test_peers_whose_transfers_are_hidden_are_less_late() -> None:
    """Two ranks receive in turn, and each waits for the other's receive, too: all slack is used by the transfers."""
    site = make_site("MPI_Recv", 10, 12 * MS, least_ns=6 * MS, slack=make_slack(10, 4 * MS))
    profile = make_job(make_rank(0, 100 * MS, site), make_rank(1, 100 * MS, site))
    stock, deferred = (predict(profile, way) for way in (Way.STOCK, Way.DEFERRED))
    assert stock.terms.imbalance == pytest.approx(60 * MS)
    assert deferred.terms.blocking == pytest.approx(20 * MS)
    assert deferred.terms.imbalance == pytest.approx(20 * MS)


def test_ranks_that_hide_nothing_stay_late() -> None:
    site = make_site("MPI_Recv", 10, 12 * MS, least_ns=6 * MS, slack=make_slack(10, 4 * MS))
    profile = make_job(make_rank(0, 100 * MS, site), make_rank(1, 100 * MS, site))
    assert predict(profile, Way.EVENTS).terms.imbalance == pytest.approx(60 * MS)


def test_rewriting_costs_a_start_and_a_wait() -> None:
    sites = (
        make_site("MPI_Recv", 10, 4 * MS, slack=make_slack(10, 8 * MS)),
        make_site("MPI_Irecv", 10, 30_000, least_ns=20_000, line=2),
        make_site("MPI_Wait", 10, 40_000, least_ns=5_000, line=3),
    )
    profile = make_job(make_rank(0, 100 * MS, *sites))
    assert predict(profile, Way.REWRITTEN).terms.cost == pytest.approx(10 * 25_000)


def test_site_with_few_calls_learns_from_others_of_its_kind() -> None:
    """Three receives never met a ready peer; a hundred others of the size did."""
    late, other = make_site("MPI_Recv", 3, 9 * MS, least_ns=8 * MS), make_site("MPI_Recv", 100, 3 * MS, 2 * MS, line=2)
    profile = make_job(make_rank(0, 100 * MS, late, other))
    baseline = make_baseline(profile)
    assert take_apart(baseline, late, Setup()).data_ns == pytest.approx(3 * 2 * MS)
    many = make_site("MPI_Recv", 8, 9 * MS, least_ns=8 * MS)
    baseline = make_baseline(make_job(make_rank(0, 100 * MS, many, other)))
    assert take_apart(baseline, many, Setup()).data_ns == pytest.approx(8 * 8 * MS)


def test_wait_that_no_network_could_fill_says_nothing_of_a_transfer() -> None:
    """1 MiB in 3 us: the data had come before. Another wait, which found nothing to do, took 0.3 us."""
    wait, empty = make_site("MPI_Waitall", 10, 9 * MS, 3_000), make_site("MPI_Waitall", 9, 300, 300, line=2)
    baseline = make_baseline(make_job(make_rank(0, 100 * MS, wait, empty)))
    assert take_apart(baseline, wait, Setup()).data_ns == pytest.approx(10 * (9 * MS - 300))
    late = make_site("MPI_Waitall", 10, 9 * MS, 2 * MS)
    baseline = make_baseline(make_job(make_rank(0, 100 * MS, late, empty)))
    assert take_apart(baseline, late, Setup()).data_ns == pytest.approx(10 * (2 * MS - 300))


def test_rank_that_always_waits_long_waits_for_its_peer() -> None:
    """The peer has more to do, and finds its own data there."""
    empty = make_site("MPI_Waitall", 9, 300, 300, line=2)
    long, short = make_site("MPI_Waitall", 10, 9 * MS, 8 * MS), make_site("MPI_Waitall", 10, 3_000, 3_000)
    baseline = make_baseline(make_job(make_rank(0, 10 * MS, long, empty), make_rank(1, 100 * MS, short, empty)))
    assert take_apart(baseline, long, Setup()).data_ns < 10 * 3_000


def test_measured_link_knows_better_but_not_for_collectives() -> None:
    """1 MiB at 1 GiB/s takes a 1024th of a second."""
    receive, reduce = make_site("MPI_Recv", 10, 9 * MS, 5 * MS), make_site("MPI_Allreduce", 10, 9 * MS, 5 * MS, line=2)
    profile = replace(make_job(make_rank(0, 100 * MS, receive, reduce)), link=Link(0.0, float(1 << 30)))
    baseline = make_baseline(profile)
    assert take_apart(baseline, receive, Setup()).data_ns == pytest.approx(10 * 1e9 / 1024)
    assert take_apart(baseline, reduce, Setup()).data_ns == pytest.approx(10 * 5 * MS)


@pytest.mark.parametrize("deferrable", [0, 3, 10])
def test_only_deferrable_calls_are_deferred(deferrable: int) -> None:
    site = replace(make_site("MPI_Recv", 10, 4 * MS, slack=make_slack(10, 8 * MS)), deferrable_count=deferrable)
    prediction = predict(make_job(make_rank(0, 100 * MS, site)), Way.DEFERRED)
    assert prediction.alpha == pytest.approx(deferrable / 10)
    assert prediction.terms.blocking == pytest.approx((10 - deferrable) * 4 * MS)


def test_site_that_cannot_be_held_gains_nothing() -> None:
    """However long its slack: its time is stock's, and there is nothing to try."""
    held = make_site("MPI_Allreduce", 10, 4 * MS, slack=make_slack(10, 8 * MS))
    unheld = replace(held, deferrable_count=0, held_count=0, unheld={"memory_neighbours": 10})
    times = []
    for site in (held, unheld):
        profile = make_job(*(make_rank(rank, 100 * MS, site) for rank in range(2)))
        times.append((predict(profile, Way.STOCK).expected_ns, predict(profile, Way.DEFERRED)))
    assert times[0][1].expected_ns == pytest.approx(times[0][0] - 40 * MS)
    assert times[1][1].expected_ns == times[1][0]
    assert (times[1][1].alpha, times[1][1].terms.cost) == (0, 0)


@pytest.mark.parametrize(
    ("function", "alpha"),
    [
        ("MPI_Allreduce", 1.0),
        ("PMPI_Alltoallv_c", 1.0),
        ("MPI_Neighbor_alltoall", 0.0),
        ("MPI_Barrier", 0.0),
        ("MPI_Ssend", 0.0),
        ("MPI_Bsend", 0.0),
    ],
)
def test_what_lapwing_passes_is_not_deferred(function: str, alpha: float) -> None:
    site = make_site(function, 10, 4 * MS, slack=make_slack(10, 8 * MS))
    assert predict(make_job(make_rank(0, 100 * MS, site)), Way.DEFERRED).alpha == alpha


@pytest.mark.parametrize(("rank_count", "is_certain"), [(2, True), (3, False)])
def test_sums_of_many_ranks_may_be_passed(rank_count: int, is_certain: bool) -> None:
    site = make_site("MPI_Allreduce", 10, 4 * MS, slack=make_slack(10, 8 * MS))
    ranks = [make_rank(rank, 100 * MS, site) for rank in range(rank_count)]
    prediction = predict(make_job(*ranks), Way.DEFERRED)
    effects = {effect.name: effect.high_ns for effect in prediction.effects}
    assert prediction.terms.blocking == pytest.approx(0)
    assert effects.get("reductions whose order matters", 0) == pytest.approx(0 if is_certain else 40 * MS)


@pytest.mark.parametrize(("ordered", "alpha"), [(0, 1.0), (10, 0.0)])
def test_reductions_that_the_profile_knows_leave_no_doubt(ordered: int, alpha: float) -> None:
    site = replace(make_site("MPI_Allreduce", 10, 4 * MS, slack=make_slack(10, 8 * MS)), ordered_count=ordered)
    prediction = predict(make_job(*(make_rank(rank, 100 * MS, site) for rank in range(3))), Way.DEFERRED)
    assert prediction.alpha == alpha
    assert all(effect.high_ns == 0 for effect in prediction.effects if effect.name == "reductions whose order matters")


@pytest.mark.parametrize(("function", "gain"), [("MPI_Bcast", 7 / 8), ("MPI_Alltoallv", 0.0), ("MPI_Recv", 0.0)])
def test_pieces_that_are_used_in_order_are_in_the_interval(function: str, gain: float) -> None:
    """1 MiB in 8 pieces: of what the slack does not hold, all but the first may hide behind the touch."""
    site = make_site(function, 10, 4 * MS, slack=make_slack(10, 0))
    prediction = predict(make_job(make_rank(0, 100 * MS, site)), Way.DEFERRED)
    effect = next(effect for effect in prediction.effects if effect.name == "collectives used piece by piece")
    assert prediction.terms.blocking == pytest.approx(40 * MS)
    assert effect.low_ns == pytest.approx(-10 * gain * 4 * MS)


@pytest.mark.parametrize(
    ("size_bytes", "parts"), [(1, 1), (256 << 10, 2), (2 << 20, 16), (31 * (128 << 10), 31), (64 << 20, 31)]
)
def test_first_piece_of_a_large_collective_is_half_as_long(size_bytes: int, parts: int) -> None:
    assert share_first_piece("MPI_Bcast", size_bytes) == pytest.approx(1 / parts)
    assert share_first_piece("MPI_Allgatherv", size_bytes) == pytest.approx(1 / parts)
    assert share_first_piece("MPI_Recv", size_bytes) == 1


def test_large_calls_are_the_deferrable_ones() -> None:
    """Six of ten calls are large; five may be deferred: none of the small ones."""
    sizes = (
        SizeBucket(21, 6, 6 * SIZE, 6 * 4 * MS, 4 * MS),
        SizeBucket(18, 4, 4 << 17, 4 * MS, MS),
    )
    site = replace(make_site("MPI_Recv", 10, 2_800_000, MS, make_slack(10, 8 * MS)), sizes=sizes, deferrable_count=5)
    prediction = predict(make_job(make_rank(0, 100 * MS, site)), Way.DEFERRED)
    assert prediction.terms.blocking == pytest.approx(4 * MS + 4 * MS)


def test_transfers_beside_other_calls_are_in_the_interval_only() -> None:
    """1 ms of computation and 9 ms of other MPI calls lie between start and wait."""
    wait = make_site("MPI_Wait", 10, 5 * MS, least_ns=5 * MS, slack=make_slack(10, MS, wall_ns=10 * MS))
    prediction = predict(make_job(make_rank(0, 100 * MS, wait)), Way.EVENTS)
    effect = next(effect for effect in prediction.effects if effect.name == "transfers beside other transfers")
    assert prediction.terms.waits == pytest.approx(40 * MS)
    assert effect.low_ns == pytest.approx(-40 * MS)


def test_transfer_that_takes_processor_time_stretches_the_computation() -> None:
    """4 ms of transfer cost 1 ms of processor time: 3 ms hide, and the computation takes 1 ms longer."""
    site = make_site("MPI_Wait", 10, 4 * MS, slack=make_slack(10, 8 * MS))
    profile = make_job(make_rank(0, 100 * MS, site))
    study = study_profile(profile)
    setup = replace(study.setup, cpu_ns_per_byte=MS / SIZE)
    events = predict(profile, Way.EVENTS, setup)
    assert events.expected_ns == pytest.approx(110 * MS)
    changed = replace(study, predictions={**study.predictions, Way.EVENTS: events})
    rows = {row.name: row for row in compare_run(changed, profile, Way.EVENTS).rows}
    assert rows[COMPUTATION].predicted_ns == pytest.approx(110 * MS)
    assert rows["waits"].predicted_ns == pytest.approx(0, abs=1)


def test_costs_are_the_engines_own_where_it_ran() -> None:
    rank = make_rank(0, 100 * MS, make_site("MPI_Recv", 10, MS))
    profile = make_job(replace(rank, engine=Engine(cpu_ns=600, hold_ns=500, ops=10, bytes_total=1000)))
    byte_ns, hold_ns = measure_costs(profile)
    assert (byte_ns.low, byte_ns.expected, byte_ns.high) == (0.6, 0.6, 1.2)
    assert hold_ns.expected == 50
    assert measure_costs(make_job(rank)) == (CPU_NS_PER_BYTE, HOLD_NS)
    assert measure_costs(replace(profile, link=Link(0.0, 1e9, 0.1)))[0].expected == 0.1


def test_calibration_with_one_run_each_is_believed() -> None:
    profile = make_job(make_rank(0, 100 * MS, make_site("MPI_Recv", 10, MS)))
    calibrated = replace(profile, calibration=Calibration(16, (100,), (104,)))
    assert make_setup(calibrated).computation_ratio == pytest.approx(1.04)


def test_paper_takes_least_times_and_mean_counts() -> None:
    ranks = (
        make_rank(0, 90 * MS, make_site("MPI_Wait", 10, MS, 7_000)),
        make_rank(1, 80 * MS, make_site("MPI_Wait", 20, MS, 9_000)),
    )
    parameters = derive_parameters(make_job(*ranks), 16)
    assert parameters.wait_min_s == pytest.approx(7e-6)
    assert parameters.wait_count == 15
    assert parameters.computation_s == pytest.approx(0.085)


def find_assumption(profile: JobProfile, words: str) -> Assumption:
    """Return the assumption whose claim has these words."""
    return next(a for a in study_profile(profile).assumptions if words in a.claim)


@pytest.mark.parametrize("cores", [16, 1])
@pytest.mark.parametrize(("slack_ns", "holds"), [(8 * MS, True), (MS, False), (0, False)])
def test_verdict_on_computation_between_start_and_wait(slack_ns: int, holds: bool, cores: int) -> None:
    wait = make_site("MPI_Wait", 10, 4 * MS, slack=make_slack(10, slack_ns))
    assert find_assumption(make_job(make_rank(0, 100 * MS, wait), cores=cores), "enough computation").holds is holds


def test_verdict_on_unmeasured_slack_is_open() -> None:
    profile = make_job(make_rank(0, 100 * MS, make_site("MPI_Wait", 10, 4 * MS)))
    assert find_assumption(profile, "enough computation").holds is None
    assert find_assumption(profile, "slack of blocking calls").holds is False


@pytest.mark.parametrize(("least_ns", "holds"), [(3 * MS, True), (MS, False)])
def test_verdict_on_late_peers(least_ns: int, holds: bool) -> None:
    profile = make_job(make_rank(0, 100 * MS, make_site("MPI_Recv", 10, 3 * MS, least_ns)))
    assert find_assumption(profile, "not for late peers").holds is holds


@pytest.mark.parametrize(("hosts", "holds"), [(("a", "b"), True), (("a", "a"), False), (("a", ""), None)])
def test_verdict_on_ranks_per_host(hosts: tuple[str, str], holds: bool | None) -> None:
    site = make_site("MPI_Recv", 10, MS)
    ranks = [replace(make_rank(number, 100 * MS, site), host=host) for number, host in enumerate(hosts)]
    assert find_assumption(make_job(*ranks), "one rank per host").holds is holds


@pytest.mark.parametrize(("reduced_ns", "holds"), [(107, True), (100, False)])
def test_verdict_on_scaling(reduced_ns: int, holds: bool) -> None:
    profile = make_job(make_rank(0, 100 * MS, make_site("MPI_Recv", 10, MS)))
    calibrated = replace(profile, calibration=Calibration(16, (100,), (reduced_ns,)))
    assert find_assumption(calibrated, "N / (N - 1)").holds is holds
    assert find_assumption(profile, "N / (N - 1)").holds is None


@pytest.mark.parametrize(("cores", "holds"), [(4, True), (8, True), (64, None)])
def test_what_a_sweep_did_not_run_is_not_called_measured(cores: int, holds: bool | None) -> None:
    profile = make_job(make_rank(0, 100 * MS, make_site("MPI_Recv", 10, MS)))
    swept = change_cores(replace(profile, scaling=Sweep((1, 2, 8), ((800,), (400,), (100,)))), cores)
    found = find_assumption(swept, "N / (N - 1)")
    assert found.holds is holds
    assert "by the fit of 1 to 8 threads" in found.evidence
    assert "measured" not in found.evidence


def test_a_calibration_of_other_cores_is_told() -> None:
    profile = make_job(make_rank(0, 100 * MS, make_site("MPI_Recv", 10, MS)), cores=4)
    calibrated = replace(profile, calibration=Calibration(4, (100,), (150,)))
    found = find_assumption(change_cores(calibrated, 8), "N / (N - 1)")
    assert (found.holds, found.evidence) == (None, "the calibration is of 4 cores")
    assert take_fitted_run(calibrated) is not None
    assert take_fitted_run(change_cores(calibrated, 8)) is None


def test_ratio_in_the_verdict_is_the_models() -> None:
    """Also of an even number of runs, whose median lies between two of them."""
    profile = make_job(make_rank(0, 100 * MS, make_site("MPI_Recv", 10, MS)))
    calibrated = replace(profile, calibration=Calibration(16, (100, 120), (110, 154)))
    assert make_setup(calibrated).computation_ratio == pytest.approx(1.2)
    assert "measured 1.200" in find_assumption(calibrated, "N / (N - 1)").evidence
    unusable = replace(profile, calibration=Calibration(16, (0,), (110,)))
    assert find_assumption(unusable, "N / (N - 1)").holds is None


@pytest.mark.parametrize(("least_ns", "holds"), [(90_000, True), (2 * MS, False)])
def test_verdict_on_the_fastest_wait(least_ns: int, holds: bool) -> None:
    profile = make_job(make_rank(0, 100 * MS, make_site("MPI_Wait", 10, 3 * MS, least_ns)))
    assert find_assumption(profile, "the fastest wait").holds is holds


def test_verdict_on_the_profiled_run() -> None:
    profile = make_job(make_rank(0, 100 * MS, make_site("MPI_Recv", 10, MS)))
    assert find_assumption(profile, "no progress in the background").holds is True
    assert find_assumption(replace(profile, way=Way.DEFERRED), "no progress in the background").holds is False
    assert find_assumption(replace(profile, source=Source.MPIP), "no progress in the background").holds is None


def test_verdict_on_threads() -> None:
    rank = make_rank(0, 100 * MS, make_site("MPI_Recv", 10, MS))
    assert find_assumption(make_job(rank), "one thread").holds is True
    assert find_assumption(make_job(replace(rank, has_threaded_calls=True)), "one thread").holds is False


def test_verdict_on_contention_is_the_users() -> None:
    profile = make_job(make_rank(0, 100 * MS, make_site("MPI_Wait", 10, MS)))
    assert find_assumption(profile, "competes").holds is None
    judged = study_profile(profile, wait_contention=1.07).assumptions
    assert next(a for a in judged if "competes" in a.claim).holds is False
