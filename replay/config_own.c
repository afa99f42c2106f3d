/* SPDX-License-Identifier: BSD-3-Clause */
/* The format of lp-replay(1), MACHINE: words on lines, sizes and times with their units. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config.h"
#include "collective.h"
#include "engine.h"

struct line {
	char **words;
	size_t capacity;
	int count, used;	/* used: words that mean something here */
};

struct unit { const char *name; double factor; };
static const struct unit times[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { NULL, 0 } };
/* Bytes a second. */
static const struct unit rates[] = {
	{ "B/s", 1 }, { "kB/s", 1e3 }, { "MB/s", 1e6 }, { "GB/s", 1e9 }, { "KiB/s", 1024 },
	{ "MiB/s", 1048576 }, { "GiB/s", 1073741824 }, { "Mbit/s", 125e3 }, { "Gbit/s", 125e6 }, { NULL, 0 },
};
static const struct unit sizes[] = { { "B", 1 }, { "KiB", 1024 }, { "MiB", 1048576 }, { NULL, 0 } };

static double
number(const struct config *config, struct line *line, int i)
{
	char *end;
	double value;

	if (i >= line->count)
		die_config(config, "%s: a number is missing", line->words[0]);
	line->used = i + 1 > line->used ? i + 1 : line->used;
	value = strtod(line->words[i], &end);
	if (end == line->words[i] || *end != '\0' || !(value >= 0 && value <= 1e15))
		die_config(config, "%s is no number", line->words[i]);
	return value;
}

static int64_t
count(const struct config *config, struct line *line, int i)
{
	double value = number(config, line, i);

	if (value != (double)(int64_t)value)
		die_config(config, "%s is no whole number", line->words[i]);
	return (int64_t)value;
}

/* A number in words I and I + 1, the second its unit. */
static double
quantity(const struct config *config, struct line *line, int i, const struct unit *units)
{
	double value = number(config, line, i);

	if (i + 1 < line->count)
		for (; units->name != NULL; units++)
			if (strcmp(line->words[i + 1], units->name) == 0) {
				line->used = i + 2;
				return value * units->factor;
			}
	die_config(config, "%s: a unit is missing or not known", line->words[0]);
}

static double
ns_each(const struct config *config, struct line *line, int i)
{
	double rate;

	if (i < line->count && strcmp(line->words[i], "infinite") == 0) {
		line->used = i + 1;
		return 0;
	}
	rate = quantity(config, line, i, rates);
	return rate > 0 ? 1e9 / rate : 0;
}

static bool
is(struct line *line, const char *first, const char *second)
{
	if (strcmp(line->words[0], first) != 0 || (second != NULL && (line->count < 2 ||
	    strcmp(line->words[1], second) != 0)))
		return false;
	line->used = second != NULL ? 2 : 1;
	return true;
}

/* collective NAME MODEL SIZE MODEL SIZE, or collective all MODEL */
static void
take_collective(struct machine *m, const struct config *config, struct line *line)
{
	struct island *island = machine_island(m, m->island_count - 1);
	enum operation operation;

	line->used = line->count;	/* fewer and more are refused here */
	if (line->count == 3 && strcmp(line->words[1], "all") == 0) {
		enum model model = config_model(config, line->words[2]);

		for (int op = 0; op < OPERATIONS; op++)
			island->phases[op] = (struct phases){ model, model, BYTES_SENT, BYTES_RECEIVED };
		return;
	}
	if (line->count != 6)
		die_config(config, "a collective has a name, and twice a model and a size");
	operation = operation_named(line->words[1]);
	if (operation == OP_OTHER)
		die_config(config, "%s is no collective", line->words[1]);
	island->models_reduce |= strcmp(line->words[1], "reduce") == 0;
	island->phases[operation] = (struct phases){ config_model(config, line->words[2]),
	    config_model(config, line->words[4]), config_size(config, line->words[3]),
	    config_size(config, line->words[5]) };
}

static void
take_mapping(struct machine *m, const struct config *config, struct line *line)
{
	if (is(line, "mapping", "fill"))
		m->mapping = FILL_NODES;
	else if (is(line, "mapping", "interleaved"))
		m->mapping = INTERLEAVED;
	else if (is(line, "mapping", "list")) {
		m->mapping = LISTED;
		m->listed = 0;
		for (int i = 2; i < line->count; i++)
			machine_list(m, count(config, line, i));
	} else {
		m->mapping = TASKS_PER_NODE;
		m->tasks_per_node = count(config, line, 1);
		if (m->tasks_per_node < 1)
			die_config(config, "a node has at least one rank");
	}
}

