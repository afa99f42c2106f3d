/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dimemas' .cfg format: "kind of record" {field, field, ...};; with C comments. It may name a table
 * of collectives, which has models and sizes by machine and operation.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 32 };

/* Replaces comments by blanks, so that line numbers stay the same. */
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
skip_blanks(struct config *c, char *at)
{
	for (; *at == ' ' || *at == '\t' || *at == '\r' || *at == '\n'; at++)
		c->line += *at == '\n';
	return at;
}

/* The end of a field. Quoted fields and lists may contain commas. */
static char *
field_end(const struct config *c, char *at)
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
	die_config(c, "the record does not end with };;");
}

/* Removes blanks around a field, and its quotes. */
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
next_record(struct config *c, char *at)
{
	char *end;

	at = skip_blanks(c, at);
	if (*at == '\0')
		return NULL;
	end = *at == '"' ? strchr(at + 1, '"') : NULL;
	if (end == NULL)
		die_config(c, "a record begins with its kind in quotes");
	c->kind = at + 1;
	*end = '\0';
	at = skip_blanks(c, end + 1);
	if (*at++ != '{')
		die_config(c, "a { is missing");
	for (c->count = 0;; at = end + 1) {
		char was;

		end = field_end(c, at);
		was = *end;
		if (c->count == FIELDS)
			die_config(c, "the record has too many fields");
		*APPEND(c->words, c->count, c->capacity) = trim(at, end);
		if (was == '}')
			break;
	}
	for (at = end + 1; *at == ';'; at++)
		;
	return at;
}

static int64_t
count(struct config *c, int i)
{
	double value = config_number(c, i, -1e15);

	if (value < 0 || value != (double)(int64_t)value || value > 1e9)
		die_config(c, "%s is no count", c->words[i]);
	return (int64_t)value;
}

/* The default model in field I. */
static enum model
default_model(struct config *c, int i)
{
	int64_t model = count(c, i);

	if (model < 1 || model > 3)
		die_config(c, "a model is 1, 2 or 3");
	return (enum model)model;
}

static double
ns_per_byte(double megabytes_per_s)	/* of 2^20 bytes; 0: takes no time */
{
	return megabytes_per_s > 0 ? 1e9 / 1048576 / megabytes_per_s : 0;
}

static void
take_environment(struct machine *m, struct config *c)
{
	const int64_t id = count(c, 1);
	struct island *island;
	enum model model;

	if ((size_t)id >= c->records)
		die_config(c, "%s is no id: there are fewer records", c->words[1]);
	island = machine_island(m, (size_t)id);
	model = default_model(c, 6);
	island->ns_per_byte = ns_per_byte(config_number(c, 4, -1e15));
	island->buses = count(c, 5);
	island_phases(island, (struct phases){ model, model, BYTES_SENT, BYTES_RECEIVED });
}

/* Settings of nodes. In the oldest form memory has a bus a CPU and a half duplex link a rank. */
static void
take_node(struct machine *m, struct config *c)
{
	const bool several = strcmp(c->kind, "multi node information") == 0,
	    oldest = c->count == 11 && !several;
	struct node *node = machine_nodes(m, several ? count(c, 1) : 1);
	int column = several || c->count == 14 ? 3 : 2;

	node->island = (uint32_t)count(c, 0);
	for (const struct setting *s = node_settings; s->words != NULL; s++) {
		char *at = (char *)node + s->offset;

		column = oldest ? s->oldest : column;
		if (column == 0)
			continue;
		switch (s->kind) {
		case IS_COUNT: *(int64_t *)at = count(c, column++); break;
		case IS_TWO_COUNTS:
			((int64_t *)at)[0] = count(c, column++);
			((int64_t *)at)[1] = count(c, column++);
			break;
		case IS_TIME: *(double *)at = config_number(c, column++, -1e15) * 1e9; break;
		case IS_RATE: *(double *)at = ns_per_byte(config_number(c, column++, -1e15)); break;
		default: *(double *)at = config_number(c, column++, -1e15);
		}
	}
	if (oldest)
		node->memory_in = 1;
}

static void
take_predefined(struct machine *m, struct config *c)
{
	/* a trace name may come before it */
	const char *map = c->words[c->count - 1];
	char *end;

	if (strstr(map, "FILL_NODES") != NULL)
		m->mapping = FILL_NODES;
	else if (strstr(map, "INTERLEAVED") != NULL)
		m->mapping = INTERLEAVED;
	else if (strstr(map, "TASKS_PER_NODE") != NULL) {
		m->mapping = TASKS_PER_NODE;
		m->tasks_per_node = strtol(map, &end, 10);
		if (end == map || m->tasks_per_node < 1)
			die_config(c, "%s: tasks per node are missing", map);
	} else
		die_config(c, "%s is no mapping", map);
}

/* "[2] {3,4}": the part before the braces is ignored. */
static void
take_list(struct list *list, const struct config *c, const char *text, const char *what)
{
	const char *at = text != NULL ? strchr(text, '{') : NULL;
	char *end;

	if (at == NULL)
		die_config(c, "%s is [N] {number, ...}", what);
	list->count = 0;
	for (at++; *at != '}'; at = *end == ',' ? end + 1 : end) {
		long value = strtol(at, &end, 10);

		while (*end == ' ')
			end++;
		if (end == at || (*end != ',' && *end != '}'))
			die_config(c, "%s holds no number", what);
		*APPEND(list->at, list->count, list->capacity) = value;
	}
}

/* {"trace", N, [N] {0,0,1,1}} */
static void
take_mapping(struct machine *m, struct config *c)
{
	m->mapping = LISTED;
	take_list(&m->list, c, c->count > 2 ? c->words[2] : NULL, "a mapping");
	for (size_t i = 0; i < m->list.count; i++)
		if (m->list.at[i] < 0)
			die_config(c, "a mapping has nodes from 0 on");
}

