# SPDX-License-Identifier: MIT
"""Blocking collectives beside work that does not need their data, and beside work that reads them in order."""

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

BLOCKING, NONBLOCKING = "blocking", "nonblocking"
LAPWING, STOCK_NONBLOCKING = "lapwing", "stock nonblocking"
APART, IN_ORDER = "apart", "in_order"
SHAPES = (APART, IN_ORDER)
FUNCTIONS = (
    "bcast",
    "allgather",
    "alltoall",
    "allreduce",
    "reduce",
    "gather",
    "scatter",
    "reduce_scatter_block",
    "allgatherv",
    "alltoallv",
)
USUAL_FUNCTIONS = FUNCTIONS[:4]
TYPES = ("int", "double")
BLOCK_BYTES = 64 << 10  # of the work in order
PIECES = 16  # in which the data could come, for the limit of work in order
WARM_UP = 2
PILOT_REPETITIONS = 3
PILOT_COMPUTE_US = 1.0
START_S = 60.0
SLOWER = 20  # a run may take so many times what was planned before it is ended

Advance = Callable[[], None]
Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Task:
    """One line of the program's output."""

    function: str
    size_bytes: int
    compute_us: float  # when all ranks compute at the same time
    repetitions: int

    def words(self, units_per_us: float) -> list[str]:
        """Return its arguments."""
        units = max(1, round(self.compute_us * units_per_us))
        return [self.function, str(units), str(self.size_bytes), str(self.repetitions)]


@dataclass(frozen=True)
class Way:
    """One way of running the program."""

    contender: Contender
    call: str = BLOCKING

    @property
    def name(self) -> str:
        """Return what to call it."""
        return self.contender.name


@dataclass
class Bench:
    """What all runs have in common."""

    place: Place
    program: Path
    type_name: str = TYPES[0]
    warm_up: int = WARM_UP
    calls: int = 1  # that follow each other before the work
    ranks_per_core: int = 1
    units_per_us: float = 0  # of one rank while all compute
    tasks: Sequence[Task] = field(default_factory=list)

    def run(self, way: Way, tasks: Sequence[Task], warm_up: int) -> list[Mapping[str, Any]]:
        """Run the tasks once in one way; wrong data end everything."""
        words = [word for task in tasks for word in task.words(self.units_per_us)]
        line = [str(self.program), way.call, self.type_name, str(warm_up), str(self.calls), *words]
        lines: list[str] = []
        try:
            self.place.run_as(way.contender, line, len(tasks), lines.append)
        except LapwingError:
            read_rows(way.name, lines)  # what the program itself says of it is better
            raise
        return read_rows(way.name, lines)


def read_rows(name: str, lines: Sequence[str]) -> list[Mapping[str, Any]]:
    """Return what the program printed, unless it found wrong data."""
    rows = [json.loads(line) for line in lines]
    for row in rows:
        if "error" in row:
            raise LapwingError(f"wrong data ({name}): {row['error']}", "report it, with this command line", 1)
    return rows


def parse_functions(text: str) -> list[str]:
    """Read a list of collectives."""
    return check_names(FUNCTIONS if text == "all" else text.split(","), FUNCTIONS, "collective")


def list_ways(options: Sequence[str], with_nonblocking: bool) -> list[Way]:
    """Return what runs in turn; stock is first."""
    ways = [Way(Contender(STOCK)), Way(Contender(LAPWING, options=list(options)))]
    return [*ways, Way(Contender(STOCK_NONBLOCKING), NONBLOCKING)] if with_nonblocking else ways


def plan_tasks(
    pairs: Sequence[tuple[str, int]], comm_us: Sequence[float], computes: Sequence[float], limit: int, cap_s: float
) -> list[Task]:
    """Choose work and repetitions; without given work it is as long as the collective alone."""
    return [
        Task(name, size, work_us, choose_repetitions(estimate_once_us(once_us, work_us), limit, cap_s))
        for (name, size), once_us in zip(pairs, comm_us, strict=True)
        for work_us in computes or [max(1, round(once_us))]
    ]


