! SPDX-License-Identifier: MIT
! Claim: MPI's special addresses keep their meaning: MPI_BOTTOM, MPI_IN_PLACE, MPI_STATUS_IGNORE,
! MPI_STATUSES_IGNORE, MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY.
! defers: send receive
#include "binding.inc"
program sentinels
    USE_MPI
    use checks
    implicit none
    INCLUDE_MPI
    double precision, allocatable :: array(:)
    DATATYPE :: absolute
    integer :: rank, ierror
    call check_start()
    rank = check_rank()
    allocate (array(LARGE))
    call make_absolute()
    call statuses_ignored()
    call bottom_blocking()
    call bottom_sendrecv()
    call in_place()
    call graph()
    call MPI_Type_free(absolute, ierror)
    call check_end()

contains

    ! The whole array by its address.
    subroutine make_absolute()
        integer(kind=MPI_ADDRESS_KIND) :: places(1)
        DATATYPE :: types(1)
        call MPI_Get_address(array, places(1), ierror)
        types(1) = MPI_DOUBLE_PRECISION
        call MPI_Type_create_struct(1, [LARGE], places, types, absolute, ierror)
        call MPI_Type_commit(absolute, ierror)
    end subroutine

    subroutine statuses_ignored()
        REQUEST :: requests(2)
        integer, asynchronous :: unused(3)
        unused = 77
        if (rank == 1) then
            call check_delay()
            call fill(array, LARGE, 1)
            call MPI_Send(array, LARGE, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, ierror)
            call MPI_Send(unused, 1, MPI_INTEGER, 0, 2, MPI_COMM_WORLD, ierror)
            call MPI_Send(unused, 1, MPI_INTEGER, 0, 3, MPI_COMM_WORLD, ierror)
        else
            array = -1
            call MPI_Recv(array, LARGE, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
            call MPI_Irecv(unused(1), 1, MPI_INTEGER, 1, 2, MPI_COMM_WORLD, requests(1), ierror)
            call MPI_Irecv(unused(2), 1, MPI_INTEGER, 1, 3, MPI_COMM_WORLD, requests(2), ierror)
            call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
            call check(is_filled(array, LARGE, 1), 'MPI_STATUS_IGNORE')
        end if
    end subroutine

    subroutine bottom_blocking()
        if (rank == 1) then
            call check_delay()
            call fill(array, LARGE, 2)
            call MPI_Send(MPI_BOTTOM, 1, absolute, 0, 4, MPI_COMM_WORLD, ierror)
            call touch_hidden(array)
        else
            array = -1
            call MPI_Recv(MPI_BOTTOM, 1, absolute, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
            call touch_hidden(array)
            call check(is_filled(array, LARGE, 2), 'MPI_BOTTOM')
        end if
    end subroutine

    ! The compiler does not know that MPI_BOTTOM means the array (MPI 4.1, 19.1.17).
    subroutine touch_hidden(values)
        double precision, intent(inout), volatile :: values(LARGE)
        if (rank == 1) values(LARGE) = 0
    end subroutine

    subroutine bottom_sendrecv()
        double precision, allocatable :: other(:)
        allocate (other(LARGE))
        call fill(array, LARGE, 3 + rank)
        call MPI_Sendrecv(MPI_BOTTOM, 1, absolute, 1 - rank, 5, other, LARGE, MPI_DOUBLE_PRECISION, 1 - rank, 5, &
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
        call touch_hidden(array)
        call check(is_filled(other, LARGE, 4 - rank), 'MPI_BOTTOM in one half')
    end subroutine

    ! On the array while a message to it is under way.
    subroutine in_place()
        integer :: i
        call exchange(6)
        call MPI_Allreduce(MPI_IN_PLACE, array, LARGE, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
        do i = 1, LARGE, 1000
            call check(array(i) == pattern(i, 6) + pattern(i, 7), 'MPI_IN_PLACE in a reduction')
        end do
        call exchange(8)
        call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, array, LARGE / 2, MPI_DOUBLE_PRECISION, &
                           MPI_COMM_WORLD, ierror)
        do i = 1, LARGE / 2, 1000
            call check(array(i) == pattern(i, 9), 'MPI_IN_PLACE in a gather: the half of rank 0')
            call check(array(LARGE / 2 + i) == pattern(LARGE / 2 + i, 8), 'and that of rank 1')
        end do
    end subroutine

    ! Each rank gets the other's pattern into `array`.
    subroutine exchange(seed)
        integer, intent(in) :: seed
        double precision, allocatable :: own(:)
        allocate (own(LARGE))
        call fill(own, LARGE, seed + rank)
        call MPI_Sendrecv(own, LARGE, MPI_DOUBLE_PRECISION, 1 - rank, seed, array, LARGE, MPI_DOUBLE_PRECISION, &
                          1 - rank, seed, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    end subroutine

    subroutine graph()
        COMM :: graph_comm
        integer :: in_degree, out_degree
        integer :: in_list(1), out_list(1)
        logical :: is_weighted
        call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [1 - rank], MPI_UNWEIGHTED, 1, [1 - rank], &
                                            MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph_comm, ierror)
        call MPI_Dist_graph_neighbors_count(graph_comm, in_degree, out_degree, is_weighted, ierror)
        call check(in_degree == 1 .and. out_degree == 1 .and. .not. is_weighted, 'MPI_UNWEIGHTED')
        call MPI_Dist_graph_neighbors(graph_comm, 1, in_list, MPI_UNWEIGHTED, 1, out_list, MPI_UNWEIGHTED, ierror)
        call check(in_list(1) == 1 - rank .and. out_list(1) == 1 - rank, 'the neighbours')
        call MPI_Comm_free(graph_comm, ierror)
        call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, in_list, MPI_WEIGHTS_EMPTY, 0, out_list, &
                                            MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, .false., graph_comm, ierror)
        call MPI_Dist_graph_neighbors_count(graph_comm, in_degree, out_degree, is_weighted, ierror)
        call check(in_degree == 0 .and. out_degree == 0 .and. is_weighted, 'MPI_WEIGHTS_EMPTY')
        call MPI_Comm_free(graph_comm, ierror)
    end subroutine
end program
