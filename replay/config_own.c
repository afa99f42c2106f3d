/* SPDX-License-Identifier: BSD-3-Clause */
/* The format of lp-replay(1), MACHINE: words on lines, sizes and times with their units. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config_words.h"
#include "collective.h"
#include "engine.h"

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
	if (word_is(line, "mapping", "fill"))
		m->mapping = FILL_NODES;
	else if (word_is(line, "mapping", "interleaved"))
		m->mapping = INTERLEAVED;
	else if (word_is(line, "mapping", "list")) {
		m->mapping = LISTED;
		m->listed = 0;
		for (int i = 2; i < line->count; i++)
			machine_list(m, word_count(config, line, i));
	} else {
		m->mapping = TASKS_PER_NODE;
		m->tasks_per_node = word_count(config, line, 1);
		if (m->tasks_per_node < 1)
			die_config(config, "a node has at least one rank");
	}
}

/* Words of a group of nodes change all of them. */
static bool
take_node_word(struct node *node, const struct config *config, struct line *line)
{
	if (word_is(line, "cpus", NULL))
		node->cpus = word_count(config, line, 1);
	else if (word_is(line, "speed", NULL))
		node->ratio = word_number(config, line, 1);
	else if (word_is(line, "latency", NULL))
		node->latency_ns = word_quantity(config, line, 1, word_times);
	else if (word_is(line, "links", NULL)) {
		node->in = word_count(config, line, 1);
		node->out = word_count(config, line, 2);
	} else if (word_is(line, "memory", "latency"))
		node->local_latency_ns = word_quantity(config, line, 2, word_times);
	else if (word_is(line, "memory", "bandwidth"))
		node->local_ns_per_byte = word_ns_each(config, line, 2);
	else if (word_is(line, "memory", "buses"))
		node->memory_buses = word_count(config, line, 2);
	else if (word_is(line, "memory", "links")) {
		node->memory_in = word_count(config, line, 2);
		node->memory_out = word_count(config, line, 3);
	} else if (word_is(line, "wide", "latency"))
		node->wide_latency_ns = word_quantity(config, line, 2, word_times);
	else
		return false;
	return true;
}

/* region TYPE VALUE speed RATIO, or region TYPE VALUE lasts TIME UNIT */
static void
take_region(struct machine *m, const struct config *config, struct line *line)
{
	struct region region = { word_count(config, line, 1), word_count(config, line, 2), 1 };

	line->used = 4;
	if (line->count > 4 && strcmp(line->words[3], "speed") == 0)
		region.ratio = word_number(config, line, 4);
	else if (line->count > 5 && strcmp(line->words[3], "lasts") == 0)
		region.ratio = -word_quantity(config, line, 4, word_times) / 1e9;
	else
		die_config(config, "a region has a speed, or lasts some time");
	m->regions = grow(m->regions, &m->region_capacity, m->region_count + 1, sizeof *m->regions);
	m->regions[m->region_count++] = region;
}

/* model loggp, behind machine and before collectives, which get its own defaults. */
static void
take_model(struct machine *m, const struct config *config, struct line *line)
{
	if (word_is(line, "model", "loggp")) {
		m->loggp = true;
		m->dimemas = false;
		m->eager_bytes = m->eager_bytes < 0 ? INT64_MAX : m->eager_bytes;
		machine_collectives(m, m->island_count - 1);
	} else if (!word_is(line, "model", "dimemas"))
		die_config(config, "a model is dimemas or loggp");
}

static void
take_line(struct machine *m, const struct config *config, struct line *line)
{
	if (word_is(line, "machine", NULL))
		machine_island(m, m->island_count);
	else if (m->island_count == 0)
		die_config(config, "the first line is: machine");
	else if (word_is(line, "nodes", NULL)) {
		int64_t nodes = word_count(config, line, 1);

		if (nodes < 1 || nodes > INT32_MAX)
			die_config(config, "%s is no number of nodes", line->words[1]);
		machine_nodes(m, nodes)->island = (uint32_t)m->island_count - 1;
	} else if (word_is(line, "bandwidth", NULL))
		machine_island(m, m->island_count - 1)->ns_per_byte = word_ns_each(config, line, 1);
	else if (word_is(line, "buses", NULL))
		machine_island(m, m->island_count - 1)->buses = word_count(config, line, 1);
	else if (word_is(line, "collective", NULL))
		take_collective(m, config, line);
	else if (word_is(line, "model", NULL))
		take_model(m, config, line);
	else if (take_loggp_line(m, config, line))
		;
	else if (word_is(line, "mapping", NULL))
		take_mapping(m, config, line);
	else if (word_is(line, "region", NULL))
		take_region(m, config, line);
	else if (word_is(line, "init", "recorded"))
		m->keeps_init = true;
	else if (word_is(line, "communicators", "recorded"))
		m->keeps_making = true;
	else if (word_is(line, "eager", "calls"))
		m->eager_bytes = -1;
	else if (word_is(line, "eager", "all"))
		m->eager_bytes = INT64_MAX;
	else if (word_is(line, "eager", NULL))
		m->eager_bytes = (int64_t)word_quantity(config, line, 1, word_sizes);
	else if (word_is(line, "wide", "bandwidth"))
		m->wide_ns_per_byte = word_ns_each(config, line, 2);
	else if (word_is(line, "wide", "collectives")) {
		m->wide_model = config_model(config, line->count > 2 ? line->words[2] : "");
		line->used = 3;
	} else if (m->group_count == 0 || !take_node_word(&m->groups[m->group_count - 1].node, config, line))
		die_config(config, "%s is not known here", line->words[0]);
	if (line->used < line->count)
		die_config(config, "%s is one word too many", line->words[line->used]);
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
	if (!m->loggp && needs_loggp(m))
		die_config(config, "overheads of send and receive, times by size and schedules need: model loggp");
}
