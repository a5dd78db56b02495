# SPDX-License-Identifier: MIT
"""The programs of the harm suite: Lapwing has nothing to gain in them, so that they show what it costs."""

from collections.abc import Sequence
from dataclasses import dataclass

from lapwing.bench.harm_installed import GROMACS, HPCC, LAMMPS, QUANTUM_ESPRESSO, Installed

TIME, PROCESSOR, FAULTS, MEMORY, INSTRUCTIONS = "time_us", "processor_us", "faults", "memory_kib", "instructions"


@dataclass(frozen=True)
class Quantity:
    """What is compared: Lapwing may take `ratio` times what stock takes, and `start` more for each process."""

    name: str
    ratio: float
    start: float


QUANTITIES = {
    TIME: Quantity("time", 1.01, 100.0),
    PROCESSOR: Quantity("processor time", 1.01, 0.0),  # of MPI_Init
    FAULTS: Quantity("page faults", 1.05, 128.0),
    MEMORY: Quantity("memory", 1.05, 1024.0),
    INSTRUCTIONS: Quantity("instructions", 1.05, 500e3),
}
LATENCY_RATIO = 1.03
INIT_US = 3000.0
LAUNCH_US = 150e3
# How ranks find out how a collective is best begun: src/mpi/collective/collective_choice.c.
FIRST_ROUND, FIRST_TRIALS = 7, 5
LATER_ROUND, LATER_ROUND_MOST, LATER_TRIALS = 16, 256, 2


def count_trials(calls: int) -> int:
    """Return how many of that many collectives may be begun otherwise than stock MPI does, where that is best."""
    trials, left, length = min(calls, FIRST_TRIALS), calls - FIRST_ROUND, LATER_ROUND
    while left > 0:
        trials += min(left, LATER_TRIALS)
        left -= length
        length = min(2 * length, LATER_ROUND_MOST)
    return trials


@dataclass(frozen=True)
class Part:
    """What a program prints a line for."""

    name: str = ""
    is_latency: bool = False  # the best launches are compared
    trial_share: float = 0.0  # of its calls; one may take twice as long
    start_us: float = 0.0  # what may be added to a call
    has_free_counts: bool = False  # page faults and memory have no limit


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
    rank_count: int = 2  # with ranks
    is_launch: bool = False  # timed is the whole command of the launcher, which starts `true`
    is_latency: bool = False  # as of a part
    in_lab: bool = False  # on two emulated hosts
    start_us: float = 0.0  # what may be added to a time that is measured inside the job
    installed: Installed | None = None
    parts: Sequence[Part] = ()

    @property
    def lines(self) -> Sequence[Part]:
        """Return what its lines are of; most programs print one."""
        return self.parts or (Part(is_latency=self.is_latency),)


COLLECTIVES = {
    "bcast": "bcast",
    "allgather": "allgather",
    "alltoall": "alltoall",
    "allreduce of ints": "allreduce-int",
    "allreduce of doubles": "allreduce-double",
}
SIZES = {"8 B": 8, "8 KiB": 8 << 10, "256 KiB": 256 << 10, "2 MiB": 2 << 20}
SIZE_JUDGED = 64 << 10  # smaller ones are never begun otherwise
SIZE_TRIED = 1 << 20  # smaller ones only if MPI's own take longer than holds do, as in the lab
CALLS, CALLS_LAB = (20000, 5000, 1015, 503), (5000, 2000, 503, 119)
BESIDE_US = 1000.0  # the first try on a communicator makes the one beside it


def make_collectives(in_lab: bool) -> "list[Program]":
    """Make the loops of blocking collectives, a program for each function."""
    counts = dict(zip(SIZES, CALLS_LAB if in_lab else CALLS, strict=True))
    parts = [make_collective_part(name, size, counts[name], in_lab) for name, size in SIZES.items()]
    words = [f"{size}:{counts[name]}" for name, size in SIZES.items()]
    return [
        Program(
            f"{name}, lab" if in_lab else name,
            "collectives.c",
            words=[word, *words],
            with_ranks=True,
            in_lab=in_lab,
            parts=parts,
        )
        for name, word in COLLECTIVES.items()
    ]


def make_collective_part(name: str, size: int, calls: int, in_lab: bool) -> Part:
    """Make the loop of one size."""
    if size < SIZE_JUDGED:
        return Part(name, is_latency=True)
    if size < SIZE_TRIED and not in_lab:
        return Part(name)
    return Part(name, trial_share=count_trials(calls) / calls, start_us=BESIDE_US / calls, has_free_counts=True)


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
    Program("lapwing run", with_ranks=True, rank_count=1, is_launch=True, start_us=LAUNCH_US),
    Program("init, one rank", "init.c", with_ranks=True, rank_count=1, start_us=INIT_US),
    Program("init", "init.c", with_ranks=True, start_us=INIT_US),
    Program("init, lab", "init.c", with_ranks=True, in_lab=True, start_us=INIT_US),
    Program("init, SciPy", "init.py", modules=["numpy", "scipy", "mpi4py"], with_ranks=True, start_us=INIT_US),
    Program("8-byte latency", "latency.c", with_ranks=True, is_latency=True),
    Program("8-byte rate", "rate.c", with_ranks=True, is_latency=True),
    Program("8-byte rate after 4 MiB", "rate.c", words=["50000", "4194304"], with_ranks=True, is_latency=True),
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
    *make_collectives(in_lab=False),
    *make_collectives(in_lab=True),
    Program("LAMMPS", with_ranks=True, installed=LAMMPS),
    Program("GROMACS", with_ranks=True, installed=GROMACS),
    Program("Quantum ESPRESSO", with_ranks=True, installed=QUANTUM_ESPRESSO),
    Program("HPCC", with_ranks=True, installed=HPCC),
)


def find_limit(program: Program, what: str, part: Part) -> tuple[float | None, float]:
    """Return the ratio that is allowed, None for any, and what is allowed beside it for starts."""
    quantity = QUANTITIES[what]
    if what == TIME and program.with_ranks:  # measured inside the job
        ratio = LATENCY_RATIO if part.is_latency else quantity.ratio
        return ratio + part.trial_share, program.start_us + part.start_us
    if what == PROCESSOR:
        return quantity.ratio, program.start_us
    if part.has_free_counts and what in (FAULTS, MEMORY):
        return None, 0.0
    return quantity.ratio, quantity.start * program.process_count
