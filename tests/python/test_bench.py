# SPDX-License-Identifier: MIT
"""The measures, the plan and the reports of the experiments, without running any."""

import math
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from lapwing.bench.demo import choose_planes, describe_demo, parse_outcome
from lapwing.bench.experiments import WireCost, describe_point
from lapwing.bench.measures import (
    calculate_limit_share,
    calculate_overlap,
    calculate_shared_limit,
    summarise,
)
from lapwing.bench.plan import Point, parse_computes, parse_sizes, plan_overlap, plan_pingpong
from lapwing.commands.experiment import check_repetitions
from lapwing.errors import LapwingError
from lapwing.report.plots import plot_bars, plot_overlap, plot_pingpong, save_plot
from lapwing.report.tables import make_overlap_table, make_pingpong_table


def make_rows(comm: float, comp: float, both: float) -> list[dict[str, Any]]:
    return [{"comm_us": [comm] * 3, "comp_us": [comp] * 3, "both_us": [both] * 3, "comm_processor_us": [comm] * 3}]


@pytest.fixture
def point() -> dict[str, Any]:
    rows = {"stock": make_rows(40e3, 20e3, 60e3), "lapwing": make_rows(41e3, 20e3, 42e3)}
    return describe_point(Point(1e4, 1 << 20, 3), rows, WireCost(0.001, 0.001))


def test_overlap_is_one_at_the_optimum_and_zero_for_the_sum() -> None:
    assert calculate_overlap(3, 5, 5) == 1
    assert calculate_overlap(3, 5, 8) == 0


def test_overlap_is_not_clamped() -> None:
    assert calculate_overlap(4, 4, 10) == -0.5
    assert calculate_overlap(4, 4, 3) == 1.25


def test_shared_core_pays_for_the_transfer() -> None:
    assert calculate_shared_limit(comm=10, comp=9, processor=3) == 12
    assert calculate_shared_limit(comm=10, comp=5, processor=3) == 10
    assert calculate_limit_share(comm=10, comp=10, both=12, processor=2) == pytest.approx(1)


def test_limit_without_overlap_has_no_share() -> None:
    assert calculate_limit_share(comm=10, comp=10, both=20, processor=10) is None


def test_quartiles() -> None:
    spread = summarise([1, 2, 3, 4, 5])
    assert (spread.first_quartile, spread.median, spread.third_quartile) == (2, 3, 4)
    assert summarise([7]).median == 7


def test_point_compares_with_the_stock_runs(point: dict[str, Any]) -> None:
    assert point["optimum_us"] == 40e3
    assert point["stock"]["overlap"] == 0
    assert point["overlap_with_stock_times"] == pytest.approx(0.9)
    assert point["lapwing"]["overlap"] == pytest.approx(0.9)  # its own comm is longer, and does not count
    assert point["lapwing"]["overlap_with_own_times"] == pytest.approx(0.95)
    assert point["speedup"] == pytest.approx(60 / 42)
    assert point["limit_shared_core_us"] == 40e3


@pytest.mark.parametrize(
    ("text", "sizes"), [("4KiB,1MiB", [4096, 1 << 20]), ("1:8", [1, 2, 4, 8]), ("1KiB:64KiB:8", [1024, 8192, 65536])]
)
def test_sizes(text: str, sizes: list[int]) -> None:
    assert parse_sizes(text) == sizes


@pytest.mark.parametrize("text", ["", "0", "2GiB", "8:1", "1:8:1", "big", "1:8:2:7", "9" * 400])
def test_wrong_sizes_are_refused(text: str) -> None:
    with pytest.raises(LapwingError):
        parse_sizes(text)


@pytest.mark.parametrize("text", ["200,-1", "nan", "200,nan", "inf"])
def test_wrong_computes_are_refused(text: str) -> None:
    with pytest.raises(LapwingError):
        parse_computes(text)


@pytest.mark.parametrize("time_s", [0.0, math.inf, math.nan])
def test_endless_points_are_refused(time_s: float) -> None:
    with pytest.raises(LapwingError, match="must be positive"):
        check_repetitions(Namespace(repetitions=1, rounds=1, time_per_point=time_s))


def test_plan_repeats_large_points_less_but_three_times_at_least() -> None:
    plan = plan_overlap([200], [4096, 64 << 20], "1gbit", limit=50, cap_s=1.0)
    assert [point.repetitions for point in plan] == [50, 3]
    assert plan_pingpong([1], "1gbit", limit=7, cap_s=1.0)[0].repetitions == 7


def test_tables_show_every_point(point: dict[str, Any]) -> None:
    console = Console(width=80, record=True, file=Path("/dev/null").open("w"))  # noqa: SIM115
    console.print(make_overlap_table([point], "title"))
    spread = summarise([10.0, 20.0, 30.0]).as_json()
    console.print(make_pingpong_table([{"size_bytes": 8, "stock_us": spread, "lapwing_us": spread, "ratio": 1.0}], "t"))
    text = console.export_text()
    assert "1.43" in text
    assert "0.90" in text  # by stock's comm and comp, which stand in the same line
    assert "…" not in text
    assert "20 us (15 us to 25 us)" in text


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_plots_are_written(point: dict[str, Any], tmp_path: Path, ending: str) -> None:
    spread = summarise([10.0, 20.0]).as_json()
    ping = [{"size_bytes": size, "stock_us": spread, "lapwing_us": spread, "ratio": 1.0} for size in (1, 64)]
    for name, figure in (
        ("overlap", plot_overlap([point], "title")),
        ("pingpong", plot_pingpong(ping, "title")),
        ("bars", plot_bars(["stock", "lapwing"], [spread, spread], "title")),
    ):
        save_plot(figure, tmp_path / f"{name}.{ending}")
        assert (tmp_path / f"{name}.{ending}").stat().st_size > 1000


def test_plot_with_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LapwingError, match="not written"):
        save_plot(plot_bars(["a"], [summarise([1.0]).as_json()], "t"), tmp_path / "plot.xyz")


def test_solver_output_is_read() -> None:
    outcome = parse_outcome(["time 1.500000 s, checksum 00ff"])
    assert (outcome.time_s, outcome.checksum) == (1.5, "00ff")
    with pytest.raises(LapwingError):
        parse_outcome(["nothing"])


def test_grid_makes_update_as_long_as_exchange() -> None:
    assert choose_planes(exchange_s=2.0, update_s=1.0) == 32
    assert choose_planes(exchange_s=1e9, update_s=1.0) == 512


def describe_times(**times_s: float) -> dict[str, Any]:
    return describe_demo({name: [time_s] for name, time_s in times_s.items()}, {"stock": {"a"}, "lapwing": {"b"}}, 8, 1)


def test_differing_checksums_are_seen() -> None:
    result = describe_times(stock=2.0, lapwing=1.0, exchange=1.0, exchange_lapwing=1.0, update=1.0)
    assert result["checksums"] == ["a", "b"]
    assert result["speedup"] == 2
    assert result["overlap"] == {"stock": 0, "lapwing": 1}


def test_an_exchange_that_is_shorter_under_lapwing_sets_the_optimum() -> None:
    result = describe_times(stock=3.0, lapwing=1.5, exchange=2.0, exchange_lapwing=1.0, update=1.25)
    assert result["optimum_s"] == 1.25
    assert result["overlap"] == {"stock": pytest.approx(0.2), "lapwing": pytest.approx(0.75)}
