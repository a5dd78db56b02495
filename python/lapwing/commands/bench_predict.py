# SPDX-License-Identifier: MIT
"""`lapwing bench predict`."""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lapwing.bench.experiments import calibrate
from lapwing.bench.mpi import Mpi
from lapwing.bench.place import Place, build_for_each
from lapwing.bench.plan import parse_compute, parse_sizes
from lapwing.bench.predict import (
    CHARACTERS,
    Case,
    Task,
    describe_case,
    gather,
    list_ways,
    parse_characters,
    plan_tasks,
    summarise_cost,
    summarise_ways,
)
from lapwing.commands.experiment import (
    add_line_flags,
    add_place_flags,
    add_repetition_flags,
    check_one_pair,
    check_repetitions,
    describe_where,
    finish,
    make_document,
    open_chosen,
    prepare_places,
    show_progress,
)
from lapwing.errors import LapwingError
from lapwing.report.predicted import print_predicted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

START_S = 60.0
SLOWER = 20  # a run may take so many times what was planned before it is ended


class PredictExperiment:
    """Predicted beside measured: programs of known character, profiled once, then run in each way.

    The characters: nonblocking (computation between start and wait), waiting (a quarter of it, so that most of the
    transfer is left to the wait), bundled (none, like NAS BT-MZ), slack (blocking messages whose buffers are touched
    late), tight (at once), small (many small blocking messages), uneven (slack, and one rank works twice as long),
    collective (MPI_Alltoall whose buffers are touched late), in_order (MPI_Bcast whose data are used in order).
    Profiled, stock, with progress by events (--sends, --receives, --collectives and --waits off) and deferred runs take
    turns; the first profile predicts, and the predictions of all rounds' profiles are summarised beside it. Also: what
    profiling costs.
    --mpi takes a list here (default: openmpi,mpich).
    """

    name = "predict"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        add_place_flags(parser)
        add_line_flags(parser, self.name)
        text = f"of {', '.join(CHARACTERS)} (default: all)"
        parser.add_argument("--characters", default=",".join(CHARACTERS), metavar="LIST", help=text)
        parser.add_argument("--sizes", metavar="LIST", default="256KiB,1MiB,4MiB", help="4KiB,1MiB or 4KiB:64MiB:4")
        parser.add_argument("--compute", default="20000", metavar="US", help="work of a round, microseconds")
        add_repetition_flags(parser)
        text = "keep the profiles here, for `lapwing predict` and `lapwing report`"
        parser.add_argument("--records", type=Path, metavar="FOLDER", help=text)

    def run(self, arguments: argparse.Namespace) -> int:
        """Measure and show."""
        check_repetitions(arguments)
        characters, sizes = parse_characters(arguments.characters), parse_sizes(arguments.sizes)
        compute_us = parse_compute(arguments.compute)
        limit, cap_s = arguments.repetitions, arguments.time_per_point
        mpis = prepare_places(arguments, "openmpi,mpich")
        labels = list(mpis)
        begin = time.time()
        with open_chosen(arguments, mpis[labels[0]], []) as place:
            check_one_pair(place)
            tasks = plan_tasks(characters, sizes, compute_us, place.rate, limit, cap_s)
            place.limit_s = START_S + SLOWER * arguments.time_per_point
            cases = make_cases(place, list(mpis.values()), labels, tasks, prepare_folder(arguments.records))
            results = self._measure(arguments, cases)
            document = make_document(arguments, mpis[labels[0]], results, place, time.time() - begin)
        document["mpi"] = ",".join(labels)
        document |= {"summary": summarise_ways(results), "profile_cost": summarise_cost(results)}
        where = describe_where(document)
        finish(
            arguments,
            document,
            lambda screen: print_predicted(screen, document, where),
            lambda: draw_predicted(document, where),
        )
        return 0

    def _measure(self, arguments: argparse.Namespace, cases: Sequence[Case]) -> list[dict[str, Any]]:
        """Run everything."""
        total = len(cases) * arguments.rounds * len(list_ways(cases[0].place.folder))
        with show_progress(self.name, total) as advance:
            outcomes = gather(cases, arguments.rounds, advance)
        return [describe_case(case.label, case.task, one) for case, one in zip(cases, outcomes, strict=True)]


def draw_predicted(document: dict[str, Any], where: str) -> "Figure":
    """Draw the plot."""
    from lapwing.report.predicted_plots import plot_predicted

    return plot_predicted(document["results"], where)


def prepare_folder(records: Path | None) -> Path | None:
    """Make the folder for the profiles, if they are wanted; its absolute path, since ranks run elsewhere."""
    if records is None:
        return None
    try:
        records.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LapwingError(f"{records} cannot be made ({error.strerror})", "correct --records") from error
    return records.absolute()


def make_cases(
    place: Place, mpis: Sequence[Mpi], labels: Sequence[str], tasks: Sequence[Task], records: Path | None = None
) -> list[Case]:
    """Build the program for each MPI."""
    cases = []
    for label, (own, program) in zip(labels, build_for_each(place, mpis, "characters.c"), strict=True):
        units_per_us = calibrate(own, program)
        name = label.replace("/", "-")
        cases += [Case(name, own, program, task, units_per_us, records) for task in tasks]
    return cases
