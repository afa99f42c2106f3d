/* SPDX-License-Identifier: BSD-3-Clause */
/* What the nodes of a job tell each other in a folder beside the shards: which ranks and runs each has. */
#ifndef NODES_H
#define NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* The raw traces of a run on one node. */
struct run {
	uint64_t number;	/* shared by all traces of the run */
	char *name;		/* "" or "world.N", where they lie in the folder */
	char **files;
	size_t count, capacity;
	int order;		/* of all runs of the job, the main one 0 */
	int member, members;	/* this node's place among those that have traces of it */
	char *suffix;		/* of its folder of shards */
};

struct node {
	char name[300];		/* that no other node of the job has */
	char *ranks;		/* as the launcher counts them: a line " 0 4 8" */
	int rank_count, ranks_of_job;
	bool failed;		/* a program has, so that nodes may be gone */
	struct run *runs;
	size_t run_count, run_capacity;
	unsigned long long beats;	/* how far it has counted */
	char *first, *next;	/* of the members, and behind this one in the ring of them */
	unsigned long long heard;	/* how far that has counted, and when that was seen */
	time_t heard_s;
};

enum { LATE_S = 10 };	/* how long one waits for others where a program has failed */

/* Folder FOLDER for it, empty; dies where it cannot be made. By the first rank, before the program starts. */
void nodes_prepare(const char *folder);
/* The run of that number and name, a new one where there is none. */
struct run *run_of(struct node *node, uint64_t number, const char *name);
/*
 * The raw traces in FOLDER that ranks on HOST have left, those of further runs included; NULL: on any. Each run's
 * by file name.
 */
void find_runs(struct node *node, const char *folder, const char *host);
/*
 * Tells the others of this node, and comes back when all ranks of the job are told of, or those that are
 * there have to do, as GIVE_UP says. Fills in what runs have of the others. False: that failed, which is said.
 */
bool nodes_meet(struct node *node, const char *folder, bool (*give_up)(void));
/* From what "members" says, which is cut into its lines, what runs have of the others; whether this node is one. */
void take_members(struct node *node, char *members, bool *is_member);
/* For one who works on: it is alive. */
void nodes_beat(struct node *node, const char *folder);
/* The next member, where that has been silent for too long; to be asked about once a second. NULL: all is well. */
const char *nodes_lost(struct node *node, const char *folder);
/* The last one takes the folder away. */
void nodes_part(const struct node *node, const char *folder);

#endif
