# SPDX-License-Identifier: MIT
"""The memory that drained calls use, told from their parameters' names.

A drained call waits for the ops of its own thread. Under MPI_THREAD_MULTIPLE its arguments may also be memory that
another thread has received, and has handed over; those ops are waited for too, and no others: one that the call does
not depend on may end only after it. The standard names buffers, counts, displacements and types regularly; what a
count is multiplied by follows from the function.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from table import Parameter, Row, bare_name

READS, WRITES = "DISPATCH_READS", "DISPATCH_WRITES"

# Whose blocks lie behind a buffer: C expressions.
PEERS, SOURCES, TARGETS = "handed_peers(comm)", "handed_sources(comm)", "handed_targets(comm)"
# The buffers that only the root gives, and those that all do but the root of an intercommunicator.
ROOTED = {"Gather": "recv", "Gatherv": "recv", "Reduce": "recv", "Scatter": "send", "Scatterv": "send"}
# One block per process.
BLOCKS: dict[str, dict[str, str]] = {
    "Gather": {"recv": PEERS},
    "Scatter": {"send": PEERS},
    "Allgather": {"recv": PEERS},
    "Alltoall": {"send": PEERS, "recv": PEERS},
    "Neighbor_allgather": {"recv": SOURCES},
    "Neighbor_alltoall": {"send": TARGETS, "recv": SOURCES},
}
# Pointers to one pointer.
HANDLES = {"baseptr", "buffer_addr"}


def collective(row: Row) -> str:
    """The blocking call that a function does: "Alltoall" of MPI_Ialltoall and MPI_Alltoall_init_c."""
    name = bare_name(row).removesuffix("_init")
    return name[1:].capitalize() if re.match("I[a-z]", name) else name


def access(parameter: Parameter) -> str:
    """Does MPI write there?"""
    return READS if parameter.is_read_only else WRITES


class Uses:
    """One row's parameters by name, and the waits for them."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.name = collective(row)
        self.by_name = {parameter.name: parameter for parameter in row.parameters}

    def first(self, *names: str) -> str | None:
        """The first of these that is a parameter."""
        return next((name for name in names if name in self.by_name), None)

    def lines(self) -> Iterator[str]:
        """The waits for all buffers, in order."""
        if self.name in ("Reduce_scatter", "Reduce_scatter_block"):
            yield from self.scattered()
            return
        for parameter in self.buffers():
            yield from self.guarded(parameter)

    def buffers(self) -> list[Parameter]:
        """The pointers whose type says nothing of their length."""
        return [
            parameter for parameter in self.row.parameters if parameter.is_pointer and parameter.base_type == "void"
        ]

    def guarded(self, parameter: Parameter) -> Iterator[str]:
        """A buffer whose description MPI ignores on other ranks must not be looked at there: it may be garbage."""
        line = self.buffer(parameter)
        side = parameter.name[:4]
        if line is None:
            return
        if self.name in ROOTED:
            yield "if (handed_is_root(root, comm))" if side == ROOTED[self.name] else "if (handed_is_leaf(root))"
            line = f"    {line}"
        if parameter.name == "origin_addr" and "result_addr" in self.by_name and "op" in self.by_name:
            yield "if (op != abi_handles.no_op)"
            line = f"    {line}"
        yield line

    def buffer(self, parameter: Parameter) -> str | None:
        """The wait for one buffer; None where the table does not say how long it is."""
        name, side = parameter.name, re.sub("(buf|_addr)$", "", parameter.name)
        if name in HANDLES or self.row.name == "MPI_Win_get_attr":
            return f"dispatch_wait_argument({name}, sizeof(void *));"
        if name == "base" and "size" in self.by_name:
            return f"dispatch_wait_argument({name}, (size_t)size);"
        if f"{side}counts" in self.by_name:
            return self.parts(parameter, side)
        if f"{side}size" in self.by_name:
            return self.plain(parameter, f"{side}size", "abi_handles.byte")
        count = self.first(f"{side}count", f"{side}_count", "count")
        datatype = self.first(f"{side}type", f"{side}_datatype", "datatype")
        if datatype is None:
            return None
        blocks = BLOCKS.get(self.name, {}).get(side) or ("partitions" if "partitions" in self.by_name else None)
        return self.plain(parameter, count or "1", datatype, blocks)

    def plain(self, parameter: Parameter, count: str, datatype: str, blocks: str | None = None) -> str:
        """One run of elements."""
        if blocks is None:
            return f"dispatch_wait_buffer({parameter.name}, {count}, {datatype}, {access(parameter)});"
        return f"handed_wait_blocks({parameter.name}, {count}, {datatype}, {blocks}, {access(parameter)});"

    def parts(self, parameter: Parameter, side: str) -> str:
        """A run of elements for each process, at places of its own."""
        displs = self.first(f"{side[0]}displs", "displs")
        neighbors = TARGETS if side == "send" else SOURCES
        number = neighbors if self.name.startswith("Neighbor") else PEERS
        lists = f"HANDED_LIST({side}counts), HANDED_LIST({displs})"
        if f"{side}types" in self.by_name:
            return f"handed_wait_typed({parameter.name}, {lists}, {side}types, {number}, {access(parameter)});"
        return f"handed_wait_parts({parameter.name}, {lists}, {side}type, {number}, {access(parameter)});"

    def scattered(self) -> Iterator[str]:
        """All is sent, and a share of it received; the counts are those of the own group."""
        if "recvcounts" in self.by_name:
            yield "handed_wait_shares(sendbuf, recvbuf, HANDED_LIST(recvcounts), datatype, comm);"
        else:
            yield "handed_wait_even_shares(sendbuf, recvbuf, recvcount, datatype, comm);"


def uses(row: Row) -> list[str]:
    """The waits for what a drained call is given, as lines of C."""
    pointers = [p for p in row.plain_pointers() if p.base_type != "void" and row.size_of(p) is not None]
    return [*Uses(row).lines(), *(f"dispatch_wait_argument({p.name}, {row.size_of(p)});" for p in pointers)]


def unwaited(row: Row) -> Iterator[str]:
    """The buffers of unknown length."""
    row_uses = Uses(row)
    return (parameter.name for parameter in row_uses.buffers() if row_uses.buffer(parameter) is None)
