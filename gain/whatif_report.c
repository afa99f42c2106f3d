/* SPDX-License-Identifier: BSD-3-Clause */
/* What lies beyond the path, for people and for scripts. */
#include <stdlib.h>

#include "../base/run/span.h"
#include "../base/tool/table.h"
#include "gain.h"

/* A site and what its table is sorted by: largest first, then lowest site. */
struct item {
	size_t site;
	int64_t key;
};

static int
by_key(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	if (a->key != b->key)
		return a->key > b->key ? -1 : 1;
	return a->site < b->site ? -1 : a->site > b->site;
}

static struct item *
sorted_gains(const struct whatif *whatif, size_t *count)
{
	struct item *items = zalloc(whatif->gains.capacity, sizeof *items);

	*count = 0;
	for (size_t s = 0; s < whatif->gains.capacity; s++)
		if (whatif->gains.by_site[s].most_ns > 0)
			items[(*count)++] = (struct item){ s, whatif->gains.by_site[s].ns };
	qsort(items, *count, sizeof *items, by_key);
	return items;
}

static struct item *
sorted_slack(const struct whatif *whatif, size_t *count)
{
	struct item *items = zalloc(whatif->slack_capacity, sizeof *items);

	*count = 0;
	for (size_t s = 0; s < whatif->slack_capacity; s++)
		if (whatif->site_slack[s].seen)
			items[(*count)++] = (struct item){ s, whatif->site_slack[s].critical_ns };
	qsort(items, *count, sizeof *items, by_key);
	return items;
}

static size_t
largest(const struct share *shares, size_t count)
{
	size_t best = 0;

	for (size_t i = 1; i < count; i++)
		if (share_sum(&shares[i]) > share_sum(&shares[best]))
			best = i;
	return best;
}

static void
gain_text(struct text *out, const struct whatif *whatif, const struct report *report,
    const struct definitions *known, size_t shown)
{
	const double told_ns = (double)report_told_ns(report);
	struct table_writer table;
	size_t count;
	struct item *items = sorted_gains(whatif, &count);

	text_char(out, '\n');
	text_line(out, "if it took %d %% less time and the network stayed as recorded; gain_%% is of the path's %.9f s, %s",
	    whatif->gains.percent, 1e-9 * told_ns, span_rule(report->whole));
	table_begin(&table, out, "gain_s\tgain_%\tat_most_s\tup to and in the call at");
	for (size_t i = 0; i < count && i < shown; i++) {
		const struct gain *gain = &whatif->gains.by_site[items[i].site];

		table_seconds(&table, gain->ns);
		table_fixed(&table, told_ns > 0 ? 100 * (double)gain->ns / told_ns : 0, 2);
		table_seconds(&table, gain->most_ns);
		put_site(&table, items[i].site, known);
		table_end_line(&table);
	}
	if (count > shown)
		put_more(&table, 3, count - shown);
	table_end(&table);
	free(items);
}

static void
slack_text(struct text *out, const struct whatif *whatif, const struct definitions *known, size_t shown)
{
	struct table_writer table;
	size_t count;
	struct item *items = sorted_slack(whatif, &count);

	text_char(out, '\n');
	table_begin(&table, out, "without_slack_s\tall_ranks_s\tleast_slack_s\tup to and in the call at");
	for (size_t i = 0; i < count && i < shown; i++) {
		const struct site_slack *slack = &whatif->site_slack[items[i].site];

		table_seconds(&table, slack->critical_ns);
		table_seconds(&table, slack->time_ns);
		table_seconds(&table, slack->least_ns);
		put_site(&table, items[i].site, known);
		table_end_line(&table);
	}
	if (count > shown)
		put_more(&table, 3, count - shown);
	table_end(&table);
	free(items);
}

static void
alternatives_text(struct text *out, const struct whatif *whatif, const struct definitions *known)
{
	struct table_writer table;

	text_char(out, '\n');
	table_begin(&table, out, "alternative\tlength_s\tshorter_s\tabsent_s\tcompute_s\tmpi_s\t"
	    "transfer_s\tstart_s\trank\tup to and in the call at");
	for (int n = 0; n < whatif->count && whatif->alternatives != NULL; n++) {
		const struct alternative *way = &whatif->alternatives[n];
		const struct share total = share_told(&way->report.total, way->report.whole);
		struct share *ranks = report_by_rank(&way->report, known);

		table_int(&table, n + 1);
		table_seconds(&table, way->length_ns);
		table_seconds(&table, way->shorter_ns);
		table_seconds(&table, way->absent_ns);
		for (int kind = 0; kind < KINDS; kind++)
			table_seconds(&table, total.ns[kind]);
		if (way->length_ns > 0) {
			table_uint(&table, largest(ranks, (size_t)known->ranks));
			put_site(&table, largest(way->report.by_site, way->report.site_capacity), known);
		} else {
			table_text(&table, "");
			table_text(&table, "");
		}
		table_end_line(&table);
		free(ranks);
	}
	table_end(&table);
}

