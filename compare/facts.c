/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Differences without noise: one run per side is enough. A count is a fact if it is the same in all
 * runs of a side. If sides differ in ranks, counts are compared per rank. The number of tests and
 * probes is random, and no fact.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

/* COUNT of each side; NULL: the fact is only in words. */
static void __attribute__((format(printf, 5, 6)))
add_fact(struct verdict *v, const char *what, uint32_t unit, const uint64_t *count,
    const char *format, ...)
{
	struct fact *fact = APPEND(v->facts, v->fact_count, v->fact_capacity);
	va_list arguments;

	*fact = (struct fact){ .what = what, .unit = unit, .a = NAN, .b = NAN };
	if (count != NULL) {
		fact->a = (double)count[A];
		fact->b = (double)count[B];
	}
	va_start(arguments, format);
	vsnprintf(fact->text, sizeof fact->text, format, arguments);
	va_end(arguments);
}

/* The count of each side. Returns false if runs of a side differ. */
static bool
counts(const struct comparison *c, VALUE(of), size_t unit, uint64_t count[SIDES])
{
	for (int side = A; side < SIDES; side++) {
		count[side] = (uint64_t)of(&c->runs[side][0], unit);
		for (size_t r = 1; r < c->count[side]; r++)
			if ((uint64_t)of(&c->runs[side][r], unit) != count[side])
				return false;
	}
	return true;
}

static VALUE_IS(ranks_of, run->ranks)
static VALUE_IS(messages_of, (int64_t)run->messages)
static VALUE_IS(collectives_of, (int64_t)run->collectives)
static VALUE_IS(communicators_of, (int64_t)run->communicators)
static VALUE_IS(steps_of, (int64_t)run->steps)
static VALUE_OF_UNIT(calls_of, calls)
static VALUE_OF_UNIT(sent_of, sent_bytes)
static VALUE_OF_UNIT(received_of, received_bytes)
static VALUE_OF_UNIT(comm_of, comm)
static VALUE_OF_UNIT(comm_size_of, comm_size)
static VALUE_OF_UNIT(polls_of, polls)

/* Whether the sides differ; per rank if their numbers of ranks do. */
static bool
differ(const uint64_t count[SIDES], const uint64_t ranks[SIDES])
{
	return count[A] != count[B] && (count[A] / ranks[A] != count[B] / ranks[B] ||
	    count[A] % ranks[A] * ranks[B] != count[B] % ranks[B] * ranks[A]);
}

static void
run_facts(const struct comparison *c, struct verdict *v, const uint64_t ranks[SIDES])
{
	static const struct { const char *what, *text; VALUE(of); } all[] = {
		{ "messages", "messages", messages_of },
		{ "collectives", "instances of collectives", collectives_of },
		{ "communicators", "communicators made", communicators_of },
		{ "steps", "steps", steps_of },
	};
	const char *program[SIDES] = { c->runs[A][0].program, c->runs[B][0].program };
	uint64_t count[SIDES];

	if (ranks[A] != ranks[B])
		add_fact(v, "ranks", NOBODY, ranks, "%" PRIu64 " ranks, then %" PRIu64, ranks[A],
		    ranks[B]);
	if (program[A] != NULL && program[B] != NULL && strcmp(program[A], program[B]) != 0)
		add_fact(v, "program", NOBODY, NULL, "the program was %s, then %s", program[A],
		    program[B]);
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (counts(c, all[i].of, 0, count) && count[A] != count[B])
			add_fact(v, all[i].what, NOBODY, count, "%" PRIu64 " %s, then %" PRIu64,
			    count[A], all[i].text, count[B]);
}

/* ---- facts in words --------------------------------------------------------------------- */

/* A variable of a run, or its hosts if NAME is NULL. NULL: it has none. */
static const char *
words_of(const struct summary *run, const char *name)
{
	for (size_t i = 0; name != NULL && i < run->variable_count; i++)
		if (strcmp(run->environment[i].name, name) == 0)
			return run->environment[i].value;
	return name == NULL ? run->hosts : NULL;
}

/* The text of each side. Returns false if runs of a side differ. */
static bool
words(const struct comparison *c, const char *name, const char *text[SIDES])
{
	for (int side = A; side < SIDES; side++) {
		text[side] = words_of(&c->runs[side][0], name);
		for (size_t r = 1; r < c->count[side]; r++) {
			const char *other = words_of(&c->runs[side][r], name);

			if ((text[side] == NULL) != (other == NULL) ||
			    (other != NULL && strcmp(text[side], other) != 0))
				return false;
		}
	}
	return true;
}

/* If sides differ in ranks, and so in ranks per host, hosts are still the same. */
static bool
same_hosts(const char *a, const char *b, bool same_ranks)
{
	if (same_ranks)
		return strcmp(a, b) == 0;
	while (*a != '\0' && *a == *b) {
		if (*a == '*') {
			a += strcspn(a, " ");
			b += strcspn(b, " ");
		} else {
			a++;
			b++;
		}
	}
	return *a == *b;
}

