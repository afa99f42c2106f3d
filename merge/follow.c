/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Merges a run that continues, in steps of time. A step writes the calls that returned before its
 * end, location by location, and then a message of kind reached (trace.5). A step ends at least
 * LAG_NS before now, so that stores of other cores are seen, and folded rows are final. It waits
 * for the row of a thread that was stopped before it stored it. So the output does not depend on
 * when files are read: a run that has ended gives the same bytes.
 *
 * Memory: definitions, a number of rows for each location, and 40 bytes for each block that is not
 * yet read.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "follow.h"

enum {
	STEP_NS = 100000000,
	LAG_NS = 300000000,
	NAP_US = 100000,	/* between two looks at the files */
	STEP_LOCATIONS = 1024,	/* each multiple of this number makes steps longer */
	BLOCK_ROWS = 1 << 14,	/* of a written block */
	FIRST_S = 60,		/* to wait for the first trace */
	PATIENCE_S = 10,	/* with a thread that does not store its row */
	/*
	 * With a rank that calls nothing: its last samples, of 0.1 s at most, are read in its next
	 * call. After this time they are written late.
	 */
	SAMPLES_S = 10,
	MARGIN_S = 600,		/* by which the date may have been changed during the run */
	/* Locations for threads that make their first call later: of the run, and of a rank. */
	LATER_THREADS = 1024,
	FEWEST_LATER = 7,
	MOST_LATER = 63,
};

/* ---- output -------------------------------------------------------------------------- */

/* A followed rank has one constant offset. */
int64_t
own_ns(const struct follow *f, int32_t rank, int64_t at_ns)
{
	return at_ns + f->input->origin_ns - corrected_ns(&f->input->ranks[rank].correction, 0);
}

static void
write_slice(struct follow *f, uint32_t location, struct lane *lane, size_t count)
{
	const int32_t rank = f->input->location_rank[location];
	const int64_t to_trace_ns = -own_ns(f, rank, 0);
	struct calls slice = calls_slice(&lane->rows, lane->from, lane->from + count);

	slice.location = location;
	for (size_t i = 0; i < count; i++) {
		slice.enter_ns[i] += to_trace_ns;
		slice.leave_ns[i] += to_trace_ns;
		/* a row of a thread that is not followed */
		if (slice.request_at[i] > f->input->ranks[rank].threads)
			slice.request[i] = slice.request_at[i] = 0;
	}
	output_rows(&f->out, f->input, &slice);
	f->last_ns = larger(f->last_ns, slice.leave_ns[count - 1]);
	lane->from += count;
}

/* The call that the thread is in at that time of its own clock, then its enter; 0: none. */
static uint16_t
open_at(const struct follow *f, const struct lane *lane, int64_t *at_ns)
{
	const struct open_call *open = &lane->open;
	const bool read = lane->from < lane->rows.count;
	const int64_t enter_ns = read ? lane->rows.enter_ns[lane->from] : open->enter_ns;

	if (enter_ns >= *at_ns || (!read && (open->call == 0 || open->call > UINT16_MAX)))
		return 0;
	*at_ns = enter_ns;
	return read ? lane->rows.call[lane->from] : reader_calls(f->input->in)[open->call];
}

/* Writes the rows of a location that had returned by then. */
static void
step_location(struct follow *f, struct tail *tail, uint32_t location, struct lane *lane)
{
	const int32_t rank = f->input->location_rank[location];
	const int64_t until_ns = own_ns(f, rank, f->step_ns);
	const struct moves none = { 0 };
	int64_t last_ns;

	forget_unsure(lane);
	for (;;) {
		size_t end = lane->from, count;

		while (end < lane->rows.count && lane->rows.leave_ns[end] < until_ns)
			end++;
		count = end - lane->from;
		/* The end of a block must not depend on how much was there at this look. */
		if (end == lane->rows.count && count < BLOCK_ROWS &&
		    read_rows(f, tail, lane, until_ns))
			continue;
		if (count == 0)
			break;
		for (count = count < BLOCK_ROWS ? count : BLOCK_ROWS; lane->from + count < end &&
		    lane->rows.call[lane->from + count] == 0; count++)
			;
		last_ns = lane->rows.leave_ns[lane->from + count - 1];
		later_define(f->later, rank, &lane->rows, lane->from, count);
		f->input->ranks[rank].thread[lane - tail->lanes].rows = 1;
		regions_before(f, tail, lane, last_ns);
		read_samples(f, tail, last_ns, until_ns + SAMPLES_S * SECOND_NS);
		samples_before(&f->sampled, location, last_ns, &none);
		write_slice(f, location, lane, count);
	}
	regions_before(f, tail, lane, until_ns);
	/* Behind the first thread: those that have no location. */
	for (size_t l = tail->scan.rank->threads; location == (uint32_t)rank &&
	    l < tail->lane_count; l++)
		regions_before(f, tail, &tail->lanes[l], until_ns);
}

