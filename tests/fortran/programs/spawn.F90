! SPDX-License-Identifier: MIT
! Claim: MPI_ARGV_NULL and MPI_ERRCODES_IGNORE mean what they say, and messages to a spawned rank arrive.
#include "binding.inc"
program spawn
    USE_MPI
    use checks
    implicit none
    INCLUDE_MPI
    double precision, allocatable :: array(:)
    character(len=4096) :: command
    COMM :: parent, children
    integer :: ierror
    call check_start()
    allocate (array(LARGE))
    call MPI_Comm_get_parent(parent, ierror)
    if (parent /= MPI_COMM_NULL) then
        call fill(array, LARGE, 7)
        call MPI_Send(array, LARGE, MPI_DOUBLE_PRECISION, 0, 1, parent, ierror)
        array = 0
        call MPI_Comm_disconnect(parent, ierror)
        call MPI_Finalize(ierror)
        stop
    end if
    call get_command_argument(0, command)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
    call MPI_Comm_spawn(trim(command), MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, &
                        MPI_ERRCODES_IGNORE, ierror)
    if (ierror /= MPI_SUCCESS) then
        if (check_rank() == 0) print '(a)', 'this MPI cannot spawn'
        call MPI_Finalize(ierror)
        stop 77
    end if
    if (check_rank() == 0) then
        array = -1
        call MPI_Recv(array, LARGE, MPI_DOUBLE_PRECISION, 0, 1, children, MPI_STATUS_IGNORE, ierror)
        call check(is_filled(array, LARGE, 7), 'what the child sent')
    end if
    call MPI_Comm_disconnect(children, ierror)
    call check_end()
end program
