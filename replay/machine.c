/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine itself: what it is without a file, and which rank is on which node. */
#include "machine.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/tool/search.h"
#include "config.h"

static const struct phases default_phases = { MODEL_LOGARITHMIC, MODEL_LOGARITHMIC, BYTES_SENT,
    BYTES_RECEIVED };

struct island *
machine_island(struct machine *m, size_t i)
{
	m->islands = grow(m->islands, &m->island_capacity, i + 1, sizeof *m->islands);
	for (; m->island_count <= i; m->island_count++) {
		struct island *island = &m->islands[m->island_count];

		memset(island, 0, sizeof *island);
		for (int op = 0; op < OPERATIONS; op++)
			island->phases[op] = default_phases;
	}
	return &m->islands[i];
}

static int64_t
nodes_so_far(const struct machine *m)
{
	return m->group_count > 0 ? m->groups[m->group_count - 1].end : 0;
}

struct node *
machine_nodes(struct machine *m, int64_t count)
{
	struct node_group *group;
	int64_t before = nodes_so_far(m);

	m->groups = grow(m->groups, &m->group_capacity, m->group_count + 1, sizeof *m->groups);
	group = &m->groups[m->group_count++];
	*group = (struct node_group){ before + count, { .cpus = 1, .ratio = 1 } };
	return &group->node;
}

void
machine_list(struct machine *m, int64_t node)
{
	m->mapping = LISTED;
	m->list = grow(m->list, &m->list_capacity, m->listed + 1, sizeof *m->list);
	m->list[m->listed++] = node;
}

void
machine_ideal(struct machine *m)
{
	memset(m, 0, sizeof *m);
	m->eager_bytes = 32768;
	m->heeds_modes = true;
	machine_island(m, 0)->nodes = 1;
	machine_nodes(m, 1)->cpus = INT64_MAX;
	m->mapping = FILL_NODES;
}

void
machine_loggp(struct machine *m)
{
	memset(m, 0, sizeof *m);
	m->eager_bytes = 32768;
	m->heeds_modes = m->loggp = true;
	machine_nodes(m, INT32_MAX);
	machine_island(m, 0)->nodes = INT32_MAX;
	machine_collectives(m, 0);
	m->mapping = FILL_NODES;
}

void
machine_collectives(struct machine *m, size_t island)
{
	for (int op = 0; op < OPERATIONS; op++)
		m->islands[island].phases[op] =
		    (struct phases){ MODEL_LOGARITHMIC, MODEL_NONE, BYTES_MAX, BYTES_MAX };
}

double
machine_value(const struct machine *m, enum parameter parameter)
{
	switch (parameter) {
	case LATENCY: return m->groups[0].node.latency_ns;
	case GAP: return m->islands[0].ns_per_byte;
	default: return m->call_ns;
	}
}

void
machine_set(struct machine *m, enum parameter parameter, double value)
{
	switch (parameter) {
	case LATENCY:
		for (size_t g = 0; g < m->group_count; g++)
			m->groups[g].node.latency_ns = value;
		break;
	case GAP:
		for (size_t i = 0; i < m->island_count; i++)
			m->islands[i].ns_per_byte = value;
		break;
	default:
		m->call_ns = value;
	}
}

bool
machine_is_uniform(const struct machine *m, enum parameter parameter)
{
	double value = machine_value(m, parameter);

	for (size_t g = 0; parameter == LATENCY && g < m->group_count; g++)
		if (m->groups[g].node.latency_ns != value)
			return false;
	for (size_t i = 0; parameter == GAP && i < m->island_count; i++)
		if (m->islands[i].ns_per_byte != value)
			return false;
	return true;
}

void
die_config(const struct config *config, const char *format, ...)
{
	char what[160];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof what, format, args);
	va_end(args);
	die("%s: line %d: %s", config->file, config->line, what);
}

char *
read_whole(const char *file)
{
	FILE *in = fopen(file, "r");
	size_t used = 0, capacity = 0;
	char *text = NULL;

	if (in == NULL)
		return NULL;
	do {
		text = grow(text, &capacity, used + 4096, 1);
		used += fread(text + used, 1, capacity - used - 1, in);
	} while (!feof(in) && !ferror(in));
	if (ferror(in)) {
		fclose(in);
		free(text);
		return NULL;
	}
	fclose(in);
	text[used] = '\0';
	return text;
}

void
machine_read(struct machine *m, const char *file)
{
	char *text = read_whole(file);

	if (text == NULL)
		die("%s: %s", file, strerror(errno));
	machine_read_text(m, file, text);
}

void
machine_read_text(struct machine *m, const char *file, char *text)
{
	struct config config = { file, text, 1, 0 };

	memset(m, 0, sizeof *m);
	m->dimemas = true;
	m->eager_bytes = -1;
	/* Dimemas wants any header with a #; what only that format has is a record in quotes. */
	if (strstr(config.text, "};;") != NULL)
		read_dimemas(m, &config);
	else {
		m->heeds_modes = true;
		read_own(m, &config);
	}
	free(config.text);
	if (nodes_so_far(m) == 0)
		die("%s: it has no nodes", file);
	for (size_t g = 0; g < m->group_count; g++)
		if (m->groups[g].node.island >= m->island_count)
			die("%s: a node is of a machine that is not there", file);
		else if (m->groups[g].node.cpus < 1)
			die("%s: a node has no CPU", file);
	for (size_t i = 0; i < m->connection_count; i++)
		if (!m->connections[i].defined || m->connections[i].islands[0] >= m->island_count ||
		    m->connections[i].islands[1] >= m->island_count)
			die("%s: dedicated connection %zu has no record, or none of a machine", file, i);
	for (size_t g = 0; g < m->group_count; g++)
		m->islands[m->groups[g].node.island].nodes += m->groups[g].end -
		    (g > 0 ? m->groups[g - 1].end : 0);
}

