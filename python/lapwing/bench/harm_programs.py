# SPDX-License-Identifier: MIT
"""The programs of the harm suite: Lapwing has nothing to gain in them, so that they show what it costs."""

from collections.abc import Sequence
from dataclasses import dataclass

from lapwing.bench.harm_installed import GROMACS, HPCC, LAMMPS, QUANTUM_ESPRESSO, Installed

TIME, FAULTS, MEMORY, INSTRUCTIONS = "time_us", "faults", "memory_kib", "instructions"


@dataclass(frozen=True)
class Quantity:
    """What is compared: Lapwing may take `ratio` times what stock takes, and `start` more for each process."""

    name: str
    ratio: float
    start: float


QUANTITIES = {
    TIME: Quantity("time", 1.01, 100.0),
    FAULTS: Quantity("page faults", 1.05, 128.0),
    MEMORY: Quantity("memory", 1.05, 1024.0),
    INSTRUCTIONS: Quantity("instructions", 1.05, 500e3),
}
LATENCY_RATIO = 1.03
INIT_US = 3000.0


@dataclass(frozen=True)
class Program:
    """One file of bench/harm, or a program that a package brings."""

    name: str
    source: str = ""
    words: Sequence[str] = ()
    counted_words: Sequence[str] = ()  # for Valgrind, which is slow; none: not counted
    modules: Sequence[str] = ()  # of Python
    process_count: int = 1
    with_ranks: bool = False
    is_latency: bool = False  # the best launches are compared
    in_lab: bool = False  # on two emulated hosts
    start_us: float = 0.0  # what may be added to a time that is measured inside the job
    installed: Installed | None = None


PROGRAMS = (
    Program("C temporaries", "temporaries.c", counted_words=["100"]),
    Program("C realloc", "realloc_growth.c", counted_words=["2"]),
    Program("C heap", "heap_growth.c", counted_words=["1000"]),
    Program("C calloc", "calloc_touch.c"),
    Program("C threads", "small_stacks.c"),  # the kernel's work, which Valgrind does not count
    Program("C++ containers", "containers.cpp", counted_words=["4"]),
    Program("Fortran allocatables", "allocatables.f90", counted_words=["60"]),
    Program("NumPy temporaries", "numpy_temporaries.py", modules=["numpy"]),
    Program("SciPy temporaries", "scipy_temporaries.py", modules=["numpy", "scipy"]),
    Program("process start", "start.c", words=["300"], process_count=301),
    Program("init", "init.c", with_ranks=True, start_us=INIT_US),
    Program("init, lab", "init.c", with_ranks=True, in_lab=True, start_us=INIT_US),
    Program("init, SciPy", "init.py", modules=["numpy", "scipy", "mpi4py"], with_ranks=True, start_us=INIT_US),
    Program("8-byte latency", "latency.c", with_ranks=True, is_latency=True),
    Program("8-byte rate", "rate.c", with_ranks=True, is_latency=True),
    Program("8-byte latency, lab", "latency.c", words=["100"], with_ranks=True, is_latency=True, in_lab=True),
    Program("8-byte rate, lab", "rate.c", words=["500"], with_ranks=True, is_latency=True, in_lab=True),
    Program("first large messages", "first_messages.c", with_ranks=True, is_latency=True),
    Program("small pipeline", "pipeline.c", with_ranks=True),
    Program("solver, 8 KiB rows", "solver.py", words=["8192"], modules=["numpy", "mpi4py"], with_ranks=True),
    Program("solver, 64 KiB rows", "solver.py", words=["65536"], modules=["numpy", "mpi4py"], with_ranks=True),
    Program(
        "solver, nonblocking",
        "solver.py",
        words=["65536", "1000", "nonblocking"],
        modules=["numpy", "mpi4py"],
        with_ranks=True,
    ),
    Program("LAMMPS", with_ranks=True, installed=LAMMPS),
    Program("GROMACS", with_ranks=True, installed=GROMACS),
    Program("Quantum ESPRESSO", with_ranks=True, installed=QUANTUM_ESPRESSO),
    Program("HPCC", with_ranks=True, installed=HPCC),
)


def find_limit(program: Program, what: str) -> tuple[float, float]:
    """Return the ratio that is allowed, and what is allowed beside it for starts."""
    quantity = QUANTITIES[what]
    if program.with_ranks and what == TIME:  # measured inside the job
        return (LATENCY_RATIO if program.is_latency else quantity.ratio), program.start_us
    return quantity.ratio, quantity.start * program.process_count
