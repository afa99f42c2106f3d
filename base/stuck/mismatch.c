/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds ranks that make different collective calls at the same place of a communicator, from their
 * slots.
 */
#include <string.h>

#include "../tool/tool.h"
#include "waits.h"

static bool
same_call(const struct thread *a, const struct thread *b)
{
	return calls_are_same(a->call, b->call) &&
	    (a->open.peer == b->open.peer || a->open.peer == ROOT_PEER ||
	    b->open.peer == ROOT_PEER || a->open.peer == NULL_PEER || b->open.peer == NULL_PEER);
}

static uint32_t
group_called(const struct look *look, const struct thread *thread)
{
	return thread->call != 0 &&
	    thread->open.collective > 0 && is_collective(call_class(thread->call)) ?
	    group_of(&look->ranks[thread->rank], thread->open.comm) : 0;
}

static bool
in_finalize(const struct thread *thread)
{
	return call_class(thread->call) == CLASS_FINALIZE;
}

/* In MPI_Finalize, although the others are in a collective that it has not called. */
static bool
has_left_out(const struct look *look, const struct thread *thread, uint32_t group,
    uint32_t collective)
{
	const struct rank *rank = &look->ranks[thread->rank];

	if (!in_finalize(thread))
		return false;
	for (uint32_t comm = 1; comm < rank->member_count; comm++) {
		const struct open_count last = thread->open.last[comm % OPEN_COUNTS];

		if (rank->members[comm].group == group)
			return rank->thread_count == 1 && (last.comm == comm ? last.collectives :
			    last.comm == 0 ? 0 : collective) < collective;
	}
	return false;
}

/* At the place of AT: in its call, or another, or in MPI_Finalize without it. */
static bool
is_there(const struct look *look, const struct thread *thread, const struct thread *at)
{
	const uint32_t group = group_called(look, at);

	return (group_called(look, thread) == group &&
	    thread->open.collective == at->open.collective) ||
	    has_left_out(look, thread, group, at->open.collective);
}

const struct thread *
find_mismatch(const struct look *look)
{
	/* the first thread at each place of a communicator */
	static const struct thread **first;
	static size_t capacity;
	size_t count = 0, i;

	for (const struct thread *thread = NULL; (thread = next_thread(look, thread)) != NULL; ) {
		const uint32_t group = group_called(look, thread);

		if (group == 0 || group == 2)
			continue;
		for (i = 0; i < count && !is_there(look, thread, first[i]); i++)
			;
		if (i == count)
			*APPEND(first, count, capacity) = thread;
		else if (!same_call(thread, first[i]))
			return first[i];
	}
	for (const struct thread *thread = NULL; (thread = next_thread(look, thread)) != NULL; )
		for (i = 0; i < count && in_finalize(thread); i++)
			if (is_there(look, thread, first[i]))
				return first[i];
	return NULL;
}

size_t
mismatch_calls(const struct look *look, const struct thread *at, struct same *calls)
{
	size_t count = 0, i;

	for (const struct thread *thread = NULL; (thread = next_thread(look, thread)) != NULL; ) {
		if (!is_there(look, thread, at))
			continue;
		for (i = 0; i < count && !same_call(thread, calls[i].first); i++)
			;
		if (i == MOST_CALLS)
			continue;
		if (i == count)
			calls[count++] = (struct same){ thread, 0 };
		calls[i].threads++;
	}
	return count;
}

void
blame_few(struct look *look, const struct thread *at)
{
	struct same calls[MOST_CALLS];
	const size_t count = mismatch_calls(look, at, calls);
	size_t few = 0, as_few = 0;

	for (size_t i = 1; i < count; i++)
		if (calls[i].threads < calls[few].threads ||
		    (calls[i].threads == calls[few].threads && in_finalize(calls[i].first)))
			few = i;
	for (size_t i = 0; i < count; i++)
		as_few += calls[i].threads == calls[few].threads;
	for (const struct thread *thread = NULL; (thread = next_thread(look, thread)) != NULL; )
		look->ranks[thread->rank].blamed |= is_there(look, thread, at) &&
		    (same_call(thread, calls[few].first) ||
		    (as_few == count && !in_finalize(calls[few].first)));
}

bool
mismatch_at(const struct look *look, const struct thread *at, const struct thread *thread,
    const struct thread **other)
{
	*other = NULL;
	while ((*other = next_thread(look, *other)) != NULL &&
	    !(look->ranks[(*other)->rank].blamed && is_there(look, *other, at) &&
	    !same_call(*other, thread)))
		;
	return is_there(look, thread, at);
}
