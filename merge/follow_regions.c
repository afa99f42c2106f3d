/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions of a run that continues. A step writes those before its end: before the calls that were
 * left later, and the others behind the location's last call so far.
 */
#include <stdlib.h>
#include <string.h>

#include "follow.h"

void
regions_piece(struct lane *lane, const struct region_piece *piece)
{
	*APPEND(lane->regions.pieces, lane->regions.count, lane->regions.capacity) = *piece;
}

/*
 * Takes the events that are not taken yet from before UNTIL_NS, up to one whose name has not come.
 * Returns their number; they are the first ones of f->regions.
 */
static size_t
take_events(struct follow *f, struct tail *tail, struct lane *lane, int64_t until_ns)
{
	struct lane_regions *of = &lane->regions;
	const struct region_piece *piece = &of->pieces[of->at];
	struct reader *in = f->input->in;
	struct message message;
	size_t end = 0;

	read_at(f, &tail->segments[piece->segment], piece->place, &message);
	for (unsigned i = 0; i < piece->within; i++)
		if (reader_next(in, &message) <= 0)
			die_input(in);
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

/* f->nested */
static void
put_events(struct follow *f, int32_t rank, uint32_t location, uint32_t worker)
{
	struct samples *out = &f->nested;

	if (out->count == 0)
		return;
	for (size_t i = 0; i < out->count; i++)
		out->time_ns[i] -= own_ns(f, rank, 0);
	out->from_ns = INT64_MIN;
	out->location = location;
	out->worker = worker;
	if (samples_write(&f->out, out) < 0)
		die_output();
}

static void
write_events(struct follow *f, struct lane *lane, int32_t rank, uint32_t location, uint32_t worker)
{
	struct lane_regions *of = &lane->regions;
	struct samples *events = &f->regions_left;

	for (size_t i = 0; i < events->count; i++) {
		if (events->time_ns[i] < of->written_ns)
			events->time_ns[i] = of->written_ns;
		of->floor_ns = events->time_ns[i];
	}
	f->nested.regions = true;
	regions_nest(&of->open, f->input, rank, events, &f->nested, &f->told_regions);
	put_events(f, rank, location, worker);
}

void
regions_before(struct follow *f, struct tail *tail, struct lane *lane, uint32_t location,
    uint32_t worker, int64_t until_ns)
{
	struct lane_regions *of = &lane->regions;
	const int32_t rank = f->input->location_rank[location];

	while (of->at < of->count) {
		if (take_events(f, tail, lane, until_ns) > 0)
			write_events(f, lane, rank, location, worker);
		/* A later block begins when this one is full. */
		if (of->at + 1 == of->count || of->taken < f->regions.count)
			break;
		of->at++;
		of->taken = 0;
	}
	if (of->count > 0)
		of->written_ns = until_ns;
}

/* Numbered as in the trace of the whole run: samples.c. */
void
regions_of_workers(struct follow *f, struct tail *tail, int32_t rank, int64_t until_ns)
{
	for (size_t l = f->input->ranks[rank].threads; l < tail->lane_count; l++)
		regions_before(f, tail, &tail->lanes[l], (uint32_t)rank,
		    UINT32_MAX - (uint32_t)l, until_ns);
}

void
regions_end(struct follow *f)
{
	for (int32_t r = 0; r < f->input->rank_count; r++) {
		struct tail *tail = f->by_rank[r];
		const uint32_t threads = f->input->ranks[r].threads;

		for (uint32_t l = 0; tail != NULL && l < tail->lane_count; l++) {
			struct lane *lane = &tail->lanes[l];
			const int64_t last_ns = tail->lanes[l < threads ? l : 0].last_leave_ns;
			const uint32_t location = l == 0 || l >= threads ? (uint32_t)r :
			    f->input->ranks[r].location_base + l - 1;
			const uint32_t worker = l < threads ? 0 : UINT32_MAX - l;

			regions_before(f, tail, lane, location, worker, INT64_MAX);
			f->nested.regions = true;
			regions_close(&lane->regions.open, f->input, r,
			    lane->regions.floor_ns > last_ns ? lane->regions.floor_ns : last_ns,
			    &f->nested, &f->told_regions);
			put_events(f, r, location, worker);
		}
	}
	regions_tell(f->input, &f->told_regions);
}
