# SPDX-License-Identifier: MIT
"""`lapwing bench collective`: what is planned, calculated and shown, and short runs."""

import io
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from needs import needs_mpi
from rich.console import Console

from lapwing.bench import measures
from lapwing.bench.collective import (
    APART,
    BLOCK_BYTES,
    BLOCKING,
    FUNCTIONS,
    IN_ORDER,
    NONBLOCKING,
    Bench,
    Task,
    calculate_limit,
    calculate_processor_us,
    count_bytes,
    count_pieces,
    describe_task,
    find_disturbance,
    gather,
    list_ways,
    parse_functions,
    plan_tasks,
    read_rows,
)
from lapwing.bench.contenders import Contender
from lapwing.bench.experiments import WireCost
from lapwing.bench.mpi import Mpi, find_mpi
from lapwing.bench.place import Place
from lapwing.cli import main
from lapwing.errors import LapwingError
from lapwing.launch.launchers import Hydra
from lapwing.report.collective import make_in_order_table, print_collective
from lapwing.report.collective_plots import plot_collective
from lapwing.report.plots import save_plot

PYTHON = Path(__file__).parents[2] / "python"
TASK = Task("bcast", 2 << 20, 16e3, 5)
WAYS = list_ways([], with_nonblocking=True)


def make_rows(apart_us: float, in_order_us: float, first_us: float) -> list[dict[str, list[float]]]:
    times = {
        "comm_us": 16e3,
        "call_us": first_us,
        "comp_apart_us": 32e3,
        "both_apart_us": apart_us,
        "comp_in_order_us": 32e3,
        "both_in_order_us": in_order_us,
        "first_page_us": first_us,
    }
    return [{key: [value] * 3 for key, value in times.items()}]


ROWS = {
    "stock": make_rows(48e3, 48e3, 16e3),
    "lapwing": make_rows(33.6e3, 36e3, 1.6e3),
    "stock nonblocking": make_rows(40e3, 48e3, 16e3),
}


@pytest.fixture
def results() -> list[dict[str, Any]]:
    return [describe_task(TASK, shape, ROWS, 800) for shape in (APART, IN_ORDER)]


def test_work_in_order_can_hide_all_but_one_piece() -> None:
    assert measures.calculate_ordered_limit(16, 32, 16) == 33
    assert measures.calculate_ordered_limit(32, 16, 16) == 33
    assert calculate_limit(16, 32, 16).overlap == pytest.approx(15 / 16)
    assert calculate_limit(16, 32, 16).share(33) == pytest.approx(1)
    assert calculate_limit(16, 32, None).overlap == 1
    assert calculate_limit(16, 32, None, 4).time == 36  # the core that works also carries the data
    assert calculate_limit(16, 32, 16, 4).time == 37


def test_a_piece_is_no_smaller_than_a_block_of_work() -> None:
    assert [count_pieces(size) for size in (1, 65536, 65537, 1 << 20, 64 << 20)] == [1, 1, 2, 16, 16]


def test_ways_are_measured_by_stock(results: list[dict[str, Any]]) -> None:
    apart, in_order = results
    overlaps = [[one["overlap"] for one in row["contenders"].values()] for row in results]
    assert overlaps == [pytest.approx([0, 0.9, 0.5]), pytest.approx([0, 0.75, 0])]
    assert (apart["pieces"], in_order["pieces"]) == (None, 16)
    assert in_order["contenders"]["lapwing"]["share_of_limit"] == pytest.approx(0.8)
    assert apart["contenders"]["lapwing"]["share_of_shared_core_limit"] == pytest.approx(0.9 / 0.95)
    pages = [one["first_page_share"] for one in in_order["contenders"].values()]
    assert pages == pytest.approx([1, 0.1, 1])


def test_disturbance_is_stocks_longer_work(results: list[dict[str, Any]]) -> None:
    assert find_disturbance(results) == 2


def test_a_piece_alone_leaves_nothing_to_share() -> None:
    assert calculate_limit(16, 32, 1).overlap == 0
    assert calculate_limit(16, 32, 1).share(40) is None


def test_what_cannot_be_shared_is_a_dash_and_no_number_in_json() -> None:
    task = replace(TASK, size_bytes=BLOCK_BYTES)  # a single piece
    row = describe_task(task, IN_ORDER, ROWS)
    assert "NaN" not in json.dumps(row)
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(make_in_order_table([row]))
    assert "nan" not in console.export_text()


def test_work_is_as_long_as_the_collective_unless_given() -> None:
    pairs = [("bcast", 1024), ("gather", 2048)]
    assert [task.compute_us for task in plan_tasks(pairs, [100.4, 300], [], 10, 1)] == [100, 300]
    tasks = plan_tasks(pairs, [100, 300], [1e6, 10], 10, 1)
    assert [(task.function, task.compute_us, task.repetitions) for task in tasks] == [
        ("bcast", 1e6, 3),
        ("bcast", 10, 10),
        ("gather", 1e6, 3),
        ("gather", 10, 10),
    ]
    assert tasks[1].words(2.0) == ["bcast", "20", "1024", "10"]


