! SPDX-License-Identifier: MIT
! Claim: both halves of MPI_Sendrecv go on after its return, and both buffers are right.
! defers: send receive
#include "binding.inc"
program sendrecv
    USE_MPI
    use checks
    implicit none
    INCLUDE_MPI
    ! On processors with large caches Intel MPI takes 2 MiB at once.
    integer, parameter :: LENGTH = 4*LARGE
    double precision, allocatable :: sent(:), received(:)
    integer :: round, rank, peer, ierror, count
    STATUS(status)
    call check_start()
    rank = check_rank()
    peer = 1 - rank
    allocate (sent(LENGTH), received(LENGTH))
    do round = 1, 4
        call fill(sent, LENGTH, round * 2 + rank)
        received = -1
        if (rank == mod(round, 2)) call check_delay()
        call MPI_Sendrecv(sent, LENGTH, MPI_DOUBLE_PRECISION, peer, 10 + rank, received, LENGTH, MPI_DOUBLE_PRECISION, &
                          peer, 10 + peer, MPI_COMM_WORLD, status, ierror)
        sent = 0
        call check(SOURCE_OF(status) == peer .and. TAG_OF(status) == 10 + peer, 'source and tag')
        call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count, ierror)
        call check(count == LENGTH, 'the count')
        call check(is_filled(received, LENGTH, round * 2 + peer), 'the data')
    end do
    call check_end()
end program
