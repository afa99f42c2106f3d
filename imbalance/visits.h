/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When locations were in their last calls: 4096 of each at most, 4 million of all. Calls come in order
 * of their leaves.
 */
#ifndef VISITS_H
#define VISITS_H

#include "imbalance.h"

struct visit {
	int64_t enter_ns, leave_ns;
	uint64_t seq;
};
struct visits;

struct visits *visits_begin(const struct imbalance *im);
void visit_add(struct visits *visits, const struct whole_call *call);
/* Nobody will ask for what was before AT; the last call of each is kept. */
void visits_forget(const struct imbalance *im, struct visits *visits, int64_t at_ns);
/*
 * The first call that the location left after AT_NS, counted already or not; false where there is none, or
 * where that is not kept any more.
 */
bool visit_after(const struct imbalance *im, const struct visits *visits, uint32_t location, int64_t at_ns,
    struct visit *found);

#endif
