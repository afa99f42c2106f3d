/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of the own format for machines of LogGP: times by size, and how collectives are done by messages. */
#include <string.h>

#include "collective.h"
#include "config_words.h"

/* BYTES UNIT TIME UNIT from word FIRST on: a line of a table, sizes ascending. */
static void
take_size(struct curve_by_size *curve, const struct config *config, struct line *line, int first)
{
	struct travel travel = { word_quantity(config, line, first, word_sizes), word_quantity(config, line, first + 2, word_times) };

	if (curve->count > 0 && curve->at[curve->count - 1].bytes >= travel.bytes)
		die_config(config, "sizes are not ascending");
	curve->at = grow(curve->at, &curve->capacity, curve->count + 1, sizeof *curve->at);
	curve->at[curve->count++] = travel;
	curve->told = true;
}

/* gap or work: the latter is that of processors, who work on one message while another is on its way. */
static void
take_gap(struct wire_costs *wire, const struct config *config, struct line *line, bool works)
{
	if (wire->gap.told && wire->works != works)
		die_config(config, "links are held for a gap or for work, not for both");
	wire->works = works;
	take_size(&wire->gap, config, line, line->used);
}

static bool
is_size(const struct line *line, int i)
{
	for (const struct unit *unit = word_sizes; i < line->count && unit->name != NULL; unit++)
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
		m->call_ns = word_quantity(config, line, 2, word_times);
		return;
	}
	if (strcmp(whose, "send") != 0 && strcmp(whose, "sent") != 0 && strcmp(whose, "receive") != 0)
		die_config(config, "an overhead is that of a %ssend, sent or receive", local ? "" : "call, ");
	if (is_size(line, first + 2)) {
		take_size(curve, config, line, first + 1);
		return;
	}
	curve->told = true;
	curve->ns = word_quantity(config, line, first + 1, word_times);
	curve->ns_per_byte = line->count > first + 3 ? word_ns_each(config, line, first + 3) : 0;
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
	m->combining.ns_per_byte = word_ns_each(config, line, 1);
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
			rule.segment = word_quantity(config, line, i + 1, word_sizes);
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
		rule.from_bytes = word_quantity(config, line, 3, word_sizes);
	if (line->count > 5) {
		ranks = word_count(config, line, 5);
		rule.from_ranks = ranks > INT32_MAX ? INT32_MAX : (uint32_t)ranks;
	}
	m->rules = grow(m->rules, &m->rule_capacity, m->rule_count + 1, sizeof *m->rules);
	m->rules[m->rule_count++] = rule;
}

/* beside COLLECTIVE BYTES UNIT TIME UNIT [RANKS]: a line of a table for so many ranks and more. */
static void
take_beside(struct machine *m, const struct config *config, struct line *line)
{
	const char *name = line->count > 1 ? line->words[1] : "";
	struct beside b = { .operation = operation_named(name) };
	struct beside *last = m->beside_count > 0 ? &m->besides[m->beside_count - 1] : NULL;
	int64_t ranks = line->count > 6 ? word_count(config, line, 6) : 0;

	if (b.operation == OP_OTHER)
		die_config(config, "%s is no collective", name);
	b.from_ranks = ranks > INT32_MAX ? INT32_MAX : (uint32_t)ranks;
	if (last == NULL || last->operation != b.operation || last->from_ranks != b.from_ranks) {
		m->besides = grow(m->besides, &m->beside_capacity, m->beside_count + 1, sizeof *m->besides);
		last = &m->besides[m->beside_count++];
		*last = b;
	}
	take_size(&last->curve, config, line, 2);
	line->used = line->count > 6 ? 7 : line->used;
}

bool
take_loggp_line(struct machine *m, const struct config *config, struct line *line)
{
	if (word_is(line, "overhead", NULL) || word_is(line, "memory", "overhead"))
		take_overhead(m, config, line, line->used == 2);
	else if (word_is(line, "time", NULL))
		take_size(&m->network.travel, config, line, 1);
	else if (word_is(line, "gap", NULL) || word_is(line, "memory", "gap"))
		take_gap(line->used == 2 ? &m->memory : &m->network, config, line, false);
	else if (word_is(line, "work", NULL) || word_is(line, "memory", "work"))
		take_gap(line->used == 2 ? &m->memory : &m->network, config, line, true);
	else if (word_is(line, "memory", "time"))
		take_size(&m->memory.travel, config, line, 2);
	else if (word_is(line, "combining", NULL))
		take_combining(m, config, line);
	else if (word_is(line, "beside", NULL))
		take_beside(m, config, line);
	else if (word_is(line, "schedule", NULL))
		take_schedule(m, config, line);
	else
		return false;
	return true;
}

static bool
tells_costs(const struct wire_costs *wire)
{
	return wire->send.told || wire->sent.told || wire->receive.told || wire->travel.told || wire->gap.told;
}

bool
needs_loggp(const struct machine *m)
{
	return tells_costs(&m->network) || tells_costs(&m->memory) || m->rule_count > 0 || m->beside_count > 0 ||
	    m->combining.told;
}
