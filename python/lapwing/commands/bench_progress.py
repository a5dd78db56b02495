# SPDX-License-Identifier: MIT
"""`lapwing bench progress`."""

import argparse
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lapwing.bench.contenders import list_contenders, parse_strategies
from lapwing.bench.experiments import measure_wire_cost
from lapwing.bench.mpi import Mpi
from lapwing.bench.place import Place, build_for_each
from lapwing.bench.plan import MEMORY_BITS_PER_S, parse_computes, parse_sizes
from lapwing.bench.progress import OPERATIONS, WORKS, Entry, describe_entry, gather, parse_operations, prepare_entry
from lapwing.commands.experiment import (
    add_line_flags,
    add_place_flags,
    add_ranks_flag,
    add_repetition_flags,
    check_ranks,
    check_repetitions,
    describe_where,
    finish,
    forward_options,
    make_document,
    open_chosen,
    prepare_places,
    show_progress,
)
from lapwing.errors import LapwingError
from lapwing.lab.network import parse_rate
from lapwing.options import add_flags
from lapwing.report.progress import print_progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class ProgressExperiment:
    """Nonblocking operations beside work: who moves the data meanwhile, and who pays.

    Each rank starts an operation, does a fixed amount of work and waits. Stock MPI, the MPI's own progress thread
    (MPICH_ASYNC_PROGRESS, I_MPI_ASYNC_PROGRESS) and Lapwing's strategies run in turn. The overlap is measured by
    stock's times of the operation and of the work alone, so that a slower computation counts against it. Also: how
    much longer the work takes, processor time of other threads, 8-byte latency, message rate, and what is burnt
    while nothing is pending. --mpi takes a list here: openmpi,mpich,PREFIX. Prefixes whose last parts
    are alike are numbered by their place in the list: mpi-1,mpi-2.

    With more ranks than cores (--ranks 4 on two) several compute on each core: the work alone is then what it takes
    while all ranks do theirs, and an operation alone takes longer than with a core per rank, since waiting ranks spin.
    """

    name = "progress"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        add_place_flags(parser)
        add_line_flags(parser, self.name)
        add_ranks_flag(parser)
        text = f"of {', '.join(OPERATIONS)} (default: exchange)"
        parser.add_argument("--operations", default="exchange", metavar="LIST", help=text)
        parser.add_argument("--sizes", metavar="LIST", default="64KiB,1MiB,4MiB", help="4KiB,1MiB or 4KiB:64MiB:4")
        text = "work in microseconds, a list (default: as long as the operation)"
        parser.add_argument("--compute", metavar="US", help=text)
        text = "kind of work: in registers, or through 32 MiB of memory (default: processor)"
        parser.add_argument("--work", choices=WORKS, default=WORKS[0], help=text)
        parser.add_argument("--strategies", metavar="LIST", help="of --progress (default: all)")
        add_repetition_flags(parser)
        add_flags(parser)

    def run(self, arguments: argparse.Namespace) -> int:
        """Measure and show."""
        check_repetitions(arguments)
        operations, sizes = parse_operations(arguments.operations), parse_sizes(arguments.sizes)
        computes = parse_computes(arguments.compute) if arguments.compute else []
        check_ranks(arguments)
        if arguments.option_progress:
            raise LapwingError("--progress is what is compared here", "use --strategies")
        strategies, options = parse_strategies(arguments.strategies), forward_options(arguments)
        mpis = prepare_places(arguments)
        first = next(iter(mpis.values()))
        begin = time.time()
        with open_chosen(arguments, first, options, arguments.ranks) as place:
            entries = make_entries(place, list(mpis.values()), list(mpis), strategies, options)
            for entry in entries:
                entry.cap_s, entry.work = arguments.time_per_point, arguments.work
                entry.ranks_per_core = place.ranks_per_core
            results = self._measure(arguments, entries, operations, sizes, computes)
            document = make_document(arguments, first, results, place, time.time() - begin)
        document["work"] = arguments.work
        document["mpi"] = ", ".join(entry.label for entry in entries)
        document["hung_in_finalize"] = sum(entry.place.hung_count for entry in entries)
        where = describe_where(document) + ("" if arguments.work == WORKS[0] else ", work through memory")
        finish(
            arguments,
            document,
            lambda screen: print_progress(screen, results, f"{document['ranks']} ranks, {where}"),
            lambda: draw_progress(results, where),
        )
        return 0

    def _measure(
        self,
        arguments: argparse.Namespace,
        entries: Sequence[Entry],
        operations: Sequence[str],
        sizes: Sequence[int],
        computes: Sequence[float],
    ) -> list[Any]:
        """Run everything."""
        total = len(entries) + arguments.rounds * sum(len(entry.contenders) for entry in entries)
        rate = MEMORY_BITS_PER_S if arguments.rate == "none" else parse_rate(arguments.rate)
        with show_progress(self.name, total) as advance:
            wire = measure_wire_cost(entries[0].place, rate)
            for entry in entries:
                prepare_entry(entry, operations, sizes, computes, arguments.repetitions)
                advance()
            samples = gather(entries, arguments.rounds, advance)
        return [describe_entry(entry, samples, wire) for entry in entries]


def draw_progress(results: Sequence[dict[str, Any]], where: str) -> "Figure":
    """Draw the plot."""
    from lapwing.report.progress_plots import plot_progress

    return plot_progress(results, where)


def make_entries(
    place: Place, mpis: Sequence[Mpi], labels: Sequence[str], strategies: Sequence[str], options: Sequence[str]
) -> list[Entry]:
    """Build the program for each MPI."""
    return [
        Entry(label, own, program, list_contenders(own.mpi, strategies, options))
        for label, (own, program) in zip(labels, build_for_each(place, mpis, "progress.c"), strict=True)
    ]
