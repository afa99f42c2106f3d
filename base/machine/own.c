/* SPDX-License-Identifier: BSD-3-Clause */
/* The own format, MACHINE in lp-replay(1): lines of words, sizes and times with units. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#define NODE(member) offsetof(struct node, member)
#define ISLAND(member) offsetof(struct island, member)
#define MACHINE(member) offsetof(struct machine, member)

const struct setting node_settings[] = {
	{ "cpus", IS_COUNT, NODE(cpus), 3 },
	{ "speed", IS_NUMBER, NODE(ratio), 8 },
	{ "memory latency", IS_TIME, NODE(local_latency_ns), 6 },
	{ "memory bandwidth", IS_RATE, NODE(local_ns_per_byte), 9 },
	{ "memory buses", IS_COUNT, NODE(memory_buses), 3 },
	{ "memory links", IS_TWO_COUNTS, NODE(memory_in), 0 },
	{ "latency", IS_TIME, NODE(latency_ns), 7 },
	{ "links", IS_TWO_COUNTS, NODE(in), 4 },
	{ "wide latency", IS_TIME, NODE(wide_latency_ns), 10 },
	{ .words = NULL },
};

static const struct setting island_settings[] = {
	{ "bandwidth", IS_RATE, ISLAND(ns_per_byte), 0 },
	{ "buses", IS_COUNT, ISLAND(buses), 0 },
	{ .words = NULL },
};

static const struct setting machine_settings[] = {
	{ "init recorded", IS_FLAG, MACHINE(keeps_init), 0 },
	{ "communicators recorded", IS_FLAG, MACHINE(keeps_making), 0 },
	{ "wide bandwidth", IS_RATE, MACHINE(wide_ns_per_byte), 0 },
	{ "wide collectives", IS_MODEL, MACHINE(wide_model), 0 },
	{ "overhead call", IS_TIME, MACHINE(call_ns), 0 },
	{ "overhead send", IS_OVERHEAD, MACHINE(network.send), 0 },
	{ "overhead sent", IS_OVERHEAD, MACHINE(network.sent), 0 },
	{ "overhead receive", IS_OVERHEAD, MACHINE(network.receive), 0 },
	{ "memory overhead send", IS_OVERHEAD, MACHINE(memory.send), 0 },
	{ "memory overhead sent", IS_OVERHEAD, MACHINE(memory.sent), 0 },
	{ "memory overhead receive", IS_OVERHEAD, MACHINE(memory.receive), 0 },
	{ "time", IS_TABLE, MACHINE(network.travel), 0 },
	{ "memory time", IS_TABLE, MACHINE(memory.travel), 0 },
	{ "gap", IS_GAP, MACHINE(network), 0 },
	{ "memory gap", IS_GAP, MACHINE(memory), 0 },
	{ "work", IS_WORK, MACHINE(network), 0 },
	{ "memory work", IS_WORK, MACHINE(memory), 0 },
	{ "combining", IS_COMBINING, MACHINE(combining), 0 },
	{ .words = NULL },
};

struct unit { const char *name; double factor; };
static const struct unit times[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
    { NULL, 0 } };
static const struct unit sizes[] = { { "B", 1 }, { "KiB", 1024 }, { "MiB", 1048576 }, { NULL, 0 } };
static const struct unit rates[] = {	/* bytes per second */
	{ "B/s", 1 }, { "kB/s", 1e3 }, { "MB/s", 1e6 }, { "GB/s", 1e9 }, { "KiB/s", 1024 },
	{ "MiB/s", 1048576 }, { "GiB/s", 1073741824 }, { "Mbit/s", 125e3 }, { "Gbit/s", 125e6 },
	{ NULL, 0 },
};

static const char *
word_at(const struct config *c, int i)
{
	return i < c->count ? c->words[i] : "";
}

/* Whether the line begins with WORDS; marks these as used. */
static bool
is_line_of(struct config *c, const char *words)
{
	int used = 0;

	for (const char *at = words; *at != '\0'; used++) {
		size_t length = strcspn(at, " ");

		if (strlen(word_at(c, used)) != length || memcmp(word_at(c, used), at, length) != 0)
			return false;
		at += length + (at[length] == ' ');
	}
	c->used = used;
	return true;
}

