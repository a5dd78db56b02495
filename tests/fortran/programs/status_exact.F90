! SPDX-License-Identifier: MIT
! Claim: a status is exact in source, tag and counts, also after a shorter message and when it was copied.
! defers: receive
#include "binding.inc"
program status_exact
    USE_MPI
    use checks
    implicit none
    INCLUDE_MPI
    integer, parameter :: SENT = LARGE / 2 + 3
    double precision, allocatable :: array(:)
    integer :: ierror, count
    logical :: is_cancelled
    STATUS(status)
    STATUS(copy)
    call check_start()
    allocate (array(LARGE))
    array = -7
    if (check_rank() == 1) then
        call check_delay()
        call fill(array, SENT, 1)
        call MPI_Send(array, SENT, MPI_DOUBLE_PRECISION, 0, 17, MPI_COMM_WORLD, ierror)
        call MPI_Send(array, SENT, MPI_DOUBLE_PRECISION, 0, 18, MPI_COMM_WORLD, ierror)
    else
        call MPI_Recv(array, LARGE, MPI_DOUBLE_PRECISION, 1, 17, MPI_COMM_WORLD, status, ierror)
        copy = status
        call check(SOURCE_OF(status) == 1, 'the source')
        call check(TAG_OF(status) == 17, 'the tag')
        call MPI_Get_count(copy, MPI_DOUBLE_PRECISION, count, ierror)
        call check(count == SENT, 'the count is what was sent, not what was asked for')
        call MPI_Get_elements(status, MPI_DOUBLE_PRECISION, count, ierror)
        call check(count == SENT, 'MPI_Get_elements agrees')
        call MPI_Get_count(status, MPI_2DOUBLE_PRECISION, count, ierror)
        call check(count == MPI_UNDEFINED, 'no whole number of pairs was sent')
        call MPI_Test_cancelled(status, is_cancelled, ierror)
        call check(.not. is_cancelled, 'not cancelled')
        call check(is_filled(array, SENT, 1) .and. all(array(SENT + 1:) == -7), 'the data and the rest')
        call MPI_Recv(array, LARGE, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierror)
        call check(SOURCE_OF(status) == 1 .and. TAG_OF(status) == 18, 'source and tag of a wildcard')
        call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count, ierror)
        call check(count == SENT, 'count of a wildcard')
    end if
    call check_end()
end program
