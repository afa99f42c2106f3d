/* SPDX-License-Identifier: BSD-3-Clause */
/* Data movements: both sides become bytes, the same on all ranks; their types may differ. */
#include <stdlib.h>

#include "replace.h"

/* One side of a movement, as the program passes it: COUNT elements in each block. */
struct side {
	const void *at;
	int count;
	MPI_Datatype type;
};

struct move {
	enum replaced function;
	struct side from, to;
	int root;
	MPI_Comm comm;
};

/* MPI_BYTE, MPI_INT and the like: in memory as in a message. */
static bool
is_plain(MPI_Datatype type)
{
	int ints, addresses, types, combiner, size;
	MPI_Aint low, extent;

	PMPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner);
	PMPI_Type_size(type, &size);
	PMPI_Type_get_extent(type, &low, &extent);
	return combiner == MPI_COMBINER_NAMED && low == 0 && extent == size;
}

/* Bytes of a block; -1 if MPI could not move it. */
static int64_t
bytes_of(const struct side *side)
{
	int size;

	if (side->count < 0 || side->type == MPI_DATATYPE_NULL ||
	    PMPI_Type_size(side->type, &size) != MPI_SUCCESS || size < 0)
		return -1;
	return (int64_t)side->count * size;
}

/* The own block of the output, which is the input under MPI_IN_PLACE. */
static struct side
own_part(const struct move *m, const struct group *group, enum layout input)
{
	struct side side = m->to;
	MPI_Aint low, extent;

	PMPI_Type_get_extent(m->to.type, &low, &extent);
	if (input == ONE)
		side.at = (const char *)m->to.at + (MPI_Aint)group->rank * m->to.count * extent;
	return side;
}

/* The replaced movement, on this rank. */
static int
move_bytes(const struct move *m, struct rule *rule, const struct group *group, size_t bytes)
{
	bool at_root = group->rank == m->root, in_place = m->from.at == MPI_IN_PLACE;
	bool in = has_buffer(rule->function->input, at_root),
	    out = has_buffer(rule->function->output, at_root);
	bool kept = m->to.at == MPI_IN_PLACE;	/* the root's own block of a scatter */
	int from_blocks = (int)blocks(rule->function->input, group->ranks);
	int to_blocks = (int)blocks(rule->function->output, group->ranks);
	struct side from = in && in_place ? own_part(m, group, rule->function->input) : m->from;
	bool copies_in = in && (in_place || !is_plain(from.type));
	bool copies_out = out && (kept || !is_plain(m->to.type));
	size_t in_bytes = copies_in ? (size_t)from_blocks * bytes : 0,
	    out_bytes = copies_out ? (size_t)to_blocks * bytes : 0;
	char *memory;
	struct call call = make_replaced(rule, group, m->comm, (int)bytes, MPI_BYTE, 1,
	    in_bytes + out_bytes, &memory);
	int result = MPI_SUCCESS, packed = 0, unpacked = 0;

	call.root = m->root;
	call.send = !in ? NULL : copies_in ? call.input : (char *)(uintptr_t)from.at;
	call.recv = !out ? NULL : copies_out ? call.input + in_bytes : (char *)(uintptr_t)m->to.at;
	if (copies_in)
		result = PMPI_Pack(from.at, from.count * from_blocks, from.type, call.send,
		    (int)in_bytes, &packed, m->comm);
	if (result == MPI_SUCCESS)
		result = run_replaced(rule, &call);
	if (result == MPI_SUCCESS && copies_out && !kept)
		result = PMPI_Unpack(call.recv, (int)out_bytes, &unpacked,
		    (void *)(uintptr_t)m->to.at, m->to.count * to_blocks, m->to.type, m->comm);
	free(memory);
	return result;
}

/* Whether it was replaced, and with which result. */
static bool
move(const struct move *m, int *result)
{
	struct group group;
	struct rule *rule;
	const struct side *said;
	int64_t bytes;
	int ranks, rank;

	if (!has_rules(m->function) || m->comm == MPI_COMM_NULL)
		return false;
	PMPI_Comm_size(m->comm, &ranks);
	PMPI_Comm_rank(m->comm, &rank);
	if (m->root < 0 || m->root >= ranks)
		return false;
	/* The side that this rank passes, as MPI reads it. */
	said = m->from.at == MPI_IN_PLACE ? &m->to : m->to.at == MPI_IN_PLACE ? &m->from :
	    m->function == R_Gather || m->function == R_Allgather || m->function == R_Alltoall ?
	    &m->from : (m->function == R_Scatter || m->function == R_Bcast) && rank == m->root ?
	    &m->from : &m->to;
	bytes = bytes_of(said);
	if (bytes <= 0)
		return false;
	rule = find_rule(m->function, m->comm, (uint64_t)bytes, &group);
	if (rule == NULL || !fits(&group, (uint64_t)bytes, 1))
		return false;
	*result = move_bytes(m, rule, &group, (size_t)bytes);
	return true;
}

/* Two buffers with a count and a type each; ROOT is the root argument, if there is one. */
#define BLOCKS const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count, \
	MPI_Datatype to_type
#define MOVE(name, root_or_0, arguments, ...) \
EXPORT int \
MPI_##name arguments \
{ \
	const struct move m = { R_##name, { from, from_count, from_type }, \
	    { to, to_count, to_type }, root_or_0, comm }; \
	int result; \
\
	return move(&m, &result) ? result : \
	    real.name(from, from_count, from_type, to, to_count, to_type, __VA_ARGS__); \
} \
BOTH_NAMES(name)
MOVE(Gather, root, (BLOCKS, int root, MPI_Comm comm), root, comm)
MOVE(Scatter, root, (BLOCKS, int root, MPI_Comm comm), root, comm)
MOVE(Allgather, 0, (BLOCKS, MPI_Comm comm), comm)
MOVE(Alltoall, 0, (BLOCKS, MPI_Comm comm), comm)

EXPORT int
MPI_Bcast(void *at, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
	const struct move m = { R_Bcast, { at, count, type }, { at, count, type }, root, comm };
	int result;

	return move(&m, &result) ? result : real.Bcast(at, count, type, root, comm);
}
BOTH_NAMES(Bcast)
