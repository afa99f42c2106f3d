/* SPDX-License-Identifier: BSD-3-Clause */
/* One pass over the stream, for the counts of lp-imbalance and the data of the pictures. */
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>

#include "../base/mpi/call_class.h"
#include "../base/tool/process.h"
#include "report.h"

const struct colour colours[COLOURS] = { { "a0", "outside the run" }, { "a1", "computation" },
    { "a2", "MPI, no wait" }, { "a3", "wait for a message" }, { "a4", "wait for a receiver" },
    { "a5", "wait in a collective" }, { "a6", "wait at set-up or end" },
    { "a7", "wait for a window, file or thread" }, { "a8", "computation, blocked" },
    { "a9", "computation, preempted" }, { "way", "critical path" },
    { "way", "critical path (darker: more of it)" } };

enum { MOST_GROUPS = 64, BYTES_EACH_EVENT = 64, BYTES_EACH_PIECE = 160, BYTES_EACH_MESSAGE = 640,
	BYTES_EACH_CELL = 20 };

enum activity
activity_of(enum state state)
{
	static const unsigned char others[STATES] = {
		[LATE_SENDER] = WAIT_MESSAGE, [WRONG_ORDER_SAME] = WAIT_MESSAGE,
		[WRONG_ORDER_DIFFERENT] = WAIT_MESSAGE, [LATE_RECEIVER] = WAIT_RECEIVER,
		[INIT_COMPLETION] = WAIT_SETUP, [WAIT_AT_FINALIZE] = WAIT_SETUP,
		[WAIT_AT_COMM_CREATE] = WAIT_SETUP, [WAIT_AT_FILE_OPEN] = WAIT_RMA,
		[WAIT_AT_FILE] = WAIT_RMA, [WAIT_AT_WINDOW_CREATE] = WAIT_RMA,
		[WAIT_AT_WINDOW_FREE] = WAIT_RMA, [WAIT_AT_FENCE] = WAIT_RMA,
		[LATE_POST] = WAIT_RMA, [EARLY_WAIT] = WAIT_RMA, [LOCK_CONTENTION] = WAIT_RMA,
		[EARLY_FENCE] = WAIT_RMA, [LATE_COMPLETE] = WAIT_RMA,
		[WAIT_FOR_PROGRESS] = WAIT_RMA, [WAIT_FOR_THREAD] = WAIT_RMA,
	};

	return others[state] != OUTSIDE ? (enum activity)others[state] : WAIT_COLLECTIVE;
}

/* ---- messages of the stream --------------------------------------------------------------- */

static void
begin_run(struct page *page)
{
	const struct definitions *known = &page->im.graph.known;
	size_t side = (size_t)known->ranks < MOST_GROUPS ? (size_t)known->ranks : MOST_GROUPS;

	bins_begin(&page->bins, known->location_count, known->run_ns,
	    page->budget / BYTES_EACH_CELL);
	page->matrix = (struct matrix){ .side = side, .ranks = known->ranks,
	    .messages = zalloc(side * side, sizeof(uint64_t)),
	    .bytes = zalloc(side * side, sizeof(uint64_t)) };
}

/* Adds the sends of a block to the matrix. */
static void
take_sends(struct page *page, const struct calls *calls)
{
	const struct definitions *known = &page->im.graph.known;
	const int32_t from = known->location_rank[calls->location];
	const struct matrix *matrix = &page->matrix;
	unsigned call = 0;

	for (size_t i = 0; i < calls->count; i++) {
		enum call_class class;
		size_t pair;
		int32_t to;

		call = calls->call[i] != 0 ? calls->call[i] : call;
		if (calls->bytes_sent[i] == 0 || calls->peer[i] < 0)
			continue;
		class = call_class(call);
		if (class != CLASS_SEND && class != CLASS_SENDRECV && class != CLASS_SEND_START &&
		    class != CLASS_START)
			continue;
		to = world_rank(known, calls->comm[i], from, calls->peer[i]);
		if (to < 0 || to >= known->ranks)
			continue;
		pair = group_of(matrix->ranks, matrix->side, from) * matrix->side +
		    group_of(matrix->ranks, matrix->side, to);
		matrix->messages[pair]++;
		matrix->bytes[pair] += calls->bytes_sent[i];
	}
}

static void
take_gain(struct page *page, struct reader *in, const struct message *message)
{
	struct site_gain gain;

	if (body_int(in, message, "site", 0, UINT32_MAX, &gain.site) < 0 ||
	    body_int(in, message, "percent", 1, 100, &page->percent) < 0 ||
	    body_int(in, message, "gain_ns", INT64_MIN, INT64_MAX, &gain.gain_ns) < 0 ||
	    body_int(in, message, "most_ns", INT64_MIN, INT64_MAX, &gain.most_ns) < 0)
		die_input(in);
	*APPEND(page->gains, page->gain_count, page->gain_capacity) = gain;
}

