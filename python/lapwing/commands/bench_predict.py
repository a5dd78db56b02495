# SPDX-License-Identifier: MIT
"""`lapwing bench predict`."""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lapwing.bench.experiments import calibrate
from lapwing.bench.mpi import Mpi, find_mpi
from lapwing.bench.place import Place, build_for_each, open_place
from lapwing.bench.plan import parse_computes, parse_sizes
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
    add_place_flags,
    add_repetition_flags,
    check_repetitions,
    make_document,
    prepare_lab,
    show_progress,
    write_output,
)
from lapwing.errors import LapwingError
from lapwing.report.predicted import print_predicted
from lapwing.screen import Screen

START_S = 60.0
SLOWER = 20  # a run may take so many times what was planned before it is ended


class PredictExperiment:
    """Predicted beside measured: programs of known character, profiled once, then run in each way.

    The characters: nonblocking (computation between start and wait), bundled (none, like NAS BT-MZ), slack
    (blocking messages whose buffers are touched late), tight (at once), small (many small blocking messages),
    uneven (slack, and one rank works twice as long). Profiled, stock, with progress by events (--sends off
    --receives off) and deferred runs take turns; the first profile predicts, and the predictions of all rounds'
    profiles are summarised beside it. Also: what profiling costs.
    --mpi takes a list here.
    """

    name = "predict"

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        add_place_flags(parser)
        parser.set_defaults(mpi="openmpi,mpich")
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
        rate = "none" if arguments.shared_memory else arguments.rate
        tasks = plan_tasks(
            parse_characters(arguments.characters),
            parse_sizes(arguments.sizes),
            parse_computes(arguments.compute)[0],
            rate,
            arguments.repetitions,
            arguments.time_per_point,
        )
        mpis = [find_mpi(word) for word in arguments.mpi.split(",")]
        prepare_lab(arguments)
        begin = time.time()
        with open_place(mpis[0], arguments.rate, arguments.cores_per_host, arguments.shared_memory, []) as place:
            place.limit_s = START_S + SLOWER * arguments.time_per_point
            cases = make_cases(place, mpis, arguments.mpi.split(","), tasks, prepare_folder(arguments.records))
            results = self._measure(arguments, cases)
            document = make_document(arguments, mpis[0], results, place, time.time() - begin)
        document["mpi"] = arguments.mpi
        document |= {"summary": summarise_ways(results), "profile_cost": summarise_cost(results)}
        write_output(arguments, document)
        self._show(arguments, document)
        return 0

    def _measure(self, arguments: argparse.Namespace, cases: Sequence[Case]) -> list[dict[str, Any]]:
        """Run everything."""
        total = len(cases) * arguments.rounds * len(list_ways(cases[0].place.folder))
        with show_progress(self.name, total) as advance:
            outcomes = gather(cases, arguments.rounds, advance)
        return [describe_case(case.label, case.task, one) for case, one in zip(cases, outcomes, strict=True)]

    def _show(self, arguments: argparse.Namespace, document: dict[str, Any]) -> None:
        """Draw what was asked for; print the tables."""
        where = document["place"] if document["rate"] is None else f"lab at {document['rate']}"
        if arguments.plot:
            # Not above: matplotlib's libraries start threads, which would take signals meant for `lapwing run`.
            from lapwing.report.plots import save_plot
            from lapwing.report.predicted_plots import plot_predicted

            save_plot(plot_predicted(document["results"], where), arguments.plot)
        print_predicted(Screen(), document, where)


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
