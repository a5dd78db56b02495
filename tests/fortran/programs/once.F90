! SPDX-License-Identifier: MIT
! Claim: each call reaches MPI once: every message arrives, in order, and none twice.
! defers: send
#include "binding.inc"
program once
    USE_MPI
    use checks
    implicit none
    INCLUDE_MPI
    double precision, allocatable :: array(:)
    integer :: number, length, ierror
    logical :: is_there
    call check_start()
    allocate (array(LARGE))
    do number = 1, 20
        length = merge(LARGE, 16, mod(number, 5) == 0)
        if (check_rank() == 1) then
            call fill(array, length, number)
            call MPI_Send(array, length, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, ierror)
        else
            if (mod(number, 5) == 0) call check_delay()
            array = -1
            call MPI_Recv(array, LARGE, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
            call check(is_filled(array, length, number), 'the next message')
        end if
    end do
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call check_delay()
    call MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, is_there, MPI_STATUS_IGNORE, ierror)
    call check(.not. is_there, 'nothing is left')
    call check_end()
end program
