/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Definitions of ranks that continue, each before the first row that refers to it. So communicators
 * and call sites have other numbers than in the trace of the whole run. The order of rows numbers
 * them, not the times of reading.
 */
#include <stdlib.h>
#include <string.h>

#include "../base/tool/hash_table.h"
#include "follow.h"

/*
 * A member defines a communicator when it leaves the call that made it: a stopped process, or a
 * rank that waits late for MPI_Comm_idup, long after the others. Steps wait for it, as a row on a
 * communicator without all members matches nothing, but not for ever. If a communicator derives
 * from a meeting of worlds, nobody knows how many members will define it.
 */
enum { PATIENCE_S = 10, STRANGERS_S = 2 };

struct id_slot {
	uint64_t id;
	uint32_t comm;		/* in later->comms; UINT32_MAX: a free slot */
};

#define ID_HASH(s) mix((s)->id, 0)
#define ID_SAME(a, b) ((a)->id == (b)->id)
HASH_TABLE_BY(ids, struct id_slot, ID_HASH, ID_SAME, comm, UINT32_MAX)

struct place_slot {
	uint64_t offset;
	uint32_t module, site;	/* site 0: a free slot */
	bool calls;		/* false: only a frame so far */
};

HASH_TABLE_OF(places, struct place_slot, offset, module, site, 0)

struct name_slot {
	const char *name;	/* NULL: a free slot */
	uint32_t number;
};

HASH_TABLE_OF_TEXT(names, struct name_slot, name)

struct known_stack {
	uint32_t *frames, depth, site;	/* site 0: a free slot */
};

#define STACK_HASH(s) hash_of_numbers((s)->frames, (s)->depth)
#define STACK_SAME(a, b) ((a)->depth == (b)->depth && \
	memcmp((a)->frames, (b)->frames, (a)->depth * sizeof *(a)->frames) == 0)
HASH_TABLE_BY(known_stacks, struct known_stack, STACK_HASH, STACK_SAME, site, 0)

/* A communicator whose members' definitions arrive one after another. */
struct comm {
	struct member {
		int32_t rank;
		size_t membership;	/* the rank's membership */
	} *members;
	size_t count, capacity;
	size_t wanted;		/* members in the folder's traces; 0: unknown */
	int64_t seen_ns;	/* when the first one came */
	uint32_t number;	/* in the trace; 0: none yet */
};

struct later {
	struct input *input;
	struct writer *out;
	bool names, over;
	struct ids *ids;
	struct comm *comms;
	size_t comm_count, comm_capacity;
	size_t awaited;		/* for those before, steps do not wait any more */
	size_t *looked;		/* by rank: memberships that are in comms */
	size_t known;		/* memberships of all ranks at the last look */
	int64_t *held_ns;	/* by rank: since when one waits for the other side of a meeting */
	uint32_t next_comm, next_site;
	struct places *places;
	struct names *region_names;
	uint32_t region_count;
	struct known_stacks *stacks;
	struct known_module {
		uint32_t number;	/* in the trace; UINT32_MAX: none yet */
		struct symbols *symbols;
	} *modules;			/* as the input numbers them */
	size_t module_count, module_capacity;
	uint32_t next_module;
	bool used[65536];	/* names of written calls, by index */
};

struct later *
later_begin(struct input *input, struct writer *out, bool names)
{
	struct later *l = zalloc(1, sizeof *l);

	*l = (struct later){ .input = input, .out = out, .names = names, .next_site = 1,
	    .next_comm = first_comm(input) };
	l->looked = zalloc((size_t)input->rank_count, sizeof *l->looked);
	l->held_ns = zalloc((size_t)input->rank_count, sizeof *l->held_ns);
	return l;
}

void
later_end(struct later *l)
{
	for (size_t m = 0; m < l->module_count; m++)
		symbols_close(l->modules[m].symbols);
	for (size_t c = 0; c < l->comm_count; c++)
		free(l->comms[c].members);
	for (const struct known_stack *s = NULL; (s = known_stacks_next(l->stacks, s)) != NULL; )
		free(s->frames);
	free(l->ids);
	free(l->places);
	free(l->region_names);
	free(l->comms);
	free(l->looked);
	free(l->held_ns);
	free(l->stacks);
	free(l->modules);
	free(l);
}

/* ---- communicators ---- */

