/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files that count waits and their causes know of each other; waits.h is for others. */
#ifndef CORE_H
#define CORE_H

#include "../team/team.h"
#include "waits.h"

/* ---- rows ---- */

/* As window_row, of a known size; NULL also where the row is packed. */
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

/* The same, to be changed. */
static inline struct wait_row *
wait_row_change(const struct imbalance *im, uint32_t location, uint64_t seq)
{
	struct wait_row *row = wait_row_here(im, location, seq);

	return row != NULL ? row : window_unpacked(&im->graph.window, location, seq, true);
}

/* The row that ROW at LOCATION, SEQ refers to, where it is in the window; NULL: none, or
 * elsewhere. */
static inline const struct wait_row *
referred_here(const struct imbalance *im, const struct wait_row *row, uint32_t location,
    uint64_t seq, uint32_t *to, uint64_t *to_seq)
{
	return row_refers(&row->row, location, seq, to, to_seq) &&
	    *to < im->graph.known.location_count ? wait_row(im, *to, *to_seq) : NULL;
}

/* ---- edges.c: what an edge tells is noted at its rows ---- */

void take_messages(struct imbalance *im, bool are_probes);
void take_collectives(struct imbalance *im);

/* ---- count.c ---- */

/*
 * The order in which calls are counted: stretch by stretch of the run, in each by their leaves,
 * then their locations. A stretch ends with a global synchronisation point (trace.5, sync), whose
 * own calls are its last: no message, no request and no wait reaches from one stretch into another.
 * So what is known of a stretch is forgotten at its end, and how the next one is counted depends on
 * nothing before but windows that are still locked (one_sided_is_clear) and when each location left
 * the point.
 */

void order_begin(struct imbalance *im);
/* Messages of these kinds: calls that are certain now are counted. */
void order_settled(struct imbalance *im, const struct message *message);
void order_reached(struct imbalance *im, const struct message *message);
void order_sync(struct imbalance *im, const struct message *message);
/* Such a point, with which a part of the run begins that is read alone: counting begins behind its
 * calls. */
void order_start(struct imbalance *im, const struct message *message);
/* All the rest. */
void order_end(struct imbalance *im);

/* ---- rules.c ---- */

/* Good until the next one that is asked for: names may come at any time. */
void learn_kinds(struct imbalance *im);

static inline const struct call_kind *
call_kind(struct imbalance *im, uint16_t call)
{
	if (call >= im->kind_count)
		learn_kinds(im);
	return &im->kinds[call];
}

/* The waits of a call, in order of time. */
enum { MOST_WAITS = 4 };	/* of a call */
int find_waits(struct imbalance *im, const struct whole_call *call, struct wait waits[MOST_WAITS]);

/* ---- wrong_order.c ---- */

/*
 * Messages in wrong order: a receive that waited although another message, received after it, had
 * been sent before. So the last late messages of each location are remembered, with what has been
 * counted of their waits. A call that completes several requests, or a receive of any message, had
 * no other order to choose; with every_order they count, too, as Scalasca counts them.
 */

struct late {
	int64_t sent_ns;		/* when the send was entered */
	int64_t direct_ns, indirect_ns;	/* of it, as counted under its state */
	uint32_t origin;		/* the wait, whose cause is who sent the message */
	uint32_t comm;
	uint16_t call;
	bool explained;
};

void late_begin(struct imbalance *im);
/* Rows have been settled and calls counted: what no receive to come can change is not remembered
 * any more. */
void late_settle(struct imbalance *im);
/* All that is remembered is certain. */
void late_forget(struct imbalance *im);
void late_remember(struct imbalance *im, const struct wait *wait, int64_t sent_ns);
/* A message was received: waits for those that were sent after it are of another state. */
void late_check(struct imbalance *im, uint32_t location, const struct wait_row *receive);
/* The wait, where it may still turn out to be of another state and was not asked for before; or
 * NULL. */
struct late *late_of(struct imbalance *im, const struct wait *wait);

/* ---- open_requests.c ---- */

/*
 * Rows that started a request are there until the row that completes it has been counted: those
 * that leave the window before are set apart.
 */
void open_begin(struct imbalance *im);
void open_count(struct imbalance *im, const struct whole_call *call);
bool open_is_empty(const struct imbalance *im);
/* Rows of LOCATION before SEQ leave the window. */
void open_keep(struct imbalance *im, uint32_t location, uint64_t seq);
/* The row that a row refers to, counted already or not; NULL: none, or it is not known. */
const struct wait_row *referred_row(const struct imbalance *im, const struct wait_row *row,
    uint32_t location, uint64_t seq);

/* ---- one_sided.c ---- */