def estimate_once_us(comm_us: float, compute_us: float) -> float:
    """Return how long a repetition takes: three times the collectives, and four times the work."""
    return 3 * comm_us + 4 * compute_us


def prepare_bench(
    bench: Bench, pairs: Sequence[tuple[str, int]], computes: Sequence[float], limit: int, cap_s: float
) -> None:
    """Calibrate the work, and choose the tasks by how long stock's collectives take."""
    bench.units_per_us = calibrate(bench.place, bench.program) / bench.ranks_per_core
    pilots = [Task(name, size, PILOT_COMPUTE_US, PILOT_REPETITIONS) for name, size in pairs]
    comm_us = [median(row["comm_us"]) for row in bench.run(Way(Contender(STOCK)), pilots, 1)]
    bench.tasks = plan_tasks(pairs, comm_us, computes, limit, cap_s)
    by_pair = dict(zip(pairs, comm_us, strict=True))
    planned_us = sum(
        (task.repetitions + bench.warm_up) * estimate_once_us(by_pair[task.function, task.size_bytes], task.compute_us)
        for task in bench.tasks
    )
    bench.place.limit_s = START_S + SLOWER * planned_us * 1e-6


def gather(bench: Bench, ways: Sequence[Way], rounds: int, advance: Advance) -> dict[tuple[str, int], Rows]:
    """Run all ways in turn; return for each way and task number what the program printed."""
    samples: dict[tuple[str, int], list[Mapping[str, Any]]] = defaultdict(list)
    for _ in range(rounds):
        for way in ways:
            for number, row in enumerate(bench.run(way, bench.tasks, bench.warm_up)):
                samples[way.name, number].append(row)
            advance()
    return dict(samples)


def count_bytes(function: str, size_bytes: int, ranks: int) -> list[tuple[float, float]]:
    """Return the bytes that a rank sends and receives at least, for each kind of rank."""
    others = size_bytes * (ranks - 1)  # what all ranks but one receive
    of_functions: dict[str, list[tuple[float, float]]] = {
        "bcast": [(size_bytes, 0), (0, size_bytes)],
        "allgather": [(others / ranks, others / ranks)],
        "alltoall": [(others / ranks, others / ranks)],
        "allreduce": [(2 * others / ranks, 2 * others / ranks)],
        "allgatherv": [(others / ranks, others / ranks)],
        "alltoallv": [(others / ranks, others / ranks)],
        "reduce": [(size_bytes, 0), (0, size_bytes)],
        "gather": [(size_bytes / ranks, 0), (0, others / ranks)],
        "scatter": [(others, 0), (0, size_bytes)],
        "reduce_scatter_block": [(others, others)],
    }
    return of_functions[function]


def calculate_processor_us(wire: WireCost, task: Task, ranks: int, ranks_per_core: int) -> float:
    """Return what the transfer of one call costs the busiest core."""
    costs = [
        sent * wire.send_us_per_byte + received * wire.receive_us_per_byte
        for sent, received in count_bytes(task.function, task.size_bytes, ranks)
    ]
    return max(costs) * ranks_per_core


