/* SPDX-License-Identifier: BSD-3-Clause */
/* The comparison as text, CSV, JSON and a stream. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"

static const char *const yes[] = { NULL, "yes" }, *const side_names[SIDES] = { "a", "b" };

#define IN_JSON_SECONDS .json = "%.9f", .scale = 1e-9
#define IN_TABLE_SECONDS .text = "%.6f", .csv = "%.9f", .scale = 1e-9
#define PATH_CHANGE(type) \
	{ "path_change_s", FIELD(type, path.change_ns), IN_SECONDS, .head = "change_s" }, \
	{ "low_s", FIELD(type, path.low), IN_SECONDS }, \
	{ "high_s", FIELD(type, path.high), IN_SECONDS }, \
	{ "p_adjusted", FIELD(type, path.p_adjusted), IN_FIXED(4, 9) }
#define SITE(member) FIELD(struct site_change, member)
/* In JSON these enclose the site's kinds. */
static const struct field site_fields[] = {
	PLACE_FIELDS(struct site_change),
	PATH_CHANGE(struct site_change),
	{ "detectable_s", SITE(detectable), IN_JSON_SECONDS },
	{ "named", SITE(named), IN_DATA },
	{ "rank", SITE(rank), .json = PLAIN, .known = UNLESS_NEGATIVE },
	{ "on", SITE(on), .json = PLAIN },
	{ "line_b", SITE(line_b), .json = PLAIN, .known = UNLESS_ZERO, .optional = true },
	{ "compute_s", SITE(kinds_ns[COMPUTE]), IN_TABLE_SECONDS },
	{ "mpi_s", SITE(kinds_ns[MPI]), IN_TABLE_SECONDS },
	{ "transfer_s", SITE(kinds_ns[TRANSFER]), IN_TABLE_SECONDS },
	{ "start_s", SITE(kinds_ns[START]), IN_TABLE_SECONDS },
	{ "wait_change_s", SITE(wait_ns), IN_TABLE_SECONDS, .head = "wait_s" },
	{ "delay_change_s", SITE(delay_ns), IN_TABLE_SECONDS, .head = "delay_s" },
	{ "named", SITE(named), .text = PLAIN, .names = yes },
	{ "up to and in", SITE(place.text), .text = PLAIN },
	FIELDS_END
}, more_site_fields[] = {
	{ "path_a_s", SITE(path.a), IN_JSON_SECONDS },
	{ "path_b_s", SITE(path.b), IN_JSON_SECONDS },
	{ "total_change_s", SITE(total.change_ns), IN_JSON_SECONDS },
	{ "total_p", SITE(total.p), .json = "%.9f" },
	{ "wait_change_s", SITE(wait_ns), IN_JSON_SECONDS },
	{ "delay_change_s", SITE(delay_ns), IN_JSON_SECONDS },
	FIELDS_END
};

#define FUNCTION(member) FIELD(struct function_change, member)
static const struct field function_fields[] = {
	{ "function", FUNCTION(name), .json = PLAIN },
	{ "file", FUNCTION(file), .json = PLAIN },
	PATH_CHANGE(struct function_change),
	{ "named", FUNCTION(named), .json = PLAIN },
	{ "path_a_s", FUNCTION(path.a), IN_JSON_SECONDS },
	{ "path_b_s", FUNCTION(path.b), IN_JSON_SECONDS },
	{ "total_change_s", FUNCTION(all_change_ns), IN_SECONDS, .head = "all_time_s" },
	{ "named", FUNCTION(named), .text = PLAIN, .names = yes },
	{ "function", FUNCTION(text), .text = PLAIN },
	FIELDS_END
};

static const struct field section_fields[] = {
	{ "section", FUNCTION(name), IN_DATA },
	PATH_CHANGE(struct function_change),
	{ "path_a_s", FUNCTION(path.a), IN_SECONDS, .head = "a_s" },
	{ "path_b_s", FUNCTION(path.b), IN_SECONDS, .head = "b_s" },
	{ "named", FUNCTION(named), IN_DATA },
	{ "named", FUNCTION(named), .text = PLAIN, .names = yes },
	{ "part of the run", FUNCTION(name), .text = PLAIN },
	FIELDS_END
};

const struct field place_fields[] = { PLACE_FIELDS(struct unit), FIELDS_END };

