/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why computation changed: more work on a core, or time off it, blocked or preempted. Switches say
 * so, if all runs of both sides have them: of each site's computation on the path, and of all
 * computation of each rank.
 */
#include <math.h>
#include <stdlib.h>

#include "compare.h"

#define LISTED_SHARE 0.1	/* of a change: smaller parts are not in the sentence */

static const char *const keys[CORE_PARTS] = { "on_core_s", "blocked_s", "preempted_s",
	"unknown_s" };
static const char *const words[CORE_PARTS] = { "on a core", "blocked", "preempted",
	"for an unknown reason" };

static const char neither[] = "neither side has switches";

/* Parts are numbered by unit or rank, then by reason. */
static VALUE_IS(unit_core, run->by_unit[index / CORE_PARTS] == NULL ? 0 :
    run->by_unit[index / CORE_PARTS]->core_ns[index % CORE_PARTS])
static VALUE_IS(rank_core, index < (size_t)run->ranks * CORE_PARTS ? run->rank_core_ns[index] : 0)

static int64_t
rank_computation(const struct summary *run, size_t rank)
{
	int64_t ns = 0;

	for (size_t part = 0; part < CORE_PARTS; part++)
		ns += rank_core(run, rank * CORE_PARTS + part);
	return ns;
}

static bool
has_switches(const struct comparison *c, int side)
{
	for (size_t r = 0; r < c->count[side]; r++)
		if (c->runs[side][r].rank_core_ns == NULL)
			return false;
	return true;
}

static void
add_part(struct core_part *to, const struct core_part *more)
{
	to->a_ns += more->a_ns;
	to->b_ns += more->b_ns;
	to->change_ns += more->change_ns;
}

static struct core_change
divide(const struct comparison *c, VALUE(of), size_t index, int64_t change_ns)
{
	struct core_change to = { 0 };
	int64_t parts_ns[CORE_PARTS];

	apportion(c, of, index * CORE_PARTS, CORE_PARTS, change_ns, parts_ns);
	for (size_t i = 0; i < CORE_PARTS; i++) {
		const size_t at = index * CORE_PARTS + i;

		to.part[i] = (struct core_part){ mean_ns(c, A, of, at), mean_ns(c, B, of, at),
		    parts_ns[i] };
		add_part(&to.whole, &to.part[i]);
	}
	return to;
}

void
judge_reasons(const struct comparison *c, struct verdict *v)
{
	const bool a = has_switches(c, A), b = has_switches(c, B);

	v->core_unknown = a && b ? NULL : a ? "B has no switches" : b ? "A has no switches" :
	    neither;
	if (v->core_unknown != NULL)
		return;
	for (size_t u = 0; u < c->unit_count; u++) {
		struct core_change *core = &v->sites[u].core;

		*core = divide(c, unit_core, u, v->sites[u].kinds_ns[COMPUTE]);
		add_part(&v->core.whole, &core->whole);
		for (size_t i = 0; i < CORE_PARTS; i++)
			add_part(&v->core.part[i], &core->part[i]);
	}
	v->rank_cores = zalloc(v->ranks, sizeof *v->rank_cores);
	for (size_t r = 0; r < v->ranks; r++)
		v->rank_cores[r] = (struct rank_change){ r, divide(c, rank_core, r,
		    difference(c, rank_computation, r)) };
}

/* ---- the sentence ----------------------------------------------------------------------- */

/* The difference of means of the runs that are tested: the interval beside it is theirs, too. */
static double
tested_change(const struct comparison *c, VALUE(of), size_t index)
{
	const double in_b = (double)c->ways.in_b, in_a = (double)c->tested_count - in_b;
	double ns = 0;

	for (size_t r = 0; r < c->tested_count; r++)
		ns += (double)of(c->tested[r], index) / (c->tested[r]->side == B ? in_b : -in_a);
	return ns;
}

char *
reason_text(const struct comparison *c, const struct verdict *v, size_t unit)
{
	double part_ns[CORE_PARTS], all_ns = 0;
	char *text = formatted("%s", "");
	int digits;

	for (size_t i = 0; i < CORE_PARTS && v->core_unknown == NULL; i++) {
		part_ns[i] = tested_change(c, unit_core, unit * CORE_PARTS + i);
		all_ns += part_ns[i];
	}
	if (fabs(all_ns) < 1)
		return text;
	digits = (int)fmax(0, 10 - floor(log10(fabs(all_ns))));		/* two that count */
	for (bool first = true;; first = false) {
		char *before = text;
		size_t most = 0;

		for (size_t i = 1; i < CORE_PARTS; i++)
			if (fabs(part_ns[i]) > fabs(part_ns[most]))
				most = i;
		if (fabs(part_ns[most]) < LISTED_SHARE * fabs(all_ns))
			return text;
		if (first)
			text = formatted(", %+.*f s: %.*f s of it %s", digits, 1e-9 * all_ns,
			    digits, 1e-9 * part_ns[most] * copysign(1, all_ns), words[most]);
		else
			text = formatted("%s, %.*f s %s", before, digits, 1e-9 * part_ns[most] *
			    copysign(1, all_ns), words[most]);
		free(before);
		part_ns[most] = 0;
	}
}

