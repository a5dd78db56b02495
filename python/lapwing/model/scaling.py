# SPDX-License-Identifier: MIT
"""The computation over the number of threads: figure 1 of the dedicated-core paper, and a fit of it.

The paper takes 1 / N for granted, as its worst case (III-B1). Here the time is a constant part, one that threads share,
and one that grows with their number (what small problems lose): t(n) = serial + shared / n + growing n, none negative.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import median
from typing import Any

from lapwing.errors import RecordError
from lapwing.model.profile import Calibration, JobProfile, Sweep

TERMS = 3
NS_PER_S = 1e9


@dataclass(frozen=True)
class ScalingFit:
    """The parts in seconds. error: the largest one of the fit, as a share of the measured median."""

    serial_s: float
    shared_s: float
    growing_s: float
    error: float

    def time_s(self, threads: float) -> float:
        """Return the computation with so many threads."""
        return self.serial_s + self.shared_s / threads + self.growing_s * threads


def list_medians_s(sweep: Sweep) -> list[float]:
    """Return the median of each number of threads."""
    return [median(times) / NS_PER_S for times in sweep.times_ns]


def solve_square(matrix: list[list[float]], right: list[float]) -> list[float] | None:
    """Solve at most TERMS equations by elimination; None where they do not determine the unknowns.

    numpy could, too, but it begins threads, which would take signals meant for the programs that are run.
    """
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for step in range(len(rows)):
        pivot = max(range(step, len(rows)), key=lambda number: abs(rows[number][step]))
        rows[step], rows[pivot] = rows[pivot], rows[step]
        if abs(rows[step][step]) < 1e-12:
            return None
        rows[step] = [value / rows[step][step] for value in rows[step]]
        for number in (number for number in range(len(rows)) if number != step):
            factor = rows[number][step]
            rows[number] = [a - factor * b for a, b in zip(rows[number], rows[step], strict=True)]
    return [row[-1] for row in rows]


def solve(rows: Sequence[Sequence[float]], kept: Sequence[int]) -> list[float] | None:
    """Return the parts, of which only the kept ones are not 0, with the least squares of the relative errors.

    rows: what each part adds to a measured time, as a share of it. None where a part would be negative.
    """
    matrix = [[sum(row[a] * row[b] for row in rows) for b in kept] for a in kept]
    found = solve_square(matrix, [sum(row[a] for row in rows) for a in kept])
    if found is None or min(found) < 0:
        return None
    parts = [0.0] * TERMS
    for number, value in zip(kept, found, strict=True):
        parts[number] = value
    return parts


def fit_sweep(sweep: Sweep) -> ScalingFit:
    """Return the fit with the smallest errors; never as many parts as points where there are more than two."""
    times_s = list_medians_s(sweep)
    rows = [(1 / time, 1 / n / time, n / time) for n, time in zip(sweep.threads, times_s, strict=True)]
    most = min(TERMS, max(2, len(rows) - 1), len(rows))
    subsets = [kept for count in range(1, most + 1) for kept in combinations(range(TERMS), count)]
    best = ScalingFit(0.0, 0.0, 0.0, float("inf"))
    least = float("inf")
    for parts in (solve(rows, kept) for kept in subsets):
        if parts is None:
            continue
        errors = [abs(sum(part * value for part, value in zip(parts, row, strict=True)) - 1) for row in rows]
        squares = sum(error * error for error in errors)
        if squares < least - 1e-12:  # of equally good fits the one with the fewest parts
            best, least = ScalingFit(parts[0], parts[1], parts[2], max(errors)), squares
    return best


def derive_calibration(sweep: Sweep, core_count: int | None) -> Calibration | None:
    """Return what the fit says of N cores and of one less; None where a rank has none to give up."""
    if core_count is None or core_count < 2:
        return None
    fit = fit_sweep(sweep)
    full_s, reduced_s = fit.time_s(core_count), fit.time_s(core_count - 1)
    return Calibration(core_count, (max(1, round(full_s * NS_PER_S)),), (max(1, round(reduced_s * NS_PER_S)),))


def change_cores(profile: JobProfile, core_count: int) -> JobProfile:
    """Return a profile whose ranks have so many cores.

    Runs on other cores and one less say nothing of these: of that calibration only its cores are kept.
    """
    calibration = profile.calibration
    if profile.scaling is not None:
        calibration = derive_calibration(profile.scaling, core_count)
    elif calibration is not None and calibration.core_count != core_count:
        calibration = Calibration(calibration.core_count, (), ())
    return replace(profile, cores_per_rank=core_count, calibration=calibration)


def is_number(value: object) -> bool:
    """Tell whether a record may hold this."""
    return type(value) is int and 0 < value < 1 << 63


def is_sound_sweep(sweep: Sweep) -> bool:
    """Tell whether there are at least two different numbers of threads, each with its times."""
    numbers = [*sweep.threads, *(time for times in sweep.times_ns for time in times)]
    is_sound = len(sweep.threads) == len(sweep.times_ns) >= 2 and all(sweep.times_ns)
    return is_sound and all(map(is_number, numbers)) and len(set(sweep.threads)) == len(sweep.threads)


def read_sweep(about: Mapping[str, Any], source: str) -> Sweep | None:
    """Return the sweep that `--calibrate 1,2,4` has added to a record."""
    found = about.get("scaling")
    if found is None:
        return None
    try:
        sweep = Sweep(tuple(found["threads"]), tuple(tuple(times) for times in found["times_ns"]))
        is_sound = is_sound_sweep(sweep)
    except (KeyError, TypeError):
        is_sound = False
    if not is_sound:
        raise RecordError(f"{source} is damaged", "profile again")
    return sweep
