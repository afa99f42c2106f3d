/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine: from a file or without one, the node of each rank, and costs of messages by size. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../mpi/call_class.h"
#include "../stream/calls.h"
#include "../tool/search.h"
#include "../tool/text.h"

void
island_phases(struct island *island, struct phases phases)
{
	for (int op = 0; op < OPERATIONS; op++)
		island->phases[op] = phases;
}

struct island *
machine_island(struct machine *m, size_t i)
{
	GROW(m->islands, m->island_capacity, i + 1);
	for (; m->island_count <= i; m->island_count++) {
		m->islands[m->island_count] = (struct island){ .nodes = 0 };
		island_phases(&m->islands[m->island_count], (struct phases){ MODEL_LOGARITHMIC,
		    MODEL_LOGARITHMIC, BYTES_SENT, BYTES_RECEIVED });
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

	group = APPEND(m->groups, m->group_count, m->group_capacity);
	*group = (struct node_group){ before + count, { .cpus = 1, .ratio = 1 } };
	return &group->node;
}

void
machine_ideal(struct machine *m)
{
	*m = (struct machine){ .eager_bytes = 32768, .heeds_modes = true, .mapping = FILL_NODES };
	machine_island(m, 0)->nodes = 1;
	machine_nodes(m, 1)->cpus = INT64_MAX;
}

void
machine_loggp(struct machine *m)
{
	*m = (struct machine){ .eager_bytes = 32768, .heeds_modes = true, .loggp = true,
	    .mapping = FILL_NODES };
	machine_nodes(m, INT32_MAX);
	machine_island(m, 0)->nodes = INT32_MAX;
	island_phases(&m->islands[0], LOGGP_PHASES);
}

/* ---- files of either format: their text, common words, and mandatory settings ---- */

const char *const model_names[] = { "none", "constant", "linear", "logarithmic", "linear-p", NULL };
const char *const size_names[] = { "min", "max", "mean", "2max", "s+r", "sent", "received", NULL };

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
	size_t capacity = 0;
	char *text = NULL;
	bool empty;

	if (in == NULL)
		return NULL;
	empty = getdelim(&text, &capacity, '\0', in) < 0;
	if (ferror(in)) {
		free(text);
		text = NULL;
	} else if (empty)
		text = zalloc(1, 1);
	fclose(in);
	return text;
}

double
config_number(struct config *c, int i, double least)
{
	char *end;
	double value;

	if (i >= c->count && c->kind != NULL)
		die_config(c, "\"%s\" has too few fields", c->kind);
	if (i >= c->count)
		die_config(c, "%s: a number is missing", c->words[0]);
	c->used = i + 1 > c->used ? i + 1 : c->used;
	value = strtod(c->words[i], &end);
	if (end == c->words[i] || *end != '\0' || !(value >= least && value <= 1e15))
		die_config(c, "%s is no number", c->words[i]);
	return value;
}

static int
index_of(const char *const *names, const char *word)
{
	for (int i = 0; names[i] != NULL; i++)
		if (strcasecmp(word, names[i]) == 0)
			return i;
	return -1;
}

enum model
config_model(const struct config *config, const char *word)
{
	static const char *const of_dimemas[] = { "0", "CTE", "LIN", "LOG", NULL };
	int model = index_of(model_names, word);

	if (model < 0)
		model = index_of(of_dimemas, word);
	if (model < 0)
		die_config(config, "%s is no model of a collective", word);
	return (enum model)model;
}

enum size
config_size(const struct config *config, const char *word)
{
	int size = index_of(size_names, word);

	if (size < 0)
		die_config(config, "%s is no size of a collective", word);
	return (enum size)size;
}

void
machine_read_text(struct machine *m, const char *file, char *text)
{
	struct config config = { .file = file, .text = text, .line = 1 };

	memset(m, 0, sizeof *m);
	m->dimemas = true;
	m->eager_bytes = -1;
	/* Dimemas accepts any header with a #. Only its format has quoted records. */
	(strstr(text, "};;") != NULL ? read_dimemas : read_own)(m, &config);
	free(config.words);
	free(text);
	/* Checks the file as a whole; counts the nodes of each island. */
	if (m->group_count == 0 || m->groups[m->group_count - 1].end == 0)
		die("%s: it has no nodes", file);
	for (size_t g = 0; g < m->group_count; g++)
		if (m->groups[g].node.island >= m->island_count)
			die("%s: a node is of a machine that is not there", file);
		else if (m->groups[g].node.cpus < 1)
			die("%s: a node has no CPU", file);
	for (size_t i = 0; i < m->connection_count; i++)
		if (!m->connections[i].defined || m->connections[i].islands[0] >= m->island_count ||
		    m->connections[i].islands[1] >= m->island_count)
			die("%s: dedicated connection %zu has no record, or none of a machine",
			    file, i);
	for (size_t g = 0; g < m->group_count; g++)
		m->islands[m->groups[g].node.island].nodes += m->groups[g].end -
		    (g > 0 ? m->groups[g - 1].end : 0);
}

