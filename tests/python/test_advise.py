# SPDX-License-Identifier: MIT
"""What `lapwing advise` chooses, proves and says, from made-up profiles and times."""

import json
import random
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from io import StringIO
from math import exp
from pathlib import Path

import pytest
from model_simulation import profile_programs
from rich.console import Console
from test_model_reader import find_unknown_fields
from test_model_refined import (
    Character,
    blocking_with_slack,
    blocking_without_slack,
    bundled,
    make_programs,
    overlapping,
)

from lapwing.advise.advice import Advice
from lapwing.advise.build import build_advice
from lapwing.advise.document import SCHEMA, decode_advice, encode_advice, format_advice_schema, read_advice
from lapwing.advise.judge import (
    Outcome,
    choose_best,
    estimate_rounds,
    is_undecided,
    judge_speedups,
    measure_scatter,
)
from lapwing.advise.page import make_advice_page
from lapwing.advise.rounds import Rounds, Run, plan_rounds, run_rounds
from lapwing.advise.show import print_advice
from lapwing.advise.trial import find_problem, is_idle
from lapwing.advise.ways import NOTHING_BESIDE, Beside, Choice, choose_ways, keep_fit, make_flags, make_variables
from lapwing.bench.interval import LOOKS, Interval, bound_median, calculate_chance, find_rank_at_look
from lapwing.bench.measures import summarise
from lapwing.cli import main
from lapwing.errors import RecordError
from lapwing.model.profile import JobProfile, Touch, Way
from lapwing.model.study import Study, study_profile
from lapwing.profile.record import JobRecord, RankRecord
from lapwing.report.summary import format_seconds
from lapwing.report.totals import JobTotals

PROGRAM = "mpirun -n 2 ./solver"


def add_touches(profile: JobProfile) -> JobProfile:
    """Say where the buffers of blocking calls are touched, 3.2 ms after the call."""

    def touch(rank: int) -> tuple[Touch, ...]:
        return (Touch(40, "/src/solver.c", 188, wall_total_ns=40 * 3_200_000),)

    ranks = (
        replace(r, sites=tuple(replace(s, touches=touch(r.rank)) if s.function == "MPI_Recv" else s for s in r.sites))
        for r in profile.ranks
    )
    return replace(profile, ranks=tuple(ranks))


def make_study(character: Character, size: int = 1 << 20, cores: int | None = 1) -> Study:
    """Study a simulated program."""
    profile = add_touches(profile_programs(make_programs(character, size)))
    return study_profile(replace(profile, cores_per_rank=cores, spare_cores=0, calibration=None))


def make_rounds(times: dict[Way, Sequence[float]], is_idle: bool = False) -> Rounds:
    """Pretend that these times were measured."""
    runs = {way: [Run(time_s, is_idle=is_idle) for time_s in sample] for way, sample in times.items()}
    return Rounds(runs, count=len(next(iter(times.values()))))


def sum_ranks(profile: JobProfile) -> JobTotals:
    """Sum up a profile that is in memory."""
    totals = JobTotals({}, world_size=len(profile.ranks))
    for rank in profile.ranks:
        totals.add(rank)
    return totals


def advise(
    study: Study, rounds: Rounds, choice: Choice | None = None, cause: str = "", beside: Beside = NOTHING_BESIDE
) -> Advice:
    """Make an advice."""
    totals = sum_ranks(study.profile)
    chosen = choice or choose_ways(study, beside=beside)
    return build_advice(study, totals, chosen, rounds, {}, PROGRAM, cause=cause, beside=beside)


def show(advice: Advice, width: int = 80) -> str:
    """Print an advice."""
    console = Console(file=StringIO(), width=width)
    print_advice(advice, console)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


@pytest.fixture
def gained() -> Advice:
    """A program that Lapwing makes faster."""
    times = {Way.STOCK: [1.0, 1.1, 1.0, 1.2, 1.0], Way.DEFERRED: [0.7, 0.75, 0.7, 0.8, 0.72]}
    return advise(make_study(blocking_with_slack), make_rounds(times))


