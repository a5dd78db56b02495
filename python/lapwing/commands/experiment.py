# SPDX-License-Identifier: MIT
"""What the commands that measure share: where to run, which options to pass on, what to write."""

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import Progress

import lapwing
from lapwing.bench.line import LinePlace, find_line_mpi, hide_hosts, open_line
from lapwing.bench.mpi import Mpi, find_mpi
from lapwing.bench.place import Place, open_place
from lapwing.bench.progress import Advance
from lapwing.configuration.settings import collect_variables
from lapwing.errors import LapwingError
from lapwing.files import SELF
from lapwing.lab.flags import add_link_flags, read_links
from lapwing.lab.network import enter_user_namespace
from lapwing.launch.job import catch_signals
from lapwing.launch.start import describe_load, prepare_stock, refuse_exclusion, say, strip_separator
from lapwing.options import CORES_FLAG, load_options
from lapwing.outfiles import check_outputs, check_plot, write_text
from lapwing.report.sendable import list_names, make_sendable
from lapwing.screen import Screen

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    Draw = Callable[[], Figure]

SCHEMA = "lapwing-bench-1"
RANKS_LEAST = 2  # less have no messages


def add_place_flags(parser: argparse.ArgumentParser) -> None:
    """Declare where an experiment runs."""
    parser.add_argument("--mpi", metavar="MPI", help="openmpi, mpich or the prefix of an installation")
    add_link_flags(parser)
    parser.add_argument("--shared-memory", action="store_true", help="use no lab, but run all ranks on this machine")


def add_line_flags(parser: argparse.ArgumentParser, name: str) -> None:
    """Declare a launcher's line that takes the lab's place, and the report of it."""
    parser.usage = f"lapwing bench {name} [options] [-- LAUNCHER ...]"
    parser.epilog = (
        "With a launcher's line without a program, for example -- mpirun -n 2 --hostfile hosts, the experiment runs "
        "there instead of in the lab. The program is built in this folder, which all hosts must share."
    )
    parser.add_argument("--compiler", metavar="MPICC", help="compiler of LAUNCHER's MPI (default: beside it)")
    text = "write one page with tables, plots and figures to send to others: without names of hosts, users and folders"
    parser.add_argument("--report", type=Path, metavar="FILE", help=text)
    parser.add_argument("--names", action="store_true", help="leave the names in the report")
    parser.add_argument("launcher", nargs=argparse.REMAINDER, metavar="LAUNCHER ...", help="without a program")


def add_ranks_flag(parser: argparse.ArgumentParser, *aliases: str) -> None:
    """Declare how many ranks take part."""
    text = "ranks, in the lab one per host (default: 2)"
    parser.add_argument("--ranks", *aliases, type=int, default=RANKS_LEAST, metavar="N", help=text)


def check_ranks(arguments: argparse.Namespace) -> None:
    """Refuse what has no messages."""
    if arguments.ranks < RANKS_LEAST:
        raise LapwingError(f"there must be at least {RANKS_LEAST} ranks", "correct --ranks")


def check_pairs(place: Place) -> None:
    """Refuse a rank without a partner."""
    if place.rank_count % 2:
        raise LapwingError(f"of {place.rank_count} ranks one has no partner", "give an even number of ranks")


def check_one_pair(place: Place) -> None:
    """Refuse more ranks than an experiment knows."""
    if place.rank_count != RANKS_LEAST:
        raise LapwingError(f"this experiment has two ranks, not {place.rank_count}", "let the launcher start two")


def read_line(arguments: argparse.Namespace) -> list[str]:
    """Return the launcher's line, if one was given."""
    line = strip_separator(getattr(arguments, "launcher", ()))
    if line and (getattr(arguments, "shared_memory", False) or arguments.mpi is not None):
        raise LapwingError("the launcher's line says where to run", "leave --mpi and --shared-memory out")
    return line


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
    check_outputs(arguments, "output", "report", "plot")
    check_plot(arguments.plot)


def forward_options(arguments: argparse.Namespace) -> list[str]:
    """Return the options for `lapwing run`, checked."""
    collect_variables(arguments)
    given = [(option.flag, getattr(arguments, f"option_{option.name}", None)) for option in load_options()]
    given.append((CORES_FLAG, getattr(arguments, "engine_cores", None)))
    return [word for flag, text in given if text is not None for word in (flag, text)]


def warn_if_busy() -> None:
    """Say so before anything is measured."""
    text = describe_load(os.getloadavg()[0], len(os.sched_getaffinity(0)))
    if text:
        say(f"notice: {text}")


