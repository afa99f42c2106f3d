/* SPDX-License-Identifier: BSD-3-Clause */
/* Internal to the files that count waits and their causes. waits.h is the public header. */
#ifndef CORE_H
#define CORE_H

#include "../team/team.h"
#include "waits.h"

/* ---- rows ---- */

/* As window_row, with a constant size; also NULL if the row is packed. */
static inline struct wait_row *
wait_row_here(const struct imbalance *im, uint32_t location, uint64_t seq)
{
	const struct lane *lane = &im->graph.window.lanes[location];

	return seq - lane->first < lane->count ?
	    (struct wait_row *)(void *)lane->rows + lane->begin + (seq - lane->first) : NULL;
}

static inline const struct wait_row *
wait_row(const struct imbalance *im, uint32_t location, uint64_t seq)
{
	const struct wait_row *row = wait_row_here(im, location, seq);

	return row != NULL ? row : window_unpacked(&im->graph.window, location, seq, false);
}

/* The same, for a row that will be changed. */
static inline struct wait_row *
wait_row_change(const struct imbalance *im, uint32_t location, uint64_t seq)
{
	struct wait_row *row = wait_row_here(im, location, seq);

	return row != NULL ? row : window_unpacked(&im->graph.window, location, seq, true);
}

/* ---- count.c ---- */

/*
 * Calls are counted stretch by stretch; within a stretch by their leaves, then by location. A
 * stretch ends with a global synchronisation point (trace.5, sync), whose calls are its last. No
 * message, request or wait crosses it. So a stretch is forgotten at its end. Only two things carry
 * over: locked MPI windows (one_sided_is_clear), and when each location left the point.
 */

void order_begin(struct imbalance *im);
/* For messages of these kinds: count the calls that are now certain. */
void order_settled(struct imbalance *im, const struct message *message);
void order_reached(struct imbalance *im, const struct message *message);
void order_sync(struct imbalance *im, const struct message *message);
/* The synchronisation point that begins a part of the run: counting begins after its calls. */
void order_start(struct imbalance *im, const struct message *message);
/* Counts the rest. */
void order_end(struct imbalance *im);

/* ---- rules.c ---- */

/* Valid until the next call of learn_kinds: new names may arrive at any time. */
void learn_kinds(struct imbalance *im);

static inline const struct call_kind *
call_kind(struct imbalance *im, uint16_t call)
{
	if (call >= im->kind_count)
		learn_kinds(im);
	return &im->kinds[call];
}

/* Fills WAITS with the waits of a call, in order of time, and returns their number. */
enum { MOST_WAITS = 4 };	/* of a call */
int find_waits(struct imbalance *im, const struct whole_call *call, struct wait waits[MOST_WAITS]);
/* The wait of CALL until the other end of EDGE was entered, if longer than WAIT. */
void wait_for(struct wait *wait, enum state state, const struct wait_row *edge,
    const struct row *call);

/* ---- wrong_order.c ---- */

/*
 * Messages in wrong order: a receive waited although another message, received later, had been sent
 * earlier. So each location remembers its last late messages and the causes counted for their
 * waits. A call that completes several requests, or a receive from any source, had no choice of
 * order. Option every_order counts them too, as Scalasca does.
 */

struct late {
	int64_t sent_ns;		/* enter of the send */
	int64_t direct_ns, indirect_ns;	/* of the wait, as counted in its state */
	uint32_t origin;		/* the wait; its cause is the sender */
	uint32_t comm;
	uint16_t call;
	bool explained;
};

struct late_list {
	struct late *of;
	size_t capacity;
	unsigned count, next;
	int64_t latest_ns;	/* no message in the list was sent later */
};

/* After rows are settled and calls counted: forgets messages that no later receive can change. */
void late_settle(struct imbalance *im);
/* Everything remembered is now certain. */
void late_forget(struct imbalance *im);
void late_remember(struct imbalance *im, const struct wait *wait, int64_t sent_ns);
/* A message was received: waits for messages sent after it change their state. */
void late_change(struct imbalance *im, struct late_list *list, const struct wait_row *receive);

