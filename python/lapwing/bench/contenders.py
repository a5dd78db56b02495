# SPDX-License-Identifier: MIT
"""Who is compared: an MPI as it comes, with its own progress thread, and under Lapwing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lapwing.bench.mpi import Mpi
from lapwing.bench.plan import check_names
from lapwing.options import load_options

STOCK = "stock"
# Who turns on the progress thread that an MPI library brings along. Open MPI has none in any release.
OWN_THREADS = {"mpich": "MPICH_ASYNC_PROGRESS", "impi": "I_MPI_ASYNC_PROGRESS"}


@dataclass(frozen=True)
class Contender:
    """One way of running the programs of an MPI."""

    name: str
    variables: Mapping[str, str] = field(default_factory=dict)
    options: Sequence[str] | None = None  # of `lapwing run`; None: without Lapwing
    record: Path | None = None  # not None: `lapwing profile` instead, which writes this file

    @property
    def with_lapwing(self) -> bool:
        """Tell whether Lapwing is preloaded."""
        return self.options is not None


def list_strategies() -> tuple[str, ...]:
    """Return what the option --progress offers."""
    return next(option.choices for option in load_options() if option.name == "progress")


def parse_strategies(text: str | None) -> tuple[str, ...]:
    """Read a list of strategies; all by default, none for an empty text."""
    known = list_strategies()
    if text is None:
        return known
    return tuple(check_names(filter(None, text.split(",")), known, "strategy"))


def list_contenders(mpi: Mpi, strategies: Sequence[str], options: Sequence[str]) -> list[Contender]:
    """Return who takes part for an MPI; stock is first."""
    variable = OWN_THREADS.get(mpi.name)
    own = [Contender(variable, {variable: "1"})] if variable else []
    lapwing = [Contender(f"lapwing {name}", options=[*options, "--progress", name]) for name in strategies]
    return [Contender(STOCK), *own, *lapwing]