static int64_t
count(struct config *c, int i)
{
	double value = config_number(c, i, 0);

	if (value != (double)(int64_t)value)
		die_config(c, "%s is no whole number", c->words[i]);
	return (int64_t)value;
}

static bool
is_unit(const struct config *c, int i, const struct unit *units, double *factor)
{
	for (; units->name != NULL; units++)
		if (strcmp(word_at(c, i), units->name) == 0) {
			*factor = units->factor;
			return true;
		}
	return false;
}

/* Words I and I + 1: a number and its unit. */
static double
quantity(struct config *c, int i, const struct unit *units)
{
	double value = config_number(c, i, 0), factor;

	if (!is_unit(c, i + 1, units, &factor))
		die_config(c, "%s: a unit is missing or not known", c->words[0]);
	c->used = i + 2;
	return value * factor;
}

/* A rate as ns per byte. */
static double
ns_each(struct config *c, int i)
{
	double rate;

	if (strcmp(word_at(c, i), "infinite") == 0) {
		c->used = i + 1;
		return 0;
	}
	rate = quantity(c, i, rates);
	return rate > 0 ? 1e9 / rate : 0;
}

/* BYTES UNIT TIME UNIT from word I on: a line of a table, sizes ascending. */
static void
take_size(struct config *c, struct curve_by_size *curve, int i)
{
	struct travel travel = { quantity(c, i, sizes), quantity(c, i + 2, times) };

	if (curve->count > 0 && curve->at[curve->count - 1].bytes >= travel.bytes)
		die_config(c, "sizes are not ascending");
	*APPEND(curve->at, curve->count, curve->capacity) = travel;
	curve->told = true;
}

/* A line of a table; or a RATE, possibly with a TIME before it. TIME may stand alone. */
static void
take_curve(struct config *c, struct curve_by_size *curve, bool has_time)
{
	double factor;
	int i = c->used;

	if (is_unit(c, i + 1, sizes, &factor)) {
		take_size(c, curve, i);
		return;
	}
	curve->told = true;
	if (has_time) {
		curve->ns = quantity(c, i, times);
		curve->ns_per_byte = 0;
		i += 2;
	}
	if (!has_time || i < c->count)
		curve->ns_per_byte = ns_each(c, i);
}

/* Sets a setting of OBJECT from the line; false: it is none of these settings. */
static bool
take_setting(struct config *c, const struct setting *s, void *object)
{
	struct wire_costs *wire;
	char *at;

	while (s->words != NULL && !is_line_of(c, s->words))
		s++;
	if (s->words == NULL)
		return false;
	at = (char *)object + s->offset;
	c->needs_loggp |= s->kind >= IS_TABLE;
	switch (s->kind) {
	case IS_COUNT: *(int64_t *)at = count(c, c->used); break;
	case IS_TWO_COUNTS:
		((int64_t *)at)[0] = count(c, c->used);
		((int64_t *)at)[1] = count(c, c->used);
		break;
	case IS_NUMBER: *(double *)at = config_number(c, c->used, 0); break;
	case IS_TIME: *(double *)at = quantity(c, c->used, times); break;
	case IS_RATE: *(double *)at = ns_each(c, c->used); break;
	case IS_FLAG: *(bool *)at = true; break;
	case IS_MODEL: *(enum model *)at = config_model(c, word_at(c, c->used++)); break;
	case IS_TABLE: take_size(c, (struct curve_by_size *)at, c->used); break;
	/* Either holds a link. Processors work on a message while another is on its way. */
	case IS_GAP: case IS_WORK:
		wire = (struct wire_costs *)at;
		if (wire->gap.told && wire->works != (s->kind == IS_WORK))
			die_config(c, "links are held for a gap or for work, not for both");
		wire->works = s->kind == IS_WORK;
		take_size(c, &wire->gap, c->used);
		break;
	case IS_OVERHEAD: case IS_COMBINING:
		take_curve(c, (struct curve_by_size *)at, s->kind == IS_OVERHEAD);
	}
	return true;
}

