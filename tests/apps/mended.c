/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mended SEED CALLS: random collectives, with types that differ from rank to rank, gaps,
 * MPI_IN_PLACE, communicators of all kinds, and operations that do not commute. Prints one number
 * per rank, from all bytes of all buffers after each call. Under lp-mend it must be the same.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ints of a block, ranks, ints of a buffer */
enum { MOST = 40, RANKS = 8, INTS = 4 * MOST * RANKS };

static int rank, ranks;
static uint64_t same = 1, own = 1, sum = 0xcbf29ce484222325u;
static int in[INTS], out[INTS];

static uint64_t
draw(uint64_t *state, uint64_t limit)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (z ^ (z >> 31)) % limit;
}

static void
add(const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < size; i++)
		sum = (sum ^ at[i]) * 0x100000001b3u;
}

/* Composes x -> a x + b, which does not commute. */
static void
compose(void *from, void *to, int *count, MPI_Datatype *type)
{
	uint32_t *left = from, *right = to;

	(void)type;
	for (int i = 0; i < 2 * *count; i += 2) {
		right[i + 1] += left[i + 1] * right[i];
		right[i] *= left[i];
	}
}

/* INTS ints in one of many ways, all with the same type signature. */
static MPI_Datatype
ints_as(int count, uint64_t way, int *elements)
{
	MPI_Datatype type = MPI_INT, inner;

	*elements = count;
	if (way == 1 && count % 2 == 0) {
		MPI_Type_contiguous(2, MPI_INT, &type);
		*elements = count / 2;
	} else if (way == 2) {		/* every second int */
		MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type);
	} else if (way == 3 && count % 2 == 0) {	/* pairs, the later one first in memory */
		int lengths[] = { 1, 1 };
		MPI_Aint places[] = { sizeof(int), 0 };
		MPI_Datatype types[] = { MPI_INT, MPI_INT };

		MPI_Type_create_struct(2, lengths, places, types, &type);
		*elements = count / 2;
	} else if (way == 4) {		/* a block as one vector with gaps, and a gap behind it */
		MPI_Type_vector(count, 1, 2, MPI_INT, &inner);
		MPI_Type_create_resized(inner, 0, (MPI_Aint)(2 * count * (int)sizeof(int)), &type);
		MPI_Type_free(&inner);
		*elements = 1;
	}
	if (type != MPI_INT)
		MPI_Type_commit(&type);
	return type;
}

static void
move(MPI_Comm comm, int me, int members, int count)
{
	int from_count, to_count, root = (int)draw(&same, (uint64_t)members);
	int in_place = (int)draw(&same, 3) == 0, which = (int)draw(&same, 5);
	MPI_Datatype from = ints_as(count, draw(&own, 5), &from_count),
	    to = ints_as(count, draw(&own, 5), &to_count);

	switch (which) {
	case 0:
		MPI_Gather(in_place && me == root ? MPI_IN_PLACE : in, from_count, from, out,
		    to_count, to, root, comm);
		break;
	case 1:
		MPI_Scatter(in, from_count, from, in_place && me == root ? MPI_IN_PLACE : out,
		    to_count, to, root, comm);
		break;
	case 2:
		MPI_Allgather(in_place ? MPI_IN_PLACE : in, from_count, from, out,
		    to_count, to, comm);
		break;
	case 3:
		MPI_Alltoall(in_place ? MPI_IN_PLACE : in, from_count, from, out,
		    to_count, to, comm);
		break;
	case 4: MPI_Bcast(out, from_count, from, root, comm); break;
	}
	if (from != MPI_INT)
		MPI_Type_free(&from);
	if (to != MPI_INT)
		MPI_Type_free(&to);
}

