# SPDX-License-Identifier: MIT
"""The wait for a launcher."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lapwing.errors import LapwingError
from lapwing.launch.job import LOOK_INTERVAL_S, catch_signals, run_job


@pytest.fixture
def thread_that_takes_signals() -> Iterator[None]:
    """Let a thread that blocks no signal live meanwhile: the kernel may give it this process's SIGCHLD."""
    is_over = threading.Event()
    thread = threading.Thread(target=is_over.wait)
    thread.start()
    yield
    is_over.set()
    thread.join()


@pytest.mark.usefixtures("thread_that_takes_signals")
def test_end_is_seen_at_once_though_another_thread_took_its_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    wait = signal.sigwaitinfo

    def wait_late(signals: set[signal.Signals]) -> signal.struct_siginfo:
        """Wait once the command has ended, and its signal is gone."""
        time.sleep(0.2)
        return wait(signals)

    monkeypatch.setattr(signal, "sigwaitinfo", wait_late)
    result = run_job(["/bin/true"], {})
    assert (result.exit_code, result.elapsed_s < LOOK_INTERVAL_S) == (0, True)


def test_script_without_an_interpreter_is_the_shells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As execvp has it, and shells: also where PATH leads to it."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    (tmp_path / "lapwing-script").write_text('exit "$1"\n')
    (tmp_path / "lapwing-script").chmod(0o755)
    for name in (str(tmp_path / "lapwing-script"), "lapwing-script"):
        assert run_job([name, "7"], {}).exit_code == 7


def test_program_of_another_machine_is_no_script(tmp_path: Path) -> None:
    (tmp_path / "program").write_bytes(b"\x7fELF\2\1\1\0\nexit 7\n")
    (tmp_path / "program").chmod(0o755)
    with pytest.raises(LapwingError, match="did not start"):
        run_job([str(tmp_path / "program")], {})


def test_ignored_children_are_waited_for() -> None:
    code = "from lapwing.launch.job import run_job; print(run_job(['/bin/sh', '-c', 'exit 7'], {}).exit_code)"
    line = ["/bin/sh", "-c", 'trap "" CHLD; exec "$@"', "sh", sys.executable, "-c", code]
    environment = {"PYTHONPATH": str(Path(__file__).parent.parent.parent / "python")}
    done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=30)
    assert done.stdout == "7\n", done.stderr


IGNORED = """
import os, signal, threading
from pathlib import Path
from lapwing.launch.job import Supervision, run_job

nowhere = Path(os.devnull)
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGHUP)).start()
print(run_job(["/bin/sleep", "1"], {}, Supervision(nowhere, nowhere)).interrupted_by)
"""


def test_signal_that_nohup_ignores_interrupts_nothing() -> None:
    line = ["/bin/sh", "-c", 'trap "" HUP; exec "$@"', "sh", sys.executable, "-c", IGNORED]
    environment = {"PYTHONPATH": str(Path(__file__).parent.parent.parent / "python")}
    done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=30)
    assert done.stdout == "0\n", done.stderr


def test_interrupt_counts_in_the_background_where_a_shell_ignores_it() -> None:
    script = IGNORED.replace("SIGHUP", "SIGINT")
    line = ["/bin/sh", "-c", 'trap "" INT; exec "$@"', "sh", sys.executable, "-c", script]
    environment = {"PYTHONPATH": str(Path(__file__).parent.parent.parent / "python")}
    done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=30)
    assert done.stdout == "2\n", done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_termination_leaves_no_record_folder(number: signal.Signals, tmp_path: Path) -> None:
    """As between the job's end and the summary. Who runs the tests may have it ignored (nohup, a shell's `&`)."""
    ending = f"signal.signal({number}, signal.SIG_DFL)\nwith open_record_folder():\n    os.kill(os.getpid(), {number})"
    script = f"import os, signal, time\n{ending}\n    time.sleep(20)"
    line = [sys.executable, "-c", f"from lapwing.launch.job import open_record_folder\n{script}"]
    environment = {"PYTHONPATH": str(Path(__file__).parent.parent.parent / "python")}
    done = subprocess.run(line, env=environment, cwd=tmp_path, timeout=30)
    assert done.returncode == 128 + number
    assert list(tmp_path.iterdir()) == []


REMOVAL = """
import os, shutil, sys, time
from pathlib import Path
from lapwing.launch import job

remove, rmdir, late = shutil.rmtree, os.rmdir, []

def remove_signalled(*words, **names):
    os.kill(os.getpid(), 15)
    remove(*words, **names)

def rmdir_late(*words, **names):
    if not late:
        late.append(next(Path.cwd().glob(".lapwing-*")) / "77.ranks")
        late[0].touch()
    rmdir(*words, **names)

if "removal" in sys.argv:
    shutil.rmtree = remove_signalled
if "rank" in sys.argv:
    os.rmdir = rmdir_late
with job.open_record_folder() as folder:
    (folder / "78.ranks").touch()
    if "job" in sys.argv:
        os.kill(os.getpid(), 15)
        time.sleep(20)
"""


@pytest.mark.parametrize(
    ("words", "code"), [(["job", "removal"], 143), (["removal"], 143), (["rank"], 0), (["job", "removal", "rank"], 143)]
)
def test_nothing_keeps_a_record_folder_from_being_removed(tmp_path: Path, words: list[str], code: int) -> None:
    """Neither a second signal, as `timeout` sends one to the group, too, nor a rank that still writes."""
    environment = {"PYTHONPATH": str(Path(__file__).parent.parent.parent / "python")}
    done = subprocess.run([sys.executable, "-c", REMOVAL, *words], env=environment, cwd=tmp_path, timeout=30)
    assert list(tmp_path.iterdir()) == []
    assert done.returncode == code


def test_signal_that_nohup_ignores_takes_no_lab_down() -> None:
    before = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        catch_signals()
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) != signal.SIG_DFL
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
