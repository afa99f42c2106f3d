/* SPDX-License-Identifier: BSD-3-Clause */
/* Dimemas' .cfg: "kind of record" {field, field, ...};; with C comments. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

enum { FIELDS = 32 };

/* One record, its fields cut apart in place; a list {1,2} is one field. */
struct record {
	char *kind;
	char *fields[FIELDS];
	int count;
};

/* Comments become blanks, so that lines keep their numbers. */
static void
blank_comments(char *text)
{
	bool block = false, line = text[0] == '#', start = true, quoted = false;

	for (char *c = text; *c != '\0'; c++) {
		if (*c == '\n') {
			start = true;
			line = quoted = false;
			continue;
		}
		if (!block && !quoted && start && c[0] == '/' && c[1] == '/')
			line = true;
		if (!line && !quoted && c[0] == '/' && c[1] == '*')
			block = true;
		if (*c != ' ' && *c != '\t')
			start = false;
		if (block && c[0] == '*' && c[1] == '/') {
			c[0] = c[1] = ' ';
			block = false;
		} else if (block || line)
			*c = ' ';
		else if (*c == '"')
			quoted = !quoted;
	}
}

static char *
skip_blanks(struct config *config, char *at)
{
	for (; *at == ' ' || *at == '\t' || *at == '\r' || *at == '\n'; at++)
		config->line += *at == '\n';
	return at;
}

/* The end of a field; a quoted one and a list may hold commas. */
static char *
field_end(const struct config *config, char *at)
{
	int depth = 0;
	bool quoted = false;

	for (; *at != '\0' && *at != '\n'; at++) {
		if (*at == '"')
			quoted = !quoted;
		if (quoted)
			continue;
		if (depth == 0 && (*at == ',' || *at == '}'))
			return at;
		depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
	}
	die_config(config, "the record does not end with };;");
}

