# SPDX-License-Identifier: MIT
"""What the commands that measure share: where to run, which options to pass on, what to write."""

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import Any

from rich.progress import Progress

import lapwing
from lapwing.bench.mpi import Mpi, find_mpi
from lapwing.bench.place import SELF, Place
from lapwing.bench.progress import Advance
from lapwing.commands.lab import catch_signals
from lapwing.configuration.settings import collect_variables
from lapwing.errors import LapwingError
from lapwing.files import find_preload
from lapwing.lab.network import enter_user_namespace, parse_rate
from lapwing.launch.start import describe_load, say
from lapwing.options import load_options
from lapwing.outfiles import check_outputs, check_plot, write_text
from lapwing.screen import Screen

SCHEMA = "lapwing-bench-1"
RANKS_LEAST = 2  # less have no messages


def add_place_flags(parser: argparse.ArgumentParser) -> None:
    """Declare where an experiment runs."""
    parser.add_argument("--mpi", metavar="MPI", help="openmpi, mpich or the prefix of an installation")
    parser.add_argument("--rate", default="1gbit", help="link rate of the lab, or none (default: 1gbit)")
    parser.add_argument("--cores-per-host", type=int, default=1, metavar="N", help="cores of a host (default: 1)")
    parser.add_argument("--shared-memory", action="store_true", help="use no lab, but run all ranks on this machine")


def add_ranks_flag(parser: argparse.ArgumentParser, *aliases: str) -> None:
    """Declare how many ranks take part."""
    text = "ranks, in the lab one per host (default: 2)"
    parser.add_argument("--ranks", *aliases, type=int, default=RANKS_LEAST, metavar="N", help=text)


def check_ranks(arguments: argparse.Namespace) -> None:
    """Refuse what has no messages."""
    if arguments.ranks < RANKS_LEAST:
        raise LapwingError(f"there must be at least {RANKS_LEAST} ranks", "correct --ranks")


def add_repetition_flags(parser: argparse.ArgumentParser) -> None:
    """Declare how often things are measured, and what is written."""
    parser.add_argument("--repetitions", type=int, default=100, metavar="N", help="most of a point in a round")
    parser.add_argument("--time-per-point", type=float, default=1.0, metavar="S", help="cap of a point in a round")
    parser.add_argument("--rounds", type=int, default=2, metavar="N", help="times that stock and Lapwing alternate")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the results as JSON")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="write a plot (.png or .svg)")


def check_repetitions(arguments: argparse.Namespace) -> None:
    """Refuse what cannot be measured, or not written."""
    if arguments.repetitions < 1 or arguments.rounds < 1 or not 0 < arguments.time_per_point < inf:
        raise LapwingError("repetitions, rounds and time must be positive", "correct the numbers")
    check_outputs(arguments.output)
    check_plot(arguments.plot)


def forward_options(arguments: argparse.Namespace) -> list[str]:
    """Return the options for `lapwing run`, checked."""
    collect_variables(arguments)
    given = [(option.flag, getattr(arguments, f"option_{option.name}", None)) for option in load_options()]
    return [word for flag, text in given if text is not None for word in (flag, text)]


def warn_if_busy() -> None:
    """Say so before anything is measured."""
    text = describe_load(os.getloadavg()[0], len(os.sched_getaffinity(0)))
    if text:
        say(f"notice: {text}")


def prepare_lab(arguments: argparse.Namespace) -> None:
    """Check what can be checked before anything takes time."""
    find_preload()
    if not arguments.shared_memory:
        if arguments.rate != "none":
            parse_rate(arguments.rate)
        catch_signals()
        enter_user_namespace([*SELF, *sys.argv[1:]])
    warn_if_busy()  # not above: entering a namespace begins anew


def prepare_place(arguments: argparse.Namespace) -> Mpi:
    """Prepare for one MPI."""
    mpi = find_mpi(arguments.mpi)
    prepare_lab(arguments)
    return mpi


@contextmanager
def show_progress(name: str, total: int) -> Iterator[Advance]:
    """Show a bar while something runs."""
    with Progress(console=Screen(stderr=True), transient=True) as progress:
        task = progress.add_task(name, total=total)
        yield lambda: progress.advance(task)


def make_document(
    arguments: argparse.Namespace, mpi: Mpi, results: list[Any], place: Place, elapsed_s: float
) -> dict[str, Any]:
    """Make the results for programs."""
    return {
        "schema": SCHEMA,
        "lapwing": lapwing.__version__,
        "experiment": arguments.experiment_name,
        "mpi": mpi.name,
        "launcher": mpi.launcher.path,
        "place": "shared memory" if arguments.shared_memory else "lab",
        "rate": None if arguments.shared_memory else arguments.rate,
        "cores_per_host": arguments.cores_per_host,
        "ranks": place.rank_count,
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


def write_output(arguments: argparse.Namespace, document: dict[str, Any]) -> None:
    """Write the results where they are wanted."""
    if arguments.output:
        write_text(arguments.output, json.dumps(document, indent=1) + "\n")