/*
 * Waits of one-sided communication, which has no edges but those of MPI_Win_post to MPI_Win_wait.
 * Calls come here in order of their leaves.
 */

void one_sided_begin(struct imbalance *im);
/* A window is defined: from now on it is kept when ranks are in calls. */
void one_sided_window(struct imbalance *im);
/* The call is counted. */
void one_sided_count(struct imbalance *im, const struct whole_call *call);
/* Nobody will ask for what was before AT, when the last one entered the last call of each. */
void one_sided_forget(struct imbalance *im, int64_t at_ns);
/* No lock is held, so that what was before has no part in what comes. */
bool one_sided_is_clear(const struct imbalance *im);

/* Each adds to the COUNT waits of the call, or divides the first, and returns how many there
 * are. */
int passive_waits(struct imbalance *im, const struct whole_call *call,
    struct wait waits[MOST_WAITS]);
int fence_waits(struct imbalance *im, const struct whole_call *call,
    struct wait waits[MOST_WAITS], int count);
int exposure_waits(struct imbalance *im, const struct whole_call *call,
    struct wait waits[MOST_WAITS]);

/* ---- sums.c ---- */

/* Adds the wait to all tables, or takes it away again where SIGN is -1. */
void count_wait(struct imbalance *im, const struct wait *wait, int sign);
/* Its state is certain: it may be the largest of it. */
void count_largest(struct imbalance *im, const struct wait *wait);
void count_analytic(struct imbalance *im, const struct whole_call *call);
/* The cell of what INDEX numbers, made where it is not there yet. */
void add_cell(struct table *table, size_t index);

static inline struct cell *
cell_of(struct imbalance *im, enum dimension dimension, size_t index)
{
	struct table *table = &im->tables[dimension];

	if (index >= table->count)
		add_cell(table, index);
	return &table->cells[index];
}

/* Made likewise: its waits in a state, the times of a rank at a site, the sums of a function's
 * calls. */
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

/* Where waits came from: what caused each, and the chain of waits that led to it. Each has a
 * number; 0: none. */

struct origin {
	int64_t from_ns, to_ns;	/* of the wait, as what follows */
	uint32_t location, cause, site;
	/* the wait of the delaying location that had the largest part in it */
	uint32_t before;
	double propagated_ns;	/* of the wait, what caused others, so far */
	uint32_t users;
	uint32_t shares;	/* where its causes are */
	uint8_t state, depth, causes;
	bool over;		/* no wait to come follows from it */
};

/* Its causes, each one's share of the wait; the largest ones. */
struct cause_shares {
	unsigned count;
	uint32_t delay[MOST_CAUSES];	/* numbers: delays.c */
	double share[MOST_CAUSES];
};

static inline struct origin *
origin_at(const struct origins *all, uint32_t number)
{
	return pool_at(&all->waits, sizeof(struct origin), number);
}

/* With one user and no causes yet. */
uint32_t origin_new(struct origins *all, const struct wait *wait);
/* It is freed with the last of its users, and those before it then lose one. */
void origin_release(struct origins *all, uint32_t number);
/* The wait, but for its call, communicator and the row that ended it. */
struct wait origin_wait(const struct origin *origin);
/* Waits to come cannot follow from it any more. */
void origin_end(struct origins *all, struct origin *origin);
/* Of the wait what caused others: known when it is over. */
int64_t origin_propagating_ns(const struct origin *origin);

/* A delay, and its share of the wait; the largest shares are kept. */
void share_add(struct cause_shares *shares, uint32_t delay, double share);
void origin_keep_shares(struct origins *all, struct origin *origin,
    const struct cause_shares *shares);
/* How many; they are good until the next ones are kept. */
unsigned origin_shares(const struct origins *all, const struct origin *origin,
    const uint32_t **delay, const double **share);

/* The wait that it follows from; not of a chain too long. */
void origin_follows(const struct origins *all, struct origin *origin, uint32_t before);

/* The wait and, behind it, the waits that led to it; how many. */
size_t origin_chain(const struct origins *all, uint32_t number, struct wait chain[MOST_LINKS]);

/* Among the longest waits A comes first; of those that are equally long the one that began
 * first. */
bool is_longer_wait(const struct wait *a, const struct wait *b);
/* The longest waits with their chains, longest first. */
struct longest {
	uint32_t of[MOST_CHAINS];
	size_t count;
};
void longest_add(struct origins *all, struct longest *longest, uint32_t number);

/* ---- activities.c ---- */

/* What a location did of late, call by call, as far as waits to come may have their cause in it. */

/*
 * It computed since the one before was left, then made a call. There are some of these for each
 * location, so they have 16 bytes: times are counted from the activity behind, and what does not
 * fit is kept apart.
 */
