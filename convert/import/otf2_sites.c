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
struct module_slot { const char *path; size_t length; uint32_t number; };
static uint64_t
path_hash(const struct module_slot *m)
{
	uint64_t hash = m->length;

	for (size_t i = 0; i < m->length; i++)
		hash = mix(hash, (unsigned char)m->path[i]);
	return hash;
}
#define MODULE_SAME(a, b) \
	((a)->length == (b)->length && memcmp((a)->path, (b)->path, (a)->length) == 0)
HASH_TABLE_BY(module_table, struct module_slot, path_hash, MODULE_SAME, path, NULL)

void
sites_begin(struct otf2 *o)
{
	GROW(o->nodes, o->node_capacity, 1);
	o->nodes[0] = (struct node){ UNKNOWN, UNKNOWN, 0, 0 };
	o->node_count = 1;
	o->node_table = zalloc(1, sizeof *o->node_table);
	node_table_begin(o->node_table, 64);
	o->call_sites = zalloc(1, sizeof *o->call_sites);
	node_table_begin(o->call_sites, 64);
	o->modules = zalloc(1, sizeof *o->modules);
	module_table_begin(o->modules, 64);
}

uint32_t
site_below(struct otf2 *o, uint32_t parent, uint32_t region)
{
	const struct node_slot slot = { parent, region, (uint32_t)o->node_count };
	const struct node_slot *found = node_table_add(o->node_table, &slot);

	if (found->node < o->node_count)
		return found->node;
	GROW(o->nodes, o->node_capacity, o->node_count + 1);
	o->nodes[o->node_count] = (struct node){ parent, region, 0, o->nodes[parent].depth + 1 };
	return (uint32_t)o->node_count++;
}

static void
put_part(struct otf2 *o, const char *key, const char *text, size_t length)
{
	if (key != NULL)
		msgpack_pack_str_with_body(&o->out.pack, key, strlen(key));
	msgpack_pack_str_with_body(&o->out.pack, text, length);
}

/* The number of a module; defines it if new. */
static uint32_t
module_number(struct otf2 *o, const char *path, size_t length)
{
	const struct module_slot slot = { path, length, (uint32_t)o->modules->count };
	const uint32_t next = slot.number, number = module_table_add(o->modules, &slot)->number;

	if (number == next && o->modules->count > next) {
		message_begin(&o->out, "module", 2);
		put_uint(&o->out, "module", number);
		put_part(o, "path", path, length);
		end_message(&o->out);
	}
	return number;
}

/*
 * The lines of lp-export's description of a place: offset, module, call, and name, file and line of
 * each function that it was inlined into.
 */
enum { INLINED = 3, MOST_LINES = INLINED + 3 * 64 };
struct place_lines {
	const char *at[MOST_LINES];
	size_t length[MOST_LINES], count;
};

static struct place_lines
lines_of(const char *text)
{
	struct place_lines lines = { .count = 0 };

	while (lines.count < MOST_LINES) {
		const char *end = strchr(text, '\n');

		lines.at[lines.count] = text;
		lines.length[lines.count++] = end != NULL ? (size_t)(end - text) : strlen(text);
		if (end == NULL)
			break;
		text = end + 1;
	}
	return lines;
}

/* WHAT: 0 the functions, 1 their files. */
static void
put_inlined(struct otf2 *o, const char *key, const struct place_lines *lines,
    size_t count, size_t what)
{
	put_part(o, NULL, key, strlen(key));
	msgpack_pack_array(&o->out.pack, count);
	for (size_t i = 0; i < count; i++)
		put_part(o, NULL, lines->at[INLINED + 3 * i + what],
		    lines->length[INLINED + 3 * i + what]);
}

static void
write_own_place(struct otf2 *o, const struct region *region)
{
	const struct place_lines lines = lines_of(region->place);
	const bool module = lines.count > 1 && lines.length[1] > 0, call = lines.count > 2 &&
	    lines.length[2] > 0;
	const uint32_t number = module ? module_number(o, lines.at[1], lines.length[1]) : 0;

	const size_t inlined = lines.count > INLINED ? (lines.count - INLINED) / 3 : 0;

	message_begin(&o->out, "site", 2u + (region->name != NULL) + 2u * (region->file != NULL) +
	    module + call + 3u * (inlined > 0));
	put_uint(&o->out, "site", region->site);
	put_uint(&o->out, "offset", strtoull(lines.at[0], NULL, 10));
	if (module)
		put_uint(&o->out, "module", number);
	if (call)
		put_part(o, "call", lines.at[2], lines.length[2]);
	if (region->name != NULL)
		put_string(&o->out, "function", region->name);
	if (region->file != NULL) {
		put_string(&o->out, "file", region->file);
		put_uint(&o->out, "line", region->line <= INT32_MAX ? region->line : 0);
	}
	if (inlined > 0) {
		put_inlined(o, "inlined_into", &lines, inlined, 0);
		put_inlined(o, "inlined_files", &lines, inlined, 1);
		put_part(o, NULL, "inlined_lines", strlen("inlined_lines"));
		msgpack_pack_array(&o->out.pack, inlined);
		for (size_t i = 0; i < inlined; i++)
			msgpack_pack_uint64(&o->out.pack,
			    strtoull(lines.at[INLINED + 3 * i + 2], NULL, 10));
	}
	end_message(&o->out);
}

/* The site with this number; CALL: the function called there, or NULL. */
static void
write_region(struct otf2 *o, const struct region *region, uint32_t number, const char *call)
{
	write_place(&o->out, &(struct place){ .site = number, .call = call,
	    .function = region->name, .file = region->file, .line = region->line });
}

/* A region is a place by its name, file and first line. */
static uint32_t
place_site(struct otf2 *o, struct region *region)
{
	if (region->site != 0)
		return region->site;
	region->site = ++o->sites;
	if (region->place != NULL) {
		write_own_place(o, region);
		return region->site;
	}
	write_region(o, region, region->site, NULL);
	return region->site;
}

/* Other archives do not say where in a region calls are: each called function gets one site. */
static uint32_t
call_site(struct otf2 *o, uint32_t region, uint32_t call)
{
	const struct node_slot slot = { region, call, o->sites + 1 };
	const uint32_t site = node_table_add(o->call_sites, &slot)->node;

	if (site > o->sites) {
		o->sites = site;
		write_region(o, &o->regions[region], site, call_name(o->regions[call].call));
	}
	return site;
}

/* The site of calls of the MPI function CALL from a node. */
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
		} else
			frames[depth++] = place_site(o, &o->regions[region]);
	}
	if (depth == 1)
		return o->nodes[at].site = frames[0];
	o->nodes[at].site = ++o->sites;
	write_stack(&o->out, o->nodes[at].site, frames, depth);
	return o->nodes[at].site;
}
