# SPDX-License-Identifier: MIT
"""Runs the ways in turn (A B C A B C ...) until the answer is clear or the time is up. How a run is made, and what is
clear, is not known here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lapwing.bench.interval import LOOKS
from lapwing.model.profile import Way

# What the rounds take longer than the first run suggests: reading records, starting launchers.
MARGIN = 1.1


@dataclass(frozen=True)
class Run:
    """One run. time_s: of the launcher, from its start to its end, and of `lapwing run` where the way needs it.

    problem: why the way did not do what it should; then its times mean nothing.
    is_idle: no rank deferred anything or kept anything going. is_cut: the budget was over before its end.
    """

    time_s: float
    problem: str = ""
    is_interrupted: bool = False
    is_idle: bool = False
    is_cut: bool = False

    @property
    def is_whole(self) -> bool:
        """Say whether it came to its end."""
        return not (self.is_interrupted or self.is_cut)


@dataclass
class Rounds:
    """What was measured. Only whole rounds count: each has a run of every way that is left.

    looks: after how many rounds it is asked whether the answer is clear; after the last there are no more.
    is_cut: the budget ended them before.
    """

    runs: dict[Way, list[Run]] = field(default_factory=dict)
    failed: dict[Way, str] = field(default_factory=dict)
    count: int = 0
    looks: Sequence[int] = LOOKS
    is_cut: bool = False
    is_interrupted: bool = False


def plan_rounds(run_s: float, way_count: int, left_s: float, wanted: int) -> int:
    """Return how many rounds fit into the time that is left."""
    return max(0, min(wanted, int(left_s / (MARGIN * max(run_s, 1e-3) * way_count))))


def run_round(ways: Sequence[Way], make_run: Callable[[Way], Run], advance: Callable[[], None]) -> dict[Way, Run]:
    """Run each way once; a run that does not come to its end ends the round."""
    runs: dict[Way, Run] = {}
    for way in ways:
        runs[way] = make_run(way)
        advance()
        if not runs[way].is_whole:
            break
    return runs


def add_round(
    rounds: Rounds, ways: Sequence[Way], make_run: Callable[[Way], Run], advance: Callable[[], None]
) -> float:
    """Run one round of the ways that are left, and keep it if it is whole; return how long its runs took."""
    runs = run_round([way for way in ways if way not in rounds.failed], make_run, advance)
    rounds.failed |= {way: run.problem for way, run in runs.items() if run.problem}
    rounds.is_interrupted = any(run.is_interrupted for run in runs.values())
    rounds.is_cut = any(run.is_cut for run in runs.values())
    if all(run.is_whole for run in runs.values()):
        for way, run in runs.items():
            rounds.runs[way].append(run)
        rounds.count += 1
    return sum(run.time_s for run in runs.values())


def is_over(rounds: Rounds, ways: Sequence[Way], needs_more: Callable[[Rounds], bool]) -> bool:
    """Say whether another round would tell nothing."""
    if rounds.is_interrupted or ways[0] in rounds.failed or len(rounds.failed) >= len(ways) - 1:
        return True
    return rounds.count >= rounds.looks[-1] or (rounds.count in rounds.looks and not needs_more(rounds))


def run_rounds(
    ways: Sequence[Way],
    looks: Sequence[int],
    make_run: Callable[[Way], Run],
    left_s: Callable[[], float],
    needs_more: Callable[[Rounds], bool],
    advance: Callable[[], None] = lambda: None,
) -> Rounds:
    """Run rounds until the answer is clear, the time is up, or somebody interrupts. The first way is what others are
    held against."""
    rounds = Rounds({way: [] for way in ways}, looks=looks)
    round_s = 0.0
    while not rounds.is_cut:
        round_s = max(round_s, add_round(rounds, ways, make_run, advance))
        if rounds.is_cut or is_over(rounds, ways, needs_more):
            break
        rounds.is_cut = left_s() < round_s
    return rounds