void
machine_read(struct machine *m, const char *file)
{
	char *text = read_whole(file);

	if (text == NULL)
		die("%s: %s", file, strerror(errno));
	machine_read_text(m, file, text);
}

/* ---- parameters ---- */

/* The I-th place where the machine has a parameter; NULL: no more. */
static double *
parameter_at(const struct machine *m, enum parameter parameter, size_t i)
{
	switch (parameter) {
	case LATENCY: return i < m->group_count ? &m->groups[i].node.latency_ns : NULL;
	case GAP: return i < m->island_count ? &m->islands[i].ns_per_byte : NULL;
	default: return i == 0 ? (double *)&m->call_ns : NULL;
	}
}

double
machine_value(const struct machine *m, enum parameter parameter)
{
	return *parameter_at(m, parameter, 0);
}

void
machine_set(struct machine *m, enum parameter parameter, double value)
{
	double *at;

	for (size_t i = 0; (at = parameter_at(m, parameter, i)) != NULL; i++)
		*at = value;
}

bool
machine_is_uniform(const struct machine *m, enum parameter parameter)
{
	const double *at;

	for (size_t i = 0; (at = parameter_at(m, parameter, i)) != NULL; i++)
		if (*at != machine_value(m, parameter))
			return false;
	return true;
}

#define ENDS_BEFORE(group, number) ((group)->end <= (number))
SEARCH(group_of, struct node_group, int64_t, ENDS_BEFORE)

static const struct node *
node_at(const struct machine *m, int64_t number)
{
	return &m->groups[group_of(m->groups, m->group_count, number)].node;
}

