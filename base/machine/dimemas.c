/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dimemas' .cfg format: "kind of record" {field, field, ...};; with C comments. It may name a table
 * of collectives, which has models and sizes by machine and operation.
 */
#include "read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 32 };

/* One record, split into fields in place; a list {1,2} is one field. */
struct record {
	char *kind;
	char *fields[FIELDS];
	int count;
};

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
skip_blanks(struct config *config, char *at)
{
	for (; *at == ' ' || *at == '\t' || *at == '\r' || *at == '\n'; at++)
		config->line += *at == '\n';
	return at;
}

/* The end of a field. Quoted fields and lists may contain commas. */
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

/* The default model in field I. */
static enum model
default_model(const struct config *config, const struct record *record, int i)
{
	int64_t model = count(config, record, i);

	if (model < 1 || model > 3)
		die_config(config, "a model is 1, 2 or 3");
	return (enum model)model;
}

/* The id of a machine or connection, at most the number of records in the file. */
static size_t
id(const struct config *config, const struct record *record, int i)
{
	int64_t value = count(config, record, i);

	if ((size_t)value >= config->records)
		die_config(config, "%s is no id: there are fewer records", record->fields[i]);
	return (size_t)value;
}

static double
ns_per_byte(double megabytes_per_s)	/* of 2^20 bytes; 0: takes no time */
{
	return megabytes_per_s > 0 ? 1e9 / 1048576 / megabytes_per_s : 0;
}

static void
take_environment(struct machine *m, const struct config *config, const struct record *record)
{
	struct island *island = machine_island(m, id(config, record, 1));
	enum model model = default_model(config, record, 6);

	island->ns_per_byte = ns_per_byte(number(config, record, 4));
	island->buses = count(config, record, 5);
	island_phases(island, (struct phases){ model, model, BYTES_SENT, BYTES_RECEIVED });
}

/*
 * Settings of COUNT nodes, from column FIRST on. In the oldest form memory has a bus for each CPU
 * and one half duplex link for each rank.
 */
static void
take_node(struct machine *m, const struct config *config, const struct record *r, int first,
    int64_t nodes)
{
	struct node *node = machine_nodes(m, nodes);
	bool oldest = r->count == 11 && strcmp(r->kind, "node information") == 0;
	int column = first;

	node->island = (uint32_t)count(config, r, 0);
	for (const struct setting *s = node_settings; s->words != NULL; s++) {
		char *at = (char *)node + s->offset;

		column = oldest ? s->oldest : column;
		if (column == 0)
			continue;
		switch (s->kind) {
		case IS_COUNT: *(int64_t *)at = count(config, r, column++); break;
		case IS_TWO_COUNTS:
			((int64_t *)at)[0] = count(config, r, column++);
			((int64_t *)at)[1] = count(config, r, column++);
			break;
		case IS_TIME: *(double *)at = number(config, r, column++) * 1e9; break;
		case IS_RATE: *(double *)at = ns_per_byte(number(config, r, column++)); break;
		default: *(double *)at = number(config, r, column++);
		}
	}
	if (oldest)
		node->memory_in = 1;
}

