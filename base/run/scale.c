/* SPDX-License-Identifier: BSD-3-Clause */
#include "scale.h"

#include <stdlib.h>
#include <string.h>

#include "../stream/calls.h"
#include "../tool/tool.h"

struct scale {
	int64_t rank;		/* -1: all */
	int64_t number;		/* of the site; -1: its name counts */
	char *site, *call;	/* NULL: all sites; computing */
	double factor;
	int8_t *site_matches;	/* by site: 0 unknown, 1 yes, -1 no */
	size_t known_sites;
};

/* Cuts off the first part. Names in C++ have commas: a comma ends a part only before another. */
static char *
next_part(char **rest)
{
	static const char *const parts[] = { "rank=", "site=", "call=", "factor=" };
	char *part = *rest;

	if (part == NULL)
		return NULL;
	for (char *comma = part; (comma = strchr(comma, ',')) != NULL; comma++)
		for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
			if (strncmp(comma + 1, parts[i], strlen(parts[i])) == 0) {
				*comma = '\0';
				*rest = comma + 1;
				return part;
			}
	*rest = NULL;
	return part;
}

void
scale_add(struct scales *scales, const char *text, int argc, char **argv, int *next)
{
	struct scale *scale = APPEND(scales->items, scales->count, scales->capacity);
	char *copy = need(strdup(text)), *rest = copy, *blank = strstr(copy, " factor=");

	*scale = (struct scale){ .rank = -1, .number = -1, .factor = -1 };
	if (blank != NULL)
		*blank = ',';
	for (char *word; (word = next_part(&rest)) != NULL;)
		if (strncmp(word, "rank=", 5) == 0)
			scale->rank = parse_integer("--scale rank", word + 5, 0, INT32_MAX);
		else if (strncmp(word, "site=#", 6) == 0)
			scale->number = parse_integer("--scale site=#", word + 6, 0, UINT32_MAX);
		else if (strncmp(word, "site=", 5) == 0)
			scale->site = need(strdup(word + 5));
		else if (strncmp(word, "call=", 5) == 0)
			scale->call = need(strdup(word + 5));
		else if (strncmp(word, "factor=", 7) == 0)
			scale->factor = parse_number("--scale factor", word + 7, 0, 1e9);
		else
			die("--scale: %s is none of rank=, site=, call= and factor=", word);
	if (*next < argc && strncmp(argv[*next], "factor=", 7) == 0)
		scale->factor = parse_number("--scale factor", argv[(*next)++] + 7, 0, 1e9);
	if (scale->factor < 0)
		die("--scale: factor= is missing");
	free(copy);
}

/* Is it the site's text in reports, or the name of its function alone? */
static bool
is_site(struct scale *scale, const struct definitions *known, uint32_t site)
{
	size_t length = strlen(scale->site);

	if (*AT(scale->site_matches, scale->known_sites, site) == 0) {
		const char *text = site_text(known, site);

		scale->site_matches[site] = strncmp(text, scale->site, length) == 0 &&
		    (text[length] == '\0' || text[length] == ' ') ? 1 : -1;
	}
	return scale->site_matches[site] > 0;
}

double
scale_factor(struct scales *scales, const struct definitions *known, uint32_t rank, uint16_t call,
    uint32_t site, bool compute)
{
	double factor = 1;

	for (struct scale *scale = scales->items; scale < scales->items + scales->count; scale++) {
		if ((scale->call == NULL) == compute && (scale->rank < 0 || scale->rank == rank) &&
		    (scale->call == NULL || strcmp(scale->call, call_name(call)) == 0) &&
		    (scale->number < 0 || scale->number == site) &&
		    (scale->site == NULL || is_site(scale, known, site)))
			factor *= scale->factor;
	}
	return factor;
}
