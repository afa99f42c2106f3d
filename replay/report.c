/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports: efficiencies by both definitions in use; the time of a rank or message by activity. */
#include <stdlib.h>
#include <string.h>

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

/* ---- where the time of a rank, or of a message, went ---- */

/* "3" is a rank, "3:17" the message sent in row 17 of location 3. */
void
explain_parse(struct explain *x, const char *text)
{
	char *end;

	x->asked = true;
	x->location = (uint32_t)strtoul(text, &end, 10);
	if (end != text && *end == ':') {
		const char *seq = end + 1;

		x->message = true;
		x->seq = strtoull(seq, &end, 10);
		if (end == seq)
			end = (char *)(uintptr_t)text;
	}
	if (end == text || *end != '\0')
		die("--explain: %s: a rank, or location:row of a send", text);
}

struct line { const char *what; double from_ns, to_ns, length_ns, share; };
#define LINE(member) FIELD(struct line, member)
#define IN_NS .text = "%.0f"
static const struct field span_fields[] = {
	{ "what", LINE(what), .text = PLAIN }, { "from_ns", LINE(from_ns), IN_NS },
	{ "to_ns", LINE(to_ns), IN_NS },
	{ "length_ns", LINE(length_ns), IN_NS }, FIELDS_END
};
static const struct field share_fields[] = {
	{ "what", LINE(what), .text = PLAIN }, { "length_ns", LINE(length_ns), IN_NS },
	{ "share", LINE(share), .text = "%.6f" }, FIELDS_END
};

void
explain_message(struct text *out, const struct engine *e, uint32_t flight)
{
	static const char *const names[] = { "latency", "partner", "link", "bus", "wire" };
	enum { STEPS = sizeof names / sizeof *names };
	const struct flight *f = &e->flights[flight];
	const struct trail *trail = &e->trails[flight];
	const double times[STEPS + 1] = { f->sent_ns - flight_latency_ns(e, f),
	    f->sent_ns, trail->due_ns,
		trail->linked_ns, trail->start_ns, f->arrived_ns };
	struct line lines[STEPS];

	for (int i = 0; i < STEPS; i++)
		lines[i] = (struct line){ names[i], times[i], times[i + 1],
		    times[i + 1] - times[i], 0 };
	text_print(out, "message %u:%llu to %u:%llu, %llu bytes, %s\n",
	    f->source, (unsigned long long)trail->send_seq,
	    f->target, (unsigned long long)trail->receive_seq, (unsigned long long)trail->bytes,
	    f->flags & MESSAGE_RENDEZVOUS ? "rendezvous" : "eager");
	table_rows(out, span_fields, lines, STEPS, sizeof *lines);
}

void
explain_rank(struct text *out, const struct engine *e, uint32_t location)
{
	const struct runner *r = &e->runners[location];
	const struct spent *s = &r->spent;
	double rest, all;

	if (location >= e->locations)
		die("--explain: there is no rank %u", location);
	all = r->begin_ns;
	rest = all - r->useful_ns - s->latency_ns - s->wire_ns - s->link_ns - s->bus_ns -
	    s->partner_ns - s->cpu_ns;
	struct line lines[] = {
		{ "compute", .length_ns = r->useful_ns }, { "latency", .length_ns = s->latency_ns },
		{ "wire", .length_ns = s->wire_ns }, { "link", .length_ns = s->link_ns },
		{ "bus", .length_ns = s->bus_ns }, { "partner", .length_ns = s->partner_ns },
		{ "CPU", .length_ns = s->cpu_ns }, { "files", .length_ns = rest > 0.5 ? rest : 0 },
		{ "all", .length_ns = all },
	};
	enum { LINES = sizeof lines / sizeof *lines };
	for (int i = 0; i < LINES; i++)
		lines[i].share = all > 0 ? lines[i].length_ns / all : 0;
	text_print(out, "rank %u\n", r->rank);
	table_rows(out, share_fields, lines, LINES, sizeof *lines);
}