static void
take_predefined(struct machine *m, const struct config *config, const struct record *record)
{
	/* a trace name may come before it */
	const char *map = record->fields[record->count - 1];
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

/* "[2] {3,4}": the part before the braces is ignored. */
static void
take_list(struct list *list, const struct config *config, const char *text, const char *what)
{
	const char *at = text != NULL ? strchr(text, '{') : NULL;
	char *end;

	if (at == NULL)
		die_config(config, "%s is [N] {number, ...}", what);
	list->count = 0;
	for (at++; *at != '}'; at = *end == ',' ? end + 1 : end) {
		long value = strtol(at, &end, 10);

		while (*end == ' ')
			end++;
		if (end == at || (*end != ',' && *end != '}'))
			die_config(config, "%s holds no number", what);
		list_add(list, value);
	}
}

/* {"trace", N, [N] {0,0,1,1}} */
static void
take_mapping(struct machine *m, const struct config *config, const struct record *record)
{
	m->mapping = LISTED;
	take_list(&m->list, config, record->count > 2 ? record->fields[2] : NULL, "a mapping");
	for (size_t i = 0; i < m->list.count; i++)
		if (m->list.at[i] < 0)
			die_config(config, "a mapping has nodes from 0 on");
}

static void
take_limit(struct limit *limit, const struct config *config, const struct record *record, int i)
{
	limit->bytes = count(config, record, i);
	limit->sign = i + 1 < record->count ? record->fields[i + 1][0] : '\0';
	if (limit->sign != '<' && limit->sign != '=' && limit->sign != '>')
		die_config(config, "a condition of size is <, = or >");
}

/* {id, machine, machine, MB/s, [n] {tags}, bytes, <|=|>, &||, bytes, <|=|>, [n] {communicators}, s,
 * s} */
static void
take_connection(struct machine *m, const struct config *config, const struct record *record)
{
	int64_t id = count(config, record, 0);
	double flight_ns = number(config, record, 12) * 1e9;
	struct connection *c;

	if ((size_t)id >= m->connection_count)
		die_config(config, "there are %zu dedicated connections, from 0",
		    m->connection_count);
	c = &m->connections[id];
	*c = (struct connection){ .ns_per_byte = ns_per_byte(number(config, record, 3)),
	    .defined = true,
	    .islands = { (uint32_t)count(config, record, 1), (uint32_t)count(config, record, 2) },
	    .latency_ns = number(config, record, 11) * 1e9, .either = record->fields[7][0] == '|' };
	c->flight_ns = c->ns_per_byte > 0 ? flight_ns : 0;
	if (strcmp(record->fields[7], "&") != 0 && !c->either)
		die_config(config, "conditions of size are joined by & or |");
	take_list(&c->tags, config, record->fields[4], "a list of tags");
	take_limit(&c->limits[0], config, record, 5);
	take_limit(&c->limits[1], config, record, 8);
}

static void
take_wide(struct machine *m, const struct config *config, const struct record *record)
{
	m->connection_count = (size_t)count(config, record, 2);
	if (m->connection_count > config->records)
		die_config(config, "%s connections are more than there are records",
		    record->fields[2]);
	m->connections = zalloc(m->connection_count + 1, sizeof *m->connections);
	m->wide_ns_per_byte = ns_per_byte(number(config, record, 5));
	m->wide_model = default_model(config, record, 6);
}

/* One line of the table. All words except the operation have fixed columns. */
static void
take_table_line(struct machine *m, const struct config *config, char *line)
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
		die_config(config, "a line of the table has too few words");
	op = atol(words[first]);
	phases = (struct phases){ config_model(config, words[first + 1]),
	    config_model(config, words[first + 3]), config_size(config, words[first + 2]),
	    config_size(config, words[first + 4]) };
	if (op < 0 || op >= OPERATIONS - 1)
		return;
	for (size_t i = 0; i < m->island_count; i++)
		if (island < 0 || (int64_t)i == island)
			m->islands[i].phases[op] = phases;
}

/* Also looks for the file beside the configuration. */
static void
read_table(struct machine *m, const struct config *parent, const char *file)
{
	struct config config = { .file = file, .text = read_whole(file) };
	char *path = NULL;

	if (config.text == NULL && file[0] != '/') {
		const char *slash = strrchr(parent->file, '/');
		int folder = slash != NULL ? (int)(slash - parent->file) + 1 : 0;

		path = formatted("%.*s%s", folder, parent->file, file);
		config.text = read_whole(path);
	}
	if (config.text == NULL)
		die("%s: %s", file, strerror(errno));
	for (char *text = config.text, *line; (line = strsep(&text, "\n")) != NULL; ) {
		config.line++;
		take_table_line(m, &config, line);
	}
	free(config.text);
	free(path);
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
	else if (strcmp(kind, "node information") == 0)
		take_node(m, config, record, record->count == 14 ? 3 : 2, 1);
	else if (strcmp(kind, "predefined mapping information") == 0)
		take_predefined(m, config, record);
	else if (strcmp(kind, "mapping information") == 0)
		take_mapping(m, config, record);
	else if (strcmp(kind, "modules information") == 0)
		add_region(m, (struct region){ count(config, record, 0), count(config, record, 1),
		    number(config, record, 2) });
	else if (strcmp(kind, "configuration files") == 0) {
		if (record->count > 2 && record->fields[2][0] != '\0')
			read_table(m, config, record->fields[2]);
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
