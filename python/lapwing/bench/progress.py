# SPDX-License-Identifier: MIT
"""Nonblocking operations beside computation: MPI libraries as they come, with their threads, under Lapwing."""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from lapwing.bench import measures
from lapwing.bench.contenders import STOCK, Contender
from lapwing.bench.experiments import WireCost, calibrate, collect
from lapwing.bench.place import Place
from lapwing.bench.plan import check_names, choose_repetitions
from lapwing.errors import LapwingError

WORKS = ("processor", "memory")
OPERATIONS = ("isend", "exchange", "ialltoall", "iallreduce", "ibcast")
TIMES = ("comm_us", "comp_us", "both_us", "start_us", "work_us", "wait_us")
SMALL_BYTES = 8
SMALL_REPETITIONS = 30  # each is already a mean over a hundred messages and more
IDLE_US = 50_000
IDLE_REPETITIONS = 5
PILOT_REPETITIONS = 5
START_S = 60.0
POINT_LIMIT = 5  # times the cap: a contender that is that much slower than planned is repeated less often

Advance = Callable[[], None]


@dataclass(frozen=True)
class Task:
    """One line of the program's output."""

    operation: str
    size_bytes: int
    compute_us: float  # when all ranks compute at the same time
    repetitions: int

    def words(self, units_per_us: float) -> list[str]:
        """Return its arguments; idle sleeps, and for the small messages there is no work."""
        units = self.compute_us if self.operation == "idle" else self.compute_us * units_per_us
        return [self.operation, str(max(1, round(units))), str(self.size_bytes), str(self.repetitions)]


SMALL = (
    Task("latency", SMALL_BYTES, 0, SMALL_REPETITIONS),
    Task("rate", SMALL_BYTES, 0, SMALL_REPETITIONS),
    Task("idle", 0, IDLE_US, IDLE_REPETITIONS),
)


@dataclass
class Entry:
    """One MPI that takes part."""

    label: str
    place: Place
    program: Path
    contenders: Sequence[Contender]
    work: str = WORKS[0]
    ranks_per_core: int = 1
    cap_s: float = 1.0  # of a point
    units_per_us: float = 0  # of one rank while all compute
    tasks: Sequence[Task] = ()

    def run(self, contender: Contender, tasks: Sequence[Task]) -> list[Mapping[str, Any]]:
        """Run the tasks once in a contender's way."""
        words = [word for task in tasks for word in task.words(self.units_per_us)]
        line = [str(self.program), self.work, f"{POINT_LIMIT * self.cap_s:g}", *words]
        lines = self.place.run_as(contender, line, len(tasks))
        return [json.loads(line) for line in lines]


def parse_operations(text: str) -> list[str]:
    """Read a list of operations."""
    return check_names(text.split(","), OPERATIONS, "operation")


def prepare_entry(
    entry: Entry, operations: Sequence[str], sizes: Sequence[int], computes: Sequence[float], limit: int
) -> None:
    """Calibrate the work and choose the tasks; without given work it is as long as the stock operation."""
    entry.units_per_us = calibrate(entry.place, entry.program, [entry.work]) / entry.ranks_per_core
    pairs = [(operation, size) for operation in operations for size in sizes]
    pilot = entry.run(Contender(STOCK), [Task(name, size, 1, PILOT_REPETITIONS) for name, size in pairs])
    comm_us = [median(row["comm_us"]) for row in pilot]
    works = [computes or [round(once_us)] for once_us in comm_us]
    entry.tasks = [
        Task(name, size, work_us, choose_repetitions(2 * (once_us + work_us), limit, entry.cap_s))
        for (name, size), once_us, row in zip(pairs, comm_us, works, strict=True)
        for work_us in row
    ]
    entry.place.limit_s = START_S + 4 * POINT_LIMIT * entry.cap_s * (len(entry.tasks) + len(SMALL))


@dataclass
class Samples:
    """What all runs printed, and which could not be made."""

    rows: dict[tuple[str, str, int], list[Mapping[str, Any]]]
    failures: dict[tuple[str, str], str]
    labels: dict[tuple[str, str], str] = field(default_factory=dict)  # with the strategy that the runs really had


def gather(entries: Sequence[Entry], rounds: int, advance: Advance) -> Samples:
    """Run all contenders in turn, as often as there are rounds; who fails once is left out from then on."""
    samples = Samples(defaultdict(list), {})
    for _ in range(rounds):
        for entry in entries:
            for contender in entry.contenders:
                gather_once(entry, contender, samples)
                advance()
    return samples


def gather_once(entry: Entry, contender: Contender, samples: Samples) -> None:
    """Run one contender once."""
    if (entry.label, contender.name) in samples.failures:
        return
    try:
        rows = entry.run(contender, [*entry.tasks, *SMALL])
    except LapwingError as error:
        samples.failures[entry.label, contender.name] = error.message
        return
    samples.labels[entry.label, contender.name] = entry.place.name_run(contender)
    for number, row in enumerate(rows):
        samples.rows[entry.label, contender.name, number].append(row)


def count_bytes(operation: str, size_bytes: int, ranks: int) -> list[tuple[float, float]]:
    """Return the bytes that a rank sends and receives at least, for each kind of rank."""
    if operation in ("isend", "ibcast"):
        return [(size_bytes, 0), (0, size_bytes)]
    if operation == "exchange":
        return [(size_bytes, size_bytes)]
    share = (ranks - 1) * size_bytes if operation == "ialltoall" else 2 * (ranks - 1) / ranks * size_bytes
    return [(share, share)]