/* Node numbers by rank. Nodes are filled one after another unless the file lists all. */
static void
number_nodes(const struct machine *m, int64_t *number, uint32_t ranks)
{
	int64_t n = 0, used = 0, nodes = nodes_so_far(m), room;

	for (uint32_t r = 0; r < ranks; r++) {
		switch (m->mapping) {
		case LISTED:
			if (r >= m->list.count)
				die("rank %u is mapped to no node", r);
			number[r] = m->list.at[r];
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

ORDER(by_number, int64_t, COMPARED(*a, *b))

void
machine_map(struct machine *m, uint32_t ranks)
{
	int64_t *number = zalloc(ranks + (size_t)1, sizeof *number);
	int64_t *in_order = zalloc(ranks + (size_t)1, sizeof *in_order);

	number_nodes(m, number, ranks);
	memcpy(in_order, number, ranks * sizeof *number);
	SORT(in_order, ranks, by_number);
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

int64_t
machine_connection(const struct machine *m, uint32_t from, uint32_t to, int64_t tag, uint64_t bytes)
{
	for (size_t i = 0; i < m->connection_count; i++) {
		const struct connection *c = &m->connections[i];
		const uint32_t *ends = c->islands;
		bool first = is_within(&c->limits[0], bytes);
		bool second = is_within(&c->limits[1], bytes);

		if ((ends[0] != from || ends[1] != to) && (ends[0] != to || ends[1] != from))
			continue;
		for (size_t t = 0; t < c->tags.count; t++)
			if (c->tags.at[t] == tag && (c->either ? first || second : first && second))
				return (int64_t)i;
	}
	return -1;
}

bool
machine_is_contended(const struct machine *m, uint32_t ranks)
{
	int64_t *used = zalloc(m->node_count, sizeof *used);
	bool contended = false;

	for (uint32_t r = 0; r < ranks; r++) {
		const struct node *node = &m->nodes[m->node_of[r]];

		/* Memory limits matter only if ranks share a node, links only between nodes. */
		contended |= ++used[m->node_of[r]] > 1 && node->memory_buses + node->memory_in +
		    node->memory_out > 0;
		contended |= used[m->node_of[r]] > node->cpus;
		/* Between islands all messages need links. */
		contended |= node->island != m->nodes[m->node_of[0]].island;
		contended |= m->islands[node->island].nodes > 1 &&
		    node->in + node->out + m->islands[node->island].buses > 0;
	}
	free(used);
	return contended;
}

double
by_size_ns(const struct curve_by_size *curve, double bytes)
{
	const struct travel *t = curve->at;
	size_t i = 0;

	if (curve->count == 0)
		return curve->ns + curve->ns_per_byte * bytes;
	if (curve->count == 1 || bytes <= t[0].bytes)
		return t[0].ns;
	while (i + 2 < curve->count && t[i + 1].bytes < bytes)
		i++;
	return t[i].ns +
	    (bytes - t[i].bytes) * (t[i + 1].ns - t[i].ns) / (t[i + 1].bytes - t[i].bytes);
}

double
overhead_ns(const struct machine *m, bool in_memory, bool receives, double bytes)
{
	const struct wire_costs *wire = in_memory ? &m->memory : &m->network;
	const struct curve_by_size *curve = receives ? &wire->receive : &wire->send;

	if (!curve->told)
		curve = receives ? &m->network.receive : &m->network.send;
	return by_size_ns(curve, bytes);
}

double
sent_ns(const struct machine *m, bool in_memory, double bytes)
{
	const struct wire_costs *wire = in_memory && m->memory.send.told ? &m->memory : &m->network;

	return by_size_ns(&wire->sent, bytes);
}

double
beside_ns(const struct machine *m, enum operation operation, uint32_t ranks, double bytes)
{
	const struct beside *found = NULL;

	for (size_t i = 0; i < m->beside_count; i++)
		if (m->besides[i].operation == operation && ranks >= m->besides[i].from_ranks)
			found = &m->besides[i];
	return found != NULL ? by_size_ns(&found->curve, bytes) : 0;
}

const struct rule *
machine_rule(const struct machine *m, enum operation operation, uint32_t ranks, double bytes)
{
	const struct rule *rule = NULL;

	for (size_t i = 0; i < m->rule_count; i++)
		if (m->rules[i].operation == operation && ranks >= m->rules[i].from_ranks &&
		    bytes >= m->rules[i].from_bytes)
			rule = &m->rules[i];
	return rule == NULL || rule->schedule == NO_SCHEDULE ? NULL : rule;
}

/* ---- models of the two phases of a collective on Dimemas' machine ---- */

static const char *const names[] = { "barrier", "bcast", "gather", "gatherv", "scatter", "scatterv",
    "allgather", "allgatherv", "alltoall", "alltoallv", "reduce", "allreduce", "reduce_scatter",
    "reduce_scatter_block", "scan", "alltoallw" };

char *
operation_call(enum operation operation, bool starts)
{
	char *name = formatted("MPI_%s%s", starts ? "I" : "", names[operation]);

	name[4] = (char)toupper((unsigned char)name[4]);
	return name;
}

enum operation
operation_named(const char *name)
{
	enum operation i = OP_BARRIER;

	while (i < OP_OTHER && strcasecmp(name, names[i]) != 0)
		i++;
	return i;
}

enum operation
operation_of(uint16_t call)
{
	const char *name = call_name(call);
	enum call_class class = call_class(call);
	enum operation operation;

	if (class == CLASS_INIT || class == CLASS_FINALIZE)
		return OP_BARRIER;
	if (strncmp(name, "MPI_", 4) != 0)
		return OP_OTHER;
	operation = operation_named(name + 4);
	return operation == OP_OTHER && (name[4] == 'I' || name[4] == 'i') ?
	    operation_named(name + 5) : operation;
}

/* The sum of ceil(n / buses) over the stages of a tree of P ranks: the validation paper's model. */
static double
tree_steps(int64_t p, int64_t buses)
{
	double steps = 0;

	for (int64_t i = 0; (int64_t)1 << i < p; i++) {
		int64_t first = ((int64_t)1 << i) - 1, stride = (int64_t)2 << i;
		int64_t pairs = first < p - 1 ? (p - 2 - first) / stride + 1 : 0;

		steps += buses == 0 ? 1 : (double)((pairs + buses - 1) / buses);
	}
	return steps;
}

/* How often a phase costs latency and bytes. */
static double
model_factor(enum model model, int64_t p, int64_t buses)
{
	switch (model) {
	case MODEL_CONSTANT: return 1;
	case MODEL_LINEAR: return (double)(p - 1);
	case MODEL_LINEAR_P: return p > 1 ? (double)p : 0;
	case MODEL_LOGARITHMIC: return tree_steps(p, buses);
	default: return 0;
	}
}

static double
model_bytes(enum size size, double sent, double received)
{
	switch (size) {
	case BYTES_MIN: return sent < received ? sent : received;
	case BYTES_MAX: return sent > received ? sent : received;
	case BYTES_MEAN: return (sent + received) / 2;
	case BYTES_TWICE_MAX: return 2 * (sent > received ? sent : received);
	case BYTES_SUM: return sent + received;
	case BYTES_SENT: return sent;
	default: return received;
	}
}

struct cost
phases_cost(const struct phases *phases, double sent, double received, int64_t ranks,
    int64_t buses, double latency, double each)
{
	double in = model_factor(phases->in, ranks, buses);
	double out = model_factor(phases->out, ranks, buses);
	double in_bytes = model_bytes(phases->in_size, sent, received);
	double out_bytes = model_bytes(phases->out_size, sent, received);

	return (struct cost){ in * (latency + in_bytes * each) + out * (latency + out_bytes * each),
	    { [LATENCY] = in + out, [GAP] = in * in_bytes + out * out_bytes } };
}
