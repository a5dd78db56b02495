# SPDX-License-Identifier: MIT
"""Runs the program: without Lapwing's library (stock), profiled, and in each way.

Its output goes into files of a folder.
"""

import errno
import hashlib
import os
import shlex
import shutil
import stat
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

from lapwing.advise.rounds import Run
from lapwing.advise.ways import DEDICATED, make_variables
from lapwing.errors import LapwingError
from lapwing.files import SELF
from lapwing.launch import start
from lapwing.launch.job import JobResult, Supervision, run_job
from lapwing.launch.launchers import Direct, find_command
from lapwing.model.profile import Way
from lapwing.profile.job_file import check_one_job
from lapwing.profile.record import JobRecord, read_folder

# A run that takes so many times as long as stock, and a minute more, is not waited for.
LIMIT_FACTOR, LIMIT_EXTRA_S = 5.0, 60.0
ERROR_LINES = 8
ROOM_BYTES, INPUT_BYTES = 1 << 16, 1 << 20
# A profile costs 2 % at most: one that takes so many times as long as the plain run met a busy machine.
DISTURBED_FACTOR, PROFILES_MAX = 1.2, 3
PLAIN = "without Lapwing"
STARTS = 5
# No file asks for reports, and there is no timeline.
UNKEPT = {"LAPWING_CONFIG": os.devnull, "XDG_CONFIG_HOME": os.devnull, "LAPWING_TIMELINE": "0"}
# What Lapwing does to a program; where all are 0, it only stood by.
DEEDS = ("ops_send", "ops_receive", "ops_collective", "assisted")
REMEDY = "see docs/limits.md whether it may; if not, please report it"


class BudgetError(LapwingError):
    """The time for everything was over before a run was."""

    def __init__(self, name: str) -> None:
        message = f"the budget was over before the program had ended ({name})"
        super().__init__(message, "give it more time (--budget), or a shorter input", 1)


class InterruptionError(Exception):
    """Somebody told Lapwing to end while the program ran."""

    def __init__(self, number: int) -> None:
        super().__init__(f"signal {number}")
        self.exit_code = 128 + number


def keep_input(folder: Path) -> Path:
    """Return the file that each run reads its standard input from: what was redirected here, else nothing.

    Our own place in it stays, for a program that reads it itself.
    """
    path = folder / "input"
    try:
        if not stat.S_ISREG(os.fstat(0).st_mode):
            return Path(os.devnull)
        place = os.lseek(0, 0, os.SEEK_CUR)
        with path.open("wb") as copy:
            while piece := os.pread(0, INPUT_BYTES, place):
                copy.write(piece)
                place += len(piece)
        return path
    except OSError:
        return Path(os.devnull)


def is_piped() -> bool:
    """Tell whether standard input is a pipe, of which no run gets anything: it could be read once."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:  # closed
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def explain_alone() -> str:
    """Say what to do about a program that fails without Lapwing."""
    if not is_piped():
        return "make it run by itself first"
    return (
        "make it run by itself first; it got no standard input, which is a pipe here and could not be read anew by "
        "each run: if the program needs it, put it into a file (< FILE)"
    )


def read_end(path: Path) -> list[str]:
    """Return the last lines of a file."""
    return path.read_text("utf-8", "replace").strip().splitlines()[-ERROR_LINES:]


def take_output(supervision: Supervision) -> str:
    """Return what stands for a run's output, and empty its files: dozens of runs must not fill a disk."""
    with supervision.output.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    for path in (supervision.output, supervision.errors):
        os.truncate(path, 0)
    return digest


def tell_end(result: JobResult) -> str:
    """Say how a run ended that did not end well."""
    return f"was ended after {result.elapsed_s:.0f} s" if result.is_late else f"ended with {result.exit_code}"


def is_full(folder: Path) -> bool:
    """Tell whether a folder's disk has no room, so that a program could not write its output."""
    try:
        with tempfile.TemporaryFile(dir=folder) as stream:
            os.posix_fallocate(stream.fileno(), 0, ROOM_BYTES)
    except OSError as error:
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return False


def find_problem(way: Way, record: JobRecord) -> str:
    """Say why a run was not what the way stands for; nothing when it was."""
    ranks = [rank for rank in record.ranks if rank.rank >= 0]
    if not find_time_s(record):
        return "no rank used Lapwing to its end"
    if way in DEDICATED and any(rank.progress != "dedicated" for rank in ranks):
        notices = [rank.notice for rank in ranks if rank.notice]
        return "a rank gave up no core" + (f" ({notices[0]})" if notices else "")
    notices = [rank.notice for rank in ranks if rank.notice and not rank.is_active]
    return notices[0] if notices else ""


def find_time_s(record: JobRecord) -> float:
    """Return the time of the slowest rank from MPI_Init to MPI_Finalize."""
    return max((rank.counters.get("run_ns", 0) for rank in record.ranks if rank.rank >= 0), default=0) / 1e9


def is_idle(record: JobRecord) -> bool:
    """Say whether Lapwing changed nothing: no call returned early, and no operation was kept going."""
    return not record.damaged and not any(rank.counters.get(name, 0) for rank in record.ranks for name in DEEDS)


def time_s(command: Sequence[str]) -> float:
    """Return how long a command takes whose output nobody needs, and of which nothing is to be kept."""
    nowhere = Path(os.devnull)
    result = run_job(command, {**os.environ, **UNKEPT}, Supervision(nowhere, nowhere))
    if result.interrupted_by:
        raise InterruptionError(result.interrupted_by)
    if result.exit_code:
        raise LapwingError(f"{shlex.join(command)} ended with {result.exit_code}", "run it by hand to see why", 1)
    return result.elapsed_s


