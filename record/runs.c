/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "../base/stream/stream.h"
#include "../base/tool/tool.h"
#include "folder.h"
#include "nodes.h"

/* What the trace says of itself. False: nothing, as its rank died before. */
static bool
read_rank(const char *file, uint64_t *run, char **host)
{
	struct message message;
	struct reader *in;
	bool found = false;

	if (reader_open(&in, file, READ_SKIMMING) == 0)
		while (!found && reader_next(in, &message) > 0)
			if (is_kind(&message, "rank") && body_uint(in, &message, "run", run) == 0) {
				*host = body_string(&message, "host");
				found = true;
			}
	reader_close(in);
	return found;
}

struct run *
run_of(struct node *node, uint64_t number, const char *name)
{
	for (size_t i = 0; i < node->run_count; i++)
		if (node->runs[i].number == number && strcmp(node->runs[i].name, name) == 0)
			return &node->runs[i];
	node->runs = grow(node->runs, &node->run_capacity, node->run_count + 1, sizeof *node->runs);
	node->runs[node->run_count] = (struct run){ .number = number, .name = need(strdup(name)) };
	return &node->runs[node->run_count++];
}

/* What folder_for_each() calls has no other argument. */
static struct { struct node *node; const char *host, *name; } search;

static void
add_file(const char *file)
{
	uint64_t number;
	char *host = NULL;

	if (read_rank(file, &number, &host) && (search.host == NULL || (host != NULL && strcmp(host, search.host) == 0))) {
		struct run *run = run_of(search.node, number, search.name);

		run->files = grow(run->files, &run->capacity, run->count + 1, sizeof *run->files);
		run->files[run->count++] = need(strdup(file));
	}
	free(host);
}

static void
add_world(const char *folder)
{
	search.name = strrchr(folder, '/') + 1;
	folder_for_each(folder, add_file);
}

void
find_runs(struct node *node, const char *folder, const char *host)
{
	search.node = node;
	search.host = host;
	search.name = "";
	folder_for_each(folder, add_file);
	folder_for_each_world(folder, add_world);
}
