# SPDX-License-Identifier: MIT
"""The refined model against simulated runs of programs of known character, and against measured ones."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median

import pytest
from model_simulation import Program, Step, measure_programs, profile_programs

from lapwing.model.profile import (
    Calibration,
    FunctionStatistics,
    JobProfile,
    Moments,
    RankProfile,
    SiteStatistics,
    SizeBucket,
    Slack,
    SlackBucket,
    Source,
    Way,
)
from lapwing.model.refined import Prediction, find_rewrite_cost_ns, predict_ways
from lapwing.model.setup import Setup, make_setup

ROUNDS = 40
SIZES = (1 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20)
COMPUTE_NS = 8e6
Programs = Sequence[Program]


def jitter(generator: random.Random, time_ns: float) -> float:
    """Return a computation time that varies by a few percent."""
    return time_ns * generator.uniform(0.97, 1.03)


def overlapping(size: int, rank: int, generator: random.Random) -> Program:
    """Start, compute, wait: what nonblocking calls are for."""
    steps: list[Step] = []
    for number in range(ROUNDS):
        own, other = 2 * number + rank, 2 * number + 1 - rank
        steps += [
            Step("isend", "halo.c", messages=(own,), size_bytes=size),
            Step("irecv", "halo.c", messages=(other,), size_bytes=size),
            Step("compute", time_ns=jitter(generator, COMPUTE_NS)),
            Step("wait", "halo.c", messages=(own, other)),
            Step("compute", time_ns=jitter(generator, COMPUTE_NS / 2)),
        ]
    return steps


def bundled(size: int, rank: int, generator: random.Random) -> Program:
    """Start many, wait at once: NAS BT-MZ."""
    steps: list[Step] = []
    for number in range(ROUNDS):
        own = [8 * number + 2 * part + rank for part in range(4)]
        other = [8 * number + 2 * part + 1 - rank for part in range(4)]
        steps += [Step("isend", "exchange.c", messages=(n,), size_bytes=size) for n in own]
        steps += [Step("irecv", "exchange.c", messages=(n,), size_bytes=size) for n in other]
        steps += [Step("wait", "exchange.c", messages=(*own, *other))]
        steps += [Step("compute", time_ns=jitter(generator, COMPUTE_NS))]
    return steps


def one_way(size: int, rank: int, generator: random.Random, work: tuple[float, float], lead: float = 1.0) -> Program:
    """Blocking messages, one a round, in turn; work between return and touch, and after it."""
    steps: list[Step] = []
    for number in range(ROUNDS):
        verb = "send" if number % 2 == rank else "recv"
        steps += [
            Step(verb, f"{verb}.c", messages=(number,), size_bytes=size),
            Step("compute", time_ns=lead * jitter(generator, work[0])),
            Step("touch", messages=(number,)),
            Step("compute", time_ns=lead * jitter(generator, work[1])),
        ]
    return steps


def blocking_with_slack(size: int, rank: int, generator: random.Random) -> Program:
    """Blocking messages whose data is not needed at once."""
    return one_way(size, rank, generator, (COMPUTE_NS, COMPUTE_NS / 4))


def blocking_without_slack(size: int, rank: int, generator: random.Random) -> Program:
    """Blocking messages that are used at once."""
    return one_way(size, rank, generator, (0.0, COMPUTE_NS))


def imbalanced(size: int, rank: int, generator: random.Random) -> Program:
    """Rank 1 has twice the work: rank 0's waiting is not for data."""
    return one_way(size, rank, generator, (COMPUTE_NS / 2, COMPUTE_NS / 2), lead=1.0 + rank)


def many_small(size: int, rank: int, generator: random.Random) -> Program:
    """Sixteen small messages a round: the calls themselves count."""
    steps: list[Step] = []
    for number in range(ROUNDS):
        for part in range(16):
            verb = "send" if (number + part) % 2 == rank else "recv"
            steps += [Step(verb, "small.c", messages=(16 * number + part,), size_bytes=min(size, 2048))]
            steps += [Step("touch", messages=(16 * number + part,))]
        steps += [Step("compute", time_ns=jitter(generator, COMPUTE_NS / 8))]
    return steps


