! SPDX-License-Identifier: MIT
! Claim: common blocks, module arrays, saved and equivalenced variables are received and sent in the background.
! defers: send receive
#include "binding.inc"
module storage
    use checks, only: LARGE
    implicit none
    double precision, save :: module_array(LARGE)
end module

program static_storage
    USE_MPI
    use checks
    use storage
    implicit none
    INCLUDE_MPI
    double precision :: common_array(LARGE), whole(LARGE), view(2, LARGE / 2)
    integer :: before, after
    integer :: round, ierror
    common /block/ before, common_array, after
    equivalence (whole, view)
    save :: /block/, whole
    call check_start()
    do round = 1, 6
        before = 11
        after = 22
        if (check_rank() == 1) then
            call check_delay()
            call fill(module_array, LARGE, round)
            common_array = module_array
            whole = module_array
            call MPI_Send(module_array, LARGE, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, ierror)
            module_array = 0
            call MPI_Send(common_array, LARGE, MPI_DOUBLE_PRECISION, 0, 2, MPI_COMM_WORLD, ierror)
            common_array = 0
            call MPI_Send(whole, LARGE, MPI_DOUBLE_PRECISION, 0, 3, MPI_COMM_WORLD, ierror)
            view = 0
        else
            module_array = -1
            common_array = -1
            whole = -1
            call MPI_Recv(module_array, LARGE, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
            call MPI_Recv(common_array, LARGE, MPI_DOUBLE_PRECISION, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
            call MPI_Recv(whole, LARGE, MPI_DOUBLE_PRECISION, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
            call check(view(2, 5) == pattern(10, round), 'through the other name')
            call check(before == 11 .and. after == 22, 'beside it in the common block')
            call check(is_filled(common_array, LARGE, round), 'the common block')
            call check(is_filled(module_array, LARGE, round), 'the module array')
            call check(is_filled(whole, LARGE, round), 'the saved array')
        end if
    end do
    call check_end()
end program
