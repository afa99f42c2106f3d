/* SPDX-License-Identifier: BSD-3-Clause */
#include "verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tool/memory.h"
#include "../tool/tool.h"
#include "headline.h"

const struct verdict no_verdict = { .rank = -1, .where = "", .unsampled_share = NAN, .times = NAN, .path_share = NAN, .cost_s = NAN,
	.gain_share = NAN };

static const double MUCH = 0.25;		/* not sampled: more is told */
static const double MANY = 1000;		/* times the mean: the others hardly compute there */

/* Two digits that mean something. */
static void
put_two_digits(FILE *out, double value, const char *unit)
{
	fprintf(out, "%.*f %s", value < 9.95, value, unit);
}

/* The same in the unit that fits. */
static void
put_seconds(FILE *out, double s)
{
	const char *unit = s >= 1 ? "s" : s >= 1e-3 ? "ms" : "us";

	put_two_digits(out, s >= 1 ? s : s >= 1e-3 ? 1e3 * s : 1e6 * s, unit);
}

static void
put_computation(FILE *out, const struct verdict *v)
{
	const char *slash = v->file != NULL ? strrchr(v->file, '/') : NULL;
	const bool longer = !v->alike && v->times >= 1.1 && v->times < MANY;

	fputs("computation", out);
	if (v->function != NULL)
		fprintf(out, " in %s", v->function);
	if (v->function != NULL && v->file != NULL)
		fprintf(out, " (%s)", slash != NULL ? slash + 1 : v->file);
	if (v->where[0] != '\0')
		fprintf(out, " before %s", v->where);
	if (v->alike)
		fputs(", alike on each", out);
	if (longer)
		fprintf(out, ", %.*f times the mean of the others", v->times < 9.95, v->times);
	if (v->unsampled_share >= MUCH)
		fprintf(out, ", %.0f %% of it not on a core or not sampled", 100 * v->unsampled_share);
	if (v->alike || longer || v->unsampled_share >= MUCH)
		fputs(",", out);
}

char *
verdict_sentence(const struct verdict *v)
{
	char *sentence = NULL;
	size_t size;
	FILE *out = need(open_memstream(&sentence, &size));

	if (v->rank < 0)
		fputs("no rank keeps the others waiting", out);
	else if (v->alike)
		fputs("the ranks' ", out);
	else
		fprintf(out, "rank %d's ", (int)v->rank);
	if (v->rank >= 0 && v->compute)
		put_computation(out, v);
	else if (v->rank >= 0)
		fprintf(out, "time in %s", v->where[0] != '\0' ? v->where : "MPI");
	if (isfinite(v->path_share))
		fprintf(out, " is %.0f %% of the critical path", 100 * v->path_share);
	if (isfinite(v->cost_s) && v->cost_s > 0) {
		fprintf(out, "%s cost %s ", isfinite(v->path_share) ? " and" : "", v->alike ? "each other" : "the others");
		put_seconds(out, v->cost_s);
		fputs(" of rank time, ", out);
		put_two_digits(out, 100 * v->cost_s / v->all_s, "%");
		fputs(" of all", out);
	}
	if (isfinite(v->gain_share))
		fprintf(out, "; %d %% less there on all ranks gains %.1f %%", v->percent, 100 * v->gain_share);
	if (fclose(out) != 0)
		die("out of memory");
	return sentence;
}

char *
verdict_line(const struct headline *headline, const struct verdict *verdict)
{
	char *run = headline_text(headline), *sentence = verdict_sentence(verdict);
	const size_t size = strlen(run) + strlen(sentence) + sizeof ": ";
	char *line = zalloc(size, 1);

	snprintf(line, size, "%s: %s", run, sentence);
	free(run);
	free(sentence);
	return line;
}
