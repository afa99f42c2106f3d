! SPDX-License-Identifier: BSD-3-Clause
program main
  use mpi
  implicit none
  integer :: requests(8), half, status(mpi_status_size)
  include 'fortran.inc'
end program main