def test_blocking_calls_with_slack_are_deferred_and_nothing_else_is_tried() -> None:
    choice = choose_ways(make_study(blocking_with_slack))
    assert choice.tried == (Way.DEFERRED,)
    assert choice.left_out[Way.EVENTS] == "it would change nothing"
    assert "single core" in choice.left_out[Way.DEDICATED]


def test_way_that_is_predicted_to_be_slower_does_not_change_nothing() -> None:
    study = make_study(blocking_without_slack, cores=2)
    assert study.predictions[Way.DEDICATED].expected_ns > 1.3 * study.predictions[Way.STOCK].expected_ns
    assert choose_ways(study).left_out[Way.DEDICATED] == "it is predicted to be slower"


def test_whole_runs_are_compared_before_a_way_is_said_to_change_nothing() -> None:
    """The start of `lapwing run` is a loss where nothing else changes."""
    study = make_study(blocking_without_slack)
    assert choose_ways(study).left_out[Way.EVENTS] == "it would change nothing"
    assert choose_ways(study, beside=Beside(0.1, 0.2)).left_out[Way.EVENTS] == "it is predicted to be slower"
    assert choose_ways(study, beside=Beside(1e4, 0.2)).left_out[Way.EVENTS] == "it would change nothing"


def test_of_two_ways_that_do_the_same_the_simpler_is_tried() -> None:
    choice = choose_ways(make_study(overlapping, cores=8))
    assert Way.DEFERRED in choice.tried
    assert Way.EVENTS not in choice.tried
    assert "no blocking call would be deferred" in choice.left_out[Way.EVENTS]


def test_program_without_slack_is_tried_once_to_check_the_prediction() -> None:
    choice = choose_ways(make_study(blocking_without_slack))
    assert choice.is_check
    assert choice.tried == (Way.DEFERRED,)
    assert Way.DEFERRED not in choice.left_out


def test_wanted_ways_are_tried_whatever_is_predicted() -> None:
    choice = choose_ways(make_study(blocking_without_slack), [Way.EVENTS])
    assert choice.tried == (Way.EVENTS,)
    assert choice.left_out[Way.DEFERRED] == "not asked for"


def test_interval_counts_without_what_any_run_differs_by() -> None:
    study = make_study(blocking_without_slack)
    stock, deferred = study.predictions[Way.STOCK], study.predictions[Way.DEFERRED]
    assert deferred.low_ns < stock.expected_ns
    assert choose_ways(study).is_check


def test_flags_are_those_of_run_with_the_users_own() -> None:
    assert make_flags(Way.DEFERRED, {}) == []
    flags = make_flags(Way.DEDICATED, {"LAPWING_THRESHOLD": "4096"})
    assert sorted(zip(flags[::2], flags[1::2], strict=True)) == [
        ("--collectives", "off"),
        ("--progress", "dedicated"),
        ("--receives", "off"),
        ("--sends", "off"),
        ("--threshold", "4096"),
        ("--waits", "off"),
    ]


def test_flags_of_a_profile_are_not_those_of_run() -> None:
    assert make_flags(Way.DEFERRED, {"LAPWING_PROFILE": "off", "LAPWING_TIMELINE": "0"}) == []


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"LAPWING_PROFILE": "on"}, {"LAPWING_PROFILE": "off"}),
        ({"LAPWING_TIMELINE": "1000"}, {"LAPWING_TIMELINE": "0"}),
        ({"LAPWING_PROGRESS": "dedicated"}, {"LAPWING_PROGRESS": "auto"}),
        ({"LAPWING_PROGRESS": "off"}, {"LAPWING_PROGRESS": "auto"}),
        ({"LAPWING_PROGRESS": "poll", "LAPWING_HOLD": "none"}, {"LAPWING_PROGRESS": "poll", "LAPWING_HOLD": "none"}),
        ({}, {}),
    ],
)
def test_options_that_make_ways_what_they_are_not_are_set_back(given: dict[str, str], kept: dict[str, str]) -> None:
    assert keep_fit(given) == kept
    assert make_variables(Way.DEDICATED, keep_fit(given))["LAPWING_PROGRESS"] == "dedicated"


