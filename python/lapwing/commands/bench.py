# SPDX-License-Identifier: MIT
"""`lapwing bench`."""

import argparse
import json
import platform
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

import lapwing
from lapwing.bench.experiments import VARIANTS, measure_wire_cost, run_overlap, run_pingpong
from lapwing.bench.mpi import Mpi, build_program, find_mpi
from lapwing.bench.place import SELF, Place, open_place
from lapwing.bench.plan import (
    MEMORY_BITS_PER_S,
    Point,
    parse_computes,
    parse_sizes,
    plan_overlap,
    plan_pingpong,
)
from lapwing.commands.lab import catch_signals
from lapwing.errors import LapwingError
from lapwing.files import find_preload
from lapwing.lab.network import enter_user_namespace, parse_rate
from lapwing.options import add_flags, collect_environment, load_options
from lapwing.report.tables import make_overlap_table, make_pingpong_table

SCHEMA = "lapwing-bench-1"
SIZES = {"pingpong": "1:64MiB:4", "overlap": "4KiB:64MiB:4"}


def add_place_flags(parser: argparse.ArgumentParser) -> None:
    """Declare where an experiment runs."""
    parser.add_argument("--mpi", metavar="MPI", help="openmpi, mpich or the prefix of an installation")
    parser.add_argument("--rate", default="1gbit", help="link rate of the lab, or none (default: 1gbit)")
    parser.add_argument("--cores-per-host", type=int, default=1, metavar="N", help="cores of a host (default: 1)")
    parser.add_argument("--shared-memory", action="store_true", help="use no lab, but two ranks on this machine")


def forward_options(arguments: argparse.Namespace) -> list[str]:
    """Return the options for `lapwing run`, checked."""
    collect_environment(arguments)
    given = [(option.flag, getattr(arguments, f"option_{option.name}")) for option in load_options()]
    return [word for flag, text in given if text is not None for word in (flag, text)]


def prepare_place(arguments: argparse.Namespace) -> Mpi:
    """Check what can be checked before anything takes time."""
    find_preload()
    mpi = find_mpi(arguments.mpi)
    if not arguments.shared_memory:
        if arguments.rate != "none":
            parse_rate(arguments.rate)
        catch_signals()
        enter_user_namespace([*SELF, *sys.argv[1:]])
    return mpi


class BenchCommand:
    """Measure what Lapwing costs and brings on this machine.

    pingpong: round trips of blocking messages without computation.
    overlap:  each rank computes after each message and only then touches the data.

    Stock MPI and Lapwing run in turn, on two emulated hosts with a shaped link.
    """

    name = "bench"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("experiment", choices=sorted(SIZES))
        add_place_flags(parser)
        parser.add_argument("--sizes", metavar="LIST", help="4KiB,1MiB or a range 4KiB:64MiB:4 (start:end:factor)")
        parser.add_argument("--compute", default="200,2000,20000", metavar="US", help="overlap: work of each half")
        parser.add_argument("--repetitions", type=int, default=100, metavar="N", help="most of a point in a round")
        parser.add_argument("--time-per-point", type=float, default=1.0, metavar="S", help="cap of a point in a round")
        parser.add_argument("--rounds", type=int, default=2, metavar="N", help="times that stock and Lapwing alternate")
        parser.add_argument("--output", type=Path, metavar="FILE", help="write the results as JSON")
        parser.add_argument("--plot", type=Path, metavar="FILE", help="write a plot (.png or .svg)")
        add_flags(parser)

    def run(self, arguments: argparse.Namespace) -> int:
        """Run one experiment."""
        points = self._plan(arguments)
        options = forward_options(arguments)
        mpi = prepare_place(arguments)
        begin = time.time()
        shared_memory = bool(arguments.shared_memory)
        with open_place(mpi, arguments.rate, arguments.cores_per_host, shared_memory, options) as place:
            results = self._measure(arguments, place, points)
            document = make_document(arguments, mpi, results, place, time.time() - begin)
        self._show(arguments, document)
        return 0

    def _plan(self, arguments: argparse.Namespace) -> list[Point]:
        """Return the points."""
        if arguments.repetitions < 1 or arguments.rounds < 1 or arguments.time_per_point <= 0:
            raise LapwingError("repetitions, rounds and time must be positive", "correct the numbers")
        sizes = parse_sizes(arguments.sizes or SIZES[arguments.experiment])
        rate = "none" if arguments.shared_memory else arguments.rate
        if arguments.experiment == "pingpong":
            return plan_pingpong(sizes, rate, arguments.repetitions, arguments.time_per_point)
        computes = parse_computes(arguments.compute)
        return plan_overlap(computes, sizes, rate, arguments.repetitions, arguments.time_per_point)

    def _measure(self, arguments: argparse.Namespace, place: Place, points: Sequence[Point]) -> list[Any]:
        """Build, then run with a progress bar."""
        program = build_program(place.mpi, f"{arguments.experiment}.c", place.folder)
        rate = MEMORY_BITS_PER_S if arguments.rate == "none" else parse_rate(arguments.rate)
        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task(arguments.experiment, total=len(points) * len(VARIANTS) * arguments.rounds)

            def advance() -> None:
                progress.advance(task)

            if arguments.experiment == "pingpong":
                return run_pingpong(place, program, points, arguments.rounds, advance)
            wire = measure_wire_cost(place, rate)
            return run_overlap(place, program, points, arguments.rounds, wire, advance)

    def _show(self, arguments: argparse.Namespace, document: dict[str, Any]) -> None:
        """Print the table; write what was asked for."""
        title = make_title(document)
        is_overlap = arguments.experiment == "overlap"
        table = (make_overlap_table if is_overlap else make_pingpong_table)(document["results"], title)
        Console().print(table)
        if arguments.output:
            arguments.output.write_text(json.dumps(document, indent=1) + "\n", "utf-8")
        if arguments.plot:
            # Not above: matplotlib's libraries start threads, which would take signals meant for `lapwing run`.
            from lapwing.report.plots import plot_overlap, plot_pingpong, save_plot

            save_plot((plot_overlap if is_overlap else plot_pingpong)(document["results"], title), arguments.plot)


def make_document(
    arguments: argparse.Namespace, mpi: Mpi, results: list[Any], place: Place, elapsed_s: float
) -> dict[str, Any]:
    """Make the results for programs."""
    return {
        "schema": SCHEMA,
        "lapwing": lapwing.__version__,
        "experiment": arguments.experiment,
        "mpi": mpi.name,
        "launcher": mpi.launcher.path,
        "place": "shared memory" if arguments.shared_memory else "lab",
        "rate": None if arguments.shared_memory else arguments.rate,
        "cores_per_host": arguments.cores_per_host,
        "kernel": platform.release(),
        "elapsed_s": round(elapsed_s, 1),
        "results": results,
        "hung_in_finalize": place.hung_count,
        "lapwing_runs": place.reports,
    }


def make_title(document: dict[str, Any]) -> str:
    """Say what was measured."""
    where = document["place"] if document["rate"] is None else f"lab at {document['rate']}"
    return f"{document['experiment']}, {document['mpi']}, {where}"
