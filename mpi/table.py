# SPDX-License-Identifier: MIT
"""What a row of the MPI API table is, and what can be told from it.

A row is a C prototype as the MPI standard prints it, a treatment class, and
what the prototype cannot say: which count and datatype describe a buffer, and
how long an array is. Roles follow from types and names, since the standard
names its parameters regularly.

Three words stand for types that differ between a function and its large-count
twin (MPI 4.1, section 19.2: the embiggened procedures); a row that uses one of
them therefore describes both functions.

    word           MPI_Send     MPI_Send_c
    Count          int          MPI_Count
    Displacement   int          MPI_Aint
    Extent         MPI_Aint     MPI_Count
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

SMALL_TYPES = {"Count": "int", "Displacement": "int", "Extent": "MPI_Aint"}
LARGE_TYPES = {"Count": "MPI_Count", "Displacement": "MPI_Aint", "Extent": "MPI_Count"}

CLASSES = ("direct", "gated", "buffers", "drain", "start", "status", "told", "written")
FOREIGN = "foreign"  # the class of functions known by name alone

HANDLE_ROLES = {
    "MPI_Comm": "comm",
    "MPI_Datatype": "datatype",
    "MPI_Errhandler": "errhandler",
    "MPI_File": "file",
    "MPI_Group": "group",
    "MPI_Info": "info",
    "MPI_Message": "message",
    "MPI_Op": "op",
    "MPI_Request": "request",
    "MPI_Session": "session",
    "MPI_Status": "status",
    "MPI_Win": "win",
}
PEER_NAMES = {"dest", "source", "root", "rank", "target_rank", "leader_rank"}
TAG_NAMES = {"tag", "sendtag", "recvtag"}
# Pointers that MPI keeps or computes with, and never follows inside the call.
UNFOLLOWED_NAMES = {"extra_state", "location"}


@dataclass(frozen=True)
class Parameter:
    """One parameter: its C type with array brackets moved to `suffix`, and its name."""

    type: str
    name: str
    suffix: str = ""

    @property
    def declaration(self) -> str:
        """The parameter as C declares it."""
        if self.type == "...":
            return "..."
        space = "" if self.type.endswith("*") else " "
        return f"{self.type}{space}{self.name}{self.suffix}"

    @property
    def is_array(self) -> bool:
        """True for `int ranks[]` and the like."""
        return self.suffix != ""

    @property
    def is_callback(self) -> bool:
        """True for pointers to functions."""
        return re.search(r"_(function|fn|function_c) \*$", self.type) is not None

    @property
    def is_pointer(self) -> bool:
        """True when MPI may read or write memory of the program through it."""
        if self.is_callback or self.name in UNFOLLOWED_NAMES:
            return False
        return self.is_array or self.type.endswith("*")

    @property
    def is_scalar_pointer(self) -> bool:
        """True for a pointer to exactly one object whose size C knows."""
        is_sized = re.search(r"\b(void|char)\b|\*.*\*", self.type) is None
        return self.is_pointer and not self.is_array and is_sized

    @property
    def is_read_only(self) -> bool:
        """True when MPI only reads what it points to."""
        return self.type.startswith("const ")

    @property
    def base_type(self) -> str:
        """The type without qualifiers and pointers."""
        return self.type.replace("const ", "").rstrip("* ")


@dataclass(frozen=True)
class Buffer:
    """The bytes of a message: `count` elements of `datatype` at `address`."""

    address: str
    count: str
    datatype: str
    is_written: bool


@dataclass(frozen=True)
class Row:
    """One MPI function."""

    name: str
    returns: str
    parameters: tuple[Parameter, ...]
    treatment: str
    buffers: tuple[Buffer, ...] = ()
    sizes: tuple[tuple[str, str], ...] = ()
    follows_all: bool = False
    adds_peers: bool = False
    closes: tuple[str, ...] = ()
    finds_taken: bool = False
    is_synchronous: bool = False
    ends_comm: bool = False
    changes_comm: bool = False
    chapter: str = ""

    @property
    def is_variadic(self) -> bool:
        """True for MPI_Pcontrol, which C cannot forward: only class told can."""
        return any(parameter.type == "..." for parameter in self.parameters)

    @property
    def is_drained(self) -> bool:
        """True when an entry waits for every op that the program may take to be over."""
        return self.treatment == "drain" or (self.treatment == "start" and not self.buffers)

    def role(self, parameter: Parameter) -> str:
        """What a parameter means: buffer-in, count, datatype, peer, tag, comm, request, requests, ..."""
        for buffer in self.buffers:
            if parameter.name == buffer.address:
                return self._buffer_role(buffer)
            if parameter.name == buffer.count:
                return "count"
        if parameter.name in PEER_NAMES:
            return "peer"
        if parameter.name in TAG_NAMES:
            return "tag"
        return plain_role(parameter)

    def _buffer_role(self, buffer: Buffer) -> str:
        if not buffer.is_written:
            return "buffer-in"
        is_sent_too = any(role in self.name.lower() for role in ("bcast", "_replace", "reduce_local"))
        return "buffer-inout" if is_sent_too else "buffer-out"

    def size_of(self, parameter: Parameter) -> str | None:
        """C expression for the bytes behind a pointer, None when nobody knows."""
        for name, elements in self.sizes:
            if name == parameter.name:
                return byte_size(parameter, elements)
        if parameter.is_scalar_pointer:
            return f"sizeof(*{parameter.name})"
        return None

    def plain_pointers(self) -> Iterator[Parameter]:
        """Pointers that are no message buffers: results, requests, arrays of handles."""
        addresses = {buffer.address for buffer in self.buffers}
        for parameter in self.parameters:
            if parameter.is_pointer and parameter.name not in addresses:
                yield parameter

    def parameter_of_role(self, role: str) -> Parameter | None:
        """The first parameter with that role."""
        return next((parameter for parameter in self.parameters if self.role(parameter) == role), None)


def byte_size(parameter: Parameter, elements: str) -> str:
    """Bytes of `elements` objects behind a pointer; elements of void count bytes."""
    if re.search(r"\bvoid\b", parameter.type):
        return elements
    return f"(size_t)({elements}) * sizeof({parameter.name}[0])"


def plain_role(parameter: Parameter) -> str:
    """The role that a parameter has whatever else the row says."""
    if re.search(r"counts?$", parameter.name) and parameter.base_type in ("int", "MPI_Count", "Count"):
        return "count"
    role = HANDLE_ROLES.get(parameter.base_type, "other")
    plural = {"request": "requests", "status": "statuses"}
    return plural.get(role, role) if parameter.is_array else role


def parse_parameter(text: str) -> Parameter:
    """Reads `const Count sendcounts[]`."""
    if text == "...":
        return Parameter("...", "")
    match = re.fullmatch(r"(.*[\s*])(\w+)((?:\[\d*\])*)", text)
    if match is None:
        raise ValueError(f"not a parameter: {text!r}")
    return Parameter(match[1].strip(), match[2], match[3])


def parse_buffers(text: str | tuple[str, ...], is_written: bool) -> tuple[Buffer, ...]:
    """Reads `buf count datatype`, or several of them."""
    texts = (text,) if isinstance(text, str) else text
    words = (one.split() for one in texts if one)
    return tuple(Buffer(address, count, datatype, is_written) for address, count, datatype in words)


def parse_sizes(text: str) -> tuple[tuple[str, str], ...]:
    """Reads `ranks = n; name = elements`."""
    pairs = (part.split("=", 1) for part in text.split(";") if part)
    return tuple((name.strip(), elements.strip()) for name, elements in pairs)


def make_row(
    treatment: str,
    prototype: str,
    *,
    reads: str | tuple[str, ...] = "",
    writes: str | tuple[str, ...] = "",
    sizes: str = "",
    closes: str = "",
    **marks: bool,
) -> Row:
    """Builds a row from a prototype that may use the words of large counts. `marks`: the row's that are true."""
    match = re.fullmatch(r"([\w ]+?[ *]+)(MPIX?_\w+)\((.*)\)", prototype)
    if match is None or treatment not in CLASSES:
        raise ValueError(f"not a row: {treatment} {prototype}")
    texts = [] if match[3] == "void" else match[3].split(", ")
    buffers = parse_buffers(reads, False) + parse_buffers(writes, True)
    parameters = tuple(parse_parameter(text) for text in texts)
    sizes_read, closed_by = parse_sizes(sizes), tuple(closes.split())
    name, returns = match[2], match[1].strip()
    return Row(name, returns, parameters, treatment, buffers, sizes_read, closes=closed_by, **marks)


