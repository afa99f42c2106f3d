/* SPDX-License-Identifier: BSD-3-Clause */
/* Results beyond the path, for people and for scripts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/run/span.h"
#include "gain.h"

/* A call site: values to sort by, largest first, and further ones. */
struct line {
	unsigned site;
	const char *where, *shown;	/* its name for scripts and for people */
	int64_t first_ns, second_ns, third_ns;
	double share;
};

#define LINE(member) FIELD(struct line, member)
static const struct field gain_fields[] = {
	{ "site", LINE(site), .json = PLAIN },
	{ "where", LINE(where), .json = PLAIN },
	{ "gain_s", LINE(first_ns), IN_SECONDS },
	{ "gain_%", LINE(share), .text = "%.2f", .percent = true },
	{ "at_most_s", LINE(second_ns), IN_SECONDS },
	{ "up to and in the call at", LINE(shown), .text = PLAIN },
	FIELDS_END
};
static const struct field slack_fields[] = {
	{ "site", LINE(site), .json = PLAIN },
	{ "where", LINE(where), .json = PLAIN },
	{ "without_slack_s", LINE(first_ns), IN_SECONDS },
	{ "all_ranks_s", LINE(second_ns), IN_SECONDS },
	{ "least_slack_s", LINE(third_ns), IN_SECONDS },
	{ "up to and in the call at", LINE(shown), .text = PLAIN },
	FIELDS_END
};

struct balance_line {
	struct balance b;
	const char *where, *shown;
	double share;
};

#define BALANCE(member) FIELD(struct balance_line, member)
static const struct field balance_fields[] = {
	{ "rank", BALANCE(b.rank), .json = PLAIN },
	{ "site", BALANCE(b.site), .json = PLAIN },
	{ "where", BALANCE(where), .json = PLAIN },
	{ "gain_s", BALANCE(b.gain_ns), IN_SECONDS },
	{ "gain_%", BALANCE(share), .text = "%.2f", .percent = true },
	{ "at_most_s", BALANCE(b.most_ns), IN_SECONDS },
	{ "compute_s", BALANCE(b.compute_ns), IN_SECONDS },
	{ "others_s", BALANCE(b.others_ns), IN_SECONDS },
	{ "rank", BALANCE(b.rank), .text = PLAIN },
	{ "compute up to", BALANCE(shown), .text = PLAIN },
	FIELDS_END
};

ORDER(by_first, struct line, MOST(first_ns) BY(site))

static double
share_of(int64_t ns, int64_t told_ns)
{
	return told_ns > 0 ? (double)ns / (double)told_ns : 0;
}

/* The name of a site for scripts and for people. */
static void
name_site(const struct definitions *known, uint32_t site, const char **where, const char **shown)
{
	*where = site_text(known, site);
	*shown = site_shown(known, site);
}

static struct line *
gain_lines(const struct gains *gains, int64_t told_ns, const struct definitions *known,
    size_t *count)
{
	struct line *lines = zalloc(gains->capacity, sizeof *lines);

	*count = 0;
	for (size_t s = 0; s < gains->capacity; s++) {
		const struct gain *g = &gains->by_site[s];
		struct line *line = &lines[*count];

		if (g->most_ns == 0)
			continue;
		*line = (struct line){ .site = (unsigned)s, .first_ns = g->ns,
		    .second_ns = g->most_ns, .share = share_of(g->ns, told_ns) };
		name_site(known, line->site, &line->where, &line->shown);
		++*count;
	}
	SORT(lines, *count, by_first);
	return lines;
}

static struct line *
slack_lines(const struct whatif *whatif, const struct definitions *known, size_t *count)
{
	struct line *lines = zalloc(whatif->slack_capacity, sizeof *lines);

	*count = 0;
	for (size_t s = 0; s < whatif->slack_capacity; s++) {
		const struct site_slack *slack = &whatif->site_slack[s];
		struct line *line = &lines[*count];

		if (!slack->seen)
			continue;
		*line = (struct line){ .site = (unsigned)s, .first_ns = slack->critical_ns,
		    .second_ns = slack->time_ns, .third_ns = slack->least_ns };
		name_site(known, line->site, &line->where, &line->shown);
		++*count;
	}
	SORT(lines, *count, by_first);
	return lines;
}

static struct balance_line *
balance_lines(const struct gains *gains, int64_t told_ns, const struct definitions *known)
{
	struct balance_line *lines = zalloc(gains->balance_count, sizeof *lines);

	for (size_t i = 0; i < gains->balance_count; i++) {
		const struct balance *b = &gains->balances[i];

		lines[i] = (struct balance_line){ .b = *b, .share = share_of(b->gain_ns, told_ns) };
		name_site(known, b->site, &lines[i].where, &lines[i].shown);
	}
	return lines;
}

/* ---- alternatives ---- */

struct way {
	int number;
	int64_t length_ns, shorter_ns, absent_ns;
	struct share share;
	char rank[16];			/* the one with most of it */
	const char *where;		/* likewise */
};

#define WAY(member) FIELD(struct way, member)
static const struct field way_fields[] = {
	{ "number", WAY(number), .text = PLAIN, .json = PLAIN, .head = "alternative" },
	{ "length_s", WAY(length_ns), IN_SECONDS },
	{ "shorter_s", WAY(shorter_ns), IN_SECONDS },
	{ "absent_s", WAY(absent_ns), IN_SECONDS },
	SHARE_FIELDS(struct way, share),
	{ "rank", WAY(rank), .text = PLAIN },
	{ "up to and in the call at", WAY(where), .text = PLAIN },
	FIELDS_END
};

