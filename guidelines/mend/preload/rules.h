/* SPDX-License-Identifier: BSD-3-Clause */
/* Which call is replaced by what: the same answer on all ranks of a communicator. */
#ifndef MEND_RULES_H
#define MEND_RULES_H

#include "../../measure/measure.h"
#include "real.h"

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

/* By MPI_Init, after it: reads the rules and asks all ranks; where they differ nothing is replaced. */
void agree(void);
void say_calls(void);		/* on rank 0, where it was asked for */

/* Whether there are rules for the function; cheap, and the same everywhere. */
bool has_rules(enum replaced function);
/* Only where HAS_RULES: the rule for so many bytes, or NULL. */
struct rule *find_rule(enum replaced function, MPI_Comm comm, uint64_t bytes, struct group *group);
/* Of reductions only those whose result does not depend on the order? */
bool wants_exact(void);

#endif
