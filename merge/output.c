/* SPDX-License-Identifier: BSD-3-Clause */
/* The second pass: writes the trace, on corrected clocks. */
#include <stdlib.h>
#include <string.h>

#include "../base/mpi/call_class.h"
#include "order.h"
#include "regions.h"
#include "unended.h"

static const struct shift *
shift_of(const struct input *input, uint32_t location)
{
	const struct shift *shift = input->shifts != NULL ? &input->shifts[location] : NULL;

	return shift == NULL || shift->jumps.count == 0 ? NULL : shift;
}

int64_t
event_ns(const struct input *input, uint32_t location, uint64_t event, int64_t own_ns)
{
	const struct rank *rank = &input->ranks[input->location_rank[location]];
	const struct shift *shift = shift_of(input, location);
	int64_t at_ns = corrected_ns(&rank->correction, own_ns) - input->origin_ns;

	return shift == NULL ? at_ns : at_ns + shift_ns(shift, event, at_ns);
}

/* By how much shifts have moved the first enter of the run. */
static int64_t
first_moved_ns(const struct input *input)
{
	int64_t first_ns = INT64_MAX;
	const struct thread *thread;

	for (uint32_t l = 0; l < input->location_count; l++)
		if ((thread = thread_of(input, l)) != NULL &&
		    event_ns(input, l, 0, thread->begin_ns) < first_ns)
			first_ns = event_ns(input, l, 0, thread->begin_ns);
	return first_ns == INT64_MAX ? 0 : first_ns;
}

static int64_t
last_leave_ns(const struct input *input)
{
	int64_t last_ns = 0;

	for (uint32_t l = 0; l < input->location_count; l++) {
		const struct thread *thread = thread_of(input, l);
		int64_t end_ns;

		/* No jump follows the last event. */
		if (thread != NULL && (end_ns = event_ns(input, l, UINT64_MAX - 1,
		    end_of_thread(&input->ranks[input->location_rank[l]], thread))) > last_ns)
			last_ns = end_ns;
	}
	return last_ns;
}

void
write_ranks(struct writer *out, const struct input *input, int64_t moved_ns, bool followed)
{
	message_begin(out, "run", 3u + (input->date_s > 0) + followed);
	put_int(out, "ranks", input->rank_count);
	put_uint(out, "locations", input->location_count);
	put_int(out, "run_ns", last_leave_ns(input) - moved_ns);
	if (input->date_s > 0)
		put_int(out, "date_s", input->date_s);
	if (followed)
		put_bool(out, "followed", true);
	message_end(out);
	for (size_t i = 0; i < input->variable_count; i++)
		variable_write(out, &input->environment[i]);
	for (int32_t r = 0; r < input->rank_count; r++) {
		const struct rank *rank = &input->ranks[r];
		const struct correction *c = &rank->correction;
		bool shifted = c->reversed > 0 || c->moved_ns > 0;

		if (!rank->present)
			continue;
		message_begin(out, "rank", (shifted ? 11u : 8u) + (input->world_count > 1 ? 2 : 0));
		put_int(out, "rank", r);
		if (input->world_count > 1) {
			put_int(out, "world", rank->world);
			put_int(out, "world_rank", r - input->worlds[rank->world].first);
		}
		put_string(out, "host", rank->host != NULL ? rank->host : "");
		put_string(out, "program", rank->program != NULL ? rank->program : "");
		put_uint(out, "rows", followed ? 0 : rank->rows + last_rows(rank));
		put_bool(out, "ended", followed || rank->ended);
		put_int(out, "offset_ns", rank->rows > 0 ? corrected_ns(c, rank->begin_ns) -
		    rank->begin_ns - input->origin_ns - moved_ns : 0);
		put_int(out, "drift_ppb", (int64_t)(c->drift * 1e9));
		put_int(out, "error_ns", rank->rows > 0 ? correction_error_ns(c, rank->begin_ns,
		    rank->end_ns) : c->error_ns);
		if (shifted) {
			put_uint(out, "reversed", c->reversed);
			put_uint(out, "reversed_left", c->reversed_left);
			put_int(out, "moved_ns", c->moved_ns);
		}
		message_end(out);
		for (uint32_t t = 1; t < rank->threads; t++)
			location_write(out, location_of(input, r, t), r, t);
	}
	if (!followed)
		write_loads(out, input);
}

/* Maps own numbers to common ones; an undefined number becomes 0, unknown. */
static void
map_column(uint32_t *values, size_t count, const uint32_t *map, size_t map_size)
{
	for (size_t i = 0; i < count; i++)
		values[i] = values[i] < map_size ? map[values[i]] : 0;
}

static void
add_all(int64_t *times_ns, size_t count, int64_t ns)
{
	for (size_t i = 0; i < count; i++)
		times_ns[i] += ns;
}

/* The output, and the shifts of the logical clock in it. */
struct output {
	struct writer out;
	struct input *input;
	int64_t moved_ns;	/* shift of all times */
	struct sample_pass samples;
	struct regions_told told;
	struct moves *moves;	/* by location: leave of the last row; NULL: no samples or shifts */
	int64_t end_ns;		/* of the run, in the trace */
	struct moved *moved;	/* enters and leaves of a block */
	size_t moved_capacity;
};

