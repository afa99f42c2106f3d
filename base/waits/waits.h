/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who waits for whom and why: what is counted of a run, and where. No printing but of errors.
 *
 * ANALYTIC (sums.c), of Korkhov et al., "Finding Bottlenecks in MPI Programs by Scalable
 * Critical Path Analysis", Algorithms 2023, 16, 505. A call and those it communicates with are a
 * group: the members of a collective, or the two ends of a message; a call with several messages is
 * grouped with the end that was entered last. With the group's latest start and earliest end, for
 * each call i
 *
 *	t_wait_before = latest start - start_i
 *	t_wait_after = end_i - earliest end
 *	t_execution = earliest end - latest start
 *
 * Where t_execution would be negative the calls do not overlap: the call did not synchronise. It
 * then has no wait and no execution time, and its length counts as unsynchronised. A call that
 * communicates with nobody is a group of its own, all execution. So for each rank
 * program + execution + wait + unsynchronised time is the time from its first enter to its last
 * leave.
 *
 * WAIT STATES (rules.c): pieces of calls in which a rank could not go on for another. No two of
 * them overlap and none is longer than its call, so for each rank compute + useful MPI + waits is
 * the same time again, to the nanosecond.
 *
 * CAUSES (causes.c): what the rank that was waited for did meanwhile, or why it had to wait itself.
 */
#ifndef WAITS_H
#define WAITS_H

#include "../mpi/call_class.h"
#include "../run/collective.h"
#include "../run/graph_input.h"
#include "../run/places.h"
#include "../run/span.h"
#include "../tool/text.h"
#include "../tool/tool.h"

/* ---- analytic --------------------------------------------------------------------------- */

/* Sums of calls in groups. Calls outside groups are all execution. */
struct analytic {
	int64_t wait_before_ns, wait_after_ns, unsynchronised_ns;
	uint64_t unsynchronised, edges;
};

/* What follows from these and from the sums of all calls. */
struct totals {
	struct analytic of;
	int64_t total_ns, wait_ns, execution_ns;
	int64_t program_ns;	/* outside of MPI calls; processes only */
	int64_t mpi_ns;	/* in MPI calls */
	double imbalance;	/* wait time over execution and program time; 0 without either */
	uint64_t calls, nodes, edges;
};

/* ---- wait states ------------------------------------------------------------------------ */

/* X(STATE, name in reports). Formulas and their source are at each rule in rules.c. */
#define STATES_TABLE(X) \
	X(LATE_SENDER, "late_sender") \
	X(WRONG_ORDER_SAME, "messages_in_wrong_order_same_source") \
	X(WRONG_ORDER_DIFFERENT, "messages_in_wrong_order_different_source") \
	X(LATE_RECEIVER, "late_receiver") \
	X(WAIT_AT_BARRIER, "wait_at_barrier") \
	X(BARRIER_COMPLETION, "barrier_completion") \
	X(WAIT_AT_NXN, "wait_at_nxn") \
	X(NXN_COMPLETION, "nxn_completion") \
	X(LATE_BROADCAST, "late_broadcast") \
	X(EARLY_REDUCE, "early_reduce") \
	X(EARLY_SCAN, "early_scan") \
	X(WAIT_AT_NEIGHBOURS, "wait_at_neighbours") \
	X(INIT_COMPLETION, "init_completion") \
	X(WAIT_AT_FINALIZE, "wait_at_finalize") \
	X(WAIT_AT_COMM_CREATE, "wait_at_comm_create") \
	X(WAIT_AT_FILE_OPEN, "wait_at_file_open") \
	X(WAIT_AT_WINDOW_CREATE, "wait_at_window_create") \
	X(WAIT_AT_WINDOW_FREE, "wait_at_window_free") \
	X(WAIT_AT_FENCE, "wait_at_fence") \
	X(EARLY_FENCE, "early_fence") \
	X(LATE_POST, "late_post") \
	X(EARLY_WAIT, "early_wait") \
	X(LATE_COMPLETE, "late_complete") \
	X(LOCK_CONTENTION, "lock_contention") \
	X(WAIT_FOR_PROGRESS, "wait_for_progress") \
	X(WAIT_AT_FILE, "wait_at_file") \
	X(WAIT_FOR_THREAD, "wait_for_thread")

enum state {
#define X(STATE, name) STATE,
	STATES_TABLE(X)
#undef X
	STATES
};
extern const char *const state_names[STATES];

/* After the last enter no rank is late: the collective itself takes so long. */
static inline bool
is_completion(enum state state)
{
	return state == BARRIER_COMPLETION || state == NXN_COMPLETION || state == INIT_COMPLETION;
}

/* A piece of a call. */
struct wait {
	enum state state;
	int64_t from_ns, to_ns;
	uint32_t location, site, comm, call;
	uint32_t cause;		/* location waited for; NOBODY: unknown */
	uint64_t cause_seq;	/* its row that ended the wait */
};

