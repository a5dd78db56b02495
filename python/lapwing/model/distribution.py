# SPDX-License-Identifier: MIT
"""Discrete distributions, and the expected smaller one of two quantities whose joint law is not known.

A record keeps how long the slack of a site's calls is and how long their transfers are, but not which
slack belongs to which transfer. What is hidden of one call is the smaller of the two. Its mean is greatest
when long slack meets long transfers and least when it meets short ones (the Frechet bounds, reached
for min(x, y), which is supermodular); in between lies independence.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Coupling(StrEnum):
    """How two quantities of the same call go together."""

    INDEPENDENT = "independent"
    SORTED = "long with long"
    OPPOSED = "long with short"


@dataclass(frozen=True)
class Part:
    """A value, and its weight among the others."""

    value: float
    weight: float


Distribution = Sequence[Part]


def normalise(parts: Iterable[Part]) -> list[Part]:
    """Return the parts in ascending order with weights that add up to 1; parts without weight are dropped."""
    kept = sorted((part for part in parts if part.weight > 0), key=lambda part: part.value)
    total = sum(part.weight for part in kept)
    return [Part(part.value, part.weight / total) for part in kept]


def calculate_mean(distribution: Distribution) -> float:
    """Return the mean; 0 of an empty distribution."""
    parts = normalise(distribution)
    return sum(part.value * part.weight for part in parts)


def shift(distribution: Distribution, amount: float) -> list[Part]:
    """Add an amount to every value; nothing goes below 0."""
    return [Part(max(0.0, part.value + amount), part.weight) for part in distribution]


def scale(distribution: Distribution, factor: float) -> list[Part]:
    """Multiply every value."""
    return [Part(part.value * factor, part.weight) for part in distribution]


def pair_in_order(first: Sequence[Part], second: Sequence[Part]) -> float:
    """Return the mean of min(x, y) when both run through their quantiles together, in the given order."""
    left, right = [part.weight for part in first], [part.weight for part in second]
    mean, i, j = 0.0, 0, 0
    while i < len(first) and j < len(second):
        weight = min(left[i], right[j])
        mean += weight * min(first[i].value, second[j].value)
        left[i] -= weight
        right[j] -= weight
        # Weights are sums of rounded numbers: what is left of one may be a last digit.
        i, j = i + (left[i] <= 1e-12), j + (right[j] <= 1e-12)
    return mean


def calculate_expected_minimum(first: Distribution, second: Distribution, coupling: Coupling) -> float:
    """Return the mean of min(x, y); 0 when either is empty."""
    x, y = normalise(first), normalise(second)
    if coupling is Coupling.INDEPENDENT:
        return sum(a.weight * b.weight * min(a.value, b.value) for a in x for b in y)
    return pair_in_order(x, y if coupling is Coupling.SORTED else y[::-1])