enum model
config_model(const struct config *config, const char *word)
{
	static const char *const names[] = { "0", "CTE", "LIN", "LOG", "none", "constant", "linear",
	    "logarithmic" };

	for (int i = 0; i < 8; i++)
		if (strcasecmp(word, names[i]) == 0)
			return (enum model)(i % 4);
	if (strcmp(word, "linear-p") == 0)	/* as the model's paper has it, and Dimemas does not */
		return MODEL_LINEAR_P;
	die_config(config, "%s is no model of a collective", word);
}

enum size
config_size(const struct config *config, const char *word)
{
	static const char *const names[] = { "MIN", "MAX", "MEAN", "2MAX", "S+R", "sent", "received" };

	for (int i = 0; i < 7; i++)
		if (strcasecmp(word, names[i]) == 0)
			return (enum size)i;
	die_config(config, "%s is no size of a collective", word);
}

#define ENDS_BEFORE(group, number) ((group)->end <= (number))
SEARCH(group_of, struct node_group, int64_t, ENDS_BEFORE)

static const struct node *
node_at(const struct machine *m, int64_t number)
{
	return &m->groups[group_of(m->groups, m->group_count, number)].node;
}

/* By rank the number of its node; nodes are filled one after the other unless all are told. */
static void
number_nodes(const struct machine *m, int64_t *number, uint32_t ranks)
{
	int64_t n = 0, used = 0, nodes = nodes_so_far(m), room;

	for (uint32_t r = 0; r < ranks; r++) {
		switch (m->mapping) {
		case LISTED:
			if (r >= m->listed)
				die("rank %u is mapped to no node", r);
			number[r] = m->list[r];
			break;
		case INTERLEAVED:
			number[r] = r % nodes;
			break;
		default:
			room = m->mapping == FILL_NODES ? node_at(m, n)->cpus : m->tasks_per_node;
			if (used == room) {
				n++;
				used = 0;
			}
			number[r] = n;
			used++;
		}
		if (number[r] >= nodes)
			die("rank %u finds no node: there are %lld", r, (long long)nodes);
	}
}

static int
by_number(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return a < b ? -1 : a > b;
}

void
machine_map(struct machine *m, uint32_t ranks)
{
	int64_t *number = zalloc(ranks + (size_t)1, sizeof *number);
	int64_t *in_order = zalloc(ranks + (size_t)1, sizeof *in_order);

	number_nodes(m, number, ranks);
	memcpy(in_order, number, ranks * sizeof *number);
	qsort(in_order, ranks, sizeof *in_order, by_number);
	m->nodes = zalloc(ranks + (size_t)1, sizeof *m->nodes);
	m->node_of = zalloc(ranks + (size_t)1, sizeof *m->node_of);
	m->node_count = 0;
	for (uint32_t r = 0; r < ranks; r++)
		if (r == 0 || in_order[r] != in_order[r - 1]) {
			in_order[m->node_count] = in_order[r];
			m->nodes[m->node_count++] = *node_at(m, in_order[r]);
		}
	for (uint32_t r = 0; r < ranks; r++)
		m->node_of[r] = (uint32_t)((int64_t *)bsearch(&number[r], in_order, m->node_count,
		    sizeof *in_order, by_number) - in_order);
	free(number);
	free(in_order);
}

static bool
is_within(const struct limit *limit, uint64_t bytes)
{
	uint64_t at = (uint64_t)limit->bytes;

	return limit->sign == '<' ? bytes < at : limit->sign == '=' ? bytes == at : bytes > at;
}

static bool
may_carry(const struct connection *c, int64_t tag, uint64_t bytes)
{
	bool first = is_within(&c->limits[0], bytes), second = is_within(&c->limits[1], bytes);

	for (size_t i = 0; i < c->tag_count; i++)
		if (c->tags[i] == tag)
			return c->either ? first || second : first && second;
	return false;
}

int64_t
machine_connection(const struct machine *m, uint32_t from, uint32_t to, int64_t tag, uint64_t bytes)
{
	for (size_t i = 0; i < m->connection_count; i++) {
		const uint32_t *ends = m->connections[i].islands;

		if (((ends[0] == from && ends[1] == to) || (ends[0] == to && ends[1] == from)) &&
		    may_carry(&m->connections[i], tag, bytes))
			return (int64_t)i;
	}
	return -1;
}

static bool
any_links(int64_t in, int64_t out)
{
	return in > 0 || out > 0;
}

bool
machine_is_contended(const struct machine *m, uint32_t ranks)
{
	int64_t *used = zalloc(m->node_count, sizeof *used);
	bool contended = false;

	for (uint32_t r = 0; r < ranks; r++) {
		const struct node *node = &m->nodes[m->node_of[r]];

		/* Memory and its limits matter only where ranks share a node, links only between nodes. */
		if (++used[m->node_of[r]] > 1 && (node->memory_buses > 0 ||
		    any_links(node->memory_in, node->memory_out)))
			contended = true;
		contended |= used[m->node_of[r]] > node->cpus;
		/* Between islands everything waits for links. */
		contended |= node->island != m->nodes[m->node_of[0]].island;
		contended |= m->islands[node->island].nodes > 1 && (any_links(node->in, node->out) ||
		    m->islands[node->island].buses > 0);
	}
	free(used);
	return contended;
}
