! SPDX-License-Identifier: MIT
! Claim: a function written in Fortran that deletes a datatype's attribute may use memory that was received just before.
! defers: receive
#include "binding.inc"
module type_attribute_functions
    use checks
    implicit none
    double precision, allocatable :: array(:)
    integer :: deletions = 0
contains
    subroutine delete_attribute(type_of, key, value, extra, ierror)
        USE_MPI
        INCLUDE_MPI
        DATATYPE :: type_of
        integer :: key, ierror
        integer(kind=MPI_ADDRESS_KIND) :: value, extra
        deletions = deletions + 1
        call check(array(LARGE) == pattern(LARGE, int(value)), 'the delete function sees the message')
        ierror = MPI_SUCCESS
    end subroutine
end module

program attributes_type
    USE_MPI
    use checks
    use type_attribute_functions
    implicit none
    INCLUDE_MPI
    DATATYPE :: pair
    integer :: key, ierror
    integer(kind=MPI_ADDRESS_KIND), parameter :: seed = 3
    double precision, allocatable :: own(:)
    call check_start()
    allocate (array(LARGE), own(LARGE))
    array = -1
    call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_attribute, key, 0_MPI_ADDRESS_KIND, ierror)
    call MPI_Type_contiguous(2, MPI_DOUBLE_PRECISION, pair, ierror)
    call MPI_Type_set_attr(pair, key, seed, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    if (check_rank() == 1) then
        call fill(own, LARGE, int(seed))
        array = own
        call check_delay()
        call MPI_Send(own, LARGE, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, ierror)
    else
        call MPI_Recv(array, LARGE, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    end if
    call MPI_Type_free(pair, ierror)
    call check(deletions == 1, 'the function ran once')
    call MPI_Type_free_keyval(key, ierror)
    call check_end()
end program
