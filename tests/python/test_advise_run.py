# SPDX-License-Identifier: MIT
"""`lapwing advise`, end to end, with real MPIs and the real library, where both are there."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lapwing.advise.document import read_advice
from lapwing.advise.rounds import run_rounds
from lapwing.advise.trial import PLAIN, Trial
from lapwing.cli import main
from lapwing.errors import LapwingError
from lapwing.launch.start import prepare_command
from lapwing.model.profile import Way

PYTHON = Path(__file__).parents[2] / "python"
SOURCE = Path(__file__).parent / "touch_later.c"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(PYTHON)}
ENVIRONMENT |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
LAUNCH = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none"], "mpich": ["mpirun.mpich"]}
needs_preload = pytest.mark.skipif("LAPWING_PRELOAD" not in os.environ, reason="LAPWING_PRELOAD names no library")


def find_line(word: str) -> int:
    """Return the number of the line with a mark."""
    lines = SOURCE.read_text("utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if f"/* {word} */" in line)


def build(mpi: str, folder: Path, *flags: str) -> str:
    """Build the program."""
    compiler = shutil.which(f"mpicc.{mpi}")
    if compiler is None or shutil.which(LAUNCH[mpi][0]) is None:
        pytest.skip(f"{mpi} is not installed")
    subprocess.run([compiler, "-O2", *flags, "-o", str(folder / "touch_later"), str(SOURCE)], check=True)
    return "./touch_later"


def advise(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run the command."""
    line = [sys.executable, "-m", "lapwing", "advise", *words]
    return subprocess.run(
        line, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=240, stdin=subprocess.DEVNULL
    )


@needs_preload
@pytest.mark.parametrize("mpi", sorted(LAUNCH))
def test_ways_are_measured_and_the_touch_is_found(mpi: str, tmp_path: Path) -> None:
    program = build(mpi, tmp_path, "-g")
    files = ["--json", "advice.json", "--html", "advice.html"]
    done = advise(tmp_path, "--rounds", "3", "--way", "deferred", *files, *LAUNCH[mpi], "-n", "2", program)
    assert done.returncode == 0, done.stderr
    advice = read_advice(tmp_path / "advice.json")
    measured = {way.way: way.measured.time.count for way in advice.ways if way.measured}
    assert measured == {Way.STOCK: 3, Way.DEFERRED: 3}
    site = next((site for site in advice.sites if site.function == "MPI_Recv"), None)
    # On shared memory a receive takes too little to be worth a line, unless the machine is busy.
    assert site is None or (site.place, site.touched_at) == (
        f"touch_later.c:{find_line('CALL')}",
        f"touch_later.c:{find_line('TOUCH')}",
    )
    assert f"touch_later.c:{find_line('TOUCH')}" in (tmp_path / "advice.html").read_text("utf-8")
    assert "own words" not in done.stdout + done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["advice.html", "advice.json", "touch_later"]


@needs_preload
def test_time_that_only_lapwing_takes_before_mpi_init_is_harm(tmp_path: Path) -> None:
    program = build("mpich", tmp_path)
    environment = {**ENVIRONMENT, "LD_PRELOAD": str(build_slow_start(tmp_path))}
    words = ["--rounds", "5", "--way", "deferred", "--json", "advice.json", *LAUNCH["mpich"], "-n", "2", program]
    line = [sys.executable, "-m", "lapwing", "advise", *words]
    done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240)
    assert done.stdout.startswith("Leave it as it is: every way that was tried is slower"), done.stdout + done.stderr
    advice = read_advice(tmp_path / "advice.json")
    measured = next(way.measured for way in advice.ways if way.way is Way.DEFERRED)
    assert measured is not None
    assert measured.time.minimum > 2.0 + advice.start_s > 2.0


