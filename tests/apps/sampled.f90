! SPDX-License-Identifier: BSD-3-Clause
! sampled.c in Fortran, by counts of loops: three times as many in long_part as in short_part.
module parts
	implicit none
	double precision, volatile :: total = 0
contains
	subroutine long_part(seconds)
		double precision, intent(in) :: seconds
		double precision :: from, now
		integer :: i
		call cpu_time(from)
		do
			do i = 1, 20000
				total = total + i
			end do
			call cpu_time(now)
			if (now - from >= seconds) exit
		end do
	end subroutine
	subroutine short_part(seconds)
		double precision, intent(in) :: seconds
		double precision :: from, now
		integer :: i
		call cpu_time(from)
		do
			do i = 1, 20000
				total = total * 1.0001d0
			end do
			call cpu_time(now)
			if (now - from >= seconds) exit
		end do
	end subroutine
end module

program planted
	use mpi
	use parts
	implicit none
	integer :: rank, ierr
	call MPI_Init(ierr)
	call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
	call MPI_Barrier(MPI_COMM_WORLD, ierr)
	if (rank == 0) then
		call long_part(0.3d0)
		call short_part(0.1d0)
	else
		call short_part(0.05d0)
	end if
	call MPI_Barrier(MPI_COMM_WORLD, ierr)
	call MPI_Finalize(ierr)
end program
