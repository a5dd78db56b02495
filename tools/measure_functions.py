# SPDX-License-Identifier: MIT
"""Show how long the functions of src/ are, and how many lines each folder has.

    measure_functions.py

A function's length is the number of lines between its braces. As src/ is formatted (tools/check_format.py), the braces
of a function, and of nothing else, stand alone at the beginning of a line. What is made while building is not looked
at. Printed are the median, what 95 % of all functions do not exceed, the ten longest, and per folder its files, lines
and functions.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from check_names import declared_name

SOURCE = Path(__file__).resolve().parent.parent / "src"
LONGEST = 10
MOST = 0.95


@dataclass(frozen=True)
class Function:
    """One of src/, its file as a path below src/."""

    file: str
    name: str
    lines: int


@dataclass
class Folder:
    """What a folder holds, without those below it."""

    files: int = 0
    lines: int = 0
    functions: int = 0


def find_head(lines: Sequence[str]) -> str:
    """The end of a file's part that is a function's head: its first line is the last that is not indented."""
    first = max(number for number, line in enumerate(lines) if line and not line[0].isspace())
    return " ".join(lines[first:])


def find_functions(file: str, text: str) -> Iterator[Function]:
    """The functions that a file defines."""
    lines = text.splitlines()
    begin = 0
    for number, line in enumerate(lines):
        if line == "{":
            begin = number
        elif line == "}":
            yield Function(file, declared_name(find_head(lines[:begin])) or "?", number - begin - 1)


def bound_of(lengths: Sequence[int], share: float) -> int:
    """The length that this share of all does not exceed."""
    return sorted(lengths)[max(round(share * len(lengths)) - 1, 0)]


def read_tree(source: Path) -> tuple[list[Function], dict[str, Folder]]:
    """All functions, and what each folder has."""
    functions: list[Function] = []
    folders: dict[str, Folder] = defaultdict(Folder)
    for path in sorted(source.rglob("*.[chS]")):
        text = path.read_text()
        found = [] if path.suffix == ".S" else list(find_functions(path.relative_to(source).as_posix(), text))
        folder = folders[path.parent.relative_to(source).as_posix()]
        folder.files += 1
        folder.lines += len(text.splitlines())
        folder.functions += len(found)
        functions += found
    return functions, folders


def describe_functions(functions: Sequence[Function]) -> Iterator[str]:
    """How long they are."""
    lengths = [function.lines for function in functions]
    yield f"{len(lengths)} functions: median {median(lengths):g} lines, 95 % at most {bound_of(lengths, MOST)}"
    for function in sorted(functions, key=lambda function: (-function.lines, function.file))[:LONGEST]:
        yield f"{function.lines:6} {function.name} ({function.file})"


def describe_folders(folders: dict[str, Folder]) -> Iterator[str]:
    """How large they are."""
    yield f"{'folder':20}{'files':>8}{'lines':>8}{'functions':>11}"
    for name, folder in sorted(folders.items()):
        yield f"{name:20}{folder.files:8}{folder.lines:8}{folder.functions:11}"
    parts = folders.values()
    totals = (sum(part.files for part in parts), sum(part.lines for part in parts))
    yield f"{'all':20}{totals[0]:8}{totals[1]:8}{sum(part.functions for part in parts):11}"


def main() -> int:
    """Read, count, print."""
    functions, folders = read_tree(SOURCE)
    print("\n".join([*describe_functions(functions), "", *describe_folders(folders)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
