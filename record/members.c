/* SPDX-License-Identifier: BSD-3-Clause */
/* What a node learns from "members". */
#include <stdlib.h>
#include <string.h>

#include "../base/tool/tool.h"
#include "nodes.h"

/* A run of some node, in the order of "members"; the main one first. */
struct known_run {
	uint64_t number;
	const char *name;
	int nodes;		/* that have traces of it, so far */
};

struct known {
	struct known_run *runs;
	size_t count, capacity;
};

static size_t
known_index(struct known *known, uint64_t number, const char *name)
{
	for (size_t i = 0; i < known->count; i++)
		if (known->runs[i].number == number && strcmp(known->runs[i].name, name) == 0)
			return i;
	known->runs = grow(known->runs, &known->capacity, known->count + 1, sizeof *known->runs);
	known->runs[known->count] = (struct known_run){ number, name, 0 };
	return known->count++;
}

/* Processes of two nodes may have the same number; then the later run of that name gets one more. */
static char *
suffix_of(const struct known *known, size_t index)
{
	const char *name = known->runs[index].name;
	char *suffix;
	int same = 1;

	for (size_t i = 0; i < index; i++)
		same += strcmp(known->runs[i].name, name) == 0;
	if (asprintf(&suffix, same == 1 ? "%s%s" : "%s%s.%d", name[0] != '\0' ? "." : "", name, same) < 0)
		die("out of memory");
	return suffix;
}

void
take_members(struct node *node, char *members, bool *is_member)
{
	struct known known = { 0 };
	bool own = false;

	*is_member = false;
	for (char *line = members, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		unsigned long long number;
		int length = 0;

		*end = '\0';
		if (strncmp(line, "node ", 5) == 0) {
			own = strcmp(line + 5, node->name) == 0;
			if (own || (*is_member && node->next == NULL))
				node->next = own ? NULL : need(strdup(line + 5));
			if (node->first == NULL)
				node->first = need(strdup(line + 5));
			*is_member |= own;
		} else if (sscanf(line, "run %llu %n", &number, &length) == 1 && length > 0) {
			const size_t i = known_index(&known, number, line + length);

			if (own)
				run_of(node, number, line + length)->member = known.runs[i].nodes;
			known.runs[i].nodes++;
		}
	}
	if (node->next == NULL)		/* in a ring */
		node->next = node->first;
	for (size_t i = 0; i < known.count; i++)
		for (size_t r = 0; r < node->run_count; r++)
			if (node->runs[r].number == known.runs[i].number &&
			    strcmp(node->runs[r].name, known.runs[i].name) == 0) {
				node->runs[r].order = (int)i;
				node->runs[r].members = known.runs[i].nodes;
				node->runs[r].suffix = suffix_of(&known, i);
			}
	free(known.runs);
}
