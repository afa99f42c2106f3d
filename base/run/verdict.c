/* SPDX-License-Identifier: BSD-3-Clause */
#include "verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tool/memory.h"
#include "headline.h"

/* Two digits that mean something. */
static void
two_digits(double value, const char *unit, char *text, size_t size)
{
	snprintf(text, size, value < 9.95 ? "%.1f %s" : "%.0f %s", value, unit);
}

/* The same in the unit that fits. */
static void
seconds_text(double s, char *text, size_t size)
{
	const char *unit = s >= 1 ? "s" : s >= 1e-3 ? "ms" : "us";
	double value = s >= 1 ? s : s >= 1e-3 ? 1e3 * s : 1e6 * s;

	two_digits(value, unit, text, size);
}

char *
verdict_sentence(const struct verdict *v)
{
	char path[48] = "", cost[96] = "", gain[96] = "", length[24], share[24];
	size_t room = strlen(v->where) + 320;
	char *sentence = zalloc(room, 1);

	if (v->rank < 0) {
		snprintf(sentence, room, "no rank keeps the others waiting");
		return sentence;
	}
	if (isfinite(v->path_share))
		snprintf(path, sizeof path, " is %.0f %% of the critical path", 100 * v->path_share);
	if (isfinite(v->cost_s) && v->cost_s > 0) {
		seconds_text(v->cost_s, length, sizeof length);
		two_digits(100 * v->cost_s / v->all_s, "%", share, sizeof share);
		snprintf(cost, sizeof cost, "%s cost the others %s of rank time, %s of all",
		    path[0] != '\0' ? " and" : "", length, share);
	}
	if (isfinite(v->gain_share))
		snprintf(gain, sizeof gain, "; %d %% less there on all ranks gains %.1f %%", v->percent,
		    100 * v->gain_share);
	snprintf(sentence, room, "rank %d's %s%s%s%s%s", (int)v->rank,
	    !v->compute ? "time in " : v->where[0] == '\0' ? "computation" : "computation before ",
	    v->compute || v->where[0] != '\0' ? v->where : "MPI", path, cost, gain);
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
