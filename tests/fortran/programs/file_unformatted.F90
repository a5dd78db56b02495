! SPDX-License-Identifier: MIT
! Claim: libgfortran's own system calls on held memory wait: unformatted writes of what was received, reads into what
! is being sent, and direct access.
! defers: send receive
#include "binding.inc"
program file_unformatted
    USE_MPI
    use checks
    implicit none
    INCLUDE_MPI
    double precision, allocatable :: array(:), other(:)
    integer :: round, unit, ierror
    call check_start()
    allocate (array(LARGE), other(LARGE))
    open (newunit=unit, status='scratch', form='unformatted', access='stream')
    do round = 1, 4
        if (check_rank() == 1) then
            call fill(other, LARGE, round + 30)
            write (unit, pos=1) other
            call check_delay()
            call fill(array, LARGE, round)
            call MPI_Send(array, LARGE, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, ierror)
            read (unit, pos=1) array
            call check(is_filled(array, LARGE, round + 30), 'what was read over it')
        else
            array = -1
            call MPI_Recv(array, LARGE, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
            write (unit, pos=1) array
            read (unit, pos=1) other
            call check(is_filled(other, LARGE, round), 'what was written')
        end if
    end do
    close (unit)
    call check_end()
end program
