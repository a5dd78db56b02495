# SPDX-License-Identifier: MIT
"""What has been compared so far: kept in a file, so that a long run can go on after an interruption, and as a table."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass
class Totals:
    """What was done with one MPI and variant."""

    programs: int = 0
    operations: int = 0
    held: int = 0
    taken: int = 0
    waits: int = 0
    parted: int = 0
    mismatches: int = 0
    failures: list[str] = field(default_factory=list)


class Progress:
    """How far each MPI has come with one preload. Without a path nothing is kept."""

    def __init__(self, path: Path | None, preload: Path) -> None:
        self.path = path
        self.build = hashlib.sha256(preload.read_bytes()).hexdigest()
        self.families: dict[str, dict[str, object]] = {}
        kept = json.loads(path.read_text()) if path and path.exists() else {}
        if kept.get("build") == self.build:
            self.families = kept["families"]

    def find(self, family: str, variants: Sequence[str], seed: int) -> tuple[int, dict[str, Totals]]:
        """The seed to go on with, and what was done before it: nothing, if with other variants."""
        kept = self.families.get(family, {})
        totals = kept.get("totals")
        if not isinstance(totals, dict) or list(totals) != list(variants) or kept.get("first") != seed:
            return seed, {variant: Totals() for variant in variants}
        return int(str(kept["next"])), {variant: Totals(**totals[variant]) for variant in variants}

    def note(self, family: str, first: int, following: int, totals: Mapping[str, Totals]) -> None:
        """A batch is over; `following`: the seed after it."""
        if self.path is None:
            return
        kept = {variant: asdict(each) for variant, each in totals.items()}
        self.families[family] = {"first": first, "next": following, "totals": kept}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_suffix(".new")
        partial.write_text(json.dumps({"build": self.build, "families": self.families}, indent=1))
        partial.replace(self.path)


def format_table(rows: Iterable[tuple[str, str, Totals]]) -> str:
    """One line per MPI and variant."""
    lines = [f"{'MPI':10} {'variant':18} {'programs':>9} {'operations':>11} {'held':>8} {'mismatches':>11}"]
    for family, variant, each in rows:
        numbers = f"{each.programs:9} {each.operations:11} {each.held:8} {each.mismatches:11}"
        lines.append(f"{family:10} {variant:18} {numbers}")
    return "\n".join(lines)