def exchange(size: int, rank: int, generator: random.Random, sites: int) -> Program:
    """Four messages, then work, the touch of all of them, and more work."""
    steps: list[Step] = []
    for number in range(ROUNDS):
        messages = [4 * number + part for part in range(4)]
        for part, message in enumerate(messages):
            verb = "send" if part % 2 == rank else "recv"
            steps += [Step(verb, f"halo {part % sites}", messages=(message,), size_bytes=size)]
        steps += [
            Step("compute", time_ns=jitter(generator, COMPUTE_NS)),
            Step("touch", messages=tuple(messages)),
            Step("compute", time_ns=jitter(generator, 3 * COMPUTE_NS)),
        ]
    return steps


def halo(size: int, rank: int, generator: random.Random) -> Program:
    """Blocking calls one after the other: the same work lies between each of them and its touch."""
    return exchange(size, rank, generator, sites=4)


def loop(size: int, rank: int, generator: random.Random) -> Program:
    """The same, made by one send and one receive in a loop."""
    return exchange(size, rank, generator, sites=1)


CHARACTERS = (overlapping, bundled, blocking_with_slack, blocking_without_slack, imbalanced, many_small, halo, loop)
Character = Callable[[int, int, random.Random], Program]


def make_programs(character: Character, size: int) -> Programs:
    """Return the programs of two ranks."""
    return [character(size, rank, random.Random(f"{character.__name__} {size} {rank}")) for rank in range(2)]


def make_ideal_setup(profile: JobProfile) -> Setup:
    """Return a setup for the simulation, which charges neither processor time nor holds."""
    setup = make_setup(profile, threshold_bytes=1, progress_threshold_bytes=1)
    return replace(setup, cpu_ns_per_byte=0.0, hold_ns=0.0, shares_windows=True, rows_cross=1.0)


def predict(profile: JobProfile, setup: Setup, way: Way) -> Prediction:
    """Predict one way."""
    return predict_ways(profile, setup, [way])[0]


@pytest.mark.parametrize("way", [Way.EVENTS, Way.DEDICATED, Way.DEFERRED, Way.DEFERRED_DEDICATED])
@pytest.mark.parametrize("character", CHARACTERS)
def test_prediction_is_near_the_simulated_run(character: Character, way: Way) -> None:
    errors = []
    for size in SIZES:
        programs = make_programs(character, size)
        profile = profile_programs(programs)
        measured_ns = measure_programs(programs, way, ratio=16 / 15)
        errors.append(abs(predict(profile, make_ideal_setup(profile), way).expected_ns / measured_ns - 1))
    print(character.__name__, way.value, [f"{100 * error:.1f} %" for error in errors])
    assert median(errors) < 0.05
    assert max(errors) < 0.10


@pytest.mark.parametrize("character", [halo, loop])
def test_calls_in_a_row_without_shared_windows_are_mispredicted(character: Character) -> None:
    """What `shares_windows` is for: one computation counted four times, and transfers both ways counted in turn."""
    errors = {}
    for size in SIZES:
        programs = make_programs(character, size)
        profile = profile_programs(programs)
        alone = replace(make_ideal_setup(profile), shares_windows=False, rows_cross=0.0)
        predicted_ns = predict(profile, alone, Way.DEFERRED).expected_ns
        errors[size] = predicted_ns / measure_programs(programs, Way.DEFERRED) - 1
    print(character.__name__, {size: f"{100 * error:+.1f} %" for size, error in errors.items()})
    assert errors[1 << 20] < -0.10  # too short
    assert errors[4 << 20] > 0.30  # too long


@pytest.mark.parametrize("character", CHARACTERS)
@pytest.mark.parametrize("size", SIZES)
def test_stock_terms_add_up_to_the_measured_time(character: Character, size: int) -> None:
    profile = profile_programs(make_programs(character, size))
    stock = predict(profile, make_setup(profile), Way.STOCK)
    assert stock.expected_ns == pytest.approx(profile.elapsed_ns, rel=1e-6)
    assert stock.high_ns - stock.low_ns == pytest.approx(0.04 * stock.expected_ns)


