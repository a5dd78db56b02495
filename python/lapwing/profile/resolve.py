# SPDX-License-Identifier: MIT
"""Finds the source lines of code addresses: with addr2line, llvm-symbolizer, or by reading debug information here.

An address is a return address, or one byte behind an instruction: the line looked for is that of the byte
before it. Addresses are those of the file (the load address taken off), so that shared libraries and
position-independent programs work.
"""

import bisect
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lapwing.files import is_file

ANSWER_TIME_S = 120.0
SYSTEM_HEADER = re.compile(r"^/usr/(local/)?(include|lib)/|/include/c\+\+/")  # templates and such, of libraries
LINE = re.compile(r"(.*?):(\d+)(?::\d+)?(?: \(.*\))?")


@dataclass(frozen=True)
class Place:
    """Where an address lies; what is not known is empty or 0."""

    file: str = ""
    line: int = 0
    function: str = ""


Resolver = Callable[[str, Sequence[int]], list[Place]]


def make_place(function: str, location: str) -> Place:
    """Read what addr2line and llvm-symbolizer say: a name and file:line, or question marks."""
    found = LINE.fullmatch(location.strip())
    file, line = (found[1], int(found[2])) if found else ("", 0)
    is_known = line > 0 and not file.startswith("??")
    name = "" if function.startswith("??") else function.strip()
    return Place(file if is_known else "", line if is_known else 0, name)


def ask_tool(command: Sequence[str], offsets: Sequence[int]) -> list[str]:
    """Run a tool that answers addresses on its input with lines."""
    text = "".join(f"{max(0, offset - 1):#x}\n" for offset in offsets)
    answer = subprocess.run(
        command, input=text, capture_output=True, text=True, timeout=ANSWER_TIME_S, errors="replace", check=True
    )
    return answer.stdout.splitlines()


def choose_frame(lines: Sequence[str]) -> Place:
    """Choose among what was inlined at an address, two lines each: the innermost that is in no library's header."""
    frames = [make_place(*pair) for pair in zip(lines[::2], lines[1::2], strict=True)]
    return next((frame for frame in frames if not SYSTEM_HEADER.search(frame.file)), frames[0] if frames else Place())


def ask_addr2line(path: str, offsets: Sequence[int]) -> list[Place]:
    """Ask binutils: the address, then its frames."""
    answer = "\n".join(ask_tool(["addr2line", "-a", "-i", "-f", "-C", "-e", path], offsets))
    groups = re.split(r"^0x[0-9a-f]+$", answer, flags=re.MULTILINE)[1:]
    return [choose_frame(group.strip("\n").splitlines()) for group in groups]


def ask_llvm(path: str, offsets: Sequence[int]) -> list[Place]:
    """Ask LLVM: the frames of each address, then an empty line."""
    command = ["llvm-symbolizer", "--functions", "--demangle", "--inlines", f"--obj={path}"]
    groups = "\n".join(ask_tool(command, offsets)).strip("\n").split("\n\n")
    return [choose_frame(group.splitlines()) for group in groups]


@dataclass(frozen=True)
class LineTable:
    """Where lines begin, sorted by address; an entry without a file ends a sequence."""

    addresses: Sequence[int]
    places: Sequence[tuple[str, int]]

    def find(self, address: int) -> tuple[str, int]:
        """Return file and line of an address."""
        number = bisect.bisect_right(self.addresses, address) - 1
        return self.places[number] if number >= 0 else ("", 0)


def name_file(program: Any, number: int, folder: str) -> str:
    """Return the path of a file of a line program; the numbers begin at 1 before DWARF 5."""
    is_new = program.header.version >= 5
    files, folders = program.header.file_entry, program.header.include_directory
    entry = files[number if is_new else number - 1]
    directory = folders[entry.dir_index if is_new else entry.dir_index - 1] if entry.dir_index or is_new else b""
    return str(Path(folder, directory.decode("utf-8", "replace"), entry.name.decode("utf-8", "replace")))


