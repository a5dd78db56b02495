# SPDX-License-Identifier: MIT
"""The tables of `lapwing bench harm`: times, and what is counted."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

TIMES = {"time_us": "", "processor_us": "processor time"}
UNITS = ((1e6, "s"), (1e3, "ms"), (1.0, "us"), (1e-3, "ns"))
KIB_PER_MIB = 1024
TIME_COLUMNS = ("stock", "Lapwing", "ratio [quartiles]", "limit", "ok")
COUNT_COLUMNS = ("page faults", "peak memory, MiB", "instr.", "ok")
TIME_CAPTION = (
    "medians of whole processes; with ranks: of rank 0 between MPI_Init and\n"
    "MPI_Finalize; init: of MPI_Init; collectives: of one call; lapwing run: of a\n"
    "launcher's line; LAMMPS, GROMACS, Quantum ESPRESSO, HPCC: what they print\n"
    "ratio: median of pairs; of latency and rate the best launches, no quartiles\n"
    "100 us for each process's start are allowed beside the limit (MPI_Init: 3 ms,\n"
    "lapwing run: 150 ms)"
)
COUNT_CAPTION = (
    "medians, stock to Lapwing; memory: the most that was resident; instr.: ratio\n"
    "the limit is 1.05, and 128 page faults, 1 MiB and 500,000 instructions for\n"
    "each process's start; large collectives that may return early have none"
)

Row = Mapping[str, Any]


def make_harm_tables(results: Sequence[Row]) -> list[Table]:
    """Make the tables that there are rows for."""
    found = [
        ("harm: times", TIME_COLUMNS, TIME_CAPTION, make_time_lines(results)),
        ("harm: counts", COUNT_COLUMNS, COUNT_CAPTION, make_count_lines(results)),
    ]
    return [make_table(*one) for one in found if one[-1]]


def make_table(title: str, columns: Iterable[str], caption: str, lines: Iterable[Sequence[str]]) -> Table:
    """Make one table."""
    table = Table(title=title, caption=caption, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("program")
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    for line in lines:
        table.add_row(*line)
    return table


def make_time_lines(results: Sequence[Row]) -> list[list[str]]:
    """Write each time of a program in a line: both sides in the unit that fits stock, their ratio and its limit."""
    return [
        [", ".join(filter(None, (row["program"], TIMES[row["what"]]))), *format_time(row), format_ok([row])]
        for row in results
        if row["what"] in TIMES
    ]


def make_count_lines(results: Sequence[Row]) -> list[list[str]]:
    """Write all that was counted of a program in a line."""
    programs: dict[str, dict[str, Row]] = {}
    for row in results:
        if row["what"] not in TIMES:
            programs.setdefault(row["program"], {})[row["what"]] = row
    return [[name, *format_counts(rows), format_ok(rows.values())] for name, rows in programs.items()]


def format_ok(rows: Iterable[Row]) -> str:
    """Tell whether all that have limits are within them."""
    judged = [row["is_within"] for row in rows if row["limit"] is not None]
    return "" if not judged else "yes" if all(judged) else "NO"


def format_time(row: Row) -> list[str]:
    """Write one time."""
    stock, lapwing = (row[side]["median"] for side in ("stock", "lapwing"))
    factor, unit = next((one for one in UNITS if stock >= one[0]), UNITS[-1])
    sides = [f"{format_number(value / factor)} {unit}" for value in (stock, lapwing)]
    return [*sides, format_ratio(row), f"{row['limit']:.2f}"]


def format_ratio(row: Row) -> str:
    """Write a ratio, and its quartiles where there are some."""
    if row["ratio_quartiles"] is None or row["stock"]["count"] == 1:
        return f"{row['ratio']:.3f}"
    return f"{row['ratio']:.3f} [{', '.join(f'{one:.3f}' for one in row['ratio_quartiles'])}]"


def format_counts(rows: Mapping[str, Row]) -> list[str]:
    """Write page faults, memory and instructions; empty where there is no figure."""
    faults, memory, instructions = (rows.get(what) for what in ("faults", "memory_kib", "instructions"))
    return [
        format_pair(faults, lambda value: f"{value:.0f}"),
        format_pair(memory, lambda value: format_number(value / KIB_PER_MIB)),
        "" if instructions is None else f"{instructions['ratio']:.3f}",
    ]


def format_pair(row: Row | None, format_value: Callable[[float], str]) -> str:
    """Write the medians of both sides."""
    return "" if row is None else " to ".join(format_value(row[side]["median"]) for side in ("stock", "lapwing"))


def format_number(value: float) -> str:
    """Write three digits, or a whole number."""
    return f"{value:#.3g}".rstrip(".") if value < 100 else f"{value:.0f}"
