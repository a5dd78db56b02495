# SPDX-License-Identifier: MIT
"""Bounds of a median that hold whatever the distribution is: the sign test turned round.

Of rounds that differ by nothing but chance each lies above the median of all possible rounds as often as below. So that
median lies below the lowest of five rounds once in 32 times. The sample may grow: it is looked at after each number of
rounds in LOOKS, and all looks together are wrong at most as often as CHANCE_MAX, for each bound by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

CHANCE_MAX = 0.05
LOOKS = (5, 10, 20)


@dataclass(frozen=True)
class Interval:
    """Bounds of a median. Each by itself holds with 95 %."""

    low: float
    high: float


def calculate_chance(rank: int, count: int) -> float:
    """Return how often at most `rank` of `count` rounds lie on one side of the median."""
    chance: float = sum(comb(count, below) for below in range(rank + 1)) / 2**count
    return chance


def find_rank(count: int, chance: float) -> int:
    """Return how many rounds may lie beyond a bound that is wrong at most so often; -1 without such a bound."""
    rank, beyond = -1, 1
    while beyond / 2**count <= chance:
        rank += 1
        beyond += comb(count, rank + 1)
    return rank


def find_rank_at_look(count: int, looks: Sequence[int] = LOOKS) -> int:
    """Return the same for a sample that was looked at before, which used up some of CHANCE_MAX."""
    chance = CHANCE_MAX
    for look in looks:
        if look < count:
            chance -= calculate_chance(find_rank(look, chance), look)
    return find_rank(count, chance)


def bound_median(sample: Sequence[float], looks: Sequence[int] = LOOKS) -> Interval | None:
    """Return the bounds of the median that the sample is from; None where it is too small for any."""
    rank = find_rank_at_look(len(sample), looks)
    if rank < 0:
        return None
    ordered = sorted(sample)
    return Interval(ordered[rank], ordered[-1 - rank])
