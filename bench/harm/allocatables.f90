! SPDX-License-Identifier: MIT
! A time step with an allocatable temporary of 1.6 MB: allocatables [STEPS].
program allocatables
  implicit none
  character(len=20) :: word
  integer :: i, steps
  real(8), allocatable :: u(:)
  steps = 3000
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) steps
  end if
  allocate (u(200000))
  u = 1d0
  do i = 1, steps
    call advance(u)
  end do
  print *, u(1)
contains
  subroutine advance(u)
    real(8), intent(inout) :: u(:)
    real(8), allocatable :: change(:)
    allocate (change(size(u)))
    change = 0.5d0*u
    u = u + 1d-9*change
    deallocate (change)
  end subroutine advance
end program allocatables
