/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes that solve a problem together. A tool is a team of one (alone.c); where there is a TOOL-mpi
 * beside it, that has the same sources but for this file, and teams of MPI processes (mpi/team.c).
 */
#ifndef TEAM_H
#define TEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct team {
	int rank, size;
	void *comm;
	bool on_trial;
};

/*
 * First thing in main: rank and size; the tool hands over to TOOL-mpi here. Where all would
 * end for the same reason before team_open only the first one says so: the others try it in a child,
 * which nobody hears, and end well where the child does not get that far.
 */
struct team team_start(int *argc, char ***argv);
void team_open(struct team *team, int *argc, char ***argv);
/* Before the tool ends well. */
void team_close(void);
/* The part of the team that has the same COLOUR, in the same order. */
struct team team_split(const struct team *team, int colour);

/*
 * Between these two each member works by itself. One that fails waits for all, so that of several the first
 * says why, and all end: what one process that does it all would come to first.
 */
void team_part(const struct team *team);
void team_meet(const struct team *team);

/* On every member the same: the largest of each value, the sum, what member 0 has. */
void team_max(const struct team *team, int64_t *values, size_t count);
uint64_t team_sum(const struct team *team, uint64_t value);
void team_copy(const struct team *team, void *data, size_t bytes);

/*
 * Every member gets what the others have for it. ITEMS holds counts[0] items of BYTES for member 0,
 * then those for member 1 and so on. The result is to be freed; *received items, by sender.
 */
void *team_exchange(const struct team *team, const void *items, const size_t *counts, size_t bytes,
    size_t *received);
/*
 * From one member to another, which both call it, and nobody else: TO or FROM is the other one. What is
 * received is to be freed.
 */
void team_send(const struct team *team, int to, const void *items, size_t count, size_t bytes);
void *team_receive(const struct team *team, int from, size_t bytes, size_t *count);
/* Every member gets all items, by member. */
void *team_share(const struct team *team, const void *items, size_t count, size_t bytes,
    size_t *received);
/* Member 0 gets all items, by member; the others nothing. */
void *team_gather(const struct team *team, const void *items, size_t count, size_t bytes,
    size_t *received);

#endif