@pytest.mark.parametrize("seed", range(12))
def test_interval_holds_the_run_of_a_program_with_uneven_work(seed: int) -> None:
    """Work and slack that vary by the factor of ten leave open which slack meets which transfer."""
    generator = random.Random(seed)
    work = [(generator.expovariate(1 / COMPUTE_NS), generator.expovariate(1 / COMPUTE_NS)) for _ in range(ROUNDS)]
    size = generator.choice(SIZES[2:])

    def make(rank: int) -> list[Step]:
        steps: list[Step] = []
        for number, (first_ns, second_ns) in enumerate(work):
            verb = "send" if number % 2 == rank else "recv"
            steps += [
                Step(verb, "uneven.c", messages=(number,), size_bytes=size),
                Step("compute", time_ns=first_ns),
                Step("touch", messages=(number,)),
                Step("compute", time_ns=second_ns),
            ]
        return steps

    programs = [make(0), make(1)]
    profile = profile_programs(programs)
    measured_ns = measure_programs(programs, Way.DEFERRED)
    prediction = predict(profile, make_ideal_setup(profile), Way.DEFERRED)
    assert prediction.low_ns <= measured_ns <= prediction.high_ns
    assert prediction.high_ns <= profile.elapsed_ns * 1.01


# docs/measurements.md: MPI, rate in bits per second, size, and comm, comp, stock and Lapwing's time in ms.
LAB = [
    ("Open MPI", 1e9, 512 << 10, 7.75, 41.3, 49.2, 42.3),
    ("Open MPI", 1e9, 1 << 20, 16.5, 41.1, 57.3, 43.6),
    ("Open MPI", 1e9, 2 << 20, 34.1, 41.0, 75.0, 45.5),
    ("Open MPI", 1e9, 4 << 20, 69.1, 40.8, 110, 69.9),
    ("Open MPI", 1e9, 8 << 20, 139, 41.1, 180, 140),
    ("MPICH", 1e9, 512 << 10, 7.75, 41.0, 48.8, 42.3),
    ("MPICH", 1e9, 1 << 20, 16.6, 40.9, 57.6, 44.1),
    ("MPICH", 1e9, 2 << 20, 34.2, 41.1, 75.4, 44.6),
    ("MPICH", 1e9, 4 << 20, 69.3, 40.7, 110, 70.2),
    ("MPICH", 1e9, 8 << 20, 139, 40.7, 181, 141),
    ("Open MPI", 5e9, 4 << 20, 13.9, 16.2, 30.2, 21.6),
    ("Open MPI", 5e9, 16 << 20, 56.1, 16.2, 72.8, 57.8),
    ("MPICH", 5e9, 4 << 20, 14.1, 16.2, 30.4, 21.7),
    ("MPICH", 5e9, 16 << 20, 56.3, 16.2, 72.5, 58.7),
]


LAB_REPETITIONS = 18


def profile_lab(size: int, comm_ms: float, comp_ms: float, stock_ms: float) -> JobProfile:
    """Write `lapwing bench overlap` down: a send and a receive in each repetition, each with half of the work."""
    count = LAB_REPETITIONS

    def make_site(function: str) -> SiteStatistics:
        call_ns, work_ns = round((stock_ms - comp_ms) / 2 * 1e6), round(comp_ms / 2 * 1e6)
        return SiteStatistics(
            function,
            Moments(count, count * call_ns, call_ns, call_ns),
            file="overlap.c",
            bytes=Moments(count, count * size, size, size),
            sizes=(SizeBucket(size.bit_length(), count, count * size, count * call_ns, call_ns),),
            slack=Slack(count, (SlackBucket(work_ns.bit_length(), count, count * work_ns),), count * work_ns),
        )

    assert stock_ms == pytest.approx(comm_ms + comp_ms, rel=0.02)
    sites = (make_site("MPI_Send"), make_site("MPI_Recv"))
    functions = tuple(FunctionStatistics(site.function, site.time, site.bytes) for site in sites)
    ranks = [RankProfile(rank, round(count * stock_ms * 1e6), functions, sites, f"h{rank}") for rank in range(2)]
    return JobProfile(Source.DOCUMENT, tuple(ranks), cores_per_rank=1)