/* Blanks around a field and its quotes go. */
static char *
trim(char *from, char *end)
{
	while (*from == ' ' || *from == '\t')
		from++;
	while (end > from && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	if (*from == '"' && end - from >= 2 && end[-1] == '"') {
		from++;
		end--;
	}
	*end = '\0';
	return from;
}

static char *
next_record(struct config *config, char *at, struct record *record)
{
	char *end;

	at = skip_blanks(config, at);
	if (*at == '\0')
		return NULL;
	end = *at == '"' ? strchr(at + 1, '"') : NULL;
	if (end == NULL)
		die_config(config, "a record begins with its kind in quotes");
	record->kind = at + 1;
	*end = '\0';
	at = skip_blanks(config, end + 1);
	if (*at++ != '{')
		die_config(config, "a { is missing");
	for (record->count = 0;; at = end + 1) {
		char was;

		end = field_end(config, at);
		was = *end;
		if (record->count == FIELDS)
			die_config(config, "the record has too many fields");
		record->fields[record->count++] = trim(at, end);
		if (was == '}')
			break;
	}
	for (at = end + 1; *at == ';'; at++)
		;
	return at;
}

static double
number(const struct config *config, const struct record *record, int i)
{
	char *end;
	double value;

	if (i >= record->count)
		die_config(config, "\"%s\" has too few fields", record->kind);
	value = strtod(record->fields[i], &end);
	if (end == record->fields[i] || *end != '\0' || !(value >= -1e15 && value <= 1e15))
		die_config(config, "%s is no number", record->fields[i]);
	return value;
}

static int64_t
count(const struct config *config, const struct record *record, int i)
{
	double value = number(config, record, i);

	if (value < 0 || value != (double)(int64_t)value || value > 1e9)
		die_config(config, "%s is no count", record->fields[i]);
	return (int64_t)value;
}

/* Field 7 of an environment is the model of both phases of all collectives. */
static enum model
default_model(const struct config *config, const struct record *record, int i)
{
	int64_t model = count(config, record, i);

	if (model < 1 || model > 3)
		die_config(config, "a model is 1, 2 or 3");
	return (enum model)model;
}

/* The id of a machine or connection, of which there are no more than records in the file. */
static size_t
id(const struct config *config, const struct record *record, int i)
{
	int64_t value = count(config, record, i);

	if ((size_t)value >= config->records)
		die_config(config, "%s is no id: there are fewer records", record->fields[i]);
	return (size_t)value;
}

static void
take_environment(struct machine *m, const struct config *config, const struct record *record)
{
	struct island *island = machine_island(m, id(config, record, 1));
	enum model model = default_model(config, record, 6);

	island->ns_per_byte = ns_per_byte(number(config, record, 4));
	island->buses = count(config, record, 5);
	for (int op = 0; op < OPERATIONS; op++)
		island->phases[op] = (struct phases){ model, model, BYTES_SENT, BYTES_RECEIVED };
}

/* The fields from FIRST (the number of CPUs) on, as newer versions have them. */
static void
take_node(struct machine *m, const struct config *config, const struct record *r, int first,
    int64_t nodes)
{
	struct node *node = machine_nodes(m, nodes);

	node->island = (uint32_t)count(config, r, 0);
	node->cpus = count(config, r, first);
	node->ratio = number(config, r, first + 1);
	node->local_latency_ns = number(config, r, first + 2) * 1e9;
	node->local_ns_per_byte = ns_per_byte(number(config, r, first + 3));
	node->memory_buses = count(config, r, first + 4);
	node->memory_in = count(config, r, first + 5);
	node->memory_out = count(config, r, first + 6);
	node->latency_ns = number(config, r, first + 7) * 1e9;
	node->in = count(config, r, first + 8);
	node->out = count(config, r, first + 9);
	node->wide_latency_ns = number(config, r, first + 10) * 1e9;
}

/* The oldest form: memory has a bus a CPU and one half duplex link a rank. */
static void
take_old_node(struct machine *m, const struct config *config, const struct record *r)
{
	struct node *node = machine_nodes(m, 1);

	node->island = (uint32_t)count(config, r, 0);
	node->cpus = node->memory_buses = count(config, r, 3);
	node->memory_in = 1;
	node->in = count(config, r, 4);
	node->out = count(config, r, 5);
	node->local_latency_ns = number(config, r, 6) * 1e9;
	node->latency_ns = number(config, r, 7) * 1e9;
	node->ratio = number(config, r, 8);
	node->local_ns_per_byte = ns_per_byte(number(config, r, 9));
	node->wide_latency_ns = number(config, r, 10) * 1e9;
}

static void
take_predefined(struct machine *m, const struct config *config, const struct record *record)
{
	const char *map = record->fields[record->count - 1];	/* a trace may be named before it */
	char *end;

	if (strstr(map, "FILL_NODES") != NULL)
		m->mapping = FILL_NODES;
	else if (strstr(map, "INTERLEAVED") != NULL)
		m->mapping = INTERLEAVED;
	else if (strstr(map, "TASKS_PER_NODE") != NULL) {
		m->mapping = TASKS_PER_NODE;
		m->tasks_per_node = strtol(map, &end, 10);
		if (end == map || m->tasks_per_node < 1)
			die_config(config, "%s: tasks per node are missing", map);
	} else
		die_config(config, "%s is no mapping", map);
}

/* {"trace", N, [N] {0,0,1,1}} */
static void
take_mapping(struct machine *m, const struct config *config, const struct record *record)
{
	char *at = record->count > 2 ? strchr(record->fields[2], '{') : NULL, *end;

	if (at == NULL)
		die_config(config, "a mapping is {\"trace\", N, [N] {node, ...}}");
	m->mapping = LISTED;
	m->listed = 0;
	for (at++; *at != '}'; at = *end == ',' ? end + 1 : end) {
		long node = strtol(at, &end, 10);

		while (*end == ' ')
			end++;
		if (end == at || node < 0 || (*end != ',' && *end != '}'))
			die_config(config, "the mapping holds no number");
		machine_list(m, node);
	}
}

static void
take_region(struct machine *m, const struct config *config, const struct record *record)
{
	m->regions = grow(m->regions, &m->region_capacity, m->region_count + 1, sizeof *m->regions);
	m->regions[m->region_count++] = (struct region){ count(config, record, 0),
	    count(config, record, 1), number(config, record, 2) };
}

/* "[2] {3,4}" */
static void
take_tags(struct connection *c, const struct config *config, const char *list)
{
	const char *at = strchr(list, '{');
	size_t capacity = 0;
	char *end;

	if (at == NULL)
		die_config(config, "a list of tags is [N] {tag, ...}");
	for (; *at != '}'; at = end) {
		long tag = strtol(at + 1, &end, 10);

		while (*end == ' ')
			end++;
		if (end == at + 1 || (*end != ',' && *end != '}'))
			die_config(config, "a list of tags holds no number");
		c->tags = grow(c->tags, &capacity, c->tag_count + 1, sizeof *c->tags);
		c->tags[c->tag_count++] = tag;
	}
}

static void
take_limit(struct limit *limit, const struct config *config, const struct record *record, int i)
{
	limit->bytes = count(config, record, i);
	limit->sign = i + 1 < record->count ? record->fields[i + 1][0] : '\0';
	if (limit->sign != '<' && limit->sign != '=' && limit->sign != '>')
		die_config(config, "a condition of size is <, = or >");
}

/* {id, machine, machine, MB/s, [n] {tags}, bytes, <|=|>, &||, bytes, <|=|>, [n] {communicators}, s, s} */
static void
take_connection(struct machine *m, const struct config *config, const struct record *record)
{
	int64_t id = count(config, record, 0);
	double flight_ns = number(config, record, 12) * 1e9;
	struct connection *c;

	if ((size_t)id >= m->connection_count)
		die_config(config, "there are %zu dedicated connections, from 0", m->connection_count);
	c = &m->connections[id];
	*c = (struct connection){ .ns_per_byte = ns_per_byte(number(config, record, 3)), .defined = true,
	    .islands = { (uint32_t)count(config, record, 1), (uint32_t)count(config, record, 2) },
	    .latency_ns = number(config, record, 11) * 1e9, .either = record->fields[7][0] == '|' };
	c->flight_ns = c->ns_per_byte > 0 ? flight_ns : 0;
	if (strcmp(record->fields[7], "&") != 0 && !c->either)
		die_config(config, "conditions of size are joined by & or |");
	take_tags(c, config, record->fields[4]);
	take_limit(&c->limits[0], config, record, 5);
	take_limit(&c->limits[1], config, record, 8);
}

static void
take_wide(struct machine *m, const struct config *config, const struct record *record)
{
	m->connection_count = (size_t)count(config, record, 2);
	if (m->connection_count > config->records)
		die_config(config, "%s connections are more than there are records", record->fields[2]);
	m->connections = zalloc(m->connection_count + 1, sizeof *m->connections);
	m->wide_ns_per_byte = ns_per_byte(number(config, record, 5));
	m->wide_model = default_model(config, record, 6);
}

static void
take_record(struct machine *m, const struct config *config, const struct record *record)
{
	const char *kind = record->kind;

	if (strcmp(kind, "wide area network information") == 0)
		take_wide(m, config, record);
	else if (strcmp(kind, "dedicated connection information") == 0)
		take_connection(m, config, record);
	else if (strcmp(kind, "environment information") == 0)
		take_environment(m, config, record);
	else if (strcmp(kind, "multi node information") == 0)
		take_node(m, config, record, 3, count(config, record, 1));
	else if (strcmp(kind, "node information") == 0) {
		if (record->count == 11)
			take_old_node(m, config, record);
		else
			take_node(m, config, record, record->count == 14 ? 3 : 2, 1);
	} else if (strcmp(kind, "predefined mapping information") == 0)
		take_predefined(m, config, record);
	else if (strcmp(kind, "mapping information") == 0)
		take_mapping(m, config, record);
	else if (strcmp(kind, "modules information") == 0)
		take_region(m, config, record);
	else if (strcmp(kind, "configuration files") == 0) {
		if (record->count > 2 && record->fields[2][0] != '\0')
			read_dimemas_table(m, config, record->fields[2]);
	} else if (strcmp(kind, "file system parameters") != 0)
		die_config(config, "\"%s\" is a record that is not known", kind);
}

void
read_dimemas(struct machine *m, struct config *config)
{
	struct record record;
	char *at = config->text;

	for (const char *end = at; (end = strstr(end, "};;")) != NULL; end++)
		config->records++;
	blank_comments(at);
	while ((at = next_record(config, at, &record)) != NULL)
		take_record(m, config, &record);
}
