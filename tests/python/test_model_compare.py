# SPDX-License-Identifier: MIT
"""Predicted against achieved: numbers that add up, and findings that name what the paper's authors saw."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from model_simulation import profile_programs
from rich.console import Console
from test_model_refined import (
    CHARACTERS,
    Character,
    blocking_with_slack,
    bundled,
    imbalanced,
    make_programs,
    overlapping,
)

from lapwing.model.comparison import UNEXPLAINED, Comparison, compare_run
from lapwing.model.profile import FunctionStatistics, JobProfile, Moments, RankProfile, SiteStatistics, Source, Way
from lapwing.model.study import Study, study_profile
from lapwing.report.comparison import encode_comparison, find_in_comparison, print_comparison
from lapwing.report.findings import find_in_profile

SIZE = 1 << 20


def compare(character: Character, way: Way, change: Callable[[JobProfile], JobProfile]) -> tuple[Comparison, Study]:
    """Compare a simulated run, changed, with the prediction from the stock run."""
    programs = make_programs(character, SIZE)
    study = study_profile(profile_programs(programs), threshold_bytes=1)
    return compare_run(study, change(profile_programs(programs, way, ratio=16 / 15)), way), study


def keep(profile: JobProfile) -> JobProfile:
    """Change nothing."""
    return profile


def list_kinds(result: tuple[Comparison, Study]) -> list[str]:
    """Return what is found."""
    return [finding.kind for finding in find_in_comparison(*result)]


def stretch(function: str, factor: float) -> Callable[[JobProfile], JobProfile]:
    """Return a change that makes one function take longer, and the ranks as much."""

    def scale(moments: Moments) -> Moments:
        return Moments(moments.count, *(round(v * factor) for v in (moments.total, moments.minimum, moments.maximum)))

    def change_rank(rank: RankProfile) -> RankProfile:
        added_ns = sum(f.time.total for f in rank.functions if f.function == function) * (factor - 1)
        return replace(
            rank,
            elapsed_ns=round(rank.elapsed_ns + added_ns),
            functions=tuple(replace(f, time=scale(f.time)) if f.function == function else f for f in rank.functions),
            sites=tuple(replace(s, time=scale(s.time), sizes=()) if s.function == function else s for s in rank.sites),
        )

    return lambda profile: replace(profile, ranks=tuple(change_rank(rank) for rank in profile.ranks))


@pytest.mark.parametrize("way", [Way.STOCK, Way.EVENTS, Way.DEDICATED, Way.DEFERRED, Way.REWRITTEN])
@pytest.mark.parametrize("character", CHARACTERS)
def test_predicted_terms_add_up_to_the_predicted_time(character: Character, way: Way) -> None:
    comparison, _ = compare(character, way, keep)
    assert sum(row.predicted_ns for row in comparison.rows) == pytest.approx(
        comparison.prediction.expected_ns, rel=1e-6
    )
    assert sum(row.achieved_ns for row in comparison.rows) == pytest.approx(comparison.achieved_ns, rel=1e-6)
    assert sum(row.before_ns for row in comparison.rows) == pytest.approx(comparison.before_ns, rel=1e-6)


@pytest.mark.parametrize("character", CHARACTERS)
def test_run_that_went_as_predicted_is_within_the_interval(character: Character) -> None:
    comparison, _ = compare(character, Way.DEDICATED, keep)
    assert comparison.is_inside
    for row in comparison.rows:
        assert row.predicted_ns == pytest.approx(row.achieved_ns, abs=0.03 * comparison.achieved_ns)


def test_call_sites_meet_their_predictions() -> None:
    comparison, _ = compare(blocking_with_slack, Way.DEFERRED, keep)
    assert {row.place for row in comparison.sites} == {"send.c:1", "recv.c:1"}
    for row in comparison.sites:
        assert row.before_ns > 100 * row.achieved_ns
        assert row.predicted_ns < 0.2 * row.before_ns


def test_waits_that_grow_are_called_contention() -> None:
    """MiniMD, third case: 4.19 s without progress, 8.69 s with a dedicated core."""
    comparison, study = compare(bundled, Way.DEDICATED, stretch("MPI_Waitall", 8.69 / 4.19))
    texts = [f.text for f in find_in_comparison(comparison, study) if f.kind == "contention in waits"]
    assert len(texts) == 1
    assert "2.07 times as long" in texts[0]


def test_waits_that_stay_without_progress_are_not_called_contention() -> None:
    assert "contention in waits" not in list_kinds(compare(bundled, Way.STOCK, stretch("MPI_Waitall", 3.0)))
    assert "contention in waits" not in list_kinds(compare(overlapping, Way.EVENTS, keep))


def test_overlap_that_did_not_come_is_named() -> None:
    programs = make_programs(overlapping, SIZE)
    study = study_profile(profile_programs(programs))
    comparison = compare_run(study, profile_programs(programs), Way.EVENTS)
    assert not comparison.is_inside
    assert "overlap below the prediction" in list_kinds((comparison, study))


def test_nonblocking_calls_without_computation_are_named() -> None:
    """NAS BT-MZ."""
    comparison, study = compare(bundled, Way.DEDICATED, keep)
    texts = [f.text for f in find_in_comparison(comparison, study) if f.kind == "nothing to overlap"]
    assert len(texts) == 1
    assert "exchange.c:1" in texts[0]


def add_tests(count: int) -> Callable[[JobProfile], JobProfile]:
    """Return a change that adds tests of 20 us each: Kripke."""

    def change_rank(rank: RankProfile) -> RankProfile:
        time = Moments(count, count * 20_000, 15_000, 25_000)
        return replace(
            rank,
            elapsed_ns=rank.elapsed_ns + time.total,
            functions=(*rank.functions, FunctionStatistics("MPI_Testany", time)),
            sites=(*rank.sites, SiteStatistics("MPI_Testany", time, file="sweep.c", line=9)),
        )

    return lambda profile: replace(profile, ranks=tuple(change_rank(rank) for rank in profile.ranks))


def test_tests_that_drop_could_go() -> None:
    """VI-B: with a dedicated core Kripke tests less often, and need not test at all."""
    programs = make_programs(overlapping, SIZE)
    study = study_profile(add_tests(10_000)(profile_programs(programs)))
    after = add_tests(4_000)(profile_programs(programs, Way.DEDICATED, 16 / 15))
    result = compare_run(study, after, Way.DEDICATED), study
    texts = [f.text for f in find_in_comparison(*result) if f.kind == "tests could go"]
    assert len(texts) == 1
    assert "from 10,000 to 4,000" in texts[0]


def test_tests_that_stay_may_wait_for_a_peer() -> None:
    """A rank that polls for a late message needs its tests: a profile does not tell them from those for progress."""
    programs = make_programs(overlapping, SIZE)
    study = study_profile(add_tests(10_000)(profile_programs(programs)))
    result = compare_run(study, add_tests(10_000)(profile_programs(programs, Way.EVENTS)), Way.EVENTS), study
    texts = [f.text for f in find_in_comparison(*result) if f.kind == "tests could go"]
    assert len(texts) == 1
    assert "those that are there for progress could go" in texts[0]


def slow(profile: JobProfile) -> JobProfile:
    """Let the ranks compute for longer."""
    ranks = tuple(replace(rank, elapsed_ns=round(1.2 * rank.elapsed_ns)) for rank in profile.ranks)
    return replace(profile, ranks=ranks)


def test_computation_that_scales_otherwise_is_named() -> None:
    assert "computation" in list_kinds(compare(bundled, Way.DEDICATED, slow))
    assert "computation" not in list_kinds(compare(bundled, Way.DEDICATED, keep))


def hurry(profile: JobProfile) -> JobProfile:
    """Let the ranks compute for a shorter time."""
    ranks = tuple(replace(rank, elapsed_ns=round(0.9 * rank.elapsed_ns)) for rank in profile.ranks)
    return replace(profile, ranks=ranks)


@pytest.mark.parametrize(
    ("change", "way", "cause"),
    [
        (slow, Way.STOCK, "the way to run does not explain that"),
        (slow, Way.DEFERRED, "sharing a core with Lapwing costs more"),
        (slow, Way.DEDICATED, "giving up a core costs more"),
        (hurry, Way.STOCK, "the way to run does not explain that"),
        (hurry, Way.DEFERRED, "sharing a core with Lapwing costs less than assumed"),
        (hurry, Way.DEDICATED, "giving up a core costs less"),
    ],
)
def test_only_a_run_that_gave_a_core_up_has_lost_one(
    change: Callable[[JobProfile], JobProfile], way: Way, cause: str
) -> None:
    texts = [f.text for f in find_in_comparison(*compare(bundled, way, change)) if f.kind == "computation"]
    assert len(texts) == 1
    assert cause in texts[0]
    assert ("giving up a core" in texts[0]) == (way is Way.DEDICATED)


def thread(profile: JobProfile) -> JobProfile:
    """Return the profile of the same calls by three threads, which are in MPI at once."""
    ranks = (replace(r, elapsed_ns=r.elapsed_ns // 3, has_threaded_calls=True) for r in profile.ranks)
    return replace(profile, ranks=tuple(ranks))


def test_times_that_add_up_over_threads_are_not_compared(capsys: pytest.CaptureFixture[str]) -> None:
    profile = replace(thread(profile_programs(make_programs(blocking_with_slack, SIZE))), cores_per_rank=1)
    study = study_profile(profile)
    comparison = compare_run(study, profile, Way.STOCK)
    print_comparison(comparison, study, Console(width=200))
    printed = capsys.readouterr().out
    assert "several threads of a rank called MPI" in printed
    assert "MPI_Recv" not in printed
    assert "blocking calls" not in printed
    assert list_kinds((comparison, study)) == ["total", "several threads"]
    document = encode_comparison(comparison, study)
    assert (document["terms"], document["sites"]) == ({}, [])


def test_papers_prediction_stands_beside_a_dedicated_core_only() -> None:
    assert compare(bundled, Way.DEDICATED, keep)[0].paper_ns is not None
    assert compare(bundled, Way.DEFERRED, keep)[0].paper_ns is None


def test_profile_of_uneven_work_says_so() -> None:
    study = study_profile(profile_programs(make_programs(imbalanced, 1 << 10)))
    assert "imbalance" in [finding.kind for finding in find_in_profile(study)]


def test_blocking_calls_with_slack_are_found_with_their_place() -> None:
    study = study_profile(profile_programs(make_programs(blocking_with_slack, SIZE)))
    found = [finding for finding in find_in_profile(study) if finding.kind == "blocking call with slack"]
    assert len(found) == 2
    assert any("recv.c:1" in finding.text for finding in found)


def test_ranks_that_end_early_without_waiting_are_accounted_for() -> None:
    """No wait and no blocking call: what the shorter rank does not take up is a line of its own."""
    time = Moments(10, 10_000, 1000, 1000)
    functions = (FunctionStatistics("MPI_Test", time),)
    ranks = tuple(RankProfile(number, elapsed_ns, functions) for number, elapsed_ns in enumerate((1_000_000, 600_000)))
    profile = JobProfile(Source.DOCUMENT, ranks, cores_per_rank=16)
    comparison = compare_run(study_profile(profile), profile, Way.EVENTS)
    assert sum(row.predicted_ns for row in comparison.rows) == pytest.approx(1_000_000)
    assert next(row for row in comparison.rows if row.name == UNEXPLAINED).predicted_ns == pytest.approx(200_000)


def test_hidden_waits_are_told_per_rank() -> None:
    study = study_profile(profile_programs(make_programs(overlapping, 1 << 20)))
    found = [f for f in find_in_profile(study) if f.kind == "overlap without progress"]
    assert re.search(
        r"waits \S+ \S+ per rank for data \(\S+ \S+ per call\).* would hide \S+ \S+ per rank$", found[0].text
    )