@pytest.mark.parametrize(
    ("speedups", "outcome"),
    [
        ([1.3, 1.4, 1.35, 1.3, 1.4], Outcome.FASTER),
        ([0.9, 1.4, 1.35, 0.95, 1.4], Outcome.OPEN),
        ([0.99, 1.4, 1.35, 1.3, 1.4], Outcome.OPEN),
        ([1.001, 1.002, 1.003, 1.001, 1.002], Outcome.SAME),
        ([0.8, 0.85, 0.9, 0.8, 0.99], Outcome.SLOWER),
        ([2.0, 2.0, 2.0, 2.0], Outcome.OPEN),
        ([0.99] + 9 * [1.3], Outcome.FASTER),
        ([0.99, 0.99] + 8 * [1.3], Outcome.OPEN),
    ],
)
def test_bounds_of_the_speedup_decide(speedups: list[float], outcome: Outcome) -> None:
    assert judge_speedups(bound_median(speedups)) is outcome


@pytest.mark.parametrize(("rounds", "rank"), [(1, -1), (4, -1), (5, 0), (7, 0), (8, 1), (12, 2)])
def test_single_look_may_be_wrong_once_in_twenty(rounds: int, rank: int) -> None:
    assert find_rank_at_look(rounds, (rounds,)) == rank


def test_all_looks_together_are_wrong_at_most_once_in_twenty() -> None:
    assert sum(calculate_chance(find_rank_at_look(look), look) for look in LOOKS) <= 0.05


def test_noise_alone_looks_like_a_gain_at_most_once_in_twenty() -> None:
    chance = random.Random(1)
    trials = 2000
    claims = 0
    for _ in range(trials):
        # The median is exactly what a gain must be more than.
        sample = [1.01 * exp(chance.gauss(0, 0.05)) for _ in range(LOOKS[-1])]
        claims += any(judge_speedups(bound_median(sample[:look])) is Outcome.FASTER for look in LOOKS)
    assert claims <= 0.05 * trials + 3 * (0.05 * 0.95 * trials) ** 0.5


def test_way_that_changed_nothing_is_never_faster() -> None:
    assert judge_speedups(Interval(1.3, 1.4), is_idle=True) is Outcome.SAME
    assert judge_speedups(Interval(0.9, 1.4), is_idle=True) is Outcome.SAME


def test_more_rounds_are_run_only_where_they_may_change_the_advice() -> None:
    better, worse = {Way.DEFERRED: 1.3, Way.EVENTS: 1.4}, {Way.DEFERRED: 1.3, Way.EVENTS: 1.1}
    outcomes = {Way.DEFERRED: Outcome.FASTER, Way.EVENTS: Outcome.OPEN}
    assert is_undecided(better, outcomes, is_check=False)
    assert not is_undecided(worse, outcomes, is_check=False)
    assert not is_undecided({Way.DEFERRED: 1.3}, {Way.DEFERRED: Outcome.SAME}, is_check=False)
    assert is_undecided({Way.DEFERRED: 1.0}, {Way.DEFERRED: Outcome.OPEN}, is_check=False)
    assert not is_undecided({Way.DEFERRED: 1.0}, {Way.DEFERRED: Outcome.OPEN}, is_check=True)
    assert is_undecided({Way.DEFERRED: 1.1}, {Way.DEFERRED: Outcome.OPEN}, is_check=True)


def test_rounds_that_would_tell_are_estimated() -> None:
    half_as_wide = summarise([1.02, 1.05, 1.05, 1.05, 1.08])
    assert estimate_rounds(half_as_wide, Interval(1.05 / 1.08, 1.05 * 1.08)) == 20  # 8 % around 4 % off: 5 * 2 ** 2
    assert estimate_rounds(summarise([1.3] * 5), Interval(0.9, 1.4)) == 8  # the first that leaves one round out
    assert estimate_rounds(summarise([1.0, 1.01, 1.02]), Interval(0.9, 1.1)) is None
    assert estimate_rounds(summarise([1.01] * 5), Interval(1.01, 1.01)) is None


def test_scatter_of_stock_is_that_of_neighbours() -> None:
    assert measure_scatter([1.0]) == 0
    assert measure_scatter([1.0, 1.1, 1.0, 1.1]) == pytest.approx(0.1)
    assert measure_scatter([1.0, 1.01, 1.02, 1.03]) < 0.011  # a drift


