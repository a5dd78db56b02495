# SPDX-License-Identifier: MIT
"""`lapwing bench overlap --phases`: what is calculated and shown, and one short run."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from needs import needs_mpi
from rich.console import Console

from lapwing.bench.contenders import STOCK
from lapwing.bench.phases import (
    BLOCKING,
    LEARNING,
    NONBLOCKING,
    STEADY,
    PhasePoint,
    describe_phase,
    list_by_call,
    list_phase_words,
    plan_phases,
)
from lapwing.bench.plan import Point
from lapwing.report.phases import make_phases_table

PYTHON = Path(__file__).parents[2] / "python"
POINT = PhasePoint(BLOCKING, Point(10e3, 1 << 20, 2), 4)


def make_rows(both_us: list[float]) -> list[dict[str, Any]]:
    return [{"comm_us": [20e3] * 8, "comp_us": [20e3] * 8, "both_us": both_us * 2}]


def describe(learning: list[float]) -> dict[str, Any]:
    rows = {STOCK: make_rows([40e3] * 4), LEARNING: make_rows(learning), STEADY: make_rows([22e3] * 4)}
    return describe_phase(POINT, rows)


def test_calls_of_a_phase_are_told_apart() -> None:
    assert list_by_call([{"both_us": [1, 2, 3, 5]}, {"both_us": [1, 2, 3, 5]}], 2) == [2, 3.5]


def test_two_calls_may_go_by() -> None:
    followed = describe([40e3, 40e3, 22.4e3, 22.4e3])
    assert followed["overlap_steady"] == pytest.approx(0.9)
    assert followed["overlap_by_call"][LEARNING][0] == pytest.approx(0)
    assert followed["is_followed"]
    assert not describe([40e3, 40e3, 40e3, 22e3])["is_followed"]


def test_both_kinds_are_planned() -> None:
    points = plan_phases([1000], [1 << 20], "1gbit", calls=8, limit=5, cap_s=60)
    assert [one.kind for one in points] == [BLOCKING, NONBLOCKING]
    assert list_phase_words(points[:1], 2.0) == [BLOCKING, "2000", str(1 << 20), "8", "5"]


def test_table_shows_every_point() -> None:
    console = Console(width=80, record=True, file=Path(os.devnull).open("w"))  # noqa: SIM115
    console.print(make_phases_table([describe([40e3, 22e3, 22e3, 22e3])], "title"))
    text = console.export_text()
    assert "0.90" in text
    assert "yes" in text
    assert "…" not in text


@needs_mpi
def test_short_run(tmp_path: Path, stand_in_preload: Path) -> None:
    line = "bench overlap --phases 4 --shared-memory --sizes 64KiB --compute 200 --repetitions 3 --rounds 1"
    environment = {**os.environ, "PYTHONPATH": str(PYTHON), "LAPWING_PRELOAD": str(stand_in_preload)}
    command = [sys.executable, "-m", "lapwing", *line.split(), "--output", str(tmp_path / "out.json")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr  # the times are the machine's
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["failures"] == {}
    assert [row["kind"] for row in document["results"]] == [BLOCKING, NONBLOCKING]
    assert all(len(row["overlap_by_call"][LEARNING]) == 4 for row in document["results"])
