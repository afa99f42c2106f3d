/* SPDX-License-Identifier: BSD-3-Clause */
#include "spending.h"

#include "../tool/tool.h"

void
spending_grow(struct spending *s, uint32_t site)
{
	(void)AT(s->spent, s->capacity, 2 * (size_t)site + 1);
	GROW(s->keys, s->key_capacity, s->capacity + 1);	/* spend writes one too many */
	GROW(s->ns, s->ns_capacity, s->capacity);
}
