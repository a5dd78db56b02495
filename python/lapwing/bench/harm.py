# SPDX-License-Identifier: MIT
"""The harm suite: programs with nothing to gain run stock and under Lapwing in turn."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from lapwing.bench.contenders import STOCK, Contender
from lapwing.bench.harm_installed import Installed, check_installed, prepare_installed, run_installed
from lapwing.bench.harm_programs import INSTRUCTIONS, PROCESSOR, QUANTITIES, TIME, Part, Program, find_limit
from lapwing.bench.measures import summarise
from lapwing.bench.mpi import Mpi, build_program
from lapwing.bench.place import Place
from lapwing.errors import LapwingError
from lapwing.files import find_preload, find_source
from lapwing.lab.network import Links, Network

LAPWING = "lapwing"
COMPILERS = {".c": ("cc", "-pthread"), ".cpp": ("c++",), ".f90": ("gfortran",)}
LAB_RATE = "1gbit"
COLLECTED = re.compile(r"Collected : (\d+)")

Figures = Mapping[str, float]
Run = Callable[[bool], Sequence[Figures]]  # with Lapwing or without; a line for each part


@dataclass
class Case:
    """A program that is ready to run, and its figures."""

    program: Program
    label: str
    run: Run
    count: Run | None = None  # its instructions
    figures: dict[str, list[Sequence[Figures]]] = field(default_factory=lambda: {STOCK: [], LAPWING: []})
    failure: str = ""


@dataclass(frozen=True)
class Suite:
    """What the programs are built and run with."""

    folder: Path
    mpis: Sequence[Mpi]
    options: Sequence[str]
    variables: Mapping[str, str]  # the options, for programs without a launcher
    line: Place | None = None  # the hosts of a launcher's line, where all programs of two ranks run


def compile_plain(source: str, folder: Path) -> Path:
    """Compile a program without MPI."""
    compiler, *flags = COMPILERS[Path(source).suffix]
    if shutil.which(compiler) is None:
        raise LapwingError(f"there is no {compiler}", "install it")
    program = folder / Path(source).stem
    command = [compiler, "-O2", *flags, "-o", str(program), str(find_source(f"harm/{source}"))]
    done = subprocess.run(command, capture_output=True, errors="replace", stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        cause = (done.stderr.strip().splitlines() or ["no message"])[0]
        raise LapwingError(f"{compiler} cannot build {source}: {cause}", "check the compiler")
    return program


def list_pythons() -> list[str]:
    """Return interpreters that may have the packages, without repetition."""
    found = [sys.executable, shutil.which("python3"), "/usr/bin/python3"]
    return list(dict.fromkeys(path for path in found if path and Path(path).exists()))


def try_python(python: str, code: str, mpi: Mpi | None) -> str | None:
    """Return what an interpreter prints, None when it cannot."""
    environment = {**os.environ, **(mpi.environment if mpi else {})}
    done = subprocess.run(
        [python, "-c", code], capture_output=True, errors="replace", stdin=subprocess.DEVNULL, env=environment
    )
    return done.stdout if done.returncode == 0 else None


def find_python(modules: Sequence[str], mpi: Mpi | None = None) -> str:
    """Return an interpreter that has the modules, and whose mpi4py uses this MPI."""
    code = f"import {', '.join(modules)}"
    code += "; from mpi4py import MPI; print(MPI.Get_library_version())" if mpi else ""
    for python in list_pythons():
        text = try_python(python, code, mpi)
        if text is not None and (mpi is None or mpi.name in text.lower().replace(" ", "")):
            return python
    where = f" for {mpi.name}" if mpi else ""
    raise LapwingError(f"no Python has {', '.join(modules)}{where}", "install them")


def make_cases(suite: Suite, programs: Sequence[Program], skipped: dict[str, str]) -> Iterator[Case]:
    """Build everything; say what cannot run here."""
    child = compile_plain("child.c", suite.folder)
    for program in programs:
        for mpi in suite.mpis if program.with_ranks else [None]:
            label = f"{program.name}, {mpi.name}" if mpi else program.name
            try:
                yield make_ranks_case(suite, program, label, mpi) if mpi else make_case(suite, program, label, child)
            except LapwingError as error:
                skipped[label] = error.message


def make_case(suite: Suite, program: Program, label: str, child: Path) -> Case:
    """Prepare a program that is one process."""
    if program.modules:
        command = [find_python(program.modules), str(find_source(f"harm/{program.source}"))]
    else:
        command = [str(compile_plain(program.source, suite.folder))]

    def run(with_lapwing: bool) -> Sequence[Figures]:
        preload = str(find_preload()) if with_lapwing else "-"
        return [run_child([str(child), preload, *command, *program.words], suite.variables)]

    def count(with_lapwing: bool) -> Sequence[Figures]:
        variables = {**suite.variables, "LD_PRELOAD": str(find_preload())} if with_lapwing else {}
        return [count_instructions([*command, *program.counted_words], variables)]

    return Case(program, label, run, count if program.counted_words else None)


def make_ranks_case(suite: Suite, program: Program, label: str, mpi: Mpi) -> Case:
    """Prepare a program of ranks: on this machine, each bound to a core, or on two emulated hosts."""
    folder = (suite.line.folder if suite.line else suite.folder) / mpi.name
    folder.mkdir(exist_ok=True)
    if suite.line and (program.in_lab or program.installed or program.rank_count != suite.line.rank_count):
        raise LapwingError("it runs on this machine only", "leave the launcher's line out")
    if program.installed is not None:
        return make_installed_case(suite, program, program.installed, label, mpi)
    if program.is_launch:
        return make_launch_case(suite, program, label, mpi, folder)
    if program.modules:
        command = [find_python(program.modules, mpi), str(find_source(f"harm/{program.source}")), *program.words]
    else:
        command = [str(build_program(mpi, f"harm/{program.source}", folder)), *program.words]
    enter: Callable[[], AbstractContextManager[Network | None]] = enter_lab if program.in_lab else nullcontext
    with enter():
        pass  # says now what it lacks

    def run(with_lapwing: bool) -> Sequence[Figures]:
        with enter() as network:
            place = suite.line or Place(mpi, network, folder, suite.options, program.rank_count)
            lines = place.run_as(choose_contender(suite, with_lapwing), command, len(program.lines))
            return read_figures(lines, len(program.lines))

    return Case(program, label, run)


def make_launch_case(suite: Suite, program: Program, label: str, mpi: Mpi, folder: Path) -> Case:
    """Prepare the start and end of a launcher, with `lapwing run` before it or without."""
    place = Place(mpi, None, folder, suite.options, program.rank_count)

    def run(with_lapwing: bool) -> Sequence[Figures]:
        begin = time.perf_counter()
        place.run_as(choose_contender(suite, with_lapwing), ["true"], 0)
        return [{TIME: 1e6 * (time.perf_counter() - begin)}]

    return Case(program, label, run)


def enter_lab() -> Network:
    """Return two emulated hosts, for `with`."""
    return Network(2, Links(LAB_RATE))


def choose_contender(suite: Suite, with_lapwing: bool) -> Contender:
    """Return one side."""
    return Contender(LAPWING, options=suite.options) if with_lapwing else Contender(STOCK)


def make_installed_case(suite: Suite, program: Program, installed: Installed, label: str, mpi: Mpi) -> Case:
    """Prepare a program that a package brought."""
    check_installed(installed, mpi.name)
    folder = suite.folder / mpi.name / installed.words[0]
    folder.mkdir()
    prepare_installed(installed, folder)
    place = Place(mpi, None, folder, suite.options)

    def run(with_lapwing: bool) -> Sequence[Figures]:
        return [{TIME: run_installed(installed, place, choose_contender(suite, with_lapwing))}]

    return Case(program, label, run)


def read_figures(lines: Sequence[str], count: int = 1) -> Sequence[Figures]:
    """Read what a program, or the one that ran it, printed in its last lines."""
    if len(lines) < count:
        raise LapwingError(f"it printed {len(lines) or 'nothing'}, not {count} lines", "run it by hand", 1)
    return [json.loads(line) for line in lines[-count:]]


def run_checked(command: Sequence[str], variables: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    """Run something to its end."""
    clean = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run(
        command, capture_output=True, errors="replace", stdin=subprocess.DEVNULL, env={**clean, **variables}
    )
    if done.returncode != 0:
        cause = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise LapwingError(f"ended with {done.returncode}: {cause}", "run it by hand", 1)
    return done


def run_child(command: Sequence[str], variables: Mapping[str, str]) -> Figures:
    """Run a process and return its time, page faults and memory."""
    return read_figures(run_checked(command, variables).stdout.splitlines())[0]


def count_instructions(command: Sequence[str], variables: Mapping[str, str]) -> Figures:
    """Count the instructions of a process."""
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    match = COLLECTED.search(run_checked([*valgrind, *command], variables).stderr)
    if match is None:
        raise LapwingError("valgrind gives no count", "run it by hand", 1)
    return {INSTRUCTIONS: float(match[1])}


def gather(case: Case, rounds: int, with_instructions: bool, advance: Callable[[], None]) -> None:
    """Run a program stock and under Lapwing in turn; a failure ends it."""
    runs = [case.run] * rounds + ([case.count] if with_instructions and case.count else [])
    for run in runs:
        for name in (STOCK, LAPWING):
            if not case.failure:
                run_once(case, run, name)
            advance()


def run_once(case: Case, run: Run, name: str) -> None:
    """Run one side once."""
    try:
        case.figures[name].append(run(name == LAPWING))
    except LapwingError as error:
        case.failure = f"{name}: {error.message}"


def describe_case(case: Case, with_time: bool) -> list[dict[str, Any]]:
    """Calculate the rows of one program."""
    whats = [what for what in QUANTITIES if with_time or what not in (TIME, PROCESSOR)]
    rows = []
    for number, part in enumerate(case.program.lines):
        for what in whats:
            stock, lapwing = (find_sample(case.figures[name], number, what) for name in (STOCK, LAPWING))
            if stock and lapwing:
                rows.append(describe_row(case, part, what, stock, lapwing))
    return rows


def find_sample(runs: Sequence[Sequence[Figures]], number: int, what: str) -> list[float]:
    """Return one quantity of a part, from all runs that have it."""
    return [lines[number][what] for lines in runs if number < len(lines) and what in lines[number]]


def describe_row(case: Case, part: Part, what: str, stock: Sequence[float], lapwing: Sequence[float]) -> dict[str, Any]:
    """Compare one quantity. What counts are pairs of neighbours in time; for latencies the best launch of each side."""
    limit, start = find_limit(case.program, what, part)
    is_best = part.is_latency and what == TIME
    pairs = [(min(stock), min(lapwing))] if is_best else list(zip(stock, lapwing, strict=True))
    ratios = summarise([b / a for a, b in pairs])
    return {
        "program": f"{case.label}, {part.name}" if part.name else case.label,
        "what": what,
        "stock": summarise(stock).as_json(),
        "lapwing": summarise(lapwing).as_json(),
        "ratio": ratios.median,
        "ratio_quartiles": None if is_best else [ratios.first_quartile, ratios.third_quartile],
        "limit": limit,
        "limit_start": start,
        "is_within": limit is None or median((b - start) / a for a, b in pairs) <= limit,
    }
