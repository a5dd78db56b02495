# SPDX-License-Identifier: MIT
"""Reads functions.toml, whose head says how a row is written."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from table import CLASSES, Buffer, Parameter, Row

TABLE = Path(__file__).resolve().parent / "functions.toml"

# Names that mean the same in (nearly) every function.
TYPES = {
    "comm": "MPI_Comm",
    "datatype": "MPI_Datatype",
    "dest": "int",
    "fh": "MPI_File",
    "flag": "int *",
    "group": "MPI_Group",
    "info": "MPI_Info",
    "newcomm": "MPI_Comm *",
    "newgroup": "MPI_Group *",
    "newtype": "MPI_Datatype *",
    "offset": "MPI_Offset",
    "oldtype": "MPI_Datatype",
    "op": "MPI_Op",
    "partitions": "int",
    "recvtag": "int",
    "request": "MPI_Request *",
    "root": "int",
    "sendtag": "int",
    "session": "MPI_Session",
    "source": "int",
    "status": "MPI_Status *",
    "tag": "int",
    "target_disp": "MPI_Aint",
    "target_rank": "int",
    "win": "MPI_Win",
}

# Words for types that differ between a function and its large-count twin (MPI 4.1, section 19.2: the embiggened
# procedures), so that a row with one of them describes both: what they are in MPI_X, and in MPI_X_c.
SMALL_TYPES = {"Count": "int", "Displacement": "int", "Extent": "MPI_Aint"}
LARGE_TYPES = {"Count": "MPI_Count", "Displacement": "MPI_Aint", "Extent": "MPI_Count"}

# What else a row may say; the first five are about messages that were received early (src/mpi/early.h).
MARKS = {
    "finds_taken": "may receive a message that was received early",
    "is_synchronous": "its message must not be received early",
    "ends_comm": "its communicator is gone afterwards",
    "changes_comm": "the program may promise something of its communicator",
    "carried": "a blocking collective that may be begun as a nonblocking one (src/mpi/collective)",
    "begins_duplicate": "duplicates its communicator while the program goes on; the engine does not work for it",
    "may_outlast": "a send that may still be under way when the program has waited for it (src/mpi/request/sent.h)",
    "looks_at_requests": "tells whether requests are active or over, and completes none",
    "completes": "messages are over when it returns, and it makes nothing: it may return the late error of another",
    "cancels": "from now on its request ends when MPI says so",
    "follows_all": "an operation that keeps its class and starts after every op",
    "adds_peers": "afterwards more processes may speak with this one than MPI_COMM_WORLD has",
    "meets_world": "processes of another world may speak with this one afterwards",
    "joins_groups": "makes a communicator of two groups, both of which may be of MPI_COMM_WORLD",
    "ends_use": "ends the use of memory that no request told of: a window, a split collective, an attached buffer",
    "runs_functions": "MPI may call functions of attributes in it, which may call MPI: so it never goes past the gate",
    "begins_threads": "MPI may begin a thread in it: where threads need rights by protection keys it keeps the gate",
    "gives_functions": "MPI may call a function of the program's from now on, wherever errors are found",
    "uses_requests": "uses the buffers of requests, which no argument names",
    "restarts": "starts persistent requests",
    "waits": "blocks until requests are over: a profile tells its slack",
    "untimed": "no time worth telling: a profile begins or ends in it, or programs ask in loops",
    "no_twin": "the extension has no large-count function",
    "written_once": "by hand is what carries out the calls that do not go straight, for both sizes of counts",
}


@dataclass
class Arguments:
    """What the second column says."""

    parameters: list[Parameter] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    sizes: list[tuple[str, str]] = field(default_factory=list)
    chapter: str = ""

    def add(self, declaration: str) -> str:
        """One parameter, `const int ranks[n]` or a name of TYPES; returns its name."""
        if declaration == "...":
            self.parameters.append(Parameter("...", ""))
            return ""
        declaration = f"{TYPES[declaration]} {declaration}" if declaration in TYPES else declaration
        match = re.fullmatch(r"(.*[\s*])(\w+)(?:\[([^]]*)\])?((?:\[\d+\])*)", declaration)
        if match is None:
            raise ValueError(f"not a parameter: {declaration!r}")
        kind, name, elements, rest = match[1].strip(), match[2], match[3], match[4]
        if elements:
            self.sizes.append((name, elements))
        if elements is not None and kind.removeprefix("const ") == "void":
            self.parameters.append(Parameter(f"{kind} *", name))
        else:
            self.parameters.append(Parameter(kind, name, "" if elements is None else f"[]{rest}"))
        return name

    def add_as(self, kind: str, text: str) -> str:
        """One parameter of a buffer, where a bare name is of this kind; or an expression."""
        if text.isdigit() or "(" in text:
            return text
        return self.add(text if " " in text else f"{kind} {text}")

    def add_buffer(self, access: str, inside: str, words: str) -> None:
        """`out(recvbuf, recvcounts[], displs[], recvtype) per peer at root`: a buffer and its description."""
        address, *description = split(inside)
        name = self.add_as("const void *" if access == "in" else "void *", address)
        buffer = Buffer(name, "", "", access != "out", access != "in")
        self.buffers.append(self.described(with_words(buffer, words), description))

    def described(self, buffer: Buffer, description: list[str]) -> Buffer:
        """The buffer with its parameters; without a description it has that of the next one."""
        if not description:
            return buffer
        if len(description) == 1:
            length = self.add_as("Count", description[0].removesuffix(" bytes"))
            return replace(buffer, count=length, datatype="MPI_BYTE")
        *counts, datatype = description
        is_list = counts[-1].endswith("[]")
        if len(counts) == 2 and not is_list:
            buffer = replace(buffer, per=self.add(counts.pop(0)))
        const = "const " if is_list else ""
        count = self.add_as(f"{const}Count", counts[0])
        displacements = self.add_as("const Displacement", counts[1]) if len(counts) == 2 else ""
        is_typed_each = datatype.endswith("[]")
        datatype = self.add_as(("const " if is_typed_each else "") + "MPI_Datatype", datatype)
        return replace(
            buffer, count=count, displacements=displacements, datatype=datatype, is_typed_each=is_typed_each
        )

    def include(self, row: Arguments) -> None:
        """All that another function is given."""
        self.parameters += row.parameters
        self.buffers += row.buffers
        self.sizes += row.sizes
        self.chapter = row.chapter

    def complete(self) -> Arguments:
        """Gives buffers without a description that of the next one."""
        for index in reversed(range(len(self.buffers) - 1)):
            buffer, following = self.buffers[index], self.buffers[index + 1]
            if not buffer.count:
                shared = replace(buffer, count=following.count, datatype=following.datatype)
                self.buffers[index] = replace(shared, is_shared_out=following.is_shared_out)
        return self


def with_words(buffer: Buffer, words: str) -> Buffer:
    """What stands behind a buffer's parentheses."""
    match = re.fullmatch(r"(?: per (peer|source|target))?( at root)?( shared out)?(?: unless (\w+))?", words)
    if match is None:
        raise ValueError(f"not known of a buffer: {words!r}")
    at_root, shared_out = match[2] is not None, match[3] is not None
    return replace(buffer, per=match[1] or "", is_at_root=at_root, is_shared_out=shared_out, unless=match[4] or "")