static void
take_limit(struct limit *limit, struct config *c, int i)
{
	limit->bytes = count(c, i);
	limit->sign = i + 1 < c->count ? c->words[i + 1][0] : '\0';
	if (limit->sign != '<' && limit->sign != '=' && limit->sign != '>')
		die_config(c, "a condition of size is <, = or >");
}

/* {id, machine, machine, MB/s, [n] {tags}, bytes, <|=|>, &||, bytes, <|=|>, [n] {communicators}, s,
 * s} */
static void
take_connection(struct machine *m, struct config *c)
{
	int64_t id = count(c, 0);
	double flight_ns = config_number(c, 12, -1e15) * 1e9;
	struct connection *to;

	if ((size_t)id >= m->connection_count)
		die_config(c, "there are %zu dedicated connections, from 0", m->connection_count);
	to = &m->connections[id];
	*to = (struct connection){ .ns_per_byte = ns_per_byte(config_number(c, 3, -1e15)),
	    .defined = true, .islands = { (uint32_t)count(c, 1), (uint32_t)count(c, 2) },
	    .latency_ns = config_number(c, 11, -1e15) * 1e9, .either = c->words[7][0] == '|' };
	to->flight_ns = to->ns_per_byte > 0 ? flight_ns : 0;
	if (strcmp(c->words[7], "&") != 0 && !to->either)
		die_config(c, "conditions of size are joined by & or |");
	take_list(&to->tags, c, c->words[4], "a list of tags");
	take_limit(&to->limits[0], c, 5);
	take_limit(&to->limits[1], c, 8);
}

static void
take_wide(struct machine *m, struct config *c)
{
	m->connection_count = (size_t)count(c, 2);
	if (m->connection_count > c->records)
		die_config(c, "%s connections are more than there are records",
		    c->words[2]);
	m->connections = zalloc(m->connection_count + 1, sizeof *m->connections);
	m->wide_ns_per_byte = ns_per_byte(config_number(c, 5, -1e15));
	m->wide_model = default_model(c, 6);
}

/* One line of the table. All words except the operation have fixed columns. */
static void
take_table_line(struct machine *m, const struct config *c, char *line)
{
	char *words[8], *word;
	int n = 0, first = 0;
	int64_t island = -1, op;
	struct phases phases;

	while (n < 8 && (word = strtok_r(line, " \t\r", &line)) != NULL)
		words[n++] = word;
	if (n == 0 || words[0][0] == '#' || strncmp(words[0], "//", 2) == 0)
		return;
	if (n >= 2 && strcmp(words[1], "globalop:") == 0) {
		first = strcmp(words[0], "Machine") == 0 ? 3 : 2;
		if (strcmp(words[0], "External") == 0)
			return;		/* see lp-replay(1) */
		island = n > 2 ? atol(words[2]) : -1;
	}
	if (n < first + 5)
		die_config(c, "a line of the table has too few words");
	op = atol(words[first]);
	phases = (struct phases){ config_model(c, words[first + 1]),
	    config_model(c, words[first + 3]), config_size(c, words[first + 2]),
	    config_size(c, words[first + 4]) };
	if (op < 0 || op >= OPERATIONS - 1)
		return;
	for (size_t i = 0; i < m->island_count; i++)
		if (island < 0 || (int64_t)i == island)
			m->islands[i].phases[op] = phases;
}

/* The table of collectives; also looks for the file beside the configuration. */
static void
take_files(struct machine *m, struct config *c)
{
	const char *file = c->count > 2 ? c->words[2] : "", *slash = strrchr(c->file, '/');
	const int folder = slash != NULL ? (int)(slash - c->file) + 1 : 0;
	struct config config = { .file = file };
	char *beside;

	if (file[0] == '\0')
		return;
	config.text = read_whole(file);
	beside = formatted("%.*s%s", folder, c->file, file);
	if (config.text == NULL && file[0] != '/')
		config.text = read_whole(beside);
	free(beside);
	if (config.text == NULL)
		die("%s: %s", file, strerror(errno));
	for (char *text = config.text, *line; (line = strsep(&text, "\n")) != NULL; ) {
		config.line++;
		take_table_line(m, &config, line);
	}
	free(config.text);
}

static void
take_region(struct machine *m, struct config *c)
{
	const struct region region = { count(c, 0), count(c, 1), config_number(c, 2, -1e15) };

	*APPEND(m->regions, m->region_count, m->region_capacity) = region;
}

static void
take_record(struct machine *m, struct config *c)
{
	static const struct { const char *kind; void (*take)(struct machine *m, struct config *c);
	    } records[] = {
		{ "wide area network information", take_wide },
		{ "dedicated connection information", take_connection },
		{ "environment information", take_environment },
		{ "multi node information", take_node }, { "node information", take_node },
		{ "predefined mapping information", take_predefined },
		{ "mapping information", take_mapping }, { "modules information", take_region },
		{ "configuration files", take_files }, { "file system parameters", NULL },
	};

	for (size_t i = 0; i < sizeof records / sizeof *records; i++)
		if (strcmp(c->kind, records[i].kind) == 0) {
			if (records[i].take != NULL)
				records[i].take(m, c);
			return;
		}
	die_config(c, "\"%s\" is a record that is not known", c->kind);
}

void
read_dimemas(struct machine *m, struct config *c)
{
	char *at = c->text;

	for (const char *end = at; (end = strstr(end, "};;")) != NULL; end++)
		c->records++;
	blank_comments(at);
	while ((at = next_record(c, at)) != NULL)
		take_record(m, c);
}
