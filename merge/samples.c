/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts samples, switches and regions of all ranks on the common clock, before the calls that follow
 * them. Reads a rank's trace ahead of its calls, until the rings were read, and a block was begun,
 * later than the last leave to write; keeps samples taken after that leave.
 */
#include <stdlib.h>
#include <string.h>

#include "definitions.h"

enum { MANY = 1 << 16 };	/* events of regions in a message, but for those of a raw block */

/* A thread's samples that are not written yet, own clock. */
struct queue {
	struct samples left;		/* from BEGIN on; location as in the trace */
	size_t begin;
	int64_t floor_ns;		/* written samples are not later */
	int64_t told_ns;		/* all switches before this are written */
	struct open_regions open;
};

struct rank_samples {
	uint64_t offset;		/* where reading continues */
	/* All samples before this have been read, and all regions before that; own clock. */
	int64_t until_ns, regions_until_ns;
	bool ended;
	struct queue *queues;
	size_t count, capacity;
};

static uint32_t
map_site(const struct sample_pass *pass, struct rank *rank, uint32_t number)
{
	return pass->later != NULL ? later_site(pass->later, rank, number) :
	    number < rank->site_map_size ? rank->site_map[number] : 0;
}

uint32_t
place_of_thread(const struct input *input, int32_t number, uint32_t thread, uint32_t *worker)
{
	const struct rank *rank = &input->ranks[number];
	bool known;

	/* It was a worker up to its first call. */
	for (uint32_t t = 1; thread == 0 && *worker > 0 && t < rank->threads; t++)
		if (rank->thread[t].worker == *worker)
			thread = t;
	known = thread == 0 || (thread < rank->threads && rank->thread[thread].rows > 0);
	if (!known && *worker == 0)	/* older recorders gave it no number if it had regions */
		*worker = UINT32_MAX - thread;
	else if (known && thread > 0)
		*worker = 0;
	return location_of(input, number, known ? thread : 0);
}

static struct queue *
queue_of(struct rank_samples *of, const struct samples *block)
{
	struct queue *queue;

	for (size_t i = 0; i < of->count; i++) {
		const struct samples *left = &of->queues[i].left;

		if (left->location == block->location && left->worker == block->worker &&
		    left->switches == block->switches && left->regions == block->regions)
			return &of->queues[i];
	}
	queue = APPEND(of->queues, of->count, of->capacity);
	*queue = (struct queue){ .floor_ns = INT64_MIN, .told_ns = INT64_MIN,
	    .left = { .location = block->location, .worker = block->worker,
	    .switches = block->switches, .regions = block->regions, .clock = block->clock,
	    .from_ns = block->regions ? INT64_MIN : block->from_ns } };
	return queue;
}

/* Appends to the rest, which moves to the front. */
static void
append_block(struct queue *queue, const struct samples *block)
{
	struct samples *left = &queue->left;
	size_t width;

	left->count -= queue->begin;
	for (int c = 0; c < SAMPLE_COLUMNS; c++) {
		char *values = samples_column(left, c, &width);

		if (values != NULL)
			memmove(values, values + queue->begin * width, left->count * width);
	}
	queue->begin = 0;
	need_memory(samples_reserve(left, left->count + block->count));
	for (int c = 0; c < SAMPLE_COLUMNS; c++) {
		char *values = samples_column(left, c, &width);

		if (values != NULL && block->count > 0)
			memcpy(values + left->count * width, samples_column(block, c, &width),
			    block->count * width);
	}
	left->count += block->count;
	left->period_ns = block->period_ns;
	left->until_ns = block->until_ns;
	left->lost += block->lost;
	left->left += block->left;
}

/* Rings are read while others write: a sample that just missed its turn comes a little late. */
static int64_t
not_before(struct queue *queue, int64_t ns)
{
	return queue->floor_ns = larger(queue->floor_ns, ns);
}

/* The until_ns of a full message, or of a thread that has ended, may be before that. */
int
look_of(struct reader *in, const struct message *message, int64_t *look_ns)
{
	return body_int(in, message, body_get(message, "look_ns") != NULL ? "look_ns" : "until_ns",
	    -LATEST_NS, LATEST_NS, look_ns);
}

