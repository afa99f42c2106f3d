! SPDX-License-Identifier: BSD-3-Clause
! Long poles in Fortran: a module's procedure on rank 1 takes long before a collective, a message, a wait; or polls in vain.
module grid
  use mpi_f08
  implicit none
  integer :: me, np
  real(8) :: field(4096), total
contains
  subroutine relax(s)
    real(8), intent(in) :: s
    real(8) :: begin, now
    call cpu_time(begin)
    do
      field = field * 1.0000001d0 + 1d-9
      call cpu_time(now)
      if (now - begin >= s) exit
    end do
  end subroutine
  subroutine chemistry()
    real(8) :: begin, now
    call cpu_time(begin)
    do
      field = sqrt(abs(field)) + 1d-9
      call cpu_time(now)
      if (now - begin >= 0.015d0) exit
    end do
  end subroutine
  ! For a message that nobody sends.
  subroutine listen()
    logical :: found
    integer(8) :: begin, now, rate
    call system_clock(begin, rate)
    do
      call MPI_Iprobe(0, 9, MPI_COMM_WORLD, found, MPI_STATUS_IGNORE)
      call system_clock(now)
      if (found .or. now - begin >= 15 * rate / 1000) exit
    end do
  end subroutine
  subroutine exchange_reduce()
    call MPI_Allreduce(field(1), total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  end subroutine
  subroutine exchange_message()
    if (me == 1) then
      call MPI_Send(field, 64, MPI_DOUBLE_PRECISION, 0, 5, MPI_COMM_WORLD)
    else if (me == 0) then
      call MPI_Recv(field, 64, MPI_DOUBLE_PRECISION, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    end if
  end subroutine
  subroutine exchange_halo()
    type(MPI_Request) :: r(2)
    call MPI_Irecv(field, 64, MPI_DOUBLE_PRECISION, mod(me + np - 1, np), 5, MPI_COMM_WORLD, r(1))
    call MPI_Isend(field(65), 64, MPI_DOUBLE_PRECISION, mod(me + 1, np), 5, MPI_COMM_WORLD, r(2))
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
  end subroutine
end module
program shapes
  use grid
  implicit none
  character(32) :: name
  integer :: step
  call get_command_argument(1, name)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call MPI_Comm_size(MPI_COMM_WORLD, np)
  field = 1
  do step = 1, 20
    call relax(0.002d0)
    if (me == 1) then
      if (name == 'f_polls') then
        call listen()
      else
        call chemistry()
      end if
    end if
    select case (name)
    case ('f_reduce', 'f_polls'); call exchange_reduce()
    case ('f_message'); call exchange_message()
    case ('f_halo'); call exchange_halo()
    case default; error stop 'no such case'
    end select
  end do
  call MPI_Finalize()
end program