def test_deferred_prediction_is_near_the_lab() -> None:
    """Fourteen measured points, with the default costs: 2 % in the median, 8 % where TCP takes most of a core."""
    errors, inside = [], 0
    for name, rate, size, comm_ms, comp_ms, stock_ms, measured_ms in LAB:
        profile = profile_lab(size, comm_ms, comp_ms, stock_ms)
        prediction = predict(profile, make_setup(profile), Way.DEFERRED)
        low_ms, predicted_ms, high_ms = (
            time_ns / 1e6 / LAB_REPETITIONS
            for time_ns in (prediction.low_ns, prediction.expected_ns, prediction.high_ns)
        )
        errors.append(abs(predicted_ms / measured_ms - 1))
        inside += low_ms <= measured_ms <= high_ms
        print(f"{name} {rate:.0e} {size} {measured_ms} predicted {low_ms:.1f} {predicted_ms:.1f} {high_ms:.1f}")
    assert median(errors) < 0.025
    assert max(errors) < 0.08
    assert inside >= len(LAB) - 3


def profile_of(character: Character, size: int = 1 << 20) -> JobProfile:
    """Return the profile of a simulated program."""
    return profile_programs(make_programs(character, size))


def test_nothing_hides_where_there_is_no_computation_between_start_and_wait() -> None:
    profile = profile_of(bundled)
    stock, events = predict_ways(profile, make_ideal_setup(profile), [Way.STOCK, Way.EVENTS])
    assert events.expected_ns == pytest.approx(stock.expected_ns, rel=1e-3)


def test_a_byte_that_costs_its_whole_transfer_hides_nothing() -> None:
    """On shared memory the copy is the transfer: without a spare core nothing can be won."""
    profile = profile_of(overlapping)
    setup = replace(make_setup(profile), cpu_ns_per_byte=8.0 * 1.01)
    stock, events = predict_ways(profile, setup, [Way.STOCK, Way.EVENTS])
    assert events.expected_ns == pytest.approx(stock.expected_ns, rel=1e-3)


def test_waiting_for_a_late_peer_is_no_data_time() -> None:
    profile = profile_of(imbalanced)
    stock = predict(profile, make_ideal_setup(profile), Way.STOCK)
    idle_ns = {o.rank.rank: sum(site.times.idle_ns for site in o.sites) for o in stock.ranks}
    assert idle_ns[0] > 0.3 * profile.elapsed_ns
    assert idle_ns[1] < 0.02 * profile.elapsed_ns


@pytest.mark.parametrize(
    ("rank_count", "matches_first", "is_absorbed"),
    [(2, None, True), (3, None, False), (2, True, False), (3, False, True)],
)
def test_receives_that_are_matched_first_absorb_no_lateness(
    rank_count: int, matches_first: bool | None, is_absorbed: bool
) -> None:
    """They return when their message has been announced: what hides is the transfer."""
    pair = profile_of(imbalanced, 64 << 10)
    ranks = (*pair.ranks, replace(pair.ranks[0], rank=2))[:rank_count]
    profile = replace(pair, ranks=ranks, matches_first=matches_first)
    outcome = next(o for o in predict(profile, make_ideal_setup(profile), Way.DEFERRED).ranks if o.rank.rank == 0)
    receives = [site for site in outcome.sites if site.times.site.function == "MPI_Recv"]
    assert [site.hidden_with_idle_ns > site.hidden_ns for site in receives] == [is_absorbed]


def test_late_peer_time_that_was_measured_is_believed() -> None:
    profile = profile_of(overlapping)
    rank = profile.ranks[0]
    sites = tuple(replace(s, late_peer_ns=s.time.total) if s.function == "MPI_Waitall" else s for s in rank.sites)
    changed = replace(profile, ranks=(replace(rank, sites=sites), *profile.ranks[1:]))
    outcome = next(o for o in predict(changed, make_setup(changed), Way.STOCK).ranks if o.rank.rank == 0)
    assert sum(s.times.data_ns for s in outcome.sites if s.times.site.function == "MPI_Waitall") == 0.0


def test_computation_between_start_and_wait_counts_once() -> None:
    profile = profile_of(overlapping, 4 << 20)
    capped = replace(profile, ranks=tuple(replace(rank, covered_ns=1000) for rank in profile.ranks))
    setup = make_ideal_setup(profile)
    assert predict(capped, setup, Way.EVENTS).expected_ns >= profile.elapsed_ns - 2000


