# SPDX-License-Identifier: MIT
"""One run of a launcher: started untouched, signals forwarded, exit code preserved."""

import os
import re
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from types import FrameType

from lapwing.errors import LapwingError
from lapwing.launch.scripts import give_to_shell

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
ENDING_US = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)  # beside SIGINT, whose handler is Python's own
IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)  # and by what it starts, if nobody says otherwise
LOOK_INTERVAL_S = 1.0
RUN_FOLDER = ".lapwing-"  # how the names of folders begin that are there for one run
REMOVALS_MOST, REMOVAL_PAUSE_S = 10, 0.05
GRACE_S = 10.0  # for a launcher to end its ranks
FROM_KERNEL = 0x80  # SI_KERNEL, see sigaction(2): a signal from the terminal


@dataclass(frozen=True)
class JobResult:
    """How a launcher ended. interrupted_by: the signal that Lapwing was told to end with, 0 when none."""

    exit_code: int
    elapsed_s: float
    interrupted_by: int = 0
    is_late: bool = False


@dataclass(frozen=True)
class Supervision:
    """A run that nobody watches: its streams are files, and it is ended when it takes too long.

    Told to end, it gets a while, then it is made to.
    """

    output: Path
    errors: Path
    input: Path = Path(os.devnull)
    limit_s: float = inf
    on_look: Callable[[], None] | None = None  # about once a second
    silent_limit_s: float = inf  # by then it has to have written something to its output

    @property
    def actions(self) -> list[tuple[int, int, str, int, int]]:
        """Return how posix_spawnp opens the streams."""
        written = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        streams = ((0, self.input, os.O_RDONLY), (1, self.output, written), (2, self.errors, written))
        return [(os.POSIX_SPAWN_OPEN, number, str(path), flags, 0o644) for number, path, flags in streams]

    def is_over(self, elapsed_s: float) -> bool:
        """Tell whether it takes too long."""
        return elapsed_s > self.limit_s or (elapsed_s > self.silent_limit_s and self.output.stat().st_size == 0)


def end_on_signal(number: int, frame: FrameType | None) -> None:
    """Leave through every `with`, so that what is temporary is removed.

    A second signal, as `timeout` sends one to its command and one to the group, must not end that.
    """
    for ending in ENDING_US:
        if signal.getsignal(ending) == end_on_signal:
            signal.signal(ending, ignore_signal)
    raise SystemExit(128 + number)


def ignore_signal(number: int, frame: FrameType | None) -> None:
    """Do nothing. SIG_IGN would be handed on to what is still started."""


def catch_signals() -> None:
    """Let termination clean up: folders, ranks, the lab."""
    for number in ENDING_US:
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup leaves SIGHUP
            signal.signal(number, end_on_signal)


@contextmanager
def delay_end() -> Iterator[None]:
    """Let what would end this process do so afterwards.

    By handlers: Python runs them here, also where a mask lets another thread take the signal.
    """
    received: list[int] = []
    usual = {number: signal.getsignal(number) for number in (signal.SIGINT, *ENDING_US)}
    changed = {number: handler for number, handler in usual.items() if callable(handler)}
    for number in changed:
        signal.signal(number, lambda taken, _: received.append(taken))
    try:
        yield
    finally:
        for number, handler in changed.items():
            signal.signal(number, handler)
        if received:
            os.kill(os.getpid(), received[0])


def make_record_folder() -> Path:
    """Make a fresh folder that all ranks can reach: here (often a shared file system), else in TMPDIR."""
    for find_parent in (Path.cwd, lambda: Path(tempfile.gettempdir())):
        try:  # the current folder may have been removed
            return Path(tempfile.mkdtemp(prefix=RUN_FOLDER, dir=find_parent()))
        except OSError:
            continue
    raise LapwingError("no folder for records: neither this folder nor TMPDIR is writable", "set TMPDIR")


def is_of_run(path: Path) -> bool:
    """Tell whether a path lies in such a folder."""
    return any(re.fullmatch(rf"{re.escape(RUN_FOLDER)}[a-z0-9_]{{8}}", part) for part in path.parts)


def remove_folder(folder: Path) -> None:
    """Remove a folder in which a rank that outlives its launcher may still write."""
    with delay_end():
        for _ in range(REMOVALS_MOST):
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                return
            time.sleep(REMOVAL_PAUSE_S)


@contextmanager
def open_record_folder() -> Iterator[Path]:
    """Make such a folder, and remove it at the end, also when told to end."""
    catch_signals()
    with ExitStack() as stack:
        with delay_end():
            folder = make_record_folder()
            stack.callback(remove_folder, folder)
        yield folder


