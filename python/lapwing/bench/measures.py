# SPDX-License-Identifier: MIT
"""What the experiments calculate from times. No clamping: a value below 0 or above 1 is a finding."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import quantiles


@dataclass(frozen=True)
class Spread:
    """A sample in short."""

    count: int
    minimum: float
    first_quartile: float
    median: float
    third_quartile: float
    maximum: float

    def as_json(self) -> dict[str, float]:
        """Return it for a JSON file."""
        return asdict(self)


def summarise(sample: Sequence[float]) -> Spread:
    """Return extremes, quartiles and median; quartiles as parts of the sample itself ("inclusive")."""
    if len(sample) == 1:
        return Spread(1, *[sample[0]] * 5)
    first, middle, third = quantiles(sample, n=4, method="inclusive")
    return Spread(len(sample), min(sample), first, middle, third, max(sample))


def calculate_overlap(comm: float, comp: float, both: float) -> float:
    """Return 1 when the shorter of the two hides completely behind the longer, 0 when nothing does."""
    return 1 - (both - max(comm, comp)) / min(comm, comp)


def calculate_optimum(comm: float, comp: float) -> float:
    """Return the time of perfect overlap."""
    return max(comm, comp)


def calculate_shared_limit(comm: float, comp: float, processor: float) -> float:
    """Return the time of perfect overlap when the transfer takes processor time from the computation's core."""
    return max(comm, comp + processor)


def calculate_ordered_limit(comm: float, comp: float, pieces: int) -> float:
    """Return the time of perfect overlap when the work needs the data in order, which come in so many pieces.

    The shorter of the two can hide but for one piece: the first must come before the work begins, or its work remains.
    """
    return max(comm, comp) + min(comm, comp) / pieces


def calculate_limit_share(comm: float, comp: float, both: float, processor: float) -> float | None:
    """Return the overlap reached as a part of what the shared core allows; None where it allows none."""
    limit = calculate_overlap(comm, comp, calculate_shared_limit(comm, comp, processor))
    return calculate_overlap(comm, comp, both) / limit if limit > 0 else None


def calculate_speedup(stock: float, lapwing: float) -> float:
    """Return how many times faster."""
    return stock / lapwing