/* Writes the samples before the block; with UNTIL_NS of INT64_MAX it is the location's last. */
static void
shift_block(struct output *o, struct calls *calls, int64_t until_ns)
{
	const struct shift *shift = shift_of(o->input, calls->location);
	struct moves none = { 0 }, *moves = o->moves != NULL && shift != NULL ?
	    &o->moves[calls->location] : &none;
	uint64_t event = 0;

	if (shift != NULL)
		GROW(o->moved, o->moved_capacity, 2 * calls->count);
	for (size_t i = 0; shift != NULL && i < calls->count; i++) {
		struct moved *enter = &o->moved[2 * i], *leave = enter + 1;

		if (calls->call[i] != 0)
			event = 2 * (calls->first + i);
		enter->at_ns = calls->enter_ns[i];
		leave->at_ns = calls->leave_ns[i];
		calls->enter_ns[i] += shift_ns(shift, event, enter->at_ns);
		calls->leave_ns[i] += shift_ns(shift, event + 1, leave->at_ns);
		enter->to_ns = calls->enter_ns[i];
		leave->to_ns = calls->leave_ns[i];
	}
	if (moves != &none) {
		moves->of = o->moved;
		moves->count = 2 * calls->count;
	}
	samples_before(&o->samples, calls->location, until_ns, moves);
	if (moves == &none)
		return;
	moves->last = moves->of[moves->count - 1];
	moves->begun = true;
}

/* MPI_Init and MPI_Finalize involve all ranks of the world; a single world needs no mention. */
static void
frame_world(struct calls *calls)
{
	for (size_t i = 0; i < calls->count; i++)
		if (calls->comm[i] == 0 && (call_class(calls->call[i]) == CLASS_INIT ||
		    call_class(calls->call[i]) == CLASS_FINALIZE))
			calls->comm[i] = 1;
}

static void
write_block(struct output *o, struct calls *calls)
{
	const struct input *input = o->input;
	const struct rank *rank = &input->ranks[input->location_rank[calls->location]];
	const int64_t moved_ns = o->moved_ns;
	const bool last = calls->first + calls->count >= thread_of(input, calls->location)->rows;
	const int64_t until_ns = last ? INT64_MAX : calls->leave_ns[calls->count - 1];

	correct_times(&rank->correction, calls->enter_ns, calls->count);
	correct_times(&rank->correction, calls->leave_ns, calls->count);
	add_all(calls->enter_ns, calls->count, -input->origin_ns);
	add_all(calls->leave_ns, calls->count, -input->origin_ns);
	shift_block(o, calls, until_ns);
	if (moved_ns != 0) {
		add_all(calls->enter_ns, calls->count, -moved_ns);
		add_all(calls->leave_ns, calls->count, -moved_ns);
	}
	if (last)
		stretch_last_row(calls, thread_of(input, calls->location), o->end_ns);
	output_rows(&o->out, input, calls);
}

void
output_rows(struct writer *out, const struct input *input, struct calls *calls)
{
	const int32_t number = input->location_rank[calls->location];
	const struct rank *rank = &input->ranks[number];

	if (input->world_count > 1)
		frame_world(calls);
	map_column(calls->comm, calls->count, rank->comm_map, rank->comm_map_size);
	map_column(calls->site, calls->count, rank->site_map, rank->site_map_size);
	for (size_t i = 0; i < calls->count; i++)
		if (calls->request_at[i] > 0)
			calls->request_at[i] = location_of(input, number,
			    calls->request_at[i] - 1) + 1;
	need_output(calls_write(out, calls));
}

void
output_blocks(struct output *o, const uint32_t *of, uint32_t shard)
{
	const struct input *input = o->input;
	struct blocks *blocks = blocks_open(input, of, shard);
	struct calls slice;
	struct progress progress;
	uint64_t rows = 0;

	for (int32_t r = 0; r < input->rank_count; r++)
		rows += of == NULL || of[r] == shard ? input->ranks[r].rows : 0;
	progress_begin(&progress);
	samples_begin(&o->samples, &o->out, blocks_source(blocks), o->moved_ns,
	    &o->told);
	while (blocks_next(blocks, &slice)) {
		write_block(o, &slice);
		progress_show(&progress, "calls", o->out.rows, o->out.rows, rows);
	}
	samples_end(&o->samples);
	blocks_close(blocks);
	progress_end(&progress);
}

struct output *
output_begin(struct input *input)
{
	struct output *o = zalloc(1, sizeof *o);

	o->input = input;
	o->moved_ns = first_moved_ns(input);
	o->end_ns = last_leave_ns(input) - o->moved_ns;
	if ((input->sampled || input->regions) && input->shifts != NULL)
		o->moves = zalloc(input->location_count, sizeof *o->moves);
	return o;
}

void
output_end(struct output *o)
{
	regions_tell(o->input, &o->told);
	free(o->moves);
	free(o->moved);
	free(o);
}

void
output_define(struct output *o, struct writer *out, bool names, bool first)
{
	struct unreturned *found = first ? find_unreturned(o->input, names) : NULL;

	write_ranks(out, o->input, o->moved_ns, false);
	need_output(call_names_write(out, o->input->used));
	write_communicators(out, o->input);
	write_sites(out, o->input, names);
	write_region_names(out, o->input);
	write_poll_gaps(out, o->input);
	write_unended(out, o->input, found, o->end_ns, o->moved_ns);
}

struct writer *
output_open(struct output *o, int fd, int argc, char **argv)
{
	need_output(writer_open(&o->out, fd, "trace", o->input->in, argc, argv));
	return &o->out;
}

void
write_trace(struct input *input, int fd, bool names, int argc, char **argv)
{
	struct output *o = output_begin(input);

	output_open(o, fd, argc, argv);
	output_define(o, &o->out, names, true);
	output_blocks(o, NULL, 0);
	need_output(writer_end(&o->out));
	output_end(o);
}
