# SPDX-License-Identifier: MIT
"""`lapwing bench`: finds the experiment. Those with an evaluation of their own have a file of their own."""

import argparse
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console

from lapwing.bench.experiments import VARIANTS, measure_wire_cost, run_overlap, run_pingpong
from lapwing.bench.mpi import build_program
from lapwing.bench.phases import CALLS
from lapwing.bench.place import Place
from lapwing.bench.plan import MEMORY_BITS_PER_S, Point, parse_computes, parse_sizes, plan_overlap, plan_pingpong
from lapwing.commands.bench_collective import CollectiveExperiment
from lapwing.commands.bench_converted import ConvertedExperiment
from lapwing.commands.bench_harm import HarmExperiment
from lapwing.commands.bench_papers import BipExperiment, SendtimeExperiment
from lapwing.commands.bench_phases import run_phases
from lapwing.commands.bench_predict import PredictExperiment
from lapwing.commands.bench_progress import ProgressExperiment
from lapwing.commands.experiment import (
    add_line_flags,
    add_place_flags,
    add_ranks_flag,
    add_repetition_flags,
    check_pairs,
    check_ranks,
    check_repetitions,
    finish,
    forward_options,
    make_document,
    make_title,
    open_chosen,
    prepare_place,
    show_progress,
)
from lapwing.commands.subcommands import Command, add_commands
from lapwing.lab.network import parse_rate
from lapwing.options import add_cores_flag, add_flags
from lapwing.report.tables import make_overlap_table, make_pingpong_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class BlockingExperiment:
    """What the two experiments with blocking calls share."""

    name = ""
    sizes = ""

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        add_place_flags(parser)
        add_line_flags(parser, self.name)
        add_ranks_flag(parser)
        parser.add_argument("--sizes", metavar="LIST", default=self.sizes, help="4KiB,1MiB or 4KiB:64MiB:4 (a factor)")
        self.add_own_flags(parser)
        add_repetition_flags(parser)
        add_cores_flag(parser)
        add_flags(parser)

    def add_own_flags(self, parser: argparse.ArgumentParser) -> None:
        """Declare what only this experiment has."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Run one experiment."""
        check_repetitions(arguments)
        check_ranks(arguments)
        parse_sizes(arguments.sizes)
        options = forward_options(arguments)
        mpi = prepare_place(arguments)
        begin = time.time()
        with open_chosen(arguments, mpi, options, arguments.ranks) as place:
            check_pairs(place)
            points = self.plan(arguments, parse_sizes(arguments.sizes), place.rate)
            results = self.measure(arguments, place, points)
            document = make_document(arguments, mpi, results, place, time.time() - begin)
        finish(arguments, document, lambda screen: self.show(screen, document), lambda: self.draw(document))
        return 0

    def plan(self, arguments: argparse.Namespace, sizes: Sequence[int], rate: str) -> list[Point]:
        """Return the points."""
        raise NotImplementedError

    def measure(self, arguments: argparse.Namespace, place: Place, points: Sequence[Point]) -> list[Any]:
        """Build and run."""
        raise NotImplementedError

    def show(self, screen: Console, document: dict[str, Any]) -> None:
        """Print the table."""
        raise NotImplementedError

    def draw(self, document: dict[str, Any]) -> "Figure":
        """Draw the plot."""
        raise NotImplementedError


class PingpongExperiment(BlockingExperiment):
    """Round trips of blocking messages without computation."""

    name = "pingpong"
    sizes = "1:64MiB:4"

    def plan(self, arguments: argparse.Namespace, sizes: Sequence[int], rate: str) -> list[Point]:
        """Return the points."""
        return plan_pingpong(sizes, rate, arguments.repetitions, arguments.time_per_point)

    def measure(self, arguments: argparse.Namespace, place: Place, points: Sequence[Point]) -> list[Any]:
        """Build and run."""
        program = build_program(place.mpi, "pingpong.c", place.folder)
        with show_progress(self.name, len(points) * len(VARIANTS) * arguments.rounds) as advance:
            return run_pingpong(place, program, points, arguments.rounds, advance)

    def show(self, screen: Console, document: dict[str, Any]) -> None:
        """Print the table."""
        screen.print(make_pingpong_table(document["results"], make_title(document)))

    def draw(self, document: dict[str, Any]) -> "Figure":
        """Draw the plot."""
        from lapwing.report.plots import plot_pingpong

        return plot_pingpong(document["results"], make_title(document))


class OverlapExperiment(BlockingExperiment):
    """Blocking messages beside work: each rank computes after each message and only then touches the data."""

    name = "overlap"
    sizes = "4KiB:64MiB:4"

    def add_own_flags(self, parser: argparse.ArgumentParser) -> None:
        """Declare the work."""
        parser.add_argument("--compute", default="200,2000,20000", metavar="US", help="work of each half, microseconds")
        text = "let messages alone and messages beside work alternate at one call site, N calls each (8)"
        parser.add_argument("--phases", type=int, nargs="?", const=CALLS, metavar="N", help=text)

    def run(self, arguments: argparse.Namespace) -> int:
        """Run the experiment, steady or in phases."""
        parse_computes(arguments.compute)
        return super().run(arguments) if arguments.phases is None else run_phases(arguments)

    def plan(self, arguments: argparse.Namespace, sizes: Sequence[int], rate: str) -> list[Point]:
        """Return the points."""
        computes = parse_computes(arguments.compute)
        return plan_overlap(computes, sizes, rate, arguments.repetitions, arguments.time_per_point)

    def measure(self, arguments: argparse.Namespace, place: Place, points: Sequence[Point]) -> list[Any]:
        """Build and run."""
        program = build_program(place.mpi, "overlap.c", place.folder)
        rate = MEMORY_BITS_PER_S if arguments.rate == "none" else parse_rate(arguments.rate)
        with show_progress(self.name, len(points) * len(VARIANTS) * arguments.rounds) as advance:
            wire = measure_wire_cost(place, rate)
            return run_overlap(place, program, points, arguments.rounds, wire, advance)

    def show(self, screen: Console, document: dict[str, Any]) -> None:
        """Print the table."""
        screen.print(make_overlap_table(document["results"], make_title(document)))

    def draw(self, document: dict[str, Any]) -> "Figure":
        """Draw the plot."""
        from lapwing.report.plots import plot_overlap

        return plot_overlap(document["results"], make_title(document))


EXPERIMENTS: tuple[Command, ...] = (
    PingpongExperiment(),
    OverlapExperiment(),
    CollectiveExperiment(),
    ProgressExperiment(),
    PredictExperiment(),
    ConvertedExperiment(),
    BipExperiment(),
    SendtimeExperiment(),
    HarmExperiment(),
)


class BenchCommand:
    """Measure what Lapwing costs and brings on this machine.

    Stock MPI and Lapwing run in turn: on emulated hosts with shaped links, through shared memory, or wherever a
    launcher's line starts ranks (lapwing bench overlap -- mpirun -n 2 --hostfile hosts).
    """

    name = "bench"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the experiments."""
        add_commands(parser, EXPERIMENTS, "EXPERIMENT", "experiment")

    def run(self, arguments: argparse.Namespace) -> int:
        """Run one experiment."""
        experiment: Command = arguments.experiment
        return experiment.run(arguments)
