# SPDX-License-Identifier: MIT
"""The four classes of MPI calls of the dedicated-core paper (III-C1), with tests and waits told apart."""

from enum import StrEnum
from functools import cache


class CallClass(StrEnum):
    """What kind of work a call does, as far as progress is concerned."""

    BLOCKING = "blocking"
    START = "nonblocking start"
    TEST = "test"
    WAIT = "wait"
    OTHER = "other"


COLLECTIVES = frozenset(
    [
        "Barrier",
        "Bcast",
        "Gather",
        "Gatherv",
        "Scatter",
        "Scatterv",
        "Allgather",
        "Allgatherv",
        "Alltoall",
        "Alltoallv",
        "Alltoallw",
        "Reduce",
        "Allreduce",
        "Reduce_scatter",
        "Reduce_scatter_block",
        "Scan",
        "Exscan",
        "Neighbor_allgather",
        "Neighbor_allgatherv",
        "Neighbor_alltoall",
        "Neighbor_alltoallv",
        "Neighbor_alltoallw",
    ]
)
MESSAGES = frozenset(["Send", "Bsend", "Ssend", "Rsend", "Recv", "Mrecv", "Sendrecv", "Sendrecv_replace"])
RECEIVES = frozenset(["Recv", "Mrecv"])
# They wait for a message and take none: there is nothing to start early.
BLOCKING_PROBES = frozenset(["Probe", "Mprobe"])
# Persistent and partitioned operations are started, too; the paper leaves them for later.
PERSISTENT_STARTS = frozenset(["Start", "Startall", "Pready", "Pready_list", "Pready_range"])
TESTS = frozenset(
    [
        "Test",
        "Testall",
        "Testany",
        "Testsome",
        "Iprobe",
        "Improbe",
        "Parrived",
        "Request_get_status",
        "Request_get_status_all",
        "Request_get_status_any",
        "Request_get_status_some",
    ]
)
WAITS = frozenset(["Wait", "Waitall", "Waitany", "Waitsome"])
STARTS = PERSISTENT_STARTS | {"I" + name[0].lower() + name[1:] for name in COLLECTIVES | MESSAGES}

# The preload passes them, or has done what there is to do when they return. Of collectives among neighbours a profile
# does not know the bytes: they are taken to stay as they are (docs/limits-all.md).
NEIGHBOURHOOD = frozenset(name for name in COLLECTIVES if name.startswith("Neighbor_"))
NEVER_DEFERRED = NEIGHBOURHOOD | {"Barrier", "Bsend", "Ssend"}
# Where all ranks know all counts a collective is cut (src/mpi/collective/collective_cut.c).
IN_PIECES = frozenset(
    [
        "Bcast",
        "Gather",
        "Scatter",
        "Allgather",
        "Allgatherv",
        "Alltoall",
        "Reduce",
        "Allreduce",
        "Reduce_scatter_block",
        "Scan",
        "Exscan",
    ]
)
REDUCTIONS = frozenset(["Reduce", "Allreduce", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Exscan"])
PIECES_MAX, PIECE_BYTES_MIN = 16, 128 * 1024


# A call's size is that of one direction; these move as much in the other.
BOTH_WAYS = frozenset(
    name for name in COLLECTIVES | MESSAGES if name.startswith(("Sendrecv", "All", "Neighbor_", "Reduce_scatter"))
)


def shorten_name(function: str) -> str:
    """Return the name without MPI_, PMPI_ and the suffix of large counts: "MPI_Send_c" is "Send"."""
    return function.removeprefix("PMPI_").removeprefix("MPI_").removesuffix("_c")


@cache
def classify_function(function: str) -> CallClass:
    """Return the class of an MPI function; what is no communication, or unknown, is OTHER.

    One-sided communication and files are OTHER, as in the paper: a progress thread may help them,
    and neither model says by how much.
    """
    name = shorten_name(function)
    if name in COLLECTIVES or name in MESSAGES or name in BLOCKING_PROBES:
        return CallClass.BLOCKING
    if name in STARTS:
        return CallClass.START
    if name in TESTS:
        return CallClass.TEST
    return CallClass.WAIT if name in WAITS else CallClass.OTHER


def is_message(function: str) -> bool:
    """Say whether a function sends or receives between two ranks, and blocks: what Lapwing may defer."""
    return shorten_name(function) in MESSAGES


def is_deferrable(function: str) -> bool:
    """Say whether Lapwing may return early from a blocking function."""
    return shorten_name(function) in COLLECTIVES | MESSAGES and shorten_name(function) not in NEVER_DEFERRED


def is_reduction(function: str) -> bool:
    """Say whether a function computes: whether Lapwing defers it hangs on what it adds (`--reductions`)."""
    return shorten_name(function) in REDUCTIONS


def share_first_piece(function: str, size_bytes: float) -> float:
    """Return the part of a deferred call's data that comes in its first piece: in large calls half as much as later."""
    if shorten_name(function) not in IN_PIECES:
        return 1.0
    pieces = max(1, min(PIECES_MAX, int(size_bytes) // PIECE_BYTES_MIN))
    halves = 2 * pieces - 1
    return 1 / halves if size_bytes >= halves * PIECE_BYTES_MIN else 1 / pieces


def is_convertible(function: str) -> bool:
    """Say whether a blocking function has a nonblocking counterpart that a programmer could use instead."""
    return shorten_name(function) in COLLECTIVES | MESSAGES


def count_directions(function: str) -> int:
    """Return how many times its size a call moves. A wait's size is the sum of its messages already."""
    return 2 if shorten_name(function) in BOTH_WAYS else 1


def goes_out(function: str) -> bool:
    """Say whether a call sends: all but receives."""
    return shorten_name(function) not in RECEIVES


def comes_in(function: str) -> bool:
    """Say whether a call receives, or does both."""
    name = shorten_name(function)
    return name in RECEIVES or name in BOTH_WAYS or name in COLLECTIVES


def is_collective(function: str) -> bool:
    """Say whether a function is a blocking collective."""
    return shorten_name(function) in COLLECTIVES
