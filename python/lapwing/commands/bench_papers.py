# SPDX-License-Identifier: MIT
"""`lapwing bench bip` and `lapwing bench sendtime`: experiments of two papers, stock and under Lapwing."""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from lapwing.bench.bip import POKES, calibrate_products, describe_bip
from lapwing.bench.contenders import Contender, list_contenders, parse_strategies
from lapwing.bench.experiments import calibrate
from lapwing.bench.line import LinePlace
from lapwing.bench.mpi import Mpi, build_program
from lapwing.bench.place import Place
from lapwing.bench.plan import choose_repetitions, estimate_round_trip_us, parse_compute, parse_sizes
from lapwing.bench.sendtime import calculate_equations, describe_sendtime
from lapwing.bench.turns import Turns, take_turns
from lapwing.commands.experiment import (
    RANKS_LEAST,
    add_line_flags,
    add_place_flags,
    add_ranks_flag,
    add_repetition_flags,
    check_one_pair,
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
from lapwing.errors import LapwingError
from lapwing.model.system import WITHIN, Route, read_system
from lapwing.options import add_flags, parse_bytes
from lapwing.report.papers import print_bip, print_failures, print_sendtime
from lapwing.report.system import print_equations

if TYPE_CHECKING:
    from matplotlib.figure import Figure

START_S = 60.0
SLOWER = 20  # a run may take so many times what was planned before it is ended


def is_on_one_host(arguments: argparse.Namespace, place: Place) -> bool:
    """Say whether all ranks are on one host."""
    return len(place.hosts) < 2 if isinstance(place, LinePlace) else bool(arguments.shared_memory)


def find_route(path: Path, is_within: bool) -> Route:
    """Return the parameters of the place that is measured."""
    route = read_system(path).find_route(is_within)
    if route is None or (route.where == WITHIN) != is_within:
        where = "within a host" if is_within else "between hosts"
        raise LapwingError(f"{path} has no parameters {where}", "measure them there: lapwing probe --system FILE")
    return route


class PaperExperiment:
    """What both experiments share."""

    name = ""
    sizes = ""
    compute_us = ""
    works = 1  # times that the work is done in a repetition

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        add_place_flags(parser)
        add_line_flags(parser, self.name)
        parser.add_argument("--sizes", metavar="LIST", default=self.sizes, help=f"(default: {self.sizes})")
        text = f"work, in microseconds (default: {self.compute_us})"
        parser.add_argument("--compute", metavar="US", default=self.compute_us, help=text)
        self.add_own_flags(parser)
        parser.add_argument("--strategies", metavar="LIST", default="auto", help="of --progress (default: auto)")
        add_repetition_flags(parser)
        add_flags(parser)

    def add_own_flags(self, parser: argparse.ArgumentParser) -> None:
        """Declare what only this experiment has."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Measure and show."""
        check_repetitions(arguments)
        if arguments.option_progress:
            raise LapwingError("strategies are compared here", "use --strategies")
        sizes, compute_us = parse_sizes(arguments.sizes), parse_compute(arguments.compute)
        strategies, options = parse_strategies(arguments.strategies), forward_options(arguments)
        mpi = prepare_place(arguments)
        contenders = self.list_contenders(mpi, strategies, options)
        begin = time.time()
        with open_chosen(arguments, mpi, options, self.count_ranks(arguments)) as place:
            self.check_place(arguments, place)
            program = build_program(mpi, f"{self.name}.c", place.folder)
            turns = self._measure(arguments, place, program, contenders, sizes, compute_us)
            results = self.describe(sizes, contenders, turns)
            document = make_document(arguments, mpi, results, place, time.time() - begin)
        document |= {"compute_us": compute_us, "failures": turns.failures}

        def show(screen: Console) -> None:
            self.show(screen, document)
            print_failures(screen, turns.failures)

        finish(arguments, document, show, lambda: self.draw(document))
        return 0

    def count_ranks(self, arguments: argparse.Namespace) -> int:
        """Return how many ranks the lab is to have."""
        return RANKS_LEAST

    def check_place(self, arguments: argparse.Namespace, place: Place) -> None:
        """Refuse ranks that the experiment has no part for."""
        check_one_pair(place)

    def _measure(
        self,
        arguments: argparse.Namespace,
        place: Place,
        program: Path,
        contenders: Sequence[Contender],
        sizes: Sequence[int],
        compute_us: float,
    ) -> Turns:
        """Run everything."""
        once_us = [self.works * (estimate_round_trip_us(size, place.rate) + compute_us) for size in sizes]
        counts = [choose_repetitions(one, arguments.repetitions, arguments.time_per_point) for one in once_us]
        words = [word for size, count in zip(sizes, counts, strict=True) for word in (str(size), str(count))]
        line = [str(program), *self.list_words(arguments, place, program, compute_us), *words]
        planned_us = sum(one * (count + 2) for one, count in zip(once_us, counts, strict=True))
        place.limit_s = START_S + SLOWER * planned_us * 1e-6
        with show_progress(self.name, len(contenders) * arguments.rounds) as advance:
            return take_turns(place, contenders, line, len(sizes), arguments.rounds, advance)

    def list_contenders(self, mpi: Mpi, strategies: Sequence[str], options: Sequence[str]) -> list[Contender]:
        """Return who takes part; stock is first."""
        return list_contenders(mpi, strategies, options)

    def list_words(self, arguments: argparse.Namespace, place: Place, program: Path, compute_us: float) -> list[str]:
        """Return the program's arguments before the sizes."""
        raise NotImplementedError

    def describe(self, sizes: Sequence[int], contenders: Sequence[Contender], turns: Turns) -> list[dict[str, Any]]:
        """Calculate the measures."""
        raise NotImplementedError

    def show(self, screen: Console, document: dict[str, Any]) -> None:
        """Print the tables."""
        raise NotImplementedError

    def draw(self, document: dict[str, Any]) -> "Figure":
        """Draw the plot."""
        raise NotImplementedError


class BipExperiment(PaperExperiment):
    """The MPI-BIP report's experiments (INRIA RR-3960): what a call to MPI inside the computation brings.

    Rank 0 sends, both multiply a matrix by a vector for a while, then the same backwards: with blocking calls, with
    nonblocking ones, with MPI_Iprobe (or MPI_Test) after each quarter of the work (the outer loop) and after each
    product (the inner loop). Stock MPI, its own progress thread and Lapwing run in turn. The report's matrix of 53 kB
    took as long as a message of 4.5 kB; today it takes some 3 us, hence a larger one.
    """

    name = "bip"
    sizes = "1KiB:1MiB:4"
    compute_us = "5000"
    works = 10  # five ways with two halves each

    def add_own_flags(self, parser: argparse.ArgumentParser) -> None:
        """Declare the matrix and the call."""
        add_ranks_flag(parser)
        parser.add_argument("--matrix", metavar="SIZE", default="1MB", help="size of the matrix (default: 1MB)")
        parser.add_argument("--poke", choices=POKES, default="iprobe", help="which call (default: iprobe)")

    def count_ranks(self, arguments: argparse.Namespace) -> int:
        """Return how many ranks the lab is to have."""
        check_ranks(arguments)
        return int(arguments.ranks)

    def check_place(self, arguments: argparse.Namespace, place: Place) -> None:
        """Refuse a rank without a partner."""
        check_pairs(place)

    def list_words(self, arguments: argparse.Namespace, place: Place, program: Path, compute_us: float) -> list[str]:
        """Return the program's arguments before the sizes."""
        matrix_bytes = parse_bytes(arguments.matrix)
        if not 8 <= matrix_bytes <= 1 << 30:
            raise LapwingError(f"a matrix of {arguments.matrix} is no use", "give 8 bytes to 1 GiB")
        products = calibrate_products(place, program, matrix_bytes, compute_us)
        return [str(matrix_bytes), str(products), arguments.poke]

    def describe(self, sizes: Sequence[int], contenders: Sequence[Contender], turns: Turns) -> list[dict[str, Any]]:
        """Calculate the measures."""
        return describe_bip(sizes, contenders, turns)

    def show(self, screen: Console, document: dict[str, Any]) -> None:
        """Print the tables."""
        print_bip(screen, document["results"], make_title(document))

    def draw(self, document: dict[str, Any]) -> "Figure":
        """Draw the plot."""
        from lapwing.report.paper_plots import plot_bip

        return plot_bip(document["results"], make_title(document))


class SendtimeExperiment(PaperExperiment):
    """The multithreading paper's tables (Mao and others, 2006): where the time of a message is spent.

    Time in MPI_Send to a receiver that waits and to a late one; in MPI_Isend and in MPI_Wait after work; in MPI_Isend
    and MPI_Wait right after each other, and in MPI_Start and MPI_Wait, to a late receiver; in MPI_Recv before and after
    the message arrived; in MPI_Irecv and in MPI_Wait after work; in both right after each other, from a late sender
    (which may return early with --receive-waits on). After a blocking call the first touch of the buffer is timed too,
    since a call that returned early makes the program wait there. "early": each strategy once more with --early-receive
    on, as the paper's worker thread receives. With --system FILE, of `lapwing probe`, the paper's equations 1 to 6
    stand beside the measured times.
    """

    name = "sendtime"
    sizes = "1KiB:1MiB:4"
    compute_us = "20000"
    works = 9
    route: Route | None = None

    def add_own_flags(self, parser: argparse.ArgumentParser) -> None:
        """Declare where parameters come from."""
        text = "calculate the paper's equations from the parameters of `lapwing probe --system FILE`"
        parser.add_argument("--system", type=Path, metavar="FILE", help=text)

    def run(self, arguments: argparse.Namespace) -> int:
        """Refuse a file that cannot be read before anything takes time; measure and show."""
        if arguments.system:
            read_system(arguments.system)
        return super().run(arguments)

    def check_place(self, arguments: argparse.Namespace, place: Place) -> None:
        """Refuse more than two ranks, and parameters of other places than theirs."""
        super().check_place(arguments, place)
        self.route = find_route(arguments.system, is_on_one_host(arguments, place)) if arguments.system else None

    def list_contenders(self, mpi: Mpi, strategies: Sequence[str], options: Sequence[str]) -> list[Contender]:
        """Return who takes part; stock is first."""
        early = [*options, "--early-receive", "on"]
        receivers = [Contender(f"early {name}", options=[*early, "--progress", name]) for name in strategies]
        return [*super().list_contenders(mpi, strategies, options), *receivers]

    def list_words(self, arguments: argparse.Namespace, place: Place, program: Path, compute_us: float) -> list[str]:
        """Return the program's arguments before the sizes."""
        return [str(max(1, round(compute_us * calibrate(place, program))))]

    def describe(self, sizes: Sequence[int], contenders: Sequence[Contender], turns: Turns) -> list[dict[str, Any]]:
        """Calculate the measures, and the paper's equations beside them."""
        results = describe_sendtime(sizes, contenders, turns)
        if self.route is not None:
            for result in results:
                result["equations"] = calculate_equations(self.route, [result])
        return results

    def show(self, screen: Console, document: dict[str, Any]) -> None:
        """Print the tables."""
        print_sendtime(screen, document["results"], make_title(document))
        rows = [row for result in document["results"] for row in result.get("equations", ())]
        if rows:
            print_equations(screen, rows)

    def draw(self, document: dict[str, Any]) -> "Figure":
        """Draw the plot."""
        from lapwing.report.paper_plots import plot_sendtime

        return plot_sendtime(document["results"], make_title(document))
