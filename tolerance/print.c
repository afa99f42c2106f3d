/* SPDX-License-Identifier: BSD-3-Clause */
/* The curves, and the payers on the longest way, as text, JSON, CSV and in the stream. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/tool/fields.h"
#include "tolerance.h"

/* In text: pieces of a curve around the machine's own value; sites, communicators and pairs. */
enum { MOST_PIECES = 12, MOST_SHARES = 20 };

#define PIECE(member) FIELD(struct piece, member)
#define IN_13 .csv = "%.13g", .json = "%.13g"

static const struct field piece_fields[] = {
	{ "parameter", PIECE(parameter), .csv = PLAIN },
	{ "from_ns", PIECE(from), IN_13 },
	{ "to_ns", PIECE(to), IN_13 },
	{ "run_time_ns", PIECE(run_ns), IN_13 },
	{ "slope", PIECE(slope), IN_13 },
	{ "exact", PIECE(exact), .csv = PLAIN },
	FIELDS_END
};

struct percent_line { double percent, ns[PARAMETERS]; };
#define PERCENT(member) FIELD(struct percent_line, member), .text = "%.13g", .json = "%.13g", \
	.infinite = "any", .optional = true

static const struct field percent_fields[] = {
	{ "percent", PERCENT(percent), .head = "longer_%" },
	{ "latency_ns", PERCENT(ns[LATENCY]) }, { "gap_ns", PERCENT(ns[GAP]) },
	{ "overhead_ns", PERCENT(ns[OVERHEAD]) },
	FIELDS_END
};

#define SHARE(member) FIELD(struct share, member)
#define AMOUNT(name, member) { name, SHARE(member), .json = PLAIN, .text = "%.12g" }
#define IN_US .text = "%.3f", .scale = 1e-3
#define AMOUNTS { "path_ns", SHARE(ns), .json = PLAIN }, { "path_us", SHARE(ns), IN_US }, \
	AMOUNT("latencies", times[LATENCY]), AMOUNT("bytes", times[GAP]), AMOUNT("calls", \
	    times[OVERHEAD])

static const struct field site_fields[] = {
	{ "call", SHARE(call), .json = PLAIN }, { "site", SHARE(site), .json = PLAIN },
	AMOUNTS,
	{ "slack_ns", SHARE(slack_ns), .json = PLAIN },
	{ "waitless_ns", SHARE(waitless_ns), .json = PLAIN },
	{ "earlier_ns", SHARE(earlier_ns), .json = PLAIN },
	{ "slack_us", SHARE(slack_ns), IN_US, .infinite = "any" },
	{ "waitless_us", SHARE(waitless_ns), IN_US },
	{ "earlier_us", SHARE(earlier_ns), IN_US },
	{ "call", SHARE(call), .text = PLAIN }, { "site", SHARE(site), .text = PLAIN }, FIELDS_END
};
static const struct field comm_fields[] = {
	{ "comm", SHARE(who.comm), .json = PLAIN }, AMOUNTS,
	{ "comm", SHARE(who.comm), .text = PLAIN }, FIELDS_END
};
static const struct field pair_fields[] = {
	{ "source", SHARE(source), .json = PLAIN }, { "target", SHARE(target), .json = PLAIN },
	AMOUNTS, { "nodes", SHARE(nodes), .text = PLAIN }, FIELDS_END
};

static const struct {
	const char *key, *title;
	const struct field *fields;
} groupings[GROUPINGS] = {
	[BY_SITE] = { "sites", "\nthe longest way, by call site\n", site_fields },
	[BY_COMM] = { "communicators", "\nby communicator\n", comm_fields },
	[BY_PAIR] = { "nodes", "\nby nodes\n", pair_fields },
};

/* The payers on the longest way, if asked for and known; TEXT or JSON is NULL. */
static void
print_shares(struct tolerance *t, struct text *text, struct json *json)
{
	struct shares found[GROUPINGS];

	if (!t->sites || t->sampled != NULL)
		return;
	paths_find(&t->paths, &t->marks, found);
	for (int g = 0; g < GROUPINGS; g++) {
		size_t n = found[g].count;
		struct share *shares = found[g].at;

		for (struct share *s = shares; s < shares + n; s++) {
			const bool messages = s->who.source != NO_NODE;

			s->call = call_name(s->who.call);
			s->site = site_text(t->replay.engine.known, s->who.site);
			s->source = messages ? s->who.source : (double)NAN;
			s->target = messages ? s->who.target : (double)NAN;
			snprintf(s->nodes, sizeof s->nodes, "%u to %u", s->who.source,
			    s->who.target);
			if (!messages)
				strcpy(s->nodes, "collectives");
		}
		if (json != NULL)
			json_rows(json, groupings[g].key, groupings[g].fields, shares, n,
			    sizeof *shares);
		else {
			text_put(text, groupings[g].title);
			table_rows(text, groupings[g].fields, shares, n < MOST_SHARES ? n :
			    MOST_SHARES, sizeof *shares);
		}
	}
}

/* For each percentage the largest values of the parameters; INFINITY: any; NAN: not asked for. */
static struct percent_line *
percent_lines(const struct tolerance *t)
{
	struct percent_line *lines = zalloc(t->percent_count + 1, sizeof *lines);

	for (size_t i = 0; i < t->percent_count; i++) {
		lines[i].percent = t->percents[i];
		for (int p = 0; p < PARAMETERS; p++)
			lines[i].ns[p] = !t->wanted[p] ? NAN :
			    pieces_reach(t->pieces[p], t->piece_count[p], (1 + t->percents[i] /
			    100) * pieces_at(t->pieces[p], t->piece_count[p], t->base[p]));
	}
	return lines;
}

