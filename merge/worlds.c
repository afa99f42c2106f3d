/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several MPI_COMM_WORLDs in one trace, and their clocks. The clocks of two worlds are compared
 * through a kernel under which both have ranks. Without a common kernel, the meeting counts as one
 * instant, until messages in both directions show better.
 */
#include <stdlib.h>
#include <string.h>

#include "merge.h"

void
join_met(struct input *input, bool whole)
{
	struct met_rank *ranks = zalloc((size_t)input->rank_count, sizeof *ranks);
	struct meeting *met;
	size_t count;

	for (int32_t r = 0; r < input->rank_count; r++) {
		const struct rank *rank = &input->ranks[r];

		ranks[r] = (struct met_rank){ input->worlds[rank->world].run, rank->comms,
			rank->comm_count, rank->kernels, rank->kernel_count };
	}
	met = meetings_join(ranks, input->rank_count, whole, &count);
	for (size_t i = 0; i < count; i++) {
		const int32_t earlier = input->ranks[met[i].rank].world;
		struct world *world = &input->worlds[input->ranks[met[i].other].world];

		if (world->meets >= 0 || world == &input->worlds[earlier])
			continue;
		world->meets = earlier;
		world->met = met[i];
	}
	free(met);
	free(ranks);
}

bool
world_has_met(const struct input *input, const struct world *world)
{
	for (int32_t r = world->first; r < world->first + world->ranks; r++)
		for (size_t i = 0; i < input->ranks[r].comm_count; i++)
			if (input->ranks[r].comms[i].met != NULL)
				return true;
	return false;
}

void
join_worlds(struct input *input, bool followed)
{
	join_met(input, followed);
	for (int32_t w = 1; w < input->world_count; w++) {
		const struct world *world = &input->worlds[w];

		if (world->meets >= 0 || followed)
			note("%s: ranks %d to %d of the trace are ranks 0 to %d of this "
			    "MPI_COMM_WORLD", world->file, (int)world->first,
			    (int)(world->first + world->ranks - 1), (int)(world->ranks - 1));
		else if (world_has_met(input, world))
			note("%s: these ranks met others, but it is not known which; messages with "
			    "them match nothing", world->file);
		else
			die("%s:%llu: of another run than %s", world->file,
			    (unsigned long long)world->offset, input->worlds->file);
	}
}

uint32_t
world_comm(const struct input *input, int32_t world)
{
	return input->world_count > 1 ? 3 + (uint32_t)world : 1;
}

uint32_t
first_comm(const struct input *input)
{
	return input->world_count > 1 ? world_comm(input, input->world_count) : 3;
}

/* ---- clocks ---- */

/* The rank's own time for a time of the kernel's clock, between two looks at it. */
static int64_t
own_ns(const struct rank *rank, int64_t kernel_ns)
{
	const struct kernel_clock *a = kernel_at(rank->kernels, rank->kernel_count,
	    kernel_ns - rank->kernels->offset_ns), *b = a;
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
			const struct meeting *met = &world->met;

			add_knot(&c,
			    corrected_ns(&input->ranks[met->other].correction, met->other_ns),
			    corrected_ns(&input->ranks[met->rank].correction, met->at_ns));
			world->guessed = true;
		}
		if (c.count > 0)
			correct_world(input, world, &c);
		free(c.knots);
	}
}

void
correct_guessed(struct input *input, const struct world *world, struct late late)
{
	if (late.error_ns < 0) {
		note("%s: on no node of the others, and without messages in both directions: its "
		    "clock is as when they met, and off by up to the time that the call took",
		    world->file);
		return;
	}
	note("%s: on no node of the others: messages give its clock, within %lld ns", world->file,
	    (long long)late.error_ns);
	for (int32_t r = world->first; r < world->first + world->ranks; r++) {
		struct correction *c = &input->ranks[r].correction;

		for (size_t i = 0; i < c->count; i++)
			c->knots[i].offset_ns -= late.late_ns;
		c->error_ns += late.error_ns;
	}
}
