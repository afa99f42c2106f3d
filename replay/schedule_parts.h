/* SPDX-License-Identifier: BSD-3-Clause */
/* What schedule.c is made of. */
#ifndef SCHEDULE_PARTS_H
#define SCHEDULE_PARTS_H

#include "schedule.h"

/* Ranks that take part where a power of two is needed, its logarithm, and how many there are beyond. */
struct fold { uint32_t ranks, depth, beyond; };

struct fold fold_of(uint32_t ranks);
bool is_allgather(enum operation operation);
uint32_t rabenseifner_rounds(const struct plan *plan);
/* A round without segments: ME counts from the root on; and of operations without a root. */
struct round rooted_round(const struct plan *plan, uint32_t me, uint32_t round);
struct round even_round(const struct plan *plan, uint32_t me, uint32_t round);

/* trees.c: those that go in segments; ranks are counted from the root on. */
uint32_t tree_rounds(const struct plan *plan);
struct round tree_round(const struct plan *plan, uint32_t me, uint32_t round);
uint32_t tree_depth(uint32_t ranks);	/* ceil(log2) */

#endif
