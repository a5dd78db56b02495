! SPDX-License-Identifier: MIT
! The one procedure of Lapwing that a program may call (see lapwing.h). Without
! Lapwing in the process it does nothing.
module lapwing
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: lapwing_progress

  abstract interface
    subroutine progress_interface() bind(c)
    end subroutine progress_interface
  end interface

  interface
    function dlsym(handle, name) bind(c, name="dlsym") result(address)
      import :: c_ptr, c_funptr, c_char
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: address
    end function dlsym
  end interface

  procedure(progress_interface), pointer :: progress => null()
  logical :: is_looked_up = .false.

contains

  ! Lets messages and other operations that are under way progress, and returns at once.
  subroutine lapwing_progress()
    type(c_funptr) :: address
    if (.not. is_looked_up) then
      address = dlsym(c_null_ptr, "lapwing_progress_now" // c_null_char) ! RTLD_DEFAULT is null
      if (c_associated(address)) call c_f_procpointer(address, progress)
      is_looked_up = .true.
    end if
    if (associated(progress)) call progress()
  end subroutine lapwing_progress

end module lapwing
