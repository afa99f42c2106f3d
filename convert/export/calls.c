/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls one by one (csv), their waits as lp-imbalance finds them (waits), or sums by call site for
 * Extra-P.
 *
 * memory of waits: that of lp-imbalance without causes
 */
#include <stdlib.h>
#include <string.h>

#include "../../base/tool/csv.h"
#include "../../base/tool/hash_table.h"
#include "../../base/tool/json.h"
#include "../../base/waits/waits.h"
#include "export.h"

/* ---- csv and waits ---- */

struct lines {
	struct observer observer;	/* must be first: its caller knows only this */
	const struct export *export;
	struct csv csv;
	bool any;
};

static void
put_rows(struct observer *observer, struct imbalance *im, const struct message *message,
    const struct calls *c)
{
	struct lines *t = (struct lines *)(void *)observer;
	const struct definitions *known = &im->graph.known;
	uint16_t call = 0;

	for (size_t i = 0; is_kind(message, "calls") && i < c->count; i++) {
		const int32_t rank = known->location_rank[c->location];

		call = c->call[i] != 0 ? c->call[i] : call;
		if (!is_wanted(t->export, rank, c->enter_ns[i], c->leave_ns[i]))
			continue;
		t->any = true;
		csv_int(&t->csv, rank);
		csv_uint(&t->csv, known->location_thread[c->location]);
		csv_uint(&t->csv, c->first + i);
		csv_uint(&t->csv, c->call[i] == 0);
		csv_text(&t->csv, call_name(call));
		csv_int(&t->csv, c->enter_ns[i]);
		csv_int(&t->csv, c->leave_ns[i]);
		csv_uint(&t->csv, c->comm[i]);
		csv_int(&t->csv, c->peer[i]);
		csv_int(&t->csv, c->tag[i]);
		csv_uint(&t->csv, c->bytes_sent[i]);
		csv_uint(&t->csv, c->bytes_received[i]);
		csv_text(&t->csv, site_text(known, c->site[i]));
		csv_end_row(&t->csv);
	}
}

static void
see_no_message(struct observer *observer, struct imbalance *im, const struct message *message,
    const struct calls *calls)
{
	(void)observer, (void)im, (void)message, (void)calls;
}

static void
put_waits(struct observer *observer, struct imbalance *im, uint32_t location, const struct row *row,
    const struct wait *waits, int count)
{
	struct lines *t = (struct lines *)(void *)observer;
	const struct definitions *known = &im->graph.known;
	const int32_t rank = known->location_rank[location];

	for (const struct wait *w = waits; w < waits + count; w++) {
		if (!is_wanted(t->export, rank, w->from_ns, w->to_ns))
			continue;
		t->any = true;
		csv_int(&t->csv, rank);
		csv_uint(&t->csv, known->location_thread[location]);
		csv_text(&t->csv, call_name(row->call));
		csv_text(&t->csv, state_names[w->state]);
		csv_int(&t->csv, w->from_ns);
		csv_int(&t->csv, w->to_ns);
		csv_int(&t->csv, w->cause != NOBODY ? known->location_rank[w->cause] : -1);
		csv_uint(&t->csv, row->comm);
		csv_text(&t->csv, site_text(known, row->site));
		csv_end_row(&t->csv);
	}
}

static void
export_lines(const struct export *export, struct observer observer, const char *head)
{
	static struct text text;
	static struct imbalance im;
	struct lines t = { .observer = observer, .export = export };
	struct reader *in = open_stream(export->files[0]);

	if (observer.call != NULL &&
	    reader_refuse_content(in, "trace", "lp-graph matches it first") < 0)
		die_input(in);
	text_begin(&text, export->out.file, export->out.name);
	csv_begin(&t.csv, &text, head);
	observe(&im, &t.observer, in);
	if (!t.any && !is_all_wanted(export))
		die("%s has the ranks and times asked for",
		    observer.call != NULL ? "no wait" : "nothing");
	text_flush(&text);
}

void
export_csv(const struct export *export)
{
	export_lines(export, (struct observer){ .message = put_rows },
	    "rank,thread,row,part,call,enter_ns,leave_ns,communicator,peer,tag,bytes_sent,"
	    "bytes_received,site");
}

void
export_waits(const struct export *export)
{
	export_lines(export, (struct observer){ .message = see_no_message, .call = put_waits },
	    "rank,thread,call,state,from_ns,to_ns,waits_for,communicator,site");
}

/* ---- Extra-P ---- */