#define RUN_GIVEN \
	{ "side", FIELD(struct summary, side), .json = PLAIN, .names = side_names }, \
	{ "run", FIELD(struct summary, number), .json = PLAIN }, \
	{ "file", FIELD(struct summary, file), .json = PLAIN }
static const struct field run_fields[] = {
	{ "verdict", FIELD(struct verdict, text), .key = "verdict" },
	{ "a_s", FIELD(struct verdict, run_time.a), IN_JSON_SECONDS, .key = "a_ns" },
	{ "b_s", FIELD(struct verdict, run_time.b), IN_JSON_SECONDS, .key = "b_ns" },
	{ "change_s", FIELD(struct verdict, run_time.change_ns), IN_JSON_SECONDS,
	    .key = "change_ns" },
	{ "low_s", FIELD(struct verdict, run_time.low), IN_JSON_SECONDS, .key = "low_ns" },
	{ "high_s", FIELD(struct verdict, run_time.high), IN_JSON_SECONDS, .key = "high_ns" },
	{ "p", FIELD(struct verdict, run_time.p), .json = "%.9f" },
	{ "spread_a_s", FIELD(struct verdict, run_spread[A]), IN_JSON_SECONDS },
	{ "spread_b_s", FIELD(struct verdict, run_spread[B]), IN_JSON_SECONDS },
	{ "detectable_s", FIELD(struct verdict, run_detectable), IN_JSON_SECONDS },
	FIELDS_END
}, disturbed_fields[] = {
	RUN_GIVEN,
	{ "held_up_share", FIELD(struct summary, held_up), .json = "%.9f" },
	{ "preempted_share", FIELD(struct summary, preempted), .json = "%.9f" },
	{ "left_out", FIELD(struct summary, left_out), .json = PLAIN },
	FIELDS_END
}, repeated_fields[] = {
	RUN_GIVEN,
	{ "first_run", FIELD(struct summary, first_number), .json = PLAIN },
	FIELDS_END
}, fact_fields[] = {
	{ "name", FIELD(struct fact, name), .json = PLAIN, .optional = true },
	{ "a", FIELD(struct fact, a), .json = PLAIN },
	{ "b", FIELD(struct fact, b), .json = PLAIN },
	{ "text", FIELD(struct fact, text), .json = PLAIN },
	FIELDS_END
}, limit_fields[] = {
	{ "name", FIELD(struct limit, name), .json = PLAIN },
	{ "limit", FIELD(struct limit, limit), .json = PLAIN },
	{ "unit", FIELD(struct limit, unit), .json = PLAIN },
	{ "value", FIELD(struct limit, value), .json = PLAIN },
	{ "low", FIELD(struct limit, low), .json = PLAIN },
	{ "high", FIELD(struct limit, high), .json = PLAIN },
	{ "exceeded", FIELD(struct limit, exceeded), .json = PLAIN },
	{ "judged", FIELD(struct limit, judged), .json = PLAIN },
	{ "site", FIELD(struct limit, site), .json = PLAIN, .optional = true },
	{ "text", FIELD(struct limit, text), .json = PLAIN },
	FIELDS_END
};

static const struct { const char *name; size_t offset; } efficiencies[] = {
	{ "parallel", offsetof(struct summary, of.parallel) },
	{ "load_balance", offsetof(struct summary, of.load_balance) },
	{ "communication", offsetof(struct summary, of.communication) },
};

static double
mean_of(const struct comparison *c, int side, size_t offset)
{
	double sum = 0;

	for (size_t r = 0; r < c->count[side]; r++)
		sum += *(const double *)(const void *)((const char *)&c->runs[side][r] + offset);
	return sum / (double)c->count[side];
}

ORDER(by_change, struct site_change, COMPARED(llabs(b->path.change_ns), llabs(a->path.change_ns))
    BY(unit))

/* Largest change on the path first; the caller frees it. */
static struct site_change *
sorted_sites(const struct comparison *c, const struct verdict *v)
{
	struct site_change *sites = zalloc(c->unit_count, sizeof *sites);

	memcpy(sites, v->sites, c->unit_count * sizeof *sites);
	SORT(sites, c->unit_count, by_change);
	return sites;
}

/* ---- text ------------------------------------------------------------------------------- */

