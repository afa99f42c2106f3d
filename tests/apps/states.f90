! SPDX-License-Identifier: BSD-3-Clause
! states NAME - plants one wait state, as states.c does: somebody comes 0.1 s late. Two ranks.
program states
  use mpi
  implicit none
  integer :: rank, ierr, values(4), sums(4), request
  character(len=20) :: name

  interface
    integer(c_int) function usleep(useconds) bind(c)
      use iso_c_binding
      integer(c_int), value :: useconds
    end function usleep
  end interface

  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  call get_command_argument(1, name)
  values = rank
  ierr = usleep(30000)
  call mpi_barrier(mpi_comm_world, ierr)    ! ranks leave mpi_init some milliseconds apart
  select case (name)
  case ('late_sender')
    if (rank == 0) then
      call come_late
      call mpi_send(values, 4, mpi_integer, 1, 1, mpi_comm_world, ierr)
    else
      call mpi_recv(sums, 4, mpi_integer, 0, 1, mpi_comm_world, mpi_status_ignore, ierr)
    end if
  case ('late_receiver')
    if (rank == 0) then
      call mpi_ssend(values, 4, mpi_integer, 1, 1, mpi_comm_world, ierr)
    else
      call come_late
      call mpi_recv(sums, 4, mpi_integer, 0, 1, mpi_comm_world, mpi_status_ignore, ierr)
    end if
  case ('barrier')
    if (rank == 0) call come_late
    call mpi_barrier(mpi_comm_world, ierr)
  case ('allreduce')
    if (rank == 0) call come_late
    call mpi_allreduce(values, sums, 4, mpi_integer, mpi_sum, mpi_comm_world, ierr)
  case ('bcast')
    if (rank == 0) call come_late
    call mpi_bcast(values, 4, mpi_integer, 0, mpi_comm_world, ierr)
  case ('reduce')
    if (rank == 1) call come_late
    call mpi_reduce(values, sums, 4, mpi_integer, mpi_sum, 0, mpi_comm_world, ierr)
  case ('iallreduce')
    if (rank == 0) call come_late
    call mpi_iallreduce(values, sums, 4, mpi_integer, mpi_sum, mpi_comm_world, request, ierr)
    call mpi_wait(request, mpi_status_ignore, ierr)
  end select
  call mpi_finalize(ierr)

contains
  subroutine come_late
    ierr = usleep(100000)
  end subroutine come_late
end program states
