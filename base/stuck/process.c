/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of this host, from /proc. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

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

	if (rank->ended) {
		rank->life = ENDED;
		return;
	}
	if (rank->died || !look->live) {
		rank->life = DEAD;
		return;
	}
	gethostname(host, sizeof host - 1);
	if (rank->host == NULL || strcmp(host, rank->host) != 0)
		return;
	rank->state = process_state(rank->pid);
	rank->life = rank->state != 0 && lives(rank) ? ALIVE : DEAD;
	if (rank->life == DEAD)
		rank->state = 0;
	else
		process_read(rank->pid, "wchan", rank->wchan, sizeof rank->wchan);
	if (strcmp(rank->wchan, "0") == 0)
		rank->wchan[0] = '\0';
}