void
print_more(struct text *text, size_t count, size_t shown)
{
	if (count > shown)
		text_line(text, "(%zu more; --all shows them)", count - shown);
}

/* The spread of runs within a side, and the change that could be detected despite it. */
static void
print_spread(struct text *text, const struct comparison *c, const struct verdict *v)
{
	struct sample sites = { zalloc(c->unit_count, sizeof *sites.at), 0 };
	char spread[SIDES][40];

	for (int side = A; side < SIDES; side++)
		if (isfinite(v->run_spread[side]))
			snprintf(spread[side], sizeof spread[side], "%.2f %%",
			    share_of(v, v->run_spread[side]));
		else
			snprintf(spread[side], sizeof spread[side], "not known");
	if (isfinite(v->run_spread[A]) || isfinite(v->run_spread[B]))
		text_line(text, "from run to run of A: %s of the run time; of B: %s",
		    spread[A], spread[B]);
	for (size_t u = 0; u < c->unit_count; u++)
		if (isfinite(v->sites[u].detectable))
			sites.at[sites.count++] = v->sites[u].detectable;
	if (isfinite(v->run_detectable))
		text_line(text,
		    "4 times in 5 so many runs would show a change of the run time by %.2f %%%s",
		    share_of(v, v->run_detectable), sites.count > 0 ? "" : ", and none of a site");
	if (sites.count > 0)
		text_line(text, "and of a site's time on the path by %.2f %% of the run (median of "
		    "%zu sites)", share_of(v, median(sites)), sites.count);
	free(sites.at);
}

/* The runs of each side whose ranks had too few cores: their times are less reliable. */
static void
print_load(struct text *text, const struct comparison *c)
{
	for (int side = A; side < SIDES; side++) {
		const char *load = NULL;
		size_t runs = 0;

		for (size_t r = 0; r < c->count[side]; r++)
			if (c->runs[side][r].load != NULL) {
				load = c->runs[side][r].load;
				runs++;
			}
		if (runs > 0)
			text_line(text, "%s: too few cores in %zu of %zu runs, the last of them: "
			    "%s", side == A ? "A" : "B", runs, c->count[side], load);
	}
}

static void
print_disturbed(struct text *text, const struct comparison *c)
{
	for (const struct summary *r = c->repeated; r < c->repeated + c->repeated_count; r++)
		text_line(text, "%s: run %llu (%s) is run %llu again, and counts once",
		    r->side == A ? "A" : "B", (unsigned long long)r->number, r->file,
		    (unsigned long long)r->first_number);
	for (const struct summary *r = c->all; r < c->all + c->run_count; r++) {
		char preempted[80] = "";

		if (!r->disturbed)
			continue;
		if (isfinite(r->preempted))
			snprintf(preempted, sizeof preempted, "; %.1f %% of its threads' time "
			    "ready to run, without a core", 100 * r->preempted);
		text_line(text, "%s: run %llu (%s) was disturbed: held up for %.1f %% of its "
		    "time%s; the tests %s", r->side == A ? "A" : "B",
		    (unsigned long long)r->number, r->file, 100 * r->held_up, preempted,
		    r->left_out ? "leave it out" : "have it, because there are too few others");
	}
}

