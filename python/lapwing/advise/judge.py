# SPDX-License-Identifier: MIT
"""What measured times prove. Ways are compared with the stock run of the same round, never across rounds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import comb

from lapwing.advise.ways import DEDICATED, GAIN_MIN
from lapwing.bench.measures import Spread, summarise
from lapwing.model.profile import Way

# Fewer ratios say nothing.
ROUNDS_MIN = 3
# How often, at most, rounds that differ by nothing but chance may look like a gain: five in a row that are all above 1.
CHANCE_MAX = 1 / 32


@dataclass(frozen=True)
class Predicted:
    """What the refined model says. alpha: the share of blocking calls that are deferred or rewritten."""

    time_s: float
    low_s: float
    high_s: float
    alpha: float | None = None


class Outcome(StrEnum):
    """What the ratios of a way's times show."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "no difference shown"
    TOO_FEW = "too few rounds"


def divide_rounds(stock_s: Sequence[float], way_s: Sequence[float]) -> list[float]:
    """Return the speedup of each round."""
    return [stock / way for stock, way in zip(stock_s, way_s, strict=True)]


def count_forgiven(round_count: int) -> int:
    """Return how many rounds need not show a gain: by chance alone so few miss it at most as often as CHANCE_MAX."""
    forgiven, chance = 0, (1 + round_count) / 2**round_count
    while chance <= CHANCE_MAX:
        forgiven += 1
        chance += comb(round_count, forgiven + 1) / 2**round_count
    return forgiven


def judge_speedups(speedups: Sequence[float], is_idle: bool = False) -> Outcome:
    """Claim a gain only when every round has one (of nine or more, nearly every), a loss when the quartiles do.

    The median must lie away from 1, too. Quartiles of five rounds leave two of them out: on a noisy machine they lie
    above 1 where nothing was changed.
    is_idle: the way changed nothing in its runs, so that noise alone made them faster.
    """
    if len(speedups) < ROUNDS_MIN:
        return Outcome.TOO_FEW
    spread = summarise(speedups)
    missed = sum(speedup <= 1 for speedup in speedups)
    if missed <= count_forgiven(len(speedups)) and spread.median >= 1 + GAIN_MIN:
        return Outcome.SAME if is_idle else Outcome.FASTER
    if spread.third_quartile < 1 and spread.median <= 1 - GAIN_MIN:
        return Outcome.SLOWER
    return Outcome.SAME


def choose_best(speedups: Mapping[Way, Spread], outcomes: Mapping[Way, Outcome]) -> Way | None:
    """Return the fastest way that is proven faster; a core is only given up for a gain that others do not reach."""
    proven = [way for way, outcome in outcomes.items() if outcome is Outcome.FASTER]
    best = max(proven, key=lambda way: speedups[way].median, default=None)
    if best is None:
        return None
    equal = [way for way in proven if speedups[way].median >= speedups[best].first_quartile]
    cheap = [way for way in equal if way not in DEDICATED]
    return max(cheap or [best], key=lambda way: speedups[way].median)


def predict_speedup(predicted: Predicted, stock_s: float) -> tuple[float, float, float]:
    """Return the predicted speedup and its interval: that of the time, turned round."""
    expected_s, low_s, high_s = (max(time_s, 1e-9) for time_s in (predicted.time_s, predicted.low_s, predicted.high_s))
    return stock_s / expected_s, stock_s / high_s, stock_s / low_s


def is_inside(speedup: float, predicted: Predicted, stock_s: float) -> bool:
    """Say whether a measured speedup lies in the predicted interval.

    Speedups, not times: the profiled run may have been slower or faster than the others altogether.
    """
    _, low, high = predict_speedup(predicted, stock_s)
    return low <= speedup <= high
