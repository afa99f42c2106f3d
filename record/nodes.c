/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each node puts a file "node.NAME" there: its ranks, and a line for each run of which it has traces. When
 * these are all ranks of the job one node makes of all such files the file "members", by link(), so that there is
 * one and all see the same; a node that comes later is not in it, and is left out.
 *
 * While it waits a node counts in its file "beat.NAME". Where a program has failed, and so whole nodes may be
 * gone, only those that go on counting become members; and each looks whether the next one still does. What counts
 * is what is read of a file that has just been opened: caches of network file systems may keep all else.
 */
#include "nodes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../base/tool/folder.h"
#include "../base/tool/tool.h"

enum { ALIVE_S = 3 };	/* how long it is looked whether a node still counts, once a second */

static char *
path_of(const char *folder, const char *prefix, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s%s", folder, prefix, name) < 0)
		die("out of memory");
	return path;
}

void
nodes_prepare(const char *folder)
{
	struct stat status;

	if (lstat(folder, &status) == 0 && S_ISDIR(status.st_mode))
		folder_remove(folder);	/* of a job that was killed */
	if (mkdir(folder, 0777) != 0)
		die("%s: %s", folder, strerror(errno));
}

/* ---- what is told ---- */

/* The whole file, or NULL where there is none (any more). */
static char *
read_text(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;

	if (file == NULL)
		return NULL;
	if (getdelim(&text, &size, '\0', file) < 0) {
		free(text);
		text = need(strdup(""));
	}
	fclose(file);
	return text;
}

static bool
write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");
	const bool written = file != NULL && fputs(text, file) >= 0;

	return file != NULL && fclose(file) == 0 && written;
}

static char *
text_of(const struct node *node)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		die("out of memory");
	fprintf(out, "node %s\nranks%s\n", node->name, node->ranks);
	if (node->failed)
		fputs("failed\n", out);
	for (size_t i = 0; i < node->run_count; i++)
		fprintf(out, "run %llu %s\n", (unsigned long long)node->runs[i].number, node->runs[i].name);
	if (fclose(out) != 0)
		die("out of memory");
	return text;
}

static int
is_node_name(const struct dirent *entry)
{
	return strncmp(entry->d_name, "node.", 5) == 0;
}

/* How many ranks a node's text tells of, and the first of them. */
static int
count_ranks(const char *text, long *first)
{
	const char *at = strstr(text, "\nranks");
	int count = 0;
	char *end;

	*first = -1;
	for (at = at != NULL ? at + strlen("\nranks") : ""; *at == ' '; at = end) {
		const long rank = strtol(at, &end, 10);

		if (end == at)
			break;
		if (count++ == 0 || rank < *first)
			*first = rank;
	}
	return count;
}

struct told {
	char *text;
	long first;
	char name[300];		/* of the node */
	unsigned long long beats;	/* when it was looked at */
};

struct all_told {
	struct told *nodes;	/* by first rank */
	size_t count;
	int ranks;		/* of all of them */
	bool failed;		/* a program has, on some node */
};

static int
by_first(const void *left, const void *right)
{
	const struct told *a = left, *b = right;

	return a->first != b->first ? (a->first > b->first) - (a->first < b->first) : strcmp(a->text, b->text);
}

static unsigned long long
beats_of(const char *folder, const char *name)
{
	char *path = path_of(folder, "beat.", name), *text = read_text(path);
	const unsigned long long beats = text != NULL ? strtoull(text, NULL, 10) : 0;

	free(text);
	free(path);
	return beats;
}

