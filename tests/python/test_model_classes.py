# SPDX-License-Identifier: MIT
"""The paper's classes, for the functions whose names mislead."""

import pytest

from lapwing.model.classes import CallClass, classify_function, count_directions, is_convertible


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("MPI_Send", CallClass.BLOCKING),
        ("MPI_Recv_c", CallClass.BLOCKING),
        ("PMPI_Allreduce", CallClass.BLOCKING),
        ("Sendrecv_replace", CallClass.BLOCKING),
        ("MPI_Probe", CallClass.BLOCKING),
        ("MPI_Isend", CallClass.START),
        ("MPI_Isendrecv_replace", CallClass.START),
        ("MPI_Ineighbor_alltoallw", CallClass.START),
        ("MPI_Startall", CallClass.START),
        ("MPI_Iprobe", CallClass.TEST),
        ("MPI_Testany", CallClass.TEST),
        ("MPI_Waitsome", CallClass.WAIT),
        ("MPI_Init", CallClass.OTHER),
        ("MPI_Is_thread_main", CallClass.OTHER),
        ("MPI_Info_set", CallClass.OTHER),
        ("MPI_Send_init", CallClass.OTHER),
        ("MPI_Test_cancelled", CallClass.OTHER),
        ("MPI_Put", CallClass.OTHER),
        ("MPI_Win_wait", CallClass.OTHER),
        ("MPI_File_read_all", CallClass.OTHER),
        ("MPI_Comm_idup", CallClass.OTHER),
        ("Pcontrol", CallClass.OTHER),
        ("", CallClass.OTHER),
    ],
)
def test_class_of_function(function: str, expected: CallClass) -> None:
    assert classify_function(function) is expected


def test_exchanges_move_their_size_twice() -> None:
    assert [count_directions(name) for name in ("MPI_Sendrecv", "MPI_Alltoallv_c", "MPI_Allreduce")] == [2, 2, 2]
    assert [count_directions(name) for name in ("MPI_Send", "MPI_Bcast", "MPI_Waitall", "MPI_Isend")] == [1, 1, 1, 1]


def test_probes_have_nothing_to_convert() -> None:
    assert not is_convertible("MPI_Probe")
    assert is_convertible("MPI_Bcast")
    assert not is_convertible("MPI_Wait")