static struct lane *
lane_of(const struct follow *f, uint32_t location, struct tail **tail)
{
	*tail = f->by_rank[f->input->location_rank[location]];
	return *tail == NULL ? NULL : &(*tail)->lanes[thread_number(f->input, location)];
}

/* Writes how far all locations have come. */
static void
write_reached(struct follow *f)
{
	const uint32_t count = f->input->location_count;
	int64_t *since_ns = zalloc(count, sizeof *since_ns);
	uint16_t *calls = zalloc(count, sizeof *calls);
	struct tail *tail;

	for (uint32_t l = 0; l < count; l++) {
		const struct lane *lane = lane_of(f, l, &tail);
		const int32_t rank = f->input->location_rank[l];

		since_ns[l] = own_ns(f, rank, f->step_ns);
		calls[l] = lane == NULL ? 0 : open_at(f, lane, &since_ns[l]);
		since_ns[l] -= own_ns(f, rank, 0);
		later_call(f->later, calls[l]);
	}
	message_begin(&f->out, "reached", 4);
	put_int(&f->out, "at_ns", f->step_ns);
	put_uint(&f->out, "count", count);
	put_column(&f->out, "since", since_ns, count);
	put_column(&f->out, "call", calls, count);
	end_message(&f->out);
	free(since_ns);
	free(calls);
}

/* False: no rows are left. */
static bool
step(struct follow *f, int64_t until_ns)
{
	bool left = false;

	f->step_ns = until_ns;
	for (uint32_t location = 0; location < f->input->location_count; location++) {
		struct tail *tail;
		struct lane *lane = lane_of(f, location, &tail);

		if (lane != NULL) {
			step_location(f, tail, location, lane);
			close_segments(tail);
			left |= lane->from < lane->rows.count || lane->next < rows_seen(lane);
		}
	}
	/* Behind its last row the run goes nowhere: what follows says when it ended. */
	if (left || !f->over)
		write_reached(f);
	return left;
}

/* ---- the run ---- */

/*
 * The clocks of two worlds are compared by what ranks write when they meet. If a world has met one
 * that is not here, this goes on after a while.
 */
static bool
have_met(const struct follow *f)
{
	struct input *input = f->input;

	join_met(input, true);
	for (int32_t w = 1; w < input->world_count; w++)
		if (input->worlds[w].meets < 0 && (!world_has_met(input, &input->worlds[w]) ||
		    now_ns() - f->begun_ns < FIRST_S * SECOND_NS))
			return false;
	for (int32_t r = 0; r < input->rank_count; r++)
		for (size_t i = 0; i < input->ranks[r].comm_count; i++)
			if (input->ranks[r].comms[i].met != NULL &&
			    input->ranks[r].kernel_count == 0)
				return false;
	return true;
}

/* Whether each rank has all the definitions that its rows need first. */
static bool
is_ready(const struct follow *f)
{
	const struct input *input = f->input;

	if (input->rank_count == 0 || f->empty != NULL || f->tail_count < (size_t)input->rank_count)
		return false;
	for (size_t i = 0; i < f->tail_count; i++) {
		const struct rank *rank = f->tails[i].scan.rank;

		if (rank == NULL || f->tails[i].lane_count == 0 ||
		    f->tails[i].lanes[0].end == 0 || f->tails[i].lanes[0].pieces[0].rows == 0 ||
		    (f->tails[i].number != input->worlds[rank->world].first &&
		    rank->clock_peer < 0 && rank->sample_count == 0))
			return false;
	}
	return input->world_count == 1 || have_met(f);
}