/* collective NAME MODEL SIZE MODEL SIZE, or collective all MODEL */
static void
take_collective(struct machine *m, struct config *c)
{
	struct island *island = machine_island(m, m->island_count - 1);
	enum operation operation;

	c->used = c->count;	/* other numbers of words are errors here */
	if (c->count == 3 && strcmp(c->words[1], "all") == 0) {
		enum model model = config_model(c, c->words[2]);

		island_phases(island, (struct phases){ model, model, BYTES_SENT, BYTES_RECEIVED });
		return;
	}
	if (c->count != 6)
		die_config(c, "a collective has a name, and twice a model and a size");
	operation = operation_named(c->words[1]);
	if (operation == OP_OTHER)
		die_config(c, "%s is no collective", c->words[1]);
	island->models_reduce |= operation == OP_REDUCE;
	island->phases[operation] = (struct phases){ config_model(c, c->words[2]), config_model(c,
	    c->words[4]), config_size(c, c->words[3]), config_size(c, c->words[5]) };
}

/* schedule COLLECTIVE NAME [BYTES UNIT [RANKS]] [segment BYTES UNIT]: messages from there on */
static void
take_schedule(struct machine *m, struct config *c)
{
	const char *name = word_at(c, 1), *how = word_at(c, 2);
	struct rule rule = { operation_named(name), NO_SCHEDULE, 0, 0, 0 };

	for (int i = 3; i < c->count; i++)
		if (strcmp(c->words[i], "segment") == 0) {
			rule.segment = quantity(c, i + 1, sizes);
			if (i + 3 < c->count)
				die_config(c, "%s is one word too many", c->words[i + 3]);
			c->count = i;
		}
	c->used = 3;
	if (rule.operation == OP_OTHER)
		die_config(c, "%s is no collective", name);
	while (schedule_names[rule.schedule] != NULL &&
	    strcmp(schedule_names[rule.schedule], how) != 0)
		rule.schedule++;
	if (schedule_names[rule.schedule] == NULL || !schedule_fits(rule.schedule, rule.operation))
		die_config(c, "%s is no schedule of %s", how, name);
	if (rule.segment > 0 && !schedule_is_segmented(rule.schedule, rule.operation))
		die_config(c, "%s of %s has no segments", how, name);
	if (c->count > 3)
		rule.from_bytes = quantity(c, 3, sizes);
	if (c->count > 5)
		rule.from_ranks = (uint32_t)smaller(count(c, 5), INT32_MAX);
	*APPEND(m->rules, m->rule_count, m->rule_capacity) = rule;
	c->needs_loggp = true;
}

/* beside COLLECTIVE BYTES UNIT TIME UNIT [RANKS]: a line of a table for at least RANKS ranks. */
static void
take_beside(struct machine *m, struct config *c)
{
	const char *name = word_at(c, 1);
	struct beside b = { .operation = operation_named(name) };
	struct beside *last = m->beside_count > 0 ? &m->besides[m->beside_count - 1] : NULL;

	b.from_ranks = c->count > 6 ? (uint32_t)smaller(count(c, 6), INT32_MAX) : 0;
	if (b.operation == OP_OTHER)
		die_config(c, "%s is no collective", name);
	if (last == NULL || last->operation != b.operation || last->from_ranks != b.from_ranks) {
		last = APPEND(m->besides, m->beside_count, m->beside_capacity);
		*last = b;
	}
	take_size(c, &last->curve, 2);
	c->used = c->count > 6 ? 7 : c->used;
	c->needs_loggp = true;
}

static void
take_mapping(struct machine *m, struct config *c)
{
	if (is_line_of(c, "mapping fill"))
		m->mapping = FILL_NODES;
	else if (is_line_of(c, "mapping interleaved"))
		m->mapping = INTERLEAVED;
	else if (is_line_of(c, "mapping list")) {
		m->mapping = LISTED;
		m->list.count = 0;
		for (int i = 2; i < c->count; i++)
			*APPEND(m->list.at, m->list.count, m->list.capacity) = count(c, i);
	} else {
		m->mapping = TASKS_PER_NODE;
		m->tasks_per_node = count(c, 1);
		if (m->tasks_per_node < 1)
			die_config(c, "a node has at least one rank");
	}
}

