/* SPDX-License-Identifier: BSD-3-Clause */
/* The efficiencies, by both definitions in use. */
#include <math.h>

#include "../base/run/load.h"
#include "../base/tool/csv.h"
#include "../base/tool/json.h"
#include "../base/tool/table.h"
#include "replay.h"

static int64_t
largest(const int64_t *values, uint32_t count)
{
	int64_t most = 0;

	for (uint32_t i = 0; i < count; i++)
		most = values[i] > most ? values[i] : most;
	return most;
}

/* Of RANKS spans, the first of which may be longer only as its rank left MPI_Init before the others. */
static int64_t
together(const struct span *spans, uint32_t ranks)
{
	int64_t begin_ns = INT64_MIN, end_ns = INT64_MIN;

	for (uint32_t r = 0; r < ranks; r++) {
		begin_ns = spans[r].begin_ns > begin_ns ? spans[r].begin_ns : begin_ns;
		end_ns = spans[r].end_ns > end_ns ? spans[r].end_ns : end_ns;
	}
	return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

static void
efficiencies(struct result *result, const struct engine *e)
{
	struct span *spans = zalloc(2 * (size_t)result->ranks, sizeof *spans);

	for (uint32_t r = 0; r < result->ranks; r++) {
		spans[r] = e->runners[r].span;
		spans[result->ranks + r] = e->runners[r].recorded;
	}
	result->efficiency = efficiency_of_spans(spans, (int32_t)result->ranks, 0,
	    largest(result->finish_ns, result->ranks), result->whole);
	result->recorded = efficiency_of_spans(spans + result->ranks, (int32_t)result->ranks, 0,
	    largest(result->recorded_finish_ns, result->ranks), result->whole);
	result->together_ns = together(spans, result->ranks);
	result->recorded_together_ns = together(spans + result->ranks, result->ranks);
	free(spans);
}

void
result_of(struct result *result, const struct engine *e)
{
	uint32_t ranks = (uint32_t)e->known->ranks;

	result->ranks = ranks;
	result->finish_ns = zalloc(ranks, sizeof *result->finish_ns);
	result->recorded_finish_ns = zalloc(ranks, sizeof *result->recorded_finish_ns);
	result->useful_ns = zalloc(ranks, sizeof *result->useful_ns);
	result->recorded_useful_ns = zalloc(ranks, sizeof *result->recorded_useful_ns);
	for (uint32_t l = 0; l < e->locations; l++) {
		const struct runner *r = &e->runners[l];
		/* Of a rank that is blocked, since when it is. */
		int64_t finish_ns = (int64_t)((r->step == STEP_END ? r->begin_ns : r->now_ns) + 0.5);

		if (finish_ns > result->finish_ns[r->rank])
			result->finish_ns[r->rank] = finish_ns;
		if (r->recorded_leave_ns > result->recorded_finish_ns[r->rank])
			result->recorded_finish_ns[r->rank] = r->recorded_leave_ns;
		if (l < ranks) {	/* further threads are no part of these metrics */
			result->useful_ns[l] = (int64_t)(r->useful_ns + 0.5);
			result->recorded_useful_ns[l] = r->recorded_useful_ns;
		}
	}
	efficiencies(result, e);
	result->run_ns = largest(result->finish_ns, ranks);
	result->headline = &e->known->headline;
	result->recorded_run_ns = largest(result->recorded_finish_ns, ranks);
}

static int64_t
total(const int64_t *values, uint32_t count)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += values[i];
	return sum;
}

static double
ratio(int64_t a, int64_t b)
{
	return b > 0 ? (double)a / (double)b : 1;
}

/* POP: TE = ideal time / time, SerE = most useful time / ideal time, both of spans. */
void
print_json(const struct result *r)
{
	static struct text text;	/* large for a stack */
	struct json json, *out = &json;

	text_begin(&text, stdout, NULL);
	json_begin(out, &text);
	json_begin_object(out, NULL);
	json_int(out, "run_time_ns", r->run_ns);
	json_int(out, "recorded_run_time_ns", r->recorded_run_ns);
	json_begin_array(out, "finish_ns");
	for (uint32_t i = 0; i < r->ranks; i++)
		json_int(out, NULL, r->finish_ns[i]);
	json_end_array(out);
	json_significant(out, "transfer_efficiency", ratio(r->efficiency.span_ns, r->recorded.span_ns), 9);
	json_significant(out, "serialization_efficiency",
	    ratio(r->efficiency.useful_max_ns, r->efficiency.span_ns), 9);
	json_end_object(out);
	json_end_line(out);
	text_flush(&text);
}

