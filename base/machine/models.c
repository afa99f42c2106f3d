/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The models of the two phases of a collective on Dimemas' machine, and the operation of each call.
 */
#include <string.h>
#include <strings.h>

#include "../mpi/call_class.h"
#include "../stream/calls.h"
#include "machine.h"

enum operation
operation_named(const char *name)
{
	static const char *const names[] = {
		"barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather",
		"allgatherv",
		"alltoall", "alltoallv", "reduce", "allreduce", "reduce_scatter",
		"reduce_scatter_block",
		"scan", "alltoallw",
	};
	enum operation i = OP_BARRIER;

	while (i < OP_OTHER && strcasecmp(name, names[i]) != 0)
		i++;
	return i;
}

enum operation
operation_of(uint16_t call)
{
	const char *name = call_name(call);
	enum call_class class = call_class(call);
	enum operation operation;

	if (class == CLASS_INIT || class == CLASS_FINALIZE)
		return OP_BARRIER;
	if (strncmp(name, "MPI_", 4) != 0)
		return OP_OTHER;
	operation = operation_named(name + 4);
	return operation == OP_OTHER && (name[4] == 'I' || name[4] == 'i') ?
	    operation_named(name + 5) : operation;
}

/*
 * ceil(n / buses) summed over the stages of a tree of P ranks: the validation paper's logarithmic
 * model.
 */
static double
tree_steps(int64_t p, int64_t buses)
{
	double steps = 0;

	for (int64_t i = 0; (int64_t)1 << i < p; i++) {
		int64_t first = ((int64_t)1 << i) - 1, stride = (int64_t)2 << i;
		int64_t pairs = first < p - 1 ? (p - 2 - first) / stride + 1 : 0;

		steps += buses == 0 ? 1 : (double)((pairs + buses - 1) / buses);
	}
	return steps;
}

double
model_factor(enum model model, int64_t p, int64_t buses)
{
	switch (model) {
	case MODEL_CONSTANT: return 1;
	case MODEL_LINEAR: return (double)(p - 1);
	case MODEL_LINEAR_P: return p > 1 ? (double)p : 0;
	case MODEL_LOGARITHMIC: return tree_steps(p, buses);
	default: return 0;
	}
}

double
model_bytes(enum size size, double sent, double received)
{
	switch (size) {
	case BYTES_MIN: return sent < received ? sent : received;
	case BYTES_MAX: return sent > received ? sent : received;
	case BYTES_MEAN: return (sent + received) / 2;
	case BYTES_TWICE_MAX: return 2 * (sent > received ? sent : received);
	case BYTES_SUM: return sent + received;
	case BYTES_SENT: return sent;
	default: return received;
	}
}