def test_core_is_given_up_only_for_what_others_do_not_reach() -> None:
    proven = {Way.DEFERRED: Interval(1.3, 1.33), Way.DEFERRED_DEDICATED: Interval(1.3, 1.34)}
    close = {Way.DEFERRED: 1.32, Way.DEFERRED_DEDICATED: 1.33}
    assert choose_best(close, proven) is Way.DEFERRED
    far, apart = close | {Way.DEFERRED_DEDICATED: 1.52}, proven | {Way.DEFERRED_DEDICATED: Interval(1.5, 1.55)}
    assert choose_best(far, apart) is Way.DEFERRED_DEDICATED


def test_nothing_is_best_when_nothing_is_proven() -> None:
    assert choose_best({Way.DEFERRED: 1.5}, {}) is None


@pytest.mark.parametrize(("left_s", "rounds"), [(100.0, 5), (23.0, 2), (9.0, 0), (-1.0, 0)])
def test_rounds_fit_into_the_budget(left_s: float, rounds: int) -> None:
    assert plan_rounds(5.0, 2, left_s, 5) == rounds


def needs_no_more(rounds: Rounds) -> bool:
    """The answer is clear."""
    return False


def test_ways_take_turns() -> None:
    order: list[Way] = []

    def make_run(way: Way) -> Run:
        order.append(way)
        return Run(1.0)

    rounds = run_rounds([Way.STOCK, Way.EVENTS, Way.DEFERRED], (2,), make_run, lambda: 100.0, needs_no_more)
    assert order == [Way.STOCK, Way.EVENTS, Way.DEFERRED] * 2
    assert rounds.count == 2


def test_rounds_end_when_another_one_would_not_fit() -> None:
    rounds = run_rounds([Way.STOCK, Way.DEFERRED], (5,), lambda way: Run(10.0), lambda: 19.0, needs_no_more)
    assert (rounds.count, rounds.is_cut) == (1, True)


def test_rounds_go_on_until_a_look_says_that_the_answer_is_clear() -> None:
    looks: list[int] = []

    def needs_more(rounds: Rounds) -> bool:
        looks.append(rounds.count)
        return rounds.count < 4

    rounds = run_rounds([Way.STOCK, Way.DEFERRED], (2, 4, 6), lambda way: Run(1.0), lambda: 100.0, needs_more)
    assert (rounds.count, rounds.is_cut, looks) == (4, False, [2, 4])


def test_interrupted_round_does_not_count() -> None:
    runs = iter([Run(1.0), Run(0.8), Run(1.0), Run(0, is_interrupted=True)])
    rounds = run_rounds([Way.STOCK, Way.DEFERRED], (5,), lambda way: next(runs), lambda: 100.0, needs_no_more)
    assert (rounds.count, rounds.is_interrupted) == (1, True)
    assert [len(sample) for sample in rounds.runs.values()] == [1, 1]


def test_way_that_does_not_work_is_dropped_and_the_others_go_on() -> None:
    def make_run(way: Way) -> Run:
        return Run(1.0, "a rank gave up no core" if way is Way.DEDICATED else "")

    rounds = run_rounds([Way.STOCK, Way.DEFERRED, Way.DEDICATED], (3,), make_run, lambda: 100.0, needs_no_more)
    assert [len(rounds.runs[way]) for way in (Way.STOCK, Way.DEFERRED, Way.DEDICATED)] == [3, 3, 1]
    assert rounds.failed == {Way.DEDICATED: "a rank gave up no core"}


def test_run_without_a_core_given_up_is_no_dedicated_run(rank_record: RankRecord) -> None:
    job = JobRecord({}, [rank_record])
    assert "gave up no core" in find_problem(Way.DEDICATED, job)
    assert find_problem(Way.DEFERRED, job) == ""


def test_verdict_names_command_gain_and_prediction(gained: Advice) -> None:
    assert gained.best is Way.DEFERRED
    assert gained.verdict[0] == f"Use: lapwing run {PROGRAM}"
    assert "1.429 times as fast as stock (median of 5 rounds; at least 1.389 and at most 1.500" in gained.verdict[1]
    assert "predicted" in gained.verdict[1]


