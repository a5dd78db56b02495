# SPDX-License-Identifier: MIT
"""`lapwing bench converted`."""

import argparse
import time
from pathlib import Path

from rich.console import Console

from lapwing.bench.converted import PERCENTS, Solver, describe_converted, gather_converted
from lapwing.bench.demo import size_grid
from lapwing.bench.mpi import build_program
from lapwing.commands.demo import PLANES_LEAST
from lapwing.commands.experiment import (
    add_line_flags,
    add_place_flags,
    check_one_pair,
    finish,
    make_document,
    make_title,
    open_chosen,
    prepare_place,
    show_progress,
)
from lapwing.errors import LapwingError
from lapwing.outfiles import check_outputs
from lapwing.report.converted import describe_slopes, make_converted_table

STEPS_LEAST = 2  # one of them is converted at 50 %


class ConvertedExperiment:
    """What conversion to nonblocking calls was predicted to bring, and what it brings.

    The solver of the demo (examples/heat3d.c) exists in both versions: with blocking exchanges, and with exchanges that
    are started before the planes that need no neighbour and waited for after them. The blocking version's profile
    predicts alpha, the share of blocking calls whose conversion pays, and the time at 0, 50 and 100 % of it. Then all
    versions run in turn, with progress by events; their alpha is counted in profiles of their own.
    """

    name = "converted"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        add_place_flags(parser)
        add_line_flags(parser, self.name)
        text = "grid planes of a rank (default: work as long as the messages)"
        parser.add_argument("--planes", type=int, metavar="N", help=text)
        parser.add_argument("--steps", type=int, default=40, metavar="N", help="time steps (default: 40)")
        parser.add_argument("--rounds", type=int, default=5, metavar="N", help="runs of each version (default: 5)")
        parser.add_argument("--output", type=Path, metavar="FILE", help="write the results as JSON")

    def run(self, arguments: argparse.Namespace) -> int:
        """Measure and show."""
        if arguments.steps < STEPS_LEAST or arguments.rounds < 1:
            raise LapwingError(f"there must be {STEPS_LEAST} steps and a round at least", "correct the numbers")
        if arguments.planes is not None and arguments.planes < PLANES_LEAST:
            raise LapwingError(f"planes must be at least {PLANES_LEAST}", "correct the number")
        check_outputs(arguments, "output", "report")
        mpi = prepare_place(arguments)
        begin = time.time()
        with open_chosen(arguments, mpi, []) as place:
            check_one_pair(place)
            program = build_program(mpi, "heat3d.c", place.folder)
            planes = arguments.planes or size_grid(place, program)
            with show_progress(self.name, len(PERCENTS) + arguments.rounds) as advance:
                runs = gather_converted(Solver(place, program, planes, arguments.steps), arguments.rounds, advance)
            result = describe_converted(runs)
            document = make_document(arguments, mpi, [result], place, time.time() - begin)
        document |= {"planes": planes, "steps": arguments.steps}

        def show(screen: Console) -> None:
            title = f"{make_title(document)}, {planes} planes, {arguments.steps} steps"
            screen.print(make_converted_table(result, title))
            screen.print(describe_slopes(result), highlight=False)

        finish(arguments, document, show)
        return 0
