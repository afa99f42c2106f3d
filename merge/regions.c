/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions: one number for a name on all ranks, and ends for regions that the program has left
 * without one. In a raw trace an end may name its region; in a trace it is always that of the
 * innermost one.
 */
#include <stdlib.h>
#include <string.h>

#include "follow.h"

/* ---- names ---- */

int
scan_region_name(struct scan *scan, const struct message *message)
{
	struct rank *rank = scan->rank;
	struct raw_region *region;
	uint32_t number = 0;
	char *name;

	if (own_number(scan, message, "number", 1, &number) < 0)
		return -1;
	if ((name = body_string(message, "name")) == NULL)
		return reader_fail(scan->in, message->offset, "region_name: name is missing");
	region = AT(rank->regions, rank->region_size, number);
	/* One that is unsure may be defined again. */
	region->unsure = (region->name == NULL || region->unsure) && body_true(message, "unsure");
	if (region->name == NULL)
		region->name = name;
	else
		free(name);
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
	if (own > 0 && ((size_t)own >= rank->region_size || rank->regions[own].number == 0))
		die("%s: region %lld has no name", rank->file, (long long)own);
	return own > 0 ? rank->regions[own].number : 0;
}

ORDER(by_name, struct raw_region *const, COMPARED(strcmp((*a)->name, (*b)->name), 0))

void
write_region_names(struct writer *out, struct input *input)
{
	struct raw_region **all = NULL;
	uint32_t number = 0;
	size_t count = 0, capacity = 0;

	for (struct rank *rank = input->ranks; rank < input->ranks + input->rank_count; rank++)
		for (size_t i = 0; i < rank->region_size; i++) {
			struct raw_region *region = &rank->regions[i];

			if (region->unsure)
				region->number = LEFT_OUT;
			else if (region->name != NULL)
				*APPEND(all, count, capacity) = region;
		}
	SORT(all, count, by_name);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || by_name(&all[i - 1], &all[i]) != 0)
			write_region_name(out, ++number, all[i]->name);
		all[i]->number = number;
	}
	free(all);
}

/* ---- begins and ends ---- */

static void
put_event(struct nesting *n, int64_t at_ns, int32_t region)
{
	struct samples *to = &n->events;

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
count_left(struct nesting *n, uint64_t *what, uint64_t count, int32_t rank, uint32_t region)
{
	*what += count;
	if (count > 0 && n->first == 0) {
		n->rank = rank;
		n->first = region;
	}
}

/* Ends COUNT regions at once; the last of these ends is the program's own, if it is SAID. */
static void
put_ends(struct nesting *n, struct open_regions *open, size_t count, int64_t at_ns, bool said)
{
	open->count -= count;
	if (open->early > open->count)
		open->early = open->count;
	n->events.left += count - said;
	while (count-- > 0)
		put_event(n, at_ns, 0);
}

static void
begin_events(struct nesting *n)
{
	n->events.regions = true;
	n->events.count = 0;
	n->events.left = 0;
}

void
regions_nest(struct nesting *n, struct open_regions *open, int32_t number,
    const struct samples *from)
{
	const struct rank *rank = &n->input->ranks[number];

	begin_events(n);
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
			put_event(n, from->time_ns[i], (int32_t)region);
		} else if (closed == 0)
			n->unbegun++;
		else {
			count_left(n, &n->left, closed - 1, number, open->at[open->count - 1]);
			put_ends(n, open, closed, from->time_ns[i], true);
		}
	}
}

void
regions_close(struct nesting *n, struct open_regions *open, int32_t number, int64_t at_ns)
{
	const bool ended = n->input->ranks[number].ended;

	begin_events(n);
	if (open->count == 0)
		return;
	/* A region around MPI is expected to last. */
	count_left(n, ended ? &n->open : &n->left, open->count - (ended ? open->early : 0),
	    number, open->at[open->count - 1]);
	put_ends(n, open, open->count, at_ns, false);
}