/* Joins the first lines of an MPI library's version. */
static void
one_line(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text != NULL ? text : "not set");
	for (char *at = to; *at != '\0'; at++)
		if (*at == '\n' || *at == '\t')
			*at = ' ';
}

static void
variable_fact(const struct comparison *c, struct verdict *v, const char *name)
{
	const bool library = strcmp(name, "MPI_Get_library_version") == 0;
	const char *text[SIDES];
	char was[200], is[200];

	if (!words(c, name, text) ||
	    (text[A] != NULL && text[B] != NULL && strcmp(text[A], text[B]) == 0))
		return;
	for (size_t i = 0; i < v->fact_count; i++)	/* also set in B */
		if (v->facts[i].name != NULL && strcmp(v->facts[i].name, name) == 0)
			return;
	one_line(was, sizeof was, text[A]);
	one_line(is, sizeof is, text[B]);
	add_fact(v, library ? "library" : "environment", NOBODY, NULL, "%s was %s, then %s",
	    library ? "the MPI library" : name, was, is);
	v->facts[v->fact_count - 1].name = name;
}

/* Differs in every job. */
static bool
names_job(const char *variable)
{
	return strncmp(variable, "SLURM_", 6) == 0 &&
	    strcmp(variable, "SLURM_CLUSTER_NAME") != 0 &&
	    strcmp(variable, "SLURM_JOB_PARTITION") != 0;
}

/* Only if both sides have recorded their environment. */
static void
word_facts(const struct comparison *c, struct verdict *v, bool same_ranks)
{
	const char *hosts[SIDES];

	if (words(c, NULL, hosts) && hosts[A] != NULL && hosts[B] != NULL &&
	    !same_hosts(hosts[A], hosts[B], same_ranks))
		add_fact(v, "hosts", NOBODY, NULL, "hosts and their ranks were %.200s, then %.200s",
		    hosts[A], hosts[B]);
	for (size_t r = 0; r < c->run_count; r++)
		if (c->all[r].variable_count == 0)
			return;
	for (int side = A; side < SIDES; side++)
		for (size_t i = 0; i < c->runs[side][0].variable_count; i++)
			if (!names_job(c->runs[side][0].environment[i].name))
				variable_fact(c, v, c->runs[side][0].environment[i].name);
}

/* ---- facts of sites --------------------------------------------------------------------- */

static void
unit_facts(const struct comparison *c, struct verdict *v, uint32_t u, const uint64_t ranks[SIDES])
{
	const struct unit *unit = &c->units[u];
	uint64_t calls[SIDES], bytes[SIDES], comm[SIDES], size[SIDES], polls[SIDES];
	const bool same_calls = counts(c, calls_of, u, calls);
	const char *text = unit->place.text;

	if (!counts(c, polls_of, u, polls) || polls[A] || polls[B])
		return;
	if (unit->first->call != NULL &&
	    (unit->on[A] == NULL) != (unit->on[B] == NULL) && same_calls) {
		add_fact(v, "site", u, calls, "%.255s is only in %s, %" PRIu64 " calls", text,
		    unit->on[A] != NULL ? "A" : "B", calls[A] + calls[B]);
		return;
	}
	if (same_calls && differ(calls, ranks))
		add_fact(v, "calls", u, calls, "%.255s: %" PRIu64 " calls, then %" PRIu64, text,
		    calls[A], calls[B]);
	for (int received = 0; received < 2; received++)
		if (counts(c, received ? received_of : sent_of, u, bytes) && differ(bytes, ranks))
			add_fact(v, received ? "bytes_received" : "bytes_sent", u, bytes,
			    "%.255s: %" PRIu64 " bytes %s in %" PRIu64 " calls, then %" PRIu64
			    " in %" PRIu64, text, bytes[A], received ? "received" : "sent",
			    calls[A], bytes[B], calls[B]);
	if (unit->first->call != NULL && counts(c, comm_of, u, comm) &&
	    counts(c, comm_size_of, u, size) && (comm[A] != comm[B] || differ(size, ranks)))
		add_fact(v, "communicator", u, size, "%.255s: on communicator %" PRIu64 " of %"
		    PRIu64 " ranks, then %" PRIu64 " of %" PRIu64, text, comm[A], size[A], comm[B],
		    size[B]);
}

void
find_facts(const struct comparison *c, struct verdict *v)
{
	uint64_t ranks[SIDES];

	if (!counts(c, ranks_of, 0, ranks))
		die("the runs of a side have different numbers of ranks");
	run_facts(c, v, ranks);
	word_facts(c, v, ranks[A] == ranks[B]);
	for (uint32_t u = 0; u < c->unit_count; u++)
		unit_facts(c, v, u, ranks);
}
