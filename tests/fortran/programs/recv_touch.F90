! SPDX-License-Identifier: MIT
! Claim: the first access after a receive sees its data: a load, a store, an array expression, a section.
! defers: receive
#include "binding.inc"
program recv_touch
    USE_MPI
    use checks
    implicit none
    INCLUDE_MPI
    double precision, allocatable :: array(:)
    integer :: round, ierror
    call check_start()
    allocate (array(LARGE))
    do round = 1, 8
        array = -1
        if (check_rank() == 1) then
            call check_delay()
            call fill(array, LARGE, round)
            call MPI_Send(array, LARGE, MPI_DOUBLE_PRECISION, 0, round, MPI_COMM_WORLD, ierror)
        else
            call MPI_Recv(array, LARGE, MPI_DOUBLE_PRECISION, 1, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
            call touch(array, round)
        end if
    end do
    call check_end()

contains

    subroutine touch(array, round)
        double precision, intent(inout) :: array(:)
        integer, intent(in) :: round
        double precision :: expected
        integer :: i
        select case (mod(round, 4))
        case (0)
            call check(array(LARGE) == pattern(LARGE, round), 'a load')
        case (1)
            array(17) = -5
            call check(array(17) == -5, 'a store')
            array(17) = pattern(17, round)
        case (2)
            expected = 0
            do i = 1, LARGE
                expected = expected + pattern(i, round)
            end do
            call check(sum(array) == expected, 'an array expression')
        case (3)
            array(1:LARGE:2) = array(1:LARGE:2) + 1
            array(1:LARGE:2) = array(1:LARGE:2) - 1
        end select
        call check(is_filled(array, LARGE, round), 'all the rest')
    end subroutine
end program
