/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules from verdicts: at each measured size of a function the fastest alternative, up to the next
 * measured size. Beyond the measured sizes there is no rule.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/mpi/catalogue.h"
#include "../../base/tool/table.h"
#include "mend.h"
#include "replaced.h"

static bool
is_one_of(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* NULL: it may replace the function. */
static const char *
why_not(const char *function, const char *other)
{
#define ONE(name) "MPI_" #name,
#define MOCKUP_NAME(gl, function, name, text, memory) #function "_as_" #name,
	static const char *const replaced[] = { REPLACED_FUNCTIONS(ONE) };
	static const char *const mockups[] = { MOCKUPS(MOCKUP_NAME) };

	if (strncmp(function, "MPI_I", 5) == 0)
		return "what blocks may not stand for what does not";
	if (!is_one_of(replaced, sizeof replaced / sizeof replaced[0], function))
		return "it is about types, and not bytes";
	if (strcmp(other, "split") == 0)
		return strcmp(function, "MPI_Sendrecv") == 0 ?
		    "the partner would not know of several messages" : NULL;
	return is_one_of(mockups, sizeof mockups / sizeof mockups[0], other) ? NULL :
	    "a guideline of one's own has no function in the library";
}

/* The rule of that size, added if new. */
static struct size_rule *
rule_of(struct mending *m, int64_t ranks, const char *function, uint64_t bytes)
{
	struct size_rule *rule;

	for (size_t i = 0; i < m->count; i++)
		if (m->at[i].ranks == ranks && m->at[i].from == bytes &&
		    strcmp(m->at[i].function, function) == 0)
			return &m->at[i];
	rule = APPEND(m->at, m->count, m->capacity);
	*rule = (struct size_rule){ .ranks = ranks, .from = bytes, .to = bytes,
	    .function = need(strdup(function)) };
	return rule;
}

static double
duration(struct reader *in, const struct message *message, const char *key)
{
	const msgpack_object *o = body_get(message, key);

	if (o == NULL || (o->type != MSGPACK_OBJECT_FLOAT64 && o->type != MSGPACK_OBJECT_FLOAT32) ||
	    !(o->via.f64 >= 0) || !isfinite(o->via.f64))
		die_message(in, message, "%s: %s is missing or no time", message->kind, key);
	return o->via.f64;
}

static void
take_test(struct mending *m, struct reader *in, const struct message *message, int64_t ranks)
{
	char *type = need_string(in, message, "type"),
	    *function = need_string(in, message, "function");
	char *other = need_string(in, message, "other");
	int64_t bytes, part, violated;
	struct size_rule *rule;
	double other_ns = duration(in, message, "other_ns"), gain;
	const char *why = why_not(function, other);

	if (body_int(in, message, "bytes", 0, INT32_MAX, &bytes) < 0 ||
	    body_int(in, message, "other_bytes", 0, INT32_MAX, &part) < 0 ||
	    body_int(in, message, "violated", 0, 1, &violated) < 0)
		die_input(in);
	if (strcmp(other, "split") == 0 && (part < 1 || part >= bytes))
		die_message(in, message, "test: other_bytes is no part of bytes");
	rule = rule_of(m, ranks, function, (uint64_t)bytes);
	rule->function_ns = duration(in, message, "function_ns");
	if (violated && strcmp(type, "monotony") != 0 && other_ns > 0 &&
	    (strcmp(type, "split") != 0 || strcmp(other, "split") == 0)) {
		gain = rule->function_ns / other_ns;
		if (why != NULL)
			rule->why_not = why;
		else if (rule->winner == NULL || gain > rule->function_ns / rule->winner_ns) {
			free(rule->winner);
			rule->winner = need(strdup(other));
			rule->winner_ns = other_ns;
			rule->part = strcmp(other, "split") == 0 ? (uint64_t)part : 0;
		}
	}
	free(type);
	free(function);
	free(other);
}

/* All verdicts must be from one library. */
static void
take_head(struct mending *m, struct reader *in, const struct message *message, int64_t *ranks)
{
	char *library = need_string(in, message, "library");
	int64_t failed;

	if (body_int(in, message, "ranks", 1, INT32_MAX, ranks) < 0 ||
	    body_int(in, message, "control_failed", 0, 1, &failed) < 0)
		die_input(in);
	if (m->library != NULL && strcmp(m->library, library) != 0)
		die_message(in, message, "a verdict on \"%s\"; that before is on \"%s\"",
		    library, m->library);
	if (failed)
		note("%s: the A/A control failed: this verdict is worthless", reader_file(in));
	free(m->library);
	m->library = library;
}

void
read_verdict(struct mending *m, const char *file)
{
	struct progress progress = { 0 };
	struct reader *in;
	struct message message;
	int64_t ranks = 0;

	if (reader_open(&in, file, READ_STREAM) < 0 || reader_need_content(in, "verdict") < 0)
		die_input(in);
	while (progress_next(&progress, in, &message))
		if (is_kind(&message, "verdict"))
			take_head(m, in, &message, &ranks);
		else if (is_kind(&message, "test") && ranks > 0)
			take_test(m, in, &message, ranks);
	if (ranks == 0) {
		reader_fail(in, 0, "there is no verdict in it");
		die_input(in);
	}
	reader_close(in);
}

ORDER(by_place, struct size_rule, BY(ranks) BY_TEXT(function) BY(from))

void
finish_rules(struct mending *m)
{
	SORT(m->at, m->count, by_place);
	for (size_t i = 0; i + 1 < m->count; i++)
		if (m->at[i].ranks == m->at[i + 1].ranks &&
		    strcmp(m->at[i].function, m->at[i + 1].function) == 0)
			m->at[i].to = m->at[i + 1].from - 1;
}

size_t
count_rules(const struct mending *m)
{
	size_t count = 0;

	for (size_t i = 0; i < m->count; i++)
		count += m->at[i].winner != NULL;
	return count;
}

char *
rules_text(const struct mending *m)
{
	char *text = NULL;
	size_t length;
	FILE *out = need(open_memstream(&text, &length));

	for (const struct size_rule *r = m->at; r < m->at + m->count; r++) {
		if (r->winner != NULL)
			fprintf(out, "%" PRId64 " %s %" PRIu64 " %" PRIu64 " %s %" PRIu64 "\n",
			    r->ranks, r->function, r->from, r->to, r->winner, r->part);
	}
	if (fclose(out) != 0)
		die("out of memory");
	return text;
}

void
print_rules(struct text *out, const struct mending *m)
{
	struct table_writer table;

	table_begin(&table, out,
	    "ranks\tfunction\tfrom_bytes\tto_bytes\tfunction_us\tinstead_us\tinstead");
	for (const struct size_rule *r = m->at; r < m->at + m->count; r++) {
		if (r->winner == NULL && r->why_not == NULL)
			continue;
		table_int(&table, r->ranks);
		table_text(&table, r->function);
		table_uint(&table, r->from);
		table_uint(&table, r->to);
		table_fixed(&table, 1e-3 * r->function_ns, 3);
		table_fixed(&table, r->winner != NULL ? 1e-3 * r->winner_ns : NAN, 3);
		if (r->winner == NULL)
			table_format(&table, "as it is: %s", r->why_not);
		else if (r->part > 0)
			table_format(&table, "calls of %" PRIu64 " bytes", r->part);
		else
			table_text(&table, r->winner);
		table_end_line(&table);
	}
	table_end(&table);
}
