/* SPDX-License-Identifier: BSD-3-Clause */
#include "places.h"

#include <stdlib.h>
#include <string.h>

#define HASH_LEAST_SIZE 64		/* there may be many tables: one for each stretch */
#include "../tool/hash_table.h"
#include "../tool/tool.h"

#define PLACE_HASH(p) mix((uint64_t)(p)->site << 1 | (p)->compute, (uint64_t)(p)->rank)
#define PLACE_SAME(a, b) \
	((a)->site == (b)->site && (a)->rank == (b)->rank && (a)->compute == (b)->compute)

HASH_TABLE_BY(place_table, struct place, PLACE_HASH, PLACE_SAME, rank, -1)

void
places_add(struct places *places, const struct place *more)
{
	struct place place = *more, *sum;

	place.ns = place.transfer_ns = place.polling_ns = 0;
	sum = place_table_add(&places->table, &place);
	sum->ns += more->ns;
	sum->transfer_ns += more->transfer_ns;
	sum->polling_ns += more->polling_ns;
}

int64_t
places_ns(const struct places *places, const struct place *key)
{
	const struct place *found = place_table_find(places->table, key);

	return found != NULL ? found->ns : 0;
}

ORDER(by_time, struct place, MOST(ns) BY(rank) BY(site) BY(compute))

struct place *
places_sorted(const struct places *places, size_t *count)
{
	*count = place_table_count(places->table);
	return place_table_sorted(places->table, by_time);
}

void
places_free(struct places *places)
{
	free(places->table);
	places->table = NULL;
}

struct site_name {
	const char *text;	/* NULL: a free slot */
	uint32_t site;
};

HASH_TABLE_OF_TEXT(site_names, struct site_name, text)

uint32_t
first_of_name(struct same_sites *sites, const struct definitions *known, uint32_t site)
{
	struct site_name name = { .site = site };

	if (*AT(sites->first, sites->capacity, site) != 0)
		return sites->first[site] - 1;
	name.text = site_text(known, site);
	if (name.text[0] != '\0')
		name = *site_names_add(&sites->names, &name);
	sites->first[site] = 1 + name.site;
	return name.site;
}

void
same_sites_free(struct same_sites *sites)
{
	free(sites->names);
	free(sites->first);
}

struct place *
places_by_name(const struct places *places, const struct definitions *known,
    struct same_sites *sites, size_t *count)
{
	struct places named = { NULL };
	struct place *sorted = places_sorted(places, count);

	for (size_t i = 0; i < *count; i++) {
		sorted[i].site = first_of_name(sites, known, sorted[i].site);
		places_add(&named, &sorted[i]);
	}
	free(sorted);
	sorted = places_sorted(&named, count);
	places_free(&named);
	return sorted;
}

bool
is_same_site(const struct definitions *known, uint32_t site, uint32_t other)
{
	const char *text = site_text(known, site);

	return site == other || (text[0] != '\0' && strcmp(text, site_text(known, other)) == 0);
}
