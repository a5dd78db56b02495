# SPDX-License-Identifier: MIT
"""Measures the LogGP parameters of one route, and holds them against round trips that no parameter was made of."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, median
from typing import Any

from lapwing.bench.contenders import STOCK, Contender
from lapwing.bench.place import Place
from lapwing.errors import LapwingError
from lapwing.model.system import Check, Estimate, Exchange, Route
from lapwing.probe.fit import (
    estimate_latency,
    estimate_median,
    find_intervals,
    list_remarks,
    make_size,
    read_rows,
)
from lapwing.probe.run import LARGEST_EAGER_BYTES, LIMIT_S, explain_no_pair, run_program

SMALLEST_BYTES, LARGEST_BYTES = 8, 64 << 20
# Between powers of two there is a size more where protocols and buffers end.
DENSE_BYTES = (512, 8 << 20)
CALLS_MAX_BYTES = 1 << 20  # bench/loggp.c times the calls of no larger messages
CAP_US, REPETITIONS = 50_000, 2000
# One after the other, since no two are quite alike: more where they take little time.
SMALL_BYTES, SMALL_JOBS, LARGE_JOBS = 4 << 20, 7, 2
# Messages take turns by chance: more of them than of round trips.
EXCHANGES, EXCHANGE_BYTES, EXCHANGE_JOBS, EXCHANGE_CAP_US = "exchanges", (64 << 10, 4 << 20), 3, 200_000
AS_IT_COMES = Contender(STOCK)
# All calls wait as the MPI's do: what differs is how messages travel.
PROGRESS_ALONE = Contender(
    "lapwing", options=("--sends", "off", "--receives", "off", "--collectives", "off", "--waits", "off")
)


@dataclass(frozen=True)
class Ground:
    """What is known of a route beforehand."""

    where: str
    transport: str
    rate: str
    with_names: bool
    jobs: int = SMALL_JOBS


def choose_fit_sizes(eager_bytes: int, largest_bytes: int) -> list[int]:
    """Return the sizes to measure: powers of two, some between, and both sides of the eager limit."""
    powers = [1 << bits for bits in range(SMALLEST_BYTES.bit_length() - 1, largest_bytes.bit_length())]
    between = [size * 3 // 2 for size in powers if DENSE_BYTES[0] <= size <= DENSE_BYTES[1]]
    # The limit is found to less than a percent, and is the lower end.
    limits = [eager_bytes, eager_bytes * 102 // 100 + 1] if 0 < eager_bytes < LARGEST_EAGER_BYTES else []
    near = {size for size in powers if eager_bytes < size < eager_bytes * 1.03}
    return sorted({*powers, *between, *limits} - near)


def choose_check_sizes(largest_bytes: int) -> list[int]:
    """Return other sizes, and both ends."""
    powers = [1 << bits for bits in range(SMALLEST_BYTES.bit_length(), largest_bytes.bit_length() - 1, 2)]
    return [SMALLEST_BYTES, *(size * 5 // 4 for size in powers), largest_bytes]


def make_fingerprint(hosts: Sequence[str], library: str) -> str:
    """Return what is the same for the same hosts and MPI, and tells no names."""
    return hashlib.sha256("\n".join([*hosts, library]).encode()).hexdigest()[:16]


def measure_rows(
    place: Place,
    program: Path,
    where: str,
    kinds: str,
    sizes: Sequence[int],
    contender: Contender = AS_IT_COMES,
) -> list[Mapping[str, Any]]:
    """Run the program; return what it printed after the line that names the pair."""
    cap_us = EXCHANGE_CAP_US if kinds == EXCHANGES else CAP_US
    words = [str(program), where, kinds, str(cap_us), str(REPETITIONS), *map(str, sizes)]
    with_calls = sum(size <= CALLS_MAX_BYTES for size in sizes) if kinds == "all" else 0
    # Real links may be slow: a megabyte per second is waited for.
    place.limit_s = LIMIT_S + len(sizes) * cap_us * 2e-6 + sum(sizes) * 1.6e-5
    return run_program(place, contender, words, 2 + len(sizes) + with_calls)


def measure_jobs(
    place: Place, program: Path, ground: Ground, kinds: str, sizes: Sequence[int]
) -> list[Mapping[str, Any]]:
    """Run the program several times; return what all of these jobs printed."""
    small = [size for size in sizes if size <= SMALL_BYTES]
    large = [size for size in sizes if size > SMALL_BYTES]
    jobs = [*([small] * ground.jobs), *([large] * min(ground.jobs, LARGE_JOBS))]
    return [row for part in jobs if part for row in measure_rows(place, program, ground.where, kinds, part)[1:]]


def check_route(place: Place, program: Path, ground: Ground, route: Route, sizes: Sequence[int]) -> Route:
    """Measure round trips anew, in other jobs and of other sizes."""
    halves, _ = read_rows(measure_jobs(place, program, ground, "round-trips", sizes))
    checks = [
        Check(size, estimate_median([2 * half for half in sample]), 2 * route.predict_half_trip_us(size))
        for size, sample in halves.items()
    ]
    return replace(route, checks=tuple(checks))


def choose_exchange_sizes(eager_bytes: int, largest_bytes: int) -> list[int]:
    """Return the sizes of messages that cross: powers of two beyond the eager limit."""
    powers = [1 << bits for bits in range(EXCHANGE_BYTES[0].bit_length() - 1, EXCHANGE_BYTES[1].bit_length())]
    return [size for size in powers if eager_bytes < size <= largest_bytes]


def estimate_mean(jobs: Sequence[Mapping[str, Any]]) -> Estimate:
    """Return the time of an exchange: messages take turns or do not by chance, so that the mean of a job counts."""
    means = [mean(job["exchange_us"]) for job in jobs]
    return Estimate(median(means), min(means), max(means))


def select_size(rows: Sequence[Mapping[str, Any]], size_bytes: int) -> list[Mapping[str, Any]]:
    """Return the rows of messages of one size, one of each job."""
    return [row for row in rows if row.get("size_bytes") == size_bytes]


def measure_exchanges(
    place: Place, program: Path, ground: Ground, eager_bytes: int, largest_bytes: int
) -> tuple[Exchange, ...]:
    """Let both ranks send at once: as the MPI does it and under Lapwing, in turn."""
    sizes = choose_exchange_sizes(eager_bytes, largest_bytes)
    contenders = (AS_IT_COMES, PROGRESS_ALONE)
    rows: dict[str, list[Mapping[str, Any]]] = {contender.name: [] for contender in contenders}
    for _ in range(min(ground.jobs, EXCHANGE_JOBS) if sizes else 0):
        for contender in contenders:
            rows[contender.name] += measure_rows(place, program, ground.where, EXCHANGES, sizes, contender)[1:]
    return tuple(
        Exchange(size, *(estimate_mean(select_size(rows[contender.name], size)) for contender in contenders))
        for size in sizes
    )


def make_route(ground: Ground, head: Mapping[str, Any], eager_bytes: int, rows: Sequence[Mapping[str, Any]]) -> Route:
    """Make the parameters of what was printed."""
    halves, calls = read_rows(rows)
    sizes = [make_size(size, halves[size], calls.get(size), size <= eager_bytes) for size in sorted(halves)]
    latency = estimate_latency(sizes[0])
    return Route(
        where=ground.where,
        transport=ground.transport,
        rate=ground.rate,
        eager_bytes=eager_bytes,
        latency_us=latency,
        sizes=tuple(sizes),
        intervals=tuple(find_intervals(halves, eager_bytes)),
        fingerprint=make_fingerprint(head["hosts"], head["library"]),
        hosts=tuple(head["hosts"]) if ground.with_names else (),
        remarks=tuple(list_remarks(sizes, latency, eager_bytes)),
    )


def find_eager_bytes(place: Place, program: Path, where: str) -> tuple[Mapping[str, Any], int | None]:
    """Return what the probe says of the pair, and up to which size sends need nobody; None without a pair."""
    place.limit_s = LIMIT_S
    rows = run_program(place, Contender(STOCK), [str(program), where, "eager", str(LARGEST_EAGER_BYTES)], 2)
    return rows[0], int(rows[1]["eager_bytes"]) if rows[0]["pair"] is not None else None


def measure_route(
    place: Place, programs: tuple[Path, Path], ground: Ground, largest_bytes: int = LARGEST_BYTES
) -> tuple[Route | None, str]:
    """Measure one route; return it and the library's name, or None and why there is none.

    programs: probe and loggp.
    """
    probe, loggp = programs
    try:
        head, eager_bytes = find_eager_bytes(place, probe, ground.where)
        if eager_bytes is None:
            return None, explain_no_pair({**head, "hosts": ["one host"]}, ground.where)
        sizes = choose_fit_sizes(eager_bytes, largest_bytes)
        route = make_route(ground, head, eager_bytes, measure_jobs(place, loggp, ground, "all", sizes))
        route = check_route(place, loggp, ground, route, choose_check_sizes(largest_bytes))
        exchanges = measure_exchanges(place, loggp, ground, eager_bytes, largest_bytes)
        return replace(route, exchanges=exchanges), str(head["library"])
    except LapwingError as error:
        return None, error.message
