! SPDX-License-Identifier: BSD-3-Clause
program main
  use mpi_f08
  implicit none
  type(mpi_request) :: requests(8)
  type(mpi_comm) :: half
  type(mpi_status) :: status
  include 'fortran.inc'
end program main