struct activity {
	uint32_t compute_ns;	/* or, of a wide one, its number */
	uint32_t call_ns;	/* WIDE: see struct wide */
	uint32_t site;
	uint32_t origin;	/* of what was a wait for another in the call; 0: nothing */
};

enum { WIDE = UINT32_MAX };

/* Compute, and the call behind it. */
struct activity_part {
	int64_t compute_ns, call_ns;
};

/* An activity of times that do not fit, or a run of failed polls, which counts as one call. */
struct wide {
	struct activity_part all;
	/* of a run of failed polls: their compute, before the first or not */
	int64_t polled_ns;
	bool polls;
};

struct past {
	struct activity *of;	/* in order; the kept ones are begin to before end */
	uint32_t begin, end, capacity;
	/* the calls that were the last two synchronisations of all */
	uint32_t since_last, since_sync;
	/* when the first kept one began and the last call was left */
	int64_t begin_ns, end_ns;
	int64_t sync_ns;		/* the last one: the latest enter */
	/* from here on nothing is forgotten; INT64_MIN: nothing was */
	int64_t kept_ns;
};

/* All of them: as many as there are locations. */
struct pasts {
	struct past *of;
	size_t most;			/* activities of each */
	size_t first;			/* of these, so many of all locations lie side by side */
	struct item_pool wides;
};

/* NULL where its times fit. */
static inline struct wide *
activity_wide(const struct pasts *all, const struct activity *a)
{
	return __builtin_expect(a->call_ns == WIDE, 0) ?
	    pool_at(&all->wides, sizeof(struct wide), a->compute_ns) : NULL;
}

static inline struct activity_part
activity_all(const struct activity *a, const struct wide *wide)
{
	return wide != NULL ? wide->all : (struct activity_part){ a->compute_ns, a->call_ns };
}

void pasts_begin(struct pasts *all, uint32_t locations, size_t most);
/*
 * The last call but for its wait, which is told later. Polls in a row at one site are taken
 * together, since a rank may make thousands of them while another waits for it. Good until the next
 * one is added.
 */
struct activity *past_add(struct imbalance *im, struct pasts *all, const struct whole_call *call);
/* What the last call did from then on becomes an activity of its own, which is returned. */
struct activity *past_divide(struct imbalance *im, struct pasts *all, uint32_t location,
    int64_t at_ns);
/* The last call was a synchronisation of all: what was before the last but one may go. */
void past_sync(struct imbalance *im, struct pasts *all, uint32_t location, int64_t at_ns);
/* The same, and nobody will ask for what was before AT, when the last one entered that call. */
void past_restart(struct imbalance *im, struct pasts *all, uint32_t location, int64_t at_ns);
/* Nothing is kept of it any more. */
void past_end(struct imbalance *im, struct pasts *all, uint32_t location);

/* ---- delays.c ---- */

/* Delays by rank and piece of code, each with a number that stays. */

struct delays;

/* that wants to see what is added, or NULL */
struct delays *delays_new(struct observer *observer);
/* The number of that, which may be new. */
uint32_t delay_of(struct delays *delays, uint32_t key, int32_t rank);
void delay_add(struct delays *delays, uint32_t number, double short_ns, double long_ns);
/* How many; one of them; and one of another part of the run, but for the cells. */
size_t delay_count(const struct imbalance *im);
const struct delay *delay_at(const struct imbalance *im, size_t at);
void join_delay(struct imbalance *im, const struct delay *more);

/* ---- causes.c ---- */

void causes_begin(struct imbalance *im);
/* A call with its waits; calls come in order of their leaves. */
void count_causes(struct imbalance *im, const struct whole_call *call,
    const struct wait *waits, int count);
/*
 * All have synchronised, the last of them at AT, and the last call of each was where: no wait to
 * come looks back to before that.
 */
void causes_forget(struct imbalance *im, int64_t at_ns);
/* A call is the first that is known of its location. */
void causes_start(struct imbalance *im, const struct whole_call *call);
void causes_end(struct imbalance *im);
struct delays *delays_of(const struct imbalance *im);
/* One of another part of the run. */
void join_chain(struct imbalance *im, const struct wait *chain, size_t links);

/* ---- parts.c ---- */

/* Before a message is read: goes to where the part begins. */
void part_go(const struct part *part, struct reader *in);
/* The message lies before the part, and only its definitions are wanted. */
bool part_skips(const struct part *part, struct reader *in, const struct message *message);
/* A message of kind sync, in place of order_sync; or settled. */
void part_sync(struct imbalance *im, const struct message *message);
/* The stream has ended. */
void part_check_end(const struct part *part, struct reader *in);

#endif
