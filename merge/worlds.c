/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several MPI_COMM_WORLDs in one trace: spawned processes, or runs that connected. Their recorders
 * have not talked to each other, since one world may not be recorded. Each recorded how and when it
 * met another world. The two sides of a meeting match by their calls (spawn and parent, accept and
 * connect), by the sizes of both groups, and by their common port. If several match, times decide,
 * provided that these are of one kernel's clock.
 *
 * Clocks of two worlds are compared through a kernel under which both have ranks. Without a common
 * kernel, the meeting counts as one instant, until messages in both directions show better.
 */
#include <stdlib.h>
#include <string.h>

#include "../base/tool/hash_table.h"
#include "merge.h"

/* A rank's share of one side of a meeting. */
struct part {
	struct membership *of;
	int32_t rank;
};

/* One side: its parts are consecutive, in order of rank. */
struct half {
	struct part *parts;
	size_t count;
	uint64_t port, kernel;	/* 0: unknown */
	int64_t at_ns;		/* kernel's clock */
	bool joined;
};

struct meetings {
	struct part *parts;
	struct half *halves;
	size_t part_count, half_count;
};

#define NOBODY SIZE_MAX

static const struct membership *
comm_of(const struct rank *rank, uint32_t number)
{
	for (size_t i = 0; i < rank->comm_count; i++)
		if (rank->comms[i].comm == number)
			return &rank->comms[i];
	return NULL;
}

/* An object from a meeting is named by the meeting and its own id. */
uint64_t
communicator_name(const struct rank *rank, const struct membership *of)
{
	const struct membership *from = of->from != 0 ? comm_of(rank, of->from) : NULL;

	return from != NULL ? mix(from->name, of->id) : of->id;
}

/* Ids of other objects hold in their world only. */
static void
name_communicators(struct input *input)
{
	for (struct rank *rank = input->ranks; rank < input->ranks + input->rank_count; rank++) {
		for (struct membership *m = rank->comms; m < rank->comms + rank->comm_count; m++) {
			const struct membership *from = m->from != 0 ?
			    comm_of(rank, m->from) : NULL;

			if (m->joined)
				continue;
			m->name = communicator_name(rank, m);
			if (from == NULL && input->world_count > 1)
				m->name = mix(m->name, input->worlds[rank->world].run);
			if (from != NULL && m->met == NULL && m->remote_size >= 0)
				m->side = from->side;
		}
	}
}

ORDER(by_name, struct part, BY(of->name) BY(rank))

/* The rank's look at the kernel's clock nearest to its own time AT_NS; NULL: none. */
static const struct kernel_clock *
kernel_at(const struct rank *rank, int64_t at_ns)
{
	const struct kernel_clock *best = NULL;

	for (size_t i = 0; i < rank->kernel_count; i++)
		if (best == NULL ||
		    llabs(rank->kernels[i].at_ns - at_ns) < llabs(best->at_ns - at_ns))
			best = &rank->kernels[i];
	return best;
}

static struct half
half_of(const struct input *input, struct part *parts, size_t count)
{
	struct half half = { .parts = parts, .count = count };

	for (size_t i = 0; i < count; i++) {
		const struct membership *m = parts[i].of;
		const struct kernel_clock *kernel = kernel_at(&input->ranks[parts[i].rank],
		    m->at_ns);

		if (half.port == 0)
			half.port = m->port;
		if (half.kernel == 0 && kernel != NULL) {
			half.kernel = kernel->kernel;
			half.at_ns = m->at_ns + kernel->offset_ns;
		}
	}
	return half;
}

/* Sides that have not been joined, each with all of its parts. */
static struct meetings
find_halves(const struct input *input)
{
	struct meetings found = { 0 };
	size_t parts = 0, halves = 0;

	for (int32_t r = 0; r < input->rank_count; r++)
		for (size_t i = 0; i < input->ranks[r].comm_count; i++) {
			struct membership *m = &input->ranks[r].comms[i];

			if (m->met == NULL || m->joined)
				continue;
			*APPEND(found.parts, found.part_count, parts) = (struct part){ m, r };
		}
	SORT(found.parts, found.part_count, by_name);
	for (size_t i = 0, end = 0; i < found.part_count; i = end) {
		while (end < found.part_count &&
		    found.parts[end].of->name == found.parts[i].of->name)
			end++;
		*APPEND(found.halves, found.half_count, halves) = half_of(input, &found.parts[i],
		    end - i);
	}
	return found;
}

