/* SPDX-License-Identifier: BSD-3-Clause */
/* The format of lp-replay(1), MACHINE: words on lines, sizes and times with their units. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config.h"
#include "engine.h"

enum { WORDS = 64 };

struct line {
	char *words[WORDS];
	int count;
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
number(const struct config *config, const struct line *line, int i)
{
	char *end;
	double value;

	if (i >= line->count)
		die_config(config, "%s: a number is missing", line->words[0]);
	value = strtod(line->words[i], &end);
	if (end == line->words[i] || *end != '\0' || !(value >= 0 && value <= 1e15))
		die_config(config, "%s is no number", line->words[i]);
	return value;
}

static int64_t
count(const struct config *config, const struct line *line, int i)
{
	double value = number(config, line, i);

	if (value != (double)(int64_t)value)
		die_config(config, "%s is no whole number", line->words[i]);
	return (int64_t)value;
}

/* A number in words I and I + 1, the second its unit. */
static double
quantity(const struct config *config, const struct line *line, int i, const struct unit *units)
{
	double value = number(config, line, i);

	if (i + 1 < line->count)
		for (; units->name != NULL; units++)
			if (strcmp(line->words[i + 1], units->name) == 0)
				return value * units->factor;
	die_config(config, "%s: a unit is missing or not known", line->words[0]);
}

static double
ns_each(const struct config *config, const struct line *line, int i)
{
	double rate;

	if (i < line->count && strcmp(line->words[i], "infinite") == 0)
		return 0;
	rate = quantity(config, line, i, rates);
	return rate > 0 ? 1e9 / rate : 0;
}

static bool
is(const struct line *line, const char *first, const char *second)
{
	return strcmp(line->words[0], first) == 0 && (second == NULL || (line->count > 1 &&
	    strcmp(line->words[1], second) == 0));
}

/* collective NAME MODEL SIZE MODEL SIZE, or collective all MODEL */
static void
take_collective(struct machine *m, const struct config *config, const struct line *line)
{
	struct island *island = machine_island(m, m->island_count - 1);
	char name[64];
	int call, operation;

	if (line->count == 3 && strcmp(line->words[1], "all") == 0) {
		enum model model = config_model(config, line->words[2]);

		for (int op = 0; op < OPERATIONS; op++)
			island->phases[op] = (struct phases){ model, model, BYTES_SENT, BYTES_RECEIVED };
		return;
	}
	if (line->count != 6)
		die_config(config, "a collective has a name, and twice a model and a size");
	snprintf(name, sizeof name, "MPI_%s", line->words[1]);
	call = call_number(name);
	operation = call >= 0 ? operation_of((uint16_t)call) : OPERATIONS - 1;
	if (operation == OPERATIONS - 1)
		die_config(config, "%s is no collective", line->words[1]);
	island->phases[operation] = (struct phases){ config_model(config, line->words[2]),
	    config_model(config, line->words[4]), config_size(config, line->words[3]),
	    config_size(config, line->words[5]) };
}

static void
take_mapping(struct machine *m, const struct config *config, const struct line *line)
{
	size_t capacity = 0;

	if (is(line, "mapping", "fill"))
		m->mapping = FILL_NODES;
	else if (is(line, "mapping", "interleaved"))
		m->mapping = INTERLEAVED;
	else if (is(line, "mapping", "list")) {
		m->mapping = LISTED;
		for (int i = 2; i < line->count; i++) {
			m->node_of = grow(m->node_of, &capacity, m->listed + 1, sizeof *m->node_of);
			m->node_of[m->listed++] = (uint32_t)count(config, line, i);
		}
	} else {
		m->mapping = TASKS_PER_NODE;
		m->tasks_per_node = count(config, line, 1);
		if (m->tasks_per_node < 1)
			die_config(config, "a node has at least one rank");
	}
}

/* Words of a group of nodes change all of them. */
static bool
take_node_word(struct node *node, const struct config *config, const struct line *line)
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
take_region(struct machine *m, const struct config *config, const struct line *line)
{
	struct region region = { count(config, line, 1), count(config, line, 2), 1 };

	if (line->count > 4 && strcmp(line->words[3], "speed") == 0)
		region.ratio = number(config, line, 4);
	else if (line->count > 5 && strcmp(line->words[3], "lasts") == 0)
		region.ratio = -quantity(config, line, 4, times) / 1e9;
	else
		die_config(config, "a region has a speed, or lasts some time");
	m->regions = grow(m->regions, &m->region_capacity, m->region_count + 1, sizeof *m->regions);
	m->regions[m->region_count++] = region;
}

static void
take_line(struct machine *m, const struct config *config, const struct line *line, size_t *group)
{
	if (is(line, "machine", NULL))
		machine_island(m, m->island_count);
	else if (m->island_count == 0)
		die_config(config, "the first line is: machine");
	else if (is(line, "nodes", NULL)) {
		*group = m->node_count;
		for (int64_t i = count(config, line, 1); i > 0; i--)
			machine_node(m, m->node_count)->island = (uint32_t)m->island_count - 1;
	} else if (is(line, "bandwidth", NULL))
		machine_island(m, m->island_count - 1)->ns_per_byte = ns_each(config, line, 1);
	else if (is(line, "buses", NULL))
		machine_island(m, m->island_count - 1)->buses = count(config, line, 1);
	else if (is(line, "collective", NULL))
		take_collective(m, config, line);
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
	else if (is(line, "wide", "collectives"))
		m->wide_model = config_model(config, line->count > 2 ? line->words[2] : "");
	else {
		bool known = false;

		for (size_t n = *group; n < m->node_count; n++)
			known = take_node_word(&m->nodes[n], config, line);
		if (!known)
			die_config(config, "%s is not known here", line->words[0]);
	}
}

void
read_own(struct machine *m, struct config *config)
{
	size_t group = 0;

	m->mapping = FILL_NODES;
	m->wide_model = MODEL_LOGARITHMIC;
	config->line = 0;
	for (char *text = config->text, *end; text != NULL; text = end) {
		struct line line = { .count = 0 };
		char *save = NULL;

		end = strchr(text, '\n');
		if (end != NULL)
			*end++ = '\0';
		config->line++;
		text[strcspn(text, "#")] = '\0';
		for (char *word = strtok_r(text, " \t\r", &save); word != NULL;
		    word = strtok_r(NULL, " \t\r", &save)) {
			if (line.count == WORDS)
				die_config(config, "the line has too many words");
			line.words[line.count++] = word;
		}
		if (line.count > 0)
			take_line(m, config, &line, &group);
	}
}