static void
take_balance(struct page *page, struct reader *in, const struct message *message)
{
	struct balance b;

	if (body_int(in, message, "site", 0, UINT32_MAX, &b.site) < 0 ||
	    body_int(in, message, "rank", 0, page->im.graph.known.ranks - 1, &b.rank) < 0 ||
	    body_int(in, message, "gain_ns", 0, INT64_MAX, &b.gain_ns) < 0 ||
	    body_int(in, message, "most_ns", 0, INT64_MAX, &b.most_ns) < 0 ||
	    body_int(in, message, "compute_ns", 0, INT64_MAX, &b.compute_ns) < 0 ||
	    body_int(in, message, "others_ns", 0, INT64_MAX, &b.others_ns) < 0)
		die_input(in);
	*APPEND(page->balances, page->balance_count, page->balance_capacity) = b;
}

static void
take_segments(struct page *page, struct reader *in, const struct message *message)
{
	struct segments *path = &page->segments;

	path->count = 0;
	segments_read(path, in, message, &page->im.graph.known);
	for (const struct segment *s = path->at; s < path->at + path->count; s++) {
		const bool frames = s->kind != COMPUTE && span_frames(s->call);
		const struct event piece = { s->begin_ns, s->end_ns, s->location, s->site, -1,
		    s->call, frames ? START : s->kind };

		report_add(&page->path, &page->im.graph.known, s);
		if (s->kind == GAP)
			continue;
		bins_add(&page->bins, s->location, ON_PATH, s->begin_ns, s->end_ns);
		if (pool_wants(&page->pieces, s->begin_ns, s->end_ns))
			pool_keep(&page->pieces, &piece);
	}
}

static void
see_message(struct observer *observer, struct imbalance *im, const struct message *message,
    const struct calls *calls)
{
	struct page *page = (struct page *)(void *)observer;

	if (is_kind(message, "run"))
		begin_run(page);
	else if (is_kind(message, "calls"))
		take_sends(page, calls);
	else if (is_kind(message, "segments"))
		take_segments(page, im->graph.in, message);
	else if (is_kind(message, "gain"))
		take_gain(page, im->graph.in, message);
	else if (is_kind(message, "balance"))
		take_balance(page, im->graph.in, message);
	else if (comes_before_calls(message))
		names_take(page, message);
	else if (is_kind(message, "sampled_path"))
		sampled_path_read(&page->functions, im->graph.in, message, &im->graph.known);
}

/* Adds the messages that the call received. */
static void
see_messages(struct page *page, const struct whole_call *call)
{
	const enum call_class class = call->kind->class;
	const struct row *row = &call->rows[0].row;

	if (class != CLASS_RECV && class != CLASS_SENDRECV && class != CLASS_COMPLETE)
		return;
	for (uint32_t i = 0; i < call->count; i++)
		if (call->rows[i].has_other && !call->rows[i].is_send &&
		    pool_wants(&page->messages, call->rows[i].other_ns, row->leave_ns))
			pool_keep(&page->messages, &(struct event){ call->rows[i].other_ns,
			    row->leave_ns, call->location, row->site, (int32_t)call->rows[i].other,
			    row->call, A_CALL });
}

static void
see_off(struct observer *observer, uint32_t location, const struct off_span *part, uint32_t place)
{
	struct page *page = (struct page *)(void *)observer;
	const struct event off = { part->from_ns, part->to_ns, location, place, -1, 0,
	    part->reason == OFF_BLOCKED ? A_BLOCKED : A_PREEMPTED };

	*APPEND(page->off, page->off_count, page->off_capacity) = off;
	if (pool_wants(&page->computations, off.begin_ns, off.end_ns))
		pool_keep(&page->computations, &off);
}

ORDER(by_begin, struct event, BY(begin_ns))

static void
add_computation(struct page *page, uint32_t location, int64_t from_ns, int64_t to_ns)
{
	SORT(page->off, page->off_count, by_begin);
	for (const struct event *off = page->off; off < page->off + page->off_count; off++) {
		bins_add(&page->bins, location, COMPUTING, from_ns, off->begin_ns);
		bins_add(&page->bins, location, off->what == A_BLOCKED ? COMPUTE_BLOCKED :
		    COMPUTE_PREEMPTED, off->begin_ns, off->end_ns);
		from_ns = off->end_ns;
	}
	page->off_count = 0;
	bins_add(&page->bins, location, COMPUTING, from_ns, to_ns);
}