def prepare_lab(arguments: argparse.Namespace) -> None:
    """Check what can be checked before anything takes time."""
    refuse_exclusion()
    prepare_stock(getattr(arguments, "launcher", ()))
    catch_signals()
    if not arguments.shared_memory and not getattr(arguments, "launcher", ()):
        read_links(arguments)
        enter_user_namespace([*SELF, *sys.argv[1:]])
    warn_if_busy()  # not above: entering a namespace begins anew


def prepare_place(arguments: argparse.Namespace) -> Mpi:
    """Prepare for one MPI."""
    mpi = find_chosen_mpi(arguments, read_line(arguments))
    prepare_lab(arguments)
    return mpi


def find_chosen_mpi(arguments: argparse.Namespace, line: Sequence[str]) -> Mpi:
    """Return the MPI of the launcher's line, else the one that the flags name."""
    if not line:
        return find_mpi(arguments.mpi)
    return find_line_mpi(line, arguments.compiler, f"bench {arguments.experiment_name} --")


def label_mpis(words: Sequence[str]) -> list[str]:
    """Say what to call MPIs: family, or last part of a prefix; with its place in the list where two are alike."""
    names = [Path(word).name for word in words]
    if len(set(names)) == len(names):
        return names
    return [f"{name}-{number}" for number, name in enumerate(names, 1)]


def prepare_places(arguments: argparse.Namespace, default: str | None = None) -> dict[str, Mpi]:
    """Prepare for the MPIs of a list, or for the launcher's; by what to call them."""
    words = list(dict.fromkeys((arguments.mpi or default or "").split(",")))
    if read_line(arguments) or words == [""]:
        mpi = prepare_place(arguments)
        return {mpi.name: mpi}
    found = {label: find_mpi(word) for label, word in zip(label_mpis(words), words, strict=True)}
    prepare_lab(arguments)
    return found


@contextmanager
def open_chosen(
    arguments: argparse.Namespace, mpi: Mpi, options: Sequence[str], rank_count: int = RANKS_LEAST
) -> Iterator[Place]:
    """Use the hosts of the launcher's line; else build the lab, or use shared memory."""
    line = read_line(arguments)
    if line:
        with open_line(mpi, line[1:], options) as place:
            yield place
        return
    links = None if arguments.shared_memory else read_links(arguments)
    with open_place(mpi, links, options, rank_count) as place:
        yield place


def describe_place(arguments: argparse.Namespace, place: Place) -> dict[str, Any]:
    """Say where something ran."""
    if not isinstance(place, LinePlace):
        return {
            "place": "shared memory" if arguments.shared_memory else "lab",
            "rate": None if arguments.shared_memory else arguments.rate,
            "cores_per_host": arguments.cores_per_host,
            "own_receive": arguments.own_receive and not arguments.shared_memory,
        }
    hosts = place.hosts
    return {
        "place": f"{place.rank_count} ranks on {len(hosts)} host{'s' if len(hosts) > 1 else ''}",
        "rate": None,
        "measured_rate": None if place.rate == "none" else place.rate,
        "hosts": hosts,
        "line": [place.mpi.launcher.path, *place.arguments],
        "line_without_hosts": [Path(place.mpi.launcher.path).name, *hide_hosts(place.mpi.launcher, place.arguments)],
        "ranks_per_core": place.ranks_per_core,
    }


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
        **describe_place(arguments, place),
        "ranks": place.rank_count,
        "kernel": platform.release(),
        "elapsed_s": round(elapsed_s, 1),
        "results": results,
        "hung_in_finalize": place.hung_count,
        "lapwing_runs": place.reports,
    }


def make_title(document: dict[str, Any]) -> str:
    """Say what was measured."""
    return f"{document['experiment']}, {document['mpi']}, {describe_where(document)}"


def describe_where(document: dict[str, Any]) -> str:
    """Say where it was measured."""
    if document["rate"] is None:
        return str(document["place"])
    return f"lab at {document['rate']}" + (", own receive" if document["own_receive"] else "")


def finish(
    arguments: argparse.Namespace,
    document: dict[str, Any],
    show: Callable[[Console], None],
    draw: "Draw | None" = None,
) -> None:
    """Write what was asked for, and print the tables.

    draw: imports matplotlib, and so only now: its libraries start threads, which would take signals meant for
    `lapwing run`.
    """
    write_output(arguments, document)
    if draw and getattr(arguments, "plot", None):
        from lapwing.report.plots import save_plot

        save_plot(draw(), arguments.plot)
    if arguments.report:
        names = () if arguments.names else list_names(document.get("hosts", ()))
        figure = draw() if draw and document["results"] else None
        write_text(arguments.report, make_sendable(document, show, figure, names, arguments.names))
    show(Screen())


def write_output(arguments: argparse.Namespace, document: dict[str, Any]) -> None:
    """Write the results where they are wanted."""
    if arguments.output:
        write_text(arguments.output, json.dumps(document, indent=1) + "\n")
