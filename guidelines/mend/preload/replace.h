/* SPDX-License-Identifier: BSD-3-Clause */
/* A call that becomes others: what all replaced functions need (replace.c). */
#ifndef REPLACE_H
#define REPLACE_H

#include "rules.h"

#define EXPORT __attribute__((visibility("default")))
#define BOTH_NAMES(name) \
	__typeof__(PMPI_##name) PMPI_##name __attribute__((alias("MPI_" #name), visibility("default")));

/* Whether so many elements a block can be counted in all that a mock-up does. */
bool fits(const struct group *group, uint64_t count, uint64_t extent);
/* Whether this rank has that buffer. */
bool is_there(enum layout layout, bool at_root);
/*
 * The call, all but its operands, with COPIES bytes at its input and what the rule needs behind them: all in
 * MEMORY, to be freed. There is no going back for a rank alone: without memory the run ends.
 */
struct call make_replaced(const struct rule *rule, const struct group *group, MPI_Comm comm, int count,
    MPI_Datatype type, size_t extent, size_t copies, char **memory);
int run_replaced(struct rule *rule, struct call *call);

#endif
