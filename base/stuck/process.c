/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of the ranks on this host, from /proc. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../mpi/launchers.h"
#include "../tool/process.h"
#include "../tool/tool.h"
#include "look.h"

/* Another process may have the number by now: then it runs another program. */
static bool
lives(const struct rank *rank)
{
	char path[64], program[4096];
	ssize_t got;

	snprintf(path, sizeof path, "/proc/%lld/exe", (long long)rank->pid);
	if ((got = readlink(path, program, sizeof program - 1)) <= 0)
		return errno == EACCES;
	program[got] = '\0';
	return rank->program == NULL || strcmp(program, rank->program) == 0;
}

void
process_look(const struct look *look, struct rank *rank)
{
	char host[256] = "";

	if (rank->ended || rank->died || !look->live)
		rank->life = rank->ended ? ENDED : DEAD;
	gethostname(host, sizeof host - 1);
	if (rank->died || !look->live || rank->host == NULL || strcmp(host, rank->host) != 0)
		return;
	rank->state = process_state(rank->pid);
	if (rank->state != 0 && !lives(rank))
		rank->state = 0;
	if (rank->life != ENDED)
		rank->life = rank->state != 0 ? ALIVE : DEAD;
	if (rank->state != 0)
		process_read(rank->pid, "wchan", rank->wchan, sizeof rank->wchan);
	if (strcmp(rank->wchan, "0") == 0)
		rank->wchan[0] = '\0';
}

/* ---- ranks that have not called MPI_Init ---- */

struct environment {
	size_t size;
	char bytes[1 << 18];
};

static const char *
value_of(const struct environment *of, const char *name)
{
	const size_t length = strlen(name);

	for (const char *at = of->bytes; at < of->bytes + of->size; at += strlen(at) + 1)
		if (strncmp(at, name, length) == 0 && at[length] == '=')
			return at + length + 1;
	return NULL;
}

/* The rank that the launcher gave the process; -1: none, or not of so many. */
static int32_t
rank_given(const struct environment *of, int32_t ranks)
{
	for (int i = 0; i < LAUNCHERS; i++) {
		const char *rank = value_of(of, launchers[i].rank);
		const char *all = value_of(of, launchers[i].ranks);

		if (rank != NULL && all != NULL)
			return atoi(all) == ranks && atoi(rank) < ranks ? atoi(rank) : -1;
	}
	return -1;
}

static int
is_process(const struct dirent *entry)
{
	return entry->d_name[strspn(entry->d_name, "0123456789")] == '\0';
}

/* Of several, such as a shell and the program that it starts, the youngest. */
static void
find_processes(struct look *look, const char *folder)
{
	static struct environment environment;
	struct dirent **entries;
	const int count = scandir("/proc", &entries, is_process, versionsort);
	char host[256] = "";

	gethostname(host, sizeof host - 1);
	for (int i = 0; i < count; i++) {
		const int64_t pid = atoll(entries[i]->d_name);
		const char *dir;
		int32_t r;

		environment.size = process_read(pid, "environ", environment.bytes,
		    sizeof environment.bytes);
		dir = value_of(&environment, "LONGPOLE_DIR");
		r = dir != NULL && strcmp(dir, folder) == 0 ?
		    rank_given(&environment, look->worlds->ranks) : -1;
		if (r >= 0 && look->ranks[r].outside) {
			struct rank *rank = &look->ranks[r];

			if (rank->thread_count == 0) {
				rank->host = need(strdup(host));
				*APPEND(rank->threads, rank->thread_count, rank->thread_capacity) =
				    (struct thread){ .rank = r };
			}
			rank->pid = pid;
			rank->threads->open.thread = (uint32_t)pid;
			rank->life = REMOTE;
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

/* Once a rank has left MPI_Init all have called it, and a trace that is not here is elsewhere. */
void
find_outside(struct look *look)
{
	const struct world *world = look->worlds;
	const char *slash = strrchr(world->file, '/');
	char *folder = formatted("%.*s", slash != NULL ? (int)(slash - world->file) : 1,
	    slash != NULL ? world->file : "."), real[PATH_MAX];
	bool any = false;

	for (int32_t r = 0; r < world->ranks; r++)
		look->starting &= look->ranks[r].thread_count == 0 ||
		    look->ranks[r].threads->rows == 0;
	for (int32_t r = 0; r < world->ranks && look->starting; r++)
		any |= look->ranks[r].outside = look->ranks[r].life == ABSENT;
	if (any && look->live && realpath(folder, real) != NULL)
		find_processes(look, real);
	free(folder);
}
