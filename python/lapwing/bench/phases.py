# SPDX-License-Identifier: MIT
"""A program that changes phase: at one call site, messages alone and messages beside work alternate.

Lapwing is compared with itself without learning, which defers every call: the overlap that a steady program has.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from lapwing.bench.contenders import STOCK, Contender
from lapwing.bench.experiments import collect
from lapwing.bench.measures import calculate_overlap, summarise
from lapwing.bench.plan import Point, choose_repetitions, estimate_round_trip_us
from lapwing.bench.turns import Turns

LEARNING, STEADY = "lapwing", "lapwing --learn off"
BLOCKING, NONBLOCKING = "blocking", "nonblocking"
KINDS = (BLOCKING, NONBLOCKING)
CALLS = 8  # of a phase, unless told otherwise
CALLS_LEAST = 3
CALLS_TO_FOLLOW = 2  # a change of phase may go unnoticed in so many
TOLERANCE = 0.03


@dataclass(frozen=True)
class PhasePoint:
    """One kind of call, one size, one amount of work; `point.repetitions` cycles."""

    kind: str
    point: Point
    calls: int


def plan_phases(
    computes: Sequence[float], sizes: Sequence[int], rate: str, calls: int, limit: int, cap_s: float
) -> list[PhasePoint]:
    """Plan the experiment: each cycle takes messages twice and work twice for each call."""
    points = []
    for kind in KINDS:
        for compute_us in computes:
            for size_bytes in sizes:
                once_us = calls * (2 * estimate_round_trip_us(size_bytes, rate) + 4 * compute_us)
                point = Point(compute_us, size_bytes, choose_repetitions(once_us, limit, cap_s))
                points.append(PhasePoint(kind, point, calls))
    return points


def list_phase_contenders(options: Sequence[str]) -> list[Contender]:
    """Return who takes part; stock is first."""
    return [
        Contender(STOCK),
        Contender(LEARNING, options=list(options)),
        Contender(STEADY, options=[*options, "--learn", "off"]),
    ]


def list_phase_words(points: Sequence[PhasePoint], units_per_us: float) -> list[str]:
    """Return the program's arguments."""
    return [
        str(word)
        for one in points
        for word in (
            one.kind,
            max(1, round(one.point.compute_us * units_per_us)),
            one.point.size_bytes,
            one.calls,
            one.point.repetitions,
        )
    ]


def describe_phases(points: Sequence[PhasePoint], turns: Turns) -> list[dict[str, Any]]:
    """Calculate the measures of all points of which every contender has times."""
    names = (STOCK, LEARNING, STEADY)
    return [
        describe_phase(one, {name: turns.rows[name, number] for name in names})
        for number, one in enumerate(points)
        if all(turns.rows[name, number] for name in names)
    ]


def describe_phase(one: PhasePoint, rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    """Calculate the measures of one point; what messages and work take alone comes from the stock runs."""
    comm, comp = (summarise(collect(rows[STOCK], key)) for key in ("comm_us", "comp_us"))
    overlaps = {
        name: [calculate_overlap(comm.median, comp.median, time_us) for time_us in list_by_call(rows[name], one.calls)]
        for name in rows
    }
    followed, steady = (median(overlaps[name][CALLS_TO_FOLLOW:]) for name in (LEARNING, STEADY))
    return {
        "kind": one.kind,
        "size_bytes": one.point.size_bytes,
        "compute_us": one.point.compute_us,
        "calls": one.calls,
        "comm_us": comm.as_json(),
        "comp_us": comp.as_json(),
        "comm_lapwing_us": summarise(collect(rows[LEARNING], "comm_us")).as_json(),
        "overlap_by_call": overlaps,
        "overlap_followed": followed,
        "overlap_steady": steady,
        "is_followed": followed >= steady - TOLERANCE,
    }


def list_by_call(rows: Sequence[Mapping[str, Any]], calls: int) -> list[float]:
    """Return for each call of a phase beside work the median over all cycles of all rounds."""
    times_us = [row["both_us"] for row in rows]
    return [median(value for row in times_us for value in row[call::calls]) for call in range(calls)]