/* Waits are summed by these. */
enum dimension { BY_RANK, BY_SITE, BY_CALL, BY_COMMUNICATOR, BY_PARTNER, DIMENSIONS,
    BY_FUNCTION = DIMENSIONS, BY_STEP, BY_REGION };

struct cell {
	/* Fields that each call adds to come first, in one cache line. */
	int64_t compute_ns;	/* before calls; of a site: up to it */
	int64_t mpi_ns;		/* in calls, waits included */
	int64_t polling_ns;	/* part of mpi_ns in failed tests and probes */
	uint64_t calls, waits;
};

struct state_sums {
	int64_t wait_ns;
	int64_t direct_ns, indirect_ns;		/* from delays; from waits of the delaying rank */
	int64_t propagating_ns;			/* the part that caused waits of others */
	uint64_t count;
	struct wait largest;
};

struct table {
	struct cell *cells;	/* by rank, site, call, ...; some are zero */
	size_t count;
	struct analytic *analytic;	/* the same, by rank and by call only */
	size_t analytic_count;
	int64_t *wait_ns[STATES];	/* the same by state */
	size_t wait_count[STATES];	/* 0: no waits, as for most states */
};

/* ---- the run ---------------------------------------------------------------------------- */

/* A row with facts from its edge. */
struct wait_row {
	struct row row;
	int64_t start_ns, end_ns;	/* analytic: latest start and earliest end of the others */
	/*
	 * message: enter (of a receive: post) of the other end; collective: the last enter that
	 * this one waits for
	 */
	int64_t other_ns;
	uint64_t other_seq;
	uint32_t other;		/* location of the other end */
	uint32_t edges;		/* that end here */
	bool paired;		/* in a group of the analytic estimate */
	bool is_send;		/* the sending end of a message */
	bool is_held;		/* a send that the other row let go */
	bool has_other;
	bool overlap;		/* collective: all calls overlap; end_ns is valid */
	bool open;		/* it started a request that no counted row has completed */
	bool overdue;		/* it is counted without its other end, which has not come */
};

/* Facts of a call, by index of call_name: rules.c. */
struct call_kind {
	enum call_class class;
	enum one_sided_kind one_sided;
	enum state before, after;	/* STATES: none */
	bool only_overlap;		/* the wait is certain only if all calls overlap in time */
	bool is_test;			/* returns at once: it only waits for the polls before it */
	bool several;			/* completes some of several requests, or all */
	bool polls;			/* a test or probe: if it fails, its time is polling */
	bool frames;			/* the program: see base/run/span.h */
	bool starts, ends;	/* requests that later rows refer to; requests of earlier rows */
};

/* A call that no further edge can reach, with its rows, which are contiguous in the window. */
struct whole_call {
	struct wait_row *rows;
	const struct call_kind *kind;
	uint64_t first;
	uint32_t location, count;	/* of rows */
	int64_t last_ns;		/* leave of the call before; INT64_MIN: none */
	int64_t program_ns, mpi_ns;	/* before it and in it */
	bool polled;			/* a test or probe that found nothing */
};

/*
 * A pool for many items of one size: contiguous in blocks, numbered with 32 bits from 1. Returned
 * items are used again. Memory: the peak number of items.
 */

enum { POOL_SHIFT = 10, POOL_MASK = (1 << POOL_SHIFT) - 1 };	/* items of a block */

struct item_pool {
	char **blocks;
	size_t count, capacity;		/* blocks */
	uint32_t free;	/* the last freed item, which begins with the next one's number; 0: none */
};

/* An uninitialised item of BYTES: at least 4, and the same in each call. */
uint32_t pool_take(struct item_pool *pool, size_t bytes);
void pool_give(struct item_pool *pool, size_t bytes, uint32_t number);

static inline void *
pool_at(const struct item_pool *pool, size_t bytes, uint32_t number)
{
	return pool->blocks[number >> POOL_SHIFT] + (number & POOL_MASK) * bytes;
}

/* Pools of waits, and of their causes by the number of causes: origins.c. */
enum { MOST_CAUSES = 24 };	/* of a wait */
struct origins {
	struct item_pool waits, shares[MOST_CAUSES + 1];
};

/* Whether an edge that the call's waits depend on has not come: overdue.c. */
struct imbalance;
bool is_overdue(const struct imbalance *im, const struct whole_call *call);

/* Counts from lp-graph, and whether there are samples. */
struct run_counts {
	uint64_t unmatched_sends, unmatched_receives, unmatched_collectives;
	uint64_t errors;	/* calls that returned an error */
	uint64_t sampled;
	uint64_t switched;	/* there are intervals off the core */
};

struct off_span;

