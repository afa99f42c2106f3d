/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mock-ups. Each computes its function by other functions, for any number of ranks, any count and
 * operations that do not commute. Copies and array setup are part of them.
 */
#include <limits.h>
#include <string.h>

#include "measure.h"

static bool
at_root(const struct call *c)
{
	return c->rank == c->root;
}

static size_t
block_bytes(const struct call *c)
{
	return (size_t)c->count * c->extent;
}

/* Size of all blocks as an int, as MPI requires. */
static int
total(const struct call *c, size_t factor)
{
	size_t all = (size_t)c->ranks * (size_t)c->count * factor;

	if (all > INT_MAX)
		die("%zu elements are too many for one call", all);
	return (int)all;
}

/* Block of this rank. */
static char *
own_block(const struct call *c, char *blocks_)
{
	return blocks_ + (size_t)c->rank * block_bytes(c);
}

/* Elements per rank if the vector is cut into a block per rank, the last ones padded. */
static int
share(const struct call *c)
{
	return (int)(((long)c->count + c->ranks - 1) / c->ranks);
}

/* The padded copy of the input in the extra memory; the padding is a valid operand. */
static char *
padded_input(const struct call *c)
{
	size_t all = (size_t)share(c) * (size_t)c->ranks;

	memcpy(c->extra, c->send, block_bytes(c));
	for (size_t i = (size_t)c->count; i < all; i++)
		memcpy(c->extra + i * c->extent, c->send, c->extent);
	return c->extra;
}

/* After the padded vector. */
static char *
own_share(const struct call *c)
{
	return c->extra + (size_t)share(c) * (size_t)c->ranks * c->extent;
}

/* Equal counts and their displacements, for the v-functions. */
static void
fill_counts(const struct call *c)
{
	for (int r = 0; r < c->ranks; r++) {
		c->mock_counts[r] = c->count;
		c->mock_displs[r] = r * c->count;
	}
}

static void
Gather_as_Allgather(const struct call *c)
{
	CALL(Allgather, SEND, at_root(c) ? c->recv : c->extra, c->count, c->type, c->comm);
}

/* Zeros except for the own block: a bitwise OR then assembles all blocks. */
static char *
spread_block(const struct call *c)
{
	memset(c->extra, 0, block_bytes(c) * (size_t)c->ranks);
	if (c->count > 0)
		memcpy(own_block(c, c->extra), c->send, block_bytes(c));
	return c->extra;
}

static void
Gather_as_Reduce(const struct call *c)
{
	CALL(Reduce, spread_block(c), c->recv, total(c, c->extent), MPI_BYTE, MPI_BOR,
	    c->root, c->comm);
}

static void
Allgather_as_Alltoall(const struct call *c)
{
	for (size_t r = 0; r < (size_t)c->ranks; r++)
		memcpy(c->extra + r * block_bytes(c), c->send, block_bytes(c));
	CALL(Alltoall, c->extra, c->count, c->type, RECV, c->comm);
}

static void
Allgather_as_Allreduce(const struct call *c)
{
	CALL(Allreduce, spread_block(c), c->recv, total(c, c->extent), MPI_BYTE, MPI_BOR, c->comm);
}

static void
Scatter_as_Bcast(const struct call *c)
{
	char *all = at_root(c) ? c->send : c->extra;

	CALL(Bcast, all, total(c, 1), c->type, c->root, c->comm);
	memcpy(c->recv, own_block(c, all), block_bytes(c));
}

static void
Reduce_as_Allreduce(const struct call *c)
{
	CALL(Allreduce, c->send, at_root(c) ? c->recv : c->extra, c->count, c->type, c->op,
	    c->comm);
}

static void
Reduce_scatter_as_Allreduce(const struct call *c)
{
	CALL(Allreduce, c->send, c->extra, total(c, 1), c->type, c->op, c->comm);
	memcpy(c->recv, own_block(c, c->extra), block_bytes(c));
}

static void
Bcast_as_ScatterAllgather(const struct call *c)
{
	char *all = at_root(c) ? padded_input(c) : c->extra;

	CALL(Scatter, all, share(c), c->type, own_share(c), share(c), c->type, c->root, c->comm);
	CALL(Allgather, own_share(c), share(c), c->type, all, share(c), c->type, c->comm);
	if (!at_root(c))
		memcpy(c->recv, all, block_bytes(c));
}

static void
Allgather_as_GatherBcast(const struct call *c)
{
	CALL(Gather, SEND, RECV, 0, c->comm);
	CALL(Bcast, c->recv, total(c, 1), c->type, 0, c->comm);
}

static void
Allreduce_as_ReduceBcast(const struct call *c)
{
	CALL(Reduce, c->send, RECV, c->op, 0, c->comm);
	CALL(Bcast, RECV, 0, c->comm);
}

static void
Allreduce_as_ReducescatterblockAllgather(const struct call *c)
{
	char *all = padded_input(c);

	CALL(Reduce_scatter_block, all, own_share(c), share(c), c->type, c->op, c->comm);
	CALL(Allgather, own_share(c), share(c), c->type, all, share(c), c->type, c->comm);
	memcpy(c->recv, all, block_bytes(c));
}

