# SPDX-License-Identifier: MIT
"""How slack and transfers of unknown pairing are brought together."""

import random

import pytest

from lapwing.model.distribution import Coupling, Part, calculate_expected_minimum, calculate_mean, shift

SHORT_AND_LONG = [Part(0.0, 1), Part(10.0, 1)]


def test_constant_values_need_no_pairing() -> None:
    for coupling in Coupling:
        assert calculate_expected_minimum([Part(3.0, 5)], [Part(4.0, 1)], coupling) == pytest.approx(3.0)


def test_pairing_decides_between_everything_and_nothing() -> None:
    results = {c: calculate_expected_minimum(SHORT_AND_LONG, SHORT_AND_LONG, c) for c in Coupling}
    assert results[Coupling.SORTED] == pytest.approx(5.0)
    assert results[Coupling.INDEPENDENT] == pytest.approx(2.5)
    assert results[Coupling.OPPOSED] == pytest.approx(0.0)


@pytest.mark.parametrize("seed", range(50))
def test_no_actual_pairing_is_outside_the_bounds(seed: int) -> None:
    generator = random.Random(seed)
    first = [generator.expovariate(1.0) for _ in range(30)]
    second = [generator.expovariate(0.5) for _ in range(30)]
    mean = sum(map(min, first, second)) / 30
    parts = [[Part(value, 1) for value in sample] for sample in (first, second)]
    low = calculate_expected_minimum(parts[0], parts[1], Coupling.OPPOSED)
    high = calculate_expected_minimum(parts[0], parts[1], Coupling.SORTED)
    assert low - 1e-9 <= mean <= high + 1e-9
    assert low <= calculate_expected_minimum(parts[0], parts[1], Coupling.INDEPENDENT) <= high


def test_minimum_with_unequal_weights_uses_all_of_both() -> None:
    first = [Part(1.0, 3), Part(9.0, 1)]
    assert calculate_expected_minimum(first, [Part(100.0, 7)], Coupling.SORTED) == pytest.approx(3.0)


def test_empty_distribution_gives_nothing() -> None:
    assert calculate_expected_minimum([], [Part(1.0, 1)], Coupling.INDEPENDENT) == 0.0
    assert calculate_mean([Part(5.0, 0)]) == 0.0


def test_shift_stops_at_zero() -> None:
    assert shift([Part(1.0, 2), Part(5.0, 1)], -2.0) == [Part(0.0, 2), Part(3.0, 1)]
