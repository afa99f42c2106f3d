/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What several processes counted of parts of a run becomes the whole, with the first one. All of it are sums
 * of whole numbers, the largest of something, or the first or last in time, so that it does not matter
 * where the parts begin: a binary-tree reduction over the parts, in order. Memory: what a part has, and some
 * thousands of its numbers at a time.
 */
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "functions.h"

/* What parts have, in the order in which it is sent. */
enum kind {
	OF_RUN, OF_STATE, LARGEST, OF_CALL, OF_RANK, SPAN, OF_LOCATION, CELL, WAIT_NS, OF_SITE, DELAY, LINK, SAMPLED,
	KINDS
};
enum { WORDS = 10 };

/* Numbers, and the place they belong to. */
struct item {
	uint32_t kind, of;		/* rank, dimension, state: as its kind has it */
	uint64_t index;
	union {
		int64_t sums[WORDS];
		struct wait wait;
		struct span span;
		struct delay delay;
		struct taken taken;
	};
};

static size_t
longest_table(const struct imbalance *im)
{
	size_t longest = 1;

	for (int d = 0; d < DIMENSIONS; d++)
		longest = im->tables[d].count > longest ? im->tables[d].count : longest;
	return longest;
}

/* How many places of the kind there may be. */
static size_t
places(const struct imbalance *im, enum kind kind)
{
	switch (kind) {
	case OF_RUN: return 1;
	case OF_STATE:
	case LARGEST: return STATES;
	case OF_CALL: return im->call_capacity;
	case OF_RANK:
	case SPAN: return (size_t)im->known.ranks;
	case OF_LOCATION: return im->known.location_count;
	case CELL: return DIMENSIONS * longest_table(im);
	case WAIT_NS: return DIMENSIONS * STATES * longest_table(im);
	case OF_SITE: return im->site_count * (size_t)im->known.ranks;
	case DELAY: return delay_count(im);
	case LINK: return chain_count(im) * MOST_LINKS;
	case SAMPLED: return im->functions != NULL ? taken_places(im) : 0;
	default: return 0;
	}
}

/* The place that AT numbers; false: nothing is there. */
static bool
find_place(const struct imbalance *im, struct item *item, size_t at)
{
	const size_t longest = longest_table(im), ranks = (size_t)im->known.ranks;
	const struct site_ns *site;

	item->index = at;
	switch ((enum kind)item->kind) {
	case CELL:
	case WAIT_NS:
		item->of = (uint32_t)(at / longest);
		item->index = at % longest;
		return item->kind == CELL ? item->index < im->tables[item->of].count :
		    state_ns(&im->tables[item->of / STATES], item->index, (int)(item->of % STATES)) != 0;
	case OF_SITE:
		item->of = (uint32_t)(at % ranks);
		item->index = at / ranks;
		site = im->sites[item->index] != NULL ? &im->sites[item->index][item->of] : NULL;
		return site != NULL && (item->of == 0 || site->compute_ns != 0 || site->mpi_ns != 0);
	default:
		return true;
	}
}

/* The sums of a place, COUNT of them, which is made where it is not there yet. */
static void *
sums_at(struct imbalance *im, const struct item *item, size_t *count)
{
	const size_t index = item->index;

	*count = 1;
	switch ((enum kind)item->kind) {
	case OF_RUN:
		*count = sizeof im->counts / sizeof(int64_t);
		return &im->counts;
	case OF_STATE:
		*count = offsetof(struct state_sums, largest) / sizeof(int64_t);
		return &im->states[index];
	case OF_CALL:
		*count = sizeof(struct totals) / sizeof(int64_t);
		return totals_of(im, (uint16_t)index);
	case OF_RANK:
		*count = sizeof(struct totals) / sizeof(int64_t);
		return &im->ranks[index];
	case OF_LOCATION:
		return &im->before_ns[index];	/* only one part has its first call */
	case CELL:
		*count = sizeof(struct cell) / sizeof(int64_t);
		return cell_of(im, item->of, index);
	case WAIT_NS:
		return wait_ns_of(&im->tables[item->of / STATES], index, item->of % STATES);
	case OF_SITE:
		*count = sizeof(struct site_ns) / sizeof(int64_t);
		return site_ns_of(im, (uint32_t)index, (int32_t)item->of);
	default:
		return NULL;
	}
}