static void
Reduce_as_ReducescatterblockGather(const struct call *c)
{
	char *all = padded_input(c);

	CALL(Reduce_scatter_block, all, own_share(c), share(c), c->type, c->op, c->comm);
	CALL(Gather, own_share(c), share(c), c->type, all, share(c), c->type, c->root, c->comm);
	if (at_root(c))
		memcpy(c->recv, all, block_bytes(c));
}

static void
Reduce_scatter_block_as_ReduceScatter(const struct call *c)
{
	CALL(Reduce, c->send, c->extra, total(c, 1), c->type, c->op, 0, c->comm);
	CALL(Scatter, c->extra, c->count, c->type, RECV, 0, c->comm);
}

/* The prefix is the left operand: the input of Reduce_local, with the own value as inout. */
static void
Scan_as_ExscanReducelocal(const struct call *c)
{
	CALL(Exscan, c->send, c->extra, c->count, c->type, c->op, c->comm);
	memcpy(c->recv, c->send, block_bytes(c));
	if (c->rank > 0)
		CALL(Reduce_local, c->extra, RECV, c->op);
}

static void
Reduce_scatter_as_ReduceScatterv(const struct call *c)
{
	fill_counts(c);
	CALL(Reduce, c->send, c->extra, total(c, 1), c->type, c->op, 0, c->comm);
	CALL(Scatterv, c->extra, c->mock_counts, c->mock_displs, c->type, RECV, 0, c->comm);
}

#define WITH_COUNTS(function, of_counts) \
	static void function##_as_##of_counts(const struct call *c) \
	{ fill_counts(c); run_##of_counts(c); }
WITH_COUNTS(Gather, Gatherv)
WITH_COUNTS(Scatter, Scatterv)
WITH_COUNTS(Allgather, Allgatherv)
WITH_COUNTS(Alltoall, Alltoallv)

static void
Reduce_scatter_block_as_Reducescatter(const struct call *c)
{
	fill_counts(c);
	CALL(Reduce_scatter, c->send, c->recv, c->mock_counts, c->type, c->op, c->comm);
}

static void
Barrier_as_Allreduce(const struct call *c)
{
	c->extra[0] = 0;
	CALL(Allreduce, c->extra, c->extra + 1, 1, MPI_BYTE, MPI_BOR, c->comm);
}

static void
Sendrecv_as_IsendIrecvWaitall(const struct call *c)
{
	MPI_Request requests[2];

	CALL(Isend, SEND, (c->rank + 1) % c->ranks, 0, c->comm, &requests[0]);
	CALL(Irecv, RECV, (c->rank + c->ranks - 1) % c->ranks, 0, c->comm, &requests[1]);
	CALL(Waitall, 2, requests, MPI_STATUSES_IGNORE);
}

static void
Sendrecv_vector_as_PackSendrecvUnpack(const struct call *c)
{
	char *packed = c->extra, *unpacked = c->extra + block_bytes(c);
	int size = (int)block_bytes(c), packed_bytes = 0, at = 0;

	CALL(Pack, c->send, 1, c->strided, packed, size, &packed_bytes, c->comm);
	CALL(Sendrecv, packed, packed_bytes, MPI_PACKED, (c->rank + 1) % c->ranks, 0, unpacked,
	    size, MPI_PACKED, (c->rank + c->ranks - 1) % c->ranks, 0, c->comm, MPI_STATUS_IGNORE);
	CALL(Unpack, unpacked, size, &at, c->recv, 1, c->strided, c->comm);
}

/* A non-blocking function should not be slower than its mock-up, the blocking function. */
#define BLOCKING(name, blocking) static void name##_as_##blocking(const struct call *c) \
	{ functions[F_##blocking].run(c); }
#define NUMBER(name, in, out) F_##name,
enum { FUNCTIONS(NUMBER) };
BLOCKING(Igather, Gather)
BLOCKING(Iscatter, Scatter)
BLOCKING(Iallgather, Allgather)
BLOCKING(Ialltoall, Alltoall)
BLOCKING(Ibcast, Bcast)
BLOCKING(Ireduce, Reduce)
BLOCKING(Iallreduce, Allreduce)
BLOCKING(Ibarrier, Barrier)

#define EXTRA(gl, function, name, text, memory) \
	static size_t extra_of_##function##_as_##name(size_t p, size_t m, size_t pad) \
	{ (void)p; (void)m; (void)pad; return memory; }
MOCKUPS(EXTRA)

#define ROW(gl, function, name, text, memory) { #function "_as_" #name, "MPI_" #function, \
	#function " <= " text, #memory, function##_as_##name, extra_of_##function##_as_##name, \
	NONE, NONE, gl, NULL },
const struct subject mockups[] = { MOCKUPS(ROW) };
const size_t mockup_count = sizeof mockups / sizeof mockups[0];
