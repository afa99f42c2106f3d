/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUN_UNENDED_H
#define RUN_UNENDED_H

#include "definitions.h"

/* Where threads were when a run ended: the columns of a message of kind unended (trace.5). */
struct ends {
	size_t count;
	uint32_t *locations, *sites;
	uint16_t *calls, *operations;
	int32_t *waits_for;
	int64_t *since_ns;
};
struct ends ends_begin(size_t most);
void ends_free(struct ends *ends);

/*
 * Takes a message of kind unended: a part of the headline, "killed at 12.3 s: deadlock: 0 waits in
 * MPI_Ssend to 1 ...", and what open calls wait for. 1 or -1.
 */
int unended_take(struct definitions *definitions, struct reader *in, const struct message *message);

#endif
