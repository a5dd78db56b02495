# SPDX-License-Identifier: MIT
"""How often each point of an experiment is repeated, so that the whole ends in reasonable time."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import inf

from lapwing.errors import LapwingError
from lapwing.lab.network import parse_rate
from lapwing.options import parse_bytes

LATENCY_US = 60.0
MEMORY_BITS_PER_S = 16e9  # what an unshaped link or shared memory carries, roughly
REPETITIONS_MIN = 3
MESSAGE_MAX_BYTES = 1 << 30


@dataclass(frozen=True)
class Point:
    """One size with one amount of work."""

    compute_us: float
    size_bytes: int
    repetitions: int


def check_names(words: Iterable[str], known: Collection[str], kind: str) -> list[str]:
    """Return names of one kind, or say which one does not exist."""
    names = list(words)
    for name in names:
        if name not in known:
            raise LapwingError(f"there is no {kind} {name!r}", f"choose from {', '.join(known)}")
    return names


def parse_sizes(text: str) -> list[int]:
    """Read sizes: a list 4KiB,1MiB, or a range 4KiB:64MiB or 4KiB:64MiB:4, whose last part is the factor."""
    if ":" not in text:
        sizes = [parse_bytes(word) for word in text.split(",")]
    else:
        low, high, factor, *rest = [parse_bytes(word) for word in [*text.split(":"), "2"]]
        # of three parts the default factor is left over
        sizes = expand_range(low, high, factor) if len(rest) <= 1 else []
    if not sizes or min(sizes) < 1 or max(sizes) > MESSAGE_MAX_BYTES:
        raise LapwingError(
            f"{text!r} holds no usable sizes", "give sizes from 1 byte to 1 GiB, for example 4KiB:64MiB:4"
        )
    return sizes


def expand_range(low: int, high: int, factor: int) -> list[int]:
    """Return low, low * factor, ... up to high."""
    if factor < 2 or low < 1:
        raise LapwingError("a range of sizes needs a factor of at least 2", "write for example 4KiB:64MiB:4")
    sizes = []
    while low <= high:
        sizes.append(low)
        low *= factor
    return sizes


def parse_computes(text: str) -> list[float]:
    """Read the computing times of one half, in microseconds."""
    try:
        computes = [float(word) for word in text.split(",")]
    except ValueError:
        computes = []
    if not computes or not all(0 < compute_us < inf for compute_us in computes):
        raise LapwingError(f"{text!r} is no list of microseconds", "write for example 200,2000,20000")
    return computes


def parse_compute(text: str) -> float:
    """Read one computing time, in microseconds."""
    if "," in text:
        raise LapwingError(f"{text!r} is no number of microseconds", "write one, for example 5000")
    return parse_computes(text)[0]


def estimate_round_trip_us(size_bytes: int, rate: str) -> float:
    """Guess how long a message takes there and back."""
    bits_per_s = MEMORY_BITS_PER_S if rate == "none" else parse_rate(rate)
    return 2 * (size_bytes * 8e6 / bits_per_s + LATENCY_US)


def choose_repetitions(once_us: float, limit: int, cap_s: float) -> int:
    """Return as many repetitions as the time cap allows, within bounds."""
    return max(REPETITIONS_MIN, min(limit, int(cap_s * 1e6 / once_us)))


def plan_overlap(computes: Sequence[float], sizes: Sequence[int], rate: str, limit: int, cap_s: float) -> list[Point]:
    """Plan the overlap experiment: each repetition takes messages twice and work twice."""
    points = []
    for compute_us in computes:
        for size_bytes in sizes:
            once_us = 2 * estimate_round_trip_us(size_bytes, rate) + 4 * compute_us
            points.append(Point(compute_us, size_bytes, choose_repetitions(once_us, limit, cap_s)))
    return points


def plan_pingpong(sizes: Sequence[int], rate: str, limit: int, cap_s: float) -> list[Point]:
    """Plan the ping-pong experiment."""
    return [Point(0, size, choose_repetitions(estimate_round_trip_us(size, rate), limit, cap_s)) for size in sizes]
