# SPDX-License-Identifier: MIT
"""Runs the ways in turn (A B C A B C ...), as often as the time allows. How a run is made is not known here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lapwing.model.profile import Way

# What the rounds take longer than the first run suggests: reading records, starting launchers.
MARGIN = 1.1


@dataclass(frozen=True)
class Run:
    """One run. time_s: of the launcher, from its start to its end, and of `lapwing run` where the way needs it.

    problem: why the way did not do what it should; then its times mean nothing.
    is_idle: no rank deferred anything or kept anything going.
    """

    time_s: float
    problem: str = ""
    is_interrupted: bool = False
    is_idle: bool = False


@dataclass
class Rounds:
    """What was measured. Only whole rounds count: each has a run of every way that is left."""

    runs: dict[Way, list[Run]] = field(default_factory=dict)
    failed: dict[Way, str] = field(default_factory=dict)
    count: int = 0
    wanted: int = 0
    is_interrupted: bool = False


def plan_rounds(run_s: float, way_count: int, left_s: float, wanted: int) -> int:
    """Return how many rounds fit into the time that is left."""
    return max(0, min(wanted, int(left_s / (MARGIN * max(run_s, 1e-3) * way_count))))


def run_round(ways: Sequence[Way], make_run: Callable[[Way], Run], advance: Callable[[], None]) -> dict[Way, Run]:
    """Run each way once; an interrupted run ends the round."""
    runs: dict[Way, Run] = {}
    for way in ways:
        runs[way] = make_run(way)
        advance()
        if runs[way].is_interrupted:
            break
    return runs


def run_rounds(
    ways: Sequence[Way],
    wanted: int,
    make_run: Callable[[Way], Run],
    left_s: Callable[[], float],
    advance: Callable[[], None] = lambda: None,
) -> Rounds:
    """Run rounds until there are enough, the time is up, or somebody interrupts. The first way is what others are
    held against."""
    rounds = Rounds({way: [] for way in ways}, wanted=wanted)
    round_s = 0.0
    while rounds.count < wanted and (rounds.count == 0 or left_s() >= round_s):
        alive = [way for way in ways if way not in rounds.failed]
        runs = run_round(alive, make_run, advance)
        rounds.failed |= {way: run.problem for way, run in runs.items() if run.problem}
        rounds.is_interrupted = any(run.is_interrupted for run in runs.values())
        if rounds.is_interrupted:
            break
        for way, run in runs.items():
            rounds.runs[way].append(run)
        rounds.count += 1
        round_s = max(round_s, sum(run.time_s for run in runs.values()))
        if ways[0] in rounds.failed or len(rounds.failed) >= len(ways) - 1:
            break
    return rounds