static size_t
largest(const struct share *shares, size_t count)
{
	size_t best = 0;

	for (size_t i = 1; i < count; i++)
		if (share_sum(&shares[i]) > share_sum(&shares[best]))
			best = i;
	return best;
}

/* One for each alternative; the caller frees them. */
static struct way *
find_ways(const struct whatif *whatif, const struct definitions *known, size_t *count)
{
	struct way *ways = zalloc((size_t)whatif->count, sizeof *ways);

	*count = whatif->alternatives != NULL ? (size_t)whatif->count : 0;
	for (size_t n = 0; n < *count; n++) {
		const struct alternative *way = &whatif->alternatives[n];
		const struct report *r = &way->report;
		struct share *ranks = report_by_rank(r, known);

		ways[n] = (struct way){ (int)n + 1, way->length_ns, way->shorter_ns, way->absent_ns,
		    share_told(&r->total, r->whole), "", "" };
		if (way->length_ns > 0) {
			snprintf(ways[n].rank, sizeof ways[n].rank, "%zu",
			    largest(ranks, (size_t)known->ranks));
			ways[n].where = site_shown(known, largest(r->by_site,
			    r->site_capacity));
		}
		free(ranks);
	}
	return ways;
}

void
whatif_text(struct text *out, const struct whatif *whatif, const struct report *report,
    const struct definitions *known, bool all)
{
	const int percent = whatif->gains.percent;
	const int64_t told_ns = report_told_ns(report);
	size_t shown = all ? SIZE_MAX : 8, count;

	if (percent > 0) {
		const struct gains *gains = &whatif->gains;
		struct line *lines = gain_lines(gains, told_ns, known, &count);

		text_char(out, '\n');
		text_line(out, "if it took %d %% less time and the network stayed as recorded; "
		    "gain_%% is of the path's %.9f s, %s", percent, 1e-9 * (double)told_ns,
		    span_rule(report->whole));
		table_first(out, gain_fields, lines, count, sizeof *lines, shown);
		if (gains->balance_count > 0) {
			text_char(out, '\n');
			text_line(out,
			    "if one rank computed no longer than the mean of the others");
			table_first(out, balance_fields, balance_lines(gains, told_ns, known),
			    gains->balance_count, sizeof(struct balance_line), shown);
		}
		if (whatif->functions->sums.any)
			function_gains_text(out, &whatif->function_gains, told_ns, percent, shown);
	}
	if (whatif->slack) {
		struct line *lines = slack_lines(whatif, known, &count);

		text_char(out, '\n');
		table_first(out, slack_fields, lines, count, sizeof *lines, shown);
	}
	if (whatif->count > 0) {
		struct way *ways = find_ways(whatif, known, &count);

		text_char(out, '\n');
		table_rows(out, way_fields, ways, count, sizeof *ways);
		free(ways);
	}
}

void
whatif_json(struct json *out, const struct whatif *whatif, const struct definitions *known)
{
	size_t count;

	if (whatif->gains.percent > 0) {
		const struct gains *gains = &whatif->gains;
		struct line *lines = gain_lines(gains, 0, known, &count);

		json_break(out);
		json_int(out, "faster_percent", gains->percent);
		json_break(out);
		json_rows(out, "gain_by_site", gain_fields, lines, count, sizeof *lines);
		json_break(out);
		json_rows(out, "gain_if_balanced", balance_fields, balance_lines(gains, 0, known),
		    gains->balance_count, sizeof(struct balance_line));
		if (whatif->functions->sums.any)
			function_gains_json(out, &whatif->function_gains);
	}
	if (whatif->slack) {
		struct line *lines = slack_lines(whatif, known, &count);

		json_break(out);
		json_rows(out, "slack_by_site", slack_fields, lines, count, sizeof *lines);
	}
	if (whatif->count > 0) {
		struct way *ways = find_ways(whatif, known, &count);

		json_break(out);
		json_rows(out, "alternatives", way_fields, ways, count, sizeof *ways);
		free(ways);
	}
}

/* ---- as messages ---- */

enum { BLOCK = 4096 };		/* rows of a message */

void
write_slack(struct writer *out, const struct slack_rows *rows)
{
	for (size_t i = 0; i < rows->count; i += BLOCK) {
		size_t count = rows->count - i < BLOCK ? rows->count - i : BLOCK;

		message_begin(out, "slack", 5);
		put_uint(out, "count", count);
		put_column(out, "location", rows->location + i, count);
		put_column(out, "seq", rows->seq + i, count);
		put_column(out, "compute", rows->compute_ns + i, count);
		put_column(out, "call", rows->call_ns + i, count);
		end_message(out);
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
		end_message(out);
	}
	for (size_t i = 0; i < gains->balance_count; i++) {
		const struct balance *b = &gains->balances[i];

		message_begin(out, "balance", 6);
		put_uint(out, "site", b->site);
		put_int(out, "rank", b->rank);
		put_int(out, "gain_ns", b->gain_ns);
		put_int(out, "most_ns", b->most_ns);
		put_int(out, "compute_ns", b->compute_ns);
		put_int(out, "others_ns", b->others_ns);
		end_message(out);
	}
}
