# SPDX-License-Identifier: MIT
"""From times to LogGP parameters: medians with bounds, straight lines, and where one line ends and the next begins."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from lapwing.bench.interval import bound_median
from lapwing.model.system import EAGER, RENDEZVOUS, Estimate, Interval, SizeParameters

# How far the median of some round trips lies off the line by chance, as a part of itself.
SCATTER = 0.01
# What one more line must save, in squares of SCATTER: 12 is some 3 SCATTER at one size, and more than chance gives.
LINE_PRICE = 12.0
POINTS_MIN = 3  # of a line, where there are so many
QUIET_JOBS = 2
DRAWS = 100
DRAWN_MAX = 200  # of a sample's times: more would only take longer
CALLS = (
    "isend_us",
    "isend_wait_us",
    "irecv_us",
    "irecv_wait_us",
    "send_us",
    "recv_us",
    "gap_send_us",
    "gap_receive_us",
)
RECEIVED = "received_us"  # MPI_Irecv and the MPI_Wait of the same message

Point = tuple[int, float]
Sample = Sequence[float]


@dataclass(frozen=True)
class Line:
    """A time that grows with the size: base_us at first_bytes."""

    first_bytes: int
    base_us: float
    byte_us: float

    def calculate_us(self, size_bytes: float) -> float:
        """Return the time of a size."""
        return self.base_us + (size_bytes - self.first_bytes) * self.byte_us


def combine(jobs: Sequence[Sample]) -> list[float]:
    """Return one sample of several jobs: those that were disturbed least, by their medians.

    What disturbs a job makes it slower for a while, and never faster. Two that agree were not disturbed; where two do
    not agree, the bounds are wide.
    """
    quietest = sorted(jobs, key=median)[:QUIET_JOBS]
    return [time_us for times in quietest for time_us in times]


def estimate_median(sample: Sample) -> Estimate:
    """Return the median with bounds that hold with 95 % each; the extremes where there are fewer than five times."""
    bounds = bound_median(sample, ())
    low, high = (bounds.low, bounds.high) if bounds else (min(sample), max(sample))
    return Estimate(median(sample), low, high)


def fit_line(points: Sequence[Point]) -> Line:
    """Return the line with the least squares of relative errors that neither falls nor begins below zero."""
    first, weights = points[0][0], [1 / time_us**2 for _, time_us in points]
    whole = sum(weights)
    mean_x = sum(w * (size - first) for w, (size, _) in zip(weights, points, strict=True)) / whole
    mean_y = sum(w * time_us for w, (_, time_us) in zip(weights, points, strict=True)) / whole
    squares = sum(w * (size - first - mean_x) ** 2 for w, (size, _) in zip(weights, points, strict=True))
    product = sum(
        w * (size - first - mean_x) * (time_us - mean_y) for w, (size, time_us) in zip(weights, points, strict=True)
    )
    slope = max(0.0, product / squares) if squares > 0 else 0.0
    base = mean_y - slope * mean_x
    return Line(first, base, slope) if base >= 0 else Line(first, 0.0, mean_y / mean_x)


def measure_misfit(points: Sequence[Point]) -> float:
    """Return the squares of what the best line misses, in SCATTER."""
    line = fit_line(points)
    return sum(((line.calculate_us(size) / time_us - 1) / SCATTER) ** 2 for size, time_us in points)


def cut_into_lines(points: Sequence[Point]) -> list[tuple[int, int]]:
    """Return the beginnings and ends of the lines that fit best, as few as that takes (dynamic programming)."""
    count, least = len(points), max(1, min(POINTS_MIN, len(points)))
    best: list[tuple[float, int]] = [(0.0, 0)] + [(float("inf"), 0)] * count
    for end in range(least, count + 1):
        for begin in range(end - least + 1):
            if best[begin][0] < float("inf"):
                price = best[begin][0] + measure_misfit(points[begin:end]) + LINE_PRICE
                best[end] = min(best[end], (price, begin))
    cuts, end = [], count
    while end > 0:
        cuts.append((best[end][1], end))
        end = best[end][1]
    return cuts[::-1]


def draw_lines(sizes: Sequence[int], samples: Sequence[Sample], draws: int = DRAWS) -> list[Line]:
    """Return the lines of samples that are drawn from the samples (bootstrap); the same ones each time."""
    chance = random.Random(1)
    thinned = [sample[:: -(-len(sample) // DRAWN_MAX)] for sample in samples]

    def draw() -> list[Point]:
        pairs = zip(sizes, thinned, strict=True)
        return [(size, median(chance.choices(sample, k=len(sample)))) for size, sample in pairs]

    return [fit_line(draw()) for _ in range(draws)]


def bound(value: float, drawn: Sequence[float]) -> Estimate:
    """Return a number with bounds: each leaves out 5 % of what was drawn."""
    ordered = sorted(drawn)
    rank = len(ordered) // 20
    return Estimate(value, min(value, ordered[rank]), max(value, ordered[-1 - rank]))


def make_interval(protocol: str, sizes: Sequence[int], samples: Sequence[Sample]) -> Interval:
    """Fit one line."""
    line = fit_line([(size, median(sample)) for size, sample in zip(sizes, samples, strict=True)])
    drawn = draw_lines(sizes, samples)
    base = bound(line.base_us, [other.base_us for other in drawn])
    slope = bound(line.byte_us * 1e3, [other.byte_us * 1e3 for other in drawn])
    return Interval(protocol, sizes[0], sizes[-1], base, slope)


def find_intervals(half_trips_us: Mapping[int, Sample], eager_bytes: int) -> list[Interval]:
    """Return the lines of each protocol. half_trips_us: by size."""
    found = []
    for protocol in (EAGER, RENDEZVOUS):
        sizes = sorted(size for size in half_trips_us if (size <= eager_bytes) == (protocol == EAGER))
        points = [(size, median(half_trips_us[size])) for size in sizes]
        for begin, end in cut_into_lines(points):
            part = sizes[begin:end]
            found.append(make_interval(protocol, part, [half_trips_us[size] for size in part]))
    return found


def subtract(clock_us: float, sample: Sample) -> list[float]:
    """Take away what reading the clock took."""
    return [max(0.0, time_us - clock_us) for time_us in sample]


def add(first: Sample, second: Sample) -> list[float]:
    """Add the times of each repetition."""
    return [a + b for a, b in zip(first, second, strict=True)]


def make_size(
    size_bytes: int, half_trip_us: Sample, calls: Mapping[str, Sample] | None, is_eager: bool
) -> SizeParameters:
    """Return the parameters of one size. calls: times by kind; None: only round trips were measured."""
    half = estimate_median(half_trip_us)
    if calls is None:
        return SizeParameters(size_bytes, half)
    return SizeParameters(
        size_bytes,
        half,
        o_s=estimate_median(calls["isend_us"]),
        o_r=estimate_median(calls[RECEIVED] if is_eager else calls["irecv_us"]),
        o_sb=estimate_median(calls["send_us"]) if is_eager else None,
        o_rb=estimate_median(calls["recv_us"]) if is_eager else None,
        g_s=estimate_median(calls["gap_send_us"]),
        g_r=estimate_median(calls["gap_receive_us"]),
    )


def estimate_latency(first: SizeParameters) -> Estimate:
    """Return L: what is left of half a round trip of the smallest message, 0 where its ends leave nothing.

    Both ends may work at once, where the sender's processor is not done when the message is there: L may then be what
    the longer overhead leaves, and that is its upper bound.
    """
    half, o_sb, o_rb = first.half_trip_us, first.o_sb, first.o_rb
    if o_sb is None or o_rb is None:
        return Estimate(half.value, 0.0, half.high)
    value = max(0.0, half.value - o_sb.value - o_rb.value)
    low = max(0.0, half.low - o_sb.high - o_rb.high)
    overheads_us = max(o_sb.low, o_rb.low) if low == 0 else o_sb.low + o_rb.low
    return Estimate(value, low, max(value, half.high - overheads_us))


def read_rows(rows: Sequence[Mapping[str, Any]]) -> tuple[dict[int, list[float]], dict[int, dict[str, list[float]]]]:
    """Return what the program printed, without the clock's time: halves of round trips, and calls, by size.

    The rows of several jobs may follow each other; combine() says what becomes of them.
    """
    clock_us = 0.0
    halves: dict[int, list[list[float]]] = {}
    calls: dict[int, dict[str, list[list[float]]]] = {}
    for row in rows:
        size = row.get("size_bytes")
        if size is None:
            clock_us = float(row["clock_us"])
        elif "round_trip_us" in row:
            halves.setdefault(size, []).append([us / 2 for us in subtract(clock_us, row["round_trip_us"])])
        else:
            known = calls.setdefault(size, {kind: [] for kind in (*CALLS, RECEIVED)})
            for kind in CALLS:
                known[kind].append(subtract(clock_us, row[kind]))
            known[RECEIVED].append(add(known["irecv_us"][-1], known["irecv_wait_us"][-1]))
    return (
        {size: combine(jobs) for size, jobs in halves.items()},
        {size: {kind: combine(jobs) for kind, jobs in known.items()} for size, known in calls.items()},
    )


def list_remarks(sizes: Sequence[SizeParameters], latency: Estimate, eager_bytes: int) -> list[str]:
    """Say what could not be told apart."""
    remarks = []
    if sizes[-1].size_bytes > eager_bytes:
        remarks.append(
            f"o_sb and o_rb above {eager_bytes} bytes, since a blocking call lasts until the transfer is over; o_s and "
            "o_r are the times of MPI_Isend and MPI_Irecv there, without what MPI_Wait takes from the processor"
        )
    if sizes[0].o_sb is None:
        remarks.append("L and o, since even the smallest message waits for its receiver: L has the overheads in it")
    elif latency.low == 0:
        remarks.append("L and o, since the overheads of both ends may take as long as half a round trip")
    return remarks
