# SPDX-License-Identifier: MIT
"""The experiments that follow papers, bip and sendtime: what is calculated and shown, and one short run of each."""

import io
import json
import os
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from needs import needs_mpi
from rich.console import Console
from test_model_waits import make_route, make_system

from lapwing.bench.bip import KEYS as BIP_KEYS
from lapwing.bench.bip import describe_bip
from lapwing.bench.contenders import Contender
from lapwing.bench.line import LinePlace, RankView
from lapwing.bench.mpi import Mpi
from lapwing.bench.place import Place
from lapwing.bench.sendtime import KEYS, describe_sendtime
from lapwing.bench.turns import Turns, take_turns
from lapwing.commands.bench_papers import SendtimeExperiment
from lapwing.errors import LapwingError
from lapwing.launch.launchers import Hydra
from lapwing.model.system import FORMAT
from lapwing.report.paper_plots import plot_bip, plot_sendtime
from lapwing.report.papers import TIMES, print_bip, print_sendtime
from lapwing.report.plots import save_plot

PYTHON = Path(__file__).parents[2] / "python"
CONTENDERS = [Contender("stock"), Contender("lapwing auto", options=[])]


def make_rows(**changes: float) -> list[Any]:
    times = {"comm_us": 40.0, "comp_us": 100.0, **dict.fromkeys(BIP_KEYS[2:], 140.0), **changes}
    return [{key: [value] * 3 for key, value in times.items()}]


@pytest.fixture
def bip() -> list[dict[str, Any]]:
    turns = Turns({("stock", 0): make_rows(inner_us=100), ("lapwing auto", 0): make_rows(comm_us=50, outer_us=120)})
    return describe_bip([1024], CONTENDERS, turns)


@pytest.fixture
def sendtime() -> list[dict[str, Any]]:
    rows = {(one.name, 0): [{key: [1.0, 2000.0, 3000.0] for key in KEYS}] for one in CONTENDERS}
    return describe_sendtime([1 << 20], CONTENDERS, Turns(rows))


def test_ways_are_measured_by_stock(bip: list[dict[str, Any]]) -> None:
    stock, lapwing = bip[0]["contenders"].values()
    assert [stock[way]["overlap"] for way in ("blocking", "inner")] == [0, 1]
    assert lapwing["outer"]["overlap"] == pytest.approx(0.5)  # its own comm is longer, and does not count
    assert bip[0]["optimum_us"] == 100


def test_every_time_has_a_column() -> None:
    assert set(TIMES) == set(KEYS)


def test_without_stock_nothing_is_claimed() -> None:
    assert describe_bip([1024], CONTENDERS, Turns(failures={"stock": "it hung"})) == []


def test_who_fails_is_left_out() -> None:
    rows = {("stock", 0): [{key: [1.0] for key in KEYS}]}
    [result] = describe_sendtime([8], CONTENDERS, Turns(rows, {"lapwing auto": "it hung"}))
    assert list(result["contenders"]) == ["stock"]


def test_contenders_alternate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[str] = []

    def run_as(self: Place, contender: Contender, program: list[str], count: int) -> list[str]:
        runs.append(contender.name)
        if contender.with_lapwing and len(runs) > 3:
            raise LapwingError("no", "no")
        return ["{}"] * count

    monkeypatch.setattr(Place, "run_as", run_as)
    place = Place(Mpi("mpich", "mpicc", Hydra("mpirun")), None, tmp_path)
    turns = take_turns(place, CONTENDERS, ["./a"], 2, 3, lambda: None)
    assert runs == ["stock", "lapwing auto", "stock", "lapwing auto", "stock"]
    assert turns.failures == {"lapwing auto": "no"}
    assert len(turns.rows["stock", 1]) == 3


def test_tables_fit_a_terminal(bip: list[dict[str, Any]], sendtime: list[dict[str, Any]]) -> None:
    console = Console(width=80, record=True, file=io.StringIO())
    print_bip(console, bip, "bip")
    print_sendtime(console, sendtime, "sendtime")
    text = console.export_text()
    assert "0.12 (0.50)" in text
    assert "1 MiB, lapwing auto" in text
    assert "…" not in text


def test_plots_are_written(bip: list[dict[str, Any]], sendtime: list[dict[str, Any]], tmp_path: Path) -> None:
    for figure in (plot_bip(bip, "t"), plot_sendtime(sendtime, "t")):
        save_plot(figure, tmp_path / "plot.png")
        assert (tmp_path / "plot.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("hosts", "where"), [(("a", "a"), "within"), (("a", "b"), "between"), ((), "between"), (None, "within")]
)
def test_parameters_are_those_of_the_place(hosts: tuple[str, ...] | None, where: str, tmp_path: Path) -> None:
    """Hosts of the launcher's line; without one the lab, or shared memory."""
    (tmp_path / "system.json").write_text(
        FORMAT.encode(make_system(make_route("within", 0.2), make_route("between", 8.0)))
    )
    mpi = Mpi("mpich", "mpicc", Hydra("mpirun"))
    views = [RankView(host, frozenset()) for host in hosts or ()]
    place = LinePlace(mpi, None, tmp_path, views=views) if hosts else Place(mpi, None, tmp_path)
    experiment = SendtimeExperiment()
    arguments = Namespace(system=tmp_path / "system.json", shared_memory=hosts is None)
    experiment.check_place(arguments, place)
    assert experiment.route
    assert experiment.route.where == where


@needs_mpi
@pytest.mark.parametrize("experiment", ["bip --poke test --matrix 4KiB", "sendtime --system system.json"])
def test_short_run(tmp_path: Path, stand_in_preload: Path, experiment: str) -> None:
    line = f"bench {experiment} --shared-memory --sizes 64KiB --compute 200 --repetitions 3 --rounds 1"
    (tmp_path / "system.json").write_text(FORMAT.encode(make_system(make_route("within", 0.2, eager_bytes=4096))))
    environment = {**os.environ, "PYTHONPATH": str(PYTHON), "LAPWING_PRELOAD": str(stand_in_preload)}
    command = [sys.executable, "-m", "lapwing", *line.split(), "--output", str(tmp_path / "out.json")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["failures"].keys() <= {"MPICH_ASYNC_PROGRESS"}  # it may take minutes on a busy machine
    assert document["results"][0]["contenders"].keys() >= {"stock", "lapwing auto"}
    equations = document["results"][0].get("equations", [])
    assert {row["equation"] for row in equations} == ({"1, 2", "3", "4", "5", "6"} if "system" in experiment else set())
    assert ("the paper's equations" in done.stdout) == ("system" in experiment)
