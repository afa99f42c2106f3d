/* SPDX-License-Identifier: BSD-3-Clause */
/* What replaces a call, the same on all ranks of a communicator (rules.c); how (replace.c). */
#ifndef REPLACE_H
#define REPLACE_H

#include "../../measure/measure.h"
#include "real.h"

/* ---- rules.c ---------------------------------------------------------------------------- */

#define NUMBER(name) R_##name,
enum replaced { REPLACED_FUNCTIONS(NUMBER) REPLACED };
#undef NUMBER

struct rule {
	int ranks;			/* of the communicator */
	uint64_t from, to;		/* bytes of a block, both inclusive */
	const struct subject *function;
	const struct subject *mockup;	/* NULL: split into several calls */
	uint64_t part;			/* bytes of each call of a split */
	uint64_t calls;			/* so far */
};

/* Relevant properties of a communicator. */
struct group {
	int rank, ranks;
	bool ours;	/* one group, inside this MPI_COMM_WORLD, which agreed on the rules */
};

/* After MPI_Init: reads the rules and asks all ranks; unless they agree, nothing is replaced. */
void agree(void);
void say_calls(void);		/* on rank 0, if asked for */

/* Whether there are rules for the function; cheap, and the same on all ranks. */
bool has_rules(enum replaced function);
/* Only after has_rules(): the rule for so many bytes, or NULL. */
struct rule *find_rule(enum replaced function, MPI_Comm comm, uint64_t bytes, struct group *group);
/* Whether to replace only reductions whose result does not depend on the order. */
bool wants_exact(void);

/* ---- replace.c -------------------------------------------------------------------------- */

#define EXPORT __attribute__((visibility("default")))
#define BOTH_NAMES(name) \
	__typeof__(PMPI_##name) PMPI_##name __attribute__((alias("MPI_" #name), \
	    visibility("default")));

/* Whether so many elements per block can be counted in all calls of a mock-up. */
bool fits(const struct group *group, uint64_t count, uint64_t extent);
/*
 * The call without its operands, with COPIES bytes for its input, then the memory that the rule
 * needs. All is in MEMORY, which the caller frees. A single rank cannot fall back: without memory
 * the run ends.
 */
struct call make_replaced(const struct rule *rule, const struct group *group, MPI_Comm comm,
    int count, MPI_Datatype type, size_t extent, size_t copies, char **memory);
int run_replaced(struct rule *rule, struct call *call);

#endif
