# SPDX-License-Identifier: MIT
"""`lapwing predict` and `lapwing compare`, end to end."""

import json
import re
from pathlib import Path

import pytest
from model_simulation import profile_programs
from test_model_mpip import REPORT
from test_model_refined import make_programs, overlapping
from test_model_waits import make_route, make_system

from lapwing.cli import main
from lapwing.model.document import FORMAT
from lapwing.model.profile import Way
from lapwing.model.system import FORMAT as SYSTEM_FORMAT


@pytest.fixture
def base(tmp_path: Path) -> str:
    """The file of a stock run."""
    path = tmp_path / "stock.json"
    path.write_text(FORMAT.encode(profile_programs(make_programs(overlapping, 1 << 20))), "utf-8")
    return str(path)


@pytest.fixture
def dedicated(tmp_path: Path) -> str:
    """The file of a run with a dedicated core."""
    path = tmp_path / "dedicated.json"
    profile = profile_programs(make_programs(overlapping, 1 << 20), Way.DEDICATED, 16 / 15)
    path.write_text(FORMAT.encode(profile), "utf-8")
    return str(path)


@pytest.fixture
def report(tmp_path: Path) -> str:
    """The file of an mpiP report."""
    path = tmp_path / "heat.mpiP"
    path.write_text(REPORT, "utf-8")
    return str(path)


def test_predict_prints_every_way_and_both_models(base: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", base]) == 0
    text = capsys.readouterr().out
    for word in ("stock", "progress by", "dedicated core", "deferred", "rewritten", "paper's model", "assumption"):
        assert word in text
    assert text.count("slope") == 1  # the paper's model is told once


def test_predict_json_carries_both_models(base: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", "--json", base]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "lapwing-prediction-1"
    assert [way["way"] for way in document["ways"]] == [way.value for way in Way]
    assert len(document["paper"]["speedup_over_alpha"]) == 11
    assert any(entry["holds"] is False for entry in document["assumptions"])


def test_predict_takes_transfer_times_from_a_system(
    base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a network that is ten times as fast as the simulated one, waiting is for the other end, and not for data."""
    told = []
    for byte_ns in (8.0, 0.8):
        path = tmp_path / "system.json"
        path.write_text(SYSTEM_FORMAT.encode(make_system(make_route("between", byte_ns))), "utf-8")
        assert main(["predict", "--json", "--system", str(path), base]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["has_system"]
        waits = document["waits_s"]
        told.append((waits["transfer"] + waits["progress"], waits["away"] + waits["sender"] + waits["receiver"]))
    assert told[0][0] > 5 * told[0][1] and told[1][1] > 5 * told[1][0]
    assert main(["predict", "--system", base, base]) == 2
    assert "is no system" in capsys.readouterr().err


def test_predict_reads_mpip_and_says_what_it_cannot_know(report: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", "--cores", "16", report]) == 0
    text = capsys.readouterr().out
    assert "cannot tell slack" in text
    assert "paper's model" in text


def test_predict_without_cores_leaves_the_paper_out(report: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", "--json", report]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["paper"] is None
    assert "--cores" in document["ways"][2]["impossible"]


@pytest.mark.parametrize(
    "flag", ["--cores=0", "--cores=-3", "--wait-contention=-1", "--wait-contention=nan", "--threshold=0"]
)
def test_numbers_out_of_range_are_refused(base: str, flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", flag, base]) == 2
    assert re.search("out of range; give at least [01]$", capsys.readouterr().err)


def test_number_above_its_range_is_told_the_range(base: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", f"--cores={'9' * 20}", base]) == 2
    assert capsys.readouterr().err.endswith("out of range; give at most 1000000000000\n")


TYPED = ["--typed", "x: t_noprogress=10,t_comp=5,N_core=4"]


@pytest.mark.parametrize(
    "flag",
    [
        "--system=/nonexistent",
        "--threshold=65536",  # also where it is the default
        "--progress-threshold=1KiB",
        "--nonblocking=off",
        "--wait-contention=0",
    ],
)
def test_flags_that_the_papers_model_ignores_are_refused(
    base: str, flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for line in (TYPED, [base, base], [base, *TYPED]):
        assert main(["predict", flag, *line]) == 2
        error = capsys.readouterr().err
        assert f"leave {flag.split('=')[0]} out" in error
        assert "paper's model" in error


@pytest.mark.parametrize("flag", ["--cores=8", "--spare-cores=1"])
def test_typed_parameters_have_their_cores(base: str, flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", flag, *TYPED]) == 2
    assert f"leave {flag.split('=')[0]} out" in capsys.readouterr().err
    assert main(["predict", flag, base, *TYPED]) == 0


def test_missing_file_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", "/nonexistent"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_compare_takes_the_way_from_the_profile(base: str, dedicated: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", base, dedicated, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [run["way"] for run in document["runs"]] == ["dedicated core"]
    assert document["runs"][0]["is_inside"]


def test_compare_prints_terms_sites_and_words(base: str, dedicated: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", base, dedicated, base]) == 0
    text = capsys.readouterr().out
    assert "MPI_Waitall halo.c:1" in text
    assert "within" in text


def test_compare_tells_line_numbers_of_long_paths(
    base: str, dedicated: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for path in map(Path, (base, dedicated)):
        path.write_text(path.read_text().replace('"halo.c"', f'"/work/{"long/" * 20}halo_of_three_dimensions.c"'))
    assert main(["compare", base, dedicated]) == 0
    table = capsys.readouterr().out.split("call site")[1]
    assert "halo_of_three_dimensions.c:1" in table.replace("\n", "")
    assert "/work" not in table.split("- ")[0]


def test_compare_of_mpip_reports_is_told_the_way(report: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--cores", "16", report, report, "--way", "dedicated"]) == 0
    assert "dedicated core" in capsys.readouterr().out


def test_ways_must_fit_the_runs(base: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", base, base, base, base, "--way", "events", "--way", "stock"]) == 2
    assert "2 ways are given for 3 runs" in capsys.readouterr().err


def test_way_without_prediction_is_refused(report: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", report, report, "--way", "dedicated"]) == 2
    assert "cannot be predicted" in capsys.readouterr().err


def test_compare_doubts_runs_without_common_call_sites(base: str, capsys: pytest.CaptureFixture[str]) -> None:
    other = Path(base).with_name("other.json")
    other.write_text(re.sub(r'"(file|module)": "[^"]*"', r'"\1": "other"', Path(base).read_text("utf-8")), "utf-8")
    assert main(["compare", base, str(other)]) == 0
    assert "are these runs of the same program?" in " ".join(capsys.readouterr().out.split())


def test_compare_believes_runs_of_one_program(base: str, dedicated: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", base, dedicated]) == 0
    assert "same program" not in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("command", ["predict", "compare"])
def test_names_keep_their_brackets(command: str, base: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(base).with_name("run[abi:cxx11].json")
    path.write_bytes(Path(base).read_bytes())
    assert main([command, *[str(path)] * (2 if command == "compare" else 1)]) == 0
    assert "run[abi:cxx11].json" in capsys.readouterr().out