def calculate_processor_us(wire: WireCost, task: Task, ranks: int, ranks_per_core: int) -> float:
    """Return what the transfer itself costs the busiest core."""
    costs = [
        sent * wire.send_us_per_byte + received * wire.receive_us_per_byte
        for sent, received in count_bytes(task.operation, task.size_bytes, ranks)
    ]
    return max(costs) * ranks_per_core


def summarise_times(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Summarise one contender at one task."""
    spreads = {key: measures.summarise(collect(rows, key)).as_json() for key in TIMES}
    both, helpers = collect(rows, "both_us"), collect(rows, "both_helpers_us")
    return {**spreads, "helpers_share": median(part / whole for part, whole in zip(helpers, both, strict=True))}


def describe_task(task: Task, times: Mapping[str, dict[str, Any]], processor_us: float | None) -> list[dict[str, Any]]:
    """Calculate the measures of all contenders at one task; what they are measured by are stock's times."""
    stock = times[STOCK]
    comm, comp = stock["comm_us"]["median"], stock["comp_us"]["median"]
    return [
        {
            "contender": name,
            "operation": task.operation,
            "size_bytes": task.size_bytes,
            "compute_us": task.compute_us,
            **row,
            "overlap": measures.calculate_overlap(comm, comp, row["both_us"]["median"]),
            "overlap_with_own_times": measures.calculate_overlap(
                *(row[key]["median"] for key in ("comm_us", "comp_us", "both_us"))
            ),
            "speedup": measures.calculate_speedup(stock["both_us"]["median"], row["both_us"]["median"]),
            "comm_ratio": row["comm_us"]["median"] / comm,
            "slowdown": row["work_us"]["median"] / comp,
            "optimum_us": measures.calculate_optimum(comm, comp),
            **describe_limit(comm, comp, row["both_us"]["median"], processor_us),
        }
        for name, row in times.items()
    ]


def describe_limit(comm: float, comp: float, both: float, processor_us: float | None) -> dict[str, float | None]:
    """Calculate what the transfer's own processor time allows, where that time is known."""
    if processor_us is None:
        return {}
    return {
        "transfer_processor_us": processor_us,
        "limit_shared_core_us": measures.calculate_shared_limit(comm, comp, processor_us),
        "share_of_shared_core_limit": measures.calculate_limit_share(comm, comp, both, processor_us),
    }


def compare_launches(
    rows: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]], key: str, choose: Callable[..., float]
) -> float:
    """Return the ratio of the best launches: launches of one program differ by 1.4 in latency, stock's as well."""
    best, best_other = (choose(median(row[key]) for row in some) for some in (rows, others))
    return best / best_other


def describe_small(rows: Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]]) -> list[dict[str, Any]]:
    """Summarise small messages and idle time; keys: contender, then latency, rate, idle."""
    spreads = {
        name: {task.operation: measures.summarise(collect(of_one[task.operation], task.operation)) for task in SMALL}
        for name, of_one in rows.items()
    }
    stock = rows[STOCK]
    return [
        {
            "contender": name,
            "latency_us": row["latency"].as_json(),
            "messages_per_s": row["rate"].as_json(),
            "idle_share": row["idle"].as_json(),
            "latency_ratio": compare_launches(rows[name]["latency"], stock["latency"], "latency", min),
            "rate_ratio": compare_launches(rows[name]["rate"], stock["rate"], "rate", max),
        }
        for name, row in spreads.items()
    ]


def find_disturbance(points: Sequence[Mapping[str, Any]]) -> float:
    """Return how many times longer than calibrated stock's work took, at its worst; 1 on a quiet machine."""
    return max((p["comp_us"]["median"] / p["compute_us"] for p in points if p["contender"] == STOCK), default=1.0)


def describe_entry(entry: Entry, samples: Samples, wire: WireCost | None) -> dict[str, Any]:
    """Calculate everything about one MPI."""
    failures = {name: cause for (label, name), cause in samples.failures.items() if label == entry.label}
    names = [contender.name for contender in entry.contenders if contender.name not in failures]
    result: dict[str, Any] = {"mpi": entry.label, "launcher": entry.place.mpi.launcher.path, "failures": failures}
    if STOCK not in names:
        return {**result, "points": [], "small": []}
    points = []
    ranks = entry.place.rank_count
    for number, task in enumerate(entry.tasks):
        times = {name: summarise_times(samples.rows[entry.label, name, number]) for name in names}
        processor_us = calculate_processor_us(wire, task, ranks, entry.ranks_per_core) if wire is not None else None
        points += describe_task(task, times, processor_us)
    first = len(entry.tasks)
    small = {
        name: {task.operation: samples.rows[entry.label, name, first + place] for place, task in enumerate(SMALL)}
        for name in names
    }
    result["disturbed"] = find_disturbance(points)
    result["ranks_per_core"] = entry.ranks_per_core
    rows = [*points, *describe_small(small)]
    for row in rows:
        row["label"] = samples.labels.get((entry.label, row["contender"]), row["contender"])
    return {**result, "points": points, "small": rows[len(points) :]}
