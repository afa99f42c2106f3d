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

/* ---- edges.c: what an edge tells is noted at its rows ---- */

void take_messages(struct imbalance *im, bool are_probes);
void take_locks(struct imbalance *im);
void take_holds(struct imbalance *im);
void take_collectives(struct imbalance *im);

/* ---- edges.c: rows get facts from their edges ---- */

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

void late_begin(struct imbalance *im);
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
void open_begin(struct imbalance *im);
void open_count(struct imbalance *im, const struct whole_call *call);
/* Such a copy; NULL: there is none. */
struct wait_row *open_start(const struct imbalance *im, uint32_t location, uint64_t seq);
bool open_is_empty(const struct imbalance *im);
/* Rows of LOCATION before SEQ leave the window. */
void open_keep(struct imbalance *im, uint32_t location, uint64_t seq);
/* The row that a row refers to, counted or not. NULL: there is none, or it is unknown. */
const struct wait_row *referred_row(const struct imbalance *im, const struct wait_row *row,
    uint32_t location, uint64_t seq);

/* ---- rules.c ---- */

/* The wait of CALL until the other end of EDGE was entered, if longer than WAIT. */
void wait_for(struct wait *wait, enum state state, const struct wait_row *edge,
    const struct row *call);

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

void one_sided_begin(struct imbalance *im);
/* A call of LOCATION that ended when the call BY had been entered. */
void one_sided_held(struct imbalance *im, uint32_t location, uint64_t seq, uint32_t by,
    uint64_t by_seq, int64_t until_ns);
/* Notes a call after its waits are found. */
void one_sided_count(struct imbalance *im, const struct whole_call *call);
/* No lock is held, so earlier calls do not affect later ones. */
bool one_sided_is_clear(const struct imbalance *im);

/* Each adds to the COUNT waits of the call, or divides the first, and returns their new number. */
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
/* Adds the cell INDEX if it is missing. */
void add_cell(struct table *table, size_t index);

static inline struct cell *
cell_of(struct imbalance *im, enum dimension dimension, size_t index)
{
	struct table *table = &im->tables[dimension];

	if (index >= table->count)
		add_cell(table, index);
	return &table->cells[index];
}

/*
 * Each returns sums, added if missing: a wait state of INDEX; a rank at a site; the calls of a
 * function.
 */
int64_t *wait_ns_of(struct table *table, size_t index, unsigned state);
struct site_ns *new_site(struct imbalance *im, uint32_t site);

static inline struct site_ns *
site_ns_of(struct imbalance *im, uint32_t site, int32_t rank)
{
	struct site_ns *of = site < im->site_count ? im->sites[site] : NULL;

	return (of != NULL ? of : new_site(im, site)) + rank;
}

struct totals *totals_of(struct imbalance *im, uint16_t call);

/* ---- chains.c ---- */

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
/* No later wait can follow from it. */
void origin_end(struct origins *all, struct origin *origin);
/* The part of the wait that caused waits of others; known when the origin has ended. */
int64_t origin_propagating_ns(const struct origin *origin);

struct share_sums;
/* Takes the causes of the wait, or few that stand for all: shares.h. */
void origin_keep_shares(struct origins *all, struct origin *origin, struct share_sums *sums);

/* COUNT shares, then COUNT delays. There is a pool for each number of causes. */
static inline size_t
shares_bytes(unsigned count)
{
	return (count * (sizeof(double) + sizeof(uint32_t)) + sizeof(double) - 1) / sizeof(double) *
	    sizeof(double);
}

/* Returns the number of causes. Their arrays are valid until the next shares are stored. */
static inline unsigned
origin_shares(const struct origins *all, const struct origin *origin, const uint32_t **delay,
    const double **share)
{
	if (origin->causes == 0)
		return 0;
	*share = pool_at(&all->shares[origin->causes], shares_bytes(origin->causes),
	    origin->shares);
	*delay = (const uint32_t *)(const void *)(*share + origin->causes);
	return origin->causes;
}

/* Makes BEFORE the wait that ORIGIN follows from, unless the chain is too long. */
void origin_follows(const struct origins *all, struct origin *origin, uint32_t before);

/* Fills CHAIN with the wait and then the waits that led to it. Returns their number. */
size_t origin_chain(const struct origins *all, uint32_t number, struct wait chain[MOST_LINKS]);

/* Sorts longest waits first. Of equally long waits the one that began first comes first. */
bool is_longer_wait(const struct wait *a, const struct wait *b);
/* The longest waits with their chains, longest first. */
struct longest {
	uint32_t of[MOST_CHAINS];
	size_t count;
	int64_t least_ns;	/* the last one */
};
void longest_add(struct origins *all, struct longest *longest, uint32_t number);

/* ---- delays.c ---- */

/* Delays by rank and piece of code. Each has a number that does not change. */

struct delays {
	struct delay *of;	/* by number */
	size_t count, capacity;
	uint32_t **numbers;	/* by key, of each rank: 1 + its number, or 0; or NULL */
	size_t keys;
	int32_t ranks;
	struct observer *observer;	/* sees each share as it is added; NULL: nobody does */
};

uint32_t delay_new(struct delays *delays, uint32_t key, int32_t rank);

/* The number of a delay, added if missing. */
static inline uint32_t
delay_of(struct delays *delays, uint32_t key, int32_t rank)
{
	const uint32_t *numbers = key < delays->keys ? delays->numbers[key] : NULL;

	return numbers != NULL && numbers[rank] > 0 ? numbers[rank] - 1 :
	    delay_new(delays, key, rank);
}

static inline void
delay_add_short(struct delays *delays, uint32_t number, double ns)
{
	struct delay *delay = &delays->of[number];

	fixed_add_double(&delay->short_whole_ns, &delay->short_fraction, ns);
}

/* A long-term cost; it is added when the wait that passed it on has ended. */
static inline void
delay_add_long(struct delays *delays, uint32_t number, double ns)
{
	struct delay *delay = &delays->of[number];

	fixed_add_double(&delay->long_whole_ns, &delay->long_fraction, ns);
}

/* A cost of either kind, in a wait of the call that is counted. */
static inline void
delay_see(const struct delays *delays, uint32_t number, double ns)
{
	const struct delay *delay = &delays->of[number];

	if (delays->observer != NULL)
		delays->observer->delay(delays->observer, delay->key, delay->rank, ns);
}

/* Adds one from another part of the run. */
void join_delay(struct imbalance *im, const struct delay *more);

/* ---- causes.c ---- */

void causes_begin(struct imbalance *im);
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
struct delays *delays_of(const struct imbalance *im);
/* Adds a chain from another part of the run. */
void join_chain(struct imbalance *im, const struct wait *chain, size_t links);

/* ---- parts.c ---- */

/* Before reading: moves IN to where the part begins. */
void part_go(const struct part *part, struct reader *in);
/* Whether the message lies before the part, so that only definitions count. */
bool part_skips(const struct part *part, struct reader *in, const struct message *message);
/* Takes a message of kind sync, instead of order_sync, or of kind settled. */
void part_sync(struct imbalance *im, const struct message *message);
/* Checks that the stream may end here. */
void part_check_end(const struct part *part, struct reader *in);

#endif