def test_verdict_without_gain_keeps_the_program_as_it_is() -> None:
    rounds = make_rounds({Way.STOCK: [1.0, 1.1, 0.9, 1.0, 1.0], Way.DEFERRED: [1.0, 1.1, 0.9, 1.0, 1.0]})
    advice = advise(make_study(blocking_with_slack), rounds)
    assert advice.best is None
    assert advice.command == PROGRAM
    assert advice.verdict[0] == "Leave it as it is: no gain of 1 % or more"
    assert "something that the model does not know" in advice.verdict[2]  # for a gain was predicted


def test_gain_that_noise_hides_is_an_open_question() -> None:
    rounds = make_rounds({Way.STOCK: [1.7, 1.7, 1.7, 1.7, 0.9], Way.DEFERRED: [1.0] * 5})
    advice = advise(make_study(blocking_with_slack), rounds)
    assert advice.best is None
    assert advice.verdict[0] == "Cannot tell whether the gain is 1 % or more"
    assert "at least 0.900" in advice.verdict[1]
    assert advice.verdict[2].startswith("About 8 rounds would tell (--rounds 8")


def test_loss_is_said() -> None:
    rounds = make_rounds({Way.STOCK: [1.0, 1.1, 0.9, 1.0, 1.0], Way.DEFERRED: [1.5, 1.6, 1.4, 1.5, 1.5]})
    advice = advise(make_study(blocking_without_slack), rounds)
    assert advice.verdict[0] == "Leave it as it is: every way that was tried is slower"


def test_open_way_beside_a_refused_one_is_an_open_question() -> None:
    """The refused one has the higher median."""
    times = {Way.STOCK: [1.0] * 5, Way.DEFERRED: [1 / 1.005] * 5, Way.EVENTS: [1.0, 1.0, 1.0, 0.7, 2.0]}
    verdict = advise(make_study(blocking_with_slack), make_rounds(times)).verdict
    assert verdict[0].startswith("Cannot tell")
    assert verdict[1].startswith("progress by events: 1.000 times as fast")


def test_way_that_may_be_faster_still_is_named() -> None:
    times = {Way.STOCK: [1.2] * 20, Way.DEFERRED: [1.0] * 20, Way.EVENTS: [0.8] * 12 + [1.3] * 8}
    verdict = advise(make_study(blocking_with_slack), make_rounds(times)).verdict
    assert verdict[0].startswith("Use: lapwing run")
    assert any(text.startswith("progress by events may be faster still: 1.500") for text in verdict)


def test_ways_that_all_failed_tell_nothing() -> None:
    rounds = make_rounds({Way.STOCK: [1.0], Way.DEFERRED: [1.0]})
    rounds.failed[Way.DEFERRED] = "it was ended after 89 s"
    assert advise(make_study(blocking_with_slack), rounds).verdict[0] == "Cannot tell: no other way could be measured"


def test_thousands_of_rounds_have_bounds() -> None:
    assert bound_median([1.0] * 2000, (2000,)) == Interval(1.0, 1.0)


def test_few_rounds_tell_nothing() -> None:
    rounds = make_rounds({Way.STOCK: [1.0] * 4, Way.DEFERRED: [0.5] * 4})
    verdict = advise(make_study(blocking_with_slack), rounds).verdict
    assert verdict[0].startswith("Cannot tell")
    assert verdict[2].startswith("At least 5 rounds are needed")


def test_hopeless_program_is_told_why() -> None:
    study = make_study(blocking_without_slack)
    advice = advise(study, Rounds(), cause="the budget is too small for one round")
    assert advice.verdict[0] == "Leave it as it is (predicted): no gain of 1 % or more"
    assert "used right away" in advice.verdict[1]
    checked = advise(study, make_rounds({Way.STOCK: [1.0] * 5, Way.DEFERRED: [1.0, 0.98, 1.01, 1.0, 1.0]}))
    assert checked.verdict[0] == "Leave it as it is: no gain was shown, as predicted"
    assert checked.verdict[1].startswith("tried was deferred by Lapwing, 1.000 times as fast")
    assert "used right away" in checked.verdict[2]


