/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the graph stream, message by message. */
#include <stdlib.h>

#include "core.h"
#include "functions.h"
#include "../stream/samples.h"

static void
begin_run(struct imbalance *im)
{
	enum { MANY_RANKS = 1 << 16, FEW_ROWS = 16 << 20 };
	const uint32_t locations = im->graph.known.location_count;

	refuse_long_sums(&im->graph.known, counted_ns(im, 0, im->graph.known.run_ns));
	/* Many ranks take much memory themselves, so rows get less. */
	window_limit(&im->graph.window, im->window_bytes_set ? im->window_bytes :
	    locations > MANY_RANKS ? FEW_ROWS : SIZE_MAX, 4, 1);
	im->graph.window.partial = im->part != NULL && !im->part->begun;
	order_begin(im);
	im->open_starts = zalloc(locations, sizeof *im->open_starts);
	im->before_ns = zalloc(locations, sizeof *im->before_ns);
	im->ranks = zalloc((size_t)im->graph.known.ranks, sizeof *im->ranks);
	im->spans = zalloc((size_t)im->graph.known.ranks, sizeof *im->spans);
	cell_of(im, BY_RANK, (size_t)im->graph.known.ranks - 1);
	late_begin(im);
	one_sided_begin(im);
	causes_begin(im);
}

static void
take_matching(struct imbalance *im, const struct message *message)
{
	struct reader *in = im->graph.in;

	im->counts.errors = 0;
	if (body_int(in, message, "unmatched_sends", 0, INT64_MAX,
	    &im->counts.unmatched_sends) < 0 || body_int(in, message, "unmatched_receives", 0,
	    INT64_MAX, &im->counts.unmatched_receives) < 0 || body_int(in, message,
	    "unmatched_collectives", 0, INT64_MAX, &im->counts.unmatched_collectives) < 0 ||
	    body_int_if(in, message, "errors", 0, INT64_MAX, &im->counts.errors) < 0)
		die_input(in);
}

static void
take_message(struct imbalance *im, const struct message *message)
{
	enum graph_item item = graph_define(&im->graph, message);
	bool skips = false;

	if (item == GRAPH_OTHER) {
		skips = im->part != NULL && part_skips(im->part, im->graph.in, message);
		item = skips ? GRAPH_OTHER : graph_rows(&im->graph, message);
	}
	switch (item) {
	case GRAPH_RUN: begin_run(im); break;
	case GRAPH_MESSAGES:
	case GRAPH_PROBES: take_messages(im, item == GRAPH_PROBES); break;
	case GRAPH_LOCKS: take_locks(im); break;
	case GRAPH_HOLDS: take_holds(im); break;
	case GRAPH_COLLECTIVES: take_collectives(im); break;
	case GRAPH_OVERDUE: overdue_take(im); break;
	case GRAPH_SETTLED: order_settled(im, message); break;
	case GRAPH_SYNC: (im->part != NULL ? part_sync : order_sync)(im, message); break;
	default:
		if (is_kind(message, "reached"))
			order_reached(im, message);
		else if (!skips && is_samples(message))
			functions_take(im, message);
		else if (!skips && is_kind(message, "matching"))
			take_matching(im, message);
	}
	if (im->observer != NULL)
		im->observer->message(im->observer, im, message, &im->graph.calls);
}

/* Reads all, or the part that is asked for. */
static void
read_messages(struct imbalance *im)
{
	struct progress progress;
	struct message message;
	int got = 1;

	if (reader_refuse_content(im->graph.in, "trace", "lp-graph matches it first") < 0)
		die_input(im->graph.in);
	im->graph.row_bytes = sizeof(struct wait_row);
	open_begin(im);
	progress_begin(&progress);
	while (im->part == NULL || !im->part->ended) {
		if (im->part != NULL)
			part_go(im->part, im->graph.in);
		if ((got = reader_next(im->graph.in, &message)) <= 0)
			break;
		take_message(im, &message);
		progress_input(&progress, im->graph.in);
	}
	if (got < 0)
		die_input(im->graph.in);
	progress_end(&progress);
	if (got > 0)
		return;
	if (im->graph.known.location_count == 0) {
		reader_fail(im->graph.in, 0, "no message of kind run");
		die_input(im->graph.in);
	}
	if (im->part != NULL)
		part_check_end(im->part, im->graph.in);
	order_end(im);
}

static void
end_sums(struct imbalance *im)
{
	if (!im->waits_only)
		causes_end(im);
	late_forget(im);
}

void
read_part(struct imbalance *im, const char *file)
{
	if (reader_open(&im->graph.in, file, READ_STREAM) < 0)
		die_input(im->graph.in);
	read_messages(im);
	end_sums(im);
}

void
read_graph(struct imbalance *im, const char *file)
{
	if (reader_open(&im->graph.in, file, READ_STREAM) < 0)
		die_input(im->graph.in);
	read_opened_graph(im);
}

void
read_opened_graph(struct imbalance *im)
{
	read_messages(im);
	end_sums(im);
	analytic_end(im);
}
