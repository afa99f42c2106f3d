/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the sums of the path as text and JSON. */
#include "../run/span.h"
#include "../run/verdict.h"
#include "output.h"

int64_t
share_told_ns(const struct share *told, bool whole)
{
	return told->ns[COMPUTE] + told->ns[MPI] + told->ns[TRANSFER] +
	    (whole ? told->ns[START] : 0);
}

int64_t
report_told_ns(const struct report *report)
{
	const struct share told = share_told(&report->total, report->whole);

	return share_told_ns(&told, report->whole);
}

/* A line of a list: a share of the path, as printed. */
struct line {
	unsigned index;		/* rank, call or site */
	int64_t ns;		/* the total of the share */
	double of_path;
	struct share share;
	const char *name;
};

#define LINE(member) FIELD(struct line, member)
static const struct field share_fields[] = { SHARE_FIELDS(struct line, share), FIELDS_END };
static const struct field rank_fields[] = {
	{ "share_%", LINE(of_path), .text = "%.2f", .percent = true },
	{ "rank", LINE(index), .json = PLAIN },
	SHARE_FIELDS(struct line, share),
	{ "rank", LINE(index), .text = PLAIN },
	FIELDS_END
};
static const struct field call_fields[] = {
	{ "share_%", LINE(of_path), .text = "%.2f", .percent = true },
	{ "call", LINE(name), .json = PLAIN },
	SHARE_FIELDS(struct line, share),
	{ "call", LINE(name), .text = PLAIN },
	FIELDS_END
};
static const struct field site_fields[] = {
	{ "share_%", LINE(of_path), .text = "%.2f", .percent = true },
	{ "site", LINE(index), .json = PLAIN },
	{ "where", LINE(name), .json = PLAIN },
	SHARE_FIELDS(struct line, share),
	{ "up to and in the call at", LINE(name), .text = PLAIN },
	FIELDS_END
};

ORDER(by_share, struct line, MOST(ns) MOST(share.ns[START]) BY(index))

const char *
site_shown(const struct definitions *known, size_t site)
{
	const char *text = site_text(known, (uint32_t)site);

	return text[0] != '\0' ? text : "(unknown)";
}

/*
 * The shares that are not zero. For text the largest first, with names of the first SHOWN; for JSON
 * by index, with all ranks, and without computation, which is no call.
 */
static struct rows
share_rows(const struct report *report, const struct definitions *known, enum shares_of of,
    bool is_text, size_t shown)
{
	static const struct field *const fields[SHARES] = { rank_fields, call_fields, site_fields };
	const int64_t told_ns = report_told_ns(report);
	struct share *ranks = of == OF_LOCATION ? report_by_rank(report, known) : NULL;
	const struct share_list shares = of != OF_LOCATION ? report->by[of] :
	    (struct share_list){ ranks, (size_t)known->ranks };
	struct line *lines = zalloc(shares.count, sizeof *lines);
	size_t count = 0;

	for (size_t i = of == OF_CALL && !is_text; i < shares.count; i++) {
		struct line line = { .index = (unsigned)i,
		    .share = share_told(&shares.at[i], report->whole) };

		line.ns = share_told_ns(&line.share, report->whole);
		line.of_path = (double)line.ns / (double)(told_ns > 0 ? told_ns : 1);
		if (share_sum(&shares.at[i]) > 0 || (of == OF_LOCATION && !is_text))
			lines[count++] = line;
	}
	if (is_text)
		SORT(lines, count, by_share);
	for (size_t i = 0; i < count && i < shown; i++)
		lines[i].name = of == OF_CALL && lines[i].index == 0 ? "(compute)" :
		    of == OF_CALL ? call_name(lines[i].index) : of == OF_LOCATION ? NULL :
		    is_text ? site_shown(known, lines[i].index) : site_text(known, lines[i].index);
	free(ranks);
	return (struct rows){ fields[of], lines, count, sizeof *lines };
}

static void
print_longest(struct text *out, const struct report *report, const struct definitions *known)
{
	struct table_writer table;

	text_char(out, '\n');
	table_begin(&table, out, "length_s\tbegin_s\trank\twhat\twhere");
	for (size_t i = 0; i < report->longest_count; i++) {
		const struct segment *s = &report->longest[i];
		const char *where = site_text(known, s->site);

		table_seconds(&table, s->end_ns - s->begin_ns);
		table_seconds(&table, s->begin_ns);
		table_int(&table, known->location_rank[s->location]);
		table_format(&table, "%s%s", s->kind == COMPUTE ? "compute" :
		    s->kind == START ? "start" : s->kind == TRANSFER ? "transfer to " : "",
		    s->call == 0 ? "" : call_name(s->call));
		table_format(&table, "%s%s",
		    s->call == 0 && where[0] != '\0' ? "before " : "", where);
		table_end_line(&table);
	}
	table_end(&table);
}

