/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators, with neighbours, and call sites, with modules: each rank numbers its own; this
 * file scans them and gives them common numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "../base/tool/hash_table.h"
#include "definitions.h"

enum { STRANGERS = 1 << 16 };	/* members of a communicator that are in no trace, at most */

int
scan_communicator(struct scan *scan, const struct message *message)
{
	struct rank *rank = scan->rank;
	const int64_t most = (int64_t)scan->input->rank_count + STRANGERS;
	const struct membership *from;
	struct membership new = { 0 };

	if (own_number(scan, message, "comm", 3, &new.comm) < 0 ||
	    (body_get(message, "from") != NULL && own_number(scan, message, "from", 3,
	    &new.from) < 0) || body_int(scan->in, message, "size", 1, most, &new.size) < 0 ||
	    body_int_if(scan->in, message, "remote_size", 1, most, &new.remote_size) < 0 ||
	    membership_read(&new, scan->in, message) < 0)
		return -1;
	from = membership_from(rank->comms, rank->comm_count, &new);
	new.name = from != NULL ? mix(from->name, new.id) : new.id;
	*APPEND(rank->comms, rank->comm_count, rank->comm_capacity) = new;
	return 0;
}

/* Ranks of one program share their modules. */
static uint32_t
module_number(struct input *input, const struct module *module)
{
	for (size_t i = 0; i < input->module_count; i++)
		if (module_is(&input->modules[i], module)) {
			free(module->path);
			free(module->function);
			return (uint32_t)i;
		}
	*APPEND(input->modules, input->module_count, input->module_capacity) = *module;
	return (uint32_t)input->module_count - 1;
}

int
scan_module(struct scan *scan, const struct message *message)
{
	struct rank *rank = scan->rank;
	struct module module;
	uint64_t base, bytes;

	if (body_uint(scan->in, message, "base", &base) < 0 ||
	    body_uint(scan->in, message, "bytes", &bytes) < 0)
		return -1;
	if (module_read(&module, message))
		*APPEND(rank->modules, rank->module_count, rank->module_capacity) =
		    (struct raw_module){ base, bytes, module_number(scan->input, &module) };
	return 0;
}

int
scan_site(struct scan *scan, const struct message *message)
{
	struct rank *rank = scan->rank;
	struct raw_site site = { .modules = rank->module_count };
	size_t depth;

	if (own_number(scan, message, "site", 1, &site.site) < 0 ||
	    body_int_if(scan->in, message, "call", 0, UINT16_MAX, &site.call) < 0)
		return -1;
	site.futex = body_true(message, "futex");
	if (body_get(message, "stack") != NULL) {
		if (body_count(scan->in, message, "count", 1, 1 << 16, "stack", &depth) < 0)
			return -1;
		site.stack = zalloc(depth, sizeof *site.stack);
		site.depth = (uint32_t)depth;
		if (body_column(scan->in, message, "stack", depth, site.stack) < 0)
			return -1;
	} else if (body_uint(scan->in, message, "address", &site.address) < 0)
		return -1;
	*APPEND(rank->sites, rank->site_count, rank->site_capacity) = site;
	return 0;
}

/* ---- communicators ---- */

ORDER(by_id, struct share, BY(of->name) BY(rank) BY(of->comm))

ORDER(by_maker, struct group, BY(shares->rank) BY(shares->of->comm))

static void
check_share(const struct input *input, const struct share *share, const struct share *first)
{
	bool inter = first->of->remote_size >= 0;
	bool same_side = share->of->side == first->of->side;
	int32_t size = same_side ? first->of->size : first->of->remote_size;

	if (share->of->size != size || (share->of->remote_size >= 0) != inter)
		die("%s: rank %d and rank %d disagree about a communicator",
		    input->ranks[share->rank].file, (int)share->rank, (int)first->rank);
}