static void
wait_for_ranks(struct follow *f)
{
	bool ready = false;

	/* Two looks: the other takes all that came before the last rank's first row. */
	for (tails_look(f); !f->over && (!ready || !is_ready(f)); tails_look(f)) {
		if (f->empty != NULL && now_ns() - f->begun_ns > FIRST_S * SECOND_NS)
			die("%s: holds no raw trace (rank.0, rank.1, ...)", f->empty);
		ready = is_ready(f);
		if (!ready)
			usleep(NAP_US);
	}
	if (f->input->rank_count == 0)
		die("%s: no raw trace gives its rank", f->opt->files[0]);
	tails_refuse(f);
}

/* Readers need all locations at the begin. */
static size_t
later_threads(const struct input *input, const struct rank *rank)
{
	const size_t each = LATER_THREADS / (size_t)input->rank_count;

	return !rank->threaded ? 0 : each < FEWEST_LATER ? FEWEST_LATER :
	    each > MOST_LATER ? MOST_LATER : each;
}

static void
begin(struct follow *f, enum sync sync)
{
	struct input *input = f->input;
	struct message message;

	f->by_rank = zalloc((size_t)input->rank_count, sizeof *f->by_rank);
	for (size_t i = 0; i < f->tail_count; i++) {
		struct tail *tail = &f->tails[i];
		struct rank *rank = tail->scan.rank;

		if (rank == NULL)
			continue;
		f->by_rank[rank - input->ranks] = tail;
		lane_at(tail, later_threads(input, rank));
		rank->threads = (uint32_t)tail->lane_count;
		rank->thread = zalloc(tail->lane_count, sizeof *rank->thread);
		for (size_t l = 0; l < tail->lane_count; l++) {
			const struct lane *lane = &tail->lanes[l];
			int64_t begin_ns;

			if (lane->end == 0 || lane->pieces[0].rows == 0)
				continue;
			read_at(f, tail, lane->pieces[0].place, &message);
			if (calls_begin(input->in, &message, &begin_ns) < 0)
				die_input(input->in);
			if (rank->rows == 0 || begin_ns < rank->begin_ns)
				rank->begin_ns = rank->end_ns = begin_ns;
			rank->rows = 1;
		}
	}
	join_worlds(input, true);
	correct_clocks(input, sync);
	number_locations(input);
}

/* The latest enter of a call that the thread is in, on the trace's clock. */
static int64_t
latest_ns(const struct follow *f)
{
	int64_t latest_ns = f->step_ns;

	for (int32_t r = 0; r < f->input->rank_count; r++) {
		const struct tail *tail = f->by_rank[r];

		for (size_t l = 0; tail != NULL && l < tail->lane_count; l++)
			if (tail->lanes[l].open.call != 0)
				latest_ns = larger(latest_ns, tail->lanes[l].open.enter_ns -
				    own_ns(f, r, 0));
	}
	return latest_ns;
}

/*
 * The current time on the trace's clock: from a rank of this host, or else the latest call of any
 * rank. While neither is known, no time passes. Each step is written, so a wrong clock must not
 * lead far ahead: not beyond the age of the run, nor, if that is unknown, faster than time passes
 * here.
 */
static int64_t
trace_now_ns(const struct follow *f)
{
	const int64_t latest = latest_ns(f), most_ns = f->input->date_s > 0 ?
	    ((int64_t)time(NULL) - f->input->date_s + MARGIN_S) * SECOND_NS :
	    latest + (now_ns() - f->begun_ns);

	for (int32_t r = 0; r < f->input->rank_count; r++)
		if (f->by_rank[r] != NULL && f->input->ranks[r].host != NULL &&
		    strcmp(f->input->ranks[r].host, f->host) == 0)
			return smaller(now_ns() - own_ns(f, r, 0), most_ns);
	return smaller(latest, most_ns);
}

/* There are only so many locations for threads whose first call comes later. */
static void
tell_of_threads(struct follow *f)
{
	for (size_t i = 0; i < f->tail_count && !f->told; i++) {
		const struct tail *tail = &f->tails[i];
		const struct rank *rank = tail->scan.rank;
		size_t l = rank != NULL ? rank->threads : tail->lane_count;

		while (l < tail->lane_count && rows_seen(&tail->lanes[l]) == 0)
			l++;
		if (l >= tail->lane_count)
			continue;
		note("%s: rank %d calls MPI from more than %u threads: the calls of the others are "
		    "left out", rank->file, (int)(rank - f->input->ranks), rank->threads);
		f->told = true;
	}
}

