/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a machine file of either format: its text, common words, and mandatory settings. */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