void
write_group(struct writer *out, struct input *input, const struct group *group, uint32_t number,
    bool complete)
{
	const struct membership *first = group->shares[0].of;
	bool inter = first->remote_size >= 0;
	int32_t sizes[2] = { inter && first->side == 1 ? first->remote_size : first->size,
	    first->side == 1 ? first->size : inter ? first->remote_size : 0 };
	int32_t *members[2];
	struct rank *rank;

	for (int side = 0; side < 2; side++) {
		members[side] = zalloc((size_t)sizes[side], sizeof **members);
		for (int32_t i = 0; i < sizes[side]; i++)
			members[side][i] = complete ? -2 : -1;
	}
	for (size_t i = 0; i < group->count; i++) {
		const struct share *share = &group->shares[i];

		check_share(input, share, &group->shares[0]);
		members[share->of->side][share->of->rank] = share->rank;
		rank = &input->ranks[share->rank];
		*AT(rank->comm_map, rank->comm_map_size, share->of->comm) = number;
	}
	communicator_write(out, number, &(struct communicator){ .size = sizes[0],
	    .members = members[0], .remote_size = sizes[1], .remote = inter ? members[1] : NULL },
	    first->type);
	free(members[0]);
	free(members[1]);
	for (size_t i = 0; i < group->count; i++) {
		const struct membership *of = group->shares[i].of;

		if (of->sources != NULL)
			neighbours_write(out, number, of->rank,
			    &(struct neighbours){ of->sources, of->source_count });
	}
}

void
write_worlds(struct writer *out, const struct input *input)
{
	for (struct rank *rank = input->ranks; rank < input->ranks + input->rank_count; rank++) {
		*AT(rank->comm_map, rank->comm_map_size, 1) = world_comm(input, rank->world);
		*AT(rank->comm_map, rank->comm_map_size, 2) = 2;
	}
	/* With several worlds, no communicator has all ranks. */
	for (int32_t w = 0; input->world_count > 1 && w < input->world_count; w++) {
		const struct world *world = &input->worlds[w];
		int32_t *members = zalloc((size_t)world->ranks, sizeof *members);

		for (int32_t i = 0; i < world->ranks; i++)
			members[i] = world->first + i;
		communicator_write(out, world_comm(input, w),
		    &(struct communicator){ .size = world->ranks, .members = members }, "world");
		free(members);
	}
}

void
write_communicators(struct writer *out, struct input *input)
{
	const uint32_t first = first_comm(input);
	size_t count = 0, capacity = 0, group_count = 0, group_capacity = 0;
	struct share *shares = NULL;
	struct group *groups = NULL;
	bool complete = true;

	for (int32_t r = 0; r < input->rank_count; r++) {
		const struct rank *rank = &input->ranks[r];

		complete &= rank->present;
		for (size_t i = 0; i < rank->comm_count; i++)
			*APPEND(shares, count, capacity) = (struct share){ &rank->comms[i], r };
	}
	write_worlds(out, input);
	SORT(shares, count, by_id);
	for (size_t i = 0; i < count; i++)
		if (i > 0 && shares[i].of->name == shares[i - 1].of->name)
			groups[group_count - 1].count++;
		else
			*APPEND(groups, group_count, group_capacity) =
			    (struct group){ &shares[i], 1 };
	SORT(groups, group_count, by_maker);
	for (size_t g = 0; g < group_count; g++)
		write_group(out, input, &groups[g], first + (uint32_t)g, complete);
	free(shares);
	free(groups);
}

/* ---- call sites ---- */

ORDER(by_place, struct known_site, BY(module) BY(offset))

static bool
lies_in(const struct raw_module *module, uint64_t address)
{
	return address - module->base < module->bytes;
}

struct known_site
place_of(const struct input *input, const struct rank *rank, const struct raw_site *site)
{
	const uint16_t call = reader_calls(input->in)[site->call];
	const struct raw_module *modules = rank->modules;
	size_t m = site->modules;

	while (m > 0 && !lies_in(&modules[m - 1], site->address))
		m--;
	for (m = m > 0 ? m - 1 : site->modules; m < rank->module_count; m++)
		if (lies_in(&modules[m], site->address))
			return (struct known_site){ modules[m].module,
			    site->address - modules[m].base, call, site->futex };
	return (struct known_site){ UINT32_MAX, site->address, call, site->futex };
}

/* It may be only a frame for some ranks. */
FOLD(fold_places, struct known_site, by_place, if (to->call < more->call) to->call = more->call;)

/*
 * Sorts the places of all ranks, keeps each once, and maps every rank's numbers to them. The first
 * item is unused.
 */