static void
comparison_text(struct text *text, const struct comparison *c, const struct verdict *v, bool all)
{
	const size_t shown = all ? SIZE_MAX : 10;
	struct site_change *sites = sorted_sites(c, v);
	double means[2 * 3];

	for (size_t i = 0; i < 2 * 3; i++)
		means[i] = mean_of(c, i % 2 == 0 ? A : B, efficiencies[i / 2].offset);
	text_line(text, "%s", v->text);
	text_line(text, "run time %.9f s, then %.9f s; %zu and %zu runs", 1e-9 * v->run_time.a,
	    1e-9 * v->run_time.b, c->count[A], c->count[B]);
	text_line(text, "efficiencies (POP) %s: parallel %.4f, then %.4f; load balance %.4f, then "
	    "%.4f; communication %.4f, then %.4f", span_rule(false), means[0], means[1], means[2],
	    means[3], means[4], means[5]);
	text_line(text, "of the change compute %.6f s, MPI %.6f s, transfer %.6f s, start %.6f s",
	    1e-9 * (double)v->all_kinds_ns[0], 1e-9 * (double)v->all_kinds_ns[1],
	    1e-9 * (double)v->all_kinds_ns[2], 1e-9 * (double)v->all_kinds_ns[3]);
	print_spread(text, c, v);
	print_load(text, c);
	print_disturbed(text, c);
	for (size_t i = 0; i < v->fact_count && i < shown; i++)
		text_line(text, "exact: %s", v->facts[i].text);
	print_more(text, v->fact_count, shown);
	text_char(text, '\n');
	text_line(text,
	    "change of the critical path by site; all sites make up the change of the run time");
	table_rows(text, site_fields, sites, c->unit_count < shown ? c->unit_count : shown,
	    sizeof *sites);
	print_more(text, c->unit_count, shown);
	print_reasons(text, c, v, sites, shown);
	print_list(text, &v->lists[FUNCTIONS], function_fields, "function, of samples", shown);
	print_steps(text, c, &v->lists[SECTIONS]);
	print_list(text, &v->lists[SECTIONS], section_fields, c->runs[A][0].steps > 0 ? "step" :
	    "region, without the regions within it", shown);
	for (size_t s = 0, any = 0; s < STATES; s++)
		if (difference(c, state_wait, s) != 0) {
			if (any++ == 0)
				text_char(text, '\n');
			text_line(text, "waits: %s %.6f s, then %.6f s", state_names[s],
			    1e-9 * (double)mean_ns(c, A, state_wait, s),
			    1e-9 * (double)mean_ns(c, B, state_wait, s));
		}
	free(sites);
}

/* ---- JSON ------------------------------------------------------------------------------- */

static void
put_kinds(struct json *out, const int64_t *kinds_ns)
{
	json_begin_object(out, "kinds");
	for (size_t k = 0; k < KINDS; k++)
		json_seconds(out, segment_names[k], kinds_ns[k]);
	json_end_object(out);
}

static void
put_site(struct json *out, const struct comparison *c, const struct verdict *v,
    struct site_change *site)
{
	const struct site_sums *a = c->units[site->unit].on[A], *b = c->units[site->unit].on[B];

	site->rank = rank_of_change(c, v, site->unit);
	site->on = a != NULL && b != NULL ? "both" : a != NULL ? "a" : "b";
	site->line_b = a != NULL && b != NULL && a->line != b->line && b->line > 0 ? b->line : 0;
	json_break(out);
	json_begin_object(out, NULL);
	json_members(out, site_fields, site);
	put_kinds(out, site->kinds_ns);
	put_site_reasons(out, v, site);
	json_members(out, more_site_fields, site);
	json_end_object(out);
}

static void
put_facts(struct json *out, const struct comparison *c, const struct verdict *v)
{
	json_break(out);
	json_begin_array(out, "facts");
	for (const struct fact *f = v->facts; f < v->facts + v->fact_count; f++) {
		json_break(out);
		json_begin_object(out, NULL);
		json_text(out, "what", f->what);
		if (f->unit != NOBODY)
			json_members(out, place_fields, &c->units[f->unit]);
		json_members(out, fact_fields, f);
		json_end_object(out);
	}
	json_end_array(out);
}

static void
put_rest(struct json *out, const struct comparison *c, const struct verdict *v)
{
	json_break(out);
	put_kinds(out, v->all_kinds_ns);
	json_begin_array(out, "ranks");
	for (size_t r = 0; r < v->ranks; r++)
		json_seconds(out, NULL, v->ranks_ns[r]);
	json_end_array(out);
	json_begin_array(out, "phases");
	for (size_t u = 0; u <= c->unit_count; u++) {
		if (v->phases_ns[u] == 0)
			continue;
		json_break(out);
		json_begin_object(out, NULL);
		if (u < c->unit_count)
			json_members(out, place_fields, &c->units[u]);
		json_seconds(out, "path_change_s", v->phases_ns[u]);
		json_end_object(out);
	}
	json_end_array(out);
	json_break(out);
	json_begin_array(out, "waits");
	for (size_t s = 0; s < STATES; s++) {
		if (mean_ns(c, A, state_wait, s) == 0 && mean_ns(c, B, state_wait, s) == 0)
			continue;
		json_break(out);
		json_begin_object(out, NULL);
		json_text(out, "name", state_names[s]);
		json_seconds(out, "a_s", mean_ns(c, A, state_wait, s));
		json_seconds(out, "b_s", mean_ns(c, B, state_wait, s));
		json_seconds(out, "change_s", difference(c, state_wait, s));
		json_end_object(out);
	}
	json_end_array(out);
	json_break(out);
	json_begin_object(out, "efficiencies");
	for (size_t e = 0; e < 3; e++) {
		json_begin_object(out, efficiencies[e].name);
		json_fixed(out, "a", mean_of(c, A, efficiencies[e].offset), 9);
		json_fixed(out, "b", mean_of(c, B, efficiencies[e].offset), 9);
		json_end_object(out);
	}
	json_end_object(out);
}

