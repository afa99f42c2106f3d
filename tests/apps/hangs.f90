! SPDX-License-Identifier: BSD-3-Clause
! The same in Fortran, for some: hangs CASE.
program hangs
	use mpi
	implicit none
	character(len = 16) :: name
	integer :: me, ranks, ierr, word, request, comm

	call MPI_Init(ierr)
	call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
	call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
	call MPI_Barrier(MPI_COMM_WORLD, ierr)
	call get_command_argument(1, name)
	word = me
	select case (name)
	case ('ssend')
		call MPI_Ssend(word, 1, MPI_INTEGER, ieor(me, 1), 7, MPI_COMM_WORLD, ierr)
	case ('cycle')
		call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
		call MPI_Recv(word, 1, MPI_INTEGER, mod(me + ranks - 1, ranks), 9, comm, MPI_STATUS_IGNORE, ierr)
	case ('knot')
		call MPI_Recv(word, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
	case ('pending')
		call MPI_Irecv(word, 1, MPI_INTEGER, mod(me + 1, ranks), 42, MPI_COMM_WORLD, request, ierr)
		call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
	case ('bcast')
		if (me == 2) call MPI_Bcast(word, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
	case ('asleep')
		if (me == 1) call sleep(100000)
	end select
	call MPI_Barrier(MPI_COMM_WORLD, ierr)
	call MPI_Finalize(ierr)
end program