static struct known_site *
number_sites(struct input *input, size_t *site_count)
{
	const struct rank *end = input->ranks + input->rank_count;
	struct known_site *sites;
	size_t count = 0;

	for (const struct rank *rank = input->ranks; rank < end; rank++)
		count += rank->site_count;
	sites = zalloc(count + 1, sizeof *sites);
	count = 0;
	for (const struct rank *rank = input->ranks; rank < end; rank++)
		for (size_t i = 0; i < rank->site_count; i++)
			if (rank->sites[i].stack == NULL)
				sites[1 + count++] = place_of(input, rank, &rank->sites[i]);
	count = fold_places(sites + 1, count);
	for (struct rank *rank = input->ranks; rank < end; rank++)
		for (size_t i = 0; i < rank->site_count; i++) {
			const struct raw_site *site = &rank->sites[i];
			const struct known_site place = place_of(input, rank, site),
			    *found = site->stack != NULL ? sites : bsearch(&place,
			    sites + 1, count, sizeof *found, by_place);

			*AT(rank->site_map, rank->site_map_size, site->site) =
			    (uint32_t)(found - sites);
		}
	*site_count = count + 1;
	return sites;
}

/* A stack of frames: numbers of sites in the trace, the call itself first. */
struct stack {
	uint32_t *frames;
	uint32_t depth;
	uint32_t *number;	/* in the map of its rank */
};

static int
by_frames(const void *left, const void *right)
{
	const struct stack *a = left, *b = right;

	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	for (uint32_t i = 0; i < a->depth; i++)
		if (a->frames[i] != b->frames[i])
			return a->frames[i] < b->frames[i] ? -1 : 1;
	return 0;
}

/* The stacks of all ranks, each once, from number FIRST on. */
static struct stack *
number_stacks(struct input *input, size_t first, size_t *stack_count)
{
	struct stack *stacks = NULL;
	size_t count = 0, capacity = 0, kept = 0;

	for (struct rank *rank = input->ranks; rank < input->ranks + input->rank_count; rank++)
		for (size_t i = 0; i < rank->site_count; i++) {
			struct raw_site *site = &rank->sites[i];

			if (site->stack == NULL)
				continue;
			for (uint32_t f = 0; f < site->depth; f++)
				site->stack[f] = site->stack[f] < rank->site_map_size ?
				    rank->site_map[site->stack[f]] : 0;
			*APPEND(stacks, count, capacity) = (struct stack){ site->stack,
			    site->depth, &rank->site_map[site->site] };
		}
	SORT(stacks, count, by_frames);
	for (size_t i = 0; i < count; i++) {
		const struct stack stack = stacks[i];

		if (kept == 0 || by_frames(&stacks[kept - 1], &stack) != 0)
			stacks[kept++] = stack;
		*stack.number = (uint32_t)(first + kept - 1);
	}
	*stack_count = kept;
	return stacks;
}

void
write_module(struct writer *out, size_t number, const struct module *module)
{
	message_begin(out, "module", module->build_id_size > 0 ? 3 : 2);
	put_uint(out, "module", number);
	put_string(out, "path", module->path);
	if (module->build_id_size > 0)
		put_bytes(out, "build_id", module->build_id, module->build_id_size);
	end_message(out);
}

void
write_place(struct writer *out, size_t number, const struct known_site *site,
    struct symbols *symbols)
{
	struct site named = { 0 };

	if (symbols != NULL)
		named = *symbols_find(symbols, site->offset);
	if (site->futex && named.function == NULL)
		named.function = "futex_wait";
	named.call = site->call != 0 ? call_name(site->call) : NULL;
	named.offset = site->offset;
	named.module = site->module;
	site_write(out, number, &named);
}

void
write_sites(struct writer *out, struct input *input, bool names)
{
	size_t site_count, stack_count;
	struct known_site *sites = number_sites(input, &site_count);
	struct stack *stacks = number_stacks(input, site_count, &stack_count);
	struct symbols *symbols = NULL;
	uint32_t opened = UINT32_MAX;

	for (size_t m = 0; m < input->module_count; m++)
		write_module(out, m, &input->modules[m]);
	for (size_t i = 1; i < site_count; i++) {
		const struct known_site *site = &sites[i];

		if (names && site->module != opened) {	/* sites are sorted by module */
			symbols_close(symbols);
			symbols = site->module != UINT32_MAX ?
			    symbols_open(&input->modules[site->module]) : NULL;
			opened = site->module;
		}
		write_place(out, i, site, symbols);
	}
	symbols_close(symbols);
	for (size_t i = 0; i < stack_count; i++)
		site_write(out, site_count + i, &(struct site){ .stack = stacks[i].frames,
		    .depth = stacks[i].depth });
	free(sites);
	free(stacks);
}
