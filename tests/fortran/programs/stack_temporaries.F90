! SPDX-License-Identifier: MIT
! Claim: temporaries and automatic arrays on the stack are sent and received whole, though their memory is used
! again by the next call.
! flags: -fstack-arrays -fmax-stack-var-size=16777216
#include "binding.inc"
program stack_temporaries
    USE_MPI
    use checks
    implicit none
    INCLUDE_MPI
    integer, parameter :: LENGTH = 65536
    double precision, allocatable :: array(:)
    integer :: round, ierror
    call check_start()
    allocate (array(2 * LENGTH))
    do round = 1, 8
        array = -1
        if (check_rank() == 1) then
            call check_delay()
            call fill(array, LENGTH, round)
            call send_expression(array(1:LENGTH), LENGTH)
            call overwrite_stack(LENGTH)
            call send_automatic(LENGTH, round)
            call overwrite_stack(LENGTH)
        else
            call MPI_Recv(array(1:2 * LENGTH:2), LENGTH, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, &
                          MPI_STATUS_IGNORE, ierror)
            call overwrite_stack(LENGTH)
            call check(all(array(2::2) == -1), 'between the elements')
            array(1:LENGTH) = (array(1:2 * LENGTH:2) - 1) / 2
            call check(is_filled(array, LENGTH, round), 'the expression')
            call receive_automatic(LENGTH, round)
            call overwrite_stack(LENGTH)
        end if
    end do
    call check_end()

contains

    subroutine send_expression(values, length)
        integer, intent(in) :: length
        double precision, intent(in) :: values(length)
        call MPI_Send(values * 2 + 1, length, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, ierror)
    end subroutine

    subroutine send_automatic(length, round)
        integer, intent(in) :: length, round
        double precision :: automatic(length)
        call fill(automatic, length, round + 50)
        call MPI_Send(automatic, length, MPI_DOUBLE_PRECISION, 0, 2, MPI_COMM_WORLD, ierror)
    end subroutine

    ! The caller's frame holds what is received; a callee's frame then lies below it.
    subroutine receive_automatic(length, round)
        integer, intent(in) :: length, round
        double precision :: automatic(length)
        automatic = -9
        call MPI_Recv(automatic, length, MPI_DOUBLE_PRECISION, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
        call overwrite_stack(length)
        if (mod(round, 2) == 0) call check(is_filled(automatic, length, round + 50), 'the automatic array')
    end subroutine

    recursive subroutine overwrite_stack(length)
        integer, intent(in) :: length
        double precision, volatile :: garbage(length)
        garbage = 12345
        call check(garbage(length) == 12345, 'the stack is usable')
    end subroutine
end program
