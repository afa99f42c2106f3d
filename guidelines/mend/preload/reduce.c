/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions, whose count, type and operation are the same on all ranks. */
#include <stdlib.h>
#include <string.h>

#include "replace.h"

struct reduction {
	enum replaced function;
	const void *from;
	void *to;
	int count;		/* of a block */
	MPI_Datatype type;
	MPI_Op op;
	int root;
	MPI_Comm comm;
};

/* Elements without gaps: copying their extent writes only the program's data. */
static bool
is_dense(MPI_Datatype type, size_t *bytes)
{
	MPI_Aint low, extent, true_low, true_extent;
	int size;

	PMPI_Type_size(type, &size);
	PMPI_Type_get_extent(type, &low, &extent);
	PMPI_Type_get_true_extent(type, &true_low, &true_extent);
	*bytes = (size_t)size;
	return size > 0 && low == 0 && true_low == 0 && extent == size && true_extent == size;
}

/* Whether the result is independent of the order of operands. */
static bool
is_exact(MPI_Datatype type, MPI_Op op)
{
	const MPI_Op orderless[] = { MPI_MAX, MPI_MIN, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND,
	    MPI_BOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC };
	const MPI_Datatype whole[] = { MPI_CHAR, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_BYTE,
	    MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_INT, MPI_UNSIGNED, MPI_LONG, MPI_UNSIGNED_LONG,
	    MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T,
	    MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T, MPI_INTEGER };

	for (size_t i = 0; i < sizeof orderless / sizeof orderless[0]; i++)
		if (op == orderless[i])
			return true;
	for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
		if ((op == MPI_SUM || op == MPI_PROD) && type == whole[i])
			return true;
	return false;
}

static int
reduce_elements(const struct reduction *r, struct rule *rule, const struct group *group,
    size_t extent)
{
	bool in_place = r->from == MPI_IN_PLACE;
	bool out = has_buffer(rule->function->output, group->rank == r->root);
	size_t bytes = blocks(rule->function->input, group->ranks) * (size_t)r->count * extent;
	char *memory;
	struct call call = make_replaced(rule, group, r->comm, r->count, r->type, extent,
	    in_place ? bytes : 0, &memory);
	int result;

	call.op = r->op;
	call.root = r->root;
	call.send = in_place ? call.input : (char *)(uintptr_t)r->from;
	call.recv = out ? r->to : NULL;
	if (in_place)
		memcpy(call.input, r->to, bytes);
	for (int i = 0; i < group->ranks; i++)
		call.counts[i] = r->count;
	result = run_replaced(rule, &call);
	free(memory);
	return result;
}

static bool
reduce(const struct reduction *r, int *result)
{
	struct group group;
	struct rule *rule;
	size_t extent;
	int ranks;

	if (!has_rules(r->function) || r->comm == MPI_COMM_NULL || r->type == MPI_DATATYPE_NULL ||
	    r->op == MPI_OP_NULL || r->count <= 0)
		return false;
	PMPI_Comm_size(r->comm, &ranks);
	if (r->root < 0 || r->root >= ranks || !is_dense(r->type, &extent) ||
	    (wants_exact() && !is_exact(r->type, r->op)))
		return false;
	rule = find_rule(r->function, r->comm, (uint64_t)r->count * extent, &group);
	if (rule == NULL || !fits(&group, (uint64_t)r->count, extent))
		return false;
	*result = reduce_elements(r, rule, &group, extent);
	return true;
}

EXPORT int
MPI_Reduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, int root,
    MPI_Comm comm)
{
	const struct reduction r = { R_Reduce, from, to, count, type, op, root, comm };
	int result;

	return reduce(&r, &result) ? result : real.Reduce(from, to, count, type, op, root, comm);
}
BOTH_NAMES(Reduce)

#define REDUCE(name) \
EXPORT int \
MPI_##name(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) \
{ \
	const struct reduction r = { R_##name, from, to, count, type, op, 0, comm }; \
	int result; \
\
	return reduce(&r, &result) ? result : real.name(from, to, count, type, op, comm); \
} \
BOTH_NAMES(name)
REDUCE(Allreduce)
REDUCE(Scan)
REDUCE(Reduce_scatter_block)

/* The count, if it is the same for all ranks; else -1. */
static int
same_count(const int *counts, MPI_Comm comm)
{
	int ranks;

	if (counts == NULL || comm == MPI_COMM_NULL)
		return -1;
	PMPI_Comm_size(comm, &ranks);
	for (int i = 1; i < ranks; i++)
		if (counts[i] != counts[0])
			return -1;
	return counts[0];
}

EXPORT int
MPI_Reduce_scatter(const void *from, void *to, const int counts[], MPI_Datatype type, MPI_Op op,
    MPI_Comm comm)
{
	const struct reduction r = { R_Reduce_scatter, from, to,
	    has_rules(R_Reduce_scatter) ? same_count(counts, comm) : -1, type, op, 0, comm };
	int result;

	return reduce(&r, &result) ? result : real.Reduce_scatter(from, to, counts, type, op, comm);
}
BOTH_NAMES(Reduce_scatter)
