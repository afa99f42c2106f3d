! SPDX-License-Identifier: BSD-3-Clause
! Names its parts in Fortran.
program named
  use longpole
  use mpi
  implicit none
  integer :: ierr, i

  call MPI_Init(ierr)
  do i = 1, 2
    call longpole_begin("step ")
    call longpole_begin("in Fortran")
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call longpole_end("in Fortran")
    call longpole_end("step")
  end do
  call MPI_Pcontrol(7)
  call MPI_Pcontrol(-7)
  call MPI_Finalize(ierr)
end program