def test_busiest_rank_counts() -> None:
    assert all(count_bytes(name, 4096, 4) for name in FUNCTIONS)
    assert count_bytes("alltoall", 4096, 4) == [(3072, 3072)]
    assert calculate_processor_us(WireCost(2, 1), Task("bcast", 1000, 1, 1), 4, 2) == 4000


def test_names_are_checked() -> None:
    assert parse_functions("all") == list(FUNCTIONS)
    assert parse_functions("bcast,gather") == ["bcast", "gather"]
    with pytest.raises(LapwingError, match="no collective 'scan'"):
        parse_functions("bcast,scan")


def make_bench(folder: Path) -> Bench:
    place = Place(Mpi("mpich", "mpicc", Hydra("mpirun")), None, folder)
    return Bench(place, folder / "collective", units_per_us=1, tasks=[TASK])


def test_ways_alternate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[tuple[str, str]] = []

    def run_as(self: Place, contender: Contender, line: list[str], count: int, on_line: Any) -> None:
        runs.append((contender.name, line[1]))
        for _ in range(count):
            on_line("{}")

    monkeypatch.setattr(Place, "run_as", run_as)
    samples = gather(make_bench(tmp_path), WAYS, 2, lambda: None)
    once = [("stock", BLOCKING), ("lapwing", BLOCKING), ("stock nonblocking", NONBLOCKING)]
    assert runs == [*once, *once]
    assert {key: len(rows) for key, rows in samples.items()} == {(name, 0): 2 for name, _ in once}


def test_wrong_data_end_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run_as(self: Place, contender: Contender, line: list[str], count: int, on_line: Any) -> None:
        on_line('{"error": "rank 1: element 7 is 1, must be 2"}')
        raise LapwingError("it ended with 1", "run it by hand", 1)

    monkeypatch.setattr(Place, "run_as", run_as)
    with pytest.raises(LapwingError, match=r"wrong data \(stock\): rank 1: element 7"):
        gather(make_bench(tmp_path), WAYS, 1, lambda: None)
    assert read_rows("stock", ['{"size_bytes": 1}']) == [{"size_bytes": 1}]


def test_tables_fit_a_terminal() -> None:
    task = Task("bcast", 512 << 10, 16e3, 5)
    results = [describe_task(task, shape, ROWS, 800) for shape in (APART, IN_ORDER)]
    console = Console(width=80, record=True, file=io.StringIO())
    print_collective(console, {"results": results, "ranks_per_core": 2, "disturbed": 2}, "collective")
    text = console.export_text()
    assert "bcast, in order" in text
    assert "512 KiB" in text
    assert "2.00 times as long as calibrated" in text
    assert "…" not in text


def test_plot_is_written(results: list[dict[str, Any]], tmp_path: Path) -> None:
    save_plot(plot_collective(results, "here"), tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        ("--ranks 1", "at least 2 ranks"),
        ("--hosts 4 --sizes 16", "no element from each of 4 ranks"),
        ("--functions barrier", "no collective"),
        ("--warm-up -1", "cannot be negative"),
        ("--calls 0", "at least 1"),
    ],
)
def test_what_cannot_be_measured_is_refused(words: str, cause: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "collective", *words.split()]) == 2
    assert cause in capsys.readouterr().err


def run_bench(folder: Path, preload: Path, words: str) -> "subprocess.CompletedProcess[str]":
    line = f"bench collective {words} --compute 200 --repetitions 2 --rounds 1 --output {folder / 'out.json'}"
    environment = {**os.environ, "PYTHONPATH": str(PYTHON), "LAPWING_PRELOAD": str(preload)}
    command = [sys.executable, "-m", "lapwing", *line.split()]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, cwd=folder)


@needs_mpi
@pytest.mark.parametrize(("type_name", "calls"), [("int", 1), ("double", 3)])
def test_short_run(tmp_path: Path, stand_in_preload: Path, type_name: str, calls: int) -> None:
    words = f"--shared-memory --sizes 100KiB --functions all --type {type_name} --stock-nonblocking --warm-up 1"
    words += f" --calls {calls}"
    done = run_bench(tmp_path, stand_in_preload, words)
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "out.json").read_text())
    assert [row["function"] for row in document["results"]] == [*FUNCTIONS, *FUNCTIONS]
    for row in document["results"]:
        assert list(row["contenders"]) == ["stock", "lapwing", "stock nonblocking"]
        assert all(one["both_us"]["median"] > 0 for one in row["contenders"].values())


CORRUPTING = """
#include <mpi.h>
int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm communicator)
{
    int code = PMPI_Bcast(data, count, type, root, communicator), rank;
    PMPI_Comm_rank(communicator, &rank);
    if (rank == 1 && count > 1000)
        ((int *)data)[1000]++;
    return code;
}
"""


@needs_mpi
def test_wrong_data_are_noticed(tmp_path: Path) -> None:
    """The library that is preloaded as Lapwing would be spoils one element."""
    (tmp_path / "corrupting.c").write_text(CORRUPTING)
    compiler = find_mpi(None).compiler
    library = tmp_path / "corrupting.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, tmp_path / "corrupting.c"], check=True)
    done = run_bench(tmp_path, library, "--shared-memory --sizes 100KiB --functions bcast")
    assert done.returncode == 1
    assert "wrong data (lapwing): rank 1, bcast of 102400 bytes, call 1: element 1000" in done.stderr
