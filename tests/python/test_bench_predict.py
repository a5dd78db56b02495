# SPDX-License-Identifier: MIT
"""`lapwing bench predict`: what is planned, calculated and shown, and one short run."""

import io
import json
import os
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from lapwing.bench.contenders import Contender
from lapwing.bench.mpi import Mpi
from lapwing.bench.place import Place
from lapwing.bench.predict import (
    CHARACTERS,
    PROFILE,
    WAYS,
    Forecast,
    Outcome,
    Task,
    calculate_paper_us,
    check_sums,
    collect_times,
    compare_way,
    describe_case,
    forecast,
    list_ways,
    parse_characters,
    plan_tasks,
    summarise_cost,
    summarise_ways,
)
from lapwing.bench.turns import Turns
from lapwing.errors import LapwingError
from lapwing.files import SELF, find_source
from lapwing.launch.launchers import Hydra
from lapwing.model.profile import FunctionStatistics, JobProfile, Moments, RankProfile, Source
from lapwing.report.plots import save_plot
from lapwing.report.predicted import print_predicted
from lapwing.report.predicted_plots import plot_predicted

PYTHON = Path(__file__).parents[2] / "python"
TASK = Task("slack", 1 << 20, 20000.0, 10)
MS = 1_000_000


def make_profile() -> JobProfile:
    waits = FunctionStatistics("MPI_Wait", Moments(10, 100 * MS, 1 * MS, 20 * MS))
    sends = FunctionStatistics("MPI_Send", Moments(10, 200 * MS, 5 * MS, 40 * MS))
    starts = FunctionStatistics("MPI_Isend", Moments(10, 40 * MS, 2 * MS, 8 * MS))
    functions = (waits, sends, starts)
    return JobProfile(Source.DOCUMENT, tuple(RankProfile(rank, 1000 * MS, functions) for rank in range(2)))


def make_turns(**times_us: float) -> Turns:
    turns = Turns()
    for name in (PROFILE, *WAYS):
        for rank in range(2):
            row = {"rank": rank, "elapsed_us": times_us.get(name, 1e6) - 10 * rank, "checksum": 7}
            turns.rows[name, rank] = [row, {**row, "elapsed_us": row["elapsed_us"] + 20}]
    return turns


@pytest.fixture
def result() -> dict[str, Any]:
    profiles = [make_profile(), make_profile()]
    return describe_case("openmpi", TASK, Outcome(make_turns(profile=1.01e6, deferred=8e5), profiles))


def test_characters_are_those_of_the_program() -> None:
    text = find_source("characters.c").read_text("utf-8")
    assert all(f'{{"{name}", {name}_round}}' in text for name in CHARACTERS)


def test_unknown_character_is_refused() -> None:
    with pytest.raises(LapwingError, match="no character 'wavy'"):
        parse_characters("slack,wavy")


def test_ranks_take_turns_equally_often() -> None:
    tasks = plan_tasks(["slack", "tight"], [1024, 1 << 22], 20000, "1gbit", 100, 0.5)
    assert len(tasks) == 4
    assert all(task.rounds % 2 == 0 and task.rounds >= 4 for task in tasks)
    assert tasks[0].rounds > tasks[1].rounds  # longer messages, fewer of them within the time


def test_words_hold_a_fixed_amount_of_work() -> None:
    assert TASK.words(12.0) == ["slack", "240000", "1048576", "10"]


def test_profile_is_recorded_by_the_command(tmp_path: Path) -> None:
    place = Place(Mpi("mpich", "mpicc", Hydra("mpirun")), None, tmp_path)
    lines = {one.name: place.command(one, ["program"]) for one in list_ways(tmp_path / "r")}
    assert lines[PROFILE][len(SELF) : len(SELF) + 4] == ["profile", "--quiet", "--output", str(tmp_path / "r")]
    assert lines["stock"][0] == "mpirun"
    off = {word for word, value in pairwise(lines["events"]) if value == "off"}
    assert off == {"--sends", "--receives", "--collectives", "--waits"}
    assert lines["deferred"][len(SELF)] == "run"


def test_slower_rank_counts() -> None:
    assert collect_times(make_turns(stock=500), "stock") == [500, 520]


def test_different_bytes_are_refused() -> None:
    turns = make_turns()
    turns.rows["deferred", 0][1] = {**turns.rows["deferred", 0][1], "checksum": 8}
    with pytest.raises(LapwingError, match="different bytes"):
        check_sums(turns)