static void
print_json(struct tolerance *t, struct text *text)
{
	struct json json;
	char key[32];

	json_begin(&json, text);
	json_begin_object(&json, NULL);
	json_significant(&json, "run_time_ns", t->run_ns, 13);
	json_significant(&json, "recorded_run_time_ns", t->recorded_ns, 13);
	for (int p = 0; p < PARAMETERS; p++) {
		snprintf(key, sizeof key, "base_%s_ns", parameter_names[p]);
		json_significant(&json, key, t->base[p], 13);
	}
	json_bool(&json, "exact", t->sampled == NULL);
	if (t->sampled != NULL)
		json_text(&json, "sampled_because", t->sampled);
	for (int p = 0; p < PARAMETERS; p++)
		if (t->wanted[p])
			json_rows(&json, parameter_names[p], piece_fields, t->pieces[p],
			    t->piece_count[p], sizeof *t->pieces[p]);
	json_rows(&json, "tolerance", percent_fields, percent_lines(t), t->percent_count,
	    sizeof(struct percent_line));
	print_shares(t, NULL, &json);
	json_end_object(&json);
	json_end_line(&json);
}

/* The pieces around the machine's value. */
static void
print_curve(const struct tolerance *t, int p, struct text *text)
{
	size_t n = t->piece_count[p], here = 0, first;
	struct table_writer table;
	char head[64];

	while (here + 1 < n && t->pieces[p][here].to <= t->base[p])
		here++;
	first = here > MOST_PIECES / 2 ? here - MOST_PIECES / 2 : 0;
	snprintf(head, sizeof head, "%s_from_ns\tto_ns\trun_time_s\tslope", parameter_names[p]);
	text_char(text, '\n');
	table_begin(&table, text, head);
	for (size_t i = first; i < n && i < first + MOST_PIECES; i++) {
		const struct piece *piece = &t->pieces[p][i];

		table_significant(&table, piece->from, 13);
		if (isinf(piece->to))
			table_text(&table, "null");
		else
			table_significant(&table, piece->to, 13);
		table_fixed(&table, piece->run_ns / 1e9, 9);
		table_significant(&table, piece->slope, 13);
		if (i == here)
			table_text(&table, "the machine's");
		table_end_line(&table);
	}
	table_end(&table);
	if (n > MOST_PIECES)
		text_print(text, "%zu pieces in all\n", n);
}

/* Of a curve that ends, nothing is known beyond its end. */
static void
print_ends(const struct tolerance *t, const struct percent_line *lines, struct text *text)
{
	for (int p = 0; p < PARAMETERS; p++) {
		const double end = t->wanted[p] ? t->pieces[p][t->piece_count[p] - 1].to : INFINITY;

		for (size_t i = 0; i < t->percent_count && end < INFINITY; i++)
			if (lines[i].ns[p] >= end) {
				text_print(text, "%s_ns: no more than %.13g was tried, so a "
				    "tolerance of %.13g is that or more\n", parameter_names[p], end,
				    end);
				break;
			}
	}
}

static void
print_text(struct tolerance *t, struct text *text)
{
	const struct percent_line *lines = percent_lines(t);
	struct table_writer table;

	replay_headline(text, &t->replay, (int64_t)t->run_ns, (int64_t)t->recorded_ns);
	text_print(text, "run time\t%.9f s\n", t->run_ns / 1e9);
	if (t->sampled != NULL)
		text_print(text, "curves\tpoints, for %s\n", t->sampled);
	text_char(text, '\n');
	table_begin(&table, text, NULL);
	table_head(&table, percent_fields);
	table_text(&table, "machine");
	for (int p = 0; p < PARAMETERS; p++)
		table_significant(&table, t->base[p], 13);
	table_end_line(&table);
	for (size_t i = 0; i < t->percent_count; i++)
		table_row(&table, percent_fields, &lines[i]);
	table_end(&table);
	print_ends(t, lines, text);
	for (int p = 0; p < PARAMETERS; p++)
		if (t->wanted[p])
			print_curve(t, p, text);
	print_shares(t, text, NULL);
}

static void
print_csv(const struct tolerance *t, struct text *text)
{
	struct csv csv;

	csv_head(&csv, text, piece_fields);
	for (int p = 0; p < PARAMETERS; p++)
		for (size_t i = 0; i < t->piece_count[p]; i++)
			csv_row(&csv, piece_fields, &t->pieces[p][i]);
}

void
tolerance_print(struct tolerance *t)
{
	static struct text text;	/* large for a stack */

	text_begin(&text, stdout, NULL);
	if (t->form == JSON)
		print_json(t, &text);
	else if (t->form == CSV)
		print_csv(t, &text);
	else
		print_text(t, &text);
	text_flush(&text);
}

void
tolerance_write(const struct tolerance *t, struct writer *out)
{
	static const char *const keys[] = { "from", "run", "slope" };

	for (int p = 0; p < PARAMETERS; p++) {
		const size_t n = t->piece_count[p];
		double *values = zalloc(n + 1, sizeof *values);

		if (!t->wanted[p])
			continue;
		message_begin(out, "curve", 6);
		put_string(out, "parameter", parameter_names[p]);
		put_double(out, "base", t->base[p]);
		put_uint(out, "exact", t->sampled == NULL);
		for (int k = 0; k < 3; k++) {
			for (size_t i = 0; i < n; i++) {
				const struct piece *piece = &t->pieces[p][i];
				const double of[] = { piece->from, piece->run_ns, piece->slope };

				values[i] = of[k];
			}
			put_bytes(out, keys[k], values, n * sizeof *values);
		}
		end_message(out);
		free(values);
	}
}
