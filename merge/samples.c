/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The samples of all ranks, on the one clock, each before the calls that it was taken before. A rank's
 * trace is read ahead of its calls until the rings had been read later than the last leave that goes
 * out; what was taken after that leave is kept till then.
 */
#include <stdlib.h>
#include <string.h>

#include "source.h"

/* One thread's that are still to go out, own clock. */
struct queue {
	uint32_t location, worker;	/* in the trace */
	struct samples left;		/* from BEGIN on */
	size_t begin;
	int64_t floor_ns;		/* what has gone out is not later */
};

struct rank_samples {
	uint64_t offset;		/* where nobody has looked yet */
	uint64_t unwound;		/* samples with stacks so far, in the file of their callers */
	int64_t until_ns;		/* all before this have been read; own clock */
	bool ended;
	struct queue *queues;
	size_t count, capacity;
};

static uint32_t
map_one(uint32_t number, const uint32_t *map, size_t size)
{
	return number < size ? map[number] : 0;
}

/* A thread of which no call is known is shown as a worker beyond those that the recorder counts. */
static void
place_block(struct samples *s, const struct rank *rank, int32_t number)
{
	if (s->location == 0)
		s->location = (uint32_t)number;
	else if (s->location < rank->threads && rank->thread[s->location].rows > 0)
		s->location = rank->location_base + s->location - 1;
	else {
		s->worker = UINT32_MAX - s->location;
		s->location = (uint32_t)number;
	}
}

static struct queue *
queue_of(struct rank_samples *of, uint32_t location, uint32_t worker)
{
	for (size_t i = 0; i < of->count; i++)
		if (of->queues[i].location == location && of->queues[i].worker == worker)
			return &of->queues[i];
	of->queues = grow(of->queues, &of->capacity, of->count + 1, sizeof *of->queues);
	of->queues[of->count] = (struct queue){ .location = location, .worker = worker, .floor_ns = INT64_MIN };
	return &of->queues[of->count++];
}

static void
make_room(struct queue *queue, size_t more)
{
	struct samples *left = &queue->left;
	size_t capacity;

	if (queue->begin > 0) {
		left->count -= queue->begin;
		memmove(left->time_ns, left->time_ns + queue->begin, left->count * sizeof *left->time_ns);
		memmove(left->site, left->site + queue->begin, left->count * sizeof *left->site);
		memmove(left->callers, left->callers + queue->begin, left->count * sizeof *left->callers);
		queue->begin = 0;
	}
	capacity = left->capacity;
	left->time_ns = grow(left->time_ns, &capacity, left->count + more, sizeof *left->time_ns);
	capacity = left->capacity;
	left->site = grow(left->site, &capacity, left->count + more, sizeof *left->site);
	left->callers = grow(left->callers, &left->capacity, left->count + more, sizeof *left->callers);
}

static void
take_block(struct sample_pass *pass, struct rank_samples *of, int32_t number, const struct message *message)
{
	const struct rank *rank = &pass->input->ranks[number];
	struct samples *block = &pass->block;
	struct stacks unused;
	struct queue *queue;
	int stacks;

	if (reader_verify(pass->source->in, message) < 0 ||
	    samples_read(block, pass->source->in, message) < 0)
		die_input(pass->source->in);
	if (of->until_ns < block->until_ns)
		of->until_ns = block->until_ns;
	if ((stacks = stacks_read(&unused, pass->source->in, message, block->count)) < 0)
		die_input(pass->source->in);
	if (stacks > 0) {
		unwound_callers(pass->input->unwound, of->unwound, block->callers, block->count);
		of->unwound += block->count;
	}
	place_block(block, rank, number);
	queue = queue_of(of, block->location, block->worker);
	make_room(queue, block->count);
	for (size_t i = 0; i < block->count; i++) {
		const size_t at = queue->left.count++;

		/* Rings are read while others write: one that just missed its turn comes a little late. */
		if (queue->floor_ns < block->time_ns[i])
			queue->floor_ns = block->time_ns[i];
		queue->left.time_ns[at] = queue->floor_ns;
		queue->left.site[at] = map_one(block->site[i], rank->site_map, rank->site_map_size);
		queue->left.callers[at] = map_one(block->callers[i], rank->site_map, rank->site_map_size);
	}
	queue->left.period_ns = block->period_ns;
	queue->left.until_ns = block->until_ns;
	queue->left.lost += block->lost;
}

/*
 * Reads on until all that was taken before the instant has been read; messages that were compressed
 * together, which have one offset, all at once.
 */
static void
read_until(struct sample_pass *pass, struct rank_samples *of, int32_t number, int64_t until_ns)
{
	int64_t enough_ns = INT64_MAX;	/* of one look at all rings every message is needed */
	struct message message;
	bool amidst = false;

	while (!of->ended && (amidst || of->until_ns <= enough_ns)) {
		if (until_ns < of->until_ns && enough_ns == INT64_MAX)
			enough_ns = of->until_ns;
		of->ended = !source_look(pass->source, number, of->offset, &message);
		if (of->ended)
			return;
		of->offset = source_behind(pass->source);
		amidst = of->offset == source_place(pass->source, &message);
		if (is_kind(&message, "sampled"))
			take_block(pass, of, number, &message);
	}
}

