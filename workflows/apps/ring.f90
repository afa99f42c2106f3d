! SPDX-License-Identifier: BSD-3-Clause
! ring - a Fortran program that passes blocks round a ring, reduces, and has a slow rank
program ring
  use mpi
  implicit none
  integer, parameter :: n = 20000, rounds = 200
  double precision :: mine(n), theirs(n), total, slow
  integer :: rank, ranks, left, right, round, i, ierr, requests(2)

  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  call mpi_comm_size(mpi_comm_world, ranks, ierr)
  left = mod(rank + ranks - 1, ranks)
  right = mod(rank + 1, ranks)
  mine = rank + 1
  do round = 1, rounds
    slow = 1
    if (rank == ranks - 1) slow = 4
    do i = 1, int(slow) * 5
      mine = mine * 0.5d0 + sqrt(mine * mine) * 0.5d0
    end do
    call mpi_irecv(theirs, n, mpi_double_precision, left, round, mpi_comm_world, requests(1), ierr)
    call mpi_isend(mine, n, mpi_double_precision, right, round, mpi_comm_world, requests(2), ierr)
    call mpi_waitall(2, requests, mpi_statuses_ignore, ierr)
    mine = theirs
    if (mod(round, 10) == 0) then
      total = mine(1)
      call mpi_allreduce(mpi_in_place, total, 1, mpi_double_precision, mpi_sum, mpi_comm_world, ierr)
    end if
  end do
  if (rank == 0) print '(a, f12.3)', ' ring: total ', total
  call mpi_finalize(ierr)
end program ring
