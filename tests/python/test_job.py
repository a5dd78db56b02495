# SPDX-License-Identifier: MIT
"""The wait for a launcher."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lapwing.launch.job import LOOK_INTERVAL_S, run_job


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


def test_ignored_children_are_waited_for() -> None:
    code = "from lapwing.launch.job import run_job; print(run_job(['/bin/sh', '-c', 'exit 7'], {}).exit_code)"
    line = ["/bin/sh", "-c", 'trap "" CHLD; exec "$@"', "sh", sys.executable, "-c", code]
    environment = {"PYTHONPATH": str(Path(__file__).parent.parent.parent / "python")}
    done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=30)
    assert done.stdout == "7\n", done.stderr
