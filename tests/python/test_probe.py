# SPDX-License-Identifier: MIT
"""The probe: what it concludes, what it refuses to conclude, and one short run."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from needs import needs_mpi
from rich.console import Console

from lapwing.bench.contenders import Contender
from lapwing.bench.line import LinePlace, find_line_mpi
from lapwing.bench.mpi import Mpi, find_mpi
from lapwing.bench.place import ROOT_ALLOWED
from lapwing.cli import main
from lapwing.errors import LapwingError
from lapwing.launch.launchers import Hydra
from lapwing.probe.evidence import EXPERIMENTS, Carrier, Finding, SizeFindings, Verdict, choose_verdict, judge_size
from lapwing.probe.run import Findings, Plan, choose_sizes, explain_no_pair, probe_where
from lapwing.probe.show import print_probe
from lapwing.probe.words import conclude, describe_eager, describe_finding, describe_size

PYTHON = Path(__file__).parents[2] / "python"
COMM, AWAY = 1000.0, 2000.0
SIDE: Mapping[str, float] = {
    "total_us": COMM,
    "start_us": 1,
    "absence_us": 0,
    "wait_us": COMM,
    "slept_us": 0,
    "test_us": 0,
    "helpers_us": 0,
    "net_bytes": 0,
    "rdma_bytes": 0,
}


def make_side(**changes: float) -> dict[str, list[float]]:
    return {key: [value] * 3 for key, value in {**SIDE, **changes}.items()}


def make_row(total_us: float, **changes: float) -> dict[str, Any]:
    """Make what the program prints when each absence ends after total_us."""
    away = {"sender": make_side(total_us=total_us, **changes), "receiver": make_side(total_us=total_us - 1)}
    alone = {f"{name}_alone_us": [AWAY] * 3 for name in ("work", "work_test")} | {"test_alone_us": [0.1] * 3}
    experiments = dict.fromkeys(EXPERIMENTS, away)
    stay = {"sender": make_side(), "receiver": make_side()}
    return {"size_bytes": 1 << 20, "tests": 1, "sleep_us": AWAY, "work_us": AWAY, "alone": stay, **alone, **experiments}


def test_a_transfer_that_adds_its_time_only_moves_inside_mpi() -> None:
    size = judge_size(make_row(AWAY + COMM))
    assert size.findings["work"].verdict is Verdict.NONE
    assert size.findings["work"].hidden == pytest.approx(0)
    assert size.carriers == [Carrier.NOBODY]


def test_a_transfer_that_adds_nothing_goes_on_in_the_background() -> None:
    size = judge_size(make_row(AWAY, net_bytes=1 << 20))
    assert size.findings["sender_sleep"].verdict is Verdict.ALL
    assert size.carriers == [Carrier.KERNEL]


@pytest.mark.parametrize(
    ("sign", "carrier"),
    [
        ({"start_us": 900.0}, Carrier.CALL),
        ({"helpers_us": 200.0}, Carrier.THREAD),
        ({"net_bytes": 600e3}, Carrier.KERNEL),
        ({"rdma_bytes": 2e6}, Carrier.CARD),
        ({"net_bytes": 1000.0}, Carrier.UNSEEN),
    ],
)
def test_the_carrier_is_who_was_seen(sign: dict[str, float], carrier: Carrier) -> None:
    assert judge_size(make_row(AWAY, **sign)).carriers == [carrier]


def test_several_can_have_a_part_in_it() -> None:
    assert judge_size(make_row(AWAY, helpers_us=200, net_bytes=2e6)).carriers == [Carrier.THREAD, Carrier.KERNEL]


def test_scattered_times_prove_nothing() -> None:
    row = make_row(AWAY + COMM)
    row["sleep"] = {"sender": {**make_side(), "total_us": [2000, 3000, 4000]}, "receiver": make_side()}
    size = judge_size(row)
    assert size.findings["sleep"].verdict is Verdict.UNKNOWN
    assert size.carriers == []


def test_sleeps_that_end_late_hide_nothing_less() -> None:
    row = make_row(AWAY + COMM + 300, slept_us=AWAY + 300)
    assert judge_size(row).findings["sleep"].sides["sender"].hidden == pytest.approx(0)
    assert judge_size(row).findings["work"].sides["receiver"].hidden == pytest.approx(-0.299)


def test_sender_and_receiver_are_told_apart() -> None:
    """As within a host in the guide: one call of MPI_Test halfway sets the sender free."""
    row = make_row(AWAY + COMM)
    row["sleep_test"] = {
        "sender": make_side(total_us=AWAY, slept_us=AWAY, wait_us=1, test_us=900),
        "receiver": make_side(total_us=AWAY + COMM, slept_us=AWAY),
    }
    size = judge_size(row)
    sides = size.findings["sleep_test"].sides
    assert (sides["sender"].verdict, sides["receiver"].verdict) == (Verdict.ALL, Verdict.NONE)
    text = next(line for line in describe_size(size) if "MPI_Test halfway" in line)
    assert "sender: it goes on meanwhile (100 % hidden); receiver: nothing of it is hidden" in text
    assert any("one MPI_Test takes 100 ns where there is nothing to do, 900 us" in line for line in describe_size(size))


def test_more_than_all_cannot_be_hidden() -> None:
    assert choose_verdict(1.5, 0.1, 1.0) is Verdict.UNKNOWN
    verdicts = [choose_verdict(hidden, 0.1, 1.0) for hidden in (-2, 0.5, 1.05)]
    assert verdicts == [Verdict.NONE, Verdict.PART, Verdict.ALL]


def test_a_transfer_that_slows_the_work_is_no_transfer_that_waits() -> None:
    assert choose_verdict(-0.2, 0.1, 0.01) is Verdict.PAID
    assert "nothing is gained" in describe_finding(make_finding(Verdict.PAID), "x")


def test_sizes_have_the_largest_eager_message_where_it_tells_something() -> None:
    assert choose_sizes(65480) == [4096, 65480, 256 << 10, 1 << 20, 4 << 20]
    assert choose_sizes(256) == choose_sizes(4 << 20) == [4096, 256 << 10, 1 << 20, 4 << 20]


def test_eager_limit_claims_no_more_than_was_tried() -> None:
    assert "about 64 KiB" in describe_eager(65536, 1 << 22)
    assert "at least" in describe_eager(1 << 22, 1 << 22)
    assert "No send" in describe_eager(0, 1 << 22)


def make_finding(verdict: Verdict) -> Finding:
    return Finding(0.5, 0.1, 1500, verdict)


def make_size(number: int, verdict: Verdict) -> SizeFindings:
    findings = {name: make_finding(verdict) for name in EXPERIMENTS}
    return SizeFindings(number, COMM, AWAY, AWAY, 1, 0.1, findings, [Carrier.THREAD])


def test_sentences_say_what_was_measured() -> None:
    assert (
        describe_finding(make_finding(Verdict.PART), "x") == "x: 50 % of it is hidden; MPI_Wait then still took 1.5 ms"
    )
    assert "cannot be told" in describe_finding(make_finding(Verdict.UNKNOWN), "x")
    assert "cannot be told" in describe_size(make_size(8, Verdict.UNKNOWN))[1]


def test_conclusion_names_sizes_when_they_differ() -> None:
    assert "every size" in conclude([make_size(8, Verdict.ALL), make_size(9, Verdict.ALL)])
    assert "Nothing can be told" in conclude([make_size(8, Verdict.UNKNOWN)])
    text = conclude([make_size(8, Verdict.ALL), make_size(9, Verdict.NONE), make_size(10, Verdict.UNKNOWN)])
    assert "8 B in the background; 9 B only inside MPI calls; 10 B cannot be told" in text


def test_report_says_what_is_missing() -> None:
    console = Console(width=80, record=True, file=io.StringIO())
    sizes = [make_size(number, Verdict.PART) for number in (4096, 65480, 1 << 18, 1 << 20, 1 << 22)]
    found = Findings("within", "", "MPI 9", ["a", "a"], 4096, {"stock": sizes}, {"lapwing off": "it hung"})
    print_probe(console, [found, Findings("between", "all ranks run on a")], ["", ""])
    text = console.export_text()
    assert "lapwing off: not measured, it hung" in text
    assert "Between hosts: not measured, all ranks run on a" in text
    assert "50 / 50 t" in text
    assert "…" not in text


def test_findings_can_be_written() -> None:
    found = Findings("within", "", "MPI 9", ["a", "a"], 4096, {"stock": [make_size(8, Verdict.PART)]}, {})
    size = json.loads(json.dumps(found.as_json()))["sizes"]["stock"][0]
    assert (size["carriers"], size["findings"]["work"]["verdict"]) == (["thread"], "partly in the background")


def test_without_a_pair_nothing_is_claimed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = {"library": "MPI 9", "pair": None, "hosts": ["a"], "ranks": 2}
    monkeypatch.setattr(LinePlace, "run_as", lambda *words: [json.dumps(head)])
    place = LinePlace(Mpi("mpich", "mpicc", Hydra("mpirun")), None, tmp_path)
    found = probe_where(place, Path("probe"), "between", [Contender("stock")], Plan([], 3), lambda: None)
    assert found.missing == "all ranks run on a"


@pytest.mark.parametrize(
    ("ranks", "where", "cause"),
    [
        (1, "within", "there is only one rank"),
        (1, "between", "there is only one rank"),
        (3, "within", "no other rank runs on the host of rank 0"),
        (3, "between", "all ranks run on a"),
    ],
)
def test_why_there_is_no_pair(ranks: int, where: str, cause: str) -> None:
    assert explain_no_pair({"pair": None, "hosts": ["a"], "ranks": ranks}, where) == cause


@needs_mpi
def test_nothing_measured_is_a_failure(tmp_path: Path, stand_in_preload: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(PYTHON), "LAPWING_PRELOAD": str(stand_in_preload)}
    line = ["probe", "--sizes", "4KiB", "--strategies", "", "--repetitions", "3", find_mpi(None).launcher.path]
    command = [sys.executable, "-m", "lapwing", *line, "-n", "1"]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment | ROOT_ALLOWED, timeout=120, cwd=tmp_path, check=False
    )
    assert done.stdout.count("not measured, there is only one rank") == 2
    assert done.returncode == 1


def test_users_line_gets_the_program_at_its_end(tmp_path: Path) -> None:
    place = LinePlace(Mpi("mpich", "mpicc", Hydra("mpirun")), None, tmp_path, arguments=["-n", "2", "-hosts", "a,b"])
    line = place.command(Contender("own", {"MPICH_ASYNC_PROGRESS": "1"}), ["./probe", "within"])
    assert line == ["mpirun", "-genv", "MPICH_ASYNC_PROGRESS", "1", "-n", "2", "-hosts", "a,b", "./probe", "within"]


def test_line_with_a_program_is_refused() -> None:
    if shutil.which("mpirun") is None:
        pytest.skip("no mpirun")
    with pytest.raises(LapwingError, match="names a program"):
        find_line_mpi(["mpirun", "-n", "2", "./a"], None)
    with pytest.raises(LapwingError, match="no MPI launcher"):
        find_line_mpi(["true"], None)


@pytest.mark.parametrize(
    "line",
    [
        "--system s.json --json p.json",
        "--system s.json --sizes 1KiB",
        "--system s.json --strategies auto",
        "--system s.json --absence 5",
        "--system s.json --repetitions 9",
        "--system s.json --tests 2",
        "--shared-memory mpirun -n 2",
        "--mpi mpich mpirun -n 2",
    ],
)
def test_flags_that_would_be_ignored_are_refused(
    line: str,
    tmp_path: Path,
    stand_in_preload: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAPWING_PRELOAD", str(stand_in_preload))
    assert main(["probe", *line.split()]) == 2
    assert "leave --" in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--jobs 3", "--largest 64MiB", "--route within", "--host-names", "--simgrid x"])
def test_flags_of_the_parameters_need_them_to_be_measured(
    flag: str, stand_in_preload: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LAPWING_PRELOAD", str(stand_in_preload))
    assert main(["probe", *flag.split()]) == 2
    assert "add --system" in capsys.readouterr().err


@needs_mpi
def test_nothing_is_left_when_the_probe_of_a_line_is_killed(tmp_path: Path, stand_in_preload: Path) -> None:
    launcher = find_mpi(None).launcher.path
    environment = {**os.environ, "PYTHONPATH": str(PYTHON), "LAPWING_PRELOAD": str(stand_in_preload)}
    compiler, stand_in = tmp_path / "cc", tmp_path / "stand-in"  # of a probe that takes long
    compiler.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\ncp stand-in "$2"\n')
    stand_in.write_text("#!/bin/sh\necho $$ > rank\nexec sleep 60\n")
    for path in (compiler, stand_in):
        path.chmod(0o755)
    command = [sys.executable, "-m", "lapwing", "probe", "--compiler", str(compiler), launcher, "-n", "1"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment | ROOT_ALLOWED) as child:
        pid = wait_for_number(tmp_path / "rank")
        child.send_signal(signal.SIGTERM)
        assert child.wait(30) == 143
    for _ in range(100):
        if not Path("/proc", pid).exists():
            break
        time.sleep(0.05)
    assert not Path("/proc", pid).exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cc", "rank", "stand-in"]


def wait_for_number(path: Path) -> str:
    """Return what a process wrote into a file, when it has."""
    for _ in range(400):
        if path.exists() and path.read_text().endswith("\n"):
            return path.read_text().strip()
        time.sleep(0.05)
    pytest.fail(f"{path.name} was not written")


@needs_mpi
def test_short_run(tmp_path: Path, stand_in_preload: Path) -> None:
    line = "probe --shared-memory --sizes 64KiB --repetitions 3 --absence 5 --tests 2 --strategies auto --json out.json"
    environment = {**os.environ, "PYTHONPATH": str(PYTHON), "LAPWING_PRELOAD": str(stand_in_preload)}
    command = [sys.executable, "-m", "lapwing", *line.split()]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    within, between = json.loads((tmp_path / "out.json").read_text())["found"]
    assert within["failures"].keys() <= {"MPICH_ASYNC_PROGRESS"}  # it may take minutes on a busy machine
    assert within["sizes"].keys() >= {"stock", "lapwing auto"}
    stock = within["sizes"]["stock"][0]
    assert (stock["tests"], stock["sleep_us"], stock["work_us"]) == (2, 5000, 5000)
    assert 0 < stock["test_price_us"] < 5000
    assert 0 <= within["eager_bytes"] <= 4 << 20
    assert between["missing"]
