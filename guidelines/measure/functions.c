/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's functions, and splits: the same work in several calls. */
#include <string.h>

#include "measure.h"

/* BODY of a blocking function, and of its non-blocking form without overlap. */
#define BLOCKING(name, ...) static void run_##name(const struct call *c) \
	{ CALL(name, __VA_ARGS__); }
#define NONBLOCKING(name, ...) static void run_##name(const struct call *c) \
{ \
	MPI_Request request; \
	CALL(name, __VA_ARGS__, &request); \
	CALL(Wait, &request, MPI_STATUS_IGNORE); \
}

/* In a broadcast, the root has its input in send; the others have their output in recv. */
#define BUFFER c->rank == c->root ? c->send : c->recv, c->count, c->type

BLOCKING(Gather, SEND, RECV, c->root, c->comm)
BLOCKING(Scatter, SEND, RECV, c->root, c->comm)
BLOCKING(Allgather, SEND, RECV, c->comm)
BLOCKING(Alltoall, SEND, RECV, c->comm)
BLOCKING(Bcast, BUFFER, c->root, c->comm)
BLOCKING(Reduce, c->send, RECV, c->op, c->root, c->comm)
BLOCKING(Allreduce, c->send, RECV, c->op, c->comm)
BLOCKING(Reduce_scatter, c->send, c->recv, c->counts, c->type, c->op, c->comm)
BLOCKING(Reduce_scatter_block, c->send, RECV, c->op, c->comm)
BLOCKING(Scan, c->send, RECV, c->op, c->comm)
BLOCKING(Exscan, c->send, RECV, c->op, c->comm)
BLOCKING(Barrier, c->comm)
#define COUNTS c->mock_counts, c->mock_displs, c->type
#define WITH_COUNTS(name, ...) void run_##name(const struct call *c) { CALL(name, __VA_ARGS__); }
WITH_COUNTS(Gatherv, SEND, c->recv, COUNTS, c->root, c->comm)
WITH_COUNTS(Scatterv, c->send, COUNTS, RECV, c->root, c->comm)
WITH_COUNTS(Allgatherv, SEND, c->recv, COUNTS, c->comm)
WITH_COUNTS(Alltoallv, c->send, COUNTS, c->recv, COUNTS, c->comm)
NONBLOCKING(Igather, SEND, RECV, c->root, c->comm)
NONBLOCKING(Iscatter, SEND, RECV, c->root, c->comm)
NONBLOCKING(Iallgather, SEND, RECV, c->comm)
NONBLOCKING(Ialltoall, SEND, RECV, c->comm)
NONBLOCKING(Ibcast, BUFFER, c->root, c->comm)
NONBLOCKING(Ireduce, c->send, RECV, c->op, c->root, c->comm)
NONBLOCKING(Iallreduce, c->send, RECV, c->op, c->comm)
NONBLOCKING(Ibarrier, c->comm)

/* Around a ring. */
static void
run_Sendrecv(const struct call *c)
{
	CALL(Sendrecv, SEND, (c->rank + 1) % c->ranks, 0, RECV, (c->rank + c->ranks - 1) % c->ranks,
	    0, c->comm, MPI_STATUS_IGNORE);
}

static void
run_Sendrecv_vector(const struct call *c)
{
	CALL(Sendrecv, c->send, 1, c->strided, (c->rank + 1) % c->ranks, 0, c->recv, 1, c->strided,
	    (c->rank + c->ranks - 1) % c->ranks, 0, c->comm, MPI_STATUS_IGNORE);
}

#ifdef OF_MOCKUPS	/* lp-mend's library measures no network */
#undef NETWORK_FUNCTIONS
#define NETWORK_FUNCTIONS(FUNCTION)
#endif

#define ROW(name, in, out) \
	{ "MPI_" #name, "MPI_" #name, NULL, NULL, run_##name, NULL, in, out, 0, NULL },
const struct subject functions[] = { FUNCTIONS(ROW) NETWORK_FUNCTIONS(ROW) };
const size_t function_count = sizeof functions / sizeof functions[0];
#define ONE_EACH(name, in, out) +1
const size_t guideline_functions = FUNCTIONS(ONE_EACH);

/* Copies COUNT elements of each block between a whole buffer and one with smaller blocks. */
static void
copy_blocks(const struct call *c, char *to, size_t to_block, const char *from, size_t from_block,
    size_t count)
{
	for (size_t r = 0; r < (size_t)c->ranks; r++)
		memcpy(to + r * to_block * c->extent, from + r * from_block * c->extent,
		    count * c->extent);
}

/*
 * A buffer of one block is passed in pieces as it is. A buffer with a block per rank is copied,
 * since the pieces of neighbouring ranks must be adjacent.
 */
void
run_split(const struct call *c)
{
	enum layout in = c->function->input, out = c->function->output;
	size_t count = (size_t)c->count, k = (size_t)c->calls, half = 0;
	struct call part = *c;

	half = (size_t)c->ranks * (count / k + 1) * c->extent;
	part.counts = c->mock_counts;
	for (size_t i = 0; i < k; i++) {
		size_t begin = count * i / k, piece = count * (i + 1) / k - begin;
		char *send = c->send != NULL ? c->send + begin * c->extent : NULL;
		char *recv = c->recv != NULL ? c->recv + begin * c->extent : NULL;

		part.count = (int)piece;
		part.send = in >= ALL ? c->extra : send;
		part.recv = out >= ALL ? c->extra + half : recv;
		for (int r = 0; r < c->ranks; r++)
			part.counts[r] = part.count;
		if (in >= ALL && send != NULL)
			copy_blocks(c, part.send, piece, send, count, piece);
		c->function->run(&part);
		if (out >= ALL && recv != NULL)
			copy_blocks(c, recv, count, part.recv, piece, piece);
	}
}
