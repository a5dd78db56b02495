# SPDX-License-Identifier: MIT
"""Contenders of one MPI that run the same program in turn."""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lapwing.bench import measures
from lapwing.bench.contenders import Contender
from lapwing.bench.experiments import collect
from lapwing.bench.place import Place
from lapwing.errors import LapwingError

Advance = Callable[[], None]
Spreads = dict[str, measures.Spread]


@dataclass
class Turns:
    """What the contenders printed: by name and line, the rows of all rounds."""

    rows: dict[tuple[str, int], list[Mapping[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    failures: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)  # with the strategy that the runs really had

    def label(self, name: str) -> str:
        """Return what to call a contender."""
        return self.labels.get(name, name)

    def summarise(self, name: str, number: int, keys: Sequence[str]) -> Spreads:
        """Summarise the quantities of one line."""
        rows = self.rows[name, number]
        return {key: measures.summarise(collect(rows, key)) for key in keys}


def take_turns(
    place: Place, contenders: Sequence[Contender], program: Sequence[str], count: int, rounds: int, advance: Advance
) -> Turns:
    """Run all contenders, as often as there are rounds; who fails once is left out from then on."""
    turns = Turns()
    for _ in range(rounds):
        for contender in contenders:
            if contender.name not in turns.failures:
                take_turn(place, contender, program, count, turns)
            advance()
    return turns


def take_turn(place: Place, contender: Contender, program: Sequence[str], count: int, turns: Turns) -> None:
    """Run one contender once."""
    try:
        lines = place.run_as(contender, program, count)
    except LapwingError as error:
        turns.failures[contender.name] = error.message
        return
    turns.labels[contender.name] = place.name_run(contender)
    for number, line in enumerate(lines):
        turns.rows[contender.name, number].append(json.loads(line))
