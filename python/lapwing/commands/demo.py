# SPDX-License-Identifier: MIT
"""`lapwing demo`."""

import argparse
import json
from pathlib import Path
from typing import Any

from rich.progress import Progress
from rich.table import Table

from lapwing.bench.demo import run_demo, size_grid
from lapwing.bench.mpi import build_program
from lapwing.commands.experiment import (
    add_place_flags,
    add_ranks_flag,
    check_ranks,
    forward_options,
    open_chosen,
    prepare_place,
)
from lapwing.errors import LabRefusedError, LapwingError
from lapwing.lab.network import choose_prefix
from lapwing.launch.start import say
from lapwing.options import add_cores_flag, add_flags
from lapwing.outfiles import check_outputs, check_plot, write_text
from lapwing.report.summary import format_bytes
from lapwing.screen import Screen

SCHEMA = "lapwing-demo-2"
RUNS_PER_ROUND = 5
PLANES_LEAST = 2  # the solver's two faces
LABELS = {
    "stock": "stock",
    "lapwing": "under Lapwing",
    "exchange": "exchange alone (stock)",
    "exchange_lapwing": "exchange alone (under Lapwing)",
    "update": "update alone (stock)",
}


class DemoCommand:
    """Run a small solver with and without Lapwing and compare.

    The solver computes heat flow in a block of material and exchanges the faces of its part with blocking calls.
    Its ranks form a ring on emulated hosts. It runs stock and under Lapwing in turn; the results must agree to the last
    bit.
    """

    name = "demo"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        add_place_flags(parser)
        parser.add_argument(
            "--planes", type=int, metavar="N", help="grid planes of a rank (default: work as long as the messages)"
        )
        add_ranks_flag(parser)
        parser.add_argument("--steps", type=int, default=40, metavar="N", help="time steps (default: 40)")
        parser.add_argument("--rounds", type=int, default=3, metavar="N", help="runs of each kind (default: 3)")
        parser.add_argument("--plot", type=Path, metavar="FILE", help="write a plot (.png or .svg)")
        parser.add_argument("--output", type=Path, metavar="FILE", help="write the results as JSON")
        add_cores_flag(parser)
        add_flags(parser)

    def run(self, arguments: argparse.Namespace) -> int:
        """Run, show; 1 when the results differ."""
        if arguments.steps < 1 or arguments.rounds < 1:
            raise LapwingError("steps and rounds must be at least 1", "correct the numbers")
        check_ranks(arguments)
        if arguments.planes is not None and arguments.planes < PLANES_LEAST:
            raise LapwingError(f"planes must be at least {PLANES_LEAST}", "correct the number")
        check_outputs(arguments, "output", "plot")
        check_plot(arguments.plot)
        options = forward_options(arguments)
        go_without_lab(arguments)
        mpi = prepare_place(arguments)
        with open_chosen(arguments, mpi, options, arguments.ranks) as place:
            program = build_program(mpi, "heat3d.c", place.folder)
            planes = arguments.planes or size_grid(place, program)
            with Progress(console=Screen(stderr=True), transient=True) as progress:
                task = progress.add_task("demo", total=arguments.rounds * RUNS_PER_ROUND)
                result = run_demo(
                    place, program, planes, arguments.steps, arguments.rounds, lambda: progress.advance(task)
                )
            result |= {"schema": SCHEMA, "mpi": mpi.name, "lapwing_runs": place.reports}
        result["place"] = "shared memory" if arguments.shared_memory else "lab"
        where = "shared memory" if arguments.shared_memory else f"{arguments.ranks} emulated hosts, {arguments.rate}"
        self._show(arguments, result, f"heat3d, {mpi.name}, {where}")
        return 0 if len(result["checksums"]) == 1 else 1

    def _show(self, arguments: argparse.Namespace, result: dict[str, Any], title: str) -> None:
        """Write what was asked for; print the table and the verdict."""
        if arguments.output:
            write_text(arguments.output, json.dumps(result, indent=1) + "\n")
        if arguments.plot:
            # Not above: matplotlib's libraries start threads, which would take signals meant for `lapwing run`.
            from lapwing.report.plots import plot_bars, save_plot

            times = result["times_s"]
            spreads = [times["stock"], times["lapwing"], dict.fromkeys(times["stock"], result["optimum_s"])]
            save_plot(plot_bars(["stock", "lapwing", "optimum"], spreads, title), arguments.plot)
        console = Screen()
        console.print(make_table(result, title))
        for line in describe_result(result):
            console.print(line, highlight=False)


def go_without_lab(arguments: argparse.Namespace) -> None:
    """Take shared memory where hosts must not be emulated: containers often permit no namespaces."""
    if arguments.shared_memory:
        return
    try:
        choose_prefix()
    except LabRefusedError as error:
        say(f"notice: the ranks run on this machine itself, over shared memory: {error}")
        arguments.shared_memory = True


def make_table(result: dict[str, Any], title: str) -> Table:
    """Make the table of times."""
    table = Table("", "time, s", "quartiles, s", title=title)
    for name, label in LABELS.items():
        row = result["times_s"][name]
        table.add_row(label, f"{row['median']:.3f}", f"{row['first_quartile']:.3f} to {row['third_quartile']:.3f}")
    table.add_row("optimum", f"{result['optimum_s']:.3f}", "the longer of update and shorter exchange")
    return table


def describe_result(result: dict[str, Any]) -> list[str]:
    """Say what came out."""
    is_same = len(result["checksums"]) == 1
    times = result["times_s"]
    best = times["stock"]["median"] / result["optimum_s"]
    return [
        f"{result['steps']} steps, faces of {format_bytes(result['face_bytes'])}, {result['grid'][2]} planes per rank",
        f"speedup {result['speedup']:.2f} (optimum {best:.2f}); overlap {result['overlap']['lapwing']:.2f} "
        f"(stock {result['overlap']['stock']:.2f})",
        f"checksums agree: {result['checksums'][0]}" if is_same else f"CHECKSUMS DIFFER: {result['checksums']}",
    ]
