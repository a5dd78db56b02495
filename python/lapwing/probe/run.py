# SPDX-License-Identifier: MIT
"""Runs the probe within a host and between hosts, for stock and all contenders."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lapwing.bench.contenders import STOCK, Contender
from lapwing.bench.place import Place
from lapwing.errors import LapwingError
from lapwing.probe.evidence import SizeFindings, judge_size

LARGEST_EAGER_BYTES = 4 << 20
SMALL_BYTES = 4096
LARGE_BYTES = (256 << 10, 1 << 20, 4 << 20)
GUIDE_ABSENCE_US = 100_000.0  # of MPICH's guide to progress
ABSENCES_OF_EACH_KIND = 6  # of a repetition, those that are timed alone included
LIMIT_S = 180.0  # of one run of the program, and more for large messages:
LIMIT_S_PER_BYTE = 4e-6

Advance = Callable[[], None]


@dataclass(frozen=True)
class Plan:
    """What is tried. sizes: empty: chosen by what is found. work_us: 0: fitted to the transfer."""

    sizes: Sequence[int]
    repetitions: int
    tests: int = 1
    sleep_us: float = GUIDE_ABSENCE_US
    work_us: float = 0.0

    def words(self) -> list[str]:
        """Return the program's arguments before the sizes."""
        return [str(self.repetitions), str(self.tests), str(self.sleep_us), str(self.work_us)]

    def estimate_absence_s(self, size_count: int) -> float:
        """Return how long ranks are away in all, at least."""
        away_us = ABSENCES_OF_EACH_KIND * (self.sleep_us + self.work_us)
        return 1e-6 * away_us * size_count * (self.repetitions + 1)


@dataclass
class Findings:
    """What was found on one side of the wall between hosts."""

    where: str
    missing: str = ""  # why nothing could be measured
    library: str = ""
    hosts: Sequence[str] = ()
    eager_bytes: int = 0
    sizes: Mapping[str, Sequence[SizeFindings]] = field(default_factory=dict)  # by contender
    failures: Mapping[str, str] = field(default_factory=dict)  # by contender

    def as_json(self) -> dict[str, Any]:
        """Return it for a JSON file."""
        sizes = {name: [size.as_json() for size in row] for name, row in self.sizes.items()}
        return {**self.__dict__, "sizes": sizes, "failures": dict(self.failures)}


def choose_sizes(eager_bytes: int) -> list[int]:
    """Return what to try: small, the largest eager message, and some far above."""
    largest_eager = [eager_bytes] if SMALL_BYTES < eager_bytes < LARGE_BYTES[-1] else []
    return sorted({SMALL_BYTES, *largest_eager, *LARGE_BYTES})


def run_program(place: Place, contender: Contender, words: Sequence[str], count: int) -> list[Mapping[str, Any]]:
    """Run the program; return its lines of JSON, of which the first says which ranks it measured."""
    lines = place.run_as(contender, words, count)
    try:
        rows = [json.loads(line) for line in lines]
    except ValueError:
        rows = []
    if not rows or (rows[0].get("pair") is not None and len(rows) < count):
        raise LapwingError(f"the probe printed {lines[-1:] or 'nothing'}", "run it by hand", 1)
    return rows


def explain_no_pair(head: Mapping[str, Any], where: str) -> str:
    """Say why rank 0 has no partner there."""
    if head["ranks"] == 1:
        return "there is only one rank"
    return "no other rank runs on the host of rank 0" if where == "within" else f"all ranks run on {head['hosts'][0]}"


def probe_contenders(
    place: Place, contenders: Sequence[Contender], words: Sequence[str], size_count: int, advance: Advance
) -> tuple[dict[str, Sequence[SizeFindings]], dict[str, str]]:
    """Run the program in each contender's way; return what was found, and why the others failed, by name."""
    found: dict[str, Sequence[SizeFindings]] = {}
    failures: dict[str, str] = {}
    for contender in contenders:
        try:
            rows = run_program(place, contender, words, size_count + 1)
            found[place.name_run(contender)] = [judge_size(row) for row in rows[1:]]
        except LapwingError as error:
            failures[contender.name] = error.message
        advance()
    return found, failures


def probe_where(
    place: Place,
    program: Path,
    where: str,
    contenders: Sequence[Contender],
    plan: Plan,
    advance: Advance,
) -> Findings:
    """Probe within a host or between hosts; stock first, who finds out what there is to measure."""
    place.limit_s = LIMIT_S
    try:
        rows = run_program(place, Contender(STOCK), [str(program), where, "eager", str(LARGEST_EAGER_BYTES)], 2)
    except LapwingError as error:
        return Findings(where, missing=error.message)
    head = rows[0]
    if head["pair"] is None:
        return Findings(where, missing=explain_no_pair(head, where), library=head["library"])
    eager_bytes = int(rows[1]["eager_bytes"])
    sizes = plan.sizes or choose_sizes(eager_bytes)
    place.limit_s = LIMIT_S + LIMIT_S_PER_BYTE * sum(sizes) + plan.estimate_absence_s(len(sizes))
    words = [str(program), where, "transfer", *plan.words(), *map(str, sizes)]
    found, failures = probe_contenders(place, contenders, words, len(sizes), advance)
    return Findings(where, "", head["library"], head["hosts"], eager_bytes, found, failures)
