# SPDX-License-Identifier: MIT
"""`lapwing bench collective`."""

import argparse
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lapwing.bench.collective import (
    FUNCTIONS,
    TYPES,
    USUAL_FUNCTIONS,
    WARM_UP,
    Bench,
    Way,
    describe_bench,
    find_disturbance,
    gather,
    list_ways,
    parse_functions,
    prepare_bench,
)
from lapwing.bench.experiments import measure_wire_cost
from lapwing.bench.mpi import build_program
from lapwing.bench.place import Place
from lapwing.bench.plan import MEMORY_BITS_PER_S, parse_computes, parse_sizes
from lapwing.commands.experiment import (
    add_line_flags,
    add_place_flags,
    add_ranks_flag,
    add_repetition_flags,
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
from lapwing.errors import LapwingError
from lapwing.lab.network import parse_rate
from lapwing.options import add_cores_flag, add_flags
from lapwing.report.collective import print_collective

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAST_BYTES_PER_RANK = 8


class CollectiveExperiment:
    """Blocking collectives beside work: apart from their data, and reading them in order.

    Each rank calls the collective, then does a fixed amount of work. "apart": the work needs none of the data, and
    one byte of each page is read after it. "in order": the work is done in blocks; before each the next 64 KiB of the
    data are read. Stock and Lapwing run in turn; overlap is measured by stock's times of the collective and of the
    work alone; the slowest rank counts. In order the first data must come before the work begins: the limit is that of
    data in 16 pieces (fewer below 1 MiB). With --calls several collectives follow each other before the work, and all
    times are those of all of them. Also: when the first page had been read, as a part of stock's time of the
    whole collective. All data are checked in every repetition; wrong data end the command with exit code 1.

    A size is the bytes that a rank receives in all: the buffer of bcast and allreduce; all blocks together of
    allgather(v) and alltoall(v) (SIZE / ranks from each); a rank's own part of scatter and reduce_scatter_block (SIZE *
    ranks are sent); what rank 0 receives of reduce and gather. It is rounded down to whole elements for each rank.
    """

    name = "collective"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        add_place_flags(parser)
        add_line_flags(parser, self.name)
        add_ranks_flag(parser, "--hosts")
        usual = ",".join(USUAL_FUNCTIONS)
        text = f"of {', '.join(FUNCTIONS)}; or all (default: {usual})"
        parser.add_argument("--functions", default=usual, metavar="LIST", help=text)
        text = "element of the data; reductions are sums (default: int)"
        parser.add_argument("--type", choices=TYPES, default=TYPES[0], help=text)
        text = "bytes that a rank receives in all: 4KiB,1MiB or 4KiB:64MiB:4 (default: 2MiB)"
        parser.add_argument("--sizes", metavar="LIST", default="2MiB", help=text)
        text = "work in microseconds, a list (default: as long as the collective)"
        parser.add_argument("--compute", metavar="US", help=text)
        text = "also stock MPI's nonblocking twins, waited for after the work; in order before it"
        parser.add_argument("--stock-nonblocking", action="store_true", help=text)
        text = "collectives that follow each other before the work, each with buffers of its own (default: 1)"
        parser.add_argument("--calls", type=int, default=1, metavar="N", help=text)
        text = f"repetitions of a point before those that count (default: {WARM_UP})"
        parser.add_argument("--warm-up", type=int, default=WARM_UP, metavar="N", help=text)
        add_repetition_flags(parser)
        add_cores_flag(parser)
        add_flags(parser)

    def run(self, arguments: argparse.Namespace) -> int:
        """Measure and show."""
        check_arguments(arguments)
        functions, sizes = parse_functions(arguments.functions), parse_sizes(arguments.sizes)
        check_sizes(sizes, arguments.ranks)
        computes = parse_computes(arguments.compute) if arguments.compute else []
        options = forward_options(arguments)
        ways = list_ways(options, arguments.stock_nonblocking)
        mpi = prepare_place(arguments)
        begin = time.time()
        with open_chosen(arguments, mpi, options, arguments.ranks) as place:
            check_sizes(sizes, place.rank_count)
            pairs = [(name, size) for name in functions for size in sizes]
            results = self._measure(arguments, place, ways, pairs, computes)
            document = make_document(arguments, mpi, results, place, time.time() - begin)
        document |= {"type": arguments.type, "calls": arguments.calls, "ranks_per_core": place.ranks_per_core}
        document["disturbed"] = find_disturbance(results)
        title = f"{make_title(document)}, {document['ranks']} ranks, {document['type']}"
        title += f", {document['calls']} calls in a row" if document["calls"] > 1 else ""
        finish(
            arguments,
            document,
            lambda screen: print_collective(screen, document, title),
            lambda: draw_collective(results, title),
        )
        return 0

    def _measure(
        self,
        arguments: argparse.Namespace,
        place: Place,
        ways: Sequence[Way],
        pairs: Sequence[tuple[str, int]],
        computes: Sequence[float],
    ) -> list[Any]:
        """Run everything."""
        program = build_program(place.mpi, "collective.c", place.folder)
        bench = Bench(
            place, program, arguments.type, arguments.warm_up, arguments.calls, ranks_per_core=place.ranks_per_core
        )
        rate = MEMORY_BITS_PER_S if arguments.rate == "none" else parse_rate(arguments.rate)
        with show_progress(self.name, 1 + len(ways) * arguments.rounds) as advance:
            wire = measure_wire_cost(place, rate)
            prepare_bench(bench, pairs, computes, arguments.repetitions, arguments.time_per_point)
            advance()
            samples = gather(bench, ways, arguments.rounds, advance)
        return describe_bench(bench, ways, samples, wire)


def draw_collective(results: Sequence[dict[str, Any]], title: str) -> "Figure":
    """Draw the plot."""
    from lapwing.report.collective_plots import plot_collective

    return plot_collective(results, title)


def check_arguments(arguments: argparse.Namespace) -> None:
    """Refuse what cannot be measured."""
    check_repetitions(arguments)
    check_ranks(arguments)
    if arguments.warm_up < 0:
        raise LapwingError("--warm-up cannot be negative", "correct --warm-up")
    if arguments.calls < 1:
        raise LapwingError("--calls must be at least 1", "correct --calls")


def check_sizes(sizes: Sequence[int], ranks: int) -> None:
    """Refuse sizes of which a rank would get nothing."""
    least_bytes = LEAST_BYTES_PER_RANK * ranks
    if min(sizes) < least_bytes:
        raise LapwingError(
            f"{min(sizes)} bytes are no element from each of {ranks} ranks", f"give {least_bytes} or more"
        )