def read_unit_lines(information: Any, unit: Any) -> list[tuple[int, str, int]]:
    """Return address, file and line of a compilation unit's rows."""
    program = information.line_program_for_CU(unit)
    attribute = unit.get_top_DIE().attributes.get("DW_AT_comp_dir")
    folder = attribute.value.decode("utf-8", "replace") if attribute else ""
    states = [entry.state for entry in program.get_entries() if entry.state is not None] if program else []
    return [(s.address, "" if s.end_sequence else name_file(program, s.file, folder), s.line) for s in states]


def read_line_table(information: Any) -> LineTable:
    """Read all line programs."""
    rows = [row for unit in information.iter_CUs() for row in read_unit_lines(information, unit)]
    rows.sort(key=lambda row: (row[0], row[1] != ""))
    return LineTable([row[0] for row in rows], [(row[1], row[2] if row[1] else 0) for row in rows])


def read_functions(elf: Any) -> LineTable:
    """Read where functions begin and end; names instead of files."""
    edges: list[tuple[int, str]] = []
    for name in (".symtab", ".dynsym"):
        section = elf.get_section_by_name(name)
        for symbol in section.iter_symbols() if section else ():
            if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_value"]:
                edges += [(symbol["st_value"], symbol.name), (symbol["st_value"] + symbol["st_size"], "")]
    edges.sort(key=lambda edge: (edge[0], edge[1] != ""))
    return LineTable([edge[0] for edge in edges], [(edge[1], 0) for edge in edges])


def read_debug_information(path: str, offsets: Sequence[int]) -> list[Place]:
    """Read the file itself."""
    from elftools.elf.elffile import ELFFile

    with Path(path).open("rb") as stream:
        elf = ELFFile(stream)
        lines = read_line_table(elf.get_dwarf_info()) if elf.has_dwarf_info() else LineTable([], [])
        functions = read_functions(elf)
        return [Place(*lines.find(offset - 1), functions.find(offset - 1)[0]) for offset in offsets]


def list_resolvers() -> list[Resolver]:
    """Return what there is on this machine, the best first."""
    tools: tuple[tuple[str, Resolver], ...] = (("addr2line", ask_addr2line), ("llvm-symbolizer", ask_llvm))
    return [resolver for name, resolver in tools if shutil.which(name)] + [read_debug_information]


@cache
def count_lines(file: str) -> int:
    """Return how many lines a source has; without end where it is not here."""
    try:
        return Path(file).read_bytes().count(b"\n") + 1
    except OSError:
        return sys.maxsize


def is_possible(place: Place) -> bool:
    """Is there such a line? binutils 2.40 gives others for templates that are not inlined."""
    return not place.line or place.line <= count_lines(place.file)


def resolve_file(path: str, offsets: Sequence[int], resolvers: Sequence[Resolver]) -> list[Place]:
    """Resolve the addresses of one file; a resolver that fails makes way for the next."""
    if not is_file(Path(path)):
        return [Place()] * len(offsets)
    found = [Place()] * len(offsets)
    for resolver in resolvers:
        try:
            places = resolver(path, offsets)
        except Exception:  # tools and damaged debug information fail in many ways; none of them matters
            continue
        if len(places) != len(offsets):
            continue
        found = [place if is_possible(place) else Place(function=place.function) for place in places]
        if found == list(places):
            break
    return found


def resolve_places(
    addresses: Iterable[tuple[str, int]], resolvers: Sequence[Resolver] | None = None
) -> Mapping[tuple[str, int], Place]:
    """Resolve (file, address) pairs."""
    files: dict[str, list[int]] = defaultdict(list)
    for path, offset in sorted(set(addresses)):
        files[path].append(offset)
    chosen = list_resolvers() if resolvers is None else resolvers
    return {
        (path, offset): place
        for path, offsets in files.items()
        for offset, place in zip(offsets, resolve_file(path, offsets, chosen), strict=True)
    }
