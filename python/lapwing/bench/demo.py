# SPDX-License-Identifier: MIT
"""The demo: an ordinary solver, stock and under Lapwing in turn."""

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lapwing.bench.measures import calculate_optimum, calculate_overlap, summarise
from lapwing.bench.place import Place
from lapwing.errors import LapwingError

NX, NY = 512, 256  # faces of 1 MiB
PLANES_MIN, PLANES_MAX = 8, 512
PROBE_PLANES, PROBE_STEPS = 16, 10
PARTS = ("exchange", "update")


@dataclass(frozen=True)
class Outcome:
    """What the solver printed."""

    time_s: float
    checksum: str


def parse_outcome(lines: list[str]) -> Outcome:
    """Read the solver's line."""
    found = re.search(r"time (\S+) s, checksum (\w+)", "\n".join(lines))
    if not found:
        raise LapwingError("the solver printed no result", "run `lapwing lab -- mpirun -n 2 ./heat3d` by hand", 1)
    return Outcome(float(found[1]), found[2])


def run_solver(place: Place, program: Path, with_lapwing: bool, planes: int, steps: int, part: str = "all") -> Outcome:
    """Run the solver once."""
    line = [str(program), str(NX), str(NY), str(planes), str(steps), part]
    return parse_outcome(place.run(with_lapwing, line, 1))


def choose_planes(exchange_s: float, update_s: float) -> int:
    """Return the planes of a rank whose update takes as long as the exchange: where overlap can bring most."""
    return max(PLANES_MIN, min(PLANES_MAX, round(PROBE_PLANES * exchange_s / update_s)))


def size_grid(place: Place, program: Path) -> int:
    """Try the solver's two parts, and return the planes of a rank that make them equally long."""
    probes = {part: run_solver(place, program, False, PROBE_PLANES, PROBE_STEPS, part).time_s for part in PARTS}
    return choose_planes(probes["exchange"], probes["update"])


def run_demo(
    place: Place, program: Path, planes: int, steps: int, rounds: int, advance: Callable[[], None]
) -> dict[str, Any]:
    """Run everything in turn."""
    times: dict[str, list[float]] = defaultdict(list)
    checksums: dict[str, set[str]] = defaultdict(set)
    for _ in range(rounds):
        for name, with_lapwing, part in (
            ("stock", False, "all"),
            ("lapwing", True, "all"),
            ("exchange", False, "exchange"),
            ("exchange_lapwing", True, "exchange"),
            ("update", False, "update"),
        ):
            outcome = run_solver(place, program, with_lapwing, planes, steps, part)
            times[name].append(outcome.time_s)
            checksums[name].add(outcome.checksum)
            advance()
    return describe_demo(times, checksums, planes, steps)


def describe_demo(
    times: dict[str, list[float]], checksums: dict[str, set[str]], planes: int, steps: int
) -> dict[str, Any]:
    """Calculate the measures.

    The exchange alone may be shorter under Lapwing, where messages that cross travel at once. Overlap is what each
    hides of its own halves; the optimum has the shorter exchange.
    """
    spreads = {name: summarise(sample) for name, sample in times.items()}
    comp = spreads["update"].median
    comms = {"stock": spreads["exchange"].median, "lapwing": spreads["exchange_lapwing"].median}
    return {
        "face_bytes": NX * NY * 8,
        "grid": [NX, NY, planes],
        "steps": steps,
        "times_s": {name: spread.as_json() for name, spread in spreads.items()},
        "optimum_s": calculate_optimum(min(comms.values()), comp),
        "speedup": spreads["stock"].median / spreads["lapwing"].median,
        "overlap": {name: calculate_overlap(comm, comp, spreads[name].median) for name, comm in comms.items()},
        "checksums": sorted(checksums["stock"] | checksums["lapwing"]),
    }
