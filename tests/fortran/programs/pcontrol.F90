! SPDX-License-Identifier: MIT
! Claim: MPI_Pcontrol reaches Lapwing from each binding: level 0 pauses, level 1 resumes.
! defers: receive
! passes: paused
#include "binding.inc"
program pcontrol
    USE_MPI
    use checks
    implicit none
    INCLUDE_MPI
    double precision, allocatable :: array(:)
    integer :: round, ierror
    call check_start()
    allocate (array(LARGE))
    do round = 1, 6
        array = -1
        call MPI_Pcontrol(mod(round, 2))
        if (check_rank() == 1) then
            call check_delay()
            call fill(array, LARGE, round)
            call MPI_Send(array, LARGE, MPI_DOUBLE_PRECISION, 0, round, MPI_COMM_WORLD, ierror)
        else
            call MPI_Recv(array, LARGE, MPI_DOUBLE_PRECISION, 1, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
            call check(is_filled(array, LARGE, round), 'the message')
        end if
    end do
    call check_end()
end program
