# SPDX-License-Identifier: MIT
"""Where experiments run: on emulated hosts, or on this machine through shared memory."""

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import TIMEOUT_MAX, Event, Timer
from typing import Any

from lapwing.bench.contenders import Contender
from lapwing.bench.mpi import Mpi, build_program
from lapwing.errors import LapwingError, find_cause
from lapwing.files import SELF
from lapwing.lab.network import Links, Network
from lapwing.launch.job import GRACE_S
from lapwing.options import ANY_PROGRAM

ROOT_ALLOWED = {f"{name}_ALLOW_RUN_AS_ROOT{end}": "1" for name in ("OMPI", "PRTE") for end in ("", "_CONFIRM")}
LOCAL = {"hydra": ["-bind-to", "core"], "openmpi": ["--bind-to", "core"], "prrte": ["--bind-to", "core"]}
CROWDED = {
    "hydra": ["-bind-to", "none"],
    "openmpi": ["--oversubscribe", "--bind-to", "none"],
    "prrte": ["--map-by", ":oversubscribe", "--bind-to", "none"],
}


FINALIZE_LIMIT_S = 5.0


def ignore_line(line: str) -> None:
    """Do nothing with a line of output."""


@dataclass
class Place:
    """Runs programs, stock or under Lapwing, with two ranks unless told otherwise."""

    mpi: Mpi
    network: Network | None
    folder: Path
    options: Sequence[str] = ()
    rank_count: int = 2
    limit_s: float | None = None  # longest run of a program
    reports: list[Mapping[str, Any]] = field(default_factory=list)
    hung_count: int = 0
    rate: str = "none"  # of its links, for planning; none: what memory carries

    @property
    def ranks_per_core(self) -> int:
        """Return how many ranks compute on the busiest core."""
        return -(-self.rank_count // len(os.sched_getaffinity(0)))

    def run_alone(self, words: Sequence[str]) -> list[str]:
        """Run a program that needs no MPI and prints one line, on the first host."""
        return self.execute(self.on_first(words), 1)

    def command(self, contender: Contender, program: Sequence[str]) -> list[str]:
        """Return the command line that runs a program."""
        launcher = self.mpi.launcher
        arguments = [*self._choose_cores(), "-n", str(self.rank_count), *program]
        line = [launcher.path, *launcher.add_environment(arguments, contender.variables)]
        return self.on_first([*self._wrap(contender), *line])

    def _wrap(self, contender: Contender) -> list[str]:
        """Return what stands before the launcher."""
        if contender.options is None:
            return []
        if contender.record is not None:
            return [*SELF, "profile", "--quiet", "--output", str(contender.record), *contender.options]
        return [*SELF, "run", "--quiet", ANY_PROGRAM, "--json", str(self.folder / "report.json"), *contender.options]

    def _choose_cores(self) -> list[str]:
        """Return what a launcher must be told on one machine: a core for each rank where there are enough."""
        if self.network:  # its environment says where ranks go
            return []
        kind = self.mpi.launcher.name
        return LOCAL[kind] if self.rank_count <= len(os.sched_getaffinity(0)) else CROWDED[kind]

    def on_first(self, line: Sequence[str]) -> list[str]:
        """Return the command line that runs something on the first host."""
        return self.network.command_on_first(line) if self.network else list(line)

    def run(
        self, with_lapwing: bool, program: Sequence[str], line_count: int, on_line: Callable[[str], None] = ignore_line
    ) -> list[str]:
        """Run a program; return the lines that it printed, and hand each on as it comes."""
        contender = Contender("lapwing", options=self.options) if with_lapwing else Contender("stock")
        return self.run_as(contender, program, line_count, on_line)

    def name_run(self, contender: Contender) -> str:
        """Return a contender's name with the strategy that its last run really had, where that is another one."""
        had = self.reports[-1].get("progress") if contender.with_lapwing and self.reports else None
        return contender.name if not had or contender.name.endswith(f" {had[0]}") else f"{contender.name} ({had[0]})"

    def run_as(
        self,
        contender: Contender,
        program: Sequence[str],
        line_count: int,
        on_line: Callable[[str], None] = ignore_line,
    ) -> list[str]:
        """Run a program in one contender's way."""
        lines = self.execute(self.command(contender, program), line_count, on_line)
        report = self.folder / "report.json"
        if contender.with_lapwing and report.exists():
            self.reports.append(json.loads(report.read_text("utf-8")))
            report.unlink()
        return lines

    def execute(
        self, command: Sequence[str], line_count: int, on_line: Callable[[str], None] = ignore_line
    ) -> list[str]:
        """Run a command line and return the lines that it prints, of which `line_count` are expected."""
        with (self.folder / "errors").open("w+", errors="replace") as errors:
            environment = {**os.environ, **self.mpi.environment}
            environment |= self.network.environment() if self.network else {}
            environment |= ROOT_ALLOWED if os.geteuid() == 0 else {}
            with subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                errors="replace",
                env=environment,
            ) as child:
                with end_with_us(child), limit_time(child, self.limit_s) as is_late:
                    lines = read_lines(child, line_count, on_line)
                is_ended = len(lines) < line_count or self._end(child)
            errors.seek(0)
            if is_late.is_set():
                raise LapwingError(f"it took longer than {self.limit_s:.0f} s", "try a smaller size", 1)
            if is_ended:
                check_exit(command, child.returncode, errors.read())
        return lines

    def _end(self, child: "subprocess.Popen[str]") -> bool:
        """Wait for a program that has said everything; False when it had to be ended.

        MPICH 4.0.2 over UCX 1.13 sometimes hangs in MPI_Finalize, without Lapwing too: one rank waits in the
        process manager's barrier and no longer answers the flush of the other.
        """
        try:
            child.wait(FINALIZE_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.hung_count += 1
            child.terminate()
            return False
        return True


def build_for_each(place: Place, mpis: Sequence[Mpi], source: str) -> Iterator[tuple[Place, Path]]:
    """Build a program for each MPI; all run at the same place."""
    for number, mpi in enumerate(mpis):
        folder = place.folder / str(number)
        folder.mkdir()
        yield replace(place, mpi=mpi), build_program(mpi, source, folder)


@contextmanager
def end_with_us(child: "subprocess.Popen[str]") -> Iterator[None]:
    """End a program when we are told to end ourselves: its launcher ends the ranks, for which it has a while."""
    try:
        yield
    except BaseException:
        child.terminate()
        try:
            child.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            child.kill()
        raise


@contextmanager
def limit_time(child: "subprocess.Popen[str]", limit_s: float | None) -> Iterator[Event]:
    """End a program that takes longer, and say so; its launcher ends the ranks."""
    is_late = Event()

    def end() -> None:
        is_late.set()
        child.terminate()

    timer = Timer(limit_s or TIMEOUT_MAX, end)
    timer.daemon = True
    timer.start()
    try:
        yield is_late
    finally:
        timer.cancel()


def read_lines(child: "subprocess.Popen[str]", line_count: int, on_line: Callable[[str], None]) -> list[str]:
    """Read what a program prints, up to the expected number of lines or its end."""
    lines: list[str] = []
    while len(lines) < line_count and child.stdout is not None:
        line = child.stdout.readline()
        if not line:
            break
        lines.append(line.rstrip("\n"))
        on_line(lines[-1])
    return lines


def check_exit(command: Sequence[str], exit_code: int, errors: str) -> None:
    """Say what a failed program said."""
    if exit_code != 0:
        line = " ".join(command)
        raise LapwingError(f"`{line}` ended with {exit_code}: {find_cause(errors)}", "run that command by hand", 1)


@contextmanager
def open_place(mpi: Mpi, links: Links | None, options: Sequence[str], rank_count: int = 2) -> Iterator[Place]:
    """Build the place, a host for each rank, and take it down. Without links: all ranks are on this machine."""
    with tempfile.TemporaryDirectory(prefix="lapwing-bench-") as folder:
        if links is None:
            yield Place(mpi, None, Path(folder), options, rank_count)
            return
        with Network(rank_count, links) as network:
            yield Place(mpi, network, Path(folder), options, rank_count, rate=links.rate)
