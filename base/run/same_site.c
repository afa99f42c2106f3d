/* SPDX-License-Identifier: BSD-3-Clause */
#include "same_site.h"

#include <stdlib.h>
#include <string.h>

#include "../tool/hash_table.h"
#include "../tool/tool.h"

struct site_name {
	char *text;		/* NULL: a free slot */
	uint32_t site;
};

static uint64_t
hash_of(const char *text)
{
	uint64_t hash = 0;

	for (; *text != '\0'; text++)
		hash = mix(hash, (unsigned char)*text);
	return hash;
}

#define NAME_HASH(name) hash_of((name)->text)
#define NAME_SAME(a, b) (strcmp((a)->text, (b)->text) == 0)
HASH_TABLE_BY(site_names, struct site_name, NAME_HASH, NAME_SAME, text, NULL)

static uint32_t
find_first(struct same_sites *sites, const struct definitions *known, uint32_t site)
{
	char text[1024];
	struct site_name name = { text, site }, *found;

	if (site_text(known, site, text, sizeof text)[0] == '\0')
		return site;
	if (sites->names == NULL) {
		sites->names = zalloc(1, sizeof *sites->names);
		site_names_begin(sites->names, 256);
	}
	found = site_names_add(sites->names, &name);
	if (found->text == text)
		found->text = need(strdup(text));
	return found->site;
}

uint32_t
first_of_name(struct same_sites *sites, const struct definitions *known, uint32_t site)
{
	size_t before = sites->capacity;

	if (site >= sites->capacity) {
		GROW(sites->first, sites->capacity, (size_t)site + 1);
		memset(sites->first + before, 0,
		    (sites->capacity - before) * sizeof *sites->first);
	}
	if (sites->first[site] == 0)
		sites->first[site] = 1 + find_first(sites, known, site);
	return sites->first[site] - 1;
}

bool
is_same_site(const struct definitions *known, uint32_t site, uint32_t other)
{
	char text[1024], other_text[1024];

	if (site == other)
		return true;
	site_text(known, site, text, sizeof text);
	return text[0] != '\0' &&
	    strcmp(text, site_text(known, other, other_text, sizeof other_text)) == 0;
}