/* What basicanalysis calls useful: the states of a Paraver trace, where there are any. */
static int64_t
most_useful(const struct result *r)
{
	return r->running_ns != NULL ? largest(r->running_ns, r->ranks) : r->recorded.useful_max_ns;
}

static int64_t
all_useful(const struct result *r)
{
	return r->running_ns != NULL ? total(r->running_ns, r->ranks) : r->recorded.useful_total_ns;
}

/* One run as numbers, for workflows/efficiency.mk. */
void
print_csv(const struct result *r)
{
	static struct text text;	/* large for a stack */
	const int64_t values[] = { r->efficiency.span_ns, r->recorded.span_ns, all_useful(r), most_useful(r),
		r->efficiency.useful_max_ns, r->instructions != NULL ? total(r->instructions, r->ranks) : 0,
		r->cycles != NULL ? total(r->cycles, r->ranks) : 0, r->together_ns, r->recorded_together_ns };
	struct csv csv;

	text_begin(&text, stdout, NULL);
	csv_begin(&csv, &text, "ranks,run_time_ns,recorded_run_time_ns,useful_total_ns,useful_max_ns,"
	    "ideal_useful_max_ns,instructions,cycles,together_ns,recorded_together_ns");
	csv_uint(&csv, r->ranks);
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
		csv_int(&csv, values[i]);
	csv_end_row(&csv);
	text_flush(&text);
}

static void
put_definition(struct table_writer *table, const char *name, double transfer, double serial, double comm)
{
	table_text(table, name);
	table_fixed(table, transfer, 6);
	table_fixed(table, serial, 6);
	table_fixed(table, comm, 6);
	table_end_line(table);
}

void
put_headline(struct text *out, const struct headline *headline, double run_ns, double recorded_ns)
{
	char *run = headline_text(headline);

	if (recorded_ns > 0)
		text_line(out, "%s: %.4g s on this network, %.4g s as recorded: %.1f %% %s", run, 1e-9 * run_ns,
		    1e-9 * recorded_ns, 100 * fabs(run_ns / recorded_ns - 1), run_ns > recorded_ns ? "more" : "less");
	else
		text_line(out, "%s: %.4g s on this network", run, 1e-9 * run_ns);
	load_line(out, headline);
	free(run);
}

void
print_table(const struct result *r)
{
	static struct text text;	/* large for a stack */
	double te = ratio(r->efficiency.span_ns, r->recorded.span_ns);
	double serial = ratio(r->efficiency.useful_max_ns, r->efficiency.span_ns);
	double comm = ratio(most_useful(r), r->recorded.span_ns);
	struct table_writer table;

	text_begin(&text, stdout, NULL);
	put_headline(&text, r->headline, (double)r->run_ns, (double)r->recorded_run_ns);
	text_print(&text, "run time\t%.9f s\nrecorded\t%.9f s\n", (double)r->run_ns / 1e9,
	    (double)r->recorded_run_ns / 1e9);
	text_print(&text, "efficiencies\t%s\n\n", span_rule(r->whole));
	table_begin(&table, &text, "definition\ttransfer\tserialisation\tcommunication");
	put_definition(&table, "POP", te, serial, te * serial);
	put_definition(&table, "basicanalysis", serial > 0 ? comm / serial : 0, serial, comm);
	table_end(&table);
	text_char(&text, '\n');
	table_begin(&table, &text, "rank\tfinish_s\trecorded_s\tuseful_s");
	for (uint32_t i = 0; i < r->ranks; i++) {
		table_uint(&table, i);
		table_fixed(&table, (double)r->finish_ns[i] / 1e9, 9);
		table_fixed(&table, (double)r->recorded_finish_ns[i] / 1e9, 9);
		table_fixed(&table, (double)r->useful_ns[i] / 1e9, 9);
		table_end_line(&table);
	}
	table_end(&table);
	text_flush(&text);
}
