/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins calls of collectives into instances, with members in order of their ranks. */
#include <stdlib.h>

#include "import.h"

ORDER(by_instance, struct build_call, BY(comm) BY(index) BY(rank))

/* Numbers the calls of each rank on each communicator. */
static void
number_calls(struct build *build, struct sorter *numbered)
{
	struct build_call last = { 0 }, call;
	const void *next;
	bool any = false;

	sorter_begin(numbered, sizeof call, by_instance);
	sorter_sort(&build->called);
	for (; (next = sorter_peek(&build->called)) != NULL;
	    sorter_drop(&build->called), any = true) {
		call = *(const struct build_call *)next;
		call.index = any && call.comm == last.comm && call.rank == last.rank ?
		    last.index + 1 : 0;
		sorter_add(numbered, &call);
		last = call;
	}
	sorter_free(&build->called);
	sorter_sort(numbered);
}

static void
put_instance(struct build *build, const struct build_call *calls, size_t count)
{
	int32_t root = NO_PEER;
	uint64_t round = 0;

	for (size_t i = 0; i < count; i++) {
		round = build_round(build, round, calls[i].seq);
		if (calls[i].root)
			root = (int32_t)i;
	}
	for (size_t i = 0; i < count; i++) {
		struct build_member member = { round, build->member_count++, build->instance_count,
		    calls[i].seq, calls[i].location };

		sorter_add(&build->members, &member);
		build_end(build, calls[i].location, calls[i].seq, round);
		if (root != NO_PEER)
			build_patch(build, &(struct build_patch){ .head = calls[i].seq,
			    .seq = calls[i].seq, .location = calls[i].location, .peer = root,
			    .peer_known = true });
	}
	build->instance_count++;
}

void
build_match(struct build *build)
{
	struct sorter numbered;
	const struct build_call *next;
	struct build_call *calls = NULL;
	size_t count = 0, capacity = 0;

	number_calls(build, &numbered);
	for (next = sorter_peek(&numbered); next != NULL; ) {
		*APPEND(calls, count, capacity) = *next;
		sorter_drop(&numbered);
		next = sorter_peek(&numbered);
		if (next != NULL && next->comm == calls[0].comm && next->index == calls[0].index)
			continue;
		if (count < (size_t)calls[0].size)
			build->unmatched_collectives++;
		else
			put_instance(build, calls, count);
		count = 0;
	}
	free(calls);
	sorter_free(&numbered);
}