static bool
may_have_met(const struct half *a, const struct half *b)
{
	static const char *const other_side[][2] = { { "spawn", "parent" }, { "parent", "spawn" },
		{ "accept", "connect" }, { "connect", "accept" }, { "join", "join" },
		{ "create", "create" } };
	const struct membership *x = a->parts->of, *y = b->parts->of;

	if (a->joined || b->joined || x->size != y->remote_size || x->remote_size != y->size ||
	    (a->port != 0 && b->port != 0 && a->port != b->port))
		return false;
	for (size_t i = 0; i < sizeof other_side / sizeof other_side[0]; i++)
		if (strcmp(x->met, other_side[i][0]) == 0 && strcmp(y->met, other_side[i][1]) == 0)
			return true;
	return false;
}

/* Of several sides that half H may have met: the nearest in time, if all times are known. */
static size_t
best_of(const struct meetings *all, size_t h)
{
	const struct half *of = &all->halves[h];
	size_t best = NOBODY, count = 0;
	int64_t best_ns = INT64_MAX;
	bool timed = of->kernel != 0;

	for (size_t i = 0; i < all->half_count; i++) {
		const struct half *it = &all->halves[i];

		if (i == h || !may_have_met(of, it))
			continue;
		timed &= it->kernel == of->kernel;
		if (count++ == 0 || llabs(it->at_ns - of->at_ns) < best_ns) {
			best_ns = llabs(it->at_ns - of->at_ns);
			best = i;
		}
	}
	return count < 2 || timed ? best : NOBODY;
}

static void
join_half(struct half *half, uint64_t name, int32_t side)
{
	half->joined = true;
	for (size_t i = 0; i < half->count; i++) {
		half->parts[i].of->name = name;
		half->parts[i].of->side = side;
		half->parts[i].of->joined = true;
	}
}

/* The lowest rank's side is 0, and names the meeting. */
static void
join_halves(struct input *input, struct half *a, struct half *b)
{
	const uint64_t name = a->parts->of->name;
	struct world *later = &input->worlds[input->ranks[b->parts->rank].world];
	const struct membership *x = a->parts->of, *y = b->parts->of;

	if (later->meets < 0 &&
	    later->run != input->worlds[input->ranks[a->parts->rank].world].run) {
		later->meets = input->ranks[a->parts->rank].world;
		later->own_rank = b->parts->rank;
		later->rank = a->parts->rank;
		later->own_ns = y->at_ns;
		later->at_ns = x->at_ns;
	}
	join_half(a, name, 0);
	join_half(b, name, 1);
}

/* True: some were joined, so others may now get the same name. */
static bool
join_round(struct input *input)
{
	struct meetings all;
	bool joined = false;

	name_communicators(input);
	all = find_halves(input);
	for (size_t a = 0; a < all.half_count; a++) {
		const size_t b = best_of(&all, a);
		struct half *x = &all.halves[a], *y;

		if (b == NOBODY || best_of(&all, b) != a)
			continue;
		y = &all.halves[b];
		if (x->parts->rank < y->parts->rank)
			join_halves(input, x, y);
		else
			join_halves(input, y, x);
		joined = true;
	}
	free(all.parts);
	free(all.halves);
	return joined;
}

static bool
has_met(const struct input *input, const struct world *world)
{
	for (int32_t r = world->first; r < world->first + world->ranks; r++)
		for (size_t i = 0; i < input->ranks[r].comm_count; i++)
			if (input->ranks[r].comms[i].met != NULL)
				return true;
	return false;
}

/* World W in words, counted from 1 as in the trace. */
static void
tell_world(const struct input *input, int32_t w)
{
	const struct world *world = &input->worlds[w];

	if (world->meets >= 0)
		note("%s: ranks %d to %d of the trace are ranks 0 to %d of this MPI_COMM_WORLD",
		    world->file, (int)world->first, (int)(world->first + world->ranks - 1),
		    (int)(world->ranks - 1));
	else if (has_met(input, world))
		note("%s: these ranks met others, but it is not known which; messages with them "
		    "match nothing", world->file);
	else
		die("%s:%llu: of another run than %s", world->file,
		    (unsigned long long)world->offset, input->run_file);
}

void
join_worlds(struct input *input)
{
	while (join_round(input))
		;
	for (int32_t w = 1; w < input->world_count; w++)
		tell_world(input, w);
}

uint32_t
world_comm(const struct input *input, int32_t world)
{
	return input->world_count > 1 ? 3 + (uint32_t)world : 1;
}

/* ---- clocks ---- */