static bool
fill(struct imbalance *im, struct item *item, size_t at)
{
	struct wait chain[MOST_LINKS];
	size_t count;
	void *sums;

	if (!find_place(im, item, at))
		return false;
	switch ((enum kind)item->kind) {
	case LARGEST:
		item->wait = im->states[at].largest;
		return true;
	case SPAN:
		item->span = im->spans[at];
		return true;
	case DELAY:
		item->delay = *delay_at(im, at);
		return true;
	case LINK:		/* OF: links behind it */
		count = chain_of(im, at / MOST_LINKS, chain);
		if (at % MOST_LINKS >= count)
			return false;
		item->of = (uint32_t)(count - 1 - at % MOST_LINKS);
		item->wait = chain[at % MOST_LINKS];
		return true;
	case SAMPLED:
		return taken_at(im, at, &item->taken);
	case OF_LOCATION:
		item->sums[1] = im->last_leave_ns[at];
		break;
	default:
		break;
	}
	sums = sums_at(im, item, &count);
	memcpy(item->sums, sums, count * sizeof(int64_t));
	return true;
}

static void
add(struct imbalance *im, const struct item *item, struct wait chain[MOST_LINKS], size_t *links)
{
	int64_t *sums;
	size_t count;

	switch ((enum kind)item->kind) {
	case LARGEST: count_largest(im, &item->wait); return;
	case SPAN: span_join(&im->spans[item->index], &item->span); return;
	case DELAY: join_delay(im, &item->delay); return;
	case LINK:
		chain[(*links)++] = item->wait;
		if (item->of == 0) {
			join_chain(im, chain, *links);
			*links = 0;
		}
		return;
	case SAMPLED: join_taken(im, &item->taken); return;
	case OF_LOCATION:
		if (item->sums[1] > im->last_leave_ns[item->index])
			im->last_leave_ns[item->index] = item->sums[1];
		break;
	default: break;
	}
	sums = sums_at(im, item, &count);
	for (size_t i = 0; i < count; i++)
		sums[i] += item->sums[i];
	if (im->counts.sampled > 0)
		functions_begin(im);
}

/* ---- who gives to whom ---- */

enum { AT_ONCE = 4096 };	/* items */

/* All to a member, some at a time; none are the last. */
static void
give(struct imbalance *im, const struct team *team, int to)
{
	struct item *items = zalloc(AT_ONCE, sizeof *items);
	size_t count = 0;

	for (uint32_t kind = 0; kind < KINDS; kind++)
		for (size_t at = 0, all = places(im, kind); at < all; at++) {
			items[count] = (struct item){ .kind = kind };
			count += fill(im, &items[count], at);
			if (count < AT_ONCE)
				continue;
			team_send(team, to, items, count, sizeof *items);
			count = 0;
		}
	if (count > 0)
		team_send(team, to, items, count, sizeof *items);
	team_send(team, to, items, 0, sizeof *items);
	free(items);
}

static void
take(struct imbalance *im, const struct team *team, int from)
{
	struct wait chain[MOST_LINKS];
	size_t count, links = 0;

	do {
		struct item *items = team_receive(team, from, sizeof *items, &count);

		for (size_t i = 0; i < count; i++)
			add(im, &items[i], chain, &links);
		free(items);
	} while (count > 0);
}

/* Which members have the parts that make up the run; their count goes to *COUNT. */
static int *
needed(const struct part *part, const struct team *team, size_t *count)
{
	struct read { uint64_t member, first, end; } own = { (uint64_t)team->rank, 0, 0 }, *all;
	int *members = zalloc((size_t)team->size, sizeof *members);
	size_t parts;
	uint64_t next = 0;

	if (part != NULL) {
		own.first = part->first;
		own.end = part->end;
	}
	all = team_share(team, &own, part != NULL, sizeof own, &parts);
	*count = 0;
	for (size_t i = 0; i < parts; i++)	/* in order of their parts */
		if (all[i].first == next) {
			members[(*count)++] = (int)all[i].member;
			next = all[i].end;
		}
	free(all);
	return members;
}

void
join_parts(struct imbalance *im, const struct team *team)
{
	size_t count, own = 0;
	int *members = needed(im->part, team, &count);

	while (own < count && members[own] != team->rank)
		own++;
	for (size_t step = 1; own < count && step < count && own % step == 0; step *= 2)
		if (own % (2 * step) == step)
			give(im, team, members[own - step]);
		else if (own + step < count)
			take(im, team, members[own + step]);
	free(members);
}
