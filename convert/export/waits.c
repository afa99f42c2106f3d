/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A line per wait, as lp-imbalance finds them: who waited where, why, and for whom.
 *
 * memory that of lp-imbalance without causes
 */
#include <string.h>

#include "../../base/tool/csv.h"
#include "../../base/waits/waits.h"
#include "export.h"

struct watch {
	struct observer observer;	/* must be first: lp-imbalance's engine knows only this */
	const struct export *export;
	struct csv csv;
	bool any;
};

static void
see_message(struct observer *observer, struct imbalance *im, const struct message *message,
    const struct calls *calls)
{
	(void)observer, (void)im, (void)message, (void)calls;
}

static void
see_call(struct observer *observer, struct imbalance *im, uint32_t location, const struct row *row,
    const struct wait *waits, int count)
{
	struct watch *watch = (struct watch *)(void *)observer;
	const int32_t rank = im->graph.known.location_rank[location];

	for (const struct wait *w = waits; w < waits + count; w++) {
		if (!is_wanted(watch->export, rank, w->from_ns, w->to_ns))
			continue;
		watch->any = true;
		csv_int(&watch->csv, rank);
		csv_uint(&watch->csv, im->graph.known.location_thread[location]);
		csv_text(&watch->csv, call_name(row->call));
		csv_text(&watch->csv, state_names[w->state]);
		csv_int(&watch->csv, w->from_ns);
		csv_int(&watch->csv, w->to_ns);
		csv_int(&watch->csv,
		    w->cause != NOBODY ? im->graph.known.location_rank[w->cause] : -1);
		csv_uint(&watch->csv, row->comm);
		csv_text(&watch->csv, site_text(&im->graph.known, row->site));
		csv_end_row(&watch->csv);
	}
}

void
export_waits(const struct export *export)
{
	static struct imbalance im = { .from_ns = INT64_MIN, .to_ns = INT64_MAX,
	    .waits_only = true };
	static struct text text;
	struct watch watch = { .observer = { .message = see_message, .call = see_call },
	    .export = export };

	text_begin(&text, export->out.file, export->out.name);
	csv_begin(&watch.csv, &text,
	    "rank,thread,call,state,from_ns,to_ns,waits_for,communicator,site");
	im.observer = &watch.observer;
	read_graph(&im, export->files[0]);
	if (!watch.any && !is_all_wanted(export))
		die("no wait has the ranks and times asked for");
	text_flush(&text);
}