static struct all_told
all_told(const char *folder)
{
	struct dirent **entries;
	const int count = scandir(folder, &entries, is_node_name, NULL);
	struct all_told all = { .nodes = zalloc(count > 0 ? (size_t)count : 1, sizeof *all.nodes) };

	for (int i = 0; i < count; i++) {
		char *path = path_of(folder, "", entries[i]->d_name), *text = read_text(path);
		struct told *told = &all.nodes[all.count];

		if (text != NULL && sscanf(text, "node %299s", told->name) == 1) {
			all.ranks += count_ranks(text, &told->first);
			all.failed |= strstr(text, "\nfailed\n") != NULL;
			told->text = text;
			all.count++;
		} else
			free(text);
		free(path);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	qsort(all.nodes, all.count, sizeof *all.nodes, by_first);
	return all;
}

static void
free_told(struct all_told *all)
{
	for (size_t i = 0; i < all->count; i++)
		free(all->nodes[i].text);
	free(all->nodes);
}

void
nodes_beat(struct node *node, const char *folder)
{
	char *path = path_of(folder, "beat.", node->name), text[40];

	snprintf(text, sizeof text, "%llu\n", ++node->beats);
	write_text(path, text);
	free(path);
}

/* For so long, counting. */
static void
rest(struct node *node, const char *folder, int64_t ns)
{
	const struct timespec pause = { ns / 1000000000, ns % 1000000000 };

	nodes_beat(node, folder);
	nanosleep(&pause, NULL);
}

/* ---- who takes part ---- */

/* "members" of those that are alive, unless there is one already. */
static bool
decide(const struct node *node, const char *folder, const struct all_told *all)
{
	char *own = path_of(folder, "members.", node->name), *members = path_of(folder, "", "members"), *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool well;
	int error;

	if (out == NULL)
		die("out of memory");
	for (size_t i = 0; i < all->count; i++)
		if (all->nodes[i].text[0] != '\0')
			fputs(all->nodes[i].text, out);
	if (fclose(out) != 0)
		die("out of memory");
	well = write_text(own, text) && (link(own, members) == 0 || errno == EEXIST);
	error = errno;
	unlink(own);
	if (!well)
		note("%s: %s", members, strerror(error));
	free(text);
	free(own);
	free(members);
	return well;
}

/* Who does not count any more while others rest, has no text. */
static void
leave_out_the_dead(struct node *node, const char *folder, struct all_told *all)
{
	for (size_t i = 0; i < all->count; i++)
		all->nodes[i].beats = beats_of(folder, all->nodes[i].name);
	for (int i = 0; i < ALIVE_S; i++)
		rest(node, folder, 1000000000);
	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->nodes[i].name, node->name) != 0 &&
		    beats_of(folder, all->nodes[i].name) == all->nodes[i].beats)
			all->nodes[i].text[0] = '\0';
}

/* Who is not there any more has been taken away with the folder, by another job that makes the same shards. */
static bool
is_told(const struct all_told *all, const char *name)
{
	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->nodes[i].name, name) == 0)
			return true;
	note("another job makes the same shards: the raw traces of this node are not merged");
	return false;
}

/* Comes back with what is in "members"; NULL: there can be none. */
static char *
wait_for_all(struct node *node, const char *folder, bool (*give_up)(void))
{
	char *path = path_of(folder, "", "members"), *members;
	int64_t pause_ns = 1000000;
	bool decided = true;

	while ((members = read_text(path)) == NULL && decided) {
		struct all_told all = all_told(folder);
		const bool late = give_up();

		decided = is_told(&all, node->name);
		if (decided && (late || all.ranks >= node->ranks_of_job)) {
			if (late || all.failed)
				leave_out_the_dead(node, folder, &all);
			decided = decide(node, folder, &all);
		} else if (decided) {
			rest(node, folder, pause_ns);
			pause_ns = pause_ns < 512000000 ? 2 * pause_ns : pause_ns;
		}
		free_told(&all);
	}
	free(path);
	return members;
}

bool
nodes_meet(struct node *node, const char *folder, bool (*give_up)(void))
{
	char *path = path_of(folder, "node.", node->name), *new = path_of(folder, "new.", node->name);
	char *text = text_of(node), *members = NULL;
	bool is_member = false;

	if (!write_text(new, text) || rename(new, path) != 0)
		note("%s: %s: this node's raw traces are not merged", path, strerror(errno));
	else if ((members = wait_for_all(node, folder, give_up)) != NULL) {
		take_members(node, members, &is_member);
		if (!is_member)
			note("the job ended before the ranks of this node did: its raw traces are not merged");
	}
	free(members);
	free(path);
	free(new);
	free(text);
	return is_member;
}

const char *
nodes_lost(struct node *node, const char *folder)
{
	char *done = path_of(folder, "done.", node->next);
	const unsigned long long beats = beats_of(folder, node->next);
	const bool is_done = access(done, F_OK) == 0;
	struct timespec now;

	free(done);
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (is_done || beats != node->heard || node->heard_s == 0) {
		node->heard = beats;
		node->heard_s = now.tv_sec;
	}
	return now.tv_sec - node->heard_s > LATE_S ? node->next : NULL;
}

void
nodes_part(const struct node *node, const char *folder)
{
	char *path = path_of(folder, "node.", node->name), *done = path_of(folder, "done.", node->name);
	struct dirent **entries;
	int left;

	rename(path, done);
	if ((left = scandir(folder, &entries, is_node_name, NULL)) == 0)
		folder_remove(folder);
	for (int i = 0; i < left; i++)
		free(entries[i]);
	if (left >= 0)
		free(entries);
	free(path);
	free(done);
}
