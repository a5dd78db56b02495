# SPDX-License-Identifier: MIT
"""Nonblocking messages below the progress threshold stay where MPI leaves them, and predictions know it."""

from argparse import ArgumentParser
from collections.abc import Sequence

from model_simulation import Program, Step, profile_programs
from test_advise import advise

from lapwing.advise.rounds import Rounds
from lapwing.commands.predict import add_model_flags, check_flags
from lapwing.model.profile import Way
from lapwing.model.study import Study, study_profile
from lapwing.report.findings import find_in_profile

ROUNDS, PARTS, SMALL, LARGE = 20, 8, 32 << 10, 1 << 20


def exchange(rank: int, number: int, sizes: Sequence[int]) -> Program:
    """Start messages of these sizes both ways, work, and wait for all."""
    own = [2 * (number * len(sizes) + part) + rank for part in range(len(sizes))]
    other = [2 * (number * len(sizes) + part) + 1 - rank for part in range(len(sizes))]
    starts = [Step("irecv", "halo.c", messages=(n,), size_bytes=size) for n, size in zip(other, sizes, strict=True)]
    starts += [Step("isend", "halo.c", messages=(n,), size_bytes=size) for n, size in zip(own, sizes, strict=True)]
    return [*starts, Step("compute", time_ns=30e6), Step("wait", "halo.c", messages=(*own, *other))]


def study(sizes: Sequence[int], progress_threshold_bytes: int = 65536, carries_nonblocking: bool = True) -> Study:
    programs = [[step for n in range(ROUNDS) for step in exchange(rank, n, sizes)] for rank in range(2)]
    profile = profile_programs(programs)
    return study_profile(
        profile, progress_threshold_bytes=progress_threshold_bytes, carries_nonblocking=carries_nonblocking
    )


def gain_ns(found: Study, way: Way) -> float:
    return found.predictions[Way.STOCK].expected_ns - found.predictions[way].expected_ns


def test_small_messages_are_not_predicted_to_move() -> None:
    assert gain_ns(study([SMALL] * PARTS), Way.DEFERRED) == 0


def test_they_are_from_the_threshold_on() -> None:
    whole = study([SMALL] * PARTS, progress_threshold_bytes=SMALL)
    assert gain_ns(whole, Way.EVENTS) > 0.5 * whole.predictions[Way.STOCK].terms.waits


def test_of_a_wait_for_both_kinds_the_large_messages_count() -> None:
    mixed, all_of_it = study([SMALL] * PARTS + [LARGE]), study([SMALL] * PARTS + [LARGE], progress_threshold_bytes=1)
    share = LARGE / (LARGE + PARTS * SMALL)
    hidden = [sum(s.hidden_ns for s in found.predictions[Way.EVENTS].ranks[0].sites) for found in (mixed, all_of_it)]
    assert 0.95 * share < hidden[0] / hidden[1] < 1.05 * share


def test_nothing_nonblocking_moves_where_that_is_switched_off() -> None:
    found = study([LARGE], carries_nonblocking=False)
    assert gain_ns(found, Way.EVENTS) == 0
    assert found.lowered is None


def test_prediction_names_the_threshold_that_prevents_a_gain() -> None:
    text = next(f.text for f in find_in_profile(study([SMALL] * PARTS)) if f.kind == "below the progress threshold")
    assert "--progress-threshold 32KiB" in text
    assert study([LARGE]).lowered is None
    assert study([512] * PARTS).lowered is None  # an operation of the engine's costs more


def test_computation_to_hide_behind_is_there_whatever_the_threshold() -> None:
    small = study([SMALL] * PARTS)
    assert next(a for a in small.assumptions if "enough computation" in a.claim).holds


def test_advice_names_the_threshold_that_prevents_a_gain() -> None:
    assert any("--progress-threshold 32KiB" in text for text in advise(study([SMALL] * PARTS), Rounds()).verdict)


def test_model_flags_say_what_lapwing_would_be_told() -> None:
    parser = ArgumentParser()
    add_model_flags(parser)
    arguments = parser.parse_args(["--progress-threshold", "4KiB", "--nonblocking", "off"])
    check_flags(arguments)
    assert (arguments.progress_threshold, arguments.nonblocking) == (4096, "off")
