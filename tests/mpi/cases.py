# SPDX-License-Identifier: MIT
"""What is run: the MPI programs of programs/, and the variants of Lapwing's options that they run in."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from zlib import crc32

from families import Family

TIMEOUT_S = 40.0
ALWAYS = {"LAPWING_LEARN": "off"}
SMALL = {"LAPWING_THRESHOLD": "4096", "LAPWING_PROGRESS_THRESHOLD": "4096"}
ONE = {"LAPWING_THRESHOLD": "1", "LAPWING_PROGRESS_THRESHOLD": "1"}
VARIANTS: Mapping[str, Mapping[str, str]] = {
    "default": {},
    "userfaultfd": {**ALWAYS, "LAPWING_HOLD": "userfaultfd", **SMALL},
    "userfaultfd-user": {**ALWAYS, "LAPWING_HOLD": "userfaultfd-user", **SMALL},
    "signal": {**ALWAYS, "LAPWING_HOLD": "signal", **SMALL},
    "userfaultfd-1": {**ALWAYS, "LAPWING_HOLD": "userfaultfd", **ONE},
    "signal-1": {**ALWAYS, "LAPWING_HOLD": "signal", **ONE},
    "keys-1": {**ALWAYS, "LAPWING_HOLD": "keys", **ONE},  # where the processor has any: tests/rdma
    "poll": {**ALWAYS, "LAPWING_PROGRESS": "poll"},
    "event-1": {**ALWAYS, "LAPWING_PROGRESS": "event", **ONE},  # where UCX carries the messages: tests/rdma
    "profile": {"LAPWING_PROFILE": "on", "LAPWING_PROFILE_COST": "1000", "LAPWING_TIMELINE": "1000"},
}
# Only for programs that are about them: the ways to progress nonblocking operations.
STRATEGIES: Mapping[str, Mapping[str, str]] = {
    name: {**ALWAYS, "LAPWING_PROGRESS": name} for name in ("dedicated", "manual")
}
# The words that a program's head may begin a line with (what each means: run.py).
DIRECTIVE = re.compile(
    r"\b(agrees|arguments|assists|copies|defers|environment|exit|flags|library|moves|passes|plugin|quick|ranks|records|refused"
    r"|strategies|survives|takes|timeout|variants): "
)
# What --quick runs: every hold backend and what users get, each program in several; on MPIs that are not named here
# (those of tests/fortran) all four.
QUICK_VARIANTS = ("default", "userfaultfd", "userfaultfd-user", "signal-1")
QUICK: Mapping[str, Sequence[str]] = {
    "openmpi4": ("userfaultfd", "userfaultfd-user", "signal-1"),
    "mpich4": ("userfaultfd", "signal-1"),
    "openmpi5": ("userfaultfd",),
    "mpich5": ("userfaultfd",),
    "mpi5abi": ("userfaultfd",),
    "impi": ("default",),
}
# Where --quick runs each program once, with its first argument and number of ranks: other variants, or MPIs, run it
# with all.
QUICK_ONCE = {
    ("openmpi4", "userfaultfd-user"),
    ("mpich4", "signal-1"),
    ("openmpi5", "userfaultfd"),
    ("mpich5", "userfaultfd"),
    ("mpi5abi", "userfaultfd"),
    ("impi", "default"),
}

# Later releases of what runs all: a program that names no MPI runs on one of the two.
QUICK_EITHER = ("openmpi5", "mpich5")


@dataclass(frozen=True)
class Program:
    """One program of programs/, with what the comment at its head says about running it."""

    source: Path
    directives: Mapping[str, str]

    @property
    def name(self) -> str:
        """The claim's short name."""
        return self.source.stem

    def words(self, directive: str) -> list[str]:
        """The words of a directive."""
        return self.directives.get(directive, "").split()

    @property
    def timeout_s(self) -> float:
        """Longest run before it counts as a hang."""
        return float(self.directives.get("timeout", TIMEOUT_S))


@dataclass(frozen=True)
class Case:
    """One run under Lapwing."""

    program: Program
    argument: str
    ranks: int
    family: Family
    variant: str

    @property
    def program_name(self) -> str:
        """Name in reports, of all variants."""
        argument = f":{self.argument}" if self.argument else ""
        return f"{self.family.name}/{self.program.name}{argument}/{self.ranks}"

    @property
    def name(self) -> str:
        """Name in reports."""
        return self.program_name.replace("/", f"/{self.variant}/", 1)


def has_keys() -> bool:
    """Whether the kernel uses this processor's protection keys."""
    return " ospke" in Path("/proc/cpuinfo").read_text("utf-8")


def read_program(source: Path) -> Program:
    """Read a program's directives: lines ` * word: value` of its first comment.

    One that begins no line, or that nobody knows, would demand nothing.
    """
    head = source.read_text().split("*/")[1]
    directives = dict(re.findall(r"^ \* (\w+): (.*?)\s*$", head, re.MULTILINE))
    lost = set(DIRECTIVE.findall(head)) ^ directives.keys()
    if lost:
        raise ValueError(f"{source.name}: no directives, by their place or name: {' '.join(sorted(lost))}")
    program = Program(source, directives)
    unknown = set(program.words("quick")) - QUICK.keys() - VARIANTS.keys()
    if unknown:
        raise ValueError(f"{source.name}: neither MPIs nor variants: {' '.join(sorted(unknown))}")
    return program


def choose_either(program: Program) -> str:
    """Return the one of QUICK_EITHER that --quick runs a program on, the same in every run."""
    return QUICK_EITHER[crc32(program.name.encode()) % len(QUICK_EITHER)]


def is_in_quick(program: Program, mpi: str, variant: str) -> bool:
    """Does --quick run a program in this variant on this MPI?"""
    words = program.words("quick")
    mpis = [word for word in words if word in QUICK]
    if not mpis:
        mpis = [choose_either(program) if mpi in QUICK_EITHER else mpi]
    variants = [word for word in words if word in VARIANTS] or [variant]
    return mpi in mpis and variant in variants and variant in QUICK.get(mpi, QUICK_VARIANTS)


def is_wanted(program: Program, mpi: str, variant: str, is_quick: bool) -> bool:
    """Is a program about this variant, and, where time is short, about this MPI?"""
    if variant in STRATEGIES and not program.words("assists") + program.words("strategies"):
        return False
    if program.words("variants") and variant not in program.words("variants"):
        return False
    return not is_quick or is_in_quick(program, mpi, variant)


def list_runs(program: Program, is_once: bool) -> list[tuple[str, int]]:
    """The arguments and numbers of ranks to run a program with; the first pair where once is enough."""
    arguments = program.words("arguments") or [""]
    ranks = [int(word) for word in program.words("ranks") or ["2"]]
    return list(product(arguments, ranks))[: 1 if is_once else None]


def is_first_run(case: Case) -> bool:
    """Has it the first of its program's arguments, and of its numbers of ranks?"""
    return list_runs(case.program, is_once=True) == [(case.argument, case.ranks)]


def list_cases(
    programs: Sequence[Program], families: Sequence[Family], variants: Sequence[str], is_quick: bool
) -> Iterator[Case]:
    """All combinations, one MPI after the other."""
    for family in families:
        for program in programs:
            for variant in variants:
                if not is_wanted(program, family.name, variant, is_quick):
                    continue
                is_once = is_quick and (family.name, variant) in QUICK_ONCE
                for argument, ranks in list_runs(program, is_once):
                    yield Case(program, argument, ranks, family, variant)
