! SPDX-License-Identifier: MIT
! Claim: what is written to a buffer after its send does not reach the receiver.
! defers: send
#include "binding.inc"
program send_overwrite
    USE_MPI
    use checks
    implicit none
    INCLUDE_MPI
    double precision, allocatable :: array(:)
    integer :: round, ierror
    call check_start()
    allocate (array(LARGE))
    do round = 1, 6
        call fill(array, LARGE, round)
        if (check_rank() == 1) then
            if (mod(round, 2) == 0) then
                call MPI_Send(array, LARGE, MPI_DOUBLE_PRECISION, 0, 5, MPI_COMM_WORLD, ierror)
            else
                call MPI_Barrier(MPI_COMM_WORLD, ierror)
                call MPI_Rsend(array, LARGE, MPI_DOUBLE_PRECISION, 0, 5, MPI_COMM_WORLD, ierror)
            end if
            array = array * 2 + 1
        else
            call receive(array, round)
            call check(is_filled(array, LARGE, round), 'the message is as it was sent')
        end if
    end do
    call check_end()

contains

    ! A ready send needs its receive before it.
    subroutine receive(array, round)
        double precision, intent(inout), asynchronous :: array(LARGE)
        integer, intent(in) :: round
        REQUEST :: req
        array = -1
        if (mod(round, 2) == 0) then
            call check_delay()
            call MPI_Recv(array, LARGE, MPI_DOUBLE_PRECISION, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
        else
            call MPI_Irecv(array, LARGE, MPI_DOUBLE_PRECISION, 1, 5, MPI_COMM_WORLD, req, ierror)
            call MPI_Barrier(MPI_COMM_WORLD, ierror)
            call check_delay()
            call MPI_Wait(req, MPI_STATUS_IGNORE, ierror)
        end if
    end subroutine
end program
