# SPDX-License-Identifier: MIT
"""`lapwing bench harm`: what Lapwing costs programs that it brings nothing."""

import argparse
import platform
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

import lapwing
from lapwing.bench.harm import Case, Suite, describe_case, gather, make_cases
from lapwing.bench.harm_programs import PROGRAMS, QUANTITIES, Program
from lapwing.bench.line import find_line_mpi, open_line
from lapwing.bench.mpi import Mpi, find_mpi
from lapwing.bench.plan import check_names
from lapwing.commands.experiment import (
    SCHEMA,
    add_line_flags,
    check_one_pair,
    describe_place,
    finish,
    forward_options,
    read_line,
    show_progress,
    warn_if_busy,
)
from lapwing.configuration.settings import collect_variables
from lapwing.errors import LapwingError
from lapwing.launch.job import catch_signals
from lapwing.launch.start import prepare_stock, refuse_exclusion
from lapwing.options import add_cores_flag, add_flags
from lapwing.outfiles import check_outputs
from lapwing.report.harm import make_harm_tables

ROUNDS, ROUNDS_COUNTED = 9, 1
MPIS = "openmpi,mpich"


class HarmExperiment:
    """Programs with nothing to gain: stock, without any preload, and under Lapwing in turn.

    Temporaries and growing heaps in C, C++, Fortran, NumPy and SciPy, threads with small stacks, the start of
    processes, of ranks and of a launcher, and programs of two ranks whose messages are small, on this machine and on
    two emulated hosts; blocking collectives of 8 bytes to 2 MiB whose data are used at once; LAMMPS, GROMACS, Quantum
    ESPRESSO and HPCC, where Debian's packages are installed, with the time that they print. Compared are time, page
    faults, peak resident memory and, where Valgrind is installed, instructions. Exit code 0 only when everything that
    ran is within its limit. What cannot run here is named, with what to install.
    --mpi takes a list here: openmpi,mpich,PREFIX. With a launcher's line only programs of two ranks run, there.
    """

    name = "harm"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        names = ", ".join(make_word(program) for program in PROGRAMS)
        parser.add_argument("--programs", metavar="LIST", help=f"of {names} (default: all)")
        add_line_flags(parser, self.name)
        parser.add_argument("--mpi", metavar="LIST", help=f"(default: {MPIS})")
        text = "only what other work on the machine does not change: no times, no ranks"
        parser.add_argument("--counts", action="store_true", help=text)
        text = f"times that stock and Lapwing alternate (default: {ROUNDS}; {ROUNDS_COUNTED} with --counts)"
        parser.add_argument("--rounds", type=int, metavar="N", help=text)
        parser.add_argument("--output", type=Path, metavar="FILE", help="write the results as JSON")
        add_cores_flag(parser)
        add_flags(parser)

    def run(self, arguments: argparse.Namespace) -> int:
        """Measure and show."""
        default = ROUNDS_COUNTED if arguments.counts else ROUNDS
        rounds = default if arguments.rounds is None else arguments.rounds
        if rounds < 1:
            raise LapwingError("there must be at least one round", "correct --rounds")
        check_outputs(arguments, "output", "report")
        programs = choose_programs(arguments.programs, arguments.counts)
        refuse_exclusion()
        prepare_stock(arguments.launcher)
        begin = time.time()
        skipped: dict[str, str] = {}
        if not arguments.counts:
            warn_if_busy()
        with open_suite(arguments, skipped) as suite:
            wanted = [one for one in programs if one.with_ranks] if suite.line else programs
            cases = list(make_cases(suite, wanted, skipped))
            measure(cases, rounds, skipped)
            where = describe_place(arguments, suite.line) if suite.line else {}
        document = make_harm_document(cases, not arguments.counts, skipped, time.time() - begin) | where
        finish(arguments, document, lambda screen: show(screen, document))
        rows = document["results"]
        return 0 if rows and not document["failures"] and all(row["is_within"] for row in rows) else 1


@contextmanager
def open_suite(arguments: argparse.Namespace, skipped: dict[str, str]) -> Iterator[Suite]:
    """Prepare what the programs are built and run with."""
    catch_signals()
    options, variables, line = forward_options(arguments), collect_variables(arguments), read_line(arguments)
    if line and arguments.counts:
        raise LapwingError("--counts has no ranks", "leave the launcher's line out")
    with tempfile.TemporaryDirectory(prefix="lapwing-bench-") as folder:
        if not line:
            mpis = [] if arguments.counts else find_mpis(arguments.mpi or MPIS, skipped)
            yield Suite(Path(folder), mpis, options, variables)
            return
        mpi = find_line_mpi(line, arguments.compiler, "bench harm")
        with open_line(mpi, line[1:], options) as place:
            check_one_pair(place)
            yield Suite(Path(folder), [mpi], options, variables, place)


def make_word(program: Program) -> str:
    """Return a program's name for the command line."""
    return program.name.lower().replace(", ", "-").replace(" ", "-")


def choose_programs(text: str | None, is_counted: bool) -> list[Program]:
    """Return the programs that are wanted."""
    known = {make_word(one): one for one in PROGRAMS if not (is_counted and one.with_ranks)}
    words = check_names(text.split(","), known, "program") if text else list(known)
    return [known[word] for word in words]


def find_mpis(text: str, skipped: dict[str, str]) -> list[Mpi]:
    """Return the MPIs that are here."""
    found = []
    for word in text.split(","):
        try:
            found.append(find_mpi(word))
        except LapwingError as error:
            skipped[word] = error.message
    return found


def measure(cases: Sequence[Case], rounds: int, skipped: dict[str, str]) -> None:
    """Run everything."""
    has_valgrind = shutil.which("valgrind") is not None
    if not has_valgrind:
        skipped["instructions"] = "there is no valgrind"
    total = sum(2 * (rounds + (has_valgrind and case.count is not None)) for case in cases)
    with show_progress("harm", total) as advance:
        for case in cases:
            gather(case, rounds, has_valgrind, advance)


def make_harm_document(
    cases: Sequence[Case], with_time: bool, skipped: dict[str, str], elapsed_s: float
) -> dict[str, Any]:
    """Make the results for programs."""
    return {
        "schema": SCHEMA,
        "lapwing": lapwing.__version__,
        "experiment": "harm",
        "kernel": platform.release(),
        "elapsed_s": round(elapsed_s, 1),
        "results": [row for case in cases for row in describe_case(case, with_time)],
        "failures": {case.label: case.failure for case in cases if case.failure},
        "skipped": skipped,
    }


def show(screen: Console, document: dict[str, Any]) -> None:
    """Print the tables, and what is not in them."""
    for table in make_harm_tables(document["results"]):
        screen.print(table)
    for kind, causes in (("skip", document["skipped"]), ("FAIL", document["failures"])):
        for name, cause in causes.items():
            screen.print(f"{kind} {name}: {cause}", highlight=False, soft_wrap=True)
    for row in document["results"]:
        if not row["is_within"]:
            name = QUANTITIES[row["what"]].name
            text = f"FAIL {row['program']}: {name} {row['ratio']:.3f} times stock's, limit {row['limit']:.2f}"
            screen.print(text, highlight=False, soft_wrap=True)