/* Writes facts that are known only after the end of the run. */
static void
write_ended(struct follow *f)
{
	const size_t ranks = (size_t)f->input->rank_count;
	uint8_t *ended = zalloc(ranks, 1);

	for (size_t r = 0; r < ranks; r++)
		ended[r] = f->input->ranks[r].ended;
	write_loads(&f->out, f->input);
	message_begin(&f->out, "ended", 3);
	put_int(&f->out, "run_ns", f->last_ns);
	put_uint(&f->out, "count", ranks);
	put_column(&f->out, "ended", ended, ranks);
	end_message(&f->out);
	free(ended);
}

/*
 * Whether all rows up to then are there. A thread that stays stopped may not hold up the others for
 * ever.
 */
static bool
may_step(struct follow *f, int64_t until_ns)
{
	const int64_t now = now_ns();
	bool all = true;

	for (uint32_t location = 0; location < f->input->location_count && all; location++) {
		struct tail *tail;
		struct lane *lane = lane_of(f, location, &tail);

		all = lane == NULL || is_complete(f, tail, lane,
		    own_ns(f, f->input->location_rank[location], until_ns));
	}
	if (all)
		f->held_ns = 0;
	else if (f->held_ns == 0)
		f->held_ns = now;
	return all || now - f->held_ns > PATIENCE_S * SECOND_NS;
}

/*
 * Whether all ranks' samples from before then are there. The recorder reads its rings in calls:
 * those of a rank that calls nothing come later, at most at the call that ends this.
 */
static bool
have_samples(const struct follow *f, int64_t until_ns, int64_t now)
{
	if (f->opt->no_samples || now - LAG_NS > until_ns + SAMPLES_S * SECOND_NS)
		return true;
	for (int32_t r = 0; r < f->input->rank_count; r++) {
		const struct tail *tail = f->by_rank[r];

		if (tail != NULL && !tail->gone && f->input->ranks[r].asks_samples &&
		    !is_sampled(tail, own_ns(f, r, until_ns), own_ns(f, r, now - LAG_NS)))
			return false;
	}
	return true;
}

/* Goes step by step to the end of the run. */
static void
go_along(struct follow *f)
{
	const int64_t step_ns = STEP_NS * (1 + f->input->location_count / STEP_LOCATIONS);
	bool over = false, left, defined;

	while (!over && !(f->spawned && f->opt->until_spawn)) {
		const int64_t now = trace_now_ns(f);

		tails_look(f);
		over = left = f->over;	/* this look may have brought rows */
		defined = later_look(f->later, over);
		tell_of_threads(f);
		while (over ? left : defined && f->step_ns + step_ns <= now - LAG_NS &&
		    have_samples(f, f->step_ns + step_ns, now) &&
		    may_step(f, f->step_ns + step_ns))
			left = step(f, f->step_ns + step_ns);
		flush_output(&f->out);
		if (!over)
			usleep(NAP_US);
	}
}

bool
follow(struct input *input, const struct options *opt, int fd, int argc, char **argv)
{
	struct follow f = { .input = input, .opt = opt, .nesting = { .input = input } };
	struct rlimit files;

	gethostname(f.host, sizeof f.host - 1);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {	/* each rank's file stays open */
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (reader_open(&input->in, "/dev/null", READ_GROWING) < 0)
		die_input(input->in);
	f.moved_ns = f.begun_ns = now_ns();
	wait_for_ranks(&f);
	begin(&f, opt->sync == SYNC_NONE ? SYNC_NONE : SYNC_OFFSET);
	need_output(writer_open(&f.out, fd, "trace", input->in, argc, argv));
	write_ranks(&f.out, input, 0, 0, true);
	write_worlds(&f.out, input);
	if (opt->sync != SYNC_NONE)
		tell_of_clocks(input, false);
	f.later = later_begin(input, &f.out, !opt->no_names);
	f.source = (struct source){ .input = input, .in = input->in };
	samples_begin(&f.sampled, &f.out, &f.source, 0, &f.nesting, f.later);
	go_along(&f);
	regions_end(&f);
	samples_end(&f.sampled);
	later_end(f.later);
	if (opt->sync != SYNC_NONE)
		tell_of_clocks(input, true);
	write_ended(&f);
	need_output(writer_end_of(&f.out, false));
	return f.spawned && opt->until_spawn;
}
