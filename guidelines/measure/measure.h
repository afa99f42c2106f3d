/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of functions and mock-ups, and how they are timed: shared by lp-measure and lp-nrep. */
#ifndef MEASURE_H
#define MEASURE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../base/statistics/statistics.h"
#include "../../base/tool/process.h"
#include "../../base/tool/tool.h"
#include "../../base/mpi/catalogue.h"

/* How functions and mock-ups call the MPI library; those of lp-mend's library do it otherwise. */
#ifndef CALL
#define CALL(name, ...) MPI_##name(__VA_ARGS__)
#endif

/* Buffers of a call C. */
#define SEND c->send, c->count, c->type
#define RECV c->recv, c->count, c->type

/* The arguments of a call, named as in MPI. */
struct call {
	MPI_Comm comm;
	int rank, ranks, root;
	MPI_Datatype type;
	/* every second of 2 * count elements, for Sendrecv_vector */
	MPI_Datatype strided;
	size_t extent;			/* of type, bytes */
	MPI_Op op;
	int count;			/* elements of a block */
	int calls;			/* number of calls in a split */
	char *send, *recv;		/* NULL if MPI ignores them */
	char *input, *output;		/* memory of the two */
	char *extra;			/* memory for mock-ups and splits */
	int *counts;			/* for Reduce_scatter: count for each rank */
	int *mock_counts, *mock_displs;	/* filled by mock-ups; 2 ranks ints each */
	const struct subject *function;	/* owner of these arguments; splits call it */
	const struct program *program;	/* for a guideline from a file: jobs.h */
	/* a function that is timed only in part reports its time here */
	int64_t *part_ns;
};

/* A function or mock-up; for a function, guideline and memory are NULL. */
struct subject {
	const char *name;		/* "MPI_Gather", "Gather_as_Allgather" */
	const char *function;		/* "MPI_Gather" for both */
	const char *guideline;		/* "Gather <= Allgather" */
	const char *memory;		/* formula of the extra memory, "p * m" */
	void (*run)(const struct call *call);
	/* elements; NULL: it has its own memory */
	size_t (*extra)(size_t p, size_t m, size_t pad);
	enum layout input, output;
	int number;			/* of the guideline; 0 for a function */
	const struct own *own;		/* NULL for functions and built-in mock-ups */
};

extern const struct subject functions[], mockups[];
/* messages.c */
#define RUN(name, in, out) void run_##name(const struct call *call);
NETWORK_FUNCTIONS(RUN)
#undef RUN
extern const size_t function_count, mockup_count;
/* number of functions selected by "all", which come first */
extern const size_t guideline_functions;

/* Equal blocks; counts and displacements are in mock_counts and mock_displs. */
void run_Gatherv(const struct call *call);
void run_Scatterv(const struct call *call);
void run_Allgatherv(const struct call *call);
void run_Alltoallv(const struct call *call);
/* CALLS calls of count / calls elements, for split-robustness. */
void run_split(const struct call *call);

static inline size_t blocks(enum layout layout, int ranks)
{
	return layout == NONE ? 0 : layout == TWO ? 2 : layout >= ALL ? (size_t)ranks : 1;
}

/* Whether a rank has the buffer. */
static inline bool has_buffer(enum layout layout, bool at_root)
{
	return layout == ONE_BUT_ROOT ? !at_root :
	    at_root || (layout != ONE_AT_ROOT && layout != ALL_AT_ROOT);
}

/* The volume n of the paper, in bytes: all blocks of the larger buffer. */
static inline uint64_t volume(const struct subject *f, int ranks, uint64_t block_bytes)
{
	bool all = f->input >= ALL || f->output >= ALL;

	return f->input == NONE ? 0 : block_bytes * (all ? (uint64_t)ranks : 1);
}

/* ---- sync.c ----------------------------------------------------------------------------- */

enum sync_kind { DISSEMINATION, MPI_BARRIER, WINDOW };
extern const char *const sync_names[];

struct sync {
	enum sync_kind kind;
	MPI_Comm comm;
	int rank, ranks;
	int64_t window_ns;		/* WINDOW: from one start to the next */
	int64_t offset_ns;		/* WINDOW: rank 0's clock minus the own */
	/* WINDOW: calls repeated because they or the previous one were late */
	uint64_t dropped;
};

/* A call to be timed, and its time on this rank. */
struct timed {
	void (*run)(const struct call *call);
	const struct call *call;
	int64_t ns;
};

void sync_clocks(struct sync *sync);
/* Makes the calls one by one, with a common start; ns becomes the time of the slowest rank. */
void time_calls(struct sync *sync, struct timed *calls, size_t count);
/* Times the synchronisation itself: median and interquartile range. */
void time_barrier(struct sync *sync, int64_t *median_ns, int64_t *spread_ns);

/* ---- call.c: buffers, results and choices ------------------------------------------------ */

/* Types and operations by name; "pair" is a user-defined operation that does not commute. */
enum type { BYTE, INT, DOUBLE, PAIR };
extern const char *const type_names[];
size_t type_extent(enum type type);	/* bytes */

/* A call with buffers for blocks of so many elements, for all functions and mock-ups. */
struct call make_call(MPI_Comm comm, int root, enum type type, size_t most);
void set_call(struct call *call, const struct subject *function, size_t count);

/* Whether, on all ranks, the mock-up's result equals the function's and its input is unchanged. */
bool same_result(const struct call *call, void (*mockup)(const struct call *call));

/* The functions named by LIST ("Gather,MPI_Bcast", or "all") as flags by index; dies on errors. */
bool *choose_functions(const char *list);
/* Sizes from "1,8,64k", ascending, without duplicates. */
size_t parse_sizes(const char *option, const char *text, size_t **sizes);

/* Rank 0 reports if it took longer than the budget. */
void note_budget(const struct call *call, int64_t began_ns, int64_t budget_ns);

/* ---- call.c: launch ----------------------------------------------------------------------- */

/* Whether another library's launcher started each process alone; reports it once. */
bool is_refused_launch(const struct call *call);
char *host_names(const struct call *call);	/* on rank 0 */

#endif