/* region TYPE VALUE speed RATIO, or region TYPE VALUE lasts TIME UNIT */
static void
take_region(struct machine *m, struct config *c)
{
	struct region region = { count(c, 1), count(c, 2), 1 };

	c->used = 4;
	if (c->count > 4 && strcmp(c->words[3], "speed") == 0)
		region.ratio = config_number(c, 4, 0);
	else if (c->count > 5 && strcmp(c->words[3], "lasts") == 0)
		region.ratio = -quantity(c, 4, times) / 1e9;
	else
		die_config(c, "a region has a speed, or lasts some time");
	*APPEND(m->regions, m->region_count, m->region_capacity) = region;
}

/* model loggp: must follow machine and precede collectives, which get its defaults. */
static void
take_model(struct machine *m, struct config *c)
{
	if (is_line_of(c, "model loggp")) {
		m->loggp = true;
		m->dimemas = false;
		m->eager_bytes = m->eager_bytes < 0 ? INT64_MAX : m->eager_bytes;
		island_phases(&m->islands[m->island_count - 1], LOGGP_PHASES);
	} else if (!is_line_of(c, "model dimemas"))
		die_config(c, "a model is dimemas or loggp");
}

static void
take_eager(struct machine *m, struct config *c)
{
	if (is_line_of(c, "eager calls"))
		m->eager_bytes = -1;
	else if (is_line_of(c, "eager all"))
		m->eager_bytes = INT64_MAX;
	else
		m->eager_bytes = (int64_t)quantity(c, 1, sizes);
}

static void
take_nodes(struct machine *m, struct config *c)
{
	int64_t nodes = count(c, 1);

	if (nodes < 1 || nodes > INT32_MAX)
		die_config(c, "%s is no number of nodes", c->words[1]);
	machine_nodes(m, nodes)->island = (uint32_t)m->island_count - 1;
}

static void
take_line(struct machine *m, struct config *c)
{
	static const struct { const char *word; void (*take)(struct machine *m, struct config *c);
	    } lines[] = {
		{ "nodes", take_nodes }, { "collective", take_collective }, { "model", take_model },
		{ "mapping", take_mapping }, { "region", take_region }, { "eager", take_eager },
		{ "beside", take_beside }, { "schedule", take_schedule },
	};
	enum { LINES = sizeof lines / sizeof *lines };
	int i = 0;

	if (is_line_of(c, "machine"))
		machine_island(m, m->island_count);
	else if (m->island_count == 0)
		die_config(c, "the first line is: machine");
	else {
		while (i < LINES && !is_line_of(c, lines[i].word))
			i++;
		if (i < LINES)
			lines[i].take(m, c);
		else if (!take_setting(c, machine_settings, m) && !take_setting(c,
		    island_settings, &m->islands[m->island_count - 1]) && (m->group_count == 0 ||
		    !take_setting(c, node_settings, &m->groups[m->group_count - 1].node)))
			die_config(c, strcmp(c->words[0], "overhead") == 0 ?
			    "an overhead is that of a call, send, sent or receive" :
			    "%s is not known here", c->words[0]);
	}
	if (c->used < c->count)
		die_config(c, "%s is one word too many", c->words[c->used]);
}

void
read_own(struct machine *m, struct config *c)
{
	m->heeds_modes = true;
	m->mapping = FILL_NODES;
	m->wide_model = MODEL_LOGARITHMIC;
	c->line = 0;
	for (char *text = c->text, *line, *word; (line = strsep(&text, "\n")) != NULL; ) {
		c->line++;
		line[strcspn(line, "#")] = '\0';
		c->count = 0;
		while ((word = strtok_r(line, " \t\r", &line)) != NULL)
			*APPEND(c->words, c->count, c->capacity) = word;
		if (c->count > 0)
			take_line(m, c);
	}
	if (!m->loggp && c->needs_loggp)
		die_config(c, "overheads of send and receive, times by size and schedules need: "
		    "model loggp");
}