def test_paper_is_applied_without_its_price_of_a_core() -> None:
    # 660 ms of computation, the least start and wait of each nonblocking call, the blocking ones as they are ...
    assert calculate_paper_us(make_profile(), 0.0) == pytest.approx(660e3 + 10 * (2e3 + 1e3) + 200e3)
    # ... or as starts and waits, too.
    assert calculate_paper_us(make_profile(), 1.0) == pytest.approx(660e3 + 20 * (2e3 + 1e3))


def test_every_way_is_forecast() -> None:
    forecasts = forecast(make_profile())
    assert list(forecasts) == list(WAYS)
    assert forecasts["stock"].expected_us == pytest.approx(1e6)
    assert forecasts["stock"].paper_us is None
    assert all(one.low_us <= one.expected_us <= one.high_us for one in forecasts.values())


def test_errors_are_shares_of_the_measured_median() -> None:
    way = compare_way(Forecast(110, 90, 120, 50), [99, 100, 130])
    assert way["error"] == pytest.approx(0.1)
    assert way["paper_error"] == pytest.approx(-0.5)
    assert way["is_within"]
    assert not compare_way(Forecast(110, 105, 120, None), [100])["is_within"]


def test_first_profile_predicts(result: dict[str, Any]) -> None:
    stock = result["ways"]["stock"]
    assert stock["predicted_us"] == stock["predicted_by_each_profile_us"][0]
    assert len(stock["predicted_by_each_profile_us"]) == 2
    assert result["profile_ratio"]["median"] == pytest.approx(1.01, abs=1e-4)


def test_later_profiles_are_summarised_beside_the_first(result: dict[str, Any]) -> None:
    deferred = result["ways"]["deferred"]
    middle = sum(deferred["predicted_by_each_profile_us"]) / 2
    assert deferred["error_of_median"] == pytest.approx(middle / deferred["measured_us"]["median"] - 1)


def test_summary_leaves_the_profiled_way_out(result: dict[str, Any]) -> None:
    summary = summarise_ways([result])
    assert list(summary) == ["events", "deferred", "all"]
    errors = [abs(result["ways"][name]["error"]) for name in ("events", "deferred")]
    assert summary["all"]["refined"] == {"count": 2, "median": sum(errors) / 2, "worst": max(errors)}


def test_failed_case_has_no_errors() -> None:
    turns = make_turns()
    turns.failures["events"] = "it broke"
    failed = describe_case("mpich", TASK, Outcome(turns, [make_profile()]))
    assert failed["ways"] == {}
    assert summarise_ways([failed]) == {}
    assert summarise_cost([failed]) == {}


def test_tables_and_plot_show_everything(result: dict[str, Any], tmp_path: Path) -> None:
    failed = {**result, "ways": {}, "profile_ratio": None, "failures": {"events": "it broke"}}
    document = {
        "results": [result, failed],
        "summary": summarise_ways([result]),
        "profile_cost": summarise_cost([result]),
    }
    console = Console(file=io.StringIO(), width=80)
    print_predicted(console, document, "lab")
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "slack" in text and "it broke" in text and "profiled / stock" in text
    assert "…" not in text  # nothing is cut on a narrow screen
    save_plot(plot_predicted([result, failed], "lab"), tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").stat().st_size > 10_000


def test_contender_without_a_record_is_run() -> None:
    assert Contender("deferred", options=[]).record is None


@pytest.mark.skipif(not shutil.which("mpirun.openmpi"), reason="needs Open MPI")
@pytest.mark.skipif("LAPWING_PRELOAD" not in os.environ, reason="LAPWING_PRELOAD names no library")
def test_a_short_run(tmp_path: Path) -> None:
    output = tmp_path / "results.json"
    words = ["bench", "predict", "--shared-memory", "--mpi", "openmpi", "--characters", "slack,bundled"]
    words += ["--sizes", "128KiB", "--compute", "500", "--rounds", "1", "--repetitions", "6", "--output", str(output)]
    words += ["--records", str(tmp_path / "records")]
    environment = {**os.environ, "PYTHONPATH": str(PYTHON)}
    command = [sys.executable, "-m", "lapwing", *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    document = json.loads(output.read_text("utf-8"))
    assert document["schema"] == "lapwing-bench-1"
    assert [row["character"] for row in document["results"]] == ["slack", "bundled"]
    kept = sorted(path.name for path in (tmp_path / "records").iterdir())
    assert kept == ["openmpi-bundled-131072-0.record", "openmpi-slack-131072-0.record"]
    assert all(way["measured_us"]["median"] > 0 for row in document["results"] for way in row["ways"].values())
