! SPDX-License-Identifier: MIT
! Claim: nonblocking and persistent calls, whose handles the bindings convert, go with blocking ones on the same memory.
! defers: receive
#include "binding.inc"
program requests
    USE_MPI
    use checks
    implicit none
    INCLUDE_MPI
    ! MPI 4.1, 19.1.17: else the compiler may keep them in registers across a wait.
    double precision, allocatable, asynchronous :: first(:), second(:)
    integer :: rank, peer, round, ierror
    call check_start()
    rank = check_rank()
    peer = 1 - rank
    allocate (first(LARGE), second(LARGE))
    do round = 1, 4
        call receive_then_forward(round)
        call wait_for_any(round)
        call persistent(round)
        call freed(round)
    end do
    call check_end()

contains

    ! What is received in the background is sent on by MPI_Isend, and comes back.
    subroutine receive_then_forward(seed)
        integer, intent(in) :: seed
        REQUEST :: handles(2)
        STATUSES(all_statuses, 2)
        integer :: count
        if (rank == 1) then
            call check_delay()
            call fill(first, LARGE, seed)
            call MPI_Send(first, LARGE, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, ierror)
            second = -1
            call MPI_Recv(second, LARGE, MPI_DOUBLE_PRECISION, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
            call MPI_Send(second, LARGE / 2, MPI_DOUBLE_PRECISION, 0, 3, MPI_COMM_WORLD, ierror)
            call check(is_filled(second, LARGE, seed), 'what came back')
        else
            first = -1
            call MPI_Recv(first, LARGE, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
            call MPI_Isend(first, LARGE, MPI_DOUBLE_PRECISION, 1, 2, MPI_COMM_WORLD, handles(1), ierror)
            call MPI_Irecv(second, LARGE, MPI_DOUBLE_PRECISION, 1, 3, MPI_COMM_WORLD, handles(2), ierror)
            call MPI_Waitall(2, handles, all_statuses, ierror)
            call check(handles(1) == MPI_REQUEST_NULL .and. handles(2) == MPI_REQUEST_NULL, 'the handles are null')
            call check(SOURCE_AT(all_statuses, 2) == 1, 'the source')
            call MPI_Get_count(STATUS_AT(all_statuses, 2), MPI_DOUBLE_PRECISION, count, ierror)
            call check(count == LARGE / 2, 'the count')
            call check(is_filled(second, LARGE / 2, seed), 'what was sent twice')
        end if
    end subroutine

    subroutine wait_for_any(seed)
        integer, intent(in) :: seed
        REQUEST :: handles(2)
        STATUS(status)
        integer, asynchronous :: values(2)
        integer :: completed, indices(2)
        logical :: is_over
        STATUSES(all_statuses, 2)
        values = -1
        call MPI_Irecv(values(1), 1, MPI_INTEGER, peer, 11, MPI_COMM_WORLD, handles(1), ierror)
        call MPI_Irecv(values(2), 1, MPI_INTEGER, peer, 12, MPI_COMM_WORLD, handles(2), ierror)
        call swap_large(seed)
        call MPI_Send([seed], 1, MPI_INTEGER, peer, 12, MPI_COMM_WORLD, ierror)
        call MPI_Waitany(2, handles, completed, status, ierror)
        ! Not by the index: MPICH 4.0's mpi_f08 counts it from 0.
        call check(handles(2) == MPI_REQUEST_NULL .and. handles(1) /= MPI_REQUEST_NULL, 'the second came first')
        call check(values(2) == seed .and. TAG_OF(status) == 12, 'its value and its tag')
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        call MPI_Send([seed + 1], 1, MPI_INTEGER, peer, 11, MPI_COMM_WORLD, ierror)
        call MPI_Waitsome(2, handles, completed, indices, all_statuses, ierror)
        call check(completed == 1 .and. values(1) == seed + 1, 'then the other')
        call MPI_Testall(2, handles, is_over, MPI_STATUSES_IGNORE, ierror)
        call check(is_over, 'all are over')
        call check(is_filled(second, LARGE, 40 + seed + peer), 'the large message')
    end subroutine

    subroutine swap_large(seed)
        integer, intent(in) :: seed
        call fill(first, LARGE, 40 + seed + rank)
        if (rank == 0) call check_delay()
        call MPI_Sendrecv(first, LARGE, MPI_DOUBLE_PRECISION, peer, 13, second, LARGE, MPI_DOUBLE_PRECISION, &
                          peer, 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    end subroutine

    subroutine persistent(seed)
        integer, intent(in) :: seed
        REQUEST :: handles(2)
        integer :: turn
        call MPI_Send_init(first, LARGE, MPI_DOUBLE_PRECISION, peer, 21, MPI_COMM_WORLD, handles(1), ierror)
        call MPI_Recv_init(second, LARGE, MPI_DOUBLE_PRECISION, peer, 21, MPI_COMM_WORLD, handles(2), ierror)
        do turn = 1, 2
            call swap_large(seed + turn)
            call fill(first, LARGE, 60 + seed + turn + rank)
            call MPI_Startall(2, handles, ierror)
            call MPI_Waitall(2, handles, MPI_STATUSES_IGNORE, ierror)
            call check(is_filled(second, LARGE, 60 + seed + turn + peer), 'by persistent requests')
        end do
        call MPI_Request_free(handles(1), ierror)
        call MPI_Request_free(handles(2), ierror)
    end subroutine

    ! A request that is over only after its handle is gone, while others are converted.
    subroutine freed(seed)
        integer, intent(in) :: seed
        REQUEST :: handle
        integer, asynchronous :: value
        if (rank == 1) then
            call MPI_Isend(first, LARGE, MPI_DOUBLE_PRECISION, 0, 31, MPI_COMM_WORLD, handle, ierror)
            call MPI_Request_free(handle, ierror)
        end if
        call MPI_Irecv(value, 1, MPI_INTEGER, peer, 32, MPI_COMM_WORLD, handle, ierror)
        if (rank == 0) then
            call check_delay()
            call MPI_Recv(second, LARGE, MPI_DOUBLE_PRECISION, 1, 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
        end if
        call MPI_Send([seed], 1, MPI_INTEGER, peer, 32, MPI_COMM_WORLD, ierror)
        call MPI_Wait(handle, MPI_STATUS_IGNORE, ierror)
        call check(value == seed, 'the small message')
        if (rank == 0) call check(is_filled(second, LARGE, 60 + seed + 2 + 1), 'sent by a freed request')
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
    end subroutine
end program
