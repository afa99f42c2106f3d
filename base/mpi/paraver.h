/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extrae's numbers of MPI calls in Paraver and Dimemas traces (its MPI_EventEncoding.h). Include it
 * with PARAVER_CALL(type, value, name) defined; it is the last digit of the event type 5000000x.
 */
#ifndef PARAVER_H
#define PARAVER_H

#define PARAVER_TYPE 50000000		/* +1 point-to-point, 2 collective, 3 other, 4 RMA, 5 I/O */
#define PARAVER_SEND_BYTES 50100001	/* arguments of a collective, on the line of its entry */
#define PARAVER_RECEIVE_BYTES 50100002
#define PARAVER_ROOT 50100003		/* 1 on the root */
#define PARAVER_COMM 50100004

/* Callers: a function and its line at each level; level 1 is the call itself. */
enum {
	CALLER = 70000000, CALLER_LINE = 80000000,	/* plus the level */
	MOST_LEVELS = 99,
	CALLER_VALUES = 2,		/* 0 end, 1 unresolved, 2 not found */
};

#define PARAVER_CALLS \
	PARAVER_CALL(1, 1, "MPI_Send") PARAVER_CALL(1, 2, "MPI_Recv") \
	PARAVER_CALL(1, 3, "MPI_Isend") PARAVER_CALL(1, 4, "MPI_Irecv") \
	PARAVER_CALL(1, 5, "MPI_Wait") PARAVER_CALL(1, 6, "MPI_Waitall") \
	PARAVER_CALL(2, 7, "MPI_Bcast") PARAVER_CALL(2, 8, "MPI_Barrier") \
	PARAVER_CALL(2, 9, "MPI_Reduce") PARAVER_CALL(2, 10, "MPI_Allreduce") \
	PARAVER_CALL(2, 11, "MPI_Alltoall") PARAVER_CALL(2, 12, "MPI_Alltoallv") \
	PARAVER_CALL(2, 13, "MPI_Gather") PARAVER_CALL(2, 14, "MPI_Gatherv") \
	PARAVER_CALL(2, 15, "MPI_Scatter") PARAVER_CALL(2, 16, "MPI_Scatterv") \
	PARAVER_CALL(2, 17, "MPI_Allgather") PARAVER_CALL(2, 18, "MPI_Allgatherv") \
	PARAVER_CALL(3, 19, "MPI_Comm_rank") PARAVER_CALL(3, 20, "MPI_Comm_size") \
	PARAVER_CALL(3, 21, "MPI_Comm_create") PARAVER_CALL(3, 22, "MPI_Comm_dup") \
	PARAVER_CALL(3, 23, "MPI_Comm_split") PARAVER_CALL(3, 25, "MPI_Comm_free") \
	PARAVER_CALL(2, 30, "MPI_Scan") PARAVER_CALL(3, 31, "MPI_Init") \
	PARAVER_CALL(3, 32, "MPI_Finalize") PARAVER_CALL(1, 33, "MPI_Bsend") \
	PARAVER_CALL(1, 34, "MPI_Ssend") PARAVER_CALL(1, 35, "MPI_Rsend") \
	PARAVER_CALL(1, 36, "MPI_Ibsend") PARAVER_CALL(1, 37, "MPI_Issend") \
	PARAVER_CALL(1, 38, "MPI_Irsend") PARAVER_CALL(1, 39, "MPI_Test") \
	PARAVER_CALL(1, 40, "MPI_Cancel") PARAVER_CALL(1, 41, "MPI_Sendrecv") \
	PARAVER_CALL(1, 42, "MPI_Sendrecv_replace") PARAVER_CALL(3, 43, "MPI_Cart_create") \
	PARAVER_CALL(1, 59, "MPI_Waitany") PARAVER_CALL(1, 60, "MPI_Waitsome") \
	PARAVER_CALL(1, 61, "MPI_Probe") PARAVER_CALL(1, 62, "MPI_Iprobe") \
	PARAVER_CALL(2, 80, "MPI_Reduce_scatter") PARAVER_CALL(1, 116, "MPI_Recv_init") \
	PARAVER_CALL(1, 117, "MPI_Send_init") PARAVER_CALL(1, 123, "MPI_Start") \
	PARAVER_CALL(1, 124, "MPI_Startall") PARAVER_CALL(1, 125, "MPI_Testall") \
	PARAVER_CALL(2, 154, "MPI_Ireduce") PARAVER_CALL(2, 155, "MPI_Iallreduce") \
	PARAVER_CALL(2, 156, "MPI_Ibarrier") PARAVER_CALL(2, 157, "MPI_Ibcast") \
	PARAVER_CALL(2, 158, "MPI_Ialltoall") PARAVER_CALL(2, 160, "MPI_Iallgather") \
	PARAVER_CALL(2, 168, "MPI_Reduce_scatter_block") PARAVER_CALL(2, 170, "MPI_Alltoallw") \
	PARAVER_CALL(3, 194, "MPI_Init_thread")

#endif
