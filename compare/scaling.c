/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs on several numbers of ranks: which sites stop scaling. If all of a program scales, strongly
 * or weakly, each site keeps its share of the critical path. The share of a site that does not
 * scale grows. It grows from the first number of ranks on at which its share in each run exceeds
 * its share in all runs on the fewest ranks, and stays above; with several runs, this exceeds the
 * spread. Its cost is its time on the path beyond what it would have if it scaled.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../base/run/span.h"
#include "compare.h"

/* The runs on one number of ranks. */
struct group {
	struct summary *runs;
	size_t count;
	struct times mean;
};

/* A site in the runs on one number of ranks. */
struct at_ranks {
	struct place_names place;
	int32_t ranks, first_ranks;
	size_t count;
	/* means over the runs; shares: least and largest */
	double path_ns, share, low, high;
};

struct scaling_site {
	struct place_names place;
	size_t unit;
	struct at_ranks *at;		/* by group */
	double growth, lost_ns;		/* at the most ranks: of the share, and of time */
	int32_t first_ranks;		/* the number from which it grows; 0: it does not */
	bool grows;
	char *shares;			/* as text: "2:10.1 4:12.0" */
};

#define GROUP(member) FIELD(struct group, member)
static const struct field group_fields[] = {
	{ "ranks", GROUP(mean.ranks), IN_ALL },
	{ "count", GROUP(count), IN_ALL, .head = "runs" },
	SCALING_FIELDS(struct group, mean.),
	FIELDS_END
};

#define SITE(member) FIELD(struct scaling_site, member)
static const struct field site_fields[] = {
	PLACE_FIELDS(struct scaling_site),
	{ "grows", SITE(grows), .json = PLAIN },
	{ "first_ranks", SITE(first_ranks), .json = PLAIN, .known = UNLESS_ZERO },
	{ "growth", SITE(growth), IN_PERCENT(2, 9), .head = "growth_%" },
	{ "first_ranks", SITE(first_ranks), .text = PLAIN, .known = UNLESS_ZERO },
	{ "lost_s", SITE(lost_ns), IN_SECONDS },
	{ "ranks:path_%", SITE(shares), .text = PLAIN },
	{ "up to and in", SITE(place.text), .text = PLAIN },
	FIELDS_END
};

#define AT_RANKS(member) FIELD(struct at_ranks, member)
static const struct field at_fields[] = {
	{ "function", AT_RANKS(place.function), .csv = PLAIN },
	{ "file", AT_RANKS(place.file), .csv = PLAIN },
	{ "line", AT_RANKS(place.line), .csv = PLAIN },
	{ "call", AT_RANKS(place.call), .csv = PLAIN },
	{ "ranks", AT_RANKS(ranks), IN_DATA },
	{ "runs", AT_RANKS(count), .csv = PLAIN },
	{ "path_s", AT_RANKS(path_ns), IN_SECONDS },
	{ "share", AT_RANKS(share), IN_FIXED(9, 9) },
	{ "low", AT_RANKS(low), IN_FIXED(9, 9) },
	{ "high", AT_RANKS(high), IN_FIXED(9, 9) },
	{ "first_ranks", AT_RANKS(first_ranks), .csv = PLAIN },
	FIELDS_END
};

struct scaling_table {
	const struct comparison *c;
	bool weak;
	struct group *groups;
	size_t group_count, group_capacity;
	struct scaling_site *sites;	/* largest growth first */
};

ORDER(by_ranks_and_file, struct summary, BY(ranks) BY(run_ns))

static void
make_groups(struct scaling_table *t)
{
	struct summary *runs = t->c->runs[A];

	for (size_t i = 0, end; i < t->c->count[A]; i = end) {
		struct group *g;

		for (end = i; end < t->c->count[A] && runs[end].ranks == runs[i].ranks; end++)
			;
		g = APPEND(t->groups, t->group_count, t->group_capacity);
		*g = (struct group){ .runs = runs + i, .count = end - i,
		    .mean = { .ranks = runs[i].ranks } };
		for (const struct summary *run = g->runs; run < g->runs + g->count; run++) {
			struct times *m = &g->mean;
			const double n = (double)g->count;

			m->run_ns += run->run_ns / (int64_t)g->count;
			m->of.span_ns += run->of.span_ns / (int64_t)g->count;
			m->of.useful_total_ns += run->of.useful_total_ns / (int64_t)g->count;
			m->of.parallel += run->of.parallel / n;
			m->of.load_balance += run->of.load_balance / n;
			m->of.communication += run->of.communication / n;
		}
	}
	for (size_t i = 0; i < t->group_count; i++)
		scale_against(&t->groups[i].mean, &t->groups[0].mean, t->weak);
}

static struct at_ranks
site_at(const struct group *g, size_t unit)
{
	struct at_ranks at = { .ranks = g->mean.ranks, .count = g->count, .low = INFINITY,
	    .high = -INFINITY };

	for (size_t r = 0; r < g->count; r++) {
		const double ns = (double)unit_path(&g->runs[r], unit);
		const double share = g->runs[r].run_ns > 0 ? ns / (double)g->runs[r].run_ns : 0;

		at.path_ns += ns / (double)g->count;
		at.share += share / (double)g->count;
		at.low = fmin(at.low, share);
		at.high = fmax(at.high, share);
	}
	return at;
}