void
samples_take(struct sample_pass *pass, int32_t number, const struct message *message)
{
	struct rank_samples *of = &pass->ranks[number];
	struct rank *rank = &pass->input->ranks[number];
	struct samples *block = &pass->block;
	struct queue *queue;
	int64_t look_ns = INT64_MIN;

	if (reader_verify(pass->source->in, message) < 0 ||
	    samples_read(block, pass->source->in, message) < 0 ||
	    (!block->regions && look_of(pass->source->in, message, &look_ns) < 0))
		die_input(pass->source->in);
	of->until_ns = larger(of->until_ns, look_ns);
	block->location = place_of_thread(pass->input, number, block->location, &block->worker);
	queue = queue_of(of, block);
	for (size_t i = 0; i < block->count; i++) {
		block->time_ns[i] = not_before(queue, block->time_ns[i]);
		if (block->regions)
			continue;
		if (block->switches) {
			block->end_ns[i] = not_before(queue, block->end_ns[i]);
			block->on_core_ns[i] = smaller(block->on_core_ns[i],
			    block->end_ns[i] - block->time_ns[i]);
		}
		block->site[i] = map_site(pass, rank, block->site[i]);
		block->callers[i] = map_site(pass, rank, block->callers[i]);
	}
	if (block->regions) {
		of->regions_until_ns = larger(of->regions_until_ns, block->from_ns);
		regions_nest(pass->nesting, &queue->open, number, block);
		block = &pass->nesting->events;
	}
	append_block(queue, block);
}

/* No block behind a block of calls has regions from before its first call. */
static void
take_begin(struct sample_pass *pass, struct rank_samples *of, const struct message *message)
{
	int64_t begin_ns;
	uint64_t rows;

	if (calls_count(pass->source->in, message, &rows) < 0 ||
	    (rows > 0 && calls_begin(pass->source->in, message, &begin_ns) < 0))
		die_input(pass->source->in);
	if (rows > 0)
		of->regions_until_ns = larger(of->regions_until_ns, begin_ns);
}

/* SAMPLES_NS: INT64_MAX if the rings were not read late enough so far. */
static bool
is_read(const struct input *input, const struct rank_samples *of, int64_t samples_ns,
    int64_t regions_ns)
{
	return of->ended || ((!input->sampled || of->until_ns > samples_ns) &&
	    (!input->regions || of->regions_until_ns > regions_ns));
}

/* ---- writing ---- */

/* Moves times between calls, and in them, as the logical clock moved the calls. */
static void
move_along(const struct moves *moves, int64_t *times_ns, size_t count)
{
	struct moved from = moves->last;
	const struct moved *to = moves->of, *end = to + moves->count;
	bool begun = moves->begun;

	for (size_t i = 0; i < count; i++) {
		for (; to < end && to->at_ns <= times_ns[i]; to++) {
			from = *to;
			begun = true;
		}
		if (to == end)
			times_ns[i] += from.to_ns - from.at_ns;
		else if (!begun)
			times_ns[i] += to->to_ns - to->at_ns;
		else
			times_ns[i] = from.to_ns + (int64_t)((double)(times_ns[i] - from.at_ns) *
			    (double)(to->to_ns - from.to_ns) / (double)(to->at_ns - from.at_ns));
	}
}

/* Converts from the rank's own clock to the trace's. */
static void
put_on_clock(const struct sample_pass *pass, const struct correction *correction,
    const struct moves *moves, int64_t *times_ns, size_t count)
{
	correct_times(correction, pass->input->origin_ns, times_ns, count);
	if (moves->count > 0)
		move_along(moves, times_ns, count);
	for (size_t i = 0; i < count; i++)
		times_ns[i] -= pass->moved_ns;
}

/* Cuts an interval that goes beyond UNTIL in two: the rest goes out with later calls. */
static size_t
cut_interval(struct samples *left, size_t begin, size_t end, int64_t until_ns)
{
	const size_t last = end - 1;
	size_t width;

	if (!left->switches || end == begin || left->end_ns[last] <= until_ns || left->clock)
		return end;
	need_memory(samples_reserve(left, left->count + 1));
	for (int c = 0; c < SAMPLE_COLUMNS; c++) {
		char *values = samples_column(left, c, &width);

		if (values != NULL)
			memmove(values + end * width, values + last * width,
			    (left->count - last) * width);
	}
	left->count++;
	left->end_ns[last] = left->time_ns[end] = until_ns;
	return end;
}

/*
 * Writes samples from before UNTIL. A block without switches shows that the thread stayed on its
 * core.
 */
