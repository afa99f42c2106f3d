/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions of a run that continues. A step writes those before its end: before the calls that were
 * left later, and the others behind the location's last call so far.
 */
#include <stdlib.h>
#include <string.h>

#include "follow.h"

void
regions_piece(struct lane *lane, struct message_place piece)
{
	*APPEND(lane->regions.pieces, lane->regions.count, lane->regions.capacity) = piece;
}

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

/* f->nested */
static void
put_events(struct follow *f, struct tail *tail, struct lane *lane)
{
	const int32_t rank = (int32_t)(tail->scan.rank - f->input->ranks);
	struct lane_regions *of = &lane->regions;
	struct samples *out = &f->nested;

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

static void
write_events(struct follow *f, struct tail *tail, struct lane *lane)
{
	struct lane_regions *of = &lane->regions;
	struct samples *events = &f->regions_left;

	for (size_t i = 0; i < events->count; i++) {
		if (events->time_ns[i] < of->written_ns)
			events->time_ns[i] = of->written_ns;
		of->floor_ns = events->time_ns[i];
	}
	f->nested.regions = true;
	regions_nest(&of->open, f->input, (int32_t)(tail->scan.rank - f->input->ranks), events,
	    &f->nested, &f->told_regions);
	put_events(f, tail, lane);
}

void
regions_before(struct follow *f, struct tail *tail, struct lane *lane, int64_t until_ns)
{
	struct lane_regions *of = &lane->regions;

	while (of->at < of->count) {
		if (take_events(f, tail, lane, until_ns) > 0)
			write_events(f, tail, lane);
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
regions_of_workers(struct follow *f, struct tail *tail, int64_t until_ns)
{
	for (size_t l = tail->scan.rank->threads; l < tail->lane_count; l++)
		regions_before(f, tail, &tail->lanes[l], until_ns);
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
			f->nested.regions = true;
			regions_close(&lane->regions.open, f->input, r,
			    lane->regions.floor_ns > last_ns ? lane->regions.floor_ns : last_ns,
			    &f->nested, &f->told_regions);
			put_events(f, tail, lane);
		}
	}
	regions_tell(f->input, &f->told_regions);
}
