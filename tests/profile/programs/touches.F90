! SPDX-License-Identifier: MIT
! Claim: call sites and first touches are found in Fortran, whatever binding is used.
program touches
#ifdef BINDING_F08
   use mpi_f08
#elif defined(BINDING_MPI)
   use mpi
#endif
   implicit none
#ifdef BINDING_MPIF
   include 'mpif.h'
#endif
   integer, parameter :: length = 50000
   double precision, allocatable :: buffer(:)
   double precision :: total
   integer :: rank, step, error
   allocate (buffer(length))
   buffer = 1
   total = 0
   call MPI_Init(error)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
   do step = 1, 3
      if (rank == 0) then
         call MPI_Send(buffer, length, MPI_DOUBLE_PRECISION, 1, 0, MPI_COMM_WORLD, error) ! CALL send
         buffer = step ! TOUCH send
      else
         call MPI_Recv(buffer, length, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error) ! CALL receive
         total = total + buffer(length/2) ! TOUCH receive
      end if
   end do
   if (rank == 1) print *, total
   call MPI_Finalize(error)
end program touches