def split(text: str) -> list[str]:
    """The parts between commas that stand in no parentheses."""
    parts = re.findall(r"(?:[^,()\[\]]|\((?:[^()]|\([^()]*\))*\)|\[[^]]*\])+", text)
    return [" ".join(part.split()) for part in parts]


@cache
def read_table() -> dict[str, dict[str, list[str]]]:
    """Rows by chapter and name."""
    with TABLE.open("rb") as file:
        return tomllib.load(file)


@cache
def chapter_of(name: str) -> str:
    """The chapter in which a row stands."""
    return next(chapter for chapter, rows in read_table().items() if name in rows)


def read_arguments(text: str, chapter: str) -> Arguments:
    """The second column."""
    arguments = Arguments(chapter=chapter)
    for part in split(text):
        buffer = re.fullmatch(r"(in|out|inout)\((.*)\)([^()]*)", part)
        if buffer is not None:
            arguments.add_buffer(buffer[1], buffer[2], buffer[3])
        elif re.fullmatch(r"MPI_\w+", part):
            base = chapter_of(part)
            arguments.include(read_arguments(read_table()[base][part][1], base))
        else:
            arguments.add(part)
    return arguments.complete()


def read_row(chapter: str, name: str, columns: list[str]) -> Row:
    """One row, with the words for both sizes of counts."""
    treatment, text, *rest = [*columns, ""] if len(columns) == 1 else columns
    text, _, returns = text.partition("->")
    arguments = read_arguments(text.strip(), chapter)
    closes = [word for word in rest if word.startswith("closes(")]
    because = [word for word in rest if word.startswith("because ")]
    marks = [word for word in rest if word not in closes + because]
    if treatment not in CLASSES or not set(marks) <= set(MARKS):
        raise ValueError(f"{name}: not known: {treatment}, {' '.join(marks)}")
    return Row(
        name=name,
        returns="void" if treatment == "foreign" else returns.strip() or "int",
        parameters=tuple(arguments.parameters),
        treatment=treatment,
        chapter=arguments.chapter,
        buffers=tuple(arguments.buffers),
        sizes=tuple(arguments.sizes),
        marks=frozenset(marks),
        closes=tuple(split(closes[0].removeprefix("closes(").removesuffix(")"))) if closes else (),
        because=because[0].removeprefix("because ") if because else "",
    )


def with_types(row: Row, types: dict[str, str]) -> Row:
    """The row with the words for counts replaced."""
    pattern = re.compile(r"\b(" + "|".join(types) + r")\b")
    parameters = tuple(
        replace(parameter, type=pattern.sub(lambda match: types[match[1]], parameter.type))
        for parameter in row.parameters
    )
    return replace(row, parameters=parameters)


def expand(row: Row) -> Iterator[Row]:
    """The functions that a row describes: one, or one and its large-count twin."""
    yield with_types(row, SMALL_TYPES)
    has_words = any(parameter.base_type in LARGE_TYPES for parameter in row.parameters)
    if has_words and not row.has("no_twin"):
        yield replace(with_types(row, LARGE_TYPES), name=row.name + "_c")


def functions() -> Iterator[Row]:
    """Every function, large-count twins included."""
    for chapter, rows in read_table().items():
        for name, columns in rows.items():
            yield from expand(read_row(chapter, name, columns))
