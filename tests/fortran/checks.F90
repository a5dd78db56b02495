! SPDX-License-Identifier: MIT
! What the Fortran test programs share. Plain MPI: nothing here knows of Lapwing.
#include "binding.inc"

module checks
    use, intrinsic :: iso_c_binding, only: c_int
    implicit none

    ! 2 MiB of doubles: far above every eager limit, so that a transfer needs both sides.
    integer, parameter :: LARGE = 262144

    interface
        integer(c_int) function usleep(time_us) bind(c)
            import :: c_int
            integer(c_int), value :: time_us
        end function
    end interface

contains

    subroutine check_start()
        USE_MPI
        INCLUDE_MPI
        integer :: ierror
        call MPI_Init(ierror)
    end subroutine

    ! MPI_Finalize; rank 0 prints "ok".
    subroutine check_end()
        USE_MPI
        INCLUDE_MPI
        integer :: ierror
        if (check_rank() == 0) print '(a)', 'ok'
        call MPI_Finalize(ierror)
    end subroutine

    integer function check_rank()
        USE_MPI
        INCLUDE_MPI
        integer :: ierror
        call MPI_Comm_rank(MPI_COMM_WORLD, check_rank, ierror)
    end function

    ! Ends the job with exit code 9 when the claim is false.
    subroutine check(is_true, claim)
        USE_MPI
        INCLUDE_MPI
        logical, intent(in) :: is_true
        character(len=*), intent(in) :: claim
        integer :: ierror
        if (is_true) return
        write (0, '(2a)') 'FAILED: ', claim
        flush (0)
        call MPI_Abort(MPI_COMM_WORLD, 9, ierror)
    end subroutine

    ! Long enough for the peer to return from its call first.
    subroutine check_delay()
        integer(c_int) :: ignored
        ignored = usleep(30000_c_int)
    end subroutine

    ! Element `i` of pattern `seed`; exact in a double and in an integer.
    pure integer function pattern(i, seed)
        integer, intent(in) :: i, seed
        pattern = mod(i * 31 + seed * 977, 100003)
    end function

    subroutine fill(array, length, seed)
        integer, intent(in) :: length, seed
        double precision, intent(out) :: array(length)
        integer :: i
        do i = 1, length
            array(i) = pattern(i, seed)
        end do
    end subroutine

    logical function is_filled(array, length, seed)
        integer, intent(in) :: length, seed
        double precision, intent(in) :: array(length)
        integer :: i
        is_filled = .true.
        do i = 1, length
            if (array(i) /= pattern(i, seed)) is_filled = .false.
        end do
    end function

end module