void
regions_tell(struct nesting *n)
{
	const struct rank *rank = &n->input->ranks[n->rank];
	const char *name = "";

	for (size_t i = 0; n->left > 0 && i < rank->region_size; i++)
		if (rank->regions[i].number == n->first)
			name = rank->regions[i].name;
	if (n->left > 0)
		note("%llu regions were left without their end, as by longjmp() or exit(): they "
		    "end with the region around them or with the thread; the first is %s of rank "
		    "%d", (unsigned long long)n->left, name, (int)n->rank);
	if (n->open > 0)
		note("%llu regions were open at MPI_Finalize: they end with the thread's last call",
		    (unsigned long long)n->open);
	if (n->unbegun > 0)
		note("%llu ends of regions that had not begun: left out",
		    (unsigned long long)n->unbegun);
	samples_free(&n->events);
}

/*
 * ---- a run that continues ----
 *
 * A step writes the regions from before its end: before the calls that were left later, and the
 * others behind the location's last call so far.
 */

/*
 * Takes the events that are not taken yet from before UNTIL_NS, up to one whose name has not come.
 * Returns their number; they are the first ones of f->regions.
 */
static size_t
take_events(struct follow *f, struct tail *tail, struct lane *lane, int64_t until_ns)
{
	struct lane_regions *of = &lane->regions;
	struct reader *in = f->input->in;
	struct message message;
	size_t end = 0;

	read_at(f, tail, of->pieces[of->at], &message);
	if (samples_read(&f->regions, in, &message) < 0)
		die_input(in);
	f->regions_left = f->regions;
	if (of->taken > f->regions.count)
		die_message(in, &message, "regions: the block has lost events");
	samples_skip(&f->regions_left, of->taken);
	while (end < f->regions_left.count && f->regions_left.time_ns[end] < until_ns &&
	    later_region(f->later, tail->scan.rank, f->regions_left.region[end]))
		end++;
	f->regions_left.count = end;
	of->taken += end;
	return end;
}

static void
put_events(struct follow *f, struct tail *tail, struct lane *lane)
{
	const int32_t rank = (int32_t)(tail->scan.rank - f->input->ranks);
	struct lane_regions *of = &lane->regions;
	struct samples *out = &f->nesting.events;

	if (out->count == 0)
		return;
	if (!of->placed) {
		of->worker = f->regions.worker;
		of->location = place_of_thread(f->input, rank, (uint32_t)(lane - tail->lanes),
		    &of->worker);
	}
	of->placed = true;
	out->location = of->location;
	out->worker = of->worker;
	for (size_t i = 0; i < out->count; i++)
		out->time_ns[i] -= own_ns(f, rank, 0);
	out->from_ns = INT64_MIN;
	need_output(samples_write(&f->out, out));
}

void
regions_before(struct follow *f, struct tail *tail, struct lane *lane, int64_t until_ns)
{
	const int32_t rank = (int32_t)(tail->scan.rank - f->input->ranks);
	struct lane_regions *of = &lane->regions;

	while (of->at < of->count) {
		const size_t count = take_events(f, tail, lane, until_ns);

		for (size_t i = 0; i < count; i++)
			of->floor_ns = f->regions_left.time_ns[i] =
			    larger(f->regions_left.time_ns[i], of->written_ns);
		if (count > 0) {
			regions_nest(&f->nesting, &of->open, rank, &f->regions_left);
			put_events(f, tail, lane);
		}
		/* A later block begins when this one is full. */
		if (of->at + 1 == of->count || of->taken < f->regions.count)
			break;
		of->at++;
		of->taken = 0;
	}
	if (of->count > 0)
		of->written_ns = until_ns;
}

void
regions_end(struct follow *f)
{
	for (int32_t r = 0; r < f->input->rank_count; r++) {
		struct tail *tail = f->by_rank[r];

		for (uint32_t l = 0; tail != NULL && l < tail->lane_count; l++) {
			struct lane *lane = &tail->lanes[l];
			int64_t last_ns;

			regions_before(f, tail, lane, INT64_MAX);
			last_ns = (lane->regions.worker == 0 ? lane : tail->lanes)->last_leave_ns;
			regions_close(&f->nesting, &lane->regions.open, r,
			    larger(lane->regions.floor_ns, last_ns));
			put_events(f, tail, lane);
		}
	}
	regions_tell(&f->nesting);
}