def test_unknown_slack_is_an_interval_not_a_promise() -> None:
    profile = profile_of(overlapping)
    ranks = tuple(
        replace(rank, covered_ns=None, sites=tuple(replace(site, slack=None) for site in rank.sites))
        for rank in profile.ranks
    )
    blind = replace(profile, ranks=ranks)
    known, unknown = (predict(p, make_ideal_setup(p), Way.EVENTS) for p in (profile, blind))
    assert unknown.expected_ns == pytest.approx(profile.elapsed_ns, rel=0.01)
    assert unknown.low_ns <= known.expected_ns <= unknown.high_ns
    assert max(unknown.effects, key=lambda effect: -effect.low_ns).name == "slack not measured"


def test_calls_below_the_threshold_are_not_deferred() -> None:
    profile = profile_of(blocking_with_slack, 4096)
    prediction = predict(profile, replace(make_setup(profile), threshold_bytes=65536), Way.DEFERRED)
    assert prediction.alpha == 0.0
    assert prediction.expected_ns == pytest.approx(profile.elapsed_ns, rel=1e-6)


def test_calls_that_lapwing_would_pass_are_not_deferred() -> None:
    profile = profile_of(blocking_with_slack)
    ranks = tuple(
        replace(rank, sites=tuple(replace(site, deferrable_count=0) for site in rank.sites)) for rank in profile.ranks
    )
    prediction = predict(replace(profile, ranks=ranks), make_setup(profile), Way.DEFERRED)
    assert prediction.alpha == 0.0


def test_hold_that_costs_more_than_it_brings_is_left_out() -> None:
    profile = profile_of(blocking_with_slack)
    prediction = predict(profile, replace(make_setup(profile), hold_ns=1e9), Way.DEFERRED)
    assert prediction.expected_ns == pytest.approx(profile.elapsed_ns, rel=1e-6)


def test_rewriting_chooses_the_calls_with_slack() -> None:
    with_slack, without = (profile_of(c) for c in (blocking_with_slack, blocking_without_slack))
    assert predict(with_slack, make_setup(with_slack), Way.REWRITTEN).alpha == 1.0
    assert predict(without, make_setup(without), Way.REWRITTEN).alpha == 0.0


def test_a_rewrite_costs_a_start_and_a_wait_and_other_calls_are_no_starts() -> None:
    floors_ns = {"MPI_Isend": 30_000.0, "PMPI_Irecv": 20_000.0, "MPI_Wait": 10_000.0}
    others = ("MPI_Iprobe", "MPI_Improbe", "MPI_Initialized", "MPI_Info_create", "MPI_Intercomm_merge")
    assert find_rewrite_cost_ns(floors_ns) == 30_000.0
    assert find_rewrite_cost_ns({**floors_ns, **dict.fromkeys(others, 100.0)}) == 30_000.0


def test_a_single_core_cannot_be_dedicated() -> None:
    profile = replace(profile_of(overlapping), cores_per_rank=1)
    assert "none to give up" in predict(profile, make_setup(profile), Way.DEDICATED).impossible


def test_unknown_number_of_cores_is_named() -> None:
    profile = replace(profile_of(overlapping), cores_per_rank=None)
    assert "--cores" in predict(profile, make_setup(profile), Way.DEDICATED).impossible


def test_calibration_replaces_linear_scaling() -> None:
    calibration = Calibration(16, full_ns=(100, 101, 99), reduced_ns=(100, 103, 102))
    profile = replace(profile_of(overlapping), calibration=calibration)
    prediction = predict(profile, make_setup(profile), Way.DEDICATED)
    computation_ns = max(rank.computation_ns for rank in profile.ranks)
    assert prediction.terms.computation == pytest.approx(1.02 * computation_ns, rel=0.01)


def test_spare_core_costs_the_computation_nothing() -> None:
    profile = replace(profile_of(overlapping), spare_cores=1, cores_per_rank=1)
    prediction = predict(profile, make_setup(profile), Way.DEDICATED)
    assert prediction.terms.computation <= max(rank.computation_ns for rank in profile.ranks)