/* ---- writing ---- */

/* How the logical clock moved calls moves what lies between them, and in them, along. */
static void
move_along(const struct moves *moves, int64_t *times_ns, size_t count)
{
	int64_t from_ns = moves->from_ns, moved_ns = moves->from_moved_ns;
	bool begun = moves->begun;
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		int64_t end_ns, end_moved_ns;

		/* Enters and leaves in turn; those of a part are those of its call. */
		while (at < 2 * moves->count && (at % 2 == 0 ? moves->enter_ns : moves->leave_ns)[at / 2] <= times_ns[i]) {
			from_ns = (at % 2 == 0 ? moves->enter_ns : moves->leave_ns)[at / 2];
			moved_ns = (at % 2 == 0 ? moves->moved_enter_ns : moves->moved_leave_ns)[at / 2];
			begun = true;
			at++;
		}
		if (at == 2 * moves->count || !begun) {
			times_ns[i] += !begun && at < 2 * moves->count ? moves->moved_enter_ns[0] - moves->enter_ns[0] :
			    moved_ns - from_ns;
			continue;
		}
		end_ns = (at % 2 == 0 ? moves->enter_ns : moves->leave_ns)[at / 2];
		end_moved_ns = (at % 2 == 0 ? moves->moved_enter_ns : moves->moved_leave_ns)[at / 2];
		times_ns[i] = moved_ns + (int64_t)((double)(times_ns[i] - from_ns) *
		    (double)(end_moved_ns - moved_ns) / (double)(end_ns - from_ns));
	}
}

static void
write_queue(struct sample_pass *pass, struct queue *queue, const struct correction *correction,
    int64_t until_ns, const struct moves *moves)
{
	struct samples out = queue->left;
	const int64_t less_ns = pass->input->origin_ns;
	size_t end = queue->begin;

	if (queue->floor_ns < until_ns)
		queue->floor_ns = until_ns;
	while (end < queue->left.count && queue->left.time_ns[end] < until_ns)
		end++;
	out.location = queue->location;
	out.worker = queue->worker;
	out.time_ns += queue->begin;
	out.site += queue->begin;
	out.callers += queue->begin;
	out.count = end - queue->begin;
	if (out.count == 0 && (out.lost == 0 || until_ns < INT64_MAX))
		return;
	correct_times(correction, out.time_ns, out.count);
	for (size_t i = 0; i < out.count; i++)
		out.time_ns[i] -= less_ns;
	if (moves->count > 0)
		move_along(moves, out.time_ns, out.count);
	for (size_t i = 0; i < out.count; i++)
		out.time_ns[i] -= pass->moved_ns;
	out.until_ns = corrected_ns(correction, out.until_ns) - less_ns - pass->moved_ns;
	if (samples_write(pass->out, &out) < 0)
		die_output();
	queue->begin = end;
	queue->left.lost = 0;
}

void
samples_before(struct sample_pass *pass, uint32_t location, int64_t until_ns, const struct moves *moves)
{
	const int32_t number = pass->input->location_rank[location];
	struct rank_samples *of;

	if (!pass->input->sampled)
		return;
	of = &pass->ranks[number];
	read_until(pass, of, number, until_ns);
	for (size_t i = 0; i < of->count; i++)
		if (of->queues[i].location == location)
			write_queue(pass, &of->queues[i], &pass->input->ranks[number].correction, until_ns, moves);
}

void
samples_begin(struct sample_pass *pass, struct writer *out, struct source *source, int64_t moved_ns)
{
	const struct input *input = source->input;

	*pass = (struct sample_pass){ .input = input, .source = source, .out = out, .moved_ns = moved_ns };
	if (!input->sampled)
		return;
	pass->ranks = zalloc((size_t)input->rank_count, sizeof *pass->ranks);
	for (int32_t r = 0; r < input->rank_count; r++) {
		pass->ranks[r].offset = input->ranks[r].present ? input->ranks[r].segments[0].offset : 0;
		pass->ranks[r].until_ns = INT64_MIN;
		pass->ranks[r].unwound = input->ranks[r].unwound;
		pass->ranks[r].ended = input->ranks[r].rows == 0;
	}
}

void
samples_end(struct sample_pass *pass)
{
	if (!pass->input->sampled)
		return;
	for (int32_t r = 0; r < pass->input->rank_count; r++) {
		for (size_t i = 0; i < pass->ranks[r].count; i++)
			samples_free(&pass->ranks[r].queues[i].left);
		free(pass->ranks[r].queues);
	}
	free(pass->ranks);
	samples_free(&pass->block);
}
