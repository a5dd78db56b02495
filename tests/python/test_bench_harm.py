# SPDX-License-Identifier: MIT
"""`lapwing bench harm`: what is judged and shown, and one short run."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from lapwing.bench.contenders import STOCK
from lapwing.bench.harm import LAPWING, Case, Figures, describe_case, gather, read_figures, run_child
from lapwing.bench.harm_installed import (
    GROMACS,
    HPCC,
    LAMMPS,
    QUANTUM_ESPRESSO,
    Installed,
    check_installed,
    read_time_us,
)
from lapwing.bench.harm_programs import (
    FAULTS,
    MEMORY,
    PROCESSOR,
    PROGRAMS,
    TIME,
    Part,
    Program,
    count_trials,
    make_collectives,
)
from lapwing.errors import LapwingError
from lapwing.report.harm import make_count_lines, make_harm_tables, make_time_lines

PYTHON = Path(__file__).parents[2] / "python"
PLAIN = Program("plain", "plain.c")
LATENCY = Program("latency", "latency.c", with_ranks=True, is_latency=True)


def make_case(program: Program, stock: list[list[Figures]], lapwing: list[list[Figures]]) -> Case:
    case = Case(program, program.name, lambda with_lapwing: [])
    case.figures = {STOCK: list(stock), LAPWING: list(lapwing)}
    return case


def judge(program: Program, what: str, stock: list[float], lapwing: list[float]) -> bool:
    case = make_case(program, [[{what: one}] for one in stock], [[{what: one}] for one in lapwing])
    (row,) = describe_case(case, with_time=True)
    return bool(row["is_within"])


def test_a_start_is_allowed_but_no_more() -> None:
    assert judge(PLAIN, TIME, [100e3], [101.0e3])
    assert not judge(PLAIN, TIME, [100e3], [101.2e3])
    assert judge(PLAIN, FAULTS, [500], [640])
    assert not judge(PLAIN, FAULTS, [500], [660])
    assert not judge(PLAIN, MEMORY, [10240], [12288])
    assert judge(Program("start", "start.c", process_count=301), TIME, [300e3], [330e3])


def test_pairs_are_compared_not_medians() -> None:
    # The machine slowed down half way: each pair agrees.
    assert judge(PLAIN, TIME, [1e6, 1e6, 3e6, 3e6, 1e6], [1e6, 1e6, 3e6, 3e6, 1e6])
    assert not judge(PLAIN, TIME, [1e6, 1e6, 1e6], [1e6, 1.02e6, 1.02e6])


def test_latencies_are_compared_best_by_best() -> None:
    assert judge(LATENCY, TIME, [0.34, 0.50], [0.60, 0.35])
    assert not judge(LATENCY, TIME, [0.34, 0.50], [0.44, 0.45])


def test_processor_time_of_init_has_a_start() -> None:
    init = Program("init", "init.c", with_ranks=True, start_us=3000.0)
    assert judge(init, PROCESSOR, [20e3], [23e3])
    assert not judge(init, PROCESSOR, [20e3], [23.4e3])


def test_trials_are_those_of_the_ranks() -> None:
    """the same rounds as in src/mpi/collective/collective_choice.c, of which tests/mpi has the test."""
    assert [count_trials(calls) for calls in (3, 7, 8, 23, 24, 119, 503)] == [3, 5, 6, 7, 8, 11, 15]
    assert count_trials(100_503) - count_trials(503) == pytest.approx(2 * 100_000 / 256, abs=2)


def test_each_size_of_a_collective_is_a_row() -> None:
    program = make_collectives(in_lab=False)[0]
    assert program.words[0] == "bcast" and len(program.words) == 1 + len(program.parts)
    lines: list[Figures] = [{TIME: 100.0, FAULTS: 1000.0, MEMORY: 20e3} for _ in program.parts]
    slower: list[Figures] = [{TIME: 103.5, FAULTS: 9000.0, MEMORY: 40e3} for _ in program.parts]
    rows = describe_case(make_case(program, [lines], [slower]), with_time=True)
    times = {row["program"]: row["is_within"] for row in rows if row["what"] == TIME}
    # Of 2 MiB 15 of 503 calls may take twice as long, and the first of them a millisecond more.
    assert times == {"bcast, 8 B": False, "bcast, 8 KiB": False, "bcast, 256 KiB": False, "bcast, 2 MiB": True}
    faults = {row["program"]: row["limit"] for row in rows if row["what"] == FAULTS}
    assert faults == {"bcast, 8 B": 1.05, "bcast, 8 KiB": 1.05, "bcast, 256 KiB": 1.05, "bcast, 2 MiB": None}
    in_lab = make_collectives(in_lab=True)[0]
    assert [part.trial_share > 0 for part in in_lab.parts] == [False, False, True, True]


def test_a_missing_line_is_told() -> None:
    with pytest.raises(LapwingError, match="it printed 1, not 2 lines"):
        read_figures(["{}"], 2)
    assert read_figures(["a notice", '{"time_us": 1.0}', '{"time_us": 2.0}'], 2)[1] == {TIME: 2.0}


def test_tables_have_quartiles_of_the_ratio_and_memory() -> None:
    program = Program("two", "two.c", parts=[Part("small", is_latency=True), Part("large", has_free_counts=True)])
    stock: list[list[Figures]] = [[{TIME: 1.0, MEMORY: 2048.0}, {TIME: 1e3 * i, MEMORY: 4096.0}] for i in (1, 2, 4)]
    lapwing: list[list[Figures]] = [
        [{TIME: 1.0, MEMORY: 3072.0}, {TIME: 1100.0 * i, MEMORY: 8192.0}] for i in (1, 2, 4)
    ]
    rows = describe_case(make_case(program, stock, lapwing), with_time=True)
    assert make_time_lines(rows) == [
        ["two, small", "1.00 us", "1.00 us", "1.000", "1.01", "yes"],
        ["two, large", "2.00 ms", "2.20 ms", "1.100 [1.100, 1.100]", "1.01", "NO"],
    ]
    assert make_count_lines(rows) == [
        ["two, small", "", "2.00 to 3.00", "", "yes"],
        ["two, large", "", "4.00 to 8.00", "", ""],
    ]


def test_what_fails_is_no_row() -> None:
    def crash(with_lapwing: bool) -> list[Figures]:
        if with_lapwing:
            raise LapwingError("ended by a signal", "", 1)
        return [{TIME: 1.0}]

    case = Case(PLAIN, "plain", crash)
    gather(case, 3, False, lambda: None)
    assert case.failure == "lapwing: ended by a signal"
    assert describe_case(case, with_time=True) == []


def test_a_failing_program_is_told() -> None:
    with pytest.raises(LapwingError, match="ended with 3"):
        run_child([sys.executable, "-c", "raise SystemExit(3)"], {})


def test_sources_are_there() -> None:
    sources = {path.name for path in (PYTHON.parent / "bench/harm").iterdir()}
    own = [program for program in PROGRAMS if program.installed is None and not program.is_launch]
    assert {program.source for program in own} <= sources


def test_what_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(LapwingError, match="there is no gmx, gmx_mpi: apt-get install gromacs"):
        check_installed(GROMACS, "openmpi")
    with pytest.raises(LapwingError, match="Debian builds it for openmpi"):
        check_installed(GROMACS, "mpich")


@pytest.mark.parametrize(
    ("installed", "text", "time_us"),
    [
        (LAMMPS, "Loop time of 2.5 on 2 procs for 200 steps with 32000 atoms\n", 2.5e6),
        (GROMACS, "       Time:        5.0        2.5      200.0\n", 2.5e6),
        (QUANTUM_ESPRESSO, "     electrons    :      2.10s CPU      2.50s WALL (       1 calls)\n", 2.5e6),
        (HPCC, "HPL_time=1.5\nPTRANS_time=0.5\nMPIFFT_time0=0.5\nMPIFFT_N=1024\n", 2.5e6),
    ],
)
def test_times_are_the_programs_own(tmp_path: Path, installed: Installed, text: str, time_us: float) -> None:
    assert read_time_us(installed, tmp_path, text) == time_us
    with pytest.raises(LapwingError, match="it printed no time"):
        read_time_us(installed, tmp_path, "")


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_short_run(tmp_path: Path) -> None:
    output = tmp_path / "harm.json"
    words = ["bench", "harm", "--counts", "--programs", "c-calloc,c-threads", "--output", str(output)]
    environment = {**os.environ, "PYTHONPATH": str(PYTHON)}
    run = subprocess.run(
        [sys.executable, "-m", "lapwing", *words], capture_output=True, text=True, timeout=120, env=environment
    )
    assert run.returncode == 0, run.stdout + run.stderr
    document = json.loads(output.read_text())
    assert [row["program"] for row in document["results"]] == ["C calloc"] * 2 + ["C threads"] * 2
    assert {row["what"] for row in document["results"]} == {FAULTS, MEMORY}
    console = Console(width=100, record=True)
    (table,) = make_harm_tables(document["results"])
    console.print(table)
    assert "C calloc" in console.export_text()
