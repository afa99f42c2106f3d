/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of calls, comparison of results, and choices on the command line. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

const char *const type_names[] = { "byte", "int", "double", "pair", NULL };

/* A pair (a, b) is x -> a x + b modulo 2^32; composition does not commute. */
static void
compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
	const uint32_t *left = in;
	uint32_t *right = inout;

	(void)type;
	for (size_t i = 0; i < 2 * (size_t)*count; i += 2) {
		right[i + 1] += left[i + 1] * right[i];
		right[i] *= left[i];
	}
}

size_t
type_extent(enum type type)
{
	static const size_t extents[] = { 1, sizeof(int), sizeof(double), 2 * sizeof(uint32_t) };

	return extents[type];
}

static void
choose_type(struct call *call, enum type type)
{
	call->extent = type_extent(type);
	if (type == PAIR) {
		MPI_Type_contiguous(2, MPI_UINT32_T, &call->type);
		MPI_Type_commit(&call->type);
		MPI_Op_create(compose, 0, &call->op);
	} else {
		call->type = type == BYTE ? MPI_BYTE : type == INT ? MPI_INT : MPI_DOUBLE;
		call->op = type == BYTE ? MPI_BOR : MPI_SUM;
	}
}

/* Different on each rank. Doubles are integers, so their sums do not depend on the order. */
static void
fill_input(struct call *call, enum type type, size_t elements)
{
	struct random random = { (uint64_t)call->rank + 1 };

	for (size_t i = 0; i < elements; i++) {
		char *at = call->input + i * call->extent;
		uint32_t pair[2] = { (uint32_t)random_below(&random, UINT32_MAX), 0 };
		int value = (int)random_below(&random, 1000);
		double number = value;

		pair[1] = pair[0] ^ (uint32_t)value;
		memcpy(at, type == DOUBLE ? (void *)&number : type == PAIR ? (void *)pair : &value,
		    call->extent);
	}
}

struct call
make_call(MPI_Comm comm, int root, enum type type, size_t most)
{
	struct call call = { .comm = comm, .root = root, .strided = MPI_DATATYPE_NULL };
	size_t p, all, extra;

	MPI_Comm_rank(comm, &call.rank);
	MPI_Comm_size(comm, &call.ranks);
	choose_type(&call, type);
	p = (size_t)call.ranks;
	if (most > INT_MAX / p)
		die("%zu elements on each of %zu ranks are too many", most, p);
	all = (p > 2 ? p : 2) * most;		/* ALL or TWO */
	extra = p * most + 2 * p;		/* run_split's, with two calls */
	for (size_t i = 0; i < mockup_count; i++) {
		size_t mine = mockups[i].extra(p, most, (most + p - 1) / p * p);

		extra = mine > extra ? mine : extra;
	}
	call.input = zalloc(all, call.extent);
	call.output = zalloc(all, call.extent);
	call.extra = zalloc(extra, call.extent);
	call.counts = zalloc(p, sizeof(int));
	call.mock_counts = zalloc(p, sizeof(int));
	call.mock_displs = zalloc(p, sizeof(int));
	fill_input(&call, type, all);
	return call;
}

void
set_call(struct call *call, const struct subject *function, size_t count)
{
	bool at_root = call->rank == call->root;

	call->function = function;
	call->count = (int)count;
	call->send = has_buffer(function->input, at_root) ? call->input : NULL;
	call->recv = has_buffer(function->output, at_root) ? call->output : NULL;
	for (int r = 0; r < call->ranks; r++)
		call->counts[r] = call->count;
	if (call->strided != MPI_DATATYPE_NULL)
		MPI_Type_free(&call->strided);
	MPI_Type_vector(call->count, 1, 2, call->type, &call->strided);
	MPI_Type_commit(&call->strided);
}

/*
 * Twice, with different bytes in the output beforehand: an output that the mock-up does not write
 * cannot match the function's result both times.
 */
bool
same_result(const struct call *c, void (*mockup)(const struct call *call))
{
	size_t out = blocks(c->function->output, c->ranks) * (size_t)c->count * c->extent;
	size_t in = blocks(c->function->input, c->ranks) * (size_t)c->count * c->extent;
	char *result = zalloc(out, 1), *input = zalloc(in, 1);
	int same = 1, all_same;

	if (c->rank == 0 && strcmp(c->function->name, "MPI_Exscan") == 0)
		out = 0;	/* undefined there */
	memcpy(input, c->input, in);
	for (int fill = 0; fill < 2; fill++) {
		memset(c->output, fill == 0 ? 0x5a : 0xa5, out);
		c->function->run(c);
		memcpy(result, c->output, out);
		memset(c->output, fill == 0 ? 0x5a : 0xa5, out);
		mockup(c);
		same = same && memcmp(result, c->output, out) == 0 &&
		    memcmp(input, c->input, in) == 0;
	}
	free(result);
	free(input);
	MPI_Allreduce(&same, &all_same, 1, MPI_INT, MPI_LAND, c->comm);
	return all_same != 0;
}

