# SPDX-License-Identifier: MIT
"""`lapwing probe`."""

import argparse
import json
import platform
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import lapwing
from lapwing.bench.contenders import Contender, list_contenders, parse_strategies
from lapwing.bench.line import LinePlace, find_line_mpi, open_folder
from lapwing.bench.mpi import Mpi, build_program, find_mpi
from lapwing.bench.place import Place, open_place
from lapwing.bench.plan import parse_sizes
from lapwing.commands.experiment import add_place_flags, forward_options, read_line, show_progress, warn_if_busy
from lapwing.commands.probe_system import add_system_flags, check_system_flags, measure_system
from lapwing.errors import LabError, LapwingError
from lapwing.files import SELF
from lapwing.lab.flags import read_links
from lapwing.lab.network import enter_user_namespace
from lapwing.launch.job import catch_signals
from lapwing.launch.start import prepare_stock, refuse_exclusion
from lapwing.options import add_flags
from lapwing.outfiles import check_outputs, write_text
from lapwing.probe.run import Advance, Findings, Plan, probe_where
from lapwing.probe.show import print_probe
from lapwing.screen import Screen

SCHEMA = "lapwing-probe-1"
WHERES = ("within", "between")
REPETITIONS, TESTS = 9, 1


class ProbeCommand:
    """Tell what this MPI does with a nonblocking transfer while the program is elsewhere.

    Does it go on in the background, for which sizes, and who carries it? Two ranks start a transfer, are away, and
    wait; with and without a call of MPI_Test halfway. As in MPICH's guide to progress they sleep for 100 ms; and they
    compute, for half as long again as the transfer takes. Measured are stock MPI, its own progress thread where it has
    one, and each strategy of Lapwing, within a host and between hosts. Between means the lab's emulated hosts, unless
    you give a launcher's line without a program:

        lapwing probe mpirun -n 2 --host node1,node2

    With --system FILE it measures instead, on the same hosts, what messages take: the parameters of LogGP, of small
    messages that are sent at once and of large ones that need their receiver. It holds them against round trips of
    other sizes, and keeps them for `lapwing predict`, `lapwing advise` and `lapwing bench sendtime`.

    Run it on a quiet machine: where the times scatter too much, it says that it cannot tell. The exit code is 1 when
    nothing could be measured.
    """

    name = "probe"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        parser.usage = "lapwing probe [options] [LAUNCHER ...]"
        add_place_flags(parser)
        parser.add_argument("--compiler", metavar="MPICC", help="compiler of LAUNCHER's MPI (default: beside it)")
        text = "sizes to try (default: 4 KiB, the largest eager message, 256 KiB, 1 MiB, 4 MiB)"
        parser.add_argument("--sizes", metavar="LIST", help=text)
        parser.add_argument("--strategies", metavar="LIST", help="of --progress (default: all; an empty list: none)")
        text = f"of each experiment (default: {REPETITIONS})"
        parser.add_argument("--repetitions", type=int, metavar="N", help=text)
        text = f"of MPI_Test in an absence (default: {TESTS})"
        parser.add_argument("--tests", type=int, metavar="N", help=text)
        text = "how long ranks are away, sleeping or computing (default: as above)"
        parser.add_argument("--absence", type=float, metavar="MS", help=text)
        parser.add_argument("--json", type=Path, metavar="FILE", help="write what was found as JSON")
        add_system_flags(parser)
        add_flags(parser)
        parser.add_argument("launcher", nargs=argparse.REMAINDER, metavar="LAUNCHER ...", help="without a program")

    def run(self, arguments: argparse.Namespace) -> int:
        """Probe and tell."""
        refuse_exclusion()
        prepare_stock(arguments.launcher)
        catch_signals()
        check_absence(arguments)
        if arguments.option_progress:
            raise LapwingError("all strategies are compared here", "use --strategies")
        check_outputs(arguments, "json")
        check_system_flags(arguments)
        sizes = parse_sizes(arguments.sizes) if arguments.sizes else []
        strategies, options = parse_strategies(arguments.strategies), forward_options(arguments)
        line = read_line(arguments)
        mpi = find_line_mpi(line, arguments.compiler) if line else find_mpi(arguments.mpi)
        if arguments.system:
            return self._measure_system(arguments, mpi, line)
        contenders = list_contenders(mpi, strategies, options)
        found, places = self._probe(arguments, mpi, line, contenders, make_plan(arguments, sizes))
        if arguments.json:
            document = make_document(mpi, line, found, places)
            write_text(arguments.json, json.dumps(document, indent=1) + "\n")
        print_probe(Screen(), found, places)
        return 0 if any(findings.sizes for findings in found) else 1

    def _measure_system(self, arguments: argparse.Namespace, mpi: Mpi, line: Sequence[str]) -> int:
        """Measure the parameters where something can be measured."""
        missing = "" if line else prepare_lab(arguments)
        warn_if_busy()
        wanted = [where for where in WHERES if arguments.route in (None, where)]
        wheres = [where for where in wanted if where == "within" or not missing]

        def open_it(where: str) -> AbstractContextManager[Place]:
            return open_where(arguments, mpi, line, where)

        return measure_system(arguments, mpi, line, open_it, wheres, {"between": missing} if missing else {})

    def _probe(
        self,
        arguments: argparse.Namespace,
        mpi: Mpi,
        line: Sequence[str],
        contenders: Sequence[Contender],
        plan: Plan,
    ) -> tuple[list[Findings], list[str]]:
        """Run everything."""
        missing = "" if line else prepare_lab(arguments)
        warn_if_busy()
        found, texts = [], []
        with show_progress("probe", len(contenders) * len(WHERES)) as advance:
            for where in WHERES:
                text = "" if line or where == "within" else f", emulated, TCP at {arguments.rate}"
                if where == "between" and missing:
                    found.append(Findings(where, missing=missing))
                else:
                    found.append(self._probe_where(arguments, mpi, line, where, contenders, plan, advance))
                texts.append(text)
        return found, texts

    def _probe_where(
        self,
        arguments: argparse.Namespace,
        mpi: Mpi,
        line: Sequence[str],
        where: str,
        contenders: Sequence[Contender],
        plan: Plan,
        advance: Advance,
    ) -> Findings:
        """Run everything on one side of the wall between hosts."""
        with open_where(arguments, mpi, line, where) as place:
            program = build_program(mpi, "probe.c", place.folder)
            return probe_where(place, program, where, contenders, plan, advance)


