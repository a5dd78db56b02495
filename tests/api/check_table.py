# SPDX-License-Identifier: MIT
"""The table describes functions as the standard does: samples of roles, twins and classes."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "mpi"))
sys.dont_write_bytecode = True

from notation import functions, read_row  # noqa: E402
from table import BY_HAND, Buffer, Row, problems  # noqa: E402
from uses import unwaited, uses  # noqa: E402

ROWS = {row.name: row for row in functions()}

# Drained calls with a buffer that is not waited for when another thread has received it.
UNWAITED = {
    # the memory that MPI_..._begin was given, which nobody may have received into since
    *(f"MPI_File_{name}_end" for name in ("read_all", "read_at_all", "read_ordered")),
    *(f"MPI_File_{name}_end" for name in ("write_all", "write_at_all", "write_ordered")),
    # values that MPI keeps
    *("MPI_Comm_set_attr", "MPI_Type_set_attr", "MPI_Win_set_attr", "MPI_Attr_put"),
    # where the call does not say how long it is (docs/limits-all.md), and MPI's own space for MPI_Bsend
    *("MPI_Free_mem", "MPI_Win_detach"),
    *("MPI_Comm_attach_buffer", "MPI_Session_attach_buffer"),
    *("MPI_Comm_attach_buffer_c", "MPI_Session_attach_buffer_c"),
}


def waits(name: str) -> list[str]:
    """What a drained call waits for besides its own thread's ops, line by line."""
    return list(uses(ROWS[name]))


def types(row: Row) -> list[str]:
    """The types of a function's parameters, in order."""
    return [parameter.type + parameter.suffix for parameter in row.parameters]


def test_buffers() -> None:
    """What a call sends and receives is told completely from its row."""
    received = Buffer("buf", "count", "datatype", is_read=False, is_written=True)
    assert ROWS["MPI_Recv"].buffers == (received,)
    assert types(ROWS["MPI_Recv"]) == ["void *", "int", "MPI_Datatype", "int", "int", "MPI_Comm", "MPI_Status *"]
    gathered = Buffer("recvbuf", "recvcounts", "recvtype", False, True, "displs", "peer", is_at_root=True)
    assert ROWS["MPI_Igatherv_c"].buffers[1] == gathered
    assert ROWS["MPI_Bcast"].buffers[0].is_read
    sent, received = ROWS["MPI_Allreduce_init"].buffers
    assert (sent.count, sent.datatype) == (received.count, received.datatype) == ("count", "datatype")
    assert ROWS["MPI_Precv_init"].buffers[0].per == "partitions"


def test_rows_are_read() -> None:
    """A name of another row stands for its arguments, and a word that nobody knows is refused."""
    assert ROWS["MPI_Ibcast"].parameters[:-1] == ROWS["MPI_Bcast"].parameters
    assert ROWS["MPI_Comm_c2f"].returns == "MPI_Fint"
    assert "MPIX_Bcast_init_c" not in ROWS
    for columns in (["sometimes", "comm"], ["gated", "comm", "often"], ["gated", "in(buf) per rank"], ["gated", "x"]):
        try:
            read_row("I/O", "MPI_X", columns)
        except ValueError:
            continue
        raise AssertionError(columns)


def test_large_twins() -> None:
    """Each of the three words becomes what the standard says, in both functions."""
    assert types(ROWS["MPI_Alltoallv"])[1:3] == ["const int[]", "const int[]"]
    assert types(ROWS["MPI_Alltoallv_c"])[1:3] == ["const MPI_Count[]", "const MPI_Aint[]"]
    assert types(ROWS["MPI_Type_create_resized"])[1] == "MPI_Aint"
    assert types(ROWS["MPI_Type_create_resized_c"])[1] == "MPI_Count"
    assert types(ROWS["MPI_Get_count_c"])[-1] == "MPI_Count *"
    assert "MPI_Comm_rank_c" not in ROWS


def test_problems_are_found() -> None:
    """A call that would keep the gate while MPI writes to memory of unknown size is refused."""
    assert list(problems(read_row("I/O", "MPI_Error_string", ["gated", "int errorcode, char *string, int *resultlen"])))
    assert list(problems(read_row("I/O", "MPI_Barrier", ["buffers", "comm"])))
    assert not [problem for row in ROWS.values() for problem in problems(row)]


def test_calls_that_match_know_of_early_receives() -> None:
    """A call that names a source and a communicator finds what was received early, or prevents it."""
    for name, row in ROWS.items():
        matches = {"source", "comm"} <= {parameter.name for parameter in row.parameters}
        is_partitioned = name == "MPI_Precv_init"  # which only partitioned sends match
        if matches and not is_partitioned:
            assert row.treatment in BY_HAND or row.has("finds_taken") or row.closes, name
    synchronous = {name for name, row in ROWS.items() if row.has("is_synchronous")}
    assert synchronous == {"MPI_Issend", "MPI_Issend_c", "MPI_Ssend_init", "MPI_Ssend_init_c"}


def test_classes() -> None:
    """Calls that must wait for everything do; calls that programs make all the time do not."""
    for name in ("MPI_Barrier", "MPI_Win_fence", "MPI_Comm_dup", "MPI_File_write_at", "MPI_Alltoallw"):
        assert ROWS[name].treatment == "drain", name
    for name in ("MPI_Comm_rank", "MPI_Type_size", "MPI_Request_get_status", "MPI_Request_c2f", "MPI_Type_c2f"):
        assert ROWS[name].treatment == "gated", name
    for name in ("MPI_Get_count", "MPI_Status_set_cancelled", "MPI_Status_set_elements_c"):
        assert ROWS[name].treatment == "status", name
    for name in ("MPI_Allreduce", "MPI_Bcast", "MPI_Reduce_c"):
        assert ROWS[name].treatment == "buffers", name


def test_argument_buffers() -> None:
    """What another thread has received is waited for where a call uses it, and only what MPI looks at is read."""
    assert {row.name for row in ROWS.values() if row.is_drained and list(unwaited(row))} == UNWAITED
    assert waits("MPI_File_write_at")[0] == "dispatch_wait_buffer(buf, count, datatype, DISPATCH_READS);"
    assert waits("MPI_Igatherv_c")[2:4] == [
        "if (argument_buffers_is_root(root, comm))",
        "    argument_buffers_wait_parts(recvbuf, ARGUMENT_BUFFER_LIST(recvcounts), ARGUMENT_BUFFER_LIST(displs), "
        "recvtype, argument_buffers_peers(comm), "
        "DISPATCH_WRITES);",
    ]
    assert "argument_buffers_sources" in waits("MPI_Neighbor_allgather_init")[1]
    assert waits("MPI_Rget_accumulate")[0] == "if (op != abi_handles.no_op)"
    assert not waits("MPI_Barrier")


def main() -> int:
    """Run the tests of this file."""
    tests = [value for name, value in sorted(globals().items()) if name.startswith("test_")]
    for test in tests:
        test()
    print(f"{len(tests)} tests")
    return 0


if __name__ == "__main__":
    sys.exit(main())