def test_small_budget_gives_the_prediction_alone() -> None:
    advice = advise(make_study(blocking_with_slack), Rounds(), cause="the budget is too small for one round")
    assert advice.verdict[0] == "Not measured: the budget is too small for one round"
    assert advice.verdict[1].startswith("Predicted best: deferred by Lapwing")


def slow_down(study: Study, factor: float) -> Study:
    """Pretend that deferring was predicted to take so many times stock's time, though its interval promises a gain."""
    stock_ns = study.predictions[Way.STOCK].expected_ns
    deferred = replace(study.predictions[Way.DEFERRED], expected_ns=factor * stock_ns, low_ns=0.9 * stock_ns)
    return replace(study, predictions={**study.predictions, Way.DEFERRED: deferred})


@pytest.mark.parametrize("factor", [0.995, 1.0, 1.3])
def test_what_is_not_predicted_to_be_faster_is_not_the_predicted_best(factor: float) -> None:
    study = slow_down(make_study(blocking_with_slack), factor)
    choice = Choice((Way.DEFERRED,), {Way.EVENTS: "it would change nothing"})
    verdict = advise(study, Rounds(), choice, cause="interrupted in the first round").verdict
    assert verdict[0] == "Leave it as it is (predicted): no gain of 1 % or more"
    assert verdict[1].startswith(f"the best is deferred by Lapwing, {1 / factor:.3f} times as fast as stock (")
    assert "Not measured: interrupted in the first round" in verdict


def test_speedup_is_held_against_the_predicted_interval() -> None:
    study = make_study(blocking_with_slack)
    deferred = study.predictions[Way.DEFERRED]
    factor = study.profile.elapsed_ns / deferred.expected_ns
    inside = advise(study, make_rounds({Way.STOCK: [3.0] * 3, Way.DEFERRED: [3.0 / factor] * 3}))
    outside = advise(study, make_rounds({Way.STOCK: [3.0] * 3, Way.DEFERRED: [3.0 / (2 * factor)] * 3}))
    found = [next(way for way in a.ways if way.way is Way.DEFERRED).measured for a in (inside, outside)]
    assert [entry.is_inside for entry in found if entry] == [True, False]


def test_what_a_run_takes_beside_the_program_is_part_of_all_times() -> None:
    study = make_study(blocking_with_slack)
    stock_s, deferred_s = (study.predictions[way].expected_ns / 1e9 for way in (Way.STOCK, Way.DEFERRED))
    times = {Way.STOCK: [stock_s + 1.0] * 3, Way.DEFERRED: [deferred_s + 1.5] * 3}
    ways = {way.way: way for way in advise(study, make_rounds(times), beside=Beside(1.0, 0.5)).ways}
    stock, deferred = ways[Way.STOCK].predicted, ways[Way.DEFERRED]
    assert stock is not None
    assert deferred.predicted is not None
    assert deferred.measured is not None
    assert (stock.time_s, deferred.predicted.time_s) == pytest.approx((stock_s + 1.0, deferred_s + 1.5))
    assert deferred.measured.is_inside


def test_gain_beyond_the_interval_is_doubted() -> None:
    rounds = make_rounds({Way.STOCK: [3.0, 3.1, 3.2, 3.0, 3.0], Way.DEFERRED: [1.0] * 5})
    advice = advise(make_study(blocking_with_slack), rounds)
    assert advice.verdict[0] == f"Perhaps: lapwing run {PROGRAM}"
    assert "more than overlap explains" in advice.verdict[2]


def test_gain_of_a_way_that_deferred_nothing_is_noise() -> None:
    rounds = make_rounds({Way.STOCK: [1.5, 1.6, 1.7, 1.5, 1.5], Way.DEFERRED: [1.0] * 5}, is_idle=True)
    advice = advise(make_study(blocking_without_slack), rounds)
    assert advice.verdict[0] == "Leave it as it is: Lapwing finds nothing to defer, as predicted"
    assert any(text.startswith("deferred by Lapwing deferred nothing") for text in advice.verdict)