ORDER(by_growth, struct scaling_site, MOST(grows) MOST(growth) BY(unit))

static void
make_sites(struct scaling_table *t)
{
	const size_t last = t->group_count - 1;

	t->sites = zalloc(t->c->unit_count, sizeof *t->sites);
	for (size_t u = 0; u < t->c->unit_count; u++) {
		struct scaling_site *s = &t->sites[u];
		const double ideal = t->weak ? 1 :
		    (double)t->groups[0].mean.ranks / t->groups[last].mean.ranks;

		s->unit = u;
		s->place = t->c->units[u].place;
		s->at = zalloc(t->group_count, sizeof *s->at);
		for (size_t g = 0; g <= last; g++)
			s->at[g] = site_at(&t->groups[g], u);
		s->growth = s->at[last].share - s->at[0].share;
		s->lost_ns = s->at[last].path_ns - ideal * s->at[0].path_ns;
		for (size_t g = last;
		    g > 0 && s->at[g].low > s->at[0].high && s->growth >= WORTH; g--)
			s->first_ranks = s->at[g].ranks;
		s->grows = s->first_ranks > 0;
		for (size_t g = 0; g <= last; g++) {
			s->at[g].place = s->place;
			s->at[g].first_ranks = s->first_ranks;
			if (s->at[g].count == 1)	/* one share is no spread */
				s->at[g].low = s->at[g].high = NAN;
		}
	}
	SORT(t->sites, t->c->unit_count, by_growth);
}

/* ---- output ----------------------------------------------------------------------------- */

static char *
scaling_verdict(const struct scaling_table *t)
{
	const size_t last = t->group_count - 1;
	const struct scaling_site *s = &t->sites[0];
	const int32_t least = t->groups[0].mean.ranks, most = t->groups[last].mean.ranks;
	const char *spread = "";

	for (size_t g = 0; g <= last; g++)
		if (t->groups[g].count == 1)
			spread = "; one run of a number of ranks does not show how far chance goes";

	if (t->c->unit_count == 0 || !s->grows)
		return formatted("from %d to %d ranks no site takes a share of the critical path "
		    "that grows%s", (int)least, (int)most, spread);
	return formatted("%s stops scaling at %d ranks: %.1f %% of the critical path on %d, %.1f "
	    "%% on %d%s", s->place.text, (int)s->first_ranks, 100 * s->at[0].share, (int)least,
	    100 * s->at[last].share, (int)most, spread);
}

static void
scaling_as_json(struct text *text, const struct scaling_table *t, const char *verdict)
{
	struct json json, *out = &json;

	json_begin(out, text);
	json_begin_object(out, NULL);
	json_text(out, "verdict", verdict);
	json_text(out, "scaling", t->weak ? "weak" : "strong");
	json_rows(out, "runs", group_fields, t->groups, t->group_count, sizeof *t->groups);
	json_break(out);
	json_begin_array(out, "sites");
	for (size_t i = 0; i < t->c->unit_count; i++) {
		json_break(out);
		json_begin_object(out, NULL);
		json_members(out, site_fields, &t->sites[i]);
		json_begin_array(out, "runs");
		for (size_t g = 0; g < t->group_count; g++)
			json_row(out, NULL, at_fields, &t->sites[i].at[g]);
		json_end_array(out);
		json_end_object(out);
	}
	json_end_array(out);
	json_end_object(out);
	json_end_line(out);
}

static void
scaling_as_text(struct text *text, const struct scaling_table *t, const char *verdict, bool all)
{
	const size_t shown = all || t->c->unit_count < 10 ? t->c->unit_count : 10;

	text_line(text, "%s", verdict);
	text_line(text, "%s scaling, against the smallest run; efficiencies as POP defines them, "
	    "%s", t->weak ? "weak" : "strong", span_rule(false));
	table_rows(text, group_fields, t->groups, t->group_count, sizeof *t->groups);
	text_char(text, '\n');
	text_line(text, "sites by the growth of their share of the critical path; first_ranks: "
	    "from there on, beyond the spread of the runs");
	for (size_t i = 0; i < shown; i++) {
		char shares[512] = "";

		for (size_t g = 0; g < t->group_count; g++) {
			const size_t used = strlen(shares);

			snprintf(shares + used, sizeof shares - used, "%s%d:%.1f", g > 0 ? " " : "",
			    (int)t->groups[g].mean.ranks, 100 * t->sites[i].at[g].share);
		}
		t->sites[i].shares = need(strdup(shares));
	}
	table_rows(text, site_fields, t->sites, shown, sizeof *t->sites);
	print_more(text, t->c->unit_count, shown);
}

