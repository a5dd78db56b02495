# SPDX-License-Identifier: MIT
"""Predicted beside measured for real programs: the rows, the page, and what is run next (tests/packages)."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1]))
sys.path.append(str(Path(__file__).resolve().parents[1] / "mpi"))

from packages.predicted_programs import Size, list_programs, make_scalapack_input
from packages.predicted_results import (
    SETTINGS,
    Row,
    Setting,
    append_row,
    find_contradiction,
    format_page,
    format_row,
    make_row,
    read_rows,
    summarise_rows,
)
from packages.predictions import is_named, list_tasks

from lapwing.advise.advice import Advice, Measured, WayAdvice
from lapwing.advise.judge import Outcome, Predicted
from lapwing.bench.interval import Interval
from lapwing.bench.measures import summarise
from lapwing.model.profile import Way

LAB = Setting(2, "1gbit")


def make_measured(times: list[float], low: float, high: float, outcome: Outcome) -> Measured:
    speedups = [5.0 / time for time in times]
    return Measured(tuple(times), summarise(times), summarise(speedups), outcome, True, interval=Interval(low, high))


def make_advice(predicted_s: float, times: list[float], outcome: Outcome, verdict: str = "Use: lapwing run") -> Advice:
    """Stock takes 5 s, of which half a second is not MPI's; the bounds are those of the outcome."""
    low, high = {Outcome.FASTER: (1.2, 1.3), Outcome.SLOWER: (0.8, 0.9), Outcome.SAME: (0.99, 1.005)}.get(
        outcome, (0.9, 1.1)
    )
    stock = make_measured([5.0] * len(times), 1.0, 1.0, Outcome.SAME)
    return Advice(
        verdict=(verdict,),
        command="",
        program="",
        rank_count=2,
        profile_s=4.6,
        best=Way.DEFERRED if outcome is Outcome.FASTER else None,
        is_measured=True,
        round_count=len(times),
        launch_s=0.5,
        start_s=0.1,
        ways=(
            WayAdvice(Way.STOCK, "", Predicted(5.1, 5.0, 5.2), stock),
            WayAdvice(
                Way.DEFERRED,
                "",
                Predicted(predicted_s, predicted_s - 0.1, predicted_s + 0.1),
                make_measured(times, low, high, outcome),
            ),
        ),
    )


def about(name: str) -> Row:
    return Row(name, LAB.name, "1", load=0.5, with_system=True)


FASTER = make_advice(4.2, [3.9, 4.0, 4.1], Outcome.FASTER)


def test_row_has_the_miss_and_the_profiles_cost() -> None:
    row = make_row(about("solver"), FASTER)
    assert (row.stock_s, row.measured_s, row.predicted_s, row.rounds) == (5.0, 4.0, 4.2, 3)
    assert row.profile_cost == pytest.approx(0.02)
    assert row.miss == pytest.approx(0.05)
    assert row.inner_miss == pytest.approx(3.6 / 3.4 - 1)
    assert row.verdict == "use it" and not row.contradiction and row.speedup_bounds == (1.2, 1.3)


def test_start_takes_all_of_a_short_run() -> None:
    row = replace(make_row(about("solver"), FASTER), outside_s=3.9)
    assert row.inner_miss is None
    assert format_row(row)[7] == "-"


def test_row_without_measurement_says_why() -> None:
    ways = (FASTER.ways[0], replace(FASTER.ways[1], measured=None, reason="it was ended after 99 s"))
    row = make_row(about("solver"), replace(FASTER, ways=ways, best=None))
    assert "ended after 99 s" in row.failure


@pytest.mark.parametrize(
    ("predicted_s", "outcome", "verdict", "words"),
    [
        (4.2, Outcome.FASTER, "Use", ""),
        (4.2, Outcome.OPEN, "Cannot tell", ""),
        (4.2, Outcome.SAME, "Leave it", "a gain was predicted, and none is there"),
        (4.2, Outcome.SLOWER, "Leave it", "a gain was predicted, and none is there"),
        (5.1, Outcome.SAME, "Leave it", ""),
        (5.1, Outcome.FASTER, "Perhaps", "a gain is there, and none was predicted"),
        (4.2, Outcome.FASTER, "The work is uneven, and overlap does not mend that", "a gain is called impossible"),
    ],
)
def test_contradictions_between_prediction_and_measurement(
    predicted_s: float, outcome: Outcome, verdict: str, words: str
) -> None:
    assert find_contradiction(make_advice(predicted_s, [4.0, 4.0], outcome, verdict)) == words