/* ---- text and JSON ---------------------------------------------------------------------- */

#define PARTS_OF(type) \
	{ "change_s", FIELD(type, core.whole.change_ns), IN_SECONDS }, \
	{ "on_core_s", FIELD(type, core.part[ON_CORE].change_ns), IN_SECONDS }, \
	{ "blocked_s", FIELD(type, core.part[OFF_CORE + OFF_BLOCKED].change_ns), IN_SECONDS }, \
	{ "preempted_s", FIELD(type, core.part[OFF_CORE + OFF_PREEMPTED].change_ns), IN_SECONDS }, \
	{ "unknown_s", FIELD(type, core.part[OFF_CORE + OFF_UNKNOWN].change_ns), IN_SECONDS }

static const struct field site_fields[] = {
	PARTS_OF(struct site_change),
	{ "computation on the path up to", FIELD(struct site_change, place.text), .text = PLAIN },
	FIELDS_END
}, rank_fields[] = {
	{ "rank", FIELD(struct rank_change, rank), .text = PLAIN },
	PARTS_OF(struct rank_change),
	FIELDS_END
}, part_fields[] = {
	{ "a_s", FIELD(struct core_part, a_ns), IN_SECONDS },
	{ "b_s", FIELD(struct core_part, b_ns), IN_SECONDS },
	{ "change_s", FIELD(struct core_part, change_ns), IN_SECONDS },
	FIELDS_END
};

ORDER(by_change, struct rank_change,
    COMPARED(llabs(b->core.whole.change_ns), llabs(a->core.whole.change_ns)) BY(rank))

/* SITES in the order of the report. */
void
print_reasons(struct text *text, const struct comparison *c, const struct verdict *v,
    const struct site_change *sites, size_t shown)
{
	struct site_change *changed = zalloc(c->unit_count, sizeof *changed);
	size_t count = 0;

	if (v->core_unknown != NULL && v->core_unknown != neither)
		text_line(text, "why computation changed is unknown: %s", v->core_unknown);
	for (size_t u = 0; u < c->unit_count && v->core_unknown == NULL; u++)
		if (sites[u].core.whole.change_ns != 0)
			changed[count++] = sites[u];
	if (count > 0) {
		text_put(text, "\nwhy computation changed, by site and by rank\n");
		table_rows(text, site_fields, changed, count < shown ? count : shown,
		    sizeof *changed);
		print_more(text, count, shown);
		text_char(text, '\n');
		qsort(v->rank_cores, v->ranks, sizeof *v->rank_cores, by_change);
		table_rows(text, rank_fields, v->rank_cores, v->ranks < shown ? v->ranks : shown,
		    sizeof *v->rank_cores);
		print_more(text, v->ranks, shown);
	}
	free(changed);
}

static void
put_core(struct json *out, const char *whole, const struct core_change *core)
{
	json_row(out, whole, part_fields, &core->whole);
	for (size_t i = 0; i < CORE_PARTS; i++)
		json_row(out, keys[i], part_fields, &core->part[i]);
}

void
put_site_reasons(struct json *out, const struct verdict *v, const struct site_change *site)
{
	if (v->core_unknown != NULL) {
		json_null(out, "computation");
		return;
	}
	json_begin_object(out, "computation");
	put_core(out, "path_s", &site->core);
	json_end_object(out);
}

void
put_reasons(struct json *out, const struct verdict *v)
{
	json_break(out);
	if (v->core_unknown != NULL) {
		json_text(out, "computation_unknown_because", v->core_unknown);
		json_null(out, "computation");
		return;
	}
	json_null(out, "computation_unknown_because");
	json_begin_object(out, "computation");
	put_core(out, "path_s", &v->core);
	json_begin_array(out, "by_rank");
	for (size_t r = 0; r < v->ranks; r++) {
		json_break(out);
		json_begin_object(out, NULL);
		json_uint(out, "rank", v->rank_cores[r].rank);
		put_core(out, "compute_s", &v->rank_cores[r].core);
		json_end_object(out);
	}
	json_end_array(out);
	json_end_object(out);
}
