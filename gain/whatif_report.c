/* SPDX-License-Identifier: BSD-3-Clause */
/* Results beyond the path, for people and for scripts. */
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

static struct rows
gain_rows(const struct gains *gains, int64_t told_ns, const struct definitions *known)
{
	struct line *lines = zalloc(gains->capacity, sizeof *lines);
	size_t count = 0;

	for (size_t s = 0; s < gains->capacity; s++) {
		const struct gain *g = &gains->by_site[s];
		if (g->most_ns != 0)
			lines[count++] = (struct line){ (unsigned)s,
			    site_text(known, (uint32_t)s), site_shown(known, s), g->ns, g->most_ns,
			    0, share_of(g->ns, told_ns) };
	}
	SORT(lines, count, by_first);
	return (struct rows){ gain_fields, lines, count, sizeof *lines };
}

static struct rows
slack_by_site(const struct whatif *whatif, const struct definitions *known)
{
	struct line *lines = zalloc(whatif->slack_capacity, sizeof *lines);
	size_t count = 0;

	for (size_t s = 0; s < whatif->slack_capacity; s++) {
		const struct site_slack *slack = &whatif->site_slack[s];
		if (slack->seen)
			lines[count++] = (struct line){ (unsigned)s,
			    site_text(known, (uint32_t)s), site_shown(known, s), slack->critical_ns,
			    slack->time_ns, slack->least_ns, 0 };
	}
	SORT(lines, count, by_first);
	return (struct rows){ slack_fields, lines, count, sizeof *lines };
}

static struct rows
balance_rows(const struct gains *gains, int64_t told_ns, const struct definitions *known)
{
	struct balance_line *lines = zalloc(gains->balance_count, sizeof *lines);

	for (size_t i = 0; i < gains->balance_count; i++) {
		const struct balance *b = &gains->balances[i];

		lines[i] = (struct balance_line){ *b, site_text(known, b->site),
		    site_shown(known, b->site), share_of(b->gain_ns, told_ns) };
	}
	return (struct rows){ balance_fields, lines, gains->balance_count, sizeof *lines };
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

/* One for each alternative. */
static struct rows
way_rows(const struct whatif *whatif, const struct definitions *known)
{
	const size_t count = whatif->alternatives != NULL ? (size_t)whatif->count : 0;
	struct way *ways = zalloc(count, sizeof *ways);

	for (size_t n = 0; n < count; n++) {
		const struct alternative *way = &whatif->alternatives[n];
		const struct report *r = &way->report;
		struct share *ranks = report_by_rank(r, known);

		ways[n] = (struct way){ (int)n + 1, way->length_ns, way->shorter_ns, way->absent_ns,
		    share_told(&r->total, r->whole), "", "" };
		if (way->length_ns > 0) {
			snprintf(ways[n].rank, sizeof ways[n].rank, "%zu",
			    largest(ranks, (size_t)known->ranks));
			ways[n].where = site_shown(known, largest(r->by[OF_SITE].at,
			    r->by[OF_SITE].count));
		}
		free(ranks);
	}
	return (struct rows){ way_fields, ways, count, sizeof *ways };
}

void
whatif_text(struct text *out, const struct whatif *whatif, const struct report *report,
    const struct definitions *known, bool all)
{
	const struct gains *gains = &whatif->gains;
	const int64_t told_ns = report_told_ns(report);
	const size_t shown = all ? SIZE_MAX : 8;

	if (gains->percent > 0) {
		text_char(out, '\n');
		text_line(out, "if it took %d %% less time and the network stayed as recorded; "
		    "gain_%% is of the path's %.9f s, %s", gains->percent, seconds(told_ns),
		    span_rule(report->whole));
		rows_table(out, gain_rows(gains, told_ns, known), shown);
	}
	if (gains->percent > 0 && gains->balance_count > 0) {
		text_char(out, '\n');
		text_line(out, "if one rank computed no longer than the mean of the others");
		rows_table(out, balance_rows(gains, told_ns, known), shown);
	}
	if (gains->percent > 0 && whatif->functions->sums.any) {
		text_char(out, '\n');
		text_line(out, "if the function took %d %% less time, on all ranks",
		    gains->percent);
		rows_table(out, function_gain_rows(&whatif->function_gains, told_ns), shown);
	}
	if (whatif->slack) {
		text_char(out, '\n');
		rows_table(out, slack_by_site(whatif, known), shown);
	}
	if (whatif->count > 0) {
		text_char(out, '\n');
		rows_table(out, way_rows(whatif, known), SIZE_MAX);
	}
}

void
whatif_json(struct json *out, const struct whatif *whatif, const struct definitions *known)
{
	const struct gains *gains = &whatif->gains;

	if (gains->percent > 0) {
		json_break(out);
		json_int(out, "faster_percent", gains->percent);
		rows_json(out, "gain_by_site", gain_rows(gains, 0, known));
		rows_json(out, "gain_if_balanced", balance_rows(gains, 0, known));
		if (whatif->functions->sums.any)
			rows_json(out, "gain_by_function",
			    function_gain_rows(&whatif->function_gains, 0));
	}
	if (whatif->slack)
		rows_json(out, "slack_by_site", slack_by_site(whatif, known));
	if (whatif->count > 0)
		rows_json(out, "alternatives", way_rows(whatif, known));
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
		PUT_MEMBER(out, "location", &rows->at[i], location, count);
		PUT_MEMBER(out, "seq", &rows->at[i], seq, count);
		PUT_MEMBER(out, "compute", &rows->at[i], compute_ns, count);
		PUT_MEMBER(out, "call", &rows->at[i], call_ns, count);
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
