/* SPDX-License-Identifier: BSD-3-Clause */
/* What two locations spent on each piece of code, the one less the other: scratch, empty between uses. */
#ifndef SPENDING_H
#define SPENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spending {
	struct spent {			/* by key, as of struct delay */
		int64_t ns;
		bool listed;
	} *spent;
	size_t capacity;
	uint32_t *keys;			/* those that are listed */
	double *ns;			/* by place in keys: what was gathered of it */
	size_t count, key_capacity, ns_capacity;
};

void spending_grow(struct spending *s, uint32_t site);

/* Room for the keys of a site, before anything is spent on it. */
static inline void
spending_know(struct spending *s, uint32_t site)
{
	if (2 * (size_t)site + 1 >= s->capacity)
		spending_grow(s, site);
}

static inline void
spend(struct spending *s, uint32_t key, int64_t ns)
{
	struct spent *spent = &s->spent[key];

	if (ns == 0)
		return;
	spent->ns += ns;
	if (!spent->listed)
		s->keys[s->count++] = key;
	spent->listed = true;
}

/* How much all keys have that have more than 0; the others are gone then. Newest code first. */
double spending_gather(struct spending *s);

#endif
