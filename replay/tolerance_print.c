/* SPDX-License-Identifier: BSD-3-Clause */
/* The curves as text, JSON, CSV and in the stream. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/stream/stream.h"
#include "../base/tool/tool.h"
#include "tolerance.h"

enum { MOST_SHOWN = 12 };	/* pieces of a curve in text: those around the machine's own value */

/* A number with the digits that it has, or null where it is without bound. */
static const char *
number(double value, char *text, size_t size)
{
	if (isnan(value))
		snprintf(text, size, "-");
	else if (!isfinite(value))
		snprintf(text, size, "null");
	else
		snprintf(text, size, fabs(value) < 1e15 ? "%.13g" : "%.0f", value);
	return text;
}

static void
put(const char *before, double value)
{
	char text[400];

	printf("%s%s", before, number(value, text, sizeof text));
}

static bool
has_sites(const struct tolerance *t)
{
	return t->sites && t->sampled == NULL;
}

void
tolerance_json(struct tolerance *t)
{
	put("{\"run_time_ns\":", t->run_ns);
	for (int p = 0; p < PARAMETERS; p++) {
		printf(",\"base_%s_ns\":", parameter_names[p]);
		put("", t->base[p]);
	}
	printf(",\"exact\":%s", t->sampled == NULL ? "true" : "false");
	if (t->sampled != NULL)
		printf(",\"sampled_because\":\"%s\"", t->sampled);
	for (int p = 0; p < PARAMETERS; p++) {
		if (!t->wanted[p])
			continue;
		printf(",\n\"%s\":[", parameter_names[p]);
		for (size_t i = 0; i < t->piece_count[p]; i++) {
			const struct piece *piece = &t->pieces[p][i];

			put(i > 0 ? ",\n{\"from_ns\":" : "{\"from_ns\":", piece->from);
			put(",\"to_ns\":", piece->to);
			put(",\"run_time_ns\":", piece->run_ns);
			put(",\"slope\":", piece->slope);
			printf("}");
		}
		printf("]");
	}
	printf(",\n\"tolerance\":[");
	for (size_t i = 0; i < t->percent_count; i++) {
		put(i > 0 ? ",\n{\"percent\":" : "{\"percent\":", t->percents[i]);
		for (int p = 0; p < PARAMETERS; p++) {
			if (!t->wanted[p])
				continue;
			printf(",\"%s_ns\":", parameter_names[p]);
			put("", tolerance_at(t, (enum parameter)p, t->percents[i]));
		}
		printf("}");
	}
	printf("]");
	if (has_sites(t)) {
		struct shares shares = paths_find(&t->paths, &t->marks);

		shares_json(&shares, t->known);
	}
	printf("}\n");
}

void
tolerance_csv(const struct tolerance *t)
{
	printf("parameter,from_ns,to_ns,run_time_ns,slope,exact\n");
	for (int p = 0; p < PARAMETERS; p++)
		for (size_t i = 0; i < t->piece_count[p]; i++) {
			const struct piece *piece = &t->pieces[p][i];

			printf("%s,", parameter_names[p]);
			put("", piece->from);
			if (isfinite(piece->to))
				put(",", piece->to);
			else
				printf(",");
			put(",", piece->run_ns);
			put(",", piece->slope);
			printf(",%d\n", t->sampled == NULL);
		}
}

static void
print_curve(const struct tolerance *t, int p)
{
	size_t n = t->piece_count[p], here = 0, first;

	while (here + 1 < n && t->pieces[p][here].to <= t->base[p])
		here++;
	first = here > MOST_SHOWN / 2 ? here - MOST_SHOWN / 2 : 0;
	printf("\n%s_from_ns\tto_ns\trun_time_s\tslope\n", parameter_names[p]);
	for (size_t i = first; i < n && i < first + MOST_SHOWN; i++) {
		const struct piece *piece = &t->pieces[p][i];

		put("", piece->from);
		put("\t", piece->to);
		printf("\t%.9f", piece->run_ns / 1e9);
		put("\t", piece->slope);
		printf("%s\n", i == here ? "\tthe machine's" : "");
	}
	if (n > MOST_SHOWN)
		printf("%zu pieces in all\n", n);
}

void
tolerance_table(struct tolerance *t)
{
	printf("run time\t%.9f s\n", t->run_ns / 1e9);
	if (t->sampled != NULL)
		printf("curves\tpoints, for %s\n", t->sampled);
	printf("\nlonger_%%\tlatency_ns\tgap_ns\toverhead_ns\n");
	printf("machine");
	for (int p = 0; p < PARAMETERS; p++)
		put("\t", t->base[p]);
	printf("\n");
	for (size_t i = 0; i < t->percent_count; i++) {
		put("", t->percents[i]);
		for (int p = 0; p < PARAMETERS; p++) {
			double at = tolerance_at(t, (enum parameter)p, t->percents[i]);

			if (isfinite(at) || isnan(at))
				put("\t", at);
			else
				printf("\tany");
		}
		printf("\n");
	}
	for (int p = 0; p < PARAMETERS; p++)
		if (t->wanted[p])
			print_curve(t, p);
	if (has_sites(t)) {
		struct shares shares = paths_find(&t->paths, &t->marks);

		shares_table(&shares, t->known);
	}
}

static void
put_numbers(struct writer *out, const char *key, const struct piece *pieces, size_t n, size_t offset)
{
	double *numbers = zalloc(n + 1, sizeof *numbers);

	for (size_t i = 0; i < n; i++)
		memcpy(&numbers[i], (const char *)&pieces[i] + offset, sizeof *numbers);
	put_bytes(out, key, numbers, n * sizeof *numbers);
	free(numbers);
}

void
tolerance_write(const struct tolerance *t, struct writer *out)
{
	for (int p = 0; p < PARAMETERS; p++) {
		if (!t->wanted[p])
			continue;
		message_begin(out, "curve", 6);
		put_string(out, "parameter", parameter_names[p]);
		put_double(out, "base", t->base[p]);
		put_uint(out, "exact", t->sampled == NULL);
		put_numbers(out, "from", t->pieces[p], t->piece_count[p], offsetof(struct piece, from));
		put_numbers(out, "run", t->pieces[p], t->piece_count[p], offsetof(struct piece, run_ns));
		put_numbers(out, "slope", t->pieces[p], t->piece_count[p], offsetof(struct piece, slope));
		if (message_end(out) < 0)
			die_output();
	}
}
