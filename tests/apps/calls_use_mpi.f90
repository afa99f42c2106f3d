! SPDX-License-Identifier: BSD-3-Clause
program main
  use mpi
  implicit none
  integer :: requests(4), copy, made, half, inter, grid, group, message, types(4)
  integer :: status(mpi_status_size), statuses(mpi_status_size, 4)
  integer :: window, file
  include 'calls.inc'
end program main