static void
comparison_json(struct text *text, const struct comparison *c, const struct verdict *v, int by)
{
	struct json json, *out = &json;
	struct site_change *sites = sorted_sites(c, v);

	json_begin(out, text);
	json_begin_object(out, NULL);
	json_text(out, "verdict", v->text);
	json_break(out);
	json_row(out, "run_time", run_fields, v);
	json_break(out);
	json_begin_array(out, "sites");
	for (size_t i = 0; i < c->unit_count; i++)
		put_site(out, c, v, &sites[i]);
	json_end_array(out);
	json_break(out);
	json_rows(out, "functions", function_fields, v->lists[FUNCTIONS].at,
	    v->lists[FUNCTIONS].count, sizeof *v->lists[FUNCTIONS].at);
	if (by != NO_SECTIONS)
		json_rows(out, by == BY_STEPS ? "steps" : "regions", section_fields,
		    v->lists[SECTIONS].at, v->lists[SECTIONS].count,
		    sizeof *v->lists[SECTIONS].at);
	put_facts(out, c, v);
	put_reasons(out, v);
	json_break(out);
	json_begin_array(out, "disturbed");
	for (const struct summary *run = c->all; run < c->all + c->run_count; run++)
		if (run->disturbed) {
			json_break(out);
			json_row(out, NULL, disturbed_fields, run);
		}
	json_end_array(out);
	json_break(out);
	json_rows(out, "repeated", repeated_fields, c->repeated, c->repeated_count,
	    sizeof *c->repeated);
	json_break(out);
	json_rows(out, "limits", limit_fields, v->limits, v->limit_count, sizeof *v->limits);
	put_rest(out, c, v);
	json_begin_object(out, "runs");
	json_uint(out, "a", c->count[A]);
	json_uint(out, "b", c->count[B]);
	json_end_object(out);
	json_end_object(out);
	json_end_line(out);
	free(sites);
}

/* ---- a stream --------------------------------------------------------------------------- */

void
print_stream(const struct comparison *c, const struct verdict *v, int argc, char **argv)
{
	struct writer out;

	need_output(writer_open(&out, STDOUT_FILENO, "comparison", NULL, argc, argv));
	put_row(&out, "comparison", run_fields, v);
	for (size_t u = 0; u < c->unit_count; u++) {
		const struct site_sums *p = c->units[u].first;
		const struct change *path = &v->sites[u].path;

		message_begin(&out, "site_change", path->judged ? 10 : 7);
		put_string(&out, "function", p->function != NULL ? p->function : "");
		put_string(&out, "file", p->file != NULL ? p->file : "");
		put_int(&out, "line", p->line);
		put_string(&out, "call", p->call != NULL ? p->call : "");
		put_int(&out, "change_ns", path->change_ns);
		put_column(&out, "kind_ns", v->sites[u].kinds_ns, KINDS);
		put_int(&out, "named", v->sites[u].named);
		if (path->judged) {
			put_double(&out, "low_ns", path->low);
			put_double(&out, "high_ns", path->high);
			put_double(&out, "p_adjusted", path->p_adjusted);
		}
		end_message(&out);
	}
	need_output(writer_end_of(&out, false));
}

void
print_comparison(struct text *text, const struct comparison *c, const struct verdict *v,
    enum form form, bool all, int by)
{
	if (form == JSON)
		comparison_json(text, c, v, by);
	else if (form == CSV && by != NO_SECTIONS)
		csv_rows(text, section_fields, v->lists[SECTIONS].at, v->lists[SECTIONS].count,
		    sizeof *v->lists[SECTIONS].at);
	else if (form == CSV)
		csv_rows(text, site_fields, v->sites, c->unit_count, sizeof *v->sites);
	else
		comparison_text(text, c, v, all);
}
