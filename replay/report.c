/* SPDX-License-Identifier: BSD-3-Clause */
/* The efficiencies, by both definitions in use. */
#include <math.h>

#include "../base/tool/fields.h"
#include "replay.h"

static int64_t
largest(const int64_t *values, uint32_t count)
{
	int64_t most = 0;

	for (uint32_t i = 0; i < count; i++)
		most = values[i] > most ? values[i] : most;
	return most;
}

/*
 * From the last begin of RANKS spans to their last end: a rank may leave MPI_Init earlier than
 * others.
 */
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

		if (finish_ns(r) > result->finish_ns[r->rank])
			result->finish_ns[r->rank] = finish_ns(r);
		if (r->recorded_leave_ns > result->recorded_finish_ns[r->rank])
			result->recorded_finish_ns[r->rank] = r->recorded_leave_ns;
		if (l < ranks) {	/* these metrics use first threads only */
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

struct derived {		/* derived values in the reports */
	int64_t ranks, run_ns, recorded_run_ns, useful_ns, most_useful_ns, ideal_most_useful_ns,
	    instructions, cycles, together_ns, recorded_together_ns;
	double transfer, serial;
};
#define DERIVED(member) FIELD(struct derived, member)

/* For workflows/efficiency.mk: run times are those of spans. */
static const struct field csv_fields[] = {
	{ "ranks", DERIVED(ranks), IN_DATA },
	{ "run_time_ns", DERIVED(run_ns), IN_DATA },
	{ "recorded_run_time_ns", DERIVED(recorded_run_ns), IN_DATA },
	{ "useful_total_ns", DERIVED(useful_ns), IN_DATA },
	{ "useful_max_ns", DERIVED(most_useful_ns), IN_DATA },
	{ "ideal_useful_max_ns", DERIVED(ideal_most_useful_ns), IN_DATA },
	{ "instructions", DERIVED(instructions), IN_DATA },
	{ "cycles", DERIVED(cycles), IN_DATA },
	{ "together_ns", DERIVED(together_ns), IN_DATA },
	{ "recorded_together_ns", DERIVED(recorded_together_ns), IN_DATA },
	FIELDS_END
};

/* POP: TE = ideal time / time, SerE = most useful time / ideal time, both of spans. */
static struct derived
derive(const struct result *r)
{
	const struct efficiency *e = &r->efficiency, *recorded = &r->recorded;
	/* of a Paraver trace: useful as in basicanalysis */
	bool states = r->running_ns != NULL;

	return (struct derived){ r->ranks, e->span_ns, recorded->span_ns,
	    states ? total(r->running_ns, r->ranks) : recorded->useful_total_ns,
	    states ? largest(r->running_ns, r->ranks) : recorded->useful_max_ns, e->useful_max_ns,
	    r->instructions != NULL ? total(r->instructions, r->ranks) : 0,
	    r->cycles != NULL ? total(r->cycles, r->ranks) : 0, r->together_ns,
	    r->recorded_together_ns, ratio(e->span_ns, recorded->span_ns), ratio(e->useful_max_ns,
	    e->span_ns) };
}

static void
print_json(const struct result *r, const struct derived *d, struct text *text)
{
	struct json json;

	json_begin(&json, text);
	json_begin_object(&json, NULL);
	json_int(&json, "run_time_ns", r->run_ns);
	json_int(&json, "recorded_run_time_ns", r->recorded_run_ns);
	json_begin_array(&json, "finish_ns");
	for (uint32_t i = 0; i < r->ranks; i++)
		json_int(&json, NULL, r->finish_ns[i]);
	json_end_array(&json);
	json_significant(&json, "transfer_efficiency", d->transfer, 9);
	json_significant(&json, "serialization_efficiency", d->serial, 9);
	json_end_object(&json);
	json_end_line(&json);
}

struct definition { const char *name; double transfer, serial, communication; };
#define DEFINITION(member) FIELD(struct definition, member)
static const struct field definition_fields[] = {
	{ "definition", DEFINITION(name), .text = PLAIN },
	{ "transfer", DEFINITION(transfer), .text = "%.6f" },
	{ "serialisation", DEFINITION(serial), .text = "%.6f" },
	{ "communication", DEFINITION(communication), .text = "%.6f" },
	FIELDS_END
};

struct rank_line { int64_t rank, finish_ns, recorded_ns, useful_ns; };
#define RANK(member) FIELD(struct rank_line, member), .text = "%.9f", .scale = 1e-9
static const struct field rank_fields[] = {
	{ "rank", FIELD(struct rank_line, rank), .text = PLAIN },
	{ "finish_s", RANK(finish_ns) }, { "recorded_s", RANK(recorded_ns) },
	{ "useful_s", RANK(useful_ns) },
	FIELDS_END
};

static void
print_text(const struct result *r, const struct replay *replay, const struct derived *d,
    struct text *text)
{
	double comm = ratio(d->most_useful_ns, d->recorded_run_ns);
	const struct definition definitions[] = {
		{ "POP", d->transfer, d->serial, d->transfer * d->serial },
		{ "basicanalysis", d->serial > 0 ? comm / d->serial : 0, d->serial, comm },
	};
	struct rank_line *lines = zalloc(r->ranks, sizeof *lines);

	for (uint32_t i = 0; i < r->ranks; i++)
		lines[i] = (struct rank_line){ i, r->finish_ns[i], r->recorded_finish_ns[i],
		    r->useful_ns[i] };
	replay_headline(text, replay, r->run_ns, r->recorded_run_ns);
	text_print(text, "run time\t%.9f s\nrecorded\t%.9f s\n", (double)r->run_ns / 1e9,
	    (double)r->recorded_run_ns / 1e9);
	text_print(text, "efficiencies\t%s\n\n", span_rule(r->whole));
	table_rows(text, definition_fields, definitions, 2, sizeof *definitions);
	text_char(text, '\n');
	table_rows(text, rank_fields, lines, r->ranks, sizeof *lines);
}

void
result_print(struct text *out, const struct result *result, const struct replay *replay,
    enum form form)
{
	const struct derived derived = derive(result);

	if (form == JSON)
		print_json(result, &derived, out);
	else if (form == CSV)
		csv_rows(out, csv_fields, &derived, 1, sizeof derived);
	else
		print_text(result, replay, &derived, out);
}
