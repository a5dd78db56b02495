# SPDX-License-Identifier: MIT
"""Speedup over alpha: typed parameters against the paper's Table II, several runs in one plot, `lapwing predict`."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from lapwing.cli import main
from lapwing.errors import LapwingError
from lapwing.model.alpha import AlphaCurve, make_curve, parse_alpha, parse_typed, take_run
from lapwing.model.paper import PaperParameters
from lapwing.model.reader import read_profile
from lapwing.model.study import apply_paper
from lapwing.report.alpha import draw_curves, draw_text, list_cells, make_alpha_page, print_curves
from lapwing.report.summary import format_seconds

# MiniMD, cases 1 to 3 of the paper's Table II.
FIRST = (
    "MiniMD 1: t_noprogress=112,t_comp=94.55,N_core=16,N_blocking=5863,t_minMPInonblock=2.5e-5,N_wait=5862,"
    "t_minMPIwait=5.33e-6,t_MPIblocking=19.16,t_MPIother=2.2"
)
SECOND = (
    "MiniMD 2: t_noprogress=17.9,t_comp=9.73,N_core=16,N_blocking=5863,t_minMPInonblock=7.49e-5,N_wait=5862,"
    "t_minMPIwait=5.47e-6,t_MPIblocking=4.99,t_MPIother=1.42"
)
THIRD = (
    "MiniMD 3: t_noprogress=57.3,t_comp=34.9,N_core=16,N_blocking=263,t_minMPInonblock=1.03e-5,N_wait=5862,"
    "t_minMPIwait=5.59e-6,t_MPIblocking=0.41,t_MPIother=17.8"
)


@pytest.fixture
def curves() -> list[AlphaCurve]:
    return [make_curve(parse_typed(text)) for text in (FIRST, SECOND, THIRD)]


def test_calls_of_threads_may_leave_no_time(tmp_path: Path) -> None:
    time = {"count": 10, "total": 2_000_000_000, "minimum": 1000, "maximum": 900_000_000}
    functions = [{"function": "MPI_Recv", "time": time}]
    rank = {"rank": 0, "elapsed_ns": 1_000_000_000, "has_threaded_calls": True, "functions": functions, "sites": []}
    document = {"source": "document", "cores_per_rank": 4, "ranks": [rank]}
    path = tmp_path / "threads.json"
    path.write_text(json.dumps({"schema": "lapwing-profile", "version": 1, "profile": document}))
    profile = read_profile(path)
    assert apply_paper(profile) is None
    with pytest.raises(LapwingError, match="take all of the ranks' time"):
        take_run(profile)


def test_typed_parameters_are_the_papers() -> None:
    run = parse_typed("x: t_noprogress=112, t_comp=94.55, N_core=16, N_blocking=5863, t_MPIblocking=19.16")
    assert run.parameters == PaperParameters(94.55, 16, 19.16, blocking_count=5863)
    assert (run.name, run.no_progress_s) == ("x", 112)
    assert parse_typed("t_noprogress=2,t_comp=1,N_core=4").name == "typed in"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("x: t_comp=1,N_core=4", "lacks t_noprogress"),
        ("x: t_noprogress=0,t_comp=1,N_core=4", "t_noprogress=0.*above 0"),
        ("x: t_noprogress=1,t_comp=0,N_core=4", "t_comp=0.*above 0"),
        ("x: t_noprogress=10,t_comp=20,N_core=4", "more computation than time"),
        ("x: t_noprogress=2,t_comp=1,N_core=1", "N_core=1"),
        ("x: t_noprogress=2,t_comp=1,N_core=2.5", "N_core=2.5"),
        ("x: t_noprogress=2,t_comp=-1,N_core=4", "t_comp=-1"),
        ("x: t_noprogress=2,t_comp=nan,N_core=4", "t_comp=nan"),
        ("x: t_noprogress=2,t_comp=1,N_core=4,N_cores=3", "no parameter 'N_cores'"),
        ("x: t_noprogress=2,t_comp=1,N_core=4,t_comp=1.5", "t_comp is there twice"),
        ("x: t_noprogress=1e-320,t_comp=1e-320,N_core=4", "t_noprogress=1e-320"),
    ],
)
def test_what_cannot_be_is_refused(text: str, cause: str) -> None:
    with pytest.raises(LapwingError, match=cause):
        parse_typed(text)


@pytest.mark.parametrize("text", ["1.5", "-0.1", "half", "nan"])
def test_alpha_is_a_share(text: str) -> None:
    with pytest.raises(LapwingError, match="no share"):
        parse_alpha(text)


def test_slopes_tell_the_papers_three_cases_apart(curves: list[AlphaCurve]) -> None:
    """Section VI-C: the first two slopes are positive, the third is quasi-neutral; the first gains nothing at 0."""
    first, second, third = curves
    assert first.slope > 0.1
    assert second.slope > 0.1
    assert abs(third.slope) < 0.01
    assert first.break_even_alpha == pytest.approx(0.54, abs=0.01)
    assert second.break_even_alpha == third.break_even_alpha == 0
    assert second.speedup(1) == pytest.approx(17.9 / 12.30, abs=0.01)
    assert second.time_s(0.5) == pytest.approx(17.9 / second.speedup(0.5))


def test_no_slope_has_no_sign_of_a_loss() -> None:
    assert "+0.000" in list_cells(make_curve(parse_typed("x: t_noprogress=10,t_comp=5,N_core=4")), [])


def test_plot_shows_every_run_and_where_it_pays(curves: list[AlphaCurve]) -> None:
    rows = draw_text(curves)
    assert all(any(mark in row for row in rows) for mark in "abc·")
    assert rows[-1].split() == ["alpha", "0", "0.5", "1"]
    falling = make_curve(parse_typed("t_noprogress=2,t_comp=1,N_core=4,N_blocking=9,t_minMPInonblock=1"))
    assert "a" in "".join(draw_text([falling]))


def test_line_of_no_gain_is_labelled_so_where_every_speedup_is_a_gain() -> None:
    labels = [row.split("|")[0].strip() for row in draw_text([make_curve(parse_typed(SECOND))]) if "·" in row]
    assert labels == ["1.00"]


def test_page_has_curves_and_parameters(curves: list[AlphaCurve]) -> None:
    drawing = draw_curves(curves, [0.5])
    assert (drawing.count("<polyline"), drawing.count("<circle")) == (3, 3)
    page = make_alpha_page(curves, [0.5])
    for text in ("MiniMD 3", "t_minMPInonblock", "7.49e-05", "from 0.54", "alpha 0.5"):
        assert text in page


def test_table_fits_a_terminal(curves: list[AlphaCurve]) -> None:
    console = Console(width=80, record=True)
    print_curves(console, curves, [0.25, 0.75])
    text = console.export_text()
    assert "at the chosen alpha" in text
    assert [row.split()[-4] for row in text.splitlines() if " 0.25 " in row or " 0.75 " in row] == ["0.25", "0.75"] * 3
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("alphas", [[], [0.5], [0.1, 0.5, 0.9], [number / 10 for number in range(11)]])
def test_tables_keep_names_and_figures(curves: list[AlphaCurve], alphas: list[float]) -> None:
    named = [replace(curve, run=replace(curve.run, name=f"{curve.run.name}, as it was profiled")) for curve in curves]
    console = Console(width=80, record=True)
    print_curves(console, named, alphas)
    rows = console.export_text().splitlines()
    assert max(map(len, rows)) <= 80
    assert not any("…" in row for row in rows)
    for mark, curve in zip("abc", curves, strict=True):
        assert any(row.strip().startswith(f"{mark} {curve.run.name.split()[0]}") for row in rows)
        for alpha in alphas:
            speedup, time = f"{curve.speedup(alpha):.2f}", format_seconds(curve.time_s(alpha))
            assert any(speedup in row and time in row for row in rows)


def test_predict_overlays_typed_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "alpha.html"
    assert main(["predict", "--typed", FIRST, "--typed", SECOND, "--alpha", "0.5", "--html", str(page), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [run["name"] for run in document["runs"]] == ["MiniMD 1", "MiniMD 2"]
    assert document["runs"][0]["chosen"][0]["dedicated_s"] == pytest.approx(112.75, abs=0.01)
    assert "<polyline" in page.read_text()


def test_nothing_to_predict_from_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict"]) == 2
    assert "--typed" in capsys.readouterr().err
