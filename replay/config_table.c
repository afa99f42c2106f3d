/* SPDX-License-Identifier: BSD-3-Clause */
/* Dimemas' table of collectives, which a .cfg names: models and sizes by machine and operation. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

/* One line of the table: all words but the operation are of fixed places. */
static void
take_table_line(struct machine *m, const struct config *config, char *line)
{
	char *words[8], *save = NULL;
	int n = 0, first = 0;
	int64_t island = -1, op;
	struct phases phases;

	for (char *word = strtok_r(line, " \t\r", &save); word != NULL && n < 8;
	    word = strtok_r(NULL, " \t\r", &save))
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

void
read_dimemas_table(struct machine *m, const struct config *parent, const char *file)
{
	struct config config = { file, read_whole(file), 0, 0 };
	char *path = NULL;

	if (config.text == NULL && file[0] != '/') {	/* beside the configuration */
		const char *slash = strrchr(parent->file, '/');
		int folder = slash != NULL ? (int)(slash - parent->file) + 1 : 0;
		size_t capacity = 0;

		path = grow(NULL, &capacity, (size_t)folder + strlen(file) + 1, 1);
		sprintf(path, "%.*s%s", folder, parent->file, file);
		config.text = read_whole(path);
	}
	if (config.text == NULL)
		die("%s: %s", file, strerror(errno));
	for (char *line = config.text, *end; line != NULL; line = end) {
		end = strchr(line, '\n');
		if (end != NULL)
			*end++ = '\0';
		config.line++;
		take_table_line(m, &config, line);
	}
	free(config.text);
	free(path);
}
