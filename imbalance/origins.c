/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "origins.h"

struct block {
	struct block *next;
};

static void
give_back(struct block **pool, void *given)
{
	struct block *block = given;

	block->next = *pool;
	*pool = block;
}

static void *
take(struct block **pool, size_t size)
{
	enum { AT_ONCE = 64 };
	struct block *taken;

	if (*pool == NULL) {
		char *more = need(malloc(AT_ONCE * size));

		for (size_t i = 0; i < AT_ONCE; i++)
			give_back(pool, more + i * size);
	}
	taken = *pool;
	*pool = taken->next;
	return taken;
}

struct origin *
origin_new(struct origin_pool *pool, const struct wait *wait)
{
	struct origin *origin = take(&pool->origins, sizeof *origin);

	*origin = (struct origin){ .wait = *wait, .users = 1 };
	return origin;
}

void
origin_forget_causes(struct origin_pool *pool, struct origin *origin)
{
	if (origin->causes > 0)
		give_back(&pool->causes, origin->cause);
	origin->causes = 0;
}

void
origin_release(struct origin_pool *pool, struct origin *origin)
{
	while (origin != NULL && --origin->users == 0) {
		struct origin *before = origin->before;

		origin_forget_causes(pool, origin);
		give_back(&pool->origins, origin);
		origin = before;
	}
}

void
origin_add(struct origin_pool *pool, struct origin *origin, uint32_t key, int32_t rank, double share)
{
	unsigned least = 0;

	for (unsigned i = 0; i < origin->causes; i++) {
		if (origin->cause[i].key == key && origin->cause[i].rank == rank) {
			origin->cause[i].share += share;
			return;
		}
		if (origin->cause[i].share < origin->cause[least].share)
			least = i;
	}
	if (origin->causes == 0)
		origin->cause = take(&pool->causes, MOST_CAUSES * sizeof *origin->cause);
	if (origin->causes < MOST_CAUSES) {
		least = origin->causes++;
	} else if (origin->cause[least].share >= share)
		return;
	origin->cause[least].key = key;
	origin->cause[least].rank = rank;
	origin->cause[least].share = share;
}

void
origin_follows(struct origin *origin, struct origin *before)
{
	if (before->depth + 2 > MOST_LINKS)
		return;
	origin->before = before;
	before->users++;
	origin->depth = before->depth + 1;
}

bool
is_longer_wait(const struct wait *a, const struct wait *b)
{
	const int64_t a_ns = a->to_ns - a->from_ns, b_ns = b->to_ns - b->from_ns;

	if (a_ns != b_ns)
		return a_ns > b_ns;
	return a->from_ns != b->from_ns ? a->from_ns < b->from_ns : a->location < b->location;
}

void
longest_add(struct origin_pool *pool, struct longest *longest, struct origin *origin)
{
	size_t at = longest->count;

	while (at > 0 && is_longer_wait(&origin->wait, &longest->of[at - 1]->wait))
		at--;
	if (at == MOST_CHAINS)
		return;
	if (longest->count == MOST_CHAINS)
		origin_release(pool, longest->of[--longest->count]);
	memmove(&longest->of[at + 1], &longest->of[at], (longest->count++ - at) * sizeof *longest->of);
	longest->of[at] = origin;
	origin->users++;
}
