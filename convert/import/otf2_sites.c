/* SPDX-License-Identifier: BSD-3-Clause */
/* Places in the program: regions, and stacks of nested regions. */
#include <stdlib.h>
#include <string.h>

#include "otf2.h"

struct node_slot {
	uint32_t parent, region, node;
};
HASH_TABLE_OF(node_table, struct node_slot, parent, region, node, UNKNOWN)

/* The object file of a call site from lp-export. */
struct module_slot { const char *path; uint32_t number; };
HASH_TABLE_OF_TEXT(module_table, struct module_slot, path)

void
sites_begin(struct otf2 *o)
{
	*APPEND(o->nodes, o->node_count, o->node_capacity) =
	    (struct node){ UNKNOWN, UNKNOWN, 0, 0 };
	writer_start(&o->places, -1);
}

uint32_t
site_below(struct otf2 *o, uint32_t parent, uint32_t region)
{
	const struct node_slot slot = { parent, region, (uint32_t)o->node_count };
	const struct node_slot *found = node_table_add(&o->node_table, &slot);

	if (found->node < o->node_count)
		return found->node;
	GROW(o->nodes, o->node_capacity, o->node_count + 1);
	o->nodes[o->node_count] = (struct node){ parent, region, 0, o->nodes[parent].depth + 1 };
	return (uint32_t)o->node_count++;
}

/* The next line of a text, which it cuts; NULL: there is none, or it is empty. */
static char *
take_line(char **text)
{
	char *line = strsep(text, "\n");

	return line != NULL && line[0] != '\0' ? line : NULL;
}

/*
 * Adds what lp-export's description of a place says in its lines: offset, module, call, and name,
 * file and line of each function that it was inlined into.
 */
static void
take_description(struct otf2 *o, struct site *site, char *text)
{
	const char *offset = take_line(&text);
	const uint32_t modules = (uint32_t)module_table_count(o->modules);
	const struct module_slot module = { take_line(&text), modules };
	size_t capacity = 0;

	site->offset = offset != NULL ? strtoull(offset, NULL, 10) : 0;
	if (module.path != NULL)
		site->module = module_table_add(&o->modules, &module)->number;
	if (module_table_count(o->modules) > modules) {	/* it is new */
		message_begin(&o->places, "module", 2);
		put_uint(&o->places, "module", module.number);
		put_string(&o->places, "path", module.path);
		end_message(&o->places);
	}
	site->call = take_line(&text);
	while (text != NULL) {
		struct inlined *inlined = APPEND(site->inlined, site->inlined_count, capacity);
		const char *line;

		inlined->function = strsep(&text, "\n");
		inlined->file = take_line(&text);
		line = take_line(&text);
		inlined->line = line != NULL ? (int32_t)strtoul(line, NULL, 10) : 0;
	}
}

/* The site with this number; CALL: the function called there, or NULL. */
static void
write_region(struct otf2 *o, const struct region *region, uint32_t number, const char *call)
{
	struct site site = { .module = UINT32_MAX, .call = call, .function = region->name,
	    .file = region->file, .line = region->line <= INT32_MAX ? (int32_t)region->line : 0 };

	if (region->place != NULL)	/* its texts are kept: modules have names in them */
		take_description(o, &site, need(strdup(region->place)));
	site_write(&o->places, number, &site);
	free(site.inlined);
}

/* Other archives do not say where in a region calls are: each called function gets one site. */
static uint32_t
call_site(struct otf2 *o, uint32_t region, uint32_t call)
{
	const struct node_slot slot = { region, call, o->sites + 1 };
	const uint32_t site = node_table_add(&o->call_sites, &slot)->node;

	if (site > o->sites) {
		o->sites = site;
		write_region(o, &o->regions[region], site, call_name(o->regions[call].call));
	}
	return site;
}

uint32_t
site_of_call(struct otf2 *o, uint32_t at, uint32_t call)
{
	if (at == 0 || o->regions[o->nodes[at].region].place != NULL || o->regions[call].call == 0)
		return site_of(o, at);
	return site_of(o, site_below(o, at, call));
}

/*
 * The site of a node: its region, or the stack of regions from there outwards. A call shares the
 * frame of the region that it is in.
 */
uint32_t
site_of(struct otf2 *o, uint32_t at)
{
	uint32_t frames[DEEPEST], depth = 0;

	if (at == 0)
		return 0;
	if (o->nodes[at].site != 0)
		return o->nodes[at].site;
	for (uint32_t n = at; n != 0; n = o->nodes[n].parent) {
		const uint32_t region = o->nodes[n].region;

		if (o->regions[region].mpi) {
			n = o->nodes[n].parent;
			frames[depth++] = call_site(o, o->nodes[n].region, region);
		} else {
			/* a place by its name, file and first line */
			struct region *place = &o->regions[region];

			if (place->site == 0) {
				place->site = ++o->sites;
				write_region(o, place, place->site, NULL);
			}
			frames[depth++] = place->site;
		}
	}
	if (depth == 1)
		return o->nodes[at].site = frames[0];
	o->nodes[at].site = ++o->sites;
	site_write(&o->places, o->nodes[at].site,
	    &(struct site){ .stack = frames, .depth = depth });
	return o->nodes[at].site;
}
