/* SPDX-License-Identifier: BSD-3-Clause */
/* What gather.c, in each lp-record, and gatherer.c, the process that merges, have in common. */
#ifndef GATHERER_H
#define GATHERER_H

#include <stdbool.h>

enum lock {
	STARTING,	/* held by one who looks whether he is the first */
	RUNNING,	/* shared by those whose program runs */
	ALIVE,		/* shared by all lp-records */
	GATHERING,	/* by the process that merges */
};

struct gather_job {
	const char *shards, *folder;	/* as typed; NULL: nothing is merged */
	char *meeting;			/* the folder where nodes meet */
	char host[256];
	bool launched;			/* there is an lp-record for each rank */
	int rank, ranks;
	int fd;				/* of the file with the locks */
};
extern struct gather_job job;

/* Of this opening of the file, whoever has inherited it. False: somebody holds it, or a signal came. */
bool try_lock(int fd, enum lock which, short how, int command);
void lock(int fd, enum lock which, short how);
void unlock(int fd, enum lock which);
/* Whether the file there is the one that is open. */
bool is_file_at(const char *path, int fd);
/* All lines, in memory to be freed; and one more. */
char *read_lines(int fd);
void add_line(int fd, const char *word, int number);

/* The process that merges on this node; FD is an opening of the file, at PATH, that is its own. */
_Noreturn void gather_here(const char *path, int fd);
/* Without a launcher: merges what lies in the folder. */
int gather_alone(void);

#endif
