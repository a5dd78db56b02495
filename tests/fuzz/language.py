# SPDX-License-Identifier: MIT
"""The language of the fuzzer's programs: lines of text that interpreter/ executes and the minimiser shortens.

A program is `program <seed> <ranks>`, lines `<rank> <group> <instruction> <numbers>`, and `end <seed>`. Lines of one
group belong together (both sides of a message; all ranks of a collective): they are removed together.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

# What each number of an instruction means, by the names in ROLES_USED and ROLES_MADE; others are plain numbers.
# "message" stands for seven of them. A "*" repeats the rest.
MESSAGE = "buffer offset count type peer tag comm"
INSTRUCTIONS: Mapping[str, str] = {
    "new": "new_buffer kind length seed",
    "free": "buffer",
    "resize": "buffer length seed",
    "discard": "buffer offset length",
    "protect": "buffer offset length",
    "fill": "buffer offset length seed",
    "load": "buffer offset length",
    "atomic": "buffer offset length",
    "copy": "buffer offset buffer offset length",
    "system": "how buffer offset buffer offset length",
    "fork": "buffer offset length",
    "pause": "us",
    "send": f"mode large {MESSAGE}",
    "recv": f"large {MESSAGE} status",
    "sendrecv": f"{MESSAGE} {MESSAGE} status",
    "replace": f"{MESSAGE} peer tag status",
    "probe": "how peer tag comm type",
    "absent": "peer tag comm",
    "mprobe": "how slot peer tag comm type",
    "mrecv": "slot buffer offset count type status",
    "imrecv": "slot new_request buffer offset count type",
    "status": "status type",
    "truncated": MESSAGE,
    "invalid": "what buffer comm",
    "attach": "buffer length",
    "detach": "buffer",
    "isend": f"mode new_request {MESSAGE}",
    "irecv": f"new_request {MESSAGE}",
    "sendinit": f"mode new_request {MESSAGE}",
    "recvinit": f"new_request {MESSAGE}",
    "start": "how request",
    "idle": "how request",
    "release": "request",
    "wait": "how count * request",
    "cancel": MESSAGE,
    "join": "",
    "collective": "what new_request comm root operation large buffer offset count type buffer offset",
    "tame": "buffer offset count type",
    "contiguous": "new_type type count",
    "vector": "new_type type count blocklength stride",
    "resized": "new_type type lower extent",
    "indexed": "new_type type count * length displacement",
    "struct": "new_type count * type length displacement",
    "typefree": "type",
    "pack": "buffer offset count type buffer offset size comm",
    "unpack": "buffer offset size buffer offset count type comm",
    "dup": "comm new_comm",
    "ring": "comm new_comm kind",
    "split": "comm new_comm colour key",
    "intercomm": "comm new_comm leader tag",
    "commfree": "comm",
}
# Not counted as operations: they only make what operations use.
DEFINITIONS = frozenset({"new", "contiguous", "vector", "resized", "indexed", "struct", "attach", "detach"})


@dataclass(frozen=True)
class Line:
    """One instruction of one rank. `is_job`: for the rank's second thread."""

    rank: int
    group: int
    name: str
    numbers: tuple[int, ...]
    is_job: bool = False

    @property
    def text(self) -> str:
        """As in a file."""
        job = "job " if self.is_job else ""
        return " ".join(map(str, (self.rank, self.group, job + self.name, *self.numbers)))

    @property
    def roles(self) -> Iterator[tuple[str, int]]:
        """Each number with its meaning."""
        fixed, star, repeated = INSTRUCTIONS[self.name].partition("*")
        words = fixed.split()
        while star and len(words) < len(self.numbers):
            words += repeated.split()
        return zip(words, self.numbers, strict=True)

    def uses(self, role: str) -> set[int]:
        """The things of a role ("buffer", "type", ...) that this line uses."""
        return {number for word, number in self.roles if word == role}

    def makes(self, role: str) -> set[int]:
        """The things of a role that this line makes."""
        return self.uses(f"new_{role}")


@dataclass(frozen=True)
class Program:
    """A whole program. `level`: the thread level that it asks MPI for."""

    seed: int
    ranks: int
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """As in a file."""
        body = "".join(line.text + "\n" for line in self.lines)
        return f"program {self.seed} {self.ranks}\n{body}end {self.seed}\n"

    @property
    def operations(self) -> int:
        """How many of its lines do something."""
        return sum(line.name not in DEFINITIONS for line in self.lines)


def parse_line(text: str) -> Line:
    """Read one line."""
    rank, group, *words = text.split()
    is_job = words[0] == "job"
    name, *numbers = words[is_job:]
    return Line(int(rank), int(group), name, tuple(map(int, numbers)), is_job)


def parse_programs(text: str) -> Iterator[Program]:
    """Read a file."""
    seed, ranks, lines = 0, 0, list[Line]()
    for row in text.splitlines():
        if row.startswith("program "):
            seed, ranks = map(int, row.split()[1:])
            lines = []
        elif row.startswith("end "):
            yield Program(seed, ranks, tuple(lines))
        elif row and not row.startswith("#"):
            lines.append(parse_line(row))


def format_programs(programs: Iterable[Program]) -> str:
    """Write a file."""
    return "".join(program.text for program in programs)


def with_lines(program: Program, lines: Sequence[Line]) -> Program:
    """The same program with other lines."""
    return Program(program.seed, program.ranks, tuple(lines))
