/* SPDX-License-Identifier: BSD-3-Clause */
/* The second pass: writes the trace, on corrected clocks: one stream, or a folder of shards. */
#include <stdlib.h>
#include <string.h>

#include "../base/mpi/call_class.h"
#include "order.h"
#include "definitions.h"

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

void
write_ranks(struct writer *out, const struct input *input, int64_t moved_ns, int64_t run_ns,
    bool followed)
{
	message_begin(out, "run", 3u + (input->date_s > 0) + followed);
	put_int(out, "ranks", input->rank_count);
	put_uint(out, "locations", input->location_count);
	put_int(out, "run_ns", run_ns);
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

/* The output, and the shifts of the logical clock in it. */
struct output {
	struct writer out;
	struct input *input;
	struct source source;
	int64_t moved_ns;	/* shift of all times */
	struct sample_pass samples;
	struct nesting nesting;
	struct moves *moves;	/* by location: leave of the last row; NULL: no samples or shifts */
	int64_t end_ns;		/* of the run, in the trace */
	struct moved *moved;	/* enters and leaves of a block */
	size_t moved_capacity;
};

/* Maps own numbers to common ones; an undefined number becomes 0, unknown. */
static void
map_column(uint32_t *values, size_t count, const uint32_t *map, size_t map_size)
{
	for (size_t i = 0; i < count; i++)
		values[i] = values[i] < map_size ? map[values[i]] : 0;
}

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

static void
write_block(struct output *o, struct calls *calls)
{
	const struct input *input = o->input;
	const struct rank *rank = &input->ranks[input->location_rank[calls->location]];
	const struct thread *thread = thread_of(input, calls->location);
	const bool last = calls->first + calls->count >= thread->rows;
	const int64_t until_ns = last ? INT64_MAX : calls->leave_ns[calls->count - 1];

	correct_times(&rank->correction, input->origin_ns, calls->enter_ns, calls->count);
	correct_times(&rank->correction, input->origin_ns, calls->leave_ns, calls->count);
	shift_block(o, calls, until_ns);
	for (size_t i = 0; o->moved_ns != 0 && i < calls->count; i++) {
		calls->enter_ns[i] -= o->moved_ns;
		calls->leave_ns[i] -= o->moved_ns;
	}
	if (last)
		stretch_last_row(calls, thread, o->end_ns);
	output_rows(&o->out, input, calls);
}

void
output_rows(struct writer *out, const struct input *input, struct calls *calls)
{
	const int32_t number = input->location_rank[calls->location];
	const struct rank *rank = &input->ranks[number];

	/* MPI_Init and MPI_Finalize involve all ranks of the world; a single world is not named. */
	for (size_t i = 0; input->world_count > 1 && i < calls->count; i++)
		if (calls->comm[i] == 0 && (call_class(calls->call[i]) == CLASS_INIT ||
		    call_class(calls->call[i]) == CLASS_FINALIZE))
			calls->comm[i] = 1;
	map_column(calls->comm, calls->count, rank->comm_map, rank->comm_map_size);
	map_column(calls->site, calls->count, rank->site_map, rank->site_map_size);
	for (size_t i = 0; i < calls->count; i++)
		if (calls->request_at[i] > 0)
			calls->request_at[i] = location_of(input, number,
			    calls->request_at[i] - 1) + 1;
	need_output(calls_write(out, calls));
}

/* The blocks of the ranks in SHARD, with OF by rank; NULL: of all. */
static void
write_blocks(struct output *o, const uint32_t *of, uint32_t shard)
{
	const struct input *input = o->input;
	struct blocks *blocks;
	struct calls slice;
	struct progress progress = { 0 };
	uint64_t rows = 0;

	for (int32_t r = 0; r < input->rank_count; r++)
		rows += of == NULL || of[r] == shard ? input->ranks[r].rows : 0;
	source_open(&o->source, input);
	blocks = blocks_open(&o->source, of, shard);
	samples_begin(&o->samples, &o->out, &o->source, o->moved_ns, &o->nesting, NULL);
	while (blocks_next(blocks, &slice)) {
		write_block(o, &slice);
		progress_show(&progress, "calls", o->out.rows, o->out.rows, rows);
	}
	samples_end(&o->samples);
	blocks_close(blocks);
	source_close(&o->source);
	progress_end(&progress);
}

static struct output *
begin_output(struct input *input)
{
	struct output *o = zalloc(1, sizeof *o);
	int64_t first_ns = INT64_MAX, last_ns = 0;

	for (uint32_t l = 0; l < input->location_count; l++) {
		const struct thread *thread = thread_of(input, l);

		if (thread == NULL)
			continue;
		first_ns = smaller(first_ns, event_ns(input, l, 0, thread->begin_ns));
		/* No jump follows the last event. */
		last_ns = larger(last_ns, event_ns(input, l, UINT64_MAX - 1,
		    end_of_thread(&input->ranks[input->location_rank[l]], thread)));
	}
	o->nesting.input = o->input = input;
	o->moved_ns = first_ns == INT64_MAX ? 0 : first_ns;
	o->end_ns = last_ns - o->moved_ns;
	if ((input->sampled || input->regions) && input->shifts != NULL)
		o->moves = zalloc(input->location_count, sizeof *o->moves);
	return o;
}

static void
end_output(struct output *o)
{
	regions_tell(&o->nesting);
	free(o->moves);
	free(o->moved);
	free(o);
}

/* FIRST: in the process whose bytes count. Only there do places in the program get NAMES. */
static void
write_definitions(struct output *o, struct writer *out, bool names, bool first)
{
	struct unreturned *found = first ? find_unreturned(o->input, names) : NULL;

	write_ranks(out, o->input, o->moved_ns, o->end_ns, false);
	need_output(call_names_write(out, o->input->used));
	write_communicators(out, o->input);
	write_sites(out, o->input, names && first);
	write_region_names(out, o->input);
	write_poll_gaps(out, o->input);
	write_unended(out, o->input, found, o->end_ns, o->moved_ns);
}

void
write_trace(struct input *input, int fd, bool names, int argc, char **argv)
{
	struct output *o = begin_output(input);

	need_output(writer_open(&o->out, fd, "trace", input->in, argc, argv));
	write_definitions(o, &o->out, names, true);
	write_blocks(o, NULL, 0);
	need_output(writer_end(&o->out));
	end_output(o);
}

/* ---- shards: base/run/shard_files.h ---- */

/* A rank that is missing has no host, and goes with the one before it. */
static uint32_t
by_node(const struct input *input, uint32_t *of)
{
	const char **hosts = zalloc((size_t)input->rank_count, sizeof *hosts);
	uint32_t count = 0, shard = 0;

	for (int32_t r = 0; r < input->rank_count; r++) {
		const char *host = input->ranks[r].host;

		if (host != NULL && (count == 0 || strcmp(hosts[shard], host) != 0)) {
			for (shard = 0; shard < count && strcmp(hosts[shard], host) != 0; shard++)
				;
			if (shard == count)
				hosts[count++] = host;
		}
		of[r] = shard;
	}
	free(hosts);
	return count > 0 ? count : 1;
}

/* Ranges of ranks of equal length, or the ranks of each node. */
static struct shard_head
plan_shards(const struct input *input, uint32_t count)
{
	struct shard_head plan = { .ranks = (uint32_t)input->rank_count, .count = count };

	plan.of = zalloc(plan.ranks, sizeof *plan.of);
	if (count == 0) {
		plan.count = by_node(input, plan.of);
		return plan;
	}
	if (plan.count > plan.ranks)
		plan.count = plan.ranks;
	for (uint32_t r = 0; r < plan.ranks; r++)
		plan.of[r] = (uint32_t)((uint64_t)r * plan.count / plan.ranks);
	return plan;
}

/*
 * The writer of each shard: if members have files of their own, the one with its ranks; UINT32_MAX:
 * none.
 */
static uint32_t *
find_writers(const struct input *input, const struct shard_head *plan, const struct team *team)
{
	uint32_t *writer = zalloc(plan->count, sizeof *writer), first, end;

	memset(writer, 0xff, plan->count * sizeof *writer);
	if (input->holders == 0)
		for (int member = 0; member < team->size; member++) {
			shards_of_member(team, member, plan->count, &first, &end);
			for (uint32_t number = first; number < end; number++)
				writer[number] = (uint32_t)member;
		}
	for (uint32_t r = 0; input->holders > 0 && r < plan->ranks; r++) {
		const struct rank *rank = &input->ranks[r];
		uint32_t *of = &writer[plan->of[r]];

		if (!rank->present)
			continue;
		if (*of != UINT32_MAX && *of != (uint32_t)rank->holder)
			die("%s: of node %s, whose other traces are not in the same place",
			    rank->file, rank->host != NULL ? rank->host : "");
		*of = (uint32_t)rank->holder;
	}
	return writer;
}

/* All members number definitions alike; the first one's bytes count. */
static void
share_definitions(struct writer *definitions, const struct team *team)
{
	msgpack_sbuffer *buffer = &definitions->buffer;

	team_copy(team, &buffer->size, sizeof buffer->size);
	if (buffer->size > buffer->alloc) {
		buffer->data = need(realloc(buffer->data, buffer->size));
		buffer->alloc = buffer->size;
	}
	team_copy(team, buffer->data, buffer->size);
	team_copy(team, &definitions->messages, sizeof definitions->messages);
}

void
write_shards(struct input *input, const struct options *opt, const struct team *team, int argc,
    char **argv)
{
	static struct writer definitions;
	struct shard_head plan = plan_shards(input, opt->shards);
	struct output *o = begin_output(input);
	uint32_t *writer = find_writers(input, &plan, team);

	writer_start(&definitions, -1);
	write_definitions(o, &definitions, !opt->no_names, team->rank == 0);
	if (team->size > 1)
		share_definitions(&definitions, team);
	plan.run = writer_hash(&definitions) ^ input->worlds->run;
	plan.defined = definitions.messages;
	for (uint32_t number = 0; number < plan.count; number++) {
		if (writer[number] != (uint32_t)team->rank)
			continue;
		need_output(writer_open(&o->out, shard_create(opt->folder, number), "trace",
		    input->in, argc, argv));
		plan.number = number;
		shard_write(&o->out, &plan);
		need_output(writer_append(&o->out, &definitions));
		write_blocks(o, plan.of, number);
		need_output(writer_end(&o->out));
	}
	end_output(o);
	writer_close(&definitions);
	free(writer);
	free(plan.of);
}