static void
reduce(MPI_Comm comm, int me, int members, int count, MPI_Datatype pair, MPI_Op composition)
{
	const struct { MPI_Datatype type; MPI_Op op; int ints; } kinds[] = {
		{ MPI_INT, MPI_SUM, 1 }, { MPI_INT, MPI_MAX, 1 }, { MPI_BYTE, MPI_BXOR, 1 },
		{ pair, composition, 2 },
		{ MPI_2INT, MPI_MAXLOC, 2 }, { MPI_SHORT_INT, MPI_MINLOC, 2 },	/* with a gap */
	};
	int kind = (int)draw(&same, 6), which = (int)draw(&same, 5),
	    root = (int)draw(&same, (uint64_t)members);
	int in_place = (int)draw(&same, 3) == 0, counts[RANKS];
	void *from = in_place && (which > 0 || me == root) ? MPI_IN_PLACE : in;

	for (int i = 0; i < RANKS; i++)		/* the same number of draws for each communicator */
		counts[i] = count + (draw(&same, 4) == 0);	/* in most cases not all the same */
	if (draw(&same, 2) == 0)
		for (int i = 0; i < RANKS; i++)
			counts[i] = count;
	switch (which) {
	case 0: MPI_Reduce(from, out, count, kinds[kind].type, kinds[kind].op, root, comm); break;
	case 1: MPI_Allreduce(from, out, count, kinds[kind].type, kinds[kind].op, comm); break;
	case 2: MPI_Scan(from, out, count, kinds[kind].type, kinds[kind].op, comm); break;
	case 3:
		MPI_Reduce_scatter(from, out, counts, kinds[kind].type, kinds[kind].op, comm);
		break;
	case 4:
		MPI_Reduce_scatter_block(from, out, count, kinds[kind].type, kinds[kind].op, comm);
		counts[me] = count;
		break;
	}
	/* the padding of a short-int pair: the library may copy it */
	for (size_t i = 0; kind == 5 && i < INTS; i += 2)
		memset((char *)&out[i] + sizeof(short), 0, sizeof(int) - sizeof(short));
	/* behind the result the buffer may hold anything */
	if (which >= 3 && from == MPI_IN_PLACE)
		memset(out + counts[me] * kinds[kind].ints, 0,
		    sizeof out - (size_t)(counts[me] * kinds[kind].ints) * 4);
}

static void
exchange(MPI_Comm comm, int me, int members, int count)
{
	int from_count, to_count, got, step = (int)draw(&same, (uint64_t)members);
	MPI_Datatype from = ints_as(count, draw(&own, 5), &from_count),
	    to = ints_as(count, draw(&own, 5), &to_count);
	MPI_Status status;

	MPI_Sendrecv(in, from_count, from, (me + step) % members, 7, out, to_count, to,
	    MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
	MPI_Get_count(&status, to, &got);
	add(&status.MPI_SOURCE, sizeof(int));
	add(&status.MPI_TAG, sizeof(int));
	if (got != to_count)
		printf("%d elements came, not %d\n", got, to_count);
	MPI_Barrier(comm);
	if (from != MPI_INT)
		MPI_Type_free(&from);
	if (to != MPI_INT)
		MPI_Type_free(&to);
}

int
main(int argc, char **argv)
{
	MPI_Comm comms[4], between;
	MPI_Datatype pair;
	MPI_Op composition;
	int calls = argc > 2 ? atoi(argv[2]) : 100;
	uint64_t *sums;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	same = strtoull(argv[1], NULL, 10);
	own = same * 1000 + (uint64_t)rank;
	comms[0] = MPI_COMM_WORLD;
	MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[2]);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[3]);
	MPI_Type_contiguous(2, MPI_UINT32_T, &pair);
	MPI_Type_commit(&pair);
	MPI_Op_create(compose, 0, &composition);
	for (int c = 0; c < calls; c++) {
		MPI_Comm comm = comms[draw(&same, 4)];
		int me, members, count = 1 + (int)draw(&same, MOST - 2);
		uint64_t what = draw(&same, 8);

		MPI_Comm_rank(comm, &me);
		MPI_Comm_size(comm, &members);
		for (int i = 0; i < INTS; i++) {
			in[i] = (int)draw(&own, 1000);
			out[i] = (int)draw(&own, 1000);
		}
		if (what < 4)
			move(comm, me, members, count);
		else if (what < 7)
			reduce(comm, me, members, count, pair, composition);
		else
			exchange(comm, me, members, count);
		add(in, sizeof in);
		add(out, sizeof out);
	}
	if (ranks > 1) {		/* between two groups */
		int value = rank, all[RANKS] = { 0 };

		MPI_Intercomm_create(comms[2], 0, MPI_COMM_WORLD,
		    rank % 2 == 0 ? (ranks % 2 == 0 ? ranks - 1 : ranks - 2) :
		    (ranks % 2 == 0 ? ranks - 2 : ranks - 1), 1, &between);
		MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, between);
		add(all, sizeof all);
		MPI_Allreduce(&value, all, 1, MPI_INT, MPI_SUM, between);
		add(all, sizeof all);
		MPI_Comm_free(&between);
	}
	sums = calloc((size_t)ranks, sizeof *sums);
	MPI_Gather(&sum, 8, MPI_BYTE, sums, 8, MPI_BYTE, 0, MPI_COMM_WORLD);
	for (int r = 0; rank == 0 && r < ranks; r++)
		printf("%016llx\n", (unsigned long long)sums[r]);
	free(sums);
	for (int i = 1; i < 4; i++)
		MPI_Comm_free(&comms[i]);
	MPI_Finalize();
	return 0;
}
