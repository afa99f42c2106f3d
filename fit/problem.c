/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data of a program for its fits. Runs at one n are one observation, exactly: the squared
 * residuals of many values about a curve are those of their weighted mean plus a constant. A coarse
 * problem merges neighbouring n, too: it is for searching, and never reported.
 */
#include <math.h>
#include <stdlib.h>

#include "fit.h"

/*
 * The useful time of a run repeats better than its run time. In the paper's data its rms about
 * equation 4 is 0.37 to 0.59 of that of t about equation 6 in six of eight programs, 0.9 and 1.0 in
 * vasp and inhouse; the median is 0.49.
 */
static const double USEFUL_SCALE = 2;

/* Observations that still take values; one of each kind. */
struct growing {
	struct observation *at;		/* NULL: none */
	double first_n, weight, mean_value, mean_log_n;
};

static bool
is_log(const struct problem *p, const struct observation *o)
{
	return p->residuals == LOG && o->what != OF_SHARE;
}

static void
take(struct problem *p, struct growing *g, const struct observation *o)
{
	/* residuals are weight (fit - value)^2, or of the logarithms */
	const bool relative = p->residuals == RELATIVE && o->what != OF_SHARE;
	double value = is_log(p, o) ? log(o->value) : o->value, all, off;
	double scale = relative ? o->scale / o->value : o->scale, weight = scale * scale;

	if (g->at == NULL)
		*g = (struct growing){ .at = &p->observed[p->count++], .first_n = o->n };
	all = g->weight + weight;
	off = value - g->mean_value;
	p->rest += g->weight / all * weight * off * off;
	g->mean_value += weight / all * off;
	g->mean_log_n += weight / all * (log(o->n) - g->mean_log_n);
	g->weight = all;
	g->at->what = o->what;
	g->at->n = o->n > g->first_n ? exp(g->mean_log_n) : o->n;
	g->at->value = is_log(p, o) ? exp(g->mean_value) : g->mean_value;
	g->at->scale = sqrt(all);
	if (relative)
		g->at->scale *= g->at->value;
}

/* Merges observations of FROM at n within a factor RATIO; FROM is in order of n. */
static struct problem
put_together(const struct problem *from, double ratio)
{
	struct problem p = *from;
	struct growing growing[3] = { { .at = NULL } };

	p.observed = zalloc(from->count, sizeof *p.observed);
	p.count = 0;
	for (const struct observation *o = from->observed; o < from->observed + from->count; o++) {
		struct growing *g = &growing[o->what];

		if (g->at != NULL && o->n > ratio * g->first_n)
			g->at = NULL;
		take(&p, g, o);
	}
	return p;
}

static void
observe(struct problem *p, int what, double n, double value, double scale)
{
	p->observed[p->count++] = (struct observation){ .what = what, .n = n, .value = value,
	    .scale = scale };
	p->measured++;
	p->n_max = fmax(p->n_max, n);
	p->has_useful |= what == OF_USEFUL;
}

static struct problem
united(struct problem p)
{
	struct problem result = put_together(&p, 1);

	free(p.observed);
	return result;
}

struct problem
share_problem(const struct run *runs, size_t count)
{
	struct problem p = { .observed = zalloc(count, sizeof *p.observed) };

	for (size_t i = 0; i < count; i++)
		if (!isnan(runs[i].tau))
			observe(&p, OF_SHARE, runs[i].n, runs[i].tau / runs[i].t, 1);
	return united(p);
}

struct problem
time_problem(const struct run *runs, size_t count, enum residuals residuals)
{
	struct problem p = { .observed = zalloc(2 * count, sizeof *p.observed),
	    .residuals = residuals };

	for (const struct run *run = runs; run < runs + count; run++) {
		observe(&p, OF_TIME, run->n, run->t, 1);
		p.t_max = fmax(p.t_max, run->t);
		/* Equation 4 depends on f alone. Never quite 0, for its logarithm. */
		if (run->n > 1 && !isnan(run->tau))
			observe(&p, OF_USEFUL, run->n, fmax(run->t - run->tau, 1e-6 * run->t),
			    USEFUL_SCALE);
	}
	return united(p);
}

/* So fine that the curve is straight within an observation, in logarithms. */
struct problem
coarse_problem(const struct problem *p)
{
	struct problem coarse = put_together(p, 1);

	for (double ratio = 1.01; coarse.count > COARSE && ratio < 2; ratio *= 1.01) {
		free(coarse.observed);
		coarse = put_together(p, ratio);
	}
	return coarse;
}

void
problem_free(struct problem *p)
{
	free(p->observed);
}
