! SPDX-License-Identifier: MIT
! Claim: sections without gaps are received in place and in the background, also through assumed-shape and
! assumed-size dummies, pointers, and from a lower bound of their own.
! defers: send receive
#include "binding.inc"
program sections_contiguous
    USE_MPI
    use checks
    implicit none
    INCLUDE_MPI
    integer, parameter :: ROWS = 2048, COLUMNS = 256
    double precision, allocatable, target :: matrix(:, :)
    double precision, pointer :: columns_of(:, :)
    integer :: round, ierror
    call check_start()
    allocate (matrix(0:ROWS - 1, -3:COLUMNS + 3))
    do round = 1, 6
        matrix = -3
        columns_of => matrix(:, 1:COLUMNS)
        if (check_rank() == 1) then
            call check_delay()
            call fill(matrix(:, 1:COLUMNS), ROWS * COLUMNS, round)
            call MPI_Send(matrix(:, 1:COLUMNS), ROWS * COLUMNS, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, ierror)
            matrix = 0
        else
            select case (mod(round, 3))
            case (0)
                call MPI_Recv(matrix(:, 1:COLUMNS), ROWS * COLUMNS, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, &
                              MPI_STATUS_IGNORE, ierror)
            case (1)
                call receive_shape(matrix(:, 1:COLUMNS))
            case (2)
                call receive_size(columns_of)
            end select
            call check(is_filled(matrix(:, 1:COLUMNS), ROWS * COLUMNS, round), 'the section')
            call check(all(matrix(:, :0) == -3) .and. all(matrix(:, COLUMNS + 1:) == -3), 'the columns beside it')
        end if
    end do
    call check_end()

contains

    subroutine receive_shape(part)
        double precision, intent(inout) :: part(:, :)
        call MPI_Recv(part, size(part), MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    end subroutine

    subroutine receive_size(part)
        double precision, intent(inout) :: part(*)
        call MPI_Recv(part, ROWS * COLUMNS, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    end subroutine
end program
