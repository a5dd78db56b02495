! SPDX-License-Identifier: MIT
! Claim: allocatables that end with their scope, and temporaries on the heap, are not given back while a message is
! under way: what is allocated next is never written by an earlier receive, nor sent in place of an earlier send.
! defers: send receive
! flags: -fno-stack-arrays
#include "binding.inc"
program heap_temporaries
    USE_MPI
    use checks
    implicit none
    INCLUDE_MPI
    integer :: round, ierror
    call check_start()
    do round = 1, 12
        if (check_rank() == 1) then
            if (mod(round, 3) == 0) call check_delay()
            call send_local(round)
            call use_memory(round)
            call send_expression(round)
            call use_memory(round)
        else
            if (mod(round, 3) == 1) call check_delay()
            call forget_received(round)
            call use_memory(round)
            call keep_received(round)
        end if
    end do
    call check_end()

contains

    subroutine send_local(round)
        integer, intent(in) :: round
        double precision, allocatable :: local(:)
        allocate (local(LARGE))
        call fill(local, LARGE, round)
        call MPI_Send(local, LARGE, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, ierror)
    end subroutine

    subroutine send_expression(round)
        integer, intent(in) :: round
        double precision, allocatable :: local(:)
        allocate (local(LARGE))
        call fill(local, LARGE, round)
        call MPI_Send(local + 3, LARGE, MPI_DOUBLE_PRECISION, 0, 2, MPI_COMM_WORLD, ierror)
    end subroutine

    ! Freed by the end of its scope without ever being looked at.
    subroutine forget_received(round)
        integer, intent(in) :: round
        double precision, allocatable :: local(:)
        allocate (local(LARGE))
        local = -round
        call MPI_Recv(local, LARGE, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    end subroutine

    subroutine keep_received(round)
        integer, intent(in) :: round
        double precision, allocatable :: local(:), moved(:)
        allocate (local(LARGE))
        call MPI_Recv(local, LARGE, MPI_DOUBLE_PRECISION, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
        call move_alloc(local, moved)
        moved = moved - 3
        call check(is_filled(moved, LARGE, round), 'the expression')
    end subroutine

    ! Likely the same addresses again.
    subroutine use_memory(round)
        integer, intent(in) :: round
        double precision, allocatable :: other(:)
        allocate (other(LARGE))
        call fill(other, LARGE, round + 1000)
        call check_delay()
        call check(is_filled(other, LARGE, round + 1000), 'memory allocated anew')
    end subroutine
end program
