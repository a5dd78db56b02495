# SPDX-License-Identifier: MIT
"""One run of a launcher: started untouched, signals forwarded, exit code preserved."""

import os
import signal
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lapwing.errors import LapwingError

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
LOOK_INTERVAL_S = 1.0
FROM_KERNEL = 0x80  # SI_KERNEL, see sigaction(2): a signal from the terminal


@dataclass(frozen=True)
class JobResult:
    """How a launcher ended."""

    exit_code: int
    elapsed_s: float


def make_record_folder() -> Path:
    """Make a fresh folder that all ranks can reach: here (often a shared file system), else in TMPDIR."""
    for parent in (Path.cwd(), Path(tempfile.gettempdir())):
        try:
            return Path(tempfile.mkdtemp(prefix=".lapwing-", dir=parent))
        except OSError:
            continue
    raise LapwingError("no folder for records: neither this folder nor TMPDIR is writable", "set TMPDIR")


def wait_forwarding(pid: int, watched: set[signal.Signals]) -> int:
    """Wait for a child and pass on signals; the terminal sends its own to the whole process group already.

    The look once a second is for a SIGCHLD that another thread of this process took. After a stop that outlasts it
    CPython 3.11 returns what happened to lie in memory for a signal (signal_sigtimedwait_impl leaves its loop without
    a siginfo), so only a number of those waited for is believed.
    """
    while True:
        received = signal.sigtimedwait(watched, LOOK_INTERVAL_S)
        if received and received.si_signo in FORWARDED and received.si_code != FROM_KERNEL:
            os.kill(pid, received.si_signo)
        done, status = os.waitpid(pid, os.WNOHANG)
        if done == pid:
            return status


def run_job(command: Sequence[str], environment: Mapping[str, str]) -> JobResult:
    """Run a command; its exit code is 128 + the signal when one ended it."""
    watched = {signal.SIGCHLD, *FORWARDED}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    begin_s = time.monotonic()
    try:
        pid = os.posix_spawn(command[0], list(command), dict(environment), setsigmask=before)
        status = wait_forwarding(pid, watched)
    except OSError as error:
        raise LapwingError(f"{command[0]} did not start ({error.strerror})", "check the file and its rights") from error
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    code = os.waitstatus_to_exitcode(status)
    return JobResult(code if code >= 0 else 128 - code, time.monotonic() - begin_s)