struct sum {
	uint32_t site, call;
	bool used;
	uint64_t calls, ns, sent, received, wait_ns;
};
HASH_TABLE_OF(sums, struct sum, site, call, used, false)

struct watch {
	struct observer observer;	/* must be first */
	struct sums *sums;
};

static void
see_message(struct observer *observer, struct imbalance *im, const struct message *message,
    const struct calls *c)
{
	struct sum key = { .used = true }, *sum;

	(void)im;
	for (size_t i = 0; is_kind(message, "calls") && i < c->count; i++) {
		key.call = c->call[i] != 0 ? c->call[i] : key.call;
		key.site = c->site[i];
		sum = sums_add(&((struct watch *)(void *)observer)->sums, &key);
		if (c->call[i] != 0) {
			sum->calls += 1 + (uint64_t)c->folded[i];
			sum->ns += (uint64_t)(c->leave_ns[i] - c->enter_ns[i]);
		}
		sum->sent += c->bytes_sent[i];
		sum->received += c->bytes_received[i];
	}
}

static void
see_call(struct observer *observer, struct imbalance *im, uint32_t location, const struct row *row,
    const struct wait *waits, int count)
{
	const struct sum key = { .used = true, .site = row->site, .call = row->call };

	(void)im, (void)location;
	for (int i = 0; i < count; i++)
		sums_add(&((struct watch *)(void *)observer)->sums, &key)->wait_ns +=
		    (uint64_t)(waits[i].to_ns - waits[i].from_ns);
}

ORDER(by_place, struct sum, BY(site) COMPARED(strcmp(call_name(a->call), call_name(b->call)), 0))

/* A line for Extra-P: a metric of a place, mean over the ranks. */
static void
put_metric(struct json *json, const struct definitions *known, const struct sum *sum,
    const char *metric, double value)
{
	enum { FRAMES_BYTES = 4016, CALL_BYTES = 80 };
	uint32_t frames[PLACES];
	const size_t depth = site_frames(known, sum->site, frames);
	char path[FRAMES_BYTES + CALL_BYTES] = "", shown[256], *end;

	for (size_t i = 0, used = 0; i < depth && used < FRAMES_BYTES; i++) {
		visible_copy(shown, sizeof shown, site_text(known, frames[i]));
		for (char *c = shown; (c = strchr(c, ';')) != NULL; )
			*c = ':';	/* as in folded stacks */
		used += (size_t)snprintf(path + used, FRAMES_BYTES - used, "%s%s",
		    i > 0 ? "->" : "", shown);
	}
	end = path + strlen(path);
	snprintf(end, CALL_BYTES, "%s%.64s", end > path ? "->" : "", call_name(sum->call));
	json_begin_object(json, NULL);
	json_begin_object(json, "params");
	json_int(json, "p", known->ranks);
	json_end_object(json);
	json_text(json, "callpath", path);
	json_text(json, "metric", metric);
	json_begin_array(json, "value");
	json_significant(json, NULL, value / known->ranks, 12);
	json_end_array(json);
	json_end_object(json);
	json_end_line(json);
}

static void
put_run(struct json *json, const char *file)
{
	static struct imbalance im;
	struct watch watch = { .observer = { .message = see_message, .call = see_call } };
	const struct definitions *known = &im.graph.known;
	struct sum *all;
	size_t count;
	bool waits;

	waits = observe(&im, &watch.observer, open_stream(file));
	count = sums_count(watch.sums);
	all = sums_sorted(watch.sums, by_place);
	for (size_t i = 0; i < count; i++) {
		put_metric(json, known, &all[i], "time", 1e-9 * (double)all[i].ns);
		if (waits)
			put_metric(json, known, &all[i], "waits", 1e-9 * (double)all[i].wait_ns);
		put_metric(json, known, &all[i], "calls", (double)all[i].calls);
		put_metric(json, known, &all[i], "bytes", (double)(all[i].sent + all[i].received));
		put_metric(json, known, &all[i], "bytes_sent", (double)all[i].sent);
		put_metric(json, known, &all[i], "bytes_received", (double)all[i].received);
	}
	free(all);
	free(watch.sums);
}

void
export_extrap(const struct export *export)
{
	static struct text text;
	struct json json;

	text_begin(&text, export->out.file, export->out.name);
	json_begin(&json, &text);
	if (export->files[0] == NULL)
		put_run(&json, NULL);
	for (char **file = export->files; *file != NULL; file++)
		put_run(&json, *file);
	text_flush(&text);
}
