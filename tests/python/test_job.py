# SPDX-License-Identifier: MIT
"""The wait for a launcher."""

import signal
import threading
import time
from collections.abc import Iterator

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
    wait = signal.sigtimedwait

    def wait_late(signals: set[signal.Signals], timeout_s: float) -> signal.struct_siginfo | None:
        """Wait once the command has ended, and its signal is gone."""
        time.sleep(0.2)
        return wait(signals, timeout_s)

    monkeypatch.setattr(signal, "sigtimedwait", wait_late)
    result = run_job(["/bin/true"], {})
    assert (result.exit_code, result.elapsed_s < LOOK_INTERVAL_S) == (0, True)
