# SPDX-License-Identifier: MIT
"""What a row of functions.toml is once it is read (by notation.py), and what can be told from it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# What an entry does before and after MPI's own function: the word, what it does, and what it is for.
CLASSES = {
    "deferred": (
        "May return early",
        "The call may return before its transfer is over; the memory is held until then. Their entries are written by "
        "hand in `src/mpi`.",
    ),
    "start": (
        "Wait for their own buffers, then start",
        "They wait for the ops whose holds their buffers overlap, and the memory that the operation goes on using is "
        "remembered: no hold may share a page with it.",
    ),
    "drain_start": (
        "Wait for every op, then start",
        "As above, where what the operation may use or observe is more than its own buffers: it waits for every op.",
    ),
    "buffers": (
        "Wait for their own buffers",
        "They wait for the ops whose holds their buffers overlap: nothing else under way can tell them anything.",
    ),
    "drain": (
        "Wait for every op",
        "Others may learn from them how far this process is, or they use memory that their arguments do not describe. "
        "This is always correct; so it is the class of all that programs seldom call.",
    ),
    "gated": (
        "Passed, one thread at a time",
        "They depend on no message, so they wait only where a result would go to held memory. The engine stays out of "
        "MPI meanwhile. Calls that make an error handler of the program's wait for every op, and from then on every "
        "call is passed.",
    ),
    "status": (
        "Wait for the op of a status",
        "A receive that returned early gave a status that promises what will arrive; who reads it gets the truth.",
    ),
    "written": (
        "Have rules of their own",
        "Requests that complete, probes, start and end of MPI: their entries are written by hand in `src/mpi`.",
    ),
    "told": (
        "Passed, and looked at",
        "Lapwing is told of the first argument, then the program reaches MPI's function itself.",
    ),
    "direct": (
        "Passed untouched",
        "They depend on no message and need no lock: the program reaches MPI's function itself.",
    ),
    "foreign": (
        "End early returns for good",
        "Nothing but the name is known. They wait for every op, and from then on every call is passed.",
    ),
}
BY_HAND = ("deferred", "written")
DRAINED = ("drain", "drain_start")
STARTS = ("start", "drain_start")

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
    """A message buffer: `count` elements of `datatype` at `address`, as C expressions."""

    address: str
    count: str
    datatype: str
    is_read: bool
    is_written: bool
    displacements: str = ""  # then count (and perhaps datatype) is a list, too
    per: str = ""  # one such block per "peer", "source", "target", or as many as a parameter of this name says
    is_at_root: bool = False  # given by the root only; the others of the call by everybody
    is_shared_out: bool = False  # the sum of the counts is read, one share written (MPI_Reduce_scatter)
    is_typed_each: bool = False
    unless: str = ""  # not looked at where `op` is this predefined one

    @property
    def is_list(self) -> bool:
        """True when each block has a count of its own."""
        return self.displacements != "" or self.count.endswith("counts")

    @property
    def datatype_in_c(self) -> str:
        """The datatype as C names it."""
        return "abi_handles.byte" if self.datatype == "MPI_BYTE" else self.datatype


@dataclass(frozen=True)
class Row:
    """One MPI function."""

    name: str
    returns: str
    parameters: tuple[Parameter, ...]
    treatment: str
    chapter: str
    buffers: tuple[Buffer, ...] = ()
    sizes: tuple[tuple[str, str], ...] = ()
    marks: frozenset[str] = frozenset()
    closes: tuple[str, ...] = ()
    because: str = ""

    def has(self, mark: str) -> bool:
        """Is this one of its marks (notation.MARKS)?"""
        return mark in self.marks

    def has_parameter(self, name: str) -> bool:
        """Is this the name of a parameter?"""
        return any(parameter.name == name for parameter in self.parameters)

    @property
    def makes_collective_request(self) -> bool:
        """True for persistent collectives and partitioned messages; the other persistent requests take no info."""
        return "_init" in self.name and self.has_parameter("info") and self.has_parameter("request")

    @property
    def is_variadic(self) -> bool:
        """True for MPI_Pcontrol, which C cannot forward: only class told can."""
        return any(parameter.type == "..." for parameter in self.parameters)

    @property
    def is_drained(self) -> bool:
        """True when an entry waits for every op that the program may take to be over."""
        return self.treatment in DRAINED

    @property
    def has_memory(self) -> bool:
        """True when it is given memory whose use its types do not tell."""
        return any(parameter.base_type == "void" for parameter in self.parameters)

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

    def of_role(self, role: str) -> Parameter | None:
        """The first parameter that is a handle of that kind or points to one; not an array of them."""
        return next(
            (each for each in self.parameters if HANDLE_ROLES.get(each.base_type) == role and not each.is_array), None
        )


def byte_size(parameter: Parameter, elements: str) -> str:
    """Bytes of `elements` objects behind a pointer; elements of void count bytes."""
    if parameter.base_type == "void":
        return elements if elements.startswith("sizeof") else f"(size_t){elements}"
    return f"(size_t)({elements}) * sizeof({parameter.name}[0])"


def bare_name(row: Row) -> str:
    """"Alltoall_init" of MPI_Alltoall_init, of MPI_Alltoall_init_c, and of MPIX_Alltoall_init."""
    return re.sub("^MPIX?_", "", row.name).removesuffix("_c")


def problems(row: Row) -> Iterator[str]:
    """What is wrong with a row; a call that keeps the gate must not touch a hold by surprise."""
    if row.treatment in ("buffers", "start") and not row.buffers:
        yield f"{row.name}: class {row.treatment} without a buffer"
    if row.treatment == "status" and row.of_role("status") is None:
        yield f"{row.name}: class status without a status"
    if row.is_variadic and row.treatment not in ("direct", "told"):
        yield f"{row.name}: class {row.treatment} for a function with arguments that only the caller knows"
    if row.treatment == "told" and [parameter.base_type for parameter in row.parameters][:1] != ["int"]:
        yield f"{row.name}: class told without an int to tell"
    if row.treatment not in ("buffers", "start", "gated", "status"):
        return
    for parameter in row.plain_pointers():
        if row.size_of(parameter) is None:
            yield f"{row.name}: unknown size behind {parameter.name}; give it, or use class drain"
