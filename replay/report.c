/* SPDX-License-Identifier: BSD-3-Clause */
/* The efficiencies, by both definitions in use. */
#include <stdlib.h>

#include "../base/tool/fields.h"
#include "replay.h"

static int64_t
largest(const int64_t *values, uint32_t count)
{
	int64_t most = 0;

	for (uint32_t i = 0; i < count; i++)
		most = larger(most, values[i]);
	return most;
}

static double
ratio(int64_t a, int64_t b)
{
	return b > 0 ? (double)a / (double)b : 1;
}

/*
 * Efficiencies of RANKS spans. TOGETHER_NS: from their last begin to their last end, since a rank
 * may leave MPI_Init earlier than others.
 */
static struct efficiency
efficiency_of(const struct result *r, const struct span *spans, const int64_t *finish_ns,
    int64_t *together_ns)
{
	int64_t begin_ns = INT64_MIN, end_ns = INT64_MIN;

	for (uint32_t i = 0; i < r->ranks; i++) {
		begin_ns = larger(begin_ns, spans[i].begin_ns);
		end_ns = larger(end_ns, spans[i].end_ns);
	}
	*together_ns = end_ns > begin_ns ? end_ns - begin_ns : 0;
	return efficiency_of_spans(spans, (int32_t)r->ranks, 0, largest(finish_ns, r->ranks),
	    r->whole);
}

void
result_of(struct result *r, const struct engine *e)
{
	const uint32_t ranks = (uint32_t)e->known->ranks;
	struct span *spans = zalloc(ranks, sizeof *spans), *recorded = zalloc(ranks, sizeof *spans);

	r->ranks = ranks;
	r->finish_ns = zalloc(ranks, sizeof *r->finish_ns);
	r->recorded_finish_ns = zalloc(ranks, sizeof *r->recorded_finish_ns);
	r->useful_ns = zalloc(ranks, sizeof *r->useful_ns);
	r->recorded_useful_ns = zalloc(ranks, sizeof *r->recorded_useful_ns);
	for (uint32_t l = 0; l < e->locations; l++) {
		const struct runner *of = &e->runners[l];
		int64_t *recorded_ns = &r->recorded_finish_ns[of->rank];

		r->finish_ns[of->rank] = larger(r->finish_ns[of->rank], finish_ns(of));
		*recorded_ns = larger(*recorded_ns, of->recorded_leave_ns);
		if (l < ranks) {	/* these metrics use first threads only */
			r->useful_ns[l] = (int64_t)(of->useful_ns + 0.5);
			r->recorded_useful_ns[l] = of->recorded_useful_ns;
			spans[l] = of->span;
			recorded[l] = of->recorded;
		}
	}
	r->run_ns = largest(r->finish_ns, ranks);
	r->recorded_run_ns = largest(r->recorded_finish_ns, ranks);
	r->efficiency = efficiency_of(r, spans, r->finish_ns, &r->together_ns);
	r->recorded = efficiency_of(r, recorded, r->recorded_finish_ns, &r->recorded_together_ns);
	if (!r->has_states) {
		r->all_useful_ns = r->recorded.useful_total_ns;
		r->most_useful_ns = r->recorded.useful_max_ns;
	}
	/* ideal time / time, and most useful time / ideal time, both of spans */
	r->transfer = ratio(r->efficiency.span_ns, r->recorded.span_ns);
	r->serial = ratio(r->efficiency.useful_max_ns, r->efficiency.span_ns);
	free(spans);
	free(recorded);
}

#define RESULT(member) FIELD(struct result, member), IN_DATA

/* For workflows/efficiency.mk: run times are those of spans. */
static const struct field csv_fields[] = {
	{ "ranks", RESULT(ranks) },
	{ "run_time_ns", RESULT(efficiency.span_ns) },
	{ "recorded_run_time_ns", RESULT(recorded.span_ns) },
	{ "useful_total_ns", RESULT(all_useful_ns) },
	{ "useful_max_ns", RESULT(most_useful_ns) },
	{ "ideal_useful_max_ns", RESULT(efficiency.useful_max_ns) },
	{ "instructions", RESULT(instructions) },
	{ "cycles", RESULT(cycles) },
	{ "together_ns", RESULT(together_ns) },
	{ "recorded_together_ns", RESULT(recorded_together_ns) },
	FIELDS_END
};

static void
print_json(const struct result *r, struct text *text)
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
	json_significant(&json, "transfer_efficiency", r->transfer, 9);
	json_significant(&json, "serialization_efficiency", r->serial, 9);
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
print_text(const struct result *r, const struct replay *replay, struct text *text)
{
	double comm = ratio(r->most_useful_ns, r->recorded.span_ns);
	const struct definition definitions[] = {
		{ "POP", r->transfer, r->serial, r->transfer * r->serial },
		{ "basicanalysis", r->serial > 0 ? comm / r->serial : 0, r->serial, comm },
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
	if (form == JSON)
		print_json(result, out);
	else if (form == CSV)
		csv_rows(out, csv_fields, result, 1, sizeof *result);
	else
		print_text(result, replay, out);
}
