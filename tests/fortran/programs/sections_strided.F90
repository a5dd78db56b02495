! SPDX-License-Identifier: MIT
! Claim: array sections with gaps arrive complete, and leave what lies between them alone. Compilers send and receive
! a temporary copy of them, which is copied back and freed right after the call.
#include "binding.inc"
program sections_strided
    USE_MPI
    use checks
    implicit none
    INCLUDE_MPI
    integer, parameter :: ROWS = 1024, COLUMNS = 512
    double precision, allocatable :: array(:), matrix(:, :)
    integer :: round, ierror
    call check_start()
    allocate (array(2 * LARGE), matrix(ROWS, COLUMNS))
    do round = 1, 6
        array = -1
        matrix = -2
        if (check_rank() == 1) then
            call check_delay()
            call fill(array(1:LARGE), LARGE, round)
            array(2 * LARGE:2:-2) = array(LARGE:1:-1)
            call MPI_Send(array(2:2 * LARGE:2), LARGE, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, ierror)
            array = 0
            call fill(matrix, ROWS * COLUMNS, round)
            call MPI_Send(matrix(1:ROWS / 2, :), ROWS / 2 * COLUMNS, MPI_DOUBLE_PRECISION, 0, 2, MPI_COMM_WORLD, ierror)
            matrix = 0
        else
            call MPI_Recv(array(2:2 * LARGE:2), LARGE, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, &
                          MPI_STATUS_IGNORE, ierror)
            call MPI_Recv(matrix(ROWS / 2 + 1:, :), ROWS / 2 * COLUMNS, MPI_DOUBLE_PRECISION, 1, 2, MPI_COMM_WORLD, &
                          MPI_STATUS_IGNORE, ierror)
            call check_vector(round)
            call check_matrix(round)
        end if
    end do
    call check_end()

contains

    subroutine check_vector(round)
        integer, intent(in) :: round
        integer :: i
        do i = 1, LARGE
            call check(array(2 * i) == pattern(i, round), 'the elements of the section')
            call check(array(2 * i - 1) == -1, 'the elements between')
        end do
    end subroutine

    subroutine check_matrix(round)
        integer, intent(in) :: round
        integer :: i, j
        do j = 1, COLUMNS
            do i = 1, ROWS / 2
                call check(matrix(ROWS / 2 + i, j) == pattern((j - 1) * ROWS + i, round), 'the lower half')
                call check(matrix(i, j) == -2, 'the upper half')
            end do
        end do
    end subroutine
end program
