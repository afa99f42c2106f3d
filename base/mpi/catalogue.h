/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measured functions, and mock-ups, which do the same with other functions of the library.
 * GL is the number of the guideline "function <= mock-up" in S. Hunold, A. Carpen-Amarie,
 * F. D. Lübbe, J. L. Träff, "Automatic Verification of Self-consistent MPI Performance
 * Guidelines" (PGMPI), Euro-Par 2016. 1 is monotony, 2 is split-robustness; numbers from 20 on are
 * not in the paper.
 */
#ifndef CATALOGUE_H
#define CATALOGUE_H

/*
 * FUNCTION(name, input, output): the layout gives the number of blocks of m bytes in each buffer:
 * ONE, ALL (p) or TWO, on all ranks, only at the root, or everywhere except there. The volume n of
 * a call is that of its largest buffer; with TWO, half are gaps and do not count.
 */
enum layout { NONE, ONE, ONE_AT_ROOT, ONE_BUT_ROOT, TWO, ALL, ALL_AT_ROOT };
#define FUNCTIONS(FUNCTION) \
	FUNCTION(Gather, ONE, ALL_AT_ROOT) \
	FUNCTION(Scatter, ALL_AT_ROOT, ONE) \
	FUNCTION(Allgather, ONE, ALL) \
	FUNCTION(Alltoall, ALL, ALL) \
	FUNCTION(Bcast, ONE_AT_ROOT, ONE_BUT_ROOT) \
	FUNCTION(Reduce, ONE, ONE_AT_ROOT) \
	FUNCTION(Allreduce, ONE, ONE) \
	FUNCTION(Reduce_scatter, ALL, ONE) \
	FUNCTION(Reduce_scatter_block, ALL, ONE) \
	FUNCTION(Scan, ONE, ONE) \
	FUNCTION(Exscan, ONE, ONE) \
	FUNCTION(Barrier, NONE, NONE) \
	FUNCTION(Sendrecv, ONE, ONE) \
	FUNCTION(Sendrecv_vector, TWO, TWO) \
	FUNCTION(Igather, ONE, ALL_AT_ROOT) \
	FUNCTION(Iscatter, ALL_AT_ROOT, ONE) \
	FUNCTION(Iallgather, ONE, ALL) \
	FUNCTION(Ialltoall, ALL, ALL) \
	FUNCTION(Ibcast, ONE_AT_ROOT, ONE_BUT_ROOT) \
	FUNCTION(Ireduce, ONE, ONE_AT_ROOT) \
	FUNCTION(Iallreduce, ONE, ONE) \
	FUNCTION(Ibarrier, NONE, NONE)

/*
 * Functions that lp-network fits; they are not in the guidelines and not in "all". Each consists
 * of 16 messages of a block, one after the other, between ranks 0 and 1; other ranks do nothing.
 * Pingpong: back and forth in turn. Send, Recv: time in MPI_Send while the receiver computes, and
 * then in MPI_Recv. Exchange: both ways at once. Burst: all in one direction, then one empty
 * message back. Combine: no message, but the sum of two blocks.
 */
enum { PINGPONG_MESSAGES = 16 };
#define NETWORK_FUNCTIONS(FUNCTION) \
	FUNCTION(Pingpong, ONE, ONE) \
	FUNCTION(Send, ONE, ONE) \
	FUNCTION(Recv, ONE, ONE) \
	FUNCTION(Exchange, ONE, ONE) \
	FUNCTION(Burst, ONE, ONE) \
	FUNCTION(Combine, ONE, ONE)

/*
 * MOCKUP(GL, function, name, text, extra memory): the memory beside the function's own buffers, in
 * elements on the rank that needs most, for p ranks and m elements a block; pad is m rounded up to
 * a multiple of p.
 */
#define MOCKUPS(MOCKUP) \
	MOCKUP(3, Gather, Allgather, "Allgather", p * m) \
	MOCKUP(4, Gather, Reduce, "Reduce", p * m) \
	MOCKUP(5, Allgather, Alltoall, "Alltoall", p * m) \
	MOCKUP(6, Allgather, Allreduce, "Allreduce", p * m) \
	MOCKUP(7, Scatter, Bcast, "Bcast", p * m) \
	MOCKUP(8, Reduce, Allreduce, "Allreduce", m) \
	MOCKUP(9, Reduce_scatter, Allreduce, "Allreduce", p * m) \
	MOCKUP(10, Bcast, ScatterAllgather, "Scatter+Allgather", pad + pad / p) \
	MOCKUP(11, Allgather, GatherBcast, "Gather+Bcast", 0) \
	MOCKUP(12, Allreduce, ReduceBcast, "Reduce+Bcast", 0) \
	MOCKUP(13, Allreduce, ReducescatterblockAllgather, "Reduce_scatter_block+Allgather", \
	    pad + pad / p) \
	MOCKUP(14, Reduce, ReducescatterblockGather, "Reduce_scatter_block+Gather", pad + pad / p) \
	MOCKUP(15, Reduce_scatter_block, ReduceScatter, "Reduce+Scatter", p * m) \
	MOCKUP(16, Scan, ExscanReducelocal, "Exscan+Reduce_local", m) \
	MOCKUP(17, Reduce_scatter, ReduceScatterv, "Reduce+Scatterv", p * m) \
	MOCKUP(20, Gather, Gatherv, "Gatherv", 0) \
	MOCKUP(21, Scatter, Scatterv, "Scatterv", 0) \
	MOCKUP(22, Allgather, Allgatherv, "Allgatherv", 0) \
	MOCKUP(23, Alltoall, Alltoallv, "Alltoallv", 0) \
	MOCKUP(24, Reduce_scatter_block, Reducescatter, "Reduce_scatter", 0) \
	MOCKUP(25, Barrier, Allreduce, "Allreduce(1 byte)", 2) \
	MOCKUP(26, Sendrecv, IsendIrecvWaitall, "Isend+Irecv+Waitall", 0) \
	MOCKUP(27, Sendrecv_vector, PackSendrecvUnpack, "Pack+Sendrecv+Unpack", 2 * m) \
	MOCKUP(28, Igather, Gather, "Gather", 0) \
	MOCKUP(28, Iscatter, Scatter, "Scatter", 0) \
	MOCKUP(28, Iallgather, Allgather, "Allgather", 0) \
	MOCKUP(28, Ialltoall, Alltoall, "Alltoall", 0) \
	MOCKUP(28, Ibcast, Bcast, "Bcast", 0) \
	MOCKUP(28, Ireduce, Reduce, "Reduce", 0) \
	MOCKUP(28, Iallreduce, Allreduce, "Allreduce", 0) \
	MOCKUP(28, Ibarrier, Barrier, "Barrier", 0)

#endif
