! SPDX-License-Identifier: BSD-3-Clause
program main
  use mpi_f08
  implicit none
  type(mpi_request) :: requests(4)
  type(mpi_comm) :: copy, made, half, inter, grid
  type(mpi_group) :: group
  type(mpi_message) :: message
  type(mpi_datatype) :: types(4)
  type(mpi_status) :: status, statuses(4)
  type(mpi_win) :: window
  type(mpi_file) :: file
  include 'calls.inc'
end program main