static void
see_call(struct observer *observer, struct imbalance *im, uint32_t location, const struct row *row,
    const struct wait *waits, int count)
{
	struct page *page = (struct page *)(void *)observer;
	const int64_t last_ns = im->last_leave_ns[location];
	const int64_t enter_ns = row->enter_ns, leave_ns = row->leave_ns;
	int64_t at_ns = enter_ns;

	if (pool_wants(&page->events, enter_ns, leave_ns))
		pool_keep(&page->events, &(struct event){ enter_ns, leave_ns, location, row->site,
		    -1, row->call, A_CALL });
	if (last_ns != INT64_MIN && last_ns < enter_ns) {
		add_computation(page, location, last_ns, enter_ns);
		if (pool_wants(&page->computations, last_ns, enter_ns))
			pool_keep(&page->computations, &(struct event){ last_ns, enter_ns, location,
			    row->site, -1, row->call, A_COMPUTATION });
	}
	see_messages(page, im->seen);
	for (const struct wait *w = waits; w < waits + count; w++) {
		bins_add(&page->bins, location, IN_MPI, at_ns, w->from_ns);
		bins_add(&page->bins, location, activity_of(w->state), w->from_ns, w->to_ns);
		at_ns = w->to_ns;
		if (pool_wants(&page->events, w->from_ns, w->to_ns))
			pool_keep(&page->events,
			    &(struct event){ w->from_ns, w->to_ns, location, w->site,
			    w->cause == NOBODY ? -1 : im->graph.known.location_rank[w->cause],
			    (uint16_t)w->call, (uint16_t)w->state });
	}
	bins_add(&page->bins, location, IN_MPI, at_ns, leave_ns);
}

/* A graph in a file, or a folder of shards, has no path yet. */
static bool
needs_path(const char *file)
{
	struct reader *in;
	struct stat status;
	bool needs;

	if (file == NULL || strcmp(file, "-") == 0 || stat(file, &status) != 0 ||
	    !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
		return false;
	if (reader_open(&in, file, READ_STREAM) < 0)
		die_input(in);
	needs = strcmp(reader_content(in), "graph") == 0;
	reader_close(in);
	return needs;
}

ORDER(by_gain, struct site_gain, MOST(gain_ns) BY(site))

void
page_read(struct page *page, const char *file, int percent, size_t budget)
{
	char *name = (char *)(uintptr_t)file, gain[32], path[32];
	const struct definitions *known = &page->im.graph.known;
	pid_t child = 0;
	int fd;

	page->observer = (struct observer){ .message = see_message, .call = see_call,
	    .off = see_off };
	page->file = file;
	page->budget = budget;
	page->events.most = budget / BYTES_EACH_EVENT;
	page->computations.most = page->events.most / 4;
	page->pieces.most = budget / BYTES_EACH_PIECE;
	page->messages.most = budget / BYTES_EACH_MESSAGE;
	page->im.observer = &page->observer;
	page->im.from_ns = INT64_MIN;
	page->im.to_ns = INT64_MAX;
	snprintf(gain, sizeof gain, "--gain=%d", percent);
	if (needs_path(file)) {
		child = start_tool(percent > 0 ?
		    (char *[]){ "lp-gain", gain, "-F", "stream", "--", name, NULL } :
		    (char *[]){ "lp-critpath", "-F", "stream", "--", name, NULL }, &fd);
		snprintf(path, sizeof path, "/dev/fd/%d", fd);
	}
	read_graph(&page->im, child > 0 ? path : file);
	page->path_told = share_told(&page->path.total, false);
	page->path_ranks = report_by_rank(&page->path, known);
	for (int32_t r = 0; r < known->ranks; r++)
		page->path_ranks[r] = share_told(&page->path_ranks[r], false);
	/* Path time other than computation has its own lines, so that all add up to the path. */
	if (page->functions.count > 0) {
		function_times_add(&page->functions, &(struct function_time){ .name = "(MPI)",
		    .path_ns = page->path_told.ns[MPI] });
		function_times_add(&page->functions, &(struct function_time){ .name = "(transfer)",
		    .path_ns = page->path_told.ns[TRANSFER] });
		function_times_fold(&page->functions);
	}
	page->verdict = verdict_of(&page->im, &(struct known_path){ &page->path.places,
	    report_told_ns(&page->path), page->gains, page->gain_count, page->percent,
	    page->balances, page->balance_count });
	SORT(page->gains, page->gain_count, by_gain);
	if (child > 0 && !ended_well(child))
		die("%s failed", percent > 0 ? "lp-gain" : "lp-critpath");
}

/* ---- results ------------------------------------------------------------------------------ */

double
path_share(const struct page *page, int64_t ns)
{
	return (double)ns / (double)report_told_ns(&page->path);
}

const char *
site_label(const struct page *page, size_t site, char text[LABEL])
{
	return index_text(&page->im, BY_SITE, site, text, LABEL);
}
