# SPDX-License-Identifier: MIT
"""`lapwing bench overlap --phases`: a program that changes phase, stock, under Lapwing, and without learning."""

import argparse
import time

from rich.console import Console

from lapwing.bench.experiments import calibrate
from lapwing.bench.mpi import build_program
from lapwing.bench.phases import (
    CALLS_LEAST,
    describe_phases,
    list_phase_contenders,
    list_phase_words,
    plan_phases,
)
from lapwing.bench.plan import parse_computes, parse_sizes
from lapwing.bench.turns import take_turns
from lapwing.commands.experiment import (
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
from lapwing.report.papers import print_failures
from lapwing.report.phases import make_phases_table


def check_phases(arguments: argparse.Namespace) -> None:
    """Refuse what this experiment cannot do."""
    check_repetitions(arguments)
    check_ranks(arguments)
    if arguments.phases < CALLS_LEAST:
        raise LapwingError(f"a phase needs at least {CALLS_LEAST} calls", "correct --phases")
    if arguments.option_learn:
        raise LapwingError("learning on and off are compared here", "leave --learn out")
    if arguments.plot:
        raise LapwingError("there is no plot of phases", "use --output, which writes the overlap of every call")


def run_phases(arguments: argparse.Namespace) -> int:
    """Measure and show; exit code 1 when a phase is not followed."""
    check_phases(arguments)
    computes, sizes = parse_computes(arguments.compute), parse_sizes(arguments.sizes)
    options = forward_options(arguments)
    contenders = list_phase_contenders(options)
    mpi = prepare_place(arguments)
    begin = time.time()
    limit, cap_s = arguments.repetitions, arguments.time_per_point
    with open_chosen(arguments, mpi, options, arguments.ranks) as place:
        check_pairs(place)
        points = plan_phases(computes, sizes, place.rate, arguments.phases, limit, cap_s)
        program = build_program(mpi, "phases.c", place.folder)
        line = [str(program), *list_phase_words(points, calibrate(place, program) / place.ranks_per_core)]
        with show_progress("phases", len(contenders) * arguments.rounds) as advance:
            turns = take_turns(place, contenders, line, len(points), arguments.rounds, advance)
        results = describe_phases(points, turns)
        document = make_document(arguments, mpi, results, place, time.time() - begin)
    document["failures"] = turns.failures

    def show(screen: Console) -> None:
        screen.print(make_phases_table(results, f"{make_title(document)}, phases of {arguments.phases} calls"))
        print_failures(screen, turns.failures)

    finish(arguments, document, show)
    return 0 if results and all(row["is_followed"] for row in results) else 1