void
print_scaling_sites(struct text *text, struct comparison *c, bool weak, enum form form, bool all)
{
	struct scaling_table t = { .c = c, .weak = weak };
	struct csv csv;
	char *verdict;

	leave_out_repeated(c);
	SORT(c->runs[A], c->count[A], by_ranks_and_file);
	align(c);
	make_groups(&t);
	if (t.group_count < 2)
		die("--scaling: all runs are on %d ranks", (int)t.groups[0].mean.ranks);
	make_sites(&t);
	verdict = scaling_verdict(&t);
	if (form == JSON)
		scaling_as_json(text, &t, verdict);
	else if (form == CSV) {
		csv_head(&csv, text, at_fields);
		for (size_t i = 0; i < c->unit_count; i++)
			for (size_t g = 0; g < t.group_count; g++)
				csv_row(&csv, at_fields, &t.sites[i].at[g]);
	} else
		scaling_as_text(text, &t, verdict, all);
	free(verdict);
}

/* Runs in order of date: run time, efficiencies, and the sites with most of the path. */

enum { MOST_SITES = 12 };	/* in text and JSON, unless all are asked for */

ORDER(by_date, struct summary, BY(date_s) BY_TEXT(file))

ORDER(by_weight, struct weighed, MOST(weight) BY(unit))

static void
find_date(struct summary *run)
{
	const time_t date_s = (time_t)run->date_s;
	struct tm utc;

	if (run->date_s <= 0 || gmtime_r(&date_s, &utc) == NULL ||
	    strftime(run->date, sizeof run->date, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
		strcpy(run->date, "-");
}

#define RUN(member) FIELD(struct summary, member)
static const struct field run_fields[] = {
	{ "file", RUN(file), .json = PLAIN },
	{ "date", RUN(date), IN_ALL },
	{ "file", RUN(file), .csv = PLAIN },
	{ "date_s", RUN(date_s), .json = PLAIN },
	{ "ranks", RUN(ranks), IN_ALL },
	{ "run_time_s", RUN(run_ns), IN_SECONDS },
	{ "parallel", RUN(of.parallel), IN_FIXED(4, 9) },
	{ "load_balance", RUN(of.load_balance), IN_FIXED(4, 9), .head = "load_bal" },
	{ "communication", RUN(of.communication), IN_FIXED(4, 9), .head = "communic" },
	{ "file", RUN(file), .text = PLAIN },
	FIELDS_END
};

static void
history_as_json(struct text *text, const struct comparison *c,
    const struct weighed *sites, size_t shown)
{
	struct json json, *out = &json;

	json_begin(out, text);
	json_begin_object(out, NULL);
	json_rows(out, "runs", run_fields, c->runs[A], c->count[A], sizeof *c->runs[A]);
	json_break(out);
	json_begin_array(out, "sites");
	for (size_t i = 0; i < c->unit_count && i < shown; i++) {
		json_break(out);
		json_begin_object(out, NULL);
		json_members(out, place_fields, &c->units[sites[i].unit]);
		json_begin_array(out, "path_s");
		for (size_t r = 0; r < c->count[A]; r++)
			json_seconds(out, NULL, unit_path(&c->runs[A][r], sites[i].unit));
		json_end_array(out);
		json_end_object(out);
	}
	json_end_array(out);
	json_end_object(out);
	json_end_line(out);
}

static void
history_as_text(struct text *text, const struct comparison *c,
    const struct weighed *sites, size_t shown)
{
	struct table_writer table, *out = &table;

	table_rows(text, run_fields, c->runs[A], c->count[A], sizeof *c->runs[A]);
	text_char(text, '\n');
	text_line(text, "critical path by site, first run and last");
	table_begin(out, text, "first_s\tlast_s\tup to and in");
	for (size_t i = 0; i < c->unit_count && i < shown; i++) {
		table_seconds(out, unit_path(&c->runs[A][0], sites[i].unit));
		table_seconds(out, unit_path(&c->runs[A][c->count[A] - 1], sites[i].unit));
		table_text(out, c->units[sites[i].unit].place.text);
		table_end_line(out);
	}
	table_end(out);
}

void
print_history(struct text *text, struct comparison *c, enum form form, bool all)
{
	struct weighed *sites;

	SORT(c->runs[A], c->count[A], by_date);
	for (size_t r = 0; r < c->count[A]; r++)
		find_date(&c->runs[A][r]);
	align(c);
	sites = zalloc(c->unit_count, sizeof *sites);
	for (size_t u = 0; u < c->unit_count; u++) {
		sites[u].unit = u;
		for (size_t r = 0; r < c->count[A]; r++)
			sites[u].weight += (double)unit_path(&c->runs[A][r], u);
	}
	SORT(sites, c->unit_count, by_weight);
	if (form == JSON)
		history_as_json(text, c, sites, all ? SIZE_MAX : MOST_SITES);
	else if (form == CSV)
		csv_rows(text, run_fields, c->runs[A], c->count[A], sizeof *c->runs[A]);
	else
		history_as_text(text, c, sites, all ? SIZE_MAX : MOST_SITES);
	free(sites);
}
