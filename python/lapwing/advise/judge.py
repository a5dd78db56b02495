# SPDX-License-Identifier: MIT
"""What measured times prove. Ways are compared with the stock run of the same round, never across rounds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from math import ceil, expm1, log
from statistics import median

from lapwing.advise.ways import DEDICATED, GAIN_MIN
from lapwing.bench.interval import CHANCE_MAX, LOOKS, Interval, find_rank, find_rank_at_look
from lapwing.bench.measures import Spread
from lapwing.model.profile import Way

# Fewer rounds have no bounds.
ROUNDS_MIN = LOOKS[0]
# More rounds than these nobody waits for: the gain lies too near the smallest one that counts.
ROUNDS_MAX = 400


@dataclass(frozen=True)
class Predicted:
    """What the refined model says. alpha: the share of blocking calls that are deferred or rewritten."""

    time_s: float
    low_s: float
    high_s: float
    alpha: float | None = None


class Outcome(StrEnum):
    """What the speedups of a way show, each with 95 %: a gain of GAIN_MIN or more, a loss, no such gain; or nothing."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "no gain"
    OPEN = "cannot tell"


def divide_rounds(stock_s: Sequence[float], way_s: Sequence[float]) -> list[float]:
    """Return the speedup of each round."""
    return [stock / way for stock, way in zip(stock_s, way_s, strict=True)]


def judge_speedups(interval: Interval | None, is_idle: bool = False) -> Outcome:
    """Say what the bounds of a way's speedup show.

    is_idle: the way changed nothing in its runs, so that noise alone made them faster.
    """
    if interval is None:
        return Outcome.OPEN
    if interval.low >= 1 + GAIN_MIN:
        return Outcome.SAME if is_idle else Outcome.FASTER
    if interval.high < 1:
        return Outcome.SLOWER
    return Outcome.SAME if is_idle or interval.high < 1 + GAIN_MIN else Outcome.OPEN


def is_undecided(speedups: Mapping[Way, float], outcomes: Mapping[Way, Outcome], is_check: bool) -> bool:
    """Say whether more rounds may change the advice. speedups: the medians.

    Of ways without a proven gain only those count that may be better than the best with one. is_check: nothing was
    promising, so that only a gain that shows all the same is worth more rounds.
    """
    proven = [speedups[way] for way, outcome in outcomes.items() if outcome is Outcome.FASTER]
    least = max([*proven, 1 + GAIN_MIN if is_check else 0.0])
    return any(outcome is Outcome.OPEN and speedups[way] > least for way, outcome in outcomes.items())


def estimate_rounds(speedup: Spread, interval: Interval) -> int | None:
    """Return how many rounds would about tell, if they scatter as these do; None: more than anybody waits for.

    Bounds draw together with the square root of the number of rounds.
    """
    distance = abs(log(speedup.median / (1 + GAIN_MIN)))
    half_width = log(interval.high / interval.low) / 2
    if distance == 0 or half_width > distance * (ROUNDS_MAX / speedup.count) ** 0.5:
        return None
    return max(forgive_more(speedup.count), ceil(speedup.count * (half_width / distance) ** 2))


def forgive_more(count: int) -> int:
    """Return the least number of rounds whose bounds leave out more of them than those of `count` rounds do."""
    rank = find_rank_at_look(count)
    return next(more for more in range(count + 1, 2 * ROUNDS_MAX) if find_rank(more, CHANCE_MAX) > rank)


def measure_scatter(times_s: Sequence[float]) -> float:
    """Return the noise of the machine: by what part of itself stock's time differs from one round to the next.

    Neighbours are compared, so that a slow drift, which all ways share, is not counted.
    """
    steps = [abs(log(after / before)) for before, after in pairwise(times_s)]
    return expm1(median(steps)) if steps else 0.0


def choose_best(speedups: Mapping[Way, float], proven: Mapping[Way, Interval]) -> Way | None:
    """Return the fastest way that is proven faster; a core is only given up for a gain that others do not reach.

    speedups: the medians. proven: the bounds of the ways that are proven faster.
    """
    best = max(proven, key=lambda way: speedups[way], default=None)
    if best is None:
        return None
    equal = [way for way in proven if speedups[way] >= proven[best].low]
    cheap = [way for way in equal if way not in DEDICATED]
    return max(cheap or [best], key=lambda way: speedups[way])


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