@pytest.mark.parametrize(
    ("outcome", "check", "words"),
    [
        (Outcome.FASTER, Outcome.FASTER, ""),
        (Outcome.FASTER, Outcome.OPEN, ""),
        (Outcome.FASTER, Outcome.SAME, "further rounds show no such gain"),
        (Outcome.SAME, Outcome.FASTER, "further rounds show a gain"),
        (Outcome.OPEN, Outcome.FASTER, ""),
    ],
)
def test_verdict_is_held_against_further_rounds(outcome: Outcome, check: Outcome, words: str) -> None:
    predicted_s = 4.2 if outcome is Outcome.FASTER else 5.1
    advice = make_advice(predicted_s, [4.0, 4.0], outcome)
    further = make_advice(predicted_s, [4.0, 4.0], check).ways[1].measured
    assert find_contradiction(advice, further) == words


def test_rows_are_kept_and_the_last_one_counts(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    first = make_row(about("solver"), FASTER)
    for row in (first, replace(first, measured_s=3.0), Row("other", LAB.name, failure="not installed")):
        append_row(path, row)
    rows = read_rows([path, tmp_path / "absent"])
    assert [(row.program, row.measured_s) for row in rows] == [("solver", 3.0), ("other", 0.0)]


def test_page_says_what_was_measured_and_what_was_not() -> None:
    row = make_row(about("solver"), FASTER)
    page = format_page([row, Row("other", LAB.name, failure="not installed: apt-get install other")], 16)
    assert "- 2 hosts, 1 Gb/s: 1 of 16 programs" in page and "- 2 hosts, 5 Gb/s: not measured" in page
    assert "## 2 hosts, 1 Gb/s" in page and "## 2 hosts, 5 Gb/s" not in page
    assert "| solver | 1 | 5.00 (5.00-5.00) | +2.0 % | 4.20 (4.10-4.30) | 4.00 (3.95-4.05) | +5.0 % |" in page
    assert "apt-get install other" in page
    assert format_page([], 16).count("not measured") == len(SETTINGS)


def test_summary_gives_median_and_worst_miss() -> None:
    row = make_row(about("a"), FASTER)
    rows = [replace(row, predicted_s=4.0 * (1 + miss)) for miss in (0, -0.1, 0.02)]
    text = summarise_rows(rows)
    assert "the miss is 2.0 % in the median, 10.0 % at worst" in text and "No verdicts are contradicted" in text


def test_summary_counts_contradictions_and_days() -> None:
    row = replace(make_row(about("a"), FASTER), date="2026-01-02")
    wrong = replace(row, contradiction="a gain was predicted, and none is there")
    assert "1 verdict is contradicted" in summarise_rows([row, wrong])
    assert "2 verdicts are contradicted" in summarise_rows([wrong, wrong])
    assert summarise_rows([row]).endswith("; 2026-01-02.")
    assert summarise_rows([row, replace(row, date="2026-01-03")]).endswith("; 2026-01-02 to 2026-01-03.")


def test_what_has_figures_is_not_run_again() -> None:
    programs = list_programs(Path("nowhere"))
    done = [Row(programs[0].name, LAB.name), Row(programs[1].name, LAB.name, failure="it hung")]
    tasks = list(list_tasks(programs, SETTINGS, done, again=False))
    assert tasks[0] == (LAB, programs[1])
    assert len(tasks) == len(programs) * len(SETTINGS) - 1
    assert next(list_tasks(programs, SETTINGS, done, again=True)) == (LAB, programs[0])


def test_there_are_a_dozen_programs_of_different_names() -> None:
    names = [program.name for program in list_programs(Path("nowhere"))]
    assert len(set(names)) == len(names) >= 12
    assert is_named("PETSc KSP, CG", "lammps; petsc ksp") and not is_named("HPCC", "petsc")


def test_inputs_follow_the_setting() -> None:
    assert Size(2, False).choose(60, 100) == 60 and Size(4, True).choose(60, 100) == 50
    assert "\n3\n1.0 " in make_scalapack_input(Size(3, False))["LU.dat"]
