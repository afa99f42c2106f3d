/* SPDX-License-Identifier: BSD-3-Clause */
/* Internal to the causes of waits: time by key, as in struct delay. */
#ifndef SPENDING_H
#define SPENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Scratch memory, empty between uses. */
struct spending {
	struct spent {			/* by key, as in struct delay */
		int64_t ns;
		bool listed;
	} *spent;
	size_t capacity;
	uint32_t *keys;			/* the keys in use */
	double *ns;			/* by index in keys: the time gathered */
	size_t count, key_capacity, ns_capacity;
};

void spending_grow(struct spending *spending, uint32_t site);

/* Makes room for the keys of a site before any time is spent on it. */
static inline void
spending_know(struct spending *s, uint32_t site)
{
	if (2 * (size_t)site + 1 >= s->capacity)
		spending_grow(s, site);
}

/* Without a branch: which keys are new is hard to predict. */
static inline void
spend(struct spending *s, uint32_t key, int64_t ns)
{
	struct spent *spent = &s->spent[key];

	s->keys[s->count] = key;
	s->count += ns != 0 && !spent->listed;
	spent->ns += ns;
	spent->listed |= ns != 0;
}

#endif