def foreign_row(name: str) -> Row:
    """A function of which nothing but the name is known; its prototype is never used for a call."""
    return Row(name, "void", (), FOREIGN)


def bare_name(row: Row) -> str:
    """"Alltoall_init" of MPI_Alltoall_init, of MPI_Alltoall_init_c, and of MPIX_Alltoall_init."""
    return re.sub("^MPIX?_", "", row.name).removesuffix("_c")


def with_types(row: Row, types: dict[str, str]) -> Row:
    """The row with the words of large counts replaced."""
    pattern = re.compile(r"\b(" + "|".join(types) + r")\b")
    parameters = tuple(
        replace(parameter, type=pattern.sub(lambda match: types[match[1]], parameter.type))
        for parameter in row.parameters
    )
    return replace(row, parameters=parameters)


def has_large_twin(row: Row) -> bool:
    """True when the row also describes a `_c` function."""
    return any(parameter.base_type in LARGE_TYPES for parameter in row.parameters)


def expand(row: Row) -> Iterator[Row]:
    """The functions that a row describes: one, or one and its large-count twin."""
    yield with_types(row, SMALL_TYPES)
    if has_large_twin(row):
        yield replace(with_types(row, LARGE_TYPES), name=row.name + "_c")


def problems(row: Row) -> Iterator[str]:
    """What is wrong with a row; a call that keeps the gate must not touch a hold by surprise."""
    names = {parameter.name for parameter in row.parameters}
    described = {buffer.address for buffer in row.buffers} | {name for name, _ in row.sizes}
    if not described <= names:
        yield f"{row.name}: no parameter {', '.join(sorted(described - names))}"
    if row.treatment == "buffers" and not row.buffers:
        yield f"{row.name}: class buffers without a buffer"
    if row.treatment == "status" and row.parameter_of_role("status") is None:
        yield f"{row.name}: class status without a status"
    if row.is_variadic and row.treatment not in ("direct", "told"):
        yield f"{row.name}: class {row.treatment} for a function with arguments that only the caller knows"
    if row.treatment == "told" and [parameter.base_type for parameter in row.parameters][:1] != ["int"]:
        yield f"{row.name}: class told without an int to tell"
    if row.is_drained or row.treatment in ("direct", "told", "written", FOREIGN):
        return
    for parameter in row.plain_pointers():
        if row.size_of(parameter) is None:
            yield f"{row.name}: unknown size behind {parameter.name}; give it, or use class drain"
