/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes that solve a problem together. A tool is a team of one process (alone.c). TOOL-mpi,
 * where there is one, has the same sources with teams of MPI processes (mpi/team.c).
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
 * The first call of main: sets rank and size, or executes TOOL-mpi. If all members would end for
 * the same reason before team_open, only member 0 prints it. The others try it in a silent child,
 * and end with status 0 if the child does not reach team_open.
 */
struct team team_start(int *argc, char ***argv);
void team_open(struct team *team, int *argc, char ***argv);
/* Before the tool ends without an error. */
void team_close(void);
/* The members of the team with the same COLOUR, in the same order. */
struct team team_split(const struct team *team, int colour);

/*
 * Between these two, each member works alone. A member that fails waits for all others. If several
 * fail, only the first of them prints its error, as one process would, and all end.
 */
void team_part(const struct team *team);
void team_meet(const struct team *team);

/* The same result on every member: the maximum of each value, the sum, the data of member 0. */
void team_max(const struct team *team, int64_t *values, size_t count);
uint64_t team_sum(const struct team *team, uint64_t value);
void team_copy(const struct team *team, void *data, size_t bytes);

/*
 * Gives every member the items that the others have for it. ITEMS has counts[0] items of BYTES for
 * member 0, then counts[1] for member 1, and so on. Returns *received items by sender; free() them.
 */
void *team_exchange(const struct team *team, const void *items, const size_t *counts, size_t bytes,
    size_t *received);
/*
 * From one member to another. Only these two call it: TO or FROM is the other member. free() the
 * received items.
 */
void team_send(const struct team *team, int to, const void *items, size_t count, size_t bytes);
void *team_receive(const struct team *team, int from, size_t bytes, size_t *count);
/* Every member gets all items, by member; or only member 0, and the others nothing. */
void *team_collect(const struct team *team, const void *items, size_t count, size_t bytes,
    bool for_all, size_t *received);
#define team_share(team, items, count, bytes, received) \
	team_collect(team, items, count, bytes, true, received)
#define team_gather(team, items, count, bytes, received) \
	team_collect(team, items, count, bytes, false, received)

/* This process's rank and their number, if a launcher has started several. */
bool launcher_tells(int *rank, int *size);
void launcher_forget(void);	/* for a child that must run alone */

/* Items for other members of a team, collected one by one and exchanged all at once. */

struct post {			/* begins as zeros */
	char *items;
	int *to;		/* member, by item */
	size_t count, item_capacity, to_capacity;
};

void post_add(struct post *post, const void *item, size_t bytes, int to);
/* The items that all members have for this one, by sender; free() them. Empties POST. */
void *post_exchange(const struct team *team, struct post *post, size_t bytes, size_t *received);

/* ---- cost ---- */

/*
 * The cost of solving a problem with several processes, appended as a line of JSON to the file that
 * LONGPOLE_COST names: see longpole(7). The team measures it for all tools.
 */
struct cost {
	double start_s;		/* wall time until all processes have met */
	double work_s;		/* processor time since then, without exchanges */
	double exchange_s;	/* wall time in exchanges; of all: without waiting for the last */
	double wall_s;		/* wall time of the whole run */
	uint64_t exchanges;
	uint64_t bytes;		/* sent by this process */
	uint64_t peak_bytes;	/* of memory */
};

/* The tool begins; then all processes have met. */
void cost_begin(void);
void cost_met(void);
/* Before and after an exchange of all processes. */
void cost_enter(void);
void cost_leave(uint64_t bytes);
/* Instead of cost_leave if only two took part: neither work nor an exchange. Returns seconds. */
double cost_leave_pair(uint64_t bytes);
struct cost cost_so_far(void);
/* Seconds in each exchange so far. */
const double *cost_exchanges(size_t *count);
/* Adds to a count of the tool, which the line of a single process has, too. NAME stays valid. */
void cost_count(const char *name, uint64_t more);
/* Writes the line: longest start and work, exchanges without waiting, bytes, memory. */
void cost_tell(int processes, const struct cost *cost);

#endif