def build_slow_start(folder: Path) -> Path:
    """Build a library that sleeps for two seconds before main() where Lapwing's is preloaded, too."""
    text = """#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void begin(void)
{
    if (getenv("LAPWING_RECORD_DIR") && getenv("PMI_RANK"))
        sleep(2);
}
"""
    library = folder / "slow_start.so"
    command = [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-x", "c", "-", "-o", str(library)]
    subprocess.run(command, input=text, text=True, check=True)
    return library


@needs_preload
def test_missing_debug_information_is_a_remark(tmp_path: Path) -> None:
    program = build("mpich", tmp_path, "-g0")
    done = advise(tmp_path, "--budget", "0", *LAUNCH["mpich"], "-n", "2", program)
    assert done.returncode == 0, done.stderr
    assert "no debug information" in done.stdout.replace("\n", " ")


@needs_preload
def test_no_budget_gives_the_prediction_alone(tmp_path: Path) -> None:
    program = build("mpich", tmp_path)
    words = ["--budget", "0", "--way", "deferred", *LAUNCH["mpich"], "-n", "2", program]
    done = advise(tmp_path, *words)
    assert "Not measured: --budget 0 only predicts" in done.stdout, done.stderr


SLOW = 'trap "echo ended >ended; exit 9" TERM; sleep 1000 >/dev/null 2>&1 & wait'


@pytest.mark.parametrize(
    ("script", "name"), [(SLOW, PLAIN), (f'[ -z "$LAPWING_PROFILE" ] || {{ {SLOW}; }}', "profile")]
)
def test_budget_ends_the_first_runs(script: str, name: str, tmp_path: Path, stand_in_preload: Path) -> None:
    line = [sys.executable, "-m", "lapwing", "advise", "--budget", "2", "sh", "-c", script]
    environment = {**ENVIRONMENT, "LAPWING_PRELOAD": str(stand_in_preload)}
    done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert f"the budget was over before the program had ended ({name})" in done.stderr
    assert (tmp_path / "ended").exists()


def test_budget_ends_a_round(tmp_path: Path, stand_in_preload: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    trial = Trial(prepare_command(["sleep", "60"], "advise"), stand_in_preload, tmp_path, left_s=lambda: 0.5)
    rounds = run_rounds((Way.STOCK, Way.DEFERRED), (5,), trial.run_way, trial.left_s, lambda _: True)
    assert (rounds.count, rounds.is_cut, rounds.failed) == (0, True, {})


@needs_preload
def test_failure_to_write_loses_no_advice(tmp_path: Path) -> None:
    program = build("mpich", tmp_path)
    (tmp_path / "gone").mkdir()
    files = ["--json", "gone/j", "--html", "page", "--profile-record", "gone/r"]
    script = f"rm -rf gone; exec {program}"
    done = advise(tmp_path, "--budget", "0", *files, *LAUNCH["mpich"], "-n", "2", "sh", "-c", script)
    assert done.returncode == 1
    assert "gone/j was not written" in done.stderr
    assert "gone/r was not written" in done.stderr
    assert "Not measured" in done.stdout
    assert (tmp_path / "page").exists()


@needs_preload
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_ends_the_ranks_and_keeps_whole_rounds(tmp_path: Path, number: signal.Signals) -> None:
    program = build("mpich", tmp_path)
    words = ["--rounds", "1000", "--way", "deferred", "--json", "advice.json", *LAUNCH["mpich"], "-n", "2", program]
    line = [sys.executable, "-m", "lapwing", "advise", *words, "61"]
    with subprocess.Popen(line, cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as process:
        folder = wait_for_rounds(tmp_path)
        process.send_signal(number)
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert "interrupted: only whole rounds" in output.replace("\n", " ")
    advice = read_advice(tmp_path / "advice.json")
    assert advice.is_interrupted
    assert advice.round_count >= 1
    assert not folder.exists()


def wait_for_rounds(folder: Path) -> Path:
    """Wait until two rounds must be over, and return the folder of the outputs."""
    end_s = time.monotonic() + 120
    while time.monotonic() < end_s:
        if list(folder.glob(".lapwing-*/007-*.out")):
            return next(folder.glob(".lapwing-*"))
        time.sleep(0.05)
    raise AssertionError("no second round began")


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (["sh", "-c", "echo broken >&2; exit 7"], "ended with 7 without Lapwing; make it run by itself first"),
        (["true"], "no rank left a profile"),
        (["./missing"], "no such program"),
    ],
)
def test_program_that_cannot_be_advised_is_one_clear_error(
    program: list[str], words: str, tmp_path: Path, stand_in_preload: Path
) -> None:
    line = [sys.executable, "-m", "lapwing", "advise", *program]
    environment = {**ENVIRONMENT, "LAPWING_PRELOAD": str(stand_in_preload)}
    done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode in (1, 2)
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("line", "is_told"), [("echo x | {}", True), ("{} < data", False), ("{} < /dev/null", False)])
def test_program_that_fails_beside_a_pipe_is_told_of_its_input(
    line: str, is_told: bool, tmp_path: Path, stand_in_preload: Path
) -> None:
    (tmp_path / "data").touch()
    command = line.format(f"{sys.executable} -m lapwing advise sh -c 'read -r word || exit 4'")
    environment = {**ENVIRONMENT, "LAPWING_PRELOAD": str(stand_in_preload)}
    words = ["sh", "-c", command]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert "ended with 4 without Lapwing; make it run by itself first" in done.stderr
    assert ("(< FILE)" in done.stderr) is is_told