/* Members in no trace have their own name for a meeting. */
static size_t
members_wanted(const struct rank *rank, const struct membership *of)
{
	const struct membership *first = of, *from;

	while ((from = membership_from(rank->comms, rank->comm_count, first)) != NULL)
		first = from;
	if (first->met != NULL && (!first->joined || first->alone))
		return first == of ? (size_t)of->size : 0;
	return (size_t)of->size + (of->remote_size > 0 ? (size_t)of->remote_size : 0);
}

/* Whether the next membership is of a meeting whose other side may still come. */
static bool
is_held(struct later *l, int32_t r, int64_t now)
{
	struct membership *of = &l->input->ranks[r].comms[l->looked[r]];

	if (l->input->world_count == 1 || of->met == NULL || of->joined) {
		l->held_ns[r] = 0;
		return false;
	}
	if (l->held_ns[r] == 0)
		l->held_ns[r] = now;
	if (!l->over && now - l->held_ns[r] < STRANGERS_S * SECOND_NS)
		return true;
	of->joined = of->alone = true;
	l->held_ns[r] = 0;
	return false;
}

static void
add_member(struct later *l, int32_t r, size_t membership, int64_t now)
{
	struct rank *rank = &l->input->ranks[r];
	const struct membership *of = &rank->comms[membership];
	const struct id_slot key = { of->name, (uint32_t)l->comm_count };
	const uint32_t c = ids_add(&l->ids, &key)->comm;
	struct comm *comm;

	if (c == l->comm_count)
		*APPEND(l->comms, l->comm_count, l->comm_capacity) = (struct comm){
		    .wanted = members_wanted(rank, of), .seen_ns = now };
	comm = &l->comms[c];
	*APPEND(comm->members, comm->count, comm->capacity) = (struct member){ r, membership };
}

static bool
is_awaited(const struct comm *comm, int64_t now)
{
	return comm->wanted == 0 ? now - comm->seen_ns < STRANGERS_S * SECOND_NS :
	    comm->count < comm->wanted && now - comm->seen_ns < PATIENCE_S * SECOND_NS;
}

bool
later_look(struct later *l, bool over)
{
	const int64_t now = now_ns();
	const size_t before = l->known;
	bool held = false;

	l->over = over;
	l->known = 0;
	for (int32_t r = 0; r < l->input->rank_count; r++)
		l->known += l->input->ranks[r].comm_count;
	if (l->input->world_count > 1 && (l->known > before || over))
		join_met(l->input, !over);
	for (int32_t r = 0; r < l->input->rank_count; r++) {
		while (l->looked[r] < l->input->ranks[r].comm_count && !is_held(l, r, now))
			add_member(l, r, l->looked[r]++, now);
		held |= l->looked[r] < l->input->ranks[r].comm_count;
	}
	while (l->awaited < l->comm_count && !is_awaited(&l->comms[l->awaited], now))
		l->awaited++;
	return l->awaited == l->comm_count && !held;
}

ORDER(by_member, struct member, BY(rank) BY(membership))

/*
 * Definitions by the rank's own NUMBER. They are most often at that index, from FIRST on, since
 * numbers have few gaps. NULL: none.
 */
#define FIND(name, type, list, list_count, member, first) \
	static const type * \
	name(const struct rank *rank, uint32_t number) \
	{ \
		size_t at = (size_t)number - (first); \
		if (at >= rank->list_count || rank->list[at].member != number) \
			for (at = 0; at < rank->list_count && rank->list[at].member != number; ) \
				at++; \
		return at < rank->list_count ? &rank->list[at] : NULL; \
	}
FIND(find_membership, struct membership, comms, comm_count, comm, 3)
FIND(find_site, struct raw_site, sites, site_count, site, 1)

/* Again, if a member has come since it was written. */
static void
define_comm(struct later *l, struct rank *rank, uint32_t number)
{
	const struct membership *of;
	struct id_slot key;
	struct comm *comm;
	struct group group;

	if (number == 0 || (number < rank->comm_map_size && rank->comm_map[number] != 0) ||
	    (of = find_membership(rank, number)) == NULL)
		return;		/* it is written, or has no definition */
	key = (struct id_slot){ .id = of->name };
	comm = &l->comms[ids_find(l->ids, &key)->comm];
	group = (struct group){ zalloc(comm->count, sizeof *group.shares), comm->count };
	SORT(comm->members, comm->count, by_member);
	for (size_t i = 0; i < comm->count; i++) {
		const struct member *m = &comm->members[i];

		group.shares[i] = (struct share){ &l->input->ranks[m->rank].comms[m->membership],
		    m->rank };
	}
	if (comm->number == 0)
		comm->number = l->next_comm++;
	write_group(l->out, l->input, &group, comm->number, l->over ||
	    comm->count >= comm->wanted);
	free(group.shares);
}