/* Words of a group of nodes change all of them. */
static bool
take_node_word(struct node *node, const struct config *config, struct line *line)
{
	if (is(line, "cpus", NULL))
		node->cpus = count(config, line, 1);
	else if (is(line, "speed", NULL))
		node->ratio = number(config, line, 1);
	else if (is(line, "latency", NULL))
		node->latency_ns = quantity(config, line, 1, times);
	else if (is(line, "links", NULL)) {
		node->in = count(config, line, 1);
		node->out = count(config, line, 2);
	} else if (is(line, "memory", "latency"))
		node->local_latency_ns = quantity(config, line, 2, times);
	else if (is(line, "memory", "bandwidth"))
		node->local_ns_per_byte = ns_each(config, line, 2);
	else if (is(line, "memory", "buses"))
		node->memory_buses = count(config, line, 2);
	else if (is(line, "memory", "links")) {
		node->memory_in = count(config, line, 2);
		node->memory_out = count(config, line, 3);
	} else if (is(line, "wide", "latency"))
		node->wide_latency_ns = quantity(config, line, 2, times);
	else
		return false;
	return true;
}

/* region TYPE VALUE speed RATIO, or region TYPE VALUE lasts TIME UNIT */
static void
take_region(struct machine *m, const struct config *config, struct line *line)
{
	struct region region = { count(config, line, 1), count(config, line, 2), 1 };

	line->used = 4;
	if (line->count > 4 && strcmp(line->words[3], "speed") == 0)
		region.ratio = number(config, line, 4);
	else if (line->count > 5 && strcmp(line->words[3], "lasts") == 0)
		region.ratio = -quantity(config, line, 4, times) / 1e9;
	else
		die_config(config, "a region has a speed, or lasts some time");
	m->regions = grow(m->regions, &m->region_capacity, m->region_count + 1, sizeof *m->regions);
	m->regions[m->region_count++] = region;
}

/* model loggp, behind machine and before collectives, which get its own defaults. */
static void
take_model(struct machine *m, const struct config *config, struct line *line)
{
	if (is(line, "model", "loggp")) {
		m->loggp = true;
		m->dimemas = false;
		m->eager_bytes = m->eager_bytes < 0 ? INT64_MAX : m->eager_bytes;
		machine_collectives(m, m->island_count - 1);
	} else if (!is(line, "model", "dimemas"))
		die_config(config, "a model is dimemas or loggp");
}

/* BYTES UNIT TIME UNIT from word FIRST on: a line of a table, sizes ascending. */
static void
take_size(struct curve_by_size *curve, const struct config *config, struct line *line, int first)
{
	struct travel travel = { quantity(config, line, first, sizes), quantity(config, line, first + 2, times) };

	if (curve->count > 0 && curve->at[curve->count - 1].bytes >= travel.bytes)
		die_config(config, "sizes are not ascending");
	curve->at = grow(curve->at, &curve->capacity, curve->count + 1, sizeof *curve->at);
	curve->at[curve->count++] = travel;
	curve->told = true;
}

static bool
is_size(const struct line *line, int i)
{
	for (const struct unit *unit = sizes; i < line->count && unit->name != NULL; unit++)
		if (strcmp(line->words[i], unit->name) == 0)
			return true;
	return false;
}

/*
 * overhead call TIME UNIT; [memory] overhead send TIME UNIT [RATE UNIT]: so much, and a byte at this rate;
 * overhead send BYTES UNIT TIME UNIT: a line of a table.
 */
static void
take_overhead(struct machine *m, const struct config *config, struct line *line, bool local)
{
	int first = local ? 2 : 1;
	const char *whose = first < line->count ? line->words[first] : "";
	struct wire_costs *wire = local ? &m->memory : &m->network;
	struct curve_by_size *curve = strcmp(whose, "send") == 0 ? &wire->send :
	    strcmp(whose, "sent") == 0 ? &wire->sent : &wire->receive;

	line->used = first + 1;
	if (!local && strcmp(whose, "call") == 0) {
		m->call_ns = quantity(config, line, 2, times);
		return;
	}
	if (strcmp(whose, "send") != 0 && strcmp(whose, "sent") != 0 && strcmp(whose, "receive") != 0)
		die_config(config, "an overhead is that of a %ssend, sent or receive", local ? "" : "call, ");
	if (is_size(line, first + 2)) {
		take_size(curve, config, line, first + 1);
		return;
	}
	curve->told = true;
	curve->ns = quantity(config, line, first + 1, times);
	curve->ns_per_byte = line->count > first + 3 ? ns_each(config, line, first + 3) : 0;
}

/* combining RATE UNIT, or a line of a table as above. */
static void
take_combining(struct machine *m, const struct config *config, struct line *line)
{
	if (is_size(line, 2)) {
		take_size(&m->combining, config, line, 1);
		return;
	}
	m->combining.told = true;
	m->combining.ns_per_byte = ns_each(config, line, 1);
}