static void
write_queue(struct sample_pass *pass, struct queue *queue, const struct correction *correction,
    int64_t until_ns, const struct moves *moves)
{
	const int64_t less_ns = pass->input->origin_ns + pass->moved_ns;
	size_t end = queue->begin;
	struct samples out;

	while (end < queue->left.count && queue->left.time_ns[end] < until_ns)
		end++;
	end = cut_interval(&queue->left, queue->begin, end, until_ns);
	out = queue->left;
	samples_skip(&out, queue->begin);
	out.count = end - queue->begin;
	if (out.switches && until_ns < out.until_ns)
		out.until_ns = until_ns;
	if (out.count == 0 && (out.lost == 0 || until_ns < INT64_MAX) &&
	    (!out.switches || out.until_ns <= queue->told_ns))
		return;
	queue->told_ns = out.until_ns;
	put_on_clock(pass, correction, moves, out.time_ns, out.count);
	if (out.switches) {
		put_on_clock(pass, correction, moves, out.end_ns, out.count);
		out.from_ns = corrected_ns(correction, out.from_ns) - less_ns;
		put_on_clock(pass, correction, moves, &out.until_ns, 1);
	} else
		out.until_ns = corrected_ns(correction, out.until_ns) - less_ns;
	need_output(samples_write(pass->out, &out));
	queue->begin = end;
	queue->left.lost = queue->left.left = 0;
}

/*
 * Reads until all samples and regions from before the instant are read. Messages compressed
 * together share an offset and are read together.
 */
static void
read_until(struct sample_pass *pass, struct rank_samples *of, uint32_t location, int64_t until_ns,
    const struct moves *moves)
{
	const int32_t number = pass->input->location_rank[location];
	int64_t enough_ns = INT64_MAX;	/* needs every message of one look at all rings */
	struct message message;
	bool amidst = false;

	while (amidst || !is_read(pass->input, of, enough_ns, until_ns)) {
		if (until_ns < of->until_ns && enough_ns == INT64_MAX)
			enough_ns = of->until_ns;
		of->ended = !source_look(pass->source, number, of->offset, &message);
		if (of->ended)
			return;
		of->offset = source_behind(pass->source);
		amidst = of->offset == source_place(pass->source, &message);
		if (comes_before_calls(&message))
			samples_take(pass, number, &message);
		else if (pass->input->regions && is_kind(&message, "calls"))
			take_begin(pass, of, &message);
		/* Of regions there may be any number between two calls. */
		for (size_t i = 0; i < of->count; i++) {
			struct queue *queue = &of->queues[i];

			if (queue->left.regions && queue->left.location == location &&
			    queue->left.count - queue->begin >= MANY)
				write_queue(pass, queue, &pass->input->ranks[number].correction,
				    until_ns, moves);
		}
	}
}

void
samples_before(struct sample_pass *pass, uint32_t location, int64_t until_ns,
    const struct moves *moves)
{
	const int32_t number = pass->input->location_rank[location];
	const struct rank *rank = &pass->input->ranks[number];
	struct rank_samples *of;

	if (pass->ranks == NULL)
		return;
	of = &pass->ranks[number];
	read_until(pass, of, location, until_ns, moves);
	for (size_t i = 0; i < of->count; i++) {
		struct queue *queue = &of->queues[i];

		if (queue->left.location != location)
			continue;
		/* Regions that are open at the location's last call end there. */
		if (queue->left.regions && until_ns == INT64_MAX) {
			regions_close(pass->nesting, &queue->open, number, not_before(queue,
			    end_of_thread(rank, thread_of(pass->input, location))));
			append_block(queue, &pass->nesting->events);
		}
		write_queue(pass, queue, &rank->correction, until_ns, moves);
		not_before(queue, until_ns);
	}
}

void
samples_begin(struct sample_pass *pass, struct writer *out, struct source *source, int64_t moved_ns,
    struct nesting *nesting, struct later *later)
{
	const struct input *input = source->input;

	*pass = (struct sample_pass){ .input = input, .source = source, .out = out,
	    .moved_ns = moved_ns, .nesting = nesting, .later = later };
	if (later == NULL && !input->sampled && !input->regions)
		return;
	pass->ranks = zalloc((size_t)input->rank_count, sizeof *pass->ranks);
	for (int32_t r = 0; r < input->rank_count; r++)
		pass->ranks[r] = (struct rank_samples){ .until_ns = INT64_MIN,
		    .regions_until_ns = INT64_MIN,
		    .offset = input->ranks[r].present ? input->ranks[r].segments[0].offset : 0,
		    .ended = later != NULL || input->ranks[r].rows == 0 };
}

void
samples_end(struct sample_pass *pass)
{
	if (pass->ranks == NULL)
		return;
	for (int32_t r = 0; r < pass->input->rank_count; r++) {
		for (size_t i = 0; i < pass->ranks[r].count; i++) {
			samples_free(&pass->ranks[r].queues[i].left);
			free(pass->ranks[r].queues[i].open.at);
		}
		free(pass->ranks[r].queues);
	}
	free(pass->ranks);
	samples_free(&pass->block);
}