static inline void
late_check(struct imbalance *im, uint32_t location, const struct wait_row *receive)
{
	struct late_list *list = &im->late[location];

	if (list->count > 0 && list->latest_ns > receive->other_ns)
		late_change(im, list, receive);
}

/* The wait, if its state may still change and this is the first query; otherwise NULL. */
struct late *late_of(struct imbalance *im, const struct wait *wait);

/* ---- open_requests.c ---- */

/*
 * A row that started a request is kept until the row that completes it is counted. Such rows are
 * copied before they leave the window.
 */
void open_count(struct imbalance *im, const struct whole_call *call);
/* Such a copy; NULL: there is none. */
struct wait_row *open_start(const struct imbalance *im, uint32_t location, uint64_t seq);
bool open_is_empty(const struct imbalance *im);
/* Rows of LOCATION before SEQ leave the window. */
void open_keep(struct imbalance *im, uint32_t location, uint64_t seq);
/* The row that a row refers to, counted or not. NULL: there is none, or it is unknown. */
const struct wait_row *referred_row(const struct imbalance *im, const struct wait_row *row,
    uint32_t location, uint64_t seq);

/* ---- overdue.c ---- */

/*
 * Calls may be counted without the other end of rows that are overdue: see order_settled. Copies of
 * these rows are kept until their edges have come.
 */
void overdue_take(struct imbalance *im);
/* After rows are settled: forgets their copies. */
void overdue_settle(struct imbalance *im);
/* The row of an edge, in the window or kept. NULL: it lies before this part of the run. */
struct wait_row *edge_row(struct imbalance *im, uint32_t location, uint64_t seq);

/* ---- one_sided.c ---- */

/*
 * Waits of one-sided communication. Its only edges are those from MPI_Win_post to MPI_Win_wait,
 * those of locks, and holds. Calls arrive in order of their leaves.
 */

/* A call of LOCATION that ended when the call BY had been entered. */
void one_sided_held(struct imbalance *im, uint32_t location, uint64_t seq, uint32_t by,
    uint64_t by_seq, int64_t until_ns);
/* Notes a call after its waits are found. */
void one_sided_count(struct imbalance *im, const struct whole_call *call);
/* No lock is held, so earlier calls do not affect later ones. */
bool one_sided_is_clear(const struct imbalance *im);

/*
 * Each adds to the COUNT waits of the call, or divides the first, and returns their new number.
 * progress_waits: until the target, or the last of them, was in a call again; COUNT is 0 or 1.
 */
int progress_waits(struct imbalance *im, const struct whole_call *call,
    struct wait waits[MOST_WAITS], int count);
int passive_waits(struct imbalance *im, const struct whole_call *call,
    struct wait waits[MOST_WAITS]);
int fence_waits(struct imbalance *im, const struct whole_call *call,
    struct wait waits[MOST_WAITS], int count);
int exposure_waits(struct imbalance *im, const struct whole_call *call,
    struct wait waits[MOST_WAITS]);

/* ---- sums.c ---- */

/* Adds the wait to all tables; with SIGN -1 it subtracts the wait. */
void count_wait(struct imbalance *im, const struct wait *wait, int sign);
/* The state is certain: the wait may be the largest in that state. */
void count_largest(struct imbalance *im, const struct wait *wait);
void count_analytic(struct imbalance *im, const struct whole_call *call);

/*
 * These return sums, added if missing: of a cell; its analytic ones; its waits in a state; of a
 * rank at a site.
 */

static inline struct cell *
cell_of(struct imbalance *im, enum dimension dimension, size_t index)
{
	return AT(im->tables[dimension].cells, im->tables[dimension].count, index);
}

static inline struct analytic *
analytic_of(struct imbalance *im, enum dimension dimension, size_t index)
{
	return AT(im->tables[dimension].analytic, im->tables[dimension].analytic_count, index);
}

static inline int64_t *
wait_ns_of(struct table *table, size_t index, unsigned state)
{
	return AT(table->wait_ns[state], table->wait_count[state], index);
}