void
whatif_text(struct text *out, const struct whatif *whatif, const struct report *report,
    const struct definitions *known, bool all)
{
	size_t shown = all ? SIZE_MAX : 8;

	if (whatif->gains.percent > 0)
		gain_text(out, whatif, report, known, shown);
	if (whatif->gains.percent > 0 && whatif->functions->sums.any)
		function_gains_text(out, &whatif->function_gains, report_told_ns(report), whatif->gains.percent, shown);
	if (whatif->slack)
		slack_text(out, whatif, known, shown);
	if (whatif->count > 0)
		alternatives_text(out, whatif, known);
}

static void
gain_json(struct json *out, const struct whatif *whatif, const struct definitions *known)
{
	size_t count;
	struct item *items = sorted_gains(whatif, &count);

	json_break(out);
	json_int(out, "faster_percent", whatif->gains.percent);
	json_break(out);
	json_begin_array(out, "gain_by_site");
	for (size_t i = 0; i < count; i++) {
		const struct gain *gain = &whatif->gains.by_site[items[i].site];

		site_json(out, items[i].site, known);
		json_seconds(out, "gain_s", gain->ns);
		json_seconds(out, "at_most_s", gain->most_ns);
		json_end_object(out);
	}
	json_end_array(out);
	free(items);
}

static void
slack_json(struct json *out, const struct whatif *whatif, const struct definitions *known)
{
	size_t count;
	struct item *items = sorted_slack(whatif, &count);

	json_break(out);
	json_begin_array(out, "slack_by_site");
	for (size_t i = 0; i < count; i++) {
		const struct site_slack *slack = &whatif->site_slack[items[i].site];

		site_json(out, items[i].site, known);
		json_seconds(out, "without_slack_s", slack->critical_ns);
		json_seconds(out, "all_ranks_s", slack->time_ns);
		json_seconds(out, "least_slack_s", slack->least_ns);
		json_end_object(out);
	}
	json_end_array(out);
	free(items);
}

void
whatif_json(struct json *out, const struct whatif *whatif, const struct definitions *known)
{
	if (whatif->gains.percent > 0)
		gain_json(out, whatif, known);
	if (whatif->gains.percent > 0 && whatif->functions->sums.any)
		function_gains_json(out, &whatif->function_gains);
	if (whatif->slack)
		slack_json(out, whatif, known);
	if (whatif->count == 0)
		return;
	json_break(out);
	json_begin_array(out, "alternatives");
	for (int n = 0; n < whatif->count && whatif->alternatives != NULL; n++) {
		const struct alternative *way = &whatif->alternatives[n];

		json_break(out);
		json_begin_object(out, NULL);
		json_int(out, "number", n + 1);
		json_seconds(out, "length_s", way->length_ns);
		json_seconds(out, "shorter_s", way->shorter_ns);
		json_seconds(out, "absent_s", way->absent_ns);
		share_json(out, &way->report.total, way->report.whole);
		json_end_object(out);
	}
	json_end_array(out);
}

/* ---- as messages ---- */

enum { BLOCK = 4096 };		/* rows of a message */

void
write_slack(struct writer *out, const struct slack_rows *rows)
{
	static const struct column_type location_type = { 4, false, true, 0 }, seq_type = { 8, false, true, 0 },
	    time_type = { 8, true, true, 0 };

	for (size_t i = 0; i < rows->count; i += BLOCK) {
		size_t count = rows->count - i < BLOCK ? rows->count - i : BLOCK;

		message_begin(out, "slack", 5);
		put_uint(out, "count", count);
		put_column(out, "location", location_type, rows->location + i, count);
		put_column(out, "seq", seq_type, rows->seq + i, count);
		put_column(out, "compute", time_type, rows->compute_ns + i, count);
		put_column(out, "call", time_type, rows->call_ns + i, count);
		if (message_end(out) < 0)
			die_output();
	}
}

void
write_gains(struct writer *out, const struct gains *gains)
{
	for (size_t site = 0; site < gains->capacity; site++) {
		const struct gain *gain = &gains->by_site[site];

		if (gain->most_ns <= 0)
			continue;
		message_begin(out, "gain", 4);
		put_uint(out, "site", site);
		put_int(out, "percent", gains->percent);
		put_int(out, "gain_ns", gain->ns);
		put_int(out, "most_ns", gain->most_ns);
		if (message_end(out) < 0)
			die_output();
	}
}
