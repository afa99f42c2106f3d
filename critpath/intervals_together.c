/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intervals on several processes (Korkhov et al. 2023). Each process reads the calls of its
 * locations. A shuffle gives each process the intervals of a period of time, which it merges,
 * groups and connects. Periods begin and end at synchronisation points, which no interval spans.
 * Work goes in rounds, so that memory does not grow with the run. All processes see the same
 * synchronisation points and so the same rounds.
 */
#include "critpath.h"

enum { ROUND_ROWS = 1 << 17 };	/* for each member */

struct rounds {
	const struct team *team;
	struct run *run;		/* the window has own locations only */
	struct report *report;		/* gets the segments; NULL: the path does */
	size_t *bounds;			/* room for merging */
	int64_t begin_ns;		/* of the round */
	uint64_t rows_before;		/* the round */
	/* By stretch of the round: */
	struct ending *endings;		/* from own locations only, with own intervals */
	uint64_t *rows_until;		/* end of the stretch, over all locations */
	size_t stretches, capacity, row_capacity;
	struct intervals intervals;	/* of own locations, stretch after stretch */
};

/*
 * Turns the calls of own locations in the stretch into intervals; it ends after ROWS rows of the
 * run.
 */
static void
end_stretch(struct rounds *r, bool in_sync, uint64_t rows)
{
	struct run *run = r->run;
	struct stretch stretch = run_stretch(run, (struct event){ .leave = !in_sync });
	struct ending ending = { .end_ns = INT64_MIN };
	struct intervals merged = { 0 };
	uint32_t arrays = 0;

	/* the point that ends it has been counted */
	stretch.from_sync = run->stretch > in_sync;
	for (uint32_t l = 0; l < run->graph.known.location_count; l++) {
		const struct row *row;
		struct row last;
		int64_t end_ns;

		if (!run_owns(r->run, l) || run->end_seq[l] == run->first_seq[l])
			continue;
		row = window_row(&run->graph.window, l, run->end_seq[l] - 1);
		if (row == NULL || run->end_seq[l] < run->first_seq[l])
			die("%s: a synchronisation point names rows that are not there",
			    reader_file(run->graph.in));
		last = *row;
		r->bounds[arrays++] = merged.count;
		add_intervals(&merged, &stretch, l);
		end_ns = in_sync ? last.enter_ns : last.leave_ns;
		if (end_ns > ending.end_ns)
			ending = (struct ending){ end_ns, last.enter_ns, 0, l,
			    last.site, last.call };
	}
	r->bounds[arrays] = r->bounds[arrays + 1] = merged.count;
	merge_intervals(&merged, r->bounds, arrays);
	for (size_t i = 0; i < merged.count; i++)
		add_interval(&r->intervals, merged.at[i]);
	ending.intervals = merged.count;
	free(merged.at);
	GROW(r->endings, r->capacity, r->stretches + 1);
	GROW(r->rows_until, r->row_capacity, r->stretches + 1);
	r->endings[r->stretches] = ending;
	r->rows_until[r->stretches++] = rows;
}

/* The member that solves a stretch of the round: all have periods of about equally many rows. */
static int
owner(const struct rounds *r, size_t stretch)
{
	uint64_t before = (stretch > 0 ? r->rows_until[stretch - 1] : r->rows_before) -
	    r->rows_before;
	uint64_t all = r->rows_until[r->stretches - 1] - r->rows_before;

	return all == 0 ? 0 : (int)((double)before / (double)all * (double)r->team->size);
}

/* Endings and intervals for own stretches, by sender, then stretch. */
struct received {
	struct ending *endings;
	struct interval *intervals;
	size_t stretches, interval_count;
};

static struct received
shuffle(const struct rounds *r)
{
	size_t *stretches = zalloc((size_t)r->team->size, sizeof *stretches), all;
	size_t *intervals = zalloc((size_t)r->team->size, sizeof *intervals);
	struct received got = { 0 };

	for (size_t s = 0; s < r->stretches; s++) {
		stretches[owner(r, s)]++;
		intervals[owner(r, s)] += r->endings[s].intervals;
	}
	got.endings = team_exchange(r->team, r->endings, stretches, sizeof *got.endings, &all);
	got.intervals = team_exchange(r->team, r->intervals.at, intervals, sizeof *got.intervals,
	    &got.interval_count);
	got.stretches = stretches[r->team->rank];
	free(stretches);
	free(intervals);
	return got;
}

/* Own stretch number S; its intervals begin at NEXT[m] in those of sender m. */
static void
solve_stretch(const struct rounds *r, const struct received *got, size_t s, size_t *next,
    int64_t begin_ns, struct path *path)
{
	int members = r->team->size;
	size_t *bounds = zalloc((size_t)members + 2, sizeof *bounds), before = path->segments.count;
	struct ending last = { .end_ns = INT64_MIN };
	struct intervals all = { 0 };

	for (int m = 0; m < members; m++) {
		const struct ending *ending = &got->endings[(size_t)m * got->stretches + s];

		bounds[m] = all.count;
		for (uint64_t i = 0; i < ending->intervals; i++)
			add_interval(&all, got->intervals[next[m]++]);
		if (ending->end_ns > last.end_ns ||
		    (ending->end_ns == last.end_ns && ending->location < last.location))
			last = *ending;
	}
	bounds[members] = bounds[members + 1] = all.count;
	merge_intervals(&all, bounds, (size_t)members);
	if (last.end_ns != INT64_MIN)
		connect_groups(&all, begin_ns, &last, &path->segments);
	path_end_stretch(path, before);
	free(all.at);
	free(bounds);
}