static inline struct site_ns *
site_ns_of(struct imbalance *im, uint32_t site, int32_t rank)
{
	struct site_ns **of = AT(im->sites, im->site_count, site);

	if (*of == NULL)
		*of = zalloc((size_t)im->graph.known.ranks, sizeof **of);
	return *of + rank;
}

/* ---- origins.c ---- */

/*
 * Origins of waits: the causes of each, and the chain of waits that led to it. Each has a number;
 * 0: none.
 */

struct origin {
	int64_t from_ns, to_ns;	/* of the wait, like the next line */
	uint32_t location, cause, site;
	/* the wait of the delaying location with the largest share in this one */
	uint32_t before;
	double propagated_ns;	/* so far: the part of the wait that caused waits of others */
	uint32_t users;
	uint32_t shares;	/* number of its shares in the pool */
	uint8_t state, depth, causes;
	bool over;		/* no later wait can follow from it */
};

static inline struct origin *
origin_at(const struct origins *all, uint32_t number)
{
	return pool_at(&all->waits, sizeof(struct origin), number);
}

/* A new origin with one user and no causes. */
uint32_t origin_new(struct origins *all, const struct wait *wait);
/* Drops one user. The last one frees the origin, whose predecessors then lose a user each. */
void origin_release(struct origins *all, uint32_t number);
/* The wait without its call, communicator and the row that ended it. */
struct wait origin_wait(const struct origin *origin);
/* The part of the wait that caused waits of others; known when the origin has ended. */
int64_t origin_propagating_ns(const struct origin *origin);

/* Adds a delay, or a chain, from another part of the run. */
void join_delay(struct imbalance *im, const struct delay *more);
void join_chain(struct imbalance *im, const struct wait *chain, size_t links);

/* ---- causes.c ---- */

void causes_begin(struct imbalance *im);
/* A call of the location comes next. */
void causes_fetch(const struct imbalance *im, uint32_t location);
/* Counts a call with its waits. Calls arrive in order of their leaves. */
void count_causes(struct imbalance *im, const struct whole_call *call,
    const struct wait *waits, int count);
/*
 * All have synchronised. The last one entered at AT, and the last call of each location was there:
 * no later wait looks back before AT.
 */
void causes_forget(struct imbalance *im, int64_t at_ns);
/* The call is the first known one of its location. */
void causes_start(struct imbalance *im, const struct whole_call *call);
void causes_end(struct imbalance *im);

/* ---- parts of a run, for several processes: parts.c, join.c ---- */

/*
 * A part of a run: some consecutive stretches, for one of several processes. It begins at a
 * synchronisation point from the index of the graph. Reading begins with the blocks of the point's
 * calls, and counting after these calls. It ends with the calls of the point that begins the next
 * part, if nothing crosses that point. Otherwise it continues into the next part, whose result is
 * then unused.
 */
struct border {			/* where a part begins */
	uint64_t at;		/* offset of the message of kind sync; 0: the begin of the run */
	uint64_t from;		/* its calls and later ones are in blocks after this */
};

struct part {
	const struct border *borders;	/* of all parts */
	size_t count;
	uint64_t defined;	/* no definition comes after this offset */
	size_t first;			/* index of this part */
	size_t end;			/* the first part that is not read */
	bool begun, ended;
};

/*
 * The borders of at most COUNT parts of FILE with about equal numbers of rows; one part if there is
 * no index. DEFINED: as in struct part.
 */
struct border *part_borders(const char *file, size_t count, uint64_t *parts, uint64_t *defined);
/* Before reading: moves IN to where the part begins. */
void part_go(const struct part *part, struct reader *in);
/* Whether the message lies before the part, so that only definitions count. */
bool part_skips(const struct part *part, struct reader *in, const struct message *message);
/* Takes a message of kind sync, instead of order_sync, or of kind settled. */
void part_sync(struct imbalance *im, const struct message *message);
/* Checks that the stream may end here. */
void part_check_end(const struct part *part, struct reader *in);

#endif
