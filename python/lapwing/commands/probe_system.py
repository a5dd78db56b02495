# SPDX-License-Identifier: MIT
"""`lapwing probe --system FILE`: measures the parameters of a system and keeps them."""

import argparse
import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

import lapwing
from lapwing.bench.mpi import Mpi, build_program
from lapwing.bench.place import Place
from lapwing.commands.experiment import show_progress
from lapwing.errors import LapwingError
from lapwing.model.system import BETWEEN, FORMAT, WITHIN, Route, System
from lapwing.options import parse_bytes
from lapwing.outfiles import check_outputs, write_text
from lapwing.probe.exports import describe_unit, make_loggopsim, make_simgrid
from lapwing.probe.parameters import SMALL_JOBS, SMALLEST_BYTES, Ground, measure_route
from lapwing.report.sendable import find_processor
from lapwing.report.system import print_system
from lapwing.screen import Screen

LARGEST_LEAST_BYTES = 1 << 20  # G is that of large messages
LARGEST_DEFAULT = "64MiB"
OpenWhere = Callable[[str], AbstractContextManager[Place]]


def add_system_flags(parser: argparse.ArgumentParser) -> None:
    """Declare what is measured instead, and what is written."""
    text = "measure LogGP parameters instead, and keep them for predict, advise and bench sendtime"
    parser.add_argument("--system", type=Path, metavar="FILE", help=text)
    text = "with --system: write options of LogGOPSim, in picoseconds (or the unit that is printed)"
    parser.add_argument("--loggopsim", type=Path, metavar="FILE", help=text)
    text = "with --system: write SimGrid's SMPI properties, for SimGrid 3.32 and later"
    parser.add_argument("--simgrid", type=Path, metavar="FILE", help=text)
    text = f"with --system: the largest message (default: {LARGEST_DEFAULT})"
    parser.add_argument("--largest", metavar="SIZE", help=text)
    text = f"with --system: jobs for messages up to 4 MiB, of which the two quietest count (default: {SMALL_JOBS})"
    parser.add_argument("--jobs", type=int, metavar="N", help=text)
    text = "with --system: measure only this route (default: both)"
    parser.add_argument("--route", choices=(WITHIN, BETWEEN), help=text)
    parser.add_argument("--host-names", action="store_true", help="with --system: keep the hosts' names, too")


def refuse_mixture(arguments: argparse.Namespace) -> None:
    """Refuse what only the other of the two measurements asks for."""
    others = (arguments.loggopsim, arguments.simgrid, arguments.route, arguments.largest, arguments.jobs)
    is_asked = arguments.host_names or any(given is not None for given in others)
    if arguments.system is None and is_asked:
        raise LapwingError("the parameters are not measured", "add --system FILE")
    names = ("json", "sizes", "strategies", "absence", "repetitions", "tests")
    given = [f"--{name}" for name in names if getattr(arguments, name) is not None]
    if arguments.system is not None and given:
        raise LapwingError("--system measures parameters, and no absences", f"leave {', '.join(given)} out")


def check_system_flags(arguments: argparse.Namespace) -> None:
    """Refuse what cannot be measured, or not written; then fill in what is usual."""
    refuse_mixture(arguments)
    arguments.largest = arguments.largest or LARGEST_DEFAULT
    arguments.jobs = SMALL_JOBS if arguments.jobs is None else arguments.jobs
    if not LARGEST_LEAST_BYTES <= parse_bytes(arguments.largest) <= 1 << 30:
        raise LapwingError(f"--largest {arguments.largest} is out of range", "give 1MiB to 1GiB")
    if not 1 <= arguments.jobs <= 1000:
        raise LapwingError(f"--jobs {arguments.jobs} is out of range", "give 1 to 1000")
    check_outputs(arguments, "system", "loggopsim", "simgrid")


def describe_ground(arguments: argparse.Namespace, line: Sequence[str], where: str) -> Ground:
    """Say what is known of a route before it is measured."""
    is_lab = not line and where == "between"
    transport = "TCP between emulated hosts" if is_lab else "as the MPI chose"
    return Ground(where, transport, arguments.rate if is_lab else "", arguments.host_names, arguments.jobs)


def measure_system(
    arguments: argparse.Namespace,
    mpi: Mpi,
    line: Sequence[str],
    open_where: OpenWhere,
    wheres: Sequence[str],
    missing: Mapping[str, str],
) -> int:
    """Measure every route, then write and print."""
    routes: list[Route] = []
    told, library = dict(missing), ""
    with show_progress("parameters", len(wheres)) as advance:
        for where in wheres:
            with open_where(where) as place:
                programs = build_program(mpi, "probe.c", place.folder), build_program(mpi, "loggp.c", place.folder)
                largest_bytes = max(SMALLEST_BYTES, parse_bytes(arguments.largest))
                route, text = measure_route(place, programs, describe_ground(arguments, line, where), largest_bytes)
            if route is None:
                told[where] = text
            else:
                routes.append(route)
                library = text
            advance()
    if not routes:
        raise LapwingError(f"nothing could be measured: {'; '.join(told.values())}", "see the causes", 1)
    date = datetime.now(UTC).isoformat(timespec="seconds")
    about = (mpi.name, library, lapwing.__version__, platform.release(), find_processor(), date)
    system = System(*about, tuple(routes))
    write_system(arguments, system)
    print_system(Screen(), system, told)
    if arguments.loggopsim:
        Screen().print(describe_unit(system), highlight=False, soft_wrap=True)
    return 0


def write_system(arguments: argparse.Namespace, system: System) -> None:
    """Write the files that are wanted."""
    write_text(arguments.system, FORMAT.encode(system))
    if arguments.loggopsim:
        write_text(arguments.loggopsim, make_loggopsim(system))
    if arguments.simgrid:
        write_text(arguments.simgrid, make_simgrid(system))
