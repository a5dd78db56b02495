# SPDX-License-Identifier: MIT
"""The two experiments: run stock and Lapwing in turn, gather times, calculate the measures."""

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lapwing.bench import measures
from lapwing.bench.place import Place
from lapwing.bench.plan import Point
from lapwing.bench.wire import SILENCE_S, TURNS, measure_wire

VARIANTS = ("stock", "lapwing")
WIRE_TURN_S = 0.04
WIRE_LEAST_BYTES = 65536
WIRE_SLOWNESS = 10  # a stream that takes so many times as long as the link's rate allows does not go on
WIRE_START_S = 30.0

Advance = Callable[[], None]
Samples = dict[tuple[str, int], list[Mapping[str, Any]]]


def gather(place: Place, program: Sequence[str], points: Sequence[Point], rounds: int, advance: Advance) -> Samples:
    """Run both variants in turn; return for each variant and point number what the program printed."""
    samples: Samples = defaultdict(list)
    for _ in range(rounds):
        for variant in VARIANTS:
            rows = run_points(place, variant == "lapwing", program, len(points), advance)
            for number in range(len(points)):
                samples[variant, number].append(rows[number])
    return samples


def run_points(
    place: Place, with_lapwing: bool, program: Sequence[str], point_count: int, advance: Advance
) -> list[Mapping[str, Any]]:
    """Run the program once; return its lines of JSON."""
    lines = place.run(with_lapwing, program, point_count, lambda line: advance())
    return [json.loads(line) for line in lines]


def collect(rows: Sequence[Mapping[str, Any]], key: str) -> list[float]:
    """Return one quantity's values of all rounds."""
    return [value for row in rows for value in row[key]]


def run_pingpong(place: Place, program: Path, points: Sequence[Point], rounds: int, advance: Advance) -> list[Any]:
    """Measure round trips without computation."""
    line = [str(program), *(str(word) for point in points for word in (point.size_bytes, point.repetitions))]
    samples = gather(place, line, points, rounds, advance)
    results = []
    for number, point in enumerate(points):
        spreads = {name: measures.summarise(collect(samples[name, number], "round_trip_us")) for name in VARIANTS}
        results.append(
            {
                "size_bytes": point.size_bytes,
                **{f"{name}_us": spread.as_json() for name, spread in spreads.items()},
                "ratio": spreads["lapwing"].median / spreads["stock"].median,
            }
        )
    return results


def calibrate(place: Place, program: Path, words: Sequence[str] = ()) -> float:
    """Return the units of work that take a microsecond, on the slowest host."""
    lines = place.run_alone([str(program), "--calibrate", *words])
    return min(float(json.loads(line)["units_per_ms"]) for line in lines) / 1000


def run_overlap(
    place: Place, program: Path, points: Sequence[Point], rounds: int, wire: "WireCost | None", advance: Advance
) -> list[Any]:
    """Measure how much computation fits beside the messages."""
    units_per_us = calibrate(place, program) / place.ranks_per_core
    words = [
        word
        for point in points
        for word in (max(1, round(point.compute_us * units_per_us)), point.size_bytes, point.repetitions)
    ]
    samples = gather(place, [str(program), *map(str, words)], points, rounds, advance)
    return [
        describe_point(point, {name: samples[name, number] for name in VARIANTS}, wire, place.ranks_per_core)
        for number, point in enumerate(points)
    ]


def summarise_variant(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Summarise one variant's times at one point."""
    keys = ("comm_us", "comp_us", "both_us", "comm_processor_us")
    return {key: measures.summarise(collect(rows, key)).as_json() for key in keys}


def describe_variant(times: Mapping[str, Any], comm: float, comp: float) -> dict[str, Any]:
    """Calculate one variant's overlap: by stock's comm and comp, and by its own."""
    own_comm, own_comp, both = (times[key]["median"] for key in ("comm_us", "comp_us", "both_us"))
    return {
        **times,
        "overlap": measures.calculate_overlap(comm, comp, both),
        "overlap_with_own_times": measures.calculate_overlap(own_comm, own_comp, both),
    }


def describe_point(
    point: Point,
    rows: Mapping[str, Sequence[Mapping[str, Any]]],
    wire: "WireCost | None",
    ranks_per_core: int = 1,
) -> dict[str, Any]:
    """Calculate the measures of one point; overlaps, optimum and limits are by what the stock runs take alone."""
    times = {name: summarise_variant(rows[name]) for name in VARIANTS}
    comm, comp = (times["stock"][key]["median"] for key in ("comm_us", "comp_us"))
    stock, lapwing = (describe_variant(times[name], comm, comp) for name in VARIANTS)
    both = lapwing["both_us"]["median"]
    result = {
        "size_bytes": point.size_bytes,
        "compute_us": point.compute_us,
        "stock": stock,
        "lapwing": lapwing,
        "optimum_us": measures.calculate_optimum(comm, comp),
        "overlap_with_stock_times": lapwing["overlap"],
        "speedup": measures.calculate_speedup(stock["both_us"]["median"], both),
        "speedup_optimum": stock["both_us"]["median"] / measures.calculate_optimum(comm, comp),
    }
    if wire is not None:
        processor = wire.round_trip_us(point.size_bytes) * ranks_per_core
        result["transfer_processor_us"] = processor
        result["limit_shared_core_us"] = measures.calculate_shared_limit(comm, comp, processor)
        result["share_of_shared_core_limit"] = measures.calculate_limit_share(comm, comp, both, processor)
    return result


class WireCost:
    """What carrying bytes takes from work on the same core, at each end."""

    def __init__(self, receive_us_per_byte: float, send_us_per_byte: float) -> None:
        self.receive_us_per_byte = receive_us_per_byte
        self.send_us_per_byte = send_us_per_byte

    def round_trip_us(self, size_bytes: int) -> float:
        """Return what a message there and back costs each core: it sends once and receives once."""
        return size_bytes * (self.receive_us_per_byte + self.send_us_per_byte)


def measure_wire_cost(place: Place, bits_per_s: float) -> WireCost | None:
    """Measure what the lab's link costs; there is none in shared memory."""
    if place.network is None:
        return None
    length_bytes = max(WIRE_LEAST_BYTES, int(bits_per_s / 8 * WIRE_TURN_S))
    receiver, sender = place.network.hosts[:2]
    wire = [sys.executable, "-P", "-m", "lapwing.bench.wire"]
    lines = [
        host.enter([*wire, end, receiver.address, str(length_bytes)], str(Path.cwd()))
        for host, end in ((receiver, "listen"), (sender, "connect"))
    ]
    limit_s = WIRE_START_S + WIRE_SLOWNESS * TURNS * (SILENCE_S + length_bytes * 8 / bits_per_s)
    receive_s, send_s = measure_wire(lines[0], lines[1], limit_s)
    return WireCost(receive_s * 1e6 / length_bytes, send_s * 1e6 / length_bytes)