/* A tool that observes reading and counting, such as lp-report; all but message may be NULL. */
struct observer {
	/* Any message, after it was taken. CALLS holds the block if the kind is calls. */
	void (*message)(struct observer *observer, struct imbalance *im,
	    const struct message *message, const struct calls *calls);
	/* A call with its waits. Calls of a location arrive in order of time. */
	void (*call)(struct observer *observer, struct imbalance *im, uint32_t location,
	    const struct row *row, const struct wait *waits, int count);
	/*
	 * The cost of a delay of this rank in the waits of the call just seen. KEY as in struct
	 * delay.
	 */
	void (*delay)(struct observer *observer, uint32_t key, int32_t rank, double cost_ns);
	/*
	 * A part of the computation before the next call was blocked or preempted, at
	 * that place of the program (0: unknown). Parts arrive in any order.
	 */
	void (*off)(struct observer *observer, uint32_t location, const struct off_span *part,
	    uint32_t place);
};

struct imbalance {
	struct graph_input graph;
	struct observer *observer;	/* NULL: nobody */
	const struct whole_call *seen;	/* the call it sees, with all its rows */
	bool waits_only;		/* no causes */
	bool goes_on;			/* rows that are overdue are counted as soon as they are */
	struct overdue_row *overdue;	/* those kept in the window; NULL: there were none */
	size_t overdue_count, overdue_capacity;
	bool every_order;	/* a message from any source may be in wrong order: wrong_order.c */
	struct part *part;		/* the part of the run to read; NULL: all */
	size_t window_bytes;		/* see window_limit; set before reading to override */
	bool window_bytes_set;
	struct request_table *open;	/* open_requests.c: rows that left the window */
	struct item_pool open_rows;	/* copies of these */
	struct member *members;
	struct row *copies;		/* of the rows of an instance's members */
	struct needs needs;		/* of an instance */
	size_t member_capacity, copy_capacity;

	int64_t from_ns, to_ns;		/* time outside does not count */
	struct queue *queue;		/* count.c: calls to be counted next */
	bool at_point;	/* count.c: the last message ended a stretch that is all counted */
	uint64_t *done;			/* by location: rows already counted */
	uint64_t *settled;		/* by location: rows that no edge can reach any more */
	int64_t *settled_ns;		/* leave of the last of these */
	int64_t *last_leave_ns;	/* by location: of the last counted call; INT64_MIN: none */
	uint32_t *open_starts;		/* by location: rows in the window that are open */

	struct call_kind *kinds;	/* by index of call_name */
	unsigned kind_count;
	struct table tables[DIMENSIONS];
	struct state_sums states[STATES];
	struct site_ns {		/* by site, of each rank; or NULL */
		int64_t compute_ns, mpi_ns;	/* before the site; in it, without waits */
	} **sites;
	size_t site_count;
	struct late_list *late;	/* wrong_order.c: by location */
	struct member_parts *parts;	/* one_sided.c: of MPI windows: accesses and locks */
	struct helds *helds;
	struct causes *causes;		/* causes.c */
	struct origins origins;
	struct functions *functions;	/* functions.c: from samples; NULL: none */
	struct counted_table *counted;	/* counters.c: from samples with counters; NULL: none */
	struct hybrid_time **hybrid;	/* hybrid.c: by index, then rank; some are NULL */
	size_t hybrid_count;		/* 0: no switches */
	struct run_counts counts;
	int64_t *before_ns;		/* by location: time of the run before its first call */
	struct span *spans;		/* by rank, for its first thread */
};