def test_contention_lengthens_the_waits_that_are_left() -> None:
    """MiniMD, case 3: with another thread polling, the waits took 8.69 s instead of 4.19 s."""
    profile = profile_of(bundled)
    plain, contended = (
        predict(profile, replace(make_ideal_setup(profile), wait_contention=share), Way.DEDICATED)
        for share in (0.0, 8.69 / 4.19 - 1)
    )
    assert contended.terms.waits / plain.terms.waits == pytest.approx(8.69 / 4.19, rel=0.01)


@pytest.mark.parametrize(
    ("character", "share", "error"),
    # Where a wait grows by more than all of what a late peer left to it, ranks that are late in turn become later.
    [(overlapping, 0.25, 0.01), (overlapping, 1.07, 0.06), (bundled, 0.25, 0.01), (bundled, 1.07, 0.01)],
)
def test_contention_is_predicted_as_it_is_simulated(character: Character, share: float, error: float) -> None:
    """Messages that are too long to hide leave waits, in which two threads poll, each on a core of its own."""
    programs = make_programs(character, 4 << 20)
    profile = profile_programs(programs)
    measured_ns, alone_ns = (measure_programs(programs, Way.DEDICATED, 16 / 15, extra) for extra in (share, 0.0))
    setup = make_ideal_setup(profile)
    expected_ns = predict(profile, replace(setup, wait_contention=share), Way.DEDICATED).expected_ns
    assert measured_ns > 1.1 * alone_ns
    assert expected_ns == pytest.approx(measured_ns, rel=error)
    assert predict(profile, setup, Way.DEDICATED).expected_ns == pytest.approx(alone_ns, rel=0.01)


def test_calls_without_a_site_are_not_forgotten() -> None:
    profile = profile_of(overlapping)
    bare = replace(profile, ranks=tuple(replace(rank, sites=()) for rank in profile.ranks))
    terms = predict(bare, make_setup(bare), Way.STOCK).terms
    assert terms.total == pytest.approx(bare.elapsed_ns, rel=1e-6)
    assert terms.waits > 0


def test_slack_that_was_cut_off_may_be_longer() -> None:
    profile = profile_of(blocking_with_slack, 4 << 20)

    def cut(site: SiteStatistics) -> SiteStatistics:
        assert site.slack is not None
        return replace(site, slack=replace(site.slack, censored_count=site.slack.sampled_count))

    ranks = tuple(replace(rank, sites=tuple(map(cut, rank.sites))) for rank in profile.ranks)
    prediction = predict(replace(profile, ranks=ranks), make_ideal_setup(profile), Way.DEFERRED)
    effect = next(effect for effect in prediction.effects if effect.name == "slack watched too briefly")
    assert effect.low_ns < -0.03 * profile.elapsed_ns


def test_calls_of_unknown_size_keep_their_time() -> None:
    """A recorder that ran out of room knows some sizes of a site only."""
    profile = profile_of(blocking_with_slack)

    def halve(site: SiteStatistics) -> SiteStatistics:
        sizes = tuple(replace(b, count=b.count // 2, time_total_ns=b.time_total_ns // 2) for b in site.sizes)
        return replace(site, sizes=sizes)

    ranks = tuple(replace(rank, sites=tuple(map(halve, rank.sites))) for rank in profile.ranks)
    stock = predict(replace(profile, ranks=ranks), make_setup(profile), Way.STOCK)
    assert stock.terms.blocking + stock.terms.imbalance == pytest.approx(
        profile.elapsed_ns - stock.terms.computation, rel=1e-6
    )
    assert sum(site.times.site.time.total for site in stock.ranks[0].sites) == pytest.approx(
        sum(site.times.data_ns + site.times.idle_ns for site in stock.ranks[0].sites), rel=1e-6
    )


def test_lapwing_helps_blocking_and_nonblocking_calls() -> None:
    """`lapwing run` defers blocking calls and keeps nonblocking ones going."""
    profile = profile_of(overlapping)
    setup = make_ideal_setup(profile)
    events, deferred = predict_ways(profile, setup, [Way.EVENTS, Way.DEFERRED])
    assert deferred.expected_ns == events.expected_ns
    without = predict(profile, replace(setup, carries_nonblocking=False), Way.DEFERRED)
    assert without.expected_ns == pytest.approx(profile.elapsed_ns, rel=1e-6)