/* Shuffles, solves and gathers; the next round begins where this one ends. */
static void
end_round(struct rounds *r, struct path *path)
{
	int64_t *ends = zalloc(r->stretches + 1, sizeof *ends);
	size_t *next = zalloc((size_t)r->team->size, sizeof *next), own = 0;
	struct path part = { 0 };
	struct received got;

	for (size_t s = 0; s < r->stretches; s++)
		ends[s + 1] = r->endings[s].end_ns;
	ends[0] = r->begin_ns;
	team_max(r->team, ends, r->stretches + 1);
	got = shuffle(r);
	for (int m = 0; m + 1 < r->team->size; m++) {
		next[m + 1] = next[m];
		for (size_t s = 0; s < got.stretches; s++)
			next[m + 1] += got.endings[(size_t)m * got.stretches + s].intervals;
	}
	for (size_t s = 0; s < r->stretches; s++)
		if (owner(r, s) == r->team->rank)
			solve_stretch(r, &got, own++, next, ends[s], &part);
	path_count_functions(&part, 0, r->run);
	if (r->report != NULL) {
		struct report report = { .whole = r->report->whole };

		path_report(&part, &r->run->graph.known, &report);
		report_gather(&report, r->team);
		report_append(r->report, &report);
		report_free(&report);
	}
	path_gather(&part, r->team);
	path_append(path, &part);
	r->begin_ns = ends[r->stretches];
	for (uint32_t l = 0;
	    r->run->functions != NULL && l < r->run->graph.known.location_count; l++)
		functions_forget(r->run->functions, l, r->begin_ns, run_owns(r->run, l),
		    run_owns(r->run, l));
	r->rows_before = r->rows_until[r->stretches - 1];
	r->stretches = r->intervals.count = 0;
	free(ends);
	free(next);
	free(got.endings);
	free(got.intervals);
}

static void
take_message(struct rounds *r, const struct message *message)
{
	struct run *run = r->run;
	struct reader *in = run->graph.in;
	const bool sync = is_kind(message, "sync"), calls = is_kind(message, "calls");
	bool own = reader_messages(in) % (uint64_t)r->team->size == (uint64_t)r->team->rank;
	int64_t location;
	uint64_t rows = 0;

	if (is_samples(message)) {	/* samples of any location may fall into an own period */
		run_take_samples(run, message, true);
		return;
	}
	if (calls) {
		if (body_int(in, message, "location", 0, run->graph.known.location_count - 1,
		    &location) < 0)
			die_input(in);
		own = run_owns(run, (uint32_t)location);
	}
	/* Edges are not needed, but must be undamaged: each member checks its share. */
	if (own && reader_verify(in, message) < 0)
		die_input(in);
	switch (sync || calls ? graph_rows(&run->graph, message) : GRAPH_OTHER) {
	case GRAPH_CALLS:
		if (run->functions != NULL)
			functions_see_calls(run->functions, &run->graph.calls);
		break;
	case GRAPH_SYNC:
		for (uint32_t l = 0; l < run->graph.known.location_count; l++) {
			rows += run->graph.seqs[l];
			run->end_seq[l] = run->graph.seqs[l] + 1;
		}
		end_stretch(r, true, rows);
		for (uint32_t l = 0; l < run->graph.known.location_count; l++) {
			run->first_seq[l] = run->end_seq[l] - 1;
			window_drop(&run->graph.window, l, run->first_seq[l]);
		}
		break;
	default:
		break;
	}
}

void
path_find_intervals(struct path *path, struct run *run, const struct team *team,
    struct report *report)
{
	struct rounds r = { .team = team, .run = run, .report = report };
	struct message message;

	while (run_next(run, &message)) {
		run_take(run, &message, NULL);	/* definitions only */
		if (is_kind(&message, "run"))
			r.bounds = zalloc((size_t)run->graph.known.location_count + 2,
			    sizeof *r.bounds);
		else
			take_message(&r, &message);
		if (is_kind(&message, "sync") && r.rows_until[r.stretches - 1] - r.rows_before >=
		    (uint64_t)ROUND_ROWS * (uint64_t)team->size)
			end_round(&r, path);
	}
	for (uint32_t l = 0; l < run->graph.known.location_count; l++)
		run->end_seq[l] = window_end(&run->graph.window, l);
	if (run->graph.known.ranks > 0) {
		end_stretch(&r, false, reader_rows(run->graph.in));
		end_round(&r, path);
		run_count_rest(run);
	}
}