@pytest.mark.parametrize("deed", ["ops_send", "ops_receive", "ops_collective", "assisted"])
def test_one_deed_of_one_rank_is_not_idle(deed: str, rank_record: RankRecord) -> None:
    nothing = replace(rank_record, counters=dict.fromkeys(rank_record.counters, 0))
    acted = replace(nothing, counters={**nothing.counters, deed: 1})
    assert is_idle(JobRecord({}, [nothing, nothing]))
    assert not is_idle(JobRecord({}, [nothing, acted]))


def test_site_says_where_and_when_it_is_touched(gained: Advice) -> None:
    site = next(site for site in gained.sites if site.function == "MPI_Recv")
    assert "is first touched at solver.c:188, 3.2 ms later" in site.text
    assert site.later_s == pytest.approx(0.0032)
    assert site.touched_at == "solver.c:188"


def test_rewrite_is_advised_only_where_it_brings_more() -> None:
    small = advise(make_study(blocking_with_slack, 32 << 10), Rounds())
    large = advise(make_study(blocking_with_slack), Rounds())
    assert all("below the threshold" in site.text for site in small.sites)
    assert small.sites
    assert all("a rewrite by hand no more" in site.text for site in large.sites)
    assert large.sites


def test_site_that_cannot_be_held_says_why_only_a_rewrite_gains() -> None:
    """None of its calls could return early."""
    profile = make_study(blocking_with_slack).profile
    refused = {"deferrable_count": 0, "held_count": 0, "unheld": {"memory_neighbours": 9}}
    ranks = [replace(rank, sites=tuple(replace(site, **refused) for site in rank.sites)) for rank in profile.ranks]
    sites = advise(study_profile(replace(profile, ranks=tuple(ranks))), Rounds()).sites
    assert all("buffer shares pages with other data (" in site.text for site in sites)
    assert sites
    assert {site.lapwing_gain_s for site in sites} == {0}


def test_waits_without_work_come_before_imbalance() -> None:
    advice = advise(make_study(bundled), Rounds())
    assert advice.verdict[0].startswith("Leave it as it is")
    assert "has nothing to overlap with" in advice.findings[0]
    assert "which could hide" in advice.findings[0]


def test_advice_warns_of_several_threads_in_mpi() -> None:
    profile = make_study(bundled).profile
    assert not advise(study_profile(profile), Rounds()).remarks
    ranks = tuple(replace(rank, has_threaded_calls=True) for rank in profile.ranks)
    assert "add up over threads" in advise(study_profile(replace(profile, ranks=ranks)), Rounds()).remarks[0]


def test_printed_advice_fits_a_screen(gained: Advice) -> None:
    text = show(gained)
    assert len(text.splitlines()) <= 30
    assert f"lapwing run {PROGRAM}" in text
    assert "rewritten by hand" in text


def test_json_is_read_back(gained: Advice, tmp_path: Path) -> None:
    path = tmp_path / "advice.json"
    path.write_text(encode_advice(gained))
    assert read_advice(path) == gained


def test_kept_advice_is_reported_again(gained: Advice, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, page = tmp_path / "advice.json", tmp_path / "page.html"
    path.write_text(encode_advice(gained))
    assert main(["report", str(path)]) == 0
    assert capsys.readouterr().out.startswith(f"Use: lapwing run {PROGRAM}")
    assert main(["report", str(path), "--html", str(page)]) == 0
    assert "Predicted against measured" in page.read_text()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d.update(version=99), "newer Lapwing"),
        (lambda d: d["advice"].update(rank_count="many"), "advice.rank_count is no whole number"),
        (lambda d: d["advice"].pop("verdict"), "lacks verdict"),
        (lambda d: d.update(schema="other"), "is no advice"),
    ],
)
def test_damaged_json_is_refused(gained: Advice, change: Callable[[dict[str, object]], None], words: str) -> None:
    document = json.loads(encode_advice(gained))
    change(document)
    with pytest.raises(RecordError, match=words):
        decode_advice(json.dumps(document), "file")


def test_published_schema_is_current() -> None:
    published = Path(__file__).parents[2] / "docs/advice.schema.json"
    remedy = "python -m lapwing.advise.document > docs/advice.schema.json"
    assert published.read_text("utf-8") == format_advice_schema(), remedy


