! SPDX-License-Identifier: MIT
! Claim: arrays of derived types, by a struct datatype, a vector datatype, and by the section of one component.
#include "binding.inc"
module particles
    implicit none
    type particle
        sequence
        double precision :: position(3)
        double precision :: mass
        integer :: number
        integer :: unused
    end type
end module

program derived_buffers
    USE_MPI
    use checks
    use particles
    implicit none
    INCLUDE_MPI
    integer, parameter :: COUNT = 50000
    type(particle), allocatable :: group(:)
    double precision, allocatable :: matrix(:, :)
    DATATYPE :: particle_type, row_type
    integer :: round, ierror
    call check_start()
    call make_types()
    allocate (group(COUNT), matrix(8, COUNT))
    do round = 1, 4
        call set_group(-1)
        matrix = -1
        if (check_rank() == 1) then
            call check_delay()
            call set_group(round)
            matrix(3, :) = group%mass
            call MPI_Send(group, COUNT, particle_type, 0, 1, MPI_COMM_WORLD, ierror)
            call MPI_Send(group%mass, COUNT, MPI_DOUBLE_PRECISION, 0, 2, MPI_COMM_WORLD, ierror)
            call MPI_Send(matrix(3, 1), 1, row_type, 0, 3, MPI_COMM_WORLD, ierror)
            call set_group(0)
            matrix = 0
        else
            call MPI_Recv(group, COUNT, particle_type, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
            call check_group(round)
            group%mass = 0
            call MPI_Recv(group%mass, COUNT, MPI_DOUBLE_PRECISION, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
            call check_group(round)
            call MPI_Recv(matrix(3, 1), 1, row_type, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
            call check(all(matrix(3, :) == group%mass), 'the row')
            call check(all(matrix(1:2, :) == -1) .and. all(matrix(4:8, :) == -1), 'the other rows')
        end if
    end do
    call MPI_Type_free(particle_type, ierror)
    call MPI_Type_free(row_type, ierror)
    call check_end()

contains

    subroutine make_types()
        DATATYPE :: types(2)
        integer(kind=MPI_ADDRESS_KIND) :: places(2)
        places = [0_MPI_ADDRESS_KIND, 32_MPI_ADDRESS_KIND]
        types(1) = MPI_DOUBLE_PRECISION
        types(2) = MPI_INTEGER
        call MPI_Type_create_struct(2, [4, 2], places, types, particle_type, ierror)
        call MPI_Type_commit(particle_type, ierror)
        call MPI_Type_vector(COUNT, 1, 8, MPI_DOUBLE_PRECISION, row_type, ierror)
        call MPI_Type_commit(row_type, ierror)
    end subroutine

    subroutine set_group(seed)
        integer, intent(in) :: seed
        integer :: i
        do i = 1, COUNT
            group(i)%position = [i, seed, i + seed]
            group(i)%mass = pattern(i, seed)
            group(i)%number = i * seed
            group(i)%unused = seed
        end do
    end subroutine

    subroutine check_group(seed)
        integer, intent(in) :: seed
        integer :: i
        do i = 1, COUNT
            call check(all(group(i)%position == [i, seed, i + seed]), 'the position')
            call check(group(i)%mass == pattern(i, seed) .and. group(i)%number == i * seed, 'mass and number')
        end do
    end subroutine
end program
