/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions: one number for a name on all ranks, and ends for regions that the program has left
 * without one. In a raw trace an end may name its region; in a trace it is always that of the
 * innermost one.
 */
#include <stdlib.h>
#include <string.h>

#include "regions.h"
#include "scan.h"

/* ---- names ---- */

int
scan_region_name(struct scan *scan, const struct message *message)
{
	struct rank *rank = scan->rank;
	struct raw_region region = { .unsure = body_true(message, "unsure") };

	if (own_number(scan, message, "number", 1, &region.number) < 0)
		return -1;
	if ((region.name = body_string(message, "name")) == NULL)
		return reader_fail(scan->in, message->offset, "region_name: name is missing");
	for (size_t i = 0; !region.unsure && i < rank->region_count; i++)
		if (rank->regions[i].unsure && rank->regions[i].number == region.number) {
			rank->regions[i].unsure = false;	/* it has been defined again */
			free(region.name);
			return 0;
		}
	*APPEND(rank->regions, rank->region_count, rank->region_capacity) = region;
	return 0;
}

void
write_region_name(struct writer *out, uint32_t number, const char *name)
{
	message_begin(out, "region_name", 2);
	put_uint(out, "number", number);
	put_string(out, "name", name);
	end_message(out);
}

/* 0 has a meaning of its own. */
static uint32_t
map_region(const struct rank *rank, int64_t own)
{
	if (own > 0 && ((size_t)own >= rank->region_map_size || rank->region_map[own] == 0))
		die("%s: region %lld has no name", rank->file, (long long)own);
	return own > 0 ? rank->region_map[own] : 0;
}

struct named {
	const char *name;
	struct rank *rank;
	uint32_t own;
};

ORDER(by_name, struct named, BY_TEXT(name))

void
write_region_names(struct writer *out, struct input *input)
{
	struct named *all = NULL;
	uint32_t number = 0;
	size_t count = 0, capacity = 0;

	for (struct rank *rank = input->ranks; rank < input->ranks + input->rank_count; rank++)
		for (size_t i = 0; i < rank->region_count; i++) {
			const struct raw_region *region = &rank->regions[i];
			uint32_t *at = AT(rank->region_map, rank->region_map_size, region->number);

			if (region->unsure)
				*at = LEFT_OUT;
			else
				*APPEND(all, count, capacity) = (struct named){ region->name, rank,
				    region->number };
		}
	SORT(all, count, by_name);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || by_name(&all[i - 1], &all[i]) != 0)
			write_region_name(out, ++number, all[i].name);
		all[i].rank->region_map[all[i].own] = number;
	}
	free(all);
}

/* ---- begins and ends ---- */

static void
put_event(struct samples *to, int64_t at_ns, int32_t region)
{
	need_memory(samples_reserve(to, to->count + 1));
	to->time_ns[to->count] = at_ns;
	to->region[to->count++] = region;
}

/* How many of the open regions an end closes; 0: it is the end of none. */
static size_t
closed_by(const struct open_regions *open, uint32_t region)
{
	size_t i = open->count;

	if (region == 0)
		return i > 0;
	while (i > 0 && open->at[i - 1] != region)
		i--;
	return i > 0 ? open->count - i + 1 : 0;
}

static void
tell_of(struct regions_told *told, uint64_t *what, uint64_t count, int32_t rank, uint32_t region)
{
	*what += count;
	if (count > 0 && told->first == 0) {
		told->rank = rank;
		told->first = region;
	}
}

/* Ends COUNT regions at once; the last of these ends is the program's own, if it is SAID. */
static void
put_ends(struct open_regions *open, size_t count, int64_t at_ns, bool said, struct samples *to)
{
	open->count -= count;
	if (open->early > open->count)
		open->early = open->count;
	to->left += count - said;
	while (count-- > 0)
		put_event(to, at_ns, 0);
}

void
regions_nest(struct open_regions *open, const struct input *input, int32_t number,
    const struct samples *from, struct samples *to, struct regions_told *told)
{
	const struct rank *rank = &input->ranks[number];

	to->count = 0;
	to->left = 0;
	for (size_t i = 0; i < from->count; i++) {
		const int64_t own = from->region[i];
		const uint32_t region = map_region(rank, own < 0 ? -own : own);
		const size_t closed = own > 0 ? 0 : closed_by(open, region);

		if (region == LEFT_OUT)
			continue;
		if (own > 0) {
			open->early += open->early == open->count &&
			    from->time_ns[i] <= rank->begin_ns;
			*APPEND(open->at, open->count, open->capacity) = region;
			put_event(to, from->time_ns[i], (int32_t)region);
		} else if (closed == 0)
			told->unbegun++;
		else {
			tell_of(told, &told->left, closed - 1, number,
			    open->at[open->count - 1]);
			put_ends(open, closed, from->time_ns[i], true, to);
		}
	}
}

void
regions_close(struct open_regions *open, const struct input *input, int32_t number,
    int64_t at_ns, struct samples *to, struct regions_told *told)
{
	const bool ended = input->ranks[number].ended;

	to->count = 0;
	to->left = 0;
	if (open->count == 0)
		return;
	/* A region around MPI is expected to last. */
	tell_of(told, ended ? &told->open : &told->left, open->count - (ended ? open->early : 0),
	    number, open->at[open->count - 1]);
	put_ends(open, open->count, at_ns, false, to);
}

static const char *
name_of(const struct rank *rank, uint32_t region)
{
	for (size_t i = 0; i < rank->region_count; i++)
		if (rank->region_map[rank->regions[i].number] == region)
			return rank->regions[i].name;
	return "";
}

void
regions_tell(const struct input *input, const struct regions_told *told)
{
	if (told->left > 0)
		note("%llu regions were left without their end, as by longjmp() or exit(): they "
		    "end with the region around them or with the thread; the first is %s of rank "
		    "%d", (unsigned long long)told->left,
		    name_of(&input->ranks[told->rank], told->first), (int)told->rank);
	if (told->open > 0)
		note("%llu regions were open at MPI_Finalize: they end with the thread's last call",
		    (unsigned long long)told->open);
	if (told->unbegun > 0)
		note("%llu ends of regions that had not begun: left out",
		    (unsigned long long)told->unbegun);
}