def check_absence(arguments: argparse.Namespace) -> None:
    """Refuse absences that nobody waits for."""
    if arguments.repetitions is not None and arguments.repetitions < 3:
        raise LapwingError("fewer than 3 repetitions tell nothing", "correct --repetitions")
    if arguments.tests is not None and not 0 <= arguments.tests <= 10_000:
        raise LapwingError(f"--tests {arguments.tests} is out of range", "give 0 to 10000")
    if arguments.absence is not None and not 0 < arguments.absence <= 60_000:
        raise LapwingError(f"--absence {arguments.absence} is out of range", "give up to 60000 milliseconds")


def make_plan(arguments: argparse.Namespace, sizes: Sequence[int]) -> Plan:
    """Say what is tried."""
    repetitions = REPETITIONS if arguments.repetitions is None else arguments.repetitions
    tests = TESTS if arguments.tests is None else arguments.tests
    if arguments.absence is None:
        return Plan(sizes, repetitions, tests)
    away_us = 1e3 * arguments.absence
    return Plan(sizes, repetitions, tests, sleep_us=away_us, work_us=away_us)


def prepare_lab(arguments: argparse.Namespace) -> str:
    """Make the lab possible; return why it is not."""
    if arguments.shared_memory:
        return "you asked for --shared-memory only"
    read_links(arguments)
    try:
        enter_user_namespace([*SELF, *sys.argv[1:]])
    except LabError as error:
        return f"{error.message}; name real hosts instead: lapwing probe mpirun -n 2 --host a,b"
    return ""


def open_where(
    arguments: argparse.Namespace, mpi: Mpi, line: Sequence[str], where: str
) -> AbstractContextManager[Place]:
    """Open the user's hosts, this machine, or the lab."""
    if line:
        return open_hosts(mpi, line[1:])
    links = None if where == "within" else read_links(arguments)
    return open_place(mpi, links, forward_options(arguments))


@contextmanager
def open_hosts(mpi: Mpi, arguments: Sequence[str]) -> Iterator[Place]:
    """Use the hosts of the user's line, without a look at them."""
    with open_folder("probe") as folder:
        yield LinePlace(mpi, None, folder, arguments=arguments)


def make_document(mpi: Mpi, line: Sequence[str], found: Sequence[Findings], places: Sequence[str]) -> dict[str, object]:
    """Make the findings for programs."""
    return {
        "schema": SCHEMA,
        "lapwing": lapwing.__version__,
        "kernel": platform.release(),
        "mpi": mpi.name,
        "launcher": [mpi.launcher.path, *line[1:]],
        "found": [
            {**findings.as_json(), "place": place.lstrip(", ")} for findings, place in zip(found, places, strict=True)
        ],
    }
