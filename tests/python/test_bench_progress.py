# SPDX-License-Identifier: MIT
"""The progress experiment: what is calculated, what is shown, and one short run."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from needs import needs_mpi
from rich.console import Console

from lapwing.bench.contenders import Contender, list_contenders, list_strategies, parse_strategies
from lapwing.bench.experiments import WireCost
from lapwing.bench.mpi import Mpi
from lapwing.bench.place import Place
from lapwing.bench.progress import (
    SMALL,
    Entry,
    Samples,
    Task,
    calculate_processor_us,
    compare_launches,
    count_bytes,
    describe_entry,
    find_disturbance,
    gather,
    parse_operations,
    prepare_entry,
)
from lapwing.cli import main
from lapwing.errors import LapwingError
from lapwing.launch.launchers import Hydra, OpenMpi
from lapwing.launch.start import describe_load
from lapwing.report.plots import save_plot
from lapwing.report.progress import print_progress
from lapwing.report.progress_plots import plot_progress

PYTHON = Path(__file__).parents[2] / "python"
TASK = Task("exchange", 1 << 20, 100, 3)
KEYS = ("comm_us", "comp_us", "both_us", "start_us", "work_us", "wait_us")


def make_row(comm: float, comp: float, both: float, work: float, helpers: float) -> dict[str, Any]:
    times = dict(zip(KEYS, (comm, comp, both, 1.0, work, both - work - 1), strict=True))
    return {key: [value] * 3 for key, value in times.items()} | {"both_helpers_us": [helpers] * 3}


def make_entry(tmp_path: Path, contenders: list[Contender]) -> Entry:
    mpi = Mpi("mpich", "mpicc", Hydra("/bin/mpirun"))
    return Entry("mpich", Place(mpi, None, tmp_path), Path("progress"), contenders, tasks=(TASK,))


def make_samples() -> Samples:
    rows: dict[Any, Any] = {
        ("mpich", "stock", 0): [make_row(40, 100, 140, 100, 0)],
        ("mpich", "spin", 0): [make_row(50, 150, 160, 150, 80)],
    }
    for name, latency in (("stock", 2.0), ("spin", 6.0)):
        for number, task in enumerate(SMALL):
            rows["mpich", name, number + 1] = [{task.operation: [latency] * 3}]
    return Samples(rows, {("mpich", "broken"): "it did not start"})


@pytest.fixture
def result(tmp_path: Path) -> dict[str, Any]:
    entry = make_entry(tmp_path, [Contender("stock"), Contender("spin"), Contender("broken")])
    samples = make_samples()
    samples.labels["mpich", "spin"] = "lapwing dedicated (event)"
    return describe_entry(entry, samples, WireCost(0.00001, 0.00001))


def test_contenders_are_stock_the_own_thread_and_every_strategy() -> None:
    names = [row.name for row in list_contenders(Mpi("mpich", "", Hydra("")), ("event", "poll"), ["--learn", "off"])]
    assert names == ["stock", "MPICH_ASYNC_PROGRESS", "lapwing event", "lapwing poll"]
    assert list_contenders(Mpi("openmpi", "", OpenMpi("")), ("event",), ["--learn", "off"])[1] == Contender(
        "lapwing event", options=["--learn", "off", "--progress", "event"]
    )


def test_strategies_come_from_the_options_table() -> None:
    assert parse_strategies(None) == list_strategies()
    assert parse_strategies("") == ()
    with pytest.raises(LapwingError, match="no strategy"):
        parse_strategies("auto,magic")


def test_unknown_operation_is_refused() -> None:
    assert parse_operations("isend,ibcast") == ["isend", "ibcast"]
    with pytest.raises(LapwingError, match="no operation"):
        parse_operations("isend,scatter")


def test_own_thread_is_asked_for_in_the_ranks(tmp_path: Path) -> None:
    place = Place(Mpi("mpich", "mpicc", Hydra("/bin/mpirun")), None, tmp_path)
    line = place.command(Contender("own", {"MPICH_ASYNC_PROGRESS": "1"}), ["./a"])
    assert " ".join(line).startswith("/bin/mpirun -genv MPICH_ASYNC_PROGRESS 1")
    assert line[-3:] == ["-n", "2", "./a"]


def test_a_strategy_that_was_not_had_is_named(tmp_path: Path) -> None:
    reports: list[Any] = [{"progress": ["event"]}]
    place = Place(Mpi("mpich", "mpicc", Hydra("/bin/mpirun")), None, tmp_path, reports=reports)
    names = [place.name_run(Contender(f"lapwing {name}", options=[])) for name in ("event", "auto", "dedicated")]
    assert names == ["lapwing event", "lapwing auto (event)", "lapwing dedicated (event)"]
    assert place.name_run(Contender("stock")) == "stock"


def test_idle_sleeps_in_microseconds_and_others_work_in_units() -> None:
    assert Task("idle", 0, 500, 2).words(100.0) == ["idle", "500", "0", "2"]
    assert TASK.words(100.0) == ["exchange", "10000", str(1 << 20), "3"]


@pytest.mark.parametrize(
    ("operation", "roles"),
    [
        ("isend", [(100, 0), (0, 100)]),
        ("exchange", [(100, 100)]),
        ("ialltoall", [(300, 300)]),
        ("iallreduce", [(150, 150)]),
        ("ibcast", [(100, 0), (0, 100)]),
    ],
)
def test_bytes_are_what_any_algorithm_must_move(operation: str, roles: list[tuple[float, float]]) -> None:
    assert count_bytes(operation, 100, 4) == roles


def test_processor_time_is_of_the_busiest_core() -> None:
    wire = WireCost(receive_us_per_byte=2, send_us_per_byte=1)
    assert calculate_processor_us(wire, Task("isend", 10, 1, 1), 4, 1) == 20
    assert calculate_processor_us(wire, Task("exchange", 10, 1, 1), 4, 2) == 60


def test_work_is_shared_out_where_ranks_share_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lapwing.bench.progress.calibrate", lambda *_: 10.0)
    monkeypatch.setattr(Entry, "run", lambda *_: [{"comm_us": [300.0]}])
    entry = make_entry(tmp_path, [Contender("stock")])
    entry.ranks_per_core = 2
    prepare_entry(entry, ["ialltoall"], [1024], [], 10)
    assert entry.tasks[0].compute_us == 300
    assert entry.tasks[0].words(entry.units_per_us)[1] == "1500"  # of the 3000 that a core does meanwhile


def test_shared_cores_are_told(result: dict[str, Any]) -> None:
    console = Console(width=80, record=True, file=io.StringIO())
    print_progress(console, [{**result, "ranks_per_core": 2}], "here")
    assert "2 ranks share each core" in console.export_text()


def test_contenders_are_measured_by_stock(result: dict[str, Any]) -> None:
    stock, spin = result["points"]
    assert (stock["overlap"], stock["slowdown"], stock["speedup"]) == (0, 1, 1)
    assert spin["overlap"] == pytest.approx(-0.5)  # by its own, slower, work it would be 0.8
    assert spin["overlap_with_own_times"] == pytest.approx(0.8)
    assert (spin["slowdown"], spin["helpers_share"], spin["comm_ratio"]) == (1.5, 0.5, 1.25)
    assert spin["limit_shared_core_us"] == pytest.approx(100 + 20.97152)
    assert result["small"][1]["latency_ratio"] == 3


def test_small_messages_are_compared_by_the_best_launch() -> None:
    slow, fast = {"latency": [9.0, 8.0, 9.0]}, {"latency": [6.0, 6.0, 7.0]}
    assert compare_launches([slow, fast], [fast, slow], "latency", min) == 1


def test_disturbed_runs_are_told(result: dict[str, Any]) -> None:
    assert result["disturbed"] == 1
    point = {"contender": "stock", "comp_us": {"median": 150}, "compute_us": 100}
    assert find_disturbance([point]) == 1.5
    console = Console(width=80, record=True, file=io.StringIO())
    print_progress(console, [{**result, "disturbed": 1.5}], "here")
    assert "1.50 times as long as calibrated" in console.export_text()


def test_a_busy_machine_is_told() -> None:
    assert "load 3.2 on 2 cores" in describe_load(3.2, 2)
    assert describe_load(0.9, 2) == ""


def test_who_fails_is_named_and_left_out(result: dict[str, Any]) -> None:
    assert result["failures"] == {"broken": "it did not start"}
    assert [row["contender"] for row in result["small"]] == ["stock", "spin"]


def test_who_failed_once_is_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[str] = []

    def run_as(self: Place, contender: Contender, program: list[str], count: int) -> list[str]:
        runs.append(contender.name)
        if contender.name == "spin":
            raise LapwingError("no", "no")
        return ["{}"] * count

    monkeypatch.setattr(Place, "run_as", run_as)
    entry = make_entry(tmp_path, [Contender("stock"), Contender("spin")])
    samples = gather([entry], 3, lambda: None)
    assert runs == ["stock", "spin", "stock", "stock"]
    assert samples.failures == {("mpich", "spin"): "no"}


def test_without_stock_nothing_is_claimed(tmp_path: Path) -> None:
    samples = Samples({}, {("mpich", "stock"): "it did not start"})
    result = describe_entry(make_entry(tmp_path, [Contender("stock")]), samples, None)
    assert (result["points"], result["small"]) == ([], [])


def test_tables_fit_a_terminal(result: dict[str, Any]) -> None:
    console = Console(width=80, record=True, file=io.StringIO())
    print_progress(console, [result], "here")
    text = console.export_text()
    assert "-0.50" in text
    assert "+ dedicated (event)" in text
    assert "broken: it did not start" in text
    assert "…" not in text


def test_plot_is_written(result: dict[str, Any], tmp_path: Path) -> None:
    save_plot(plot_progress([result], "here"), tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 1000


@needs_mpi
def test_short_run(tmp_path: Path, stand_in_preload: Path) -> None:
    line = "bench progress --shared-memory --sizes 64KiB --compute 200 --strategies auto --repetitions 3 --rounds 1"
    line += " --work memory"
    line += " --operations isend,exchange,ialltoall,iallreduce,ibcast"
    environment = {**os.environ, "PYTHONPATH": str(PYTHON), "LAPWING_PRELOAD": str(stand_in_preload)}
    command = [sys.executable, "-m", "lapwing", *line.split(), "--output", str(tmp_path / "out.json")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    [result] = json.loads((tmp_path / "out.json").read_text())["results"]
    assert result["failures"].keys() <= {"MPICH_ASYNC_PROGRESS"}  # it may take minutes on a busy machine
    assert {row["operation"] for row in result["points"]} == {"isend", "exchange", "ialltoall", "iallreduce", "ibcast"}
    assert all(row["comm_us"]["median"] > 0 for row in result["points"])
    assert {row["contender"] for row in result["small"]} >= {"stock", "lapwing auto"}


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("bench progress --progress event", "use --strategies"),
        ("bench progress --ranks 1", "at least 2 ranks"),
        ("bench progress --operations scatter", "no operation"),
        ("bench bip --progress event", "use --strategies"),
        ("bench sendtime --rounds 0", "must be positive"),
        ("bench harm --rounds 0", "at least one round"),
        ("bench bip --compute 1000,9000", "is no number of microseconds"),
        ("bench sendtime --compute 1000,9000", "is no number of microseconds"),
        ("bench predict --compute 1000,9000", "is no number of microseconds"),
        ("probe --repetitions 2", "tell nothing"),
    ],
)
def test_what_cannot_be_measured_is_refused(line: str, cause: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    assert cause in capsys.readouterr().err
