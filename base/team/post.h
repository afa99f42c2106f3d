/* SPDX-License-Identifier: BSD-3-Clause */
/* Items for other members of a team, collected one by one and exchanged all at once. */
#ifndef POST_H
#define POST_H

#include "team.h"

struct post {			/* begins as zeros */
	char *items;
	int *to;		/* member, by item */
	size_t count, item_capacity, to_capacity;
};

void post_add(struct post *post, const void *item, size_t bytes, int to);
/* The items that all members have for this one, by sender; free() them. Empties POST. */
void *post_exchange(const struct team *team, struct post *post, size_t bytes, size_t *received);

#endif
