# SPDX-License-Identifier: MIT
"""The memory that drained calls use, as waits in C.

A drained call waits for the ops of its own thread. Under MPI_THREAD_MULTIPLE its arguments may also be memory that
another thread has received, and has given to this one; those ops are waited for too, and no others: one that the call
does not depend on may end only after it.
"""

from __future__ import annotations

from collections.abc import Iterator

from table import Buffer, Row

# How many blocks lie behind a buffer: C expressions.
BLOCKS = {
    "peer": "argument_buffers_peers(comm)",
    "source": "argument_buffers_sources(comm)",
    "target": "argument_buffers_targets(comm)",
}


def access_of(buffer: Buffer) -> str:
    """Does MPI write there?"""
    return "DISPATCH_WRITES" if buffer.is_written else "DISPATCH_READS"


def wait_for_buffer(buffer: Buffer) -> str:
    """The wait for one run of elements."""
    return f"dispatch_wait_buffer({buffer.address}, {buffer.count}, {buffer.datatype_in_c}, {access_of(buffer)});"


def wait_for_blocks(buffer: Buffer) -> str:
    """The wait for one buffer, of one block or of several."""
    blocks = BLOCKS.get(buffer.per, buffer.per)
    if buffer.displacements:
        kind = "typed" if buffer.is_typed_each else "parts"
        lists = f"ARGUMENT_BUFFER_LIST({buffer.count}), ARGUMENT_BUFFER_LIST({buffer.displacements})"
        described = f"{buffer.address}, {lists}, {buffer.datatype}, {blocks}"
        return f"argument_buffers_wait_{kind}({described}, {access_of(buffer)});"
    if blocks:
        elements = f"(MPI_Count){buffer.count} * {blocks}"
        return f"dispatch_wait_buffer({buffer.address}, {elements}, {buffer.datatype}, {access_of(buffer)});"
    return wait_for_buffer(buffer)


def wait_for_shares(row: Row) -> str:
    """All is sent, and a share of it received; the counts are those of the own group."""
    sent, received = row.buffers
    kind, counts = ("shares", f"ARGUMENT_BUFFER_LIST({sent.count})") if sent.is_list else ("even_shares", sent.count)
    return f"argument_buffers_wait_{kind}({sent.address}, {received.address}, {counts}, {sent.datatype}, comm);"


def guarded(row: Row, buffer: Buffer) -> Iterator[str]:
    """A buffer whose description MPI ignores on other ranks must not be looked at there: it may be garbage."""
    conditions = [f"op != abi_handles.{buffer.unless}"] if buffer.unless else []
    if any(each.is_at_root for each in row.buffers):
        conditions.append(
            "argument_buffers_is_root(root, comm)" if buffer.is_at_root else "argument_buffers_is_leaf(root)"
        )
    yield from (f"if ({condition})" for condition in conditions)
    yield f"{'    ' if conditions else ''}{wait_for_blocks(buffer)}"


def uses(row: Row) -> Iterator[str]:
    """The waits for what a drained call is given, as lines of C."""
    if any(buffer.is_shared_out for buffer in row.buffers):
        yield wait_for_shares(row)
    else:
        for buffer in row.buffers:
            yield from guarded(row, buffer)
    for parameter in row.plain_pointers():
        size = row.size_of(parameter)
        if size is not None:
            yield f"dispatch_wait_argument({parameter.name}, {size});"


def unwaited(row: Row) -> Iterator[str]:
    """The memory of unknown length."""
    return (each.name for each in row.plain_pointers() if each.base_type == "void" and row.size_of(each) is None)
