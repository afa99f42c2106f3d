/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs on several numbers of ranks: which sites stop scaling. Where all of a program scales, each site
 * keeps its share of the critical path, be the scaling strong or weak; one that does not takes a share
 * that grows. It grows from the first number of ranks on from which in each run its share is larger than
 * in all runs on the fewest ranks, and stays so: beyond the spread, where there are several runs of a
 * number. What it costs is its time on the path beyond what it had if it scaled.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "../imbalance/times.h"

/* The runs on one number of ranks. */
struct group {
	struct summary *runs;
	size_t count;
	struct times mean;
};

struct at_ranks {
	double path_ns, share, low, high;	/* means over the runs; shares: least and greatest */
};

struct scaling_site {
	size_t unit;
	struct at_ranks *at;		/* by group */
	double growth, lost_ns;		/* of the share, and of time, at the most ranks */
	size_t first;			/* group from which on it grows; 0: it does not */
};

struct scaling_table {
	const struct comparison *c;
	bool weak;
	struct group *groups;
	size_t group_count, group_capacity;
	struct scaling_site *sites;	/* what grew most first */
};

static int
by_ranks_and_file(const void *left, const void *right)
{
	const struct summary *a = left, *b = right;

	if (a->ranks != b->ranks)
		return a->ranks < b->ranks ? -1 : 1;
	return a->run_ns < b->run_ns ? -1 : a->run_ns > b->run_ns;
}

static void
make_groups(struct scaling_table *t)
{
	struct summary *runs = t->c->runs[A];

	for (size_t i = 0, end; i < t->c->count[A]; i = end) {
		struct group *g;

		for (end = i; end < t->c->count[A] && runs[end].ranks == runs[i].ranks; end++)
			;
		t->groups = grow(t->groups, &t->group_capacity, t->group_count + 1, sizeof *t->groups);
		g = &t->groups[t->group_count++];
		*g = (struct group){ .runs = runs + i, .count = end - i, .mean = { .ranks = runs[i].ranks } };
		for (size_t r = 0; r < g->count; r++) {
			const struct summary *run = &g->runs[r];
			struct times *m = &g->mean;
			const double n = (double)g->count;

			m->run_ns += run->run_ns / (int64_t)g->count;
			m->of.span_ns += run->span_ns / (int64_t)g->count;
			m->of.useful_total_ns += run->useful_ns / (int64_t)g->count;
			m->of.parallel += run->parallel / n;
			m->of.load_balance += run->load_balance / n;
			m->of.communication += run->communication / n;
		}
	}
}

