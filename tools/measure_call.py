# SPDX-License-Identifier: MIT
"""Count the instructions that Lapwing adds to small calls that it passes: blocking, nonblocking, polls, collectives.

    measure_call.py PRELOAD [MPICC...]

Valgrind counts the instructions of the loop in bench/calls.c, stock and with the preload: they repeat. Nanoseconds
follow from the rate at which the same program runs stock. With MPI_THREAD_MULTIPLE, where a few instructions are
atomic and take longer than others, nanoseconds are the difference between the fastest launches of each side, which
other work on the machine changes, and are not judged.
Exit code 1 when a call costs more than 20 ns or more instructions than its kind may (KINDS), 77 when there is no
valgrind or no MPI.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT_NS = 20.0  # a call
ROUNDS_COUNTED, ROUNDS_TIMED = 20_000, 2_000_000
TIMED_RUNS = 9
SKIP = 77
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@dataclass(frozen=True)
class Kind:
    """A way to communicate, and how many instructions Lapwing may add to each of its calls, on average."""

    words: Sequence[str]  # for bench/calls.c
    text: str
    calls: int
    limit: float
    ranks: int = 1

    @property
    def is_multiple(self) -> bool:
        """Whether it is with MPI_THREAD_MULTIPLE."""
        return MULTIPLE in self.words


MULTIPLE = "multiple"
COLLECTIVES = "MPI_Bcast, MPI_Allreduce, MPI_Allgatherv and MPI_Barrier"
KINDS = (
    Kind(["blocking"], "MPI_Send and MPI_Recv", 2, 25),
    Kind(["exchange"], "MPI_Sendrecv", 1, 70),
    Kind(["nonblocking"], "MPI_Irecv, MPI_Isend and MPI_Waitall", 3, 50),
    Kind(["polling"], "MPI_Test and MPI_Testany", 2, 30),
    Kind(["collective"], COLLECTIVES, 4, 110, ranks=2),
    Kind(["blocking", MULTIPLE], "MPI_Send and MPI_Recv, MULTIPLE,", 2, 250),
    Kind(["exchange", MULTIPLE], "MPI_Sendrecv, MULTIPLE,", 1, 450),
    Kind(["nonblocking", MULTIPLE], "MPI_Irecv, MPI_Isend and MPI_Waitall, MULTIPLE,", 3, 400),
    Kind(["polling", MULTIPLE], "MPI_Test and MPI_Testany, MULTIPLE,", 2, 350),
    Kind(["collective", MULTIPLE], f"{COLLECTIVES}, MULTIPLE,", 4, 350, ranks=2),
)


@dataclass(frozen=True)
class Cost:
    """What the calls of a round cost in instructions and in nanoseconds, stock and with Lapwing."""

    kind: Kind
    stock: float
    lapwing: float
    stock_ns: float
    lapwing_ns: float

    @property
    def added(self) -> float:
        """Instructions that Lapwing adds."""
        return self.lapwing - self.stock

    @property
    def added_ns(self) -> float:
        """The same as time: at the rate of the stock program, or measured."""
        if self.kind.is_multiple:
            return self.lapwing_ns - self.stock_ns
        return self.added * self.stock_ns / self.stock

    @property
    def is_within(self) -> bool:
        """Whether it is within the limits."""
        is_fast = self.kind.is_multiple or self.added_ns <= LIMIT_NS * self.kind.calls
        return is_fast and self.added <= self.kind.limit * self.kind.calls


def environment_with(preload: Path | None) -> dict[str, str]:
    """The environment of a run."""
    return ENVIRONMENT if preload is None else {**ENVIRONMENT, "LD_PRELOAD": str(preload)}


def launch(program: Path, kind: Kind, rounds: int, before: Sequence[str] = ()) -> list[str]:
    """The command line of a run. Collectives may only return early, and so are only looked at, where ranks are."""
    launcher = [f"mpirun{program.suffix}", "-n", str(kind.ranks)] if kind.ranks > 1 else []
    return [*launcher, *before, str(program), str(rounds), *kind.words]


def count_round(program: Path, kind: Kind, preload: Path | None) -> float:
    """Instructions of one round, of rank 0 or 1."""
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=run_rounds"]
    command = launch(program, kind, ROUNDS_COUNTED, valgrind)
    run = subprocess.run(command, env=environment_with(preload), capture_output=True, text=True, check=True)
    match = re.search(r"Collected : (\d+)", run.stderr)
    if match is None:
        raise RuntimeError(f"valgrind gives no count: {run.stderr[-400:]}")
    return int(match[1]) / ROUNDS_COUNTED


def time_round(program: Path, kind: Kind, preload: Path) -> list[float]:
    """Nanoseconds of a round, stock and with Lapwing: the fastest of a few runs in turn."""
    command = launch(program, kind, ROUNDS_TIMED)
    sides = [environment_with(each) for each in (None, preload)]
    times: list[list[float]] = [[], []]
    for _ in range(TIMED_RUNS):
        for side, environment in zip(times, sides, strict=True):
            side += map(float, subprocess.check_output(command, env=environment, text=True).split())
    return [min(side) for side in times]


def measure_mpi(compiler: str, preload: Path) -> list[Cost]:
    """Measure with one MPI."""
    with tempfile.TemporaryDirectory(prefix="lapwing-calls-") as folder:
        program = (Path(folder) / "calls").with_suffix(Path(compiler).suffix)
        subprocess.run([compiler, "-O2", str(ROOT / "bench/calls.c"), "-o", str(program)], check=True)
        return [measure_kind(program, kind, preload) for kind in KINDS]


def measure_kind(program: Path, kind: Kind, preload: Path) -> Cost:
    """Measure one way to communicate."""
    stock, lapwing = (count_round(program, kind, each) for each in (None, preload))
    return Cost(kind, stock, lapwing, *time_round(program, kind, preload))


def describe(compiler: str, cost: Cost) -> str:
    """One line of the report."""
    calls = cost.kind.calls
    counts = f"{compiler}: small {cost.kind.text} take {cost.stock:.0f} instructions stock, {cost.lapwing:.0f} passed"
    each = f"{cost.added / calls:.0f} more a call (limit {cost.kind.limit:.0f})"
    limit = "measured" if cost.kind.is_multiple else f"limit {LIMIT_NS:.0f}"
    return f"{counts}: {each}, {cost.added_ns / calls:.1f} ns ({limit})"


def main() -> int:
    """Measure with every compiler that is there."""
    preload = Path(sys.argv[1]).resolve(strict=True)  # the loader only warns, and stock would be compared with stock
    compilers = [name for name in sys.argv[2:] or ["mpicc.openmpi", "mpicc.mpich"] if shutil.which(name)]
    if shutil.which("valgrind") is None or not compilers:
        print("no valgrind, or no MPI")
        return SKIP
    is_within = True
    for compiler in compilers:
        for cost in measure_mpi(compiler, preload):
            print(describe(compiler, cost))
            is_within &= cost.is_within
    return 0 if is_within else 1


if __name__ == "__main__":
    sys.exit(main())