/* The rank's own time for a time of the kernel's clock, between two looks at it. */
static int64_t
own_ns(const struct rank *rank, int64_t kernel_ns)
{
	const struct kernel_clock *a = kernel_at(rank, kernel_ns - rank->kernels->offset_ns),
	    *b = a;
	double offset_ns = (double)a->offset_ns;

	for (size_t i = 0; i < rank->kernel_count; i++)
		if (llabs(rank->kernels[i].at_ns - a->at_ns) > llabs(b->at_ns - a->at_ns))
			b = &rank->kernels[i];
	if (b->at_ns != a->at_ns)
		offset_ns += (double)(b->offset_ns - a->offset_ns) / (double)(b->at_ns - a->at_ns) *
		    (double)(kernel_ns - a->offset_ns - a->at_ns);
	return kernel_ns - (int64_t)offset_ns;
}

static void
add_knot(struct correction *c, int64_t at_ns, int64_t to_ns)
{
	if (c->count > 0 && at_ns <= c->knots[c->count - 1].at_ns)
		return;
	c->knots = need(realloc(c->knots, (c->count + 1) * sizeof *c->knots));
	c->knots[c->count++] = (struct knot){ at_ns, to_ns - at_ns };
}

/*
 * From one world's clock to another's, through ranks under one kernel: the first and last look of
 * the first.
 */
static bool
compare_kernels(const struct input *input, const struct world *world, const struct world *to,
    struct correction *c)
{
	for (int32_t r = world->first; r < world->first + world->ranks; r++)
		for (int32_t s = to->first; s < to->first + to->ranks; s++) {
			const struct rank *own = &input->ranks[r], *other = &input->ranks[s];

			if (own->kernel_count == 0 || other->kernel_count == 0 ||
			    own->kernels->kernel != other->kernels->kernel)
				continue;
			for (size_t i = 0; i < own->kernel_count; i++) {
				const struct kernel_clock *k = &own->kernels[i];

				if (i > 0 && i + 1 < own->kernel_count)
					continue;
				add_knot(c, corrected_ns(&own->correction, k->at_ns),
				    corrected_ns(&other->correction,
				    own_ns(other, k->at_ns + k->offset_ns)));
			}
			if (c->count > 1)
				c->drift = (double)(c->knots[1].offset_ns - c->knots[0].offset_ns) /
				    (double)(c->knots[1].at_ns - c->knots[0].at_ns);
			return true;
		}
	return false;
}

/* Applies the world's correction after each rank's own. */
static void
correct_world(struct input *input, const struct world *world, const struct correction *by)
{
	for (int32_t r = world->first; r < world->first + world->ranks; r++) {
		struct correction *c = &input->ranks[r].correction;
		struct knot *knots = zalloc(c->count + by->count, sizeof *knots);

		memcpy(knots, c->count > 0 ? c->knots : by->knots,
		    (c->count > 0 ? c->count : by->count) * sizeof *knots);
		for (size_t i = 0; i < c->count; i++)
			knots[i].offset_ns = corrected_ns(by, knots[i].at_ns + knots[i].offset_ns) -
			    knots[i].at_ns;
		if (c->count == 0)
			c->count = by->count;
		c->knots = knots;
		c->drift = (1 + c->drift) * (1 + by->drift) - 1;
	}
}

void
join_clocks(struct input *input)
{
	/* each meets an earlier one, which is corrected */
	for (int32_t w = 1; w < input->world_count; w++) {
		struct world *world = &input->worlds[w];
		struct correction c = { .known = true };
		bool compared = false;

		for (int32_t to = 0; to < w && !compared; to++)
			compared = compare_kernels(input, world, &input->worlds[to], &c);
		if (!compared && world->meets >= 0) {
			add_knot(&c,
			    corrected_ns(&input->ranks[world->own_rank].correction, world->own_ns),
			    corrected_ns(&input->ranks[world->rank].correction, world->at_ns));
			world->guessed = true;
		}
		if (c.count > 0)
			correct_world(input, world, &c);
		free(c.knots);
	}
}

void
correct_guessed(struct input *input, struct world *world)
{
	if (world->error_ns < 0) {
		note("%s: on no node of the others, and without messages in both directions: its "
		    "clock is as when they met, and off by up to the time that the call took",
		    world->file);
		return;
	}
	note("%s: on no node of the others: messages give its clock, within %lld ns", world->file,
	    (long long)world->error_ns);
	for (int32_t r = world->first; r < world->first + world->ranks; r++) {
		struct correction *c = &input->ranks[r].correction;

		for (size_t i = 0; i < c->count; i++)
			c->knots[i].offset_ns -= world->late_ns;
		c->error_ns += world->error_ns;
	}
}