static struct at_ranks
site_at(const struct group *g, size_t unit)
{
	struct at_ranks at = { .low = INFINITY, .high = -INFINITY };

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

static int
by_growth(const void *left, const void *right)
{
	const struct scaling_site *a = left, *b = right;

	if ((a->first > 0) != (b->first > 0))
		return a->first > 0 ? -1 : 1;
	if (a->growth < b->growth || a->growth > b->growth)
		return a->growth > b->growth ? -1 : 1;
	return a->unit < b->unit ? -1 : a->unit > b->unit;
}

static void
make_sites(struct scaling_table *t)
{
	const size_t last = t->group_count - 1;

	t->sites = zalloc(t->c->unit_count + 1, sizeof *t->sites);
	for (size_t u = 0; u < t->c->unit_count; u++) {
		struct scaling_site *s = &t->sites[u];
		const double ideal = t->weak ? 1 : (double)t->groups[0].mean.ranks / t->groups[last].mean.ranks;

		s->unit = u;
		s->at = zalloc(t->group_count, sizeof *s->at);
		for (size_t g = 0; g <= last; g++)
			s->at[g] = site_at(&t->groups[g], u);
		s->growth = s->at[last].share - s->at[0].share;
		s->lost_ns = s->at[last].path_ns - ideal * s->at[0].path_ns;
		for (size_t g = last; g > 0 && s->at[g].low > s->at[0].high; g--)
			s->first = g;
		if (s->growth < WORTH)
			s->first = 0;
	}
	qsort(t->sites, t->c->unit_count, sizeof *t->sites, by_growth);
}

/* ---- output ----------------------------------------------------------------------------- */

static char *
scaling_verdict(const struct scaling_table *t)
{
	const size_t last = t->group_count - 1;
	const struct scaling_site *s = &t->sites[0];
	const int32_t least = t->groups[0].mean.ranks, most = t->groups[last].mean.ranks;
	char site[512], *text;
	int length;

	if (t->c->unit_count == 0 || s->first == 0)
		length = asprintf(&text, "from %d to %d ranks no site takes a share of the critical path that grows",
		    (int)least, (int)most);
	else
		length = asprintf(&text, "%s stops scaling at %d ranks: %.1f %% of the critical path on %d, %.1f %% on %d",
		    unit_text(&t->c->units[s->unit], site, sizeof site), (int)t->groups[s->first].mean.ranks,
		    100 * s->at[0].share, (int)least, 100 * s->at[last].share, (int)most);
	if (length < 0)
		die("out of memory");
	return text;
}

static void
put_group(struct json *out, const struct scaling_table *t, size_t g)
{
	const struct scaling s = scaling_of(&t->groups[g].mean, &t->groups[0].mean, t->weak);

	json_break(out);
	json_begin_object(out, NULL);
	json_int(out, "ranks", t->groups[g].mean.ranks);
	json_uint(out, "count", t->groups[g].count);
	json_seconds(out, "run_time_s", t->groups[g].mean.run_ns);
	json_fixed(out, "speedup", s.speedup, 9);
	json_fixed(out, "parallel", s.parallel, 9);
	json_fixed(out, "load_balance", s.load_balance, 9);
	json_fixed(out, "communication", s.communication, 9);
	json_fixed(out, "computation_scaling", s.computation_scaling, 9);
	json_fixed(out, "global", s.global, 9);
	json_end_object(out);
}

static void
scaling_as_json(struct text *text, const struct scaling_table *t, const char *verdict)
{
	struct json json, *out = &json;

	json_begin(out, text);
	json_begin_object(out, NULL);
	json_text(out, "verdict", verdict);
	json_text(out, "scaling", t->weak ? "weak" : "strong");
	json_begin_array(out, "runs");
	for (size_t g = 0; g < t->group_count; g++)
		put_group(out, t, g);
	json_end_array(out);
	json_break(out);
	json_begin_array(out, "sites");
	for (size_t i = 0; i < t->c->unit_count; i++) {
		const struct scaling_site *s = &t->sites[i];

		json_break(out);
		json_begin_object(out, NULL);
		put_place(out, &t->c->units[s->unit]);
		json_bool(out, "grows", s->first > 0);
		if (s->first > 0)
			json_int(out, "first_ranks", t->groups[s->first].mean.ranks);
		else
			json_null(out, "first_ranks");
		json_fixed(out, "growth", s->growth, 9);
		json_fixed(out, "lost_s", 1e-9 * s->lost_ns, 9);
		json_begin_array(out, "runs");
		for (size_t g = 0; g < t->group_count; g++) {
			json_begin_object(out, NULL);
			json_int(out, "ranks", t->groups[g].mean.ranks);
			json_fixed(out, "path_s", 1e-9 * s->at[g].path_ns, 9);
			json_fixed(out, "share", s->at[g].share, 9);
			json_fixed(out, "low", s->at[g].low, 9);
			json_fixed(out, "high", s->at[g].high, 9);
			json_end_object(out);
		}
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
	struct table_writer table, *out = &table;
	const size_t shown = all ? SIZE_MAX : 10;
	char site[512];

	text_line(text, "%s", verdict);
	text_line(text, "%s scaling, against the smallest run; efficiencies as POP defines them, %s",
	    t->weak ? "weak" : "strong", span_rule(false));
	table_begin(out, text, "ranks\truns\trun_time_s\tspeedup\tparallel\tload_bal\tcommunic\tcomp_scal\tglobal");
	for (size_t g = 0; g < t->group_count; g++) {
		const struct scaling s = scaling_of(&t->groups[g].mean, &t->groups[0].mean, t->weak);

		table_int(out, t->groups[g].mean.ranks);
		table_uint(out, t->groups[g].count);
		table_seconds(out, t->groups[g].mean.run_ns);
		table_fixed(out, s.speedup, 3);
		table_fixed(out, s.parallel, 4);
		table_fixed(out, s.load_balance, 4);
		table_fixed(out, s.communication, 4);
		table_fixed(out, s.computation_scaling, 4);
		table_fixed(out, s.global, 4);
		table_end_line(out);
	}
	table_end(out);
	text_char(text, '\n');
	text_line(text, "sites by the growth of their share of the critical path; first_ranks: from there on, "
	    "beyond the spread of the runs");
	table_begin(out, text, "growth_%\tfirst_ranks\tlost_s\tranks:path_%\tup to and in");
	for (size_t i = 0; i < t->c->unit_count && i < shown; i++) {
		const struct scaling_site *s = &t->sites[i];
		char shares[512] = "";

		table_fixed(out, 100 * s->growth, 2);
		if (s->first > 0)
			table_int(out, t->groups[s->first].mean.ranks);
		else
			table_text(out, "-");
		table_fixed(out, 1e-9 * s->lost_ns, 6);
		for (size_t g = 0; g < t->group_count; g++) {
			const size_t used = strlen(shares);

			snprintf(shares + used, sizeof shares - used, "%s%d:%.1f", g > 0 ? " " : "",
			    (int)t->groups[g].mean.ranks, 100 * s->at[g].share);
		}
		table_text(out, shares);
		table_text(out, unit_text(&t->c->units[s->unit], site, sizeof site));
		table_end_line(out);
	}
	table_end(out);
	if (t->c->unit_count > shown)
		text_line(text, "(%zu more; --all shows them)", t->c->unit_count - shown);
}

static void
scaling_as_csv(struct text *text, const struct scaling_table *t)
{
	struct csv csv, *out = &csv;

	csv_begin(out, text, "function,file,line,call,ranks,runs,path_s,share,low,high,first_ranks");
	for (size_t i = 0; i < t->c->unit_count; i++)
		for (size_t g = 0; g < t->group_count; g++) {
			const struct scaling_site *s = &t->sites[i];

			csv_place(out, &t->c->units[s->unit]);
			csv_int(out, t->groups[g].mean.ranks);
			csv_uint(out, t->groups[g].count);
			csv_fixed(out, 1e-9 * s->at[g].path_ns, 9);
			csv_fixed(out, s->at[g].share, 9);
			csv_fixed(out, s->at[g].low, 9);
			csv_fixed(out, s->at[g].high, 9);
			csv_int(out, s->first > 0 ? t->groups[s->first].mean.ranks : 0);
			csv_end_row(out);
		}
}

void
print_scaling_sites(struct comparison *c, bool weak, enum form form, bool all)
{
	static struct text text;	/* large for a stack */
	struct scaling_table t = { .c = c, .weak = weak };
	char *verdict;

	qsort(c->runs[A], c->count[A], sizeof *c->runs[A], by_ranks_and_file);
	align(c);
	make_groups(&t);
	if (t.group_count < 2)
		die("--scaling: all runs are on %d ranks", (int)t.groups[0].mean.ranks);
	make_sites(&t);
	verdict = scaling_verdict(&t);
	text_begin(&text, stdout, NULL);
	if (form == JSON)
		scaling_as_json(&text, &t, verdict);
	else if (form == CSV)
		scaling_as_csv(&text, &t);
	else
		scaling_as_text(&text, &t, verdict, all);
	text_flush(&text);
	free(verdict);
}