/* ---- call sites ---- */

/* Modules are numbered in the order of the sites in them, as ranks load them at any time. */
static struct known_module *
known_module(struct later *l, uint32_t module)
{
	const struct module *of = &l->input->modules[module];

	while (l->module_count <= module)
		*APPEND(l->modules, l->module_count, l->module_capacity) =
		    (struct known_module){ UINT32_MAX, NULL };
	if (l->modules[module].number == UINT32_MAX) {
		l->modules[module].number = l->next_module++;
		write_module(l->out, l->modules[module].number, of);
		l->modules[module].symbols = l->names ? symbols_open(of) : NULL;
	}
	return &l->modules[module];
}

static uint32_t
site_of_place(struct later *l, const struct rank *rank, const struct raw_site *raw)
{
	struct known_site place = place_of(l->input, rank, raw);
	const struct place_slot key = { place.offset, place.module, l->next_site, raw->call != 0 };
	struct place_slot *slot = places_add(&l->places, &key);
	struct symbols *symbols = NULL;

	if (slot->site < l->next_site && (slot->calls || raw->call == 0))
		return slot->site;
	*slot = key;		/* a frame that calls MPI, too, becomes a second site */
	if (place.module != UINT32_MAX) {
		const struct known_module *module = known_module(l, place.module);

		place.module = module->number;
		symbols = module->symbols;
	}
	write_place(l->out, l->next_site++, &place, symbols);
	return slot->site;
}

static uint32_t
site_of_stack(struct later *l, struct rank *rank, const struct raw_site *raw)
{
	uint32_t *frames = zalloc(raw->depth, sizeof *frames);
	struct known_stack stack = { frames, raw->depth, 0 };

	for (uint32_t f = 0; f < raw->depth; f++) {
		const struct raw_site *frame = find_site(rank, raw->stack[f]);

		if (frame != NULL && frame->stack == NULL)
			frames[f] = later_site(l, rank, raw->stack[f]);
	}
	stack.site = l->next_site;	/* frames have taken theirs by now */
	stack = *known_stacks_add(&l->stacks, &stack);
	if (stack.site < l->next_site) {
		free(frames);
		return stack.site;
	}
	site_write(l->out, l->next_site, &(struct site){ .stack = frames, .depth = raw->depth });
	return l->next_site++;
}

/* ---- regions ---- */

bool
later_region(struct later *l, struct rank *rank, int64_t own)
{
	const size_t number = (size_t)(own < 0 ? -own : own);
	struct raw_region *raw = number < rank->region_size ? &rank->regions[number] : NULL;
	struct name_slot key;

	if (number == 0)
		return true;
	if (raw == NULL || raw->name == NULL)
		return false;
	if (raw->number != 0 && raw->number != LEFT_OUT)
		return true;
	key = (struct name_slot){ raw->name, l->region_count + 1 };
	raw->number = raw->unsure ? LEFT_OUT : names_add(&l->region_names, &key)->number;
	if (!raw->unsure && raw->number > l->region_count)
		write_region_name(l->out, ++l->region_count, raw->name);
	return true;
}

uint32_t
later_site(struct later *l, struct rank *rank, uint32_t number)
{
	const struct raw_site *raw;
	uint32_t site;

	if (number == 0 || (number < rank->site_map_size && rank->site_map[number] != 0))
		return number == 0 ? 0 : rank->site_map[number];
	if ((raw = find_site(rank, number)) == NULL)
		return 0;
	site = raw->stack != NULL ? site_of_stack(l, rank, raw) : site_of_place(l, rank, raw);
	return *AT(rank->site_map, rank->site_map_size, number) = site;
}

void
later_call(struct later *l, uint16_t call)
{
	if (l->used[call] || call == 0)
		return;
	l->used[call] = true;
	message_begin(l->out, "call", 2);
	put_uint(l->out, "number", call);
	put_string(l->out, "name", call_name(call));
	end_message(l->out);
}

void
later_define(struct later *l, int32_t number, const struct calls *calls, size_t from, size_t count)
{
	struct rank *rank = &l->input->ranks[number];

	for (size_t i = from; i < from + count; i++) {
		define_comm(l, rank, calls->comm[i]);
		later_site(l, rank, calls->site[i]);
		later_call(l, calls->call[i]);
	}
}
