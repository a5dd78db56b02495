# SPDX-License-Identifier: MIT
"""Campaigns of `lapwing advise --inputs`: lines, bars and tables as in the dedicated-core paper, and one short run."""

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from test_advise import advise, make_rounds, make_study
from test_advise_run import LAUNCH, build, needs_preload
from test_advise_run import advise as run_advise
from test_model_refined import blocking_with_slack

from lapwing.advise.campaign import CampaignRun, list_bars, list_parameters, parse_inputs, summarise_run
from lapwing.advise.campaign_page import draw_campaign, encode_campaign, make_campaign_page, print_campaign
from lapwing.advise.ways import Beside
from lapwing.cli import main
from lapwing.errors import LapwingError
from lapwing.model.classes import CallClass
from lapwing.model.profile import Way

TIMES = {Way.STOCK: [1.0, 1.1, 1.0, 1.2, 1.0], Way.DEFERRED: [0.7, 0.75, 0.7, 0.8, 0.72]}


def make_run(name: str, cores: int) -> CampaignRun:
    study = make_study(blocking_with_slack, cores=cores)
    return summarise_run(name, advise(study, make_rounds(TIMES)), study.profile)


@pytest.fixture
def runs() -> list[CampaignRun]:
    return [make_run("one core", 1), make_run("16 cores", 16)]


def test_lines_have_a_name_and_a_command() -> None:
    lines = parse_inputs("# sizes\n\nsmall, 2 ranks: mpirun -n 2 ./a 'x y.dat'\nMPMD: mpirun -n 1 ./a : -n 1 ./b\n")
    assert [line.name for line in lines] == ["small, 2 ranks", "MPMD"]
    assert lines[0].words == ("mpirun", "-n", "2", "./a", "x y.dat")
    assert lines[1].words[4] == ":"


@pytest.mark.parametrize("text", ["", "# nothing", "mpirun -n 2 ./a", "x: ", "x: 'a", "x: a\nx: b", "x: a\0b"])
def test_other_lines_are_refused(text: str) -> None:
    with pytest.raises(LapwingError):
        parse_inputs(text)


def test_paper_needs_a_core_to_give_up(runs: list[CampaignRun]) -> None:
    without, with_cores = (list_bars(run) for run in runs)
    assert not any(bar.label.startswith("paper") for bar in without)
    assert with_cores[0].label == "paper's model, dedicated core"
    assert with_cores[0].speedup == pytest.approx(runs[1].curve.points[0][1] if runs[1].curve else 0)


def test_predicted_stands_beside_measured(runs: list[CampaignRun]) -> None:
    bars = {bar.label: bar for bar in list_bars(runs[0])}
    assert set(bars) >= {"deferred by Lapwing, predicted", "deferred by Lapwing, measured"}
    assert bars["deferred by Lapwing, measured"].speedup == pytest.approx(1.43, abs=0.05)


def test_tables_have_every_class(runs: list[CampaignRun]) -> None:
    rows = list_parameters(runs[1])
    for name in ("blocking", "nonblock", "test", "wait", "other"):
        assert {f"N_{name}", f"t_minMPI{name}", f"t_MPI{name}"} <= set(rows)
    blocking = runs[1].classes[CallClass.BLOCKING]
    assert (rows["N_blocking"], rows["t_minMPIblocking"]) == (blocking.count, blocking.minimum_s)
    assert rows["t_model"] == pytest.approx(runs[1].advice.profile_s / list_bars(runs[1])[0].speedup)
    assert list_parameters(runs[0])["t_model"] is None


def test_a_dedicated_core_is_timed_as_the_profiled_run_is() -> None:
    study = make_study(blocking_with_slack, cores=16)
    times = {Way.STOCK: [3.0] * 5, Way.DEDICATED: [2.5] * 5}
    advice = advise(study, make_rounds(times), beside=Beside(launch_s=1.5, start_s=0.25))
    assert list_parameters(summarise_run("16 cores", advice, study.profile))["t_dedicated"] == pytest.approx(0.75)


def test_the_launchers_noise_is_not_in_the_time_without_progress() -> None:
    study = make_study(blocking_with_slack)
    measured = advise(study, make_rounds({Way.STOCK: [1.6] * 5}), beside=Beside(launch_s=1.5, start_s=0.25))
    rows = list_parameters(summarise_run("quick launchers", measured, study.profile))
    assert rows["t_noprogress"] == measured.profile_s


def test_page_terminal_and_json_show_every_run(runs: list[CampaignRun]) -> None:
    assert draw_campaign(runs).count("<rect") == sum(len(list_bars(run)) for run in runs)
    page = make_campaign_page(runs)
    assert page.count("<polyline") == 1  # the alpha curve of the run with 16 cores
    console = Console(file=StringIO(), width=100, record=True)
    print_campaign(console, runs)
    text = console.export_text()
    assert "one core" in text
    assert "profiled" in text
    assert "16 cores" in text
    document = json.loads(encode_campaign(runs))
    assert [run["name"] for run in document["runs"]] == ["one core", "16 cores"]
    assert document["runs"][0]["advice"]["schema"] == "lapwing-advice"


def test_each_curve_has_the_name_of_its_input(runs: list[CampaignRun]) -> None:
    """Not that of the profile, which is a file's for the time being."""
    assert runs[1].curve
    assert runs[1].curve.run.name == "16 cores"


@pytest.mark.parametrize("width", [80, 100, 120])
def test_each_speedup_stands_beside_its_label(runs: list[CampaignRun], width: int) -> None:
    console = Console(file=StringIO(), width=width, record=True)
    print_campaign(console, runs[1:])
    rows = console.export_text().splitlines()
    for bar in list_bars(runs[1]):
        row = next(row for row in rows if f" {bar.speedup:.2f}" in row)
        assert bar.label[:10] in row


def test_inputs_and_a_launcher_are_refused_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", "--inputs", str(tmp_path / "none"), "mpirun", "./a"]) == 2
    assert main(["advise", "--inputs", str(tmp_path / "none")]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_all_lines_are_looked_at_before_the_first_runs(
    tmp_path: Path, stand_in_preload: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LAPWING_PRELOAD", str(stand_in_preload))
    (tmp_path / "inputs").write_text(f"first: touch {tmp_path}/ran\nsecond: {tmp_path}/absent\n")
    assert main(["advise", "--inputs", str(tmp_path / "inputs")]) == 2
    assert "absent" in capsys.readouterr().err
    assert not (tmp_path / "ran").exists()


@needs_preload
def test_short_campaign(tmp_path: Path) -> None:
    mpi = "openmpi"
    program = build(mpi, tmp_path, "-g")
    launch = " ".join(LAUNCH[mpi])
    inputs = f"20 steps: {launch} -n 2 {program} 20\nfails: false\n40 steps: {launch} -n 2 {program} 40\n"
    (tmp_path / "inputs").write_text(inputs)
    files = ["--json", "campaign.json", "--html", "campaign.html"]
    done = run_advise(tmp_path, "--rounds", "1", "--way", "deferred", "--inputs", "inputs", *files)
    assert done.returncode == 1, done.stderr
    assert "fails: the program ended with 1 without Lapwing" in done.stderr
    document = json.loads((tmp_path / "campaign.json").read_text())
    counts = [run["parameters"]["N_blocking"] for run in document["runs"]]
    assert counts == [20, 40]
    assert all(any("measured" in bar["label"] for bar in run["speedups"]) for run in document["runs"])
    assert "<svg" in (tmp_path / "campaign.html").read_text()
