! SPDX-License-Identifier: MIT
! Claim: collectives see what was received before them, and do not disturb what is being sent.
! defers: send receive
#include "binding.inc"
program collectives
    USE_MPI
    use checks
    implicit none
    INCLUDE_MPI
    double precision, allocatable :: sent(:), received(:), gathered(:)
    integer :: rank, peer, round, ierror
    call check_start()
    rank = check_rank()
    peer = 1 - rank
    allocate (sent(LARGE), received(LARGE), gathered(2 * LARGE))
    do round = 1, 4
        call swap(round)
        call MPI_Bcast(received, LARGE, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierror)
        call check(is_filled(received, LARGE, round + 1), 'a broadcast of what was received')
        call swap(round)
        call MPI_Gather(received, LARGE, MPI_DOUBLE_PRECISION, gathered, LARGE, MPI_DOUBLE_PRECISION, 0, &
                        MPI_COMM_WORLD, ierror)
        if (rank == 0) call check(is_filled(gathered, LARGE, round + 1), 'a gather: rank 0')
        if (rank == 0) call check(is_filled(gathered(LARGE + 1:), LARGE, round), 'a gather: rank 1')
        call swap(round)
        call exchange_all(round)
        call swap(round)
        call exchange_types(round)
        call swap(round)
        call reduce_with_function(round)
    end do
    call check_end()

contains

    ! `received` gets the pattern of the peer, one after `seed` for rank 0.
    subroutine swap(seed)
        integer, intent(in) :: seed
        if (rank == mod(seed, 2)) call check_delay()
        call fill(sent, LARGE, seed + rank)
        call MPI_Sendrecv(sent, LARGE, MPI_DOUBLE_PRECISION, peer, 1, received, LARGE, MPI_DOUBLE_PRECISION, peer, 1, &
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    end subroutine

    subroutine exchange_all(seed)
        integer, intent(in) :: seed
        integer :: counts(2), places(2), i
        counts = [LARGE / 4, LARGE / 2]
        places = [LARGE / 2, 0]
        call MPI_Alltoallv(received, counts, places, MPI_DOUBLE_PRECISION, gathered, [counts(rank + 1), counts(rank + 1)], &
                           [0, LARGE / 2], MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierror)
        do i = 1, counts(rank + 1), 777
            call check(gathered(i) == pattern(places(rank + 1) + i, seed + 1), 'MPI_Alltoallv: of rank 0')
            call check(gathered(LARGE / 2 + i) == pattern(places(rank + 1) + i, seed), 'MPI_Alltoallv: of rank 1')
        end do
    end subroutine

    ! The bindings convert arrays of datatypes.
    subroutine exchange_types(seed)
        integer, intent(in) :: seed
        DATATYPE :: types(2)
        integer :: i
        types = MPI_DOUBLE_PRECISION
        call MPI_Alltoallw(received, [LARGE / 2, LARGE / 2], [0, LARGE / 2 * 8], types, gathered, &
                           [LARGE / 2, LARGE / 2], [0, LARGE / 2 * 8], types, MPI_COMM_WORLD, ierror)
        do i = 1, LARGE / 2, 777
            call check(gathered(i) == pattern(rank * LARGE / 2 + i, seed + 1), 'MPI_Alltoallw: of rank 0')
            call check(gathered(LARGE / 2 + i) == pattern(rank * LARGE / 2 + i, seed), 'MPI_Alltoallw: of rank 1')
        end do
    end subroutine

    subroutine reduce_with_function(seed)
        integer, intent(in) :: seed
        OPERATION :: largest
        integer :: i
        call MPI_Op_create(take_larger, .true., largest, ierror)
        call MPI_Allreduce(received, gathered, LARGE, MPI_DOUBLE_PRECISION, largest, MPI_COMM_WORLD, ierror)
        call MPI_Op_free(largest, ierror)
        do i = 1, LARGE, 777
            call check(gathered(i) == max(pattern(i, seed), pattern(i, seed + 1)), 'a reduction by the program')
        end do
    end subroutine

#if defined(BINDING_F08)
    subroutine take_larger(in, inout, length, kind)
        use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
        type(c_ptr), value :: in, inout
        integer :: length
        type(MPI_Datatype) :: kind
        double precision, pointer :: a(:), b(:)
        call c_f_pointer(in, a, [length])
        call c_f_pointer(inout, b, [length])
        b = max(a, b)
    end subroutine
#else
    subroutine take_larger(in, inout, length, kind)
        integer :: length, kind
        double precision :: in(length), inout(length)
        inout = max(in, inout)
    end subroutine
#endif
end program