def test_published_schema_knows_every_field(gained: Advice) -> None:
    schema, document = json.loads(format_advice_schema()), json.loads(encode_advice(gained))
    assert document["schema"] == SCHEMA
    assert find_unknown_fields(document, schema, schema["$defs"]) == []


def test_page_draws_what_was_predicted_and_measured(gained: Advice) -> None:
    page = make_advice_page(replace(gained, verdict=("Use: <b>",)), None)
    assert "&lt;b&gt;" in page
    assert page.count("<svg") == 1
    assert "measured 1.429, bounds 1.389 to 1.500 (720 ms)" in page
    assert re.search(r"predicted \d\.\d{3}, \d\.\d{3} to \d\.\d{3}", page)


def test_page_works_in_a_browser(gained: Advice, tmp_path: Path) -> None:
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("chromium is not installed")
    profile = sum_ranks(make_study(blocking_with_slack).profile)
    script = """<script>{const heads = document.querySelectorAll("#ways th"); heads[0].click(); heads[0].click();
    const names = [...document.querySelectorAll("#ways tbody tr")].map((row) => row.cells[0].textContent);
    document.title = names.join(", ") + "; " + document.querySelectorAll("svg").length; }</script></body>"""
    path = tmp_path / "page.html"
    path.write_text(make_advice_page(gained, profile).replace("</body>", script))
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}", "--dump-dom"]
    answer = subprocess.run([*command, path.as_uri()], capture_output=True, text=True, timeout=300, check=False)
    if answer.returncode != 0:
        pytest.skip("chromium does not start here")
    assert "<title>deferred by Lapwing, rewritten by hand, stock; 4</title>" in answer.stdout


def test_page_draws_the_papers_curve_where_ranks_have_cores() -> None:
    advice = advise(make_study(overlapping, cores=16), Rounds())
    page = make_advice_page(advice, None)
    assert "a dedicated core, alpha 0.5: " in page
    assert len(advice.curve) == 11


def test_rewrite_is_not_credited_with_what_lapwing_would_do() -> None:
    study = make_study(overlapping)  # it has no blocking call to rewrite
    assert study.predictions[Way.REWRITTEN].expected_ns < 0.9 * study.predictions[Way.STOCK].expected_ns
    for beside in (NOTHING_BESIDE, Beside(0.0, 0.5)):
        assert not any("rewrite" in text for text in advise(study, Rounds(), beside=beside).verdict)


def test_rewrite_is_promised_the_time_that_the_table_shows() -> None:
    advice = advise(make_study(blocking_with_slack, 32 << 10), Rounds(), beside=Beside(0.1, 0.002))
    rewritten, stock = ({way.way: way.predicted for way in advice.ways}[way] for way in (Way.REWRITTEN, Way.STOCK))
    assert rewritten is not None
    assert stock is not None
    saved = 1 - rewritten.time_s / stock.time_s
    told = next(text for text in advice.verdict if text.startswith("A rewrite by hand"))
    assert told.endswith(f"{format_seconds(rewritten.time_s)}, {100 * saved:.0f} % less than stock as predicted")


def test_rewrite_runs_under_lapwing_too() -> None:
    advice = advise(make_study(overlapping), Rounds(), beside=Beside(1.0, 0.5))
    rewritten, events = ({way.way: way.predicted for way in advice.ways}[way] for way in (Way.REWRITTEN, Way.EVENTS))
    assert rewritten is not None
    assert events is not None
    assert rewritten.time_s == pytest.approx(events.time_s)  # no call is rewritten


def test_lower_threshold_is_promised_what_a_whole_run_gains() -> None:
    study = study_profile(make_study(overlapping).profile, progress_threshold_bytes=1 << 30)
    assert study.lowered is not None
    stock_s, lowered_s = (p.expected_ns / 1e9 for p in (study.predictions[Way.STOCK], study.lowered.prediction))
    told = next(text for text in advise(study, Rounds(), beside=Beside(1.0, 0.1)).verdict if "Try it" in text)
    assert f"predicted to be {(stock_s + 1.0) / (lowered_s + 1.1):.2f} times as fast" in told
    lost = advise(study, Rounds(), beside=Beside(1.0, stock_s)).verdict
    assert not any("Try it" in text for text in lost)
