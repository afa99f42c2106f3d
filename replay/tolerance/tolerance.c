/* SPDX-License-Identifier: BSD-3-Clause */
/* Curves of the run time: exact where nothing is limited, else points. */
#include "tolerance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const parameter_names[PARAMETERS] = { "latency", "gap", "overhead" };

void
tolerance_parse(struct tolerance *t, const char *percents)
{
	char *copy = need(strdup(percents != NULL ? percents : "1,2,5")), *save = NULL;

	t->asked = true;
	tolerance_curves(t, "latency,gap,overhead");
	t->percent_count = 0;
	for (char *word = strtok_r(copy, ",", &save); word != NULL; word = strtok_r(NULL, ",", &save)) {
		if (t->percent_count == MOST_PERCENTS)
			die("--tolerance %s: at most %d values", percents, MOST_PERCENTS);
		t->percents[t->percent_count++] = parse_number("--tolerance", word, 0, 1e6);
	}
	if (t->percent_count == 0)
		die("--tolerance: a percentage is missing");
	free(copy);
}

void
tolerance_curves(struct tolerance *t, const char *names)
{
	char *copy = need(strdup(names)), *save = NULL;

	memset(t->wanted, 0, sizeof t->wanted);
	for (char *word = strtok_r(copy, ",", &save); word != NULL; word = strtok_r(NULL, ",", &save)) {
		int p = 0;

		while (p < PARAMETERS && strcmp(word, parameter_names[p]) != 0)
			p++;
		if (p == PARAMETERS)
			die("--curves: %s is none of latency, gap and overhead", word);
		t->wanted[p] = true;
	}
	free(copy);
}

static double
end_of(const struct tolerance *t, int p)
{
	return t->range > 0 && t->base[p] > 0 ? t->range * t->base[p] : INFINITY;
}

void
tolerance_begin(struct tolerance *t, struct engine *e)
{
	const struct machine *m = e->machine;
	size_t n = 0;

	t->known = e->known;
	for (int p = 0; p < PARAMETERS; p++)
		t->base[p] = machine_value(m, (enum parameter)p);
	t->sampled = e->contended ? "links, buses or CPUs are limited" :
	    !machine_is_uniform(m, LATENCY) ? "latency differs between nodes" :
	    !machine_is_uniform(m, GAP) ? "bandwidth differs between machines" : NULL;
	if (t->sampled != NULL)
		return;
	for (int p = 0; p < PARAMETERS; p++)
		if (t->wanted[p]) {
			curve_begin(&t->curves[p], (enum parameter)p, t->base[p], end_of(t, p), e->locations);
			t->watchers[n++] = curve_watcher(&t->curves[p]);
		}
	if (t->sites)
		t->watchers[n++] = paths_watcher(&t->paths, e->locations);
	marks_begin(e, &t->marks, t->watchers, n);
	t->marks.pays = t->sites;
}

/* Values at which a limited machine is tried; of a parameter that is 0 steps that are usual. */
static size_t
values_of(const struct tolerance *t, int p, double *values)
{
	static const double factors[] = { 0, 0.1, 0.2, 0.5, 1, 1.5, 2, 3, 5, 10, 20, 50 };
	static const double units[PARAMETERS] = { 1000, 0.1, 100 };	/* ns, ns a byte, ns */
	double unit = t->base[p] > 0 ? t->base[p] : units[p];
	size_t n = 0;

	for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
		if (factors[i] * unit <= end_of(t, p))
			values[n++] = factors[i] * unit;
	return n;
}

enum { MOST_VALUES = 16 };

static void
sample(struct tolerance *t, int p, double (*try)(void *, enum parameter, double), void *context)
{
	double values[MOST_VALUES], run_ns[MOST_VALUES];
	size_t n = values_of(t, p, values);

	for (size_t i = 0; i < n; i++)
		run_ns[i] = try(context, (enum parameter)p, values[i]);
	t->pieces[p] = zalloc(n, sizeof *t->pieces[p]);
	t->piece_count[p] = n - 1;
	for (size_t i = 0; i + 1 < n; i++)
		t->pieces[p][i] = (struct piece){ values[i], values[i + 1], run_ns[i],
		    (run_ns[i + 1] - run_ns[i]) / (values[i + 1] - values[i]) };
}

void
tolerance_end(struct tolerance *t, double run_ns,
    double (*try)(void *context, enum parameter parameter, double value), void *context)
{
	t->run_ns = run_ns;
	if (t->sampled == NULL)
		t->sampled = t->marks.broken;
	for (int p = 0; p < PARAMETERS; p++)
		if (!t->wanted[p])
			continue;
		else if (t->sampled != NULL)
			sample(t, p, try, context);
		else
			t->piece_count[p] = curve_end(&t->curves[p], &t->pieces[p]);
}

double
tolerance_at(const struct tolerance *t, int p, double percent)
{
	double base_ns;

	if (!t->wanted[p])
		return NAN;
	base_ns = pieces_at(t->pieces[p], t->piece_count[p], t->base[p]);

	return pieces_reach(t->pieces[p], t->piece_count[p], base_ns * (1 + percent / 100));
}
