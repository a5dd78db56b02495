# SPDX-License-Identifier: MIT
"""Count the instructions that Lapwing adds to a small MPI_Send and MPI_Recv that it passes.

    measure_call.py PRELOAD [MPICC...]

Valgrind counts the instructions of bench/calls.c, stock and with the preload, for two numbers of pairs: the
difference is free of start and end, and repeats. Nanoseconds follow from the rate at which the same program runs
stock. Exit code 1 when a pair costs more than 50 ns, 77 when there is no valgrind or no MPI.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT_NS = 50.0
PAIRS_FEW, PAIRS_MANY, PAIRS_TIMED = 1000, 21_000, 2_000_000
TIMED_RUNS = 5
SKIP = 77
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@dataclass(frozen=True)
class Cost:
    """What a pair costs in instructions, stock and with Lapwing, and in nanoseconds, stock."""

    stock: float
    lapwing: float
    stock_ns: float

    @property
    def added(self) -> float:
        """Instructions that Lapwing adds."""
        return self.lapwing - self.stock

    @property
    def added_ns(self) -> float:
        """The same as time, at the rate of the stock program."""
        return self.added * self.stock_ns / self.stock


def environment_with(preload: Path | None) -> dict[str, str]:
    """The environment of a run."""
    return ENVIRONMENT if preload is None else {**ENVIRONMENT, "LD_PRELOAD": str(preload)}


def count_run(program: Path, pairs: int, preload: Path | None) -> int:
    """Instructions of one whole run."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program), str(pairs)]
    run = subprocess.run(command, env=environment_with(preload), capture_output=True, text=True, check=True)
    match = re.search(r"Collected : (\d+)", run.stderr)
    if match is None:
        raise RuntimeError(f"valgrind gives no count: {run.stderr[-400:]}")
    return int(match[1])


def count_pair(program: Path, preload: Path | None) -> float:
    """Instructions of one pair."""
    few, many = (count_run(program, pairs, preload) for pairs in (PAIRS_FEW, PAIRS_MANY))
    return (many - few) / (PAIRS_MANY - PAIRS_FEW)


def time_pair(program: Path) -> float:
    """Nanoseconds of one stock pair: the fastest of a few runs, since others may use the machine."""
    command = [str(program), str(PAIRS_TIMED)]
    outputs = [subprocess.check_output(command, env=ENVIRONMENT, text=True) for _ in range(TIMED_RUNS)]
    return min(float(output.split()[0]) for output in outputs)


def measure_mpi(compiler: str, preload: Path) -> Cost:
    """Measure with one MPI."""
    with tempfile.TemporaryDirectory(prefix="lapwing-calls-") as folder:
        program = Path(folder) / "calls"
        subprocess.run([compiler, "-O2", str(ROOT / "bench/calls.c"), "-o", str(program)], check=True)
        return Cost(count_pair(program, None), count_pair(program, preload), time_pair(program))


def describe(compiler: str, cost: Cost) -> str:
    """One line of the report."""
    pair = f"{compiler}: a small MPI_Send and MPI_Recv take {cost.stock:.0f} instructions stock, {cost.lapwing:.0f}"
    return f"{pair} passed by Lapwing: {cost.added:.0f} more, {cost.added_ns:.0f} ns (limit {LIMIT_NS:.0f})"


def main() -> int:
    """Measure with every compiler that is there."""
    preload = Path(sys.argv[1]).resolve()
    compilers = [name for name in sys.argv[2:] or ["mpicc.openmpi", "mpicc.mpich"] if shutil.which(name)]
    if shutil.which("valgrind") is None or not compilers:
        print("no valgrind, or no MPI")
        return SKIP
    costs = {compiler: measure_mpi(compiler, preload) for compiler in compilers}
    print("\n".join(describe(compiler, cost) for compiler, cost in costs.items()))
    return 1 if max(cost.added_ns for cost in costs.values()) > LIMIT_NS else 0


if __name__ == "__main__":
    sys.exit(main())
