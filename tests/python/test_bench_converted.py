# SPDX-License-Identifier: MIT
"""`lapwing bench converted`: alpha and times, predicted from the blocking version, beside simulated conversions."""

import random

import pytest
from model_simulation import Program, Step, measure_programs, profile_programs

from lapwing.bench.converted import (
    PERCENTS,
    Runs,
    compare_slopes,
    describe_converted,
    draw_line,
    measure_alpha,
)
from lapwing.errors import LapwingError
from lapwing.model.profile import Way
from lapwing.report.converted import describe_slopes, make_converted_table

STEPS, SIZE, WORK_NS = 40, 1 << 20, 20e6


def make_step(rank: int, number: int, is_converted: bool, work_ns: float) -> Program:
    """One message in turn and work beside it: blocking and touched after the work, or started and waited for then."""
    verb = "send" if number % 2 == rank else "recv"
    if is_converted:
        return [
            Step(f"i{verb}", "new.c", messages=(number,), size_bytes=SIZE),
            Step("compute", time_ns=work_ns),
            Step("wait", "new.c", messages=(number,)),
        ]
    return [
        Step(verb, f"{verb}.c", messages=(number,), size_bytes=SIZE),
        Step("compute", time_ns=work_ns),
        Step("touch", messages=(number,)),
    ]


def make_versions(percent: int) -> list[Program]:
    """The program of each rank; of a pair of steps, one each way, both are converted or none."""
    generator = random.Random(7)
    work_ns = [WORK_NS * generator.uniform(0.97, 1.03) for _ in range(STEPS)]

    def is_converted(number: int) -> bool:
        pair = number // 2
        return (pair + 1) * percent // 100 > pair * percent // 100

    return [
        [step for number in range(STEPS) for step in make_step(rank, number, is_converted(number), work_ns[number])]
        for rank in range(2)
    ]


def simulate() -> Runs:
    """Run all versions."""
    runs = Runs(stock_s=[measure_programs(make_versions(0), Way.STOCK) / 1e9], checksums={"same"})
    for percent in PERCENTS:
        programs = make_versions(percent)
        runs.profiles[percent] = profile_programs(programs)
        runs.times_s[percent] = [measure_programs(programs, Way.EVENTS) / 1e9] * 3
    return runs


def test_alpha_of_a_conversion_is_the_share_of_blocking_calls_that_are_gone() -> None:
    profiles = {percent: profile_programs(make_versions(percent)) for percent in PERCENTS}
    assert [measure_alpha(profiles[0], profiles[percent]) for percent in PERCENTS] == [0.0, 0.5, 1.0]


def test_versions_take_what_the_blocking_ones_profile_says() -> None:
    result = describe_converted(simulate())
    for row in result["versions"]:
        assert row["alpha_predicted"] == pytest.approx(row["alpha_measured"], abs=0.01)
        assert abs(row["error"]) < 0.05
    assert result["versions"][2]["measured_s"]["median"] < 0.8 * result["stock_s"]["median"]
    assert result["slopes"]["predicted"] == pytest.approx(result["slopes"]["measured"], rel=0.15)


def test_line_lies_between_none_and_all() -> None:
    line = draw_line(profile_programs(make_versions(0)), outside_s=0.1)
    none, half, everything = (line.predict_s(share)["expected"] for share in (0.0, 0.5, 1.0))
    assert none == line.at_none_s["expected"] > everything
    assert half == pytest.approx((none + everything) / 2)


def test_slope_is_the_growth_of_the_speedup() -> None:
    rows = [
        {"predicted_s": 2.0, "paper_s": 2.0, "measured_s": {"median": 2.0}},
        {
            "predicted_s": 1.0,
            "paper_s": 1.6,
            "measured_s": {"median": 1.25},
            "alpha_predicted": 1.0,
            "alpha_measured": 0.5,
        },
    ]
    assert compare_slopes(rows) == pytest.approx({"predicted": 1.0, "measured": 1.2, "paper": 0.25})


def test_different_results_are_refused() -> None:
    runs = simulate()
    runs.checksums.add("other")
    with pytest.raises(LapwingError, match="results differ"):
        describe_converted(runs)


def test_table_has_a_row_for_each_version() -> None:
    result = describe_converted(simulate())
    assert make_converted_table(result, "title").row_count == len(PERCENTS)
    assert "from alpha 0 to 1" in describe_slopes(result)
