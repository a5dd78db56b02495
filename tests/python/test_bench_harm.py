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
from lapwing.bench.harm import LAPWING, Case, describe_case, gather, run_child
from lapwing.bench.harm_installed import (
    GROMACS,
    HPCC,
    LAMMPS,
    QUANTUM_ESPRESSO,
    Installed,
    check_installed,
    read_time_us,
)
from lapwing.bench.harm_programs import FAULTS, MEMORY, PROGRAMS, TIME, Program
from lapwing.errors import LapwingError
from lapwing.report.harm import make_harm_table

PYTHON = Path(__file__).parents[2] / "python"
PLAIN = Program("plain", "plain.c")
LATENCY = Program("latency", "latency.c", with_ranks=True, is_latency=True)


def judge(program: Program, what: str, stock: list[float], lapwing: list[float]) -> bool:
    case = Case(program, program.name, lambda with_lapwing: {})
    case.figures = {STOCK: [{what: one} for one in stock], LAPWING: [{what: one} for one in lapwing]}
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


def test_what_fails_is_no_row() -> None:
    def crash(with_lapwing: bool) -> dict[str, float]:
        if with_lapwing:
            raise LapwingError("ended by a signal", "", 1)
        return {TIME: 1.0}

    case = Case(PLAIN, "plain", crash)
    gather(case, 3, False, lambda: None)
    assert case.failure == "lapwing: ended by a signal"
    assert describe_case(case, with_time=True) == []


def test_a_failing_program_is_told() -> None:
    with pytest.raises(LapwingError, match="ended with 3"):
        run_child([sys.executable, "-c", "raise SystemExit(3)"], {})


def test_sources_are_there() -> None:
    sources = {path.name for path in (PYTHON.parent / "bench/harm").iterdir()}
    assert {program.source for program in PROGRAMS if program.installed is None} <= sources


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
    console.print(make_harm_table(document["results"]))
    assert "C calloc" in console.export_text()