/* The counted nanoseconds between FROM and TO. */
static inline int64_t
counted_ns(const struct imbalance *im, int64_t from_ns, int64_t to_ns)
{
	from_ns = from_ns > im->from_ns ? from_ns : im->from_ns;
	to_ns = to_ns < im->to_ns ? to_ns : im->to_ns;
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* The wait time of INDEX in a state, and in all states. */
static inline int64_t
state_ns(const struct table *table, size_t index, int state)
{
	return index < table->wait_count[state] ? table->wait_ns[state][index] : 0;
}
int64_t waits_ns(const struct table *table, size_t index);

/*
 * read.c: reads a graph stream, from graph.in if that is open. The caller sets from_ns, to_ns and
 * the observer before.
 */
void read_graph(struct imbalance *im, const char *file);
struct team;
/* join.c: the same by several processes, of which the first one has the results. */
void read_graph_together(struct imbalance *im, const char *file, const struct team *team);

/* ---- causes: causes.c, origins.c ---- */

/*
 * Fixed-point sums of fractions of nanoseconds: the same in any order and any number of parts. They
 * have 64 bits of whole nanoseconds (292 years over all ranks) and 32 bits of fraction. Each number
 * is cut to 2^-32 ns when it is added; after that nothing is rounded.
 */

static inline void
fixed_add(int64_t *ns, uint32_t *fraction, int64_t more_ns, uint32_t more_fraction)
{
	const uint64_t sum = (uint64_t)*fraction + more_fraction;

	*fraction = (uint32_t)sum;
	*ns = (int64_t)((uint64_t)*ns + (uint64_t)more_ns + (sum >> 32));
}

/* MORE_NS is from 0 to below 2^63. */
static inline void
fixed_add_double(int64_t *ns, uint32_t *fraction, double more_ns)
{
	const int64_t whole_ns = (int64_t)more_ns;

	fixed_add(ns, fraction, whole_ns, (uint32_t)((more_ns - (double)whole_ns) * 0x1p32));
}

static inline double
fixed_ns(int64_t ns, uint32_t fraction)
{
	return (double)ns + (double)fraction * 0x1p-32;
}

/* The cost to others of one rank's excess time on one piece of code. */
struct delay {
	uint32_t key;		/* 2 * site: compute before it; 2 * site + 1: MPI in it */
	int32_t rank;		/* -1: free slot */
	uint32_t short_fraction, long_fraction;
	int64_t short_whole_ns, long_whole_ns;
};

static inline double
delay_short_ns(const struct delay *d)
{
	return fixed_ns(d->short_whole_ns, d->short_fraction);
}

static inline double
delay_long_ns(const struct delay *d)
{
	return fixed_ns(d->long_whole_ns, d->long_fraction);
}

static inline double
delay_cost_ns(const struct delay *d)
{
	int64_t ns = d->short_whole_ns;
	uint32_t fraction = d->short_fraction;

	fixed_add(&ns, &fraction, d->long_whole_ns, d->long_fraction);
	return fixed_ns(ns, fraction);
}

/* most costly first; the caller frees them */
struct delay *sorted_delays(const struct imbalance *im, size_t *count);
/* likewise, with the call sites of one name as one */
struct delay *delays_by_name(const struct imbalance *im, struct same_sites *sites, size_t *count);

enum { MOST_CHAINS = 5, MOST_LINKS = 33 };
size_t chain_count(const struct imbalance *im);
/* One of the longest waits and, after it, the waits that led to it; returns their number. */
size_t chain_of(const struct imbalance *im, size_t index, struct wait chain[MOST_LINKS]);

/* ---- what follows from the sums: sums.c ---- */

/* The analytic estimate of a rank or of a call; of all ranks. */
struct totals totals_of(const struct imbalance *im, enum dimension by, size_t index);
struct totals totals_of_all(const struct imbalance *im);

/* The counted time of the run. */
int64_t counted_run_ns(const struct imbalance *im);
/* The same, summed over all locations. */
int64_t all_time_ns(const struct imbalance *im);
/* First threads, and others that have called. */
int64_t counted_locations(const struct imbalance *im);

/* The shares of a rank's time, summed over its locations. */
struct shares {
	int32_t rank;
	int64_t before_ns, compute_ns, mpi_useful_ns, wait_ns, after_ns;
	int64_t run_ns;
	int64_t polling_ns;	/* part of mpi_useful_ns */
	bool adds_up;		/* to run_ns, to the nanosecond, unless there is a fault */
};
/* By rank, and behind these of all ranks; the caller frees them. */
struct shares *shares_by_rank(const struct imbalance *im);

struct efficiency efficiency_of(const struct imbalance *im, bool whole);

/*
 * With the same run on an ideal network, by the two definitions in use.
 *	POP: transfer = ideal time / time, serialisation = largest useful / ideal time
 *	BSC modelfactors: serialisation = largest useful / time, both of the ideal run;
 *	    transfer = communication / serialisation
 */
struct ideal_efficiency {
	double transfer, serialisation, bsc_transfer, bsc_serialisation;
};
struct ideal_efficiency ideal_efficiency_of(const struct imbalance *im, const struct times *ideal,
    bool whole);

/* How much of all wait time is explained. */
struct explained {
	int64_t wait_ns;
	int64_t delay_ns;	/* by computation or waits of other ranks meanwhile */
	int64_t completion_ns;	/* the collective itself took so long */
	double share;		/* of both; 1 if nobody waits */
};
struct explained explained_of(const struct imbalance *im);

/* Non-empty cells, longest wait first, then by number. */
struct line {
	size_t index;
	const struct cell *cell;
	int64_t wait_ns;
};
struct line *sorted_cells(const struct imbalance *im, enum dimension dimension, size_t *count);
/* The name of INDEX in the dimension; TEXT may hold it. */
const char *index_text(const struct imbalance *im, enum dimension dimension, size_t index,
    char *text, size_t size) __attribute__((warn_unused_result));

/* The heuristic estimate: of compute before a call site, the maximum over the mean of all ranks. */
double site_heuristic(const struct imbalance *im, size_t site);

#endif
