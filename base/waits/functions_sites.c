/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "functions.h"

struct named_site {
	char *name;
	uint32_t site;
};

ORDER(by_site_name, struct named_site, BY_TEXT(name) BY(site))

struct site_groups
site_groups(const struct imbalance *im)
{
	struct site_groups g = { .count = im->site_count };
	struct named_site *list = zalloc(g.count + 1, sizeof *list);
	char text[1024];

	g.of = zalloc(g.count + 1, sizeof *g.of);
	g.compute_ns = zalloc(g.count + 1, sizeof *g.compute_ns);
	for (size_t i = 0; i < g.count; i++)
		list[i] = (struct named_site){
		    need(strdup(index_text(im, BY_SITE, i, text, sizeof text))), (uint32_t)i };
	qsort(list, g.count, sizeof *list, by_site_name);
	for (size_t i = 0; i < g.count; i++) {
		const uint32_t site = list[i].site;
		const uint32_t group = i > 0 && strcmp(list[i].name, list[i - 1].name) == 0 ?
		    g.of[list[i - 1].site] : site;

		g.of[site] = group;
		if (im->sites[site] == NULL)
			continue;
		if (g.compute_ns[group] == NULL)
			g.compute_ns[group] = zalloc((size_t)im->graph.known.ranks,
			    sizeof **g.compute_ns);
		for (int32_t r = 0; r < im->graph.known.ranks; r++)
			g.compute_ns[group][r] += im->sites[site][r].compute_ns;
	}
	for (size_t i = 0; i < g.count; i++)
		free(list[i].name);
	free(list);
	return g;
}

void
site_groups_free(struct site_groups *groups)
{
	for (size_t g = 0; g < groups->count; g++)
		free(groups->compute_ns[g]);
	free(groups->compute_ns);
	free(groups->of);
}