@dataclass
class Trial:
    """One program, and the folder that all its runs write into."""

    command: start.Command
    preload: Path
    folder: Path
    options: Mapping[str, str] = field(default_factory=dict)
    on_look: Callable[[], None] | None = None
    limit_s: float = inf
    left_s: Callable[[], float] = lambda: inf  # of the budget
    start_s: float = 0.0  # what `lapwing run` takes beside the launcher
    interrupted_with: int = 0  # exit code
    count: int = 0
    outputs: dict[str, str] = field(default_factory=dict)  # equal where the output was
    input: Path = Path(os.devnull)

    def __post_init__(self) -> None:
        self.input = keep_input(self.folder)

    def _start(self, name: str, variables: Mapping[str, str]) -> tuple[JobResult, Supervision]:
        """Run the program once; its streams are files with this name."""
        left_s = self.left_s()
        if left_s <= 0:
            raise BudgetError(name)
        self.count += 1
        stem = f"{self.count:03}-{name.replace(' ', '-').replace(',', '')}"
        output, errors = self.folder / f"{stem}.out", self.folder / f"{stem}.err"
        supervision = Supervision(output, errors, self.input, min(self.limit_s, left_s), self.on_look)
        result = self.command.start(variables, supervision)
        if result.interrupted_by:
            raise InterruptionError(result.interrupted_by)
        if result.is_late and left_s < self.limit_s:
            raise BudgetError(name)
        return result, supervision

    def _check(self, name: str, result: JobResult, supervision: Supervision) -> None:
        """Refuse runs that did not end well."""
        if result.exit_code == 0 and not result.is_late:
            return
        if is_full(self.folder):
            message = f"the program {tell_end(result)}, and the disk of {self.folder.parent} is full"
            raise LapwingError(message, "make room there, or start in another folder", 1)
        for line in read_end(supervision.errors) or read_end(supervision.output):
            start.say(f"| {line}")
        cause = tell_end(result)
        if name in (PLAIN, Way.STOCK.value):
            raise LapwingError(f"the program {cause} without Lapwing", explain_alone(), 1)
        raise LapwingError(f"the program {cause} under Lapwing ({name}), not without it", REMEDY, 1)

    def run_plain(self) -> float:
        """Run without Lapwing's library; return the launcher's time."""
        result, supervision = self._start(PLAIN, {})
        self._check(PLAIN, result, supervision)
        self.outputs[PLAIN] = take_output(supervision)
        self.limit_s = LIMIT_FACTOR * result.elapsed_s + LIMIT_EXTRA_S
        return result.elapsed_s

    def run_profile(self, plain_s: float) -> tuple[JobResult, Path]:
        """Run with the profile on, again where the machine disturbed it; return the fastest and its records."""
        best, best_records = self.run_profiled("profile")
        check_one_job(best_records)
        for _ in range(1, PROFILES_MAX):
            if best.elapsed_s <= DISTURBED_FACTOR * plain_s or self.left_s() <= LIMIT_FACTOR * best.elapsed_s:
                break
            result, records = self.run_profiled("profile")
            if result.elapsed_s < best.elapsed_s:
                best, best_records = result, records
        return best, best_records

    def run_profiled(self, name: str, changes: Mapping[str, str] | None = None) -> tuple[JobResult, Path]:
        """Run with the profile on, and with these options changed; return the folder of the ranks' profiles."""
        records = self.folder / f"profile-{self.count + 1}"
        records.mkdir()
        options = {**self.options, "LAPWING_PROFILE": "on", **(changes or {})}
        result, supervision = self._start(name, start.make_variables(options, self.preload, records))
        self._check(name, result, supervision)
        take_output(supervision)
        return result, records

    def time_start(self) -> None:
        """Find out what `lapwing run` takes beside its launcher: a question for the version starts no rank."""
        launcher = self.command.launcher
        words = [find_command("true")] if isinstance(launcher, Direct) else [launcher.path, "--version"]
        pairs = [(time_s([*SELF, "run", *words]), time_s(words)) for _ in range(STARTS)]
        with_lapwing_s, stock_s = (min(times) for times in zip(*pairs, strict=True))  # other work only adds
        self.start_s = max(0.0, with_lapwing_s - stock_s)

    def run_way(self, way: Way) -> Run:
        """Run in one way; the stock way has no library of Lapwing's, so that what Lapwing costs is seen."""
        records = self.folder / "records"
        records.mkdir()
        try:
            return self._run_stock() if way is Way.STOCK else self._run_lapwing(way, records)
        except InterruptionError as interrupted:
            self.interrupted_with = interrupted.exit_code
            return Run(0.0, is_interrupted=True)
        except BudgetError:
            return Run(0.0, is_cut=True)
        finally:
            shutil.rmtree(records, ignore_errors=True)

    def _run_checked(self, way: Way, variables: Mapping[str, str]) -> Run:
        """Run the launcher with these variables for its ranks."""
        result, supervision = self._start(way.value, variables)
        if result.is_late:
            return Run(result.elapsed_s, f"it was ended after {result.elapsed_s:.0f} s")
        self._check(way.value, result, supervision)
        self.outputs[way.value] = take_output(supervision)
        return Run(result.elapsed_s)

    def _run_stock(self) -> Run:
        """Run without Lapwing's library."""
        return self._run_checked(Way.STOCK, {})

    def _run_lapwing(self, way: Way, records: Path) -> Run:
        """Run with Lapwing's library, and read what the ranks recorded."""
        variables = start.make_variables(make_variables(way, self.options), self.preload, records)
        run = self._run_checked(way, variables)
        if run.problem:
            return run
        record = read_folder(records, {})
        return Run(run.time_s + self.start_s, find_problem(way, record), is_idle=is_idle(record))
