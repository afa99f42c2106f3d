/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict in words, which claims no more than the runs support, and the rank of a change. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

/* Path of a rank. A rank missing in a long list counts like the last one listed: it has no more. */
static int64_t
rank_path(const struct site_sums *p, int32_t rank)
{
	int64_t listed_ns = 0, least_ns = 0;

	if (p == NULL)
		return 0;
	for (uint32_t i = 0; i < p->rank_count; i++) {
		if (p->rank[i] == rank)
			return p->rank_ns[i];
		listed_ns += p->rank_ns[i];
		least_ns = p->rank_ns[i];
	}
	return listed_ns < path_of(p) - p->path_ns[START] ? least_ns : 0;
}

static double
mean_path(const struct comparison *c, int side, size_t unit, int32_t rank)
{
	double sum = 0;

	for (size_t r = 0; r < c->count[side]; r++)
		sum += (double)rank_path(c->runs[side][r].by_unit[unit], rank);
	return sum / (double)c->count[side];
}

int32_t
rank_of_change(const struct comparison *c, const struct verdict *v, size_t unit)
{
	const double path_ns = fabs((double)v->sites[unit].path.change_ns);
	/* the side whose lists are searched */
	const int more = v->sites[unit].path.change_ns > 0 ? B : A;
	int32_t best = -1;
	double most_ns = path_ns / 2;

	if (v->ranks < 2 || fabs((double)v->sites[unit].total.change_ns) > 1.5 * path_ns)
		return -1;
	for (size_t r = 0; r < c->count[more]; r++) {
		const struct site_sums *p = c->runs[more][r].by_unit[unit];

		for (uint32_t i = 0; p != NULL && i < p->rank_count; i++) {
			const double ns = (mean_path(c, B, unit, p->rank[i]) - mean_path(c, A, unit,
			    p->rank[i])) * (more == B ? 1 : -1);

			if (ns > most_ns || (ns == most_ns && best > p->rank[i])) {
				most_ns = ns;
				best = p->rank[i];
			}
		}
	}
	return best;
}

/* ---- the sentence ----------------------------------------------------------------------- */

static void __attribute__((format(printf, 2, 3)))
say(struct verdict *v, const char *format, ...)
{
	const size_t used = strlen(v->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(v->text + used, sizeof v->text - used, format, arguments);
	va_end(arguments);
}

double
share_of(const struct verdict *v, double ns)
{
	return v->run_time.a > 0 ? 100 * ns / v->run_time.a : 0;
}

static const char *const kind_names[KINDS] = { "computation up to", "time in",
	"transfers to", "process start before" };

/* The kind of segment with most of the change at the site. */
static const char *
main_kind(const struct verdict *v, size_t unit)
{
	size_t most = 0;

	for (size_t k = 1; k < KINDS; k++)
		if (llabs(v->sites[unit].kinds_ns[k]) > llabs(v->sites[unit].kinds_ns[most]))
			most = k;
	return kind_names[most];
}

static void
say_site(const struct comparison *c, struct verdict *v, size_t unit)
{
	const struct site_change *site = &v->sites[unit];
	const struct change *part = &site->surest;
	const int32_t rank = rank_of_change(c, v, unit);
	const char *kind = main_kind(v, unit);
	const bool computes = v->run_time.judged ? site->part == COMPUTING :
	    kind == kind_names[COMPUTE];
	char on[24] = "", *reason;

	if (rank >= 0)
		snprintf(on, sizeof on, " on rank %d", (int)rank);
	if (v->run_time.judged)
		say(v, "%s %.255s%s: %+.2f %% of the run (95 %%: %+.2f to %+.2f %%)",
		    computes ? kind_names[COMPUTE] : "communication in",
		    site->place.text, on, share_of(v, part->shift), share_of(v, part->low),
		    share_of(v, part->high));
	else
		say(v, "%s %.255s%s: %+.2f %% of the run", kind, site->place.text, on,
		    share_of(v, (double)site->path.change_ns));
	if (computes) {
		reason = reason_text(c, v, unit);
		say(v, "%s", reason);
		free(reason);
	}
}

static void
say_run_time(const struct comparison *c, struct verdict *v)
{
	const struct change *t = &v->run_time;
	const bool changed = t->judged && t->low * t->high > 0 && t->p <= LEVEL;
	const double least_p = 2 / ways_to_choose(c->count[A], c->count[B]);
	const double percent = share_of(v, t->judged ? t->shift : (double)t->change_ns);

	if (!t->judged) {
		say(v, "B took %.2f %% %s time than A; with %zu and %zu runs nothing "
		    "can be said of chance", fabs(percent), percent < 0 ? "less" : "more",
		    c->count[A], c->count[B]);
		if (least_p < 1)
			say(v, " (the least p is %.2g)", least_p);
	} else if (changed)
		say(v, "B is %.2f %% %s (95 %%: %.2f to %.2f %%)",
		    fabs(percent), percent > 0 ? "slower" : "faster",
		    fmin(fabs(share_of(v, t->low)), fabs(share_of(v, t->high))),
		    fmax(fabs(share_of(v, t->low)), fabs(share_of(v, t->high))));
	else
		say(v, "no change of the run time shows in %zu and %zu runs (95 %%: %+.2f to %+.2f "
		    "%%)", c->count[A], c->count[B], share_of(v, t->low), share_of(v, t->high));
}

/* The first changes that are named. */
static void
say_list(struct verdict *v, int list, const char *first, const char *next)
{
	const struct named_changes *changes = &v->lists[list];

	for (size_t f = 0, told = 0; f < changes->count && told < 3; f++) {
		const struct function_change *it = &changes->at[f];

		if (it->named && it->name[0] != '(')
			say(v, "%s %.255s: %+.2f %% of the run (95 %%: %+.2f to %+.2f %%)",
			    told++ == 0 ? first : next, it->name, share_of(v, it->path.shift),
			    share_of(v, it->path.low), share_of(v, it->path.high));
	}
}

ORDER(by_weight, struct weighed, MOST(weight) BY(unit))

void
say_verdict(const struct comparison *c, struct verdict *v)
{
	struct weighed *orders = zalloc(c->unit_count, sizeof *orders);
	size_t count = 0, left_out = 0;

	say_run_time(c, v);
	for (size_t u = 0; u < c->unit_count; u++)
		if (v->sites[u].named || (!v->run_time.judged && v->sites[u].path.change_ns != 0))
			orders[count++] = (struct weighed){ v->run_time.judged ?
			    fabs(v->sites[u].surest.shift) :
			    fabs((double)v->sites[u].path.change_ns), u };
	SORT(orders, count, by_weight);
	for (size_t i = 0; i < count && i < 3; i++) {
		say(v, i == 0 && !v->run_time.judged ? "; most of it " : i == 0 ? ": " : "; ");
		say_site(c, v, orders[i].unit);
	}
	if (v->run_time.judged && count > 3)
		say(v, "; and %zu more", count - 3);
	if (v->run_time.judged && count == 0)
		say(v, "; no site stands out");
	say_list(v, FUNCTIONS, "; of samples, function", ", function");
	say_list(v, SECTIONS, c->runs[A][0].steps > 0 ? ";" : "; region", c->runs[A][0].steps > 0 ?
	    "," : ", region");
	for (size_t r = 0; r < c->run_count; r++)
		left_out += c->all[r].left_out;
	if (left_out > 0)
		say(v, "; without %zu disturbed run%s", left_out, left_out > 1 ? "s" : "");
	if (v->fact_count > 0)
		say(v, "; %zu exact difference%s", v->fact_count, v->fact_count > 1 ? "s" : "");
	free(orders);
}
