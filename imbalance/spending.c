/* SPDX-License-Identifier: BSD-3-Clause */
#include "spending.h"

#include <string.h>

#include "../base/tool/memory.h"

void
spending_grow(struct spending *s, uint32_t site)
{
	const size_t known = s->capacity;

	s->spent = grow(s->spent, &s->capacity, 2 * (size_t)site + 2, sizeof *s->spent);
	memset(s->spent + known, 0, (s->capacity - known) * sizeof *s->spent);
	s->keys = grow(s->keys, &s->key_capacity, s->capacity, sizeof *s->keys);
	s->ns = grow(s->ns, &s->ns_capacity, s->capacity, sizeof *s->ns);
}

double
spending_gather(struct spending *s)
{
	double delay_ns = 0;
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++) {
		const int64_t ns = s->spent[s->keys[i]].ns;

		s->spent[s->keys[i]] = (struct spent){ 0, false };
		if (ns > 0) {
			delay_ns += (double)ns;
			s->ns[kept] = (double)ns;
			s->keys[kept++] = s->keys[i];
		}
	}
	s->count = kept;
	return delay_ns;
}