/* The largest places on the path, with their gains if known. */
static struct verdict
report_verdict(const struct report *report, const struct definitions *known,
    const struct gains *gains)
{
	const double told_ns = (double)report_told_ns(report);
	struct verdict v = { no_pole, { no_pole, no_pole }, .trust = { 0 } };
	struct evidence evidence = no_evidence;
	struct long_pole *const poles[] = { &v.pole, &v.next[0], &v.next[1] };
	const size_t hung = pole_hung(&v.pole, known);
	struct same_sites same = { NULL };
	size_t count;
	struct place *places = places_by_name(&report->places, known, &same, &count);

	for (size_t i = 0; i < count && i + hung < sizeof poles / sizeof poles[0]; i++) {
		struct long_pole *p = poles[i + hung];
		const struct place *place = &places[i];

		p->rank = place->rank;
		p->kind = place_kind(place);
		p->path_s = seconds(place->ns);
		p->path_share = (double)place->ns / told_ns;
		if (place->site != 0)
			snprintf(p->where, sizeof p->where, "%s", site_text(known, place->site));
		if (gains == NULL)
			continue;
		p->percent = gains->percent;
		for (size_t s = 0; s < gains->capacity; s++)
			if (gains->by_site[s].most_ns > 0 &&
			    is_same_site(known, (uint32_t)s, place->site)) {
				p->gain_s = seconds(gains->by_site[s].ns);
				p->gain_share = (double)gains->by_site[s].ns / told_ns;
			}
		pole_balance(p, place, known, gains->balances, gains->balance_count, told_ns);
	}
	free(places);
	same_sites_free(&same);
	evidence.handing_rank = pole_handing_rank(&v.pole, known);
	v.trust = trust_of(known, &evidence);
	return v;
}

void
report_head(struct text *out, const struct report *report, const struct definitions *known,
    const struct gains *gains)
{
	struct verdict v = report_verdict(report, known, gains);

	verdict_text(out, &known->headline, &v);
	text_line(out, "run time %.9f s; critical path %.9f s in %zu segments, %zu changes of rank",
	    seconds(known->run_ns), seconds(report_length_ns(report)), report->segments,
	    report->hops);
	verdict_free(&v);
}

void
report_text(struct text *out, const struct report *report,
    const struct definitions *known, bool all)
{
	size_t shown = all ? SIZE_MAX : 8;
	const struct share total = share_told(&report->total, report->whole);
	const double of = (double)(report_told_ns(report) > 0 ? report_told_ns(report) : 1);
	char start[80];

	report_head(out, report, known, NULL);
	if (report->gap_ns > 0)
		text_line(out, "gaps of %.9f s in it, of which this approximation knows nothing",
		    seconds(report->gap_ns));
	snprintf(start, sizeof start,
	    report->whole ? ", start %.2f %%" : "; start, MPI_Init and MPI_Finalize %.9f s",
	    report->whole ? 100 * (double)total.ns[START] / of : seconds(total.ns[START]));
	text_line(out, "on the path, %s: compute %.2f %%, MPI %.2f %%, transfer %.2f %%%s",
	    span_rule(report->whole), 100 * (double)total.ns[COMPUTE] / of,
	    100 * (double)total.ns[MPI] / of, 100 * (double)total.ns[TRANSFER] / of, start);
	if (total.polls_ns > 0)
		text_line(out, "of MPI, %.2f %% of the path are tests and probes that completed "
		    "nothing and in which the rank did not wait: they are the cost of polling",
		    100 * (double)total.polls_ns / of);
	if (known->polls_wait)
		text_line(out, "polling loops with at most %.6g us between polls count as waiting, "
		    "and are not on the path",
		    1e-3 * (double)known->poll_gap_ns);
	for (int by = 0; by < SHARES; by++) {
		text_char(out, '\n');
		rows_table(out, share_rows(report, known, (enum shares_of)by, true, shown), shown);
	}
	print_longest(out, report, known);
}

void
segment_json(struct json *out, const struct segment *segment, size_t count,
    const struct definitions *known)
{
	const struct segment *last = &segment[count - 1];
	int64_t compute_ns = 0;

	json_break(out);
	json_begin_object(out, NULL);
	if (segment->kind == GAP)
		json_null(out, "rank");
	else
		json_int(out, "rank", known->location_rank[segment->location]);
	json_int(out, "begin_ns", segment->begin_ns);
	json_int(out, "end_ns", last->end_ns);
	json_text(out, "kind", count > 1 ? "polls" : segment_names[segment->kind]);
	if (last->call == 0 && count > 1)
		last--;
	if (last->call == 0)
		json_null(out, "call");
	else
		json_text(out, "call", call_name(last->call));
	json_uint(out, "site", segment->site);
	if (count > 1) {
		for (size_t i = 0; i < count; i++)
			if (segment[i].kind == COMPUTE)
				compute_ns += segment[i].end_ns - segment[i].begin_ns;
		json_uint(out, "pieces", count);
		json_int(out, "compute_ns", compute_ns);
	}
	json_end_object(out);
}

void
report_json(struct json *out, const struct report *report, const struct definitions *known,
    const struct gains *gains, const char *verdict)
{
	static const char *const keys[SHARES] = { "by_rank", "by_call", "by_site" };
	struct verdict v = report_verdict(report, known, gains);

	json_break(out);
	if (verdict != NULL) {
		json_next(out, "verdict");
		text_put(out->text, verdict);
	} else {
		verdict_json(out, "verdict", &v, known->ranks);
	}
	json_break(out);
	load_json(out, &known->headline);
	verdict_free(&v);
	json_break(out);
	if (known->polls_wait)
		json_seconds(out, "poll_gap_s", known->poll_gap_ns);
	else
		json_null(out, "poll_gap_s");
	json_break(out);
	json_seconds(out, "run_time_s", known->run_ns);
	json_break(out);
	json_seconds(out, "path_length_s", report_length_ns(report));
	json_break(out);
	json_seconds(out, "unknown_s", report->gap_ns);
	json_break(out);
	json_uint(out, "segment_count", report->segments);
	json_break(out);
	json_uint(out, "rank_changes", report->hops);
	json_break(out);
	json_row(out, "total", share_fields,
	    &(struct line){ .share = share_told(&report->total, report->whole) });
	for (int of = 0; of < SHARES; of++)
		rows_json(out, keys[of], share_rows(report, known, (enum shares_of)of, false,
		    SIZE_MAX));
}