@dataclass
class Wait:
    """Waits for a launcher and passes signals on; the terminal sends its own to the whole process group already."""

    pid: int
    supervision: Supervision | None
    interrupted_by: int = 0
    is_late: bool = False
    end_s: float = inf  # when it is told to end (again)
    end_with: signal.Signals = signal.SIGTERM

    def until_end(self, watched: set[signal.Signals]) -> int:
        """Return the status.

        Without a limit of time: after a stop that outlasts it CPython 3.11 returns what happened to lie in memory for a
        signal (signal_sigtimedwait_impl leaves its loop without a siginfo).
        """
        is_over = threading.Event()
        try:
            self._start_threads(is_over)
            return self._wait(watched)
        finally:
            is_over.set()

    def _start_threads(self, is_over: threading.Event) -> None:
        """Start those that tell the calling thread of the end, and of the time; or end what nobody would look after."""
        waiter = threading.get_ident()
        try:
            threading.Thread(target=self._tell_end, args=(waiter,), daemon=True).start()
            if self.supervision is not None:
                threading.Thread(target=self._tell_time, args=(waiter, is_over), daemon=True).start()
        except RuntimeError as error:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            raise LapwingError("no thread can be started", "raise the limit of processes (ulimit -u)") from error

    def _wait(self, watched: set[signal.Signals]) -> int:
        """Return the status; pass signals on meanwhile, and look after a run that nobody watches."""
        begin_s = time.monotonic()
        while True:
            received = signal.sigwaitinfo(watched)
            if received.si_signo in FORWARDED:
                self._forward(received.si_signo, received.si_code == FROM_KERNEL)
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done == self.pid:
                return status
            if self.supervision is not None:
                self._look(self.supervision, time.monotonic() - begin_s)

    def _tell_end(self, waiter: int) -> None:
        """Send SIGCHLD to the thread that waits: another one that does not block it may have taken the kernel's."""
        with suppress(ChildProcessError):  # the waiter saw the end first
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
            signal.pthread_kill(waiter, signal.SIGCHLD)

    def _tell_time(self, waiter: int, is_over: threading.Event) -> None:
        """Let the thread that waits look."""
        while not is_over.wait(LOOK_INTERVAL_S):
            signal.pthread_kill(waiter, signal.SIGCHLD)

    def _forward(self, number: int, is_known: bool) -> None:
        """Pass a signal on."""
        if not is_known:
            os.kill(self.pid, number)
        # As nohup does; a shell ignores SIGINT for what it starts in the background, and whoever sends it means it.
        is_ignored = number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN
        if number in ENDING and not is_ignored:
            self.interrupted_by = self.interrupted_by or number
            self.end_s = min(self.end_s, time.monotonic() + GRACE_S)

    def _look(self, supervision: Supervision, elapsed_s: float) -> None:
        """End what takes too long, or does not end although it was told to."""
        if supervision.on_look:
            supervision.on_look()
        if not self.is_late and supervision.is_over(elapsed_s):
            self.is_late = True
            self.end_s = 0.0
        if time.monotonic() >= self.end_s:
            os.kill(self.pid, self.end_with)
            self.end_s, self.end_with = time.monotonic() + GRACE_S, signal.SIGKILL


def spawn(
    command: Sequence[str],
    environment: Mapping[str, str],
    mask: Collection[int],
    supervision: Supervision | None,
) -> int:
    """Start a command; return its process. mask: the signals that it blocks."""

    def start(words: Sequence[str]) -> int:
        return os.posix_spawnp(
            words[0],
            list(words),
            dict(environment),
            setsigmask=mask,
            setsigdef=IGNORED_BY_PYTHON,
            file_actions=supervision.actions if supervision else [],
        )

    try:
        return start(command)
    except OSError as error:
        return start(give_to_shell(command, error))


def run_job(
    command: Sequence[str], environment: Mapping[str, str], supervision: Supervision | None = None
) -> JobResult:
    """Run a command; its exit code is 128 + the signal when one ended it."""
    watched = {signal.SIGCHLD, *FORWARDED}
    if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:  # inherited: no child could be waited for
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    begin_s = time.monotonic()
    try:
        pid = spawn(command, environment, before, supervision)
        wait = Wait(pid, supervision)
        status = wait.until_end(watched)
    except OSError as error:
        raise LapwingError(f"{command[0]} did not start ({error.strerror})", "check the file and its rights") from error
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    code = os.waitstatus_to_exitcode(status)
    return JobResult(code if code >= 0 else 128 - code, time.monotonic() - begin_s, wait.interrupted_by, wait.is_late)