@pytest.mark.parametrize(
    ("flag", "words"),
    [
        ("--budget=-1", "--budget -1 is out of range; give 0 (only predict) to 1000000000 seconds"),
        ("--budget=nan", "--budget nan is out of range"),
        ("--rounds=0", "--rounds 0 is out of range; give at least 1"),
    ],
)
def test_numbers_out_of_range_are_refused(flag: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", flag, "true"]) == 2
    assert words in capsys.readouterr().err


def test_program_that_only_fails_under_lapwing_is_named(tmp_path: Path, stand_in_preload: Path) -> None:
    line = [sys.executable, "-m", "lapwing", "advise", "sh", "-c", 'echo oops >&2; exec [ -z "$LAPWING_RECORD_DIR" ]']
    environment = {**ENVIRONMENT, "LAPWING_PRELOAD": str(stand_in_preload)}
    done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "| oops" in done.stderr
    assert "ended with 1 under Lapwing (profile), not without it" in done.stderr


def test_full_disk_is_not_blamed_on_the_program(
    tmp_path: Path, stand_in_preload: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("lapwing.advise.trial.os.posix_fallocate", fail)
    with pytest.raises(LapwingError, match="is full; make room"):
        Trial(prepare_command(["false"], "advise"), stand_in_preload, tmp_path).run_plain()


def test_disturbed_profile_is_made_again(
    tmp_path: Path, stand_in_preload: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = prepare_command(["sh", "-c", 'if [ -n "$LAPWING_PROFILE" ]; then echo >>runs; fi; sleep 0.2'], "advise")
    trial = Trial(command, stand_in_preload, tmp_path)
    trial.run_profile(0.01)
    calm = Trial(command, stand_in_preload, tmp_path / "calm")
    calm.folder.mkdir()
    calm.run_profile(60.0)
    assert Path("runs").read_text("utf-8").count("\n") == 4


def test_way_that_takes_too_long_is_ended_and_dropped(
    tmp_path: Path, stand_in_preload: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    trial = Trial(prepare_command(["sleep", "60"], "advise"), stand_in_preload, tmp_path, limit_s=0.5)
    begin_s = time.monotonic()
    run = trial.run_way(Way.DEFERRED)
    assert run.problem.startswith("it was ended after")
    assert time.monotonic() - begin_s < 30


def test_stock_runs_without_the_library(
    tmp_path: Path, stand_in_preload: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = prepare_command(["sh", "-c", 'echo "[$LD_PRELOAD$LAPWING_RECORD_DIR]" | tee -a seen'], "advise")
    trial = Trial(command, stand_in_preload, tmp_path)
    assert trial.run_way(Way.STOCK).problem == ""
    trial.run_way(Way.STOCK)
    assert trial.outputs[Way.STOCK.value] == hashlib.sha256(b"[]\n").hexdigest()
    trial.run_way(Way.DEFERRED)
    seen = Path("seen").read_text("utf-8").splitlines()
    assert (seen[:2], str(stand_in_preload) in seen[2]) == (["[]", "[]"], True)
    assert trial.outputs[Way.STOCK.value] != trial.outputs[Way.DEFERRED.value]


def test_outputs_of_many_runs_do_not_fill_the_disk(
    tmp_path: Path, stand_in_preload: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    trial = Trial(prepare_command(["sh", "-c", "echo output; echo errors >&2"], "advise"), stand_in_preload, tmp_path)
    trial.run_plain()
    trial.run_way(Way.STOCK)
    trial.run_profiled("profile")
    assert [path.stat().st_size for path in tmp_path.iterdir() if path.is_file()] == [0] * 6


def test_every_line_of_a_campaign_gets_the_input(tmp_path: Path) -> None:
    """What one read is not gone for the next."""
    script = "from pathlib import Path; from lapwing.advise.trial import keep_input; keep_input(Path())"
    (tmp_path / "data").write_text("123")
    line = f'{sys.executable} -c "{script}; keep_input(Path())"; cat'
    with (tmp_path / "data").open() as stream:
        done = subprocess.run(
            ["sh", "-c", line], cwd=tmp_path, env=ENVIRONMENT, stdin=stream, capture_output=True, text=True, timeout=60
        )
    assert (done.stdout, (tmp_path / "input").read_text()) == ("123", "123"), done.stderr


def test_stock_is_not_charged_for_lapwing(
    tmp_path: Path, stand_in_preload: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    trial = Trial(prepare_command(["true"], "advise"), stand_in_preload, tmp_path, start_s=1000.0)
    assert trial.run_way(Way.STOCK).time_s < 1000.0 < trial.run_way(Way.DEFERRED).time_s


@pytest.mark.parametrize("launcher", [["true"], LAUNCH["mpich"], LAUNCH["openmpi"]])
def test_what_lapwing_run_itself_takes_is_charged(
    launcher: list[str], tmp_path: Path, stand_in_preload: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which(launcher[0]) is None:
        pytest.skip(f"{launcher[0]} is not installed")
    monkeypatch.chdir(tmp_path)
    for name, value in {**ENVIRONMENT, "LAPWING_PRELOAD": str(stand_in_preload)}.items():
        monkeypatch.setenv(name, value)
    trial = Trial(prepare_command([*launcher, "true"], "advise"), stand_in_preload, tmp_path)
    trial.time_start()
    assert 0.01 < trial.start_s < 60  # a Python starts


def test_timing_the_start_leaves_no_report(
    tmp_path: Path, stand_in_preload: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("site.toml").write_text(f'[reports]\nfolder = "{tmp_path}/reports"\n')
    for name, value in {"LAPWING_PRELOAD": str(stand_in_preload), "LAPWING_CONFIG": "site.toml"}.items():
        monkeypatch.setenv(name, value)
    Trial(prepare_command(["true"], "advise"), stand_in_preload, tmp_path).time_start()
    assert not Path("reports").exists()


def test_profile_that_is_left_out_is_named(tmp_path: Path, stand_in_preload: Path) -> None:
    line = [sys.executable, "-m", "lapwing", "advise", "--budget", "0", "true"]
    environment = {**ENVIRONMENT, "LAPWING_PRELOAD": str(stand_in_preload), "LAPWING_PROFILE": "on"}
    done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert "what is measured has it off" in done.stderr


@needs_preload
@pytest.mark.parametrize("mpi", sorted(LAUNCH))
def test_ways_are_measured_with_the_profile_off(mpi: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = build(mpi, tmp_path)
    script = f'[ -z "$LD_PRELOAD" ] || echo "$LAPWING_PROFILE" >>seen; exec {program}'
    monkeypatch.setitem(ENVIRONMENT, "LAPWING_PROFILE", "on")
    done = advise(tmp_path, "--rounds", "1", "--way", "deferred", *LAUNCH[mpi], "-n", "2", "sh", "-c", script)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "seen").read_text("utf-8").split()[-2:] == ["off", "off"]


def test_progress_that_makes_all_ways_alike_is_refused(tmp_path: Path) -> None:
    done = advise(tmp_path, "--progress", "dedicated", "true")
    assert (done.returncode, "--way" in done.stderr) == (2, True)


def test_library_that_stock_would_have_is_refused(tmp_path: Path, stand_in_preload: Path) -> None:
    ours = str(stand_in_preload)
    lines = (
        ["-genv", "LD_PRELOAD", ours],
        ["-genv", "LD_PRELOAD", f"{ours} /a.so"],
        ["--mca", "mca_base_env_list", f"LD_PRELOAD={ours};FOO=1"],
        ["-x", "LD_PRELOAD=/opt/lib/liblapwing.so"],
    )
    for words in lines:
        line = [sys.executable, "-m", "lapwing", "advise", "true", *words]
        environment = {**ENVIRONMENT, "LAPWING_PRELOAD": str(stand_in_preload)}
        done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 2
        assert "stock would run with it" in done.stderr
