! SPDX-License-Identifier: MIT
! Claim: attribute functions written in Fortran may use memory that was received just before.
! defers: receive
#include "binding.inc"
module attribute_functions
    use checks
    implicit none
    double precision, allocatable :: array(:)
    integer :: copies = 0, deletions = 0
contains
    subroutine copy_attribute(old, key, extra, value_in, value_out, flag, ierror)
        USE_MPI
        INCLUDE_MPI
        COMM :: old
        integer :: key, ierror
        integer(kind=MPI_ADDRESS_KIND) :: extra, value_in, value_out
        logical :: flag
        copies = copies + 1
        call check(array(1) == pattern(1, int(value_in)), 'the copy function sees the message')
        value_out = value_in
        flag = .true.
        ierror = MPI_SUCCESS
    end subroutine

    subroutine delete_attribute(comm_of, key, value, extra, ierror)
        USE_MPI
        INCLUDE_MPI
        COMM :: comm_of
        integer :: key, ierror
        integer(kind=MPI_ADDRESS_KIND) :: value, extra
        deletions = deletions + 1
        call check(array(LARGE) == pattern(LARGE, int(value)), 'the delete function sees the message')
        ierror = MPI_SUCCESS
    end subroutine
end module

program attributes
    USE_MPI
    use checks
    use attribute_functions
    implicit none
    INCLUDE_MPI
    COMM :: first, second
    integer :: key, round, ierror
    integer(kind=MPI_ADDRESS_KIND) :: value
    logical :: is_found
    call check_start()
    allocate (array(LARGE))
    array = -1
    call MPI_Comm_create_keyval(copy_attribute, delete_attribute, key, 0_MPI_ADDRESS_KIND, ierror)
    do round = 1, 3
        call MPI_Comm_dup(MPI_COMM_WORLD, first, ierror)
        value = round
        call MPI_Comm_set_attr(first, key, value, ierror)
        call exchange(round)
        call MPI_Comm_dup(first, second, ierror)
        call MPI_Comm_get_attr(second, key, value, is_found, ierror)
        call check(is_found .and. value == round, 'the copied value')
        call exchange(round)
        call MPI_Comm_free(second, ierror)
        call exchange(round)
        call MPI_Comm_delete_attr(first, key, ierror)
        call MPI_Comm_free(first, ierror)
    end do
    call check(copies == 3 .and. deletions == 6, 'each function ran when it should')
    call MPI_Comm_free_keyval(key, ierror)
    call check_end()

contains

    subroutine exchange(seed)
        integer, intent(in) :: seed
        double precision, allocatable :: own(:)
        integer :: peer
        peer = 1 - check_rank()
        allocate (own(LARGE))
        call fill(own, LARGE, seed)
        if (peer == 1) call check_delay()
        call MPI_Sendrecv(own, LARGE, MPI_DOUBLE_PRECISION, peer, 1, array, LARGE, MPI_DOUBLE_PRECISION, peer, 1, &
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    end subroutine
end program
