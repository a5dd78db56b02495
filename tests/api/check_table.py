# SPDX-License-Identifier: MIT
"""The table describes functions as the standard does: samples of roles, twins and classes."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "mpi"))
sys.dont_write_bytecode = True

from functions import functions  # noqa: E402
from table import Row, make_row, problems  # noqa: E402

ROWS = {row.name: row for row in functions()}


def roles(row: Row) -> list[str]:
    """The roles of a function's parameters, in order."""
    return [row.role(parameter) for parameter in row.parameters]


def types(row: Row) -> list[str]:
    """The types of a function's parameters, in order."""
    return [parameter.type + parameter.suffix for parameter in row.parameters]


def test_roles() -> None:
    """A receive is told completely from its row."""
    assert roles(ROWS["MPI_Recv"]) == ["buffer-out", "count", "datatype", "peer", "tag", "comm", "status"]
    assert roles(ROWS["MPI_Waitall"]) == ["count", "requests", "statuses"]
    assert roles(ROWS["MPI_Bcast"])[0] == "buffer-inout"


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
    assert list(problems(make_row("gated", "int MPI_Error_string(int errorcode, char *string, int *resultlen)")))
    assert list(problems(make_row("buffers", "int MPI_Barrier(MPI_Comm comm)")))
    assert not [problem for row in ROWS.values() for problem in problems(row)]


def test_classes() -> None:
    """Calls that must wait for everything do; calls that programs make all the time do not."""
    for name in ("MPI_Barrier", "MPI_Win_fence", "MPI_Iprobe", "MPI_Comm_dup", "MPI_File_write_at", "MPI_Alltoallw"):
        assert ROWS[name].treatment == "drain", name
    for name in ("MPI_Comm_rank", "MPI_Type_size", "MPI_Request_get_status", "MPI_Request_c2f", "MPI_Type_c2f"):
        assert ROWS[name].treatment == "gated", name
    for name in ("MPI_Get_count", "MPI_Status_set_cancelled", "MPI_Status_set_elements_c"):
        assert ROWS[name].treatment == "status", name
    for name in ("MPI_Allreduce", "MPI_Bcast", "MPI_Reduce_c"):
        assert ROWS[name].treatment == "buffers", name


def main() -> int:
    """Run the tests of this file."""
    tests = [value for name, value in sorted(globals().items()) if name.startswith("test_")]
    for test in tests:
        test()
    print(f"{len(tests)} tests")
    return 0


if __name__ == "__main__":
    sys.exit(main())