def count_pieces(size_bytes: int) -> int:
    """Return how many pieces the limit of work in order supposes: never less than a block of the work in each."""
    return max(1, min(PIECES, -(-size_bytes // BLOCK_BYTES)))


@dataclass(frozen=True)
class Limit:
    """What is possible at one point, by stock's times."""

    comm: float
    comp: float
    time: float

    @property
    def overlap(self) -> float:
        """Return it as overlap."""
        return measures.calculate_overlap(self.comm, self.comp, self.time)

    def share(self, both: float) -> float | None:
        """Return an overlap as a part of the possible one; None where none is possible."""
        possible = self.overlap
        return measures.calculate_overlap(self.comm, self.comp, both) / possible if possible > 0 else None


def calculate_limit(comm: float, comp: float, pieces: int | None, processor_us: float = 0) -> Limit:
    """Return what is possible; `pieces` for work in order, the processor time of the transfer where it is charged."""
    charged = comp + processor_us
    if pieces is None:
        return Limit(comm, comp, measures.calculate_optimum(comm, charged))
    return Limit(comm, comp, measures.calculate_ordered_limit(comm, charged, pieces))


def summarise_way(rows: Rows, shape: str) -> dict[str, Any]:
    """Summarise one way's times at one task, for one kind of work."""
    keys = {"comm_us": "comm_us", "comp_us": f"comp_{shape}_us", "both_us": f"both_{shape}_us"}
    keys |= {"call_us": "call_us"} if shape == APART else {"first_page_us": "first_page_us"}
    return {name: measures.summarise(collect(rows, key)).as_json() for name, key in keys.items()}


def describe_way(
    times: Mapping[str, Any], stock: Mapping[str, Any], limit: Limit, shared: Limit | None
) -> dict[str, Any]:
    """Calculate one way's measures; what it is measured by are stock's times."""
    both = times["both_us"]["median"]
    result = {
        **times,
        "overlap": measures.calculate_overlap(limit.comm, limit.comp, both),
        "overlap_with_own_times": measures.calculate_overlap(
            *(times[key]["median"] for key in ("comm_us", "comp_us", "both_us"))
        ),
        "share_of_limit": limit.share(both),
        "speedup": measures.calculate_speedup(stock["both_us"]["median"], both),
        "comm_ratio": times["comm_us"]["median"] / limit.comm,
    }
    if shared is not None:
        result["share_of_shared_core_limit"] = shared.share(both)
    if "first_page_us" in times:
        result["first_page_share"] = times["first_page_us"]["median"] / limit.comm
    return result


def describe_task(
    task: Task, shape: str, rows: Mapping[str, Rows], processor_us: float | None = None, calls: int = 1
) -> dict[str, Any]:
    """Calculate the measures of all ways at one task, for one kind of work."""
    times = {name: summarise_way(own, shape) for name, own in rows.items()}
    stock = times[STOCK]
    comm, comp = stock["comm_us"]["median"], stock["comp_us"]["median"]
    pieces = calls * count_pieces(task.size_bytes) if shape == IN_ORDER else None
    limit = calculate_limit(comm, comp, pieces)
    shared = None if processor_us is None else calculate_limit(comm, comp, pieces, processor_us)
    result = {
        "function": task.function,
        "shape": shape,
        "size_bytes": task.size_bytes,
        "compute_us": task.compute_us,
        "optimum_us": measures.calculate_optimum(comm, comp),
        "pieces": pieces,
        "limit_us": limit.time,
        "limit_overlap": limit.overlap,
        "contenders": {name: describe_way(own, stock, limit, shared) for name, own in times.items()},
    }
    if shared is not None:
        result["transfer_processor_us"] = processor_us
        result["limit_shared_core_us"] = shared.time
        result["limit_shared_core_overlap"] = shared.overlap
    return result


def describe_bench(
    bench: Bench, ways: Sequence[Way], samples: Mapping[tuple[str, int], Rows], wire: WireCost | None
) -> list[dict[str, Any]]:
    """Calculate the measures of all tasks, apart first."""
    ranks = bench.place.rank_count
    results = []
    for shape in SHAPES:
        for number, task in enumerate(bench.tasks):
            rows = {way.name: samples[way.name, number] for way in ways}
            charged = None
            if wire is not None:
                charged = bench.calls * calculate_processor_us(wire, task, ranks, bench.ranks_per_core)
            results.append(describe_task(task, shape, rows, charged, bench.calls))
    return results


def find_disturbance(results: Sequence[Mapping[str, Any]]) -> float:
    """Return how many times longer than calibrated stock's work apart took, at its worst; 1 on a quiet machine."""
    apart = [row for row in results if row["shape"] == APART]
    ratios: list[float] = [row["contenders"][STOCK]["comp_us"]["median"] / row["compute_us"] for row in apart]
    return max(ratios)
