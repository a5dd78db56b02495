! SPDX-License-Identifier: MIT
! Claim: a handler written in Fortran hears of every error, also of one that a large message causes.
#include "binding.inc"
module handler
    implicit none
    integer :: calls = 0
contains
    subroutine count_errors(comm, code)
        USE_MPI
        COMM :: comm
        integer :: code
        calls = calls + 1
    end subroutine
end module

program error_handler
    USE_MPI
    use checks
    use handler
    implicit none
    INCLUDE_MPI
    double precision, allocatable :: array(:)
    ERRHANDLER :: own
    integer :: ierror, class
    call check_start()
    allocate (array(LARGE))
    call MPI_Comm_create_errhandler(count_errors, own, ierror)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, own, ierror)
    call MPI_Send(array, LARGE, MPI_DOUBLE_PRECISION, 99, 1, MPI_COMM_WORLD, ierror)
    call check(calls == 1, 'an invalid rank')
    if (check_rank() == 1) then
        call check_delay()
        call fill(array, LARGE, 1)
        call MPI_Send(array, LARGE, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, ierror)
        array = 0
    else
        call MPI_Recv(array, LARGE, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
        call check(is_filled(array, LARGE, 1), 'messages go on')
        call MPI_Recv(array, 4, MPI_DOUBLE_PRECISION, 99, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
        call check(calls == 2, 'another invalid rank')
        call MPI_Error_class(ierror, class, ierror)
        call check(class == MPI_ERR_RANK, 'the code is returned too')
    end if
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierror)
    call MPI_Errhandler_free(own, ierror)
    call check_end()
end program
