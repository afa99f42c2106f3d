/* SPDX-License-Identifier: BSD-3-Clause */
/* Which call is replaced by what, the same on all ranks of a communicator (rules.c); and how
 * (replace.c). */
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
	const struct subject *mockup;	/* NULL: the function in several calls */
	uint64_t part;			/* then bytes of each */
	uint64_t calls;			/* so far */
};

/* A communicator as far as it matters. */
struct group {
	int rank, ranks;
	bool ours;	/* of one group, all of this MPI_COMM_WORLD: who has agreed on the rules */
};

/* By MPI_Init, after it: reads the rules and asks all ranks; where they differ nothing is
 * replaced. */
void agree(void);
void say_calls(void);		/* on rank 0, where it was asked for */

/* Whether there are rules for the function; cheap, and the same everywhere. */
bool has_rules(enum replaced function);
/* Only where HAS_RULES: the rule for so many bytes, or NULL. */
struct rule *find_rule(enum replaced function, MPI_Comm comm, uint64_t bytes, struct group *group);
/* Of reductions only those whose result does not depend on the order? */
bool wants_exact(void);

/* ---- replace.c -------------------------------------------------------------------------- */

#define EXPORT __attribute__((visibility("default")))
#define BOTH_NAMES(name) \
	__typeof__(PMPI_##name) PMPI_##name __attribute__((alias("MPI_" #name), \
	    visibility("default")));

/* Whether so many elements a block can be counted in all that a mock-up does. */
bool fits(const struct group *group, uint64_t count, uint64_t extent);
/*
 * The call, all but its operands, with COPIES bytes at its input and what the rule needs behind
 * them: all in MEMORY, to be freed. There is no going back for a rank alone: without memory the run
 * ends.
 */
struct call make_replaced(const struct rule *rule, const struct group *group, MPI_Comm comm,
    int count, MPI_Datatype type, size_t extent, size_t copies, char **memory);
int run_replaced(struct rule *rule, struct call *call);

#endif
