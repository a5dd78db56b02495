# SPDX-License-Identifier: MIT
"""Nothing is lost when nobody reads what Lapwing prints, or when it cannot be written."""

import argparse
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from test_run import PYTHON, start

from lapwing.commands import advise, demo


def run_closed(words: list[str], folder: Path, stream: str, preload: Path | None = None) -> tuple[int, str]:
    """Run a command with a stream that nobody reads; return its exit code, and what it said elsewhere."""
    environment = {**os.environ, "PYTHONPATH": str(PYTHON), "LAPWING_PRELOAD": str(preload or shutil.which("true"))}
    reading, writing = os.pipe()
    os.close(reading)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | {stream: writing}
    line = [sys.executable, "-m", "lapwing", *words]
    done = subprocess.run(line, cwd=folder, env=environment, stdin=subprocess.DEVNULL, timeout=60, text=True, **streams)
    os.close(writing)
    return done.returncode, (done.stdout or "") + (done.stderr or "")


@pytest.mark.parametrize("command", ["run", "profile"])
def test_exit_code_of_the_program_outlives_its_reader(command: str, tmp_path: Path, stand_in_preload: Path) -> None:
    # The loader complains of a library that is none, and SIGPIPE would then end the program.
    assert run_closed([command, "sh", "-c", "exit 7"], tmp_path, "stderr", stand_in_preload) == (7, "")


@pytest.mark.parametrize("closed", ["2>&-", "<&- 2>&-"])
def test_words_for_a_closed_stderr_are_not_the_programs_output(
    closed: str, tmp_path: Path, stand_in_preload: Path
) -> None:
    script = f'exec "{sys.executable}" -m lapwing run sh -c "echo the program; exit 7" {closed}'
    environment = {**os.environ, "PYTHONPATH": str(PYTHON), "LAPWING_PRELOAD": str(stand_in_preload)}
    done = subprocess.run(["sh", "-c", script], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, timeout=60)
    assert (done.returncode, done.stdout) == (7, b"the program\n")


def test_files_of_a_run_are_written_though_nobody_reads(tmp_path: Path, stand_in_preload: Path) -> None:
    run_closed(["run", "--keep-record", "r.rec", "--json", "r.json", "true"], tmp_path, "stderr", stand_in_preload)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.json", "r.rec"]


@pytest.mark.parametrize("words", [["options"], ["options", "--markdown"]])
def test_closed_pipe_is_as_death_by_sigpipe(words: list[str], tmp_path: Path) -> None:
    assert run_closed(words, tmp_path, "stdout") == (141, "")


@pytest.mark.parametrize("words", ["lab -- true", "probe", "bench overlap", "bench pingpong"])
def test_removed_folder_is_one_line(words: str, tmp_path: Path) -> None:
    script = f'mkdir gone && cd gone && rmdir ../gone && exec "{sys.executable}" -m lapwing {words}'
    environment = {**os.environ, "PYTHONPATH": str(PYTHON), "LAPWING_PRELOAD": str(shutil.which("true"))}
    line = ["sh", "-c", script]
    done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert "Traceback" not in done.stderr
    if done.returncode == 2:  # else the emulated hosts are refused
        assert "lapwing: the current folder is gone" in done.stderr


INTERRUPT = """
import os, runpy, signal, sys

class Interrupt:
    def find_spec(self, name, *_):
        if name == "argparse":
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits that it is ignored
sys.meta_path.insert(0, Interrupt())
sys.argv = ["lapwing", "options"]
runpy.run_module("lapwing", run_name="__main__")
"""


def test_interrupt_while_the_command_is_loaded_is_silent(tmp_path: Path) -> None:
    line = [sys.executable, "-c", INTERRUPT]
    environment = {**os.environ, "PYTHONPATH": str(PYTHON)}
    done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


def test_error_that_nobody_reads_keeps_its_exit_code(tmp_path: Path) -> None:
    assert run_closed(["report", "absent"], tmp_path, "stderr")[0] == start(["report", "absent"], tmp_path).returncode


@pytest.mark.parametrize("words", ["options", "options --markdown"])
def test_full_disk_is_one_line(words: str, tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    line = f"{sys.executable} -m lapwing {words} > /dev/full"
    environment = {**os.environ, "PYTHONPATH": str(PYTHON)}
    done = subprocess.run(["sh", "-c", line], env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "was not written (No space left on device)" in done.stderr


def fail_to_print(*_: object) -> None:
    """Print where nobody reads."""
    raise BrokenPipeError


def test_advice_is_written_before_it_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advise, "print_advice", fail_to_print)
    monkeypatch.setattr(advise, "encode_advice", lambda _: "{}")
    monkeypatch.setattr(advise, "make_advice_page", lambda *_: "page")
    arguments = argparse.Namespace(json=tmp_path / "a.json", html=tmp_path / "a.html")
    with pytest.raises(BrokenPipeError):
        told = SimpleNamespace(totals=None, is_kept=True)
        advise.AdviseCommand()._show(arguments, SimpleNamespace(), told)  # type: ignore[arg-type]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.json"]


def test_demo_is_written_before_it_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "make_table", fail_to_print)
    arguments = argparse.Namespace(output=tmp_path / "d.json", plot=None)
    with pytest.raises(BrokenPipeError):
        demo.DemoCommand()._show(arguments, {}, "")
    assert (tmp_path / "d.json").read_text() == "{}\n"
