# SPDX-License-Identifier: MIT
"""The table of `lapwing bench harm`."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

UNITS = {
    "time_us": ("time", ((1e6, "s"), (1e3, "ms"), (1.0, "us"))),
    "faults": ("page faults", ((1.0, ""),)),
    "memory_kib": ("memory", ((1024.0, "MiB"),)),
    "instructions": ("instr.", ((1e6, "M"),)),
}
CAPTION = (
    "medians [quartiles] of whole processes; memory: the most that was resident\n"
    "programs with ranks: rank 0, time between MPI_Init and MPI_Finalize; init: of MPI_Init\n"
    "LAMMPS, GROMACS, Quantum ESPRESSO, HPCC: the time that they print\n"
    "ratio: median of pairs, for latency and rate best by best; its limit comes after\n"
    "100 us, 128 page faults, 1 MiB and 500,000 instructions for each process's start\n"
    "(3 ms for MPI_Init)"
)


def make_harm_table(results: Sequence[Mapping[str, Any]]) -> Table:
    """Make the table; a program's name stands at its first row only."""
    table = Table(title="harm", caption=CAPTION, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("program")
    for name in ("what", "stock", "Lapwing", "ratio", "limit", "ok"):
        table.add_column(name, justify="right", no_wrap=True)
    last = ""
    for row in results:
        table.add_row("" if row["program"] == last else row["program"], *make_harm_row(row))
        last = row["program"]
    return table


def make_harm_row(row: Mapping[str, Any]) -> list[str]:
    """Write one quantity of one program; both sides in the unit that fits stock."""
    name, units = UNITS[row["what"]]
    factor, unit = next((one for one in units if row["stock"]["median"] >= one[0]), units[-1])
    return [
        f"{name}, {unit}" if unit else name,
        format_spread(row["stock"], factor),
        format_spread(row["lapwing"], factor),
        f"{row['ratio']:.3f}",
        f"{row['limit']:.2f}",
        "yes" if row["is_within"] else "NO",
    ]


def format_spread(spread: Mapping[str, float], factor: float) -> str:
    """Write a median, and its quartiles where they differ."""
    middle, first, third = (
        format_number(spread[key] / factor) for key in ("median", "first_quartile", "third_quartile")
    )
    return middle if first == third else f"{middle} [{first}, {third}]"


def format_number(value: float) -> str:
    """Write three digits, or a whole number."""
    return f"{value:#.3g}".rstrip(".") if value < 100 else f"{value:.0f}"
