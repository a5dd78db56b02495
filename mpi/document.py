# SPDX-License-Identifier: MIT
"""Prints docs/functions.md, what becomes of each MPI function, from functions.toml: document.py > docs/functions.md"""

from __future__ import annotations

import sys

sys.dont_write_bytecode = True

from notation import read_row, read_table  # noqa: E402
from table import CLASSES, Row  # noqa: E402

HEAD = """<!-- Made by `python3 mpi/document.py` from mpi/functions.toml: change that file. -->
# MPI functions

What Lapwing does when the program calls an MPI function. An *op* is a transfer that goes on after its call returned, a
*hold* the memory that the program must not touch until it is over.

Most functions are passed on to MPI; before that they wait for what they could observe. Blocking collectives, waits for
sends and `MPI_Bsend` may return early, too ([inside](inside.md)): their class says what they wait for first. A function
with counts stands for its large-count twin (`MPI_Send_c`), too. A function that a later MPI adds is passed, and a
program that calls it is treated like one that calls `PMPI_` functions.
"""


def anchor(title: str) -> str:
    """How a heading is linked."""
    return title.lower().replace(",", "").replace(" ", "-")


def all_rows() -> list[Row]:
    """One row for each line of the table, in its order."""
    return [read_row(chapter, name, row) for chapter, rows in read_table().items() for name, row in rows.items()]


def overview(rows: list[Row]) -> str:
    """How many functions each class has."""
    lines = ["| class | what happens | functions |", "|---|---|---|"]
    for name, (title, _) in CLASSES.items():
        count = sum(row.treatment == name for row in rows)
        lines.append(f"| `{name}` | [{title.lower()}](#{anchor(title)}) | {count} |")
    return "\n".join(lines)


def section(name: str, rows: list[Row]) -> str:
    """One class: what it does, its functions by chapter, and why some of them are in it."""
    title, text = CLASSES[name]
    lines = [f"## {title}", "", f"{text} Class `{name}`.", "", "| chapter of the standard | functions |", "|---|---|"]
    for chapter in read_table():
        names = [f"`{row.name}`" for row in rows if row.name in read_table()[chapter]]
        lines += [f"| {chapter} | {', '.join(names)} |"] if names else []
    reasons = [f"- `{row.name}`: {row.because}." for row in rows if row.because]
    return "\n".join([*lines, *(["", *reasons] if reasons else [])])


def page() -> str:
    """The whole page."""
    rows = all_rows()
    sections = [section(name, [row for row in rows if row.treatment == name]) for name in CLASSES]
    return "\n\n".join([HEAD + "\n" + overview(rows), *sections])


if __name__ == "__main__":
    print(page())