bool *
choose_functions(const char *list)
{
	bool *chosen = zalloc(function_count, sizeof *chosen);
	char *words = need(strdup(list)), *rest = words;

	for (char *word; (word = strsep(&rest, ",")) != NULL; ) {
		bool found = false;

		for (size_t i = 0; i < function_count; i++)
			if ((strcmp(word, "all") == 0 && i < guideline_functions) ||
			    strcasecmp(word, functions[i].name) == 0 ||
			    strcasecmp(word, functions[i].name + strlen("MPI_")) == 0)
				chosen[i] = found = true;
		if (!found)
			die("--functions %s: no such function; --list shows them", word);
	}
	free(words);
	return chosen;
}

void
note_budget(const struct call *call, int64_t began_ns, int64_t budget_ns)
{
	int64_t took_ns = now_ns() - began_ns;

	if (call->rank == 0 && budget_ns > 0 && took_ns > budget_ns + budget_ns / 10)
		note("the budget of %.1f s was too short; it took %.1f s", 1e-9 * (double)budget_ns,
		    1e-9 * (double)took_ns);
}

ORDER(by_size, size_t, COMPARED(*a, *b))
FOLD(fold_sizes, size_t, by_size, )

size_t
parse_sizes(const char *option, const char *text, size_t **sizes)
{
	char *words = need(strdup(text)), *rest = words;
	size_t count = 0, capacity = 0;

	*sizes = NULL;
	for (char *word; (word = strsep(&rest, ",")) != NULL; )
		*APPEND(*sizes, count, capacity) = (size_t)parse_bytes(option, word, 0, INT_MAX);
	free(words);
	return fold_sizes(*sizes, count);
}

/* ---- launch: the hosts of the ranks, and whether the ranks belong to one run ---- */

/* Variables by which launchers give the number of processes and the own rank. */
static const struct {
	const char *size, *rank;
} launchers[] = {
	{ "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK" },	/* Open MPI */
	{ "PMI_SIZE", "PMI_RANK" },		/* MPICH's hydra, Intel MPI, Slurm's PMI */
	{ "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK" },	/* MVAPICH */
	{ "PALS_LOCAL_SIZE", "PALS_LOCAL_RANKID" },		/* Cray */
};
enum { LAUNCHERS = sizeof launchers / sizeof launchers[0] };

static long
number(const char *name)
{
	const char *text = getenv(name);

	return text == NULL ? 0 : strtol(text, NULL, 10);
}

/*
 * If a process was started by another MPI library's launcher, it is alone in its MPI_COMM_WORLD,
 * once per process. A launcher inside another one's rank is fine: its own size is right.
 */
bool
is_refused_launch(const struct call *call)
{
	int foreign = -1;

	for (int i = 0; i < LAUNCHERS; i++) {
		if (number(launchers[i].size) == call->ranks)
			return false;
		if (number(launchers[i].size) > 1 && call->ranks == 1)
			foreign = i;
	}
	if (foreign < 0)
		return false;
	if (number(launchers[foreign].rank) == 0)	/* one of them reports */
		note("%s is %ld, but MPI knows of 1 rank: the launcher belongs to another MPI "
		    "library", launchers[foreign].size, number(launchers[foreign].size));
	return true;
}

ORDER(by_text, char, COMPARED(strcmp(a, b), 0))

/* Names of all hosts on rank 0, in order, each once, separated by commas; NULL elsewhere. */
char *
host_names(const struct call *call)
{
	char name[MPI_MAX_PROCESSOR_NAME] = "", *all = NULL, *text = NULL;
	size_t ranks = (size_t)call->ranks, size = MPI_MAX_PROCESSOR_NAME, used = 0;
	int length;

	MPI_Get_processor_name(name, &length);
	if (call->rank == 0)
		all = zalloc(ranks, size);
	MPI_Gather(name, (int)size, MPI_CHAR, all, (int)size, MPI_CHAR, 0, call->comm);
	if (call->rank != 0)
		return NULL;
	qsort(all, ranks, size, by_text);
	text = zalloc(ranks, size + 1);
	for (size_t r = 0; r < ranks; r++)
		if (r == 0 || strcmp(all + r * size, all + (r - 1) * size) != 0)
			used += (size_t)sprintf(text + used, "%s%s", r > 0 ? "," : "",
			    all + r * size);
	free(all);
	return text;
}
