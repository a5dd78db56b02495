! SPDX-License-Identifier: MIT
! Claim: the threads of a parallel region that touch a message at once all see it, and so does a reduction.
! flags: -fopenmp
! defers: send receive
#include "binding.inc"
program openmp_touch
    USE_MPI
    use checks
    implicit none
    INCLUDE_MPI
    double precision, allocatable :: sent(:), received(:)
    double precision :: total, expected
    integer :: rank, peer, round, provided, i, wrong, ierror
    call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierror)
    rank = check_rank()
    peer = 1 - rank
    allocate (sent(LARGE), received(LARGE))
    do round = 1, 5
        call fill(sent, LARGE, round + rank)
        received = -1
        if (rank == 0) call check_delay()
        call MPI_Sendrecv(sent, LARGE, MPI_DOUBLE_PRECISION, peer, 1, received, LARGE, MPI_DOUBLE_PRECISION, peer, 1, &
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
        wrong = 0
        !$omp parallel do num_threads(4) reduction(+:wrong) schedule(static, 1024)
        do i = 1, LARGE
            if (received(i) /= pattern(i, round + peer)) wrong = wrong + 1
            sent(i) = -received(i)
        end do
        !$omp end parallel do
        call check(wrong == 0, 'each thread sees the message')
        total = 0
        expected = 0
        !$omp parallel do num_threads(4) reduction(+:total, expected)
        do i = 1, LARGE
            total = total + sent(i)
            expected = expected - pattern(i, round + peer)
        end do
        !$omp end parallel do
        call check(total == expected, 'a reduction')
    end do
    call check_end()
end program