/* schedule COLLECTIVE NAME [BYTES UNIT [RANKS]] [segment BYTES UNIT]: as messages, from so many on. */
static void
take_schedule(struct machine *m, const struct config *config, struct line *line)
{
	const char *name = line->count > 1 ? line->words[1] : "", *how = line->count > 2 ? line->words[2] : "";
	struct rule rule = { operation_named(name), NO_SCHEDULE, 0, 0, 0 };
	int64_t ranks;

	for (int i = 3; i < line->count; i++)
		if (strcmp(line->words[i], "segment") == 0) {
			rule.segment = quantity(config, line, i + 1, sizes);
			if (i + 3 < line->count)
				die_config(config, "%s is one word too many", line->words[i + 3]);
			line->count = i;
		}
	line->used = 3;
	if (rule.operation == OP_OTHER)
		die_config(config, "%s is no collective", name);
	while (schedule_names[rule.schedule] != NULL && strcmp(schedule_names[rule.schedule], how) != 0)
		rule.schedule++;
	if (schedule_names[rule.schedule] == NULL || !schedule_fits(rule.schedule, rule.operation))
		die_config(config, "%s is no schedule of %s", how, name);
	if (rule.segment > 0 && !schedule_is_segmented(rule.schedule, rule.operation))
		die_config(config, "%s of %s has no segments", how, name);
	if (line->count > 3)
		rule.from_bytes = quantity(config, line, 3, sizes);
	if (line->count > 5) {
		ranks = count(config, line, 5);
		rule.from_ranks = ranks > INT32_MAX ? INT32_MAX : (uint32_t)ranks;
	}
	m->rules = grow(m->rules, &m->rule_capacity, m->rule_count + 1, sizeof *m->rules);
	m->rules[m->rule_count++] = rule;
}

static void
take_line(struct machine *m, const struct config *config, struct line *line)
{
	if (is(line, "machine", NULL))
		machine_island(m, m->island_count);
	else if (m->island_count == 0)
		die_config(config, "the first line is: machine");
	else if (is(line, "nodes", NULL)) {
		int64_t nodes = count(config, line, 1);

		if (nodes < 1 || nodes > INT32_MAX)
			die_config(config, "%s is no number of nodes", line->words[1]);
		machine_nodes(m, nodes)->island = (uint32_t)m->island_count - 1;
	} else if (is(line, "bandwidth", NULL))
		machine_island(m, m->island_count - 1)->ns_per_byte = ns_each(config, line, 1);
	else if (is(line, "buses", NULL))
		machine_island(m, m->island_count - 1)->buses = count(config, line, 1);
	else if (is(line, "collective", NULL))
		take_collective(m, config, line);
	else if (is(line, "model", NULL))
		take_model(m, config, line);
	else if (is(line, "overhead", NULL) || is(line, "memory", "overhead"))
		take_overhead(m, config, line, line->used == 2);
	else if (is(line, "time", NULL))
		take_size(&m->network.travel, config, line, 1);
	else if (is(line, "gap", NULL))
		take_size(&m->network.gap, config, line, 1);
	else if (is(line, "memory", "gap"))
		take_size(&m->memory.gap, config, line, 2);
	else if (is(line, "memory", "time"))
		take_size(&m->memory.travel, config, line, 2);
	else if (is(line, "combining", NULL))
		take_combining(m, config, line);
	else if (is(line, "schedule", NULL))
		take_schedule(m, config, line);
	else if (is(line, "mapping", NULL))
		take_mapping(m, config, line);
	else if (is(line, "region", NULL))
		take_region(m, config, line);
	else if (is(line, "init", "recorded"))
		m->keeps_init = true;
	else if (is(line, "eager", "calls"))
		m->eager_bytes = -1;
	else if (is(line, "eager", "all"))
		m->eager_bytes = INT64_MAX;
	else if (is(line, "eager", NULL))
		m->eager_bytes = (int64_t)quantity(config, line, 1, sizes);
	else if (is(line, "wide", "bandwidth"))
		m->wide_ns_per_byte = ns_each(config, line, 2);
	else if (is(line, "wide", "collectives")) {
		m->wide_model = config_model(config, line->count > 2 ? line->words[2] : "");
		line->used = 3;
	} else if (m->group_count == 0 || !take_node_word(&m->groups[m->group_count - 1].node, config, line))
		die_config(config, "%s is not known here", line->words[0]);
	if (line->used < line->count)
		die_config(config, "%s is one word too many", line->words[line->used]);
}

static bool
tells_costs(const struct wire_costs *wire)
{
	return wire->send.told || wire->sent.told || wire->receive.told || wire->travel.told || wire->gap.told;
}

void
read_own(struct machine *m, struct config *config)
{
	struct line line = { 0 };

	m->mapping = FILL_NODES;
	m->wide_model = MODEL_LOGARITHMIC;
	config->line = 0;
	for (char *text = config->text, *end; text != NULL; text = end) {
		char *save = NULL;

		end = strchr(text, '\n');
		if (end != NULL)
			*end++ = '\0';
		config->line++;
		text[strcspn(text, "#")] = '\0';
		for (char *word = strtok_r(text, " \t\r", &save); word != NULL;
		    word = strtok_r(NULL, " \t\r", &save)) {
			line.words = grow(line.words, &line.capacity, (size_t)line.count + 1,
			    sizeof *line.words);
			line.words[line.count++] = word;
		}
		if (line.count > 0)
			take_line(m, config, &line);
		line.count = 0;
	}
	free(line.words);
	if (!m->loggp && (tells_costs(&m->network) || tells_costs(&m->memory) || m->rule_count > 0 ||
	    m->combining.told))
		die_config(config, "overheads of send and receive, times by size and schedules need: model loggp");
}
