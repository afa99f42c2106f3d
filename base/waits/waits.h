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
#include "../run/reached.h"
#include "../run/scaling.h"
#include "../tool/tool.h"
#include "fixed.h"
#include "pool.h"

/* ---- analytic --------------------------------------------------------------------------- */

struct totals {
	int64_t wait_before_ns, wait_after_ns, execution_ns, unsynchronised_ns;
	int64_t program_ns;	/* outside of MPI calls; processes only */
	int64_t mpi_ns;	/* in MPI calls */
	uint64_t calls, unsynchronised, nodes, edges;
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
	X(WAIT_AT_FILE, "wait_at_file")

enum state {
#define X(STATE, name) STATE,
	STATES_TABLE(X)
#undef X
	STATES
};
extern const char *const state_names[STATES];

/* Behind the last enter: for this no rank is late, the collective itself takes so long. */
static inline bool
is_completion(enum state state)
{
	return state == BARRIER_COMPLETION || state == NXN_COMPLETION || state == INIT_COMPLETION;
}

/* One piece of one call. */
struct wait {
	enum state state;
	int64_t from_ns, to_ns;
	uint32_t location, site, comm, call;
	uint32_t cause;		/* location that was waited for; NOBODY: not known */
	uint64_t cause_seq;	/* its row that ended the wait */
};

/* What the waits are told by. */
enum dimension { BY_RANK, BY_SITE, BY_CALL, BY_COMMUNICATOR, BY_PARTNER, DIMENSIONS,
    BY_FUNCTION = DIMENSIONS };

struct cell {
	/* What each call adds to comes first: it lies in one line of a cache. */
	int64_t compute_ns;	/* before calls: a site's is that up to it */
	int64_t mpi_ns;		/* in calls, waits included */
	int64_t polling_ns;	/* of it in tests and probes that failed */
	uint64_t calls, waits;
};

struct state_sums {
	int64_t wait_ns;
	/* caused by delays; by waits of the delaying rank */
	int64_t direct_ns, indirect_ns;
	int64_t propagating_ns;			/* what caused waits of others in turn */
	uint64_t count;
	struct wait largest;
};

struct table {
	struct cell *cells;	/* by rank, site, call, ... */
	/* the same, of each state; NULL: nobody was in it. Most runs have few */
	int64_t *wait_ns[STATES];
	size_t count, capacity;
};

/* ---- the run ---------------------------------------------------------------------------- */

/* A row, and what its edge, if it has one, tells. */
struct wait_row {
	struct row row;
	int64_t start_ns, end_ns;	/* analytic: latest start and earliest end of the others */
	int64_t other_ns;	/* message: when the other end was entered (of a receive: posted);
				   collective: when the last was that this one waits for */
	uint64_t other_seq;
	uint32_t other;		/* location of that */
	uint32_t edges;		/* that end here */
	bool paired;		/* in a group of the analytic estimate */
	bool is_send;		/* the sending end of a message */
	bool has_other;
	/* collective: all its calls overlap in time; then end_ns holds for it */
	bool overlap;
	bool open;		/* it started a request that nothing counted so far has completed */
};

enum one_sided_kind {
	NO_ACCESS, ACCESSES, LOCKS, UNLOCKS, FLUSHES, FLUSHES_LOCALLY, LOCKS_ALL, UNLOCKS_ALL,
	FLUSHES_ALL,
	ENDS_EPOCH,			/* of active targets */
};

/* What a call can lead to, by index of call_name: rules.c. */
struct call_kind {
	enum call_class class;
	enum one_sided_kind one_sided;
	enum state before, after;	/* STATES: none */
	bool only_overlap;		/* the wait is sure only where all calls overlap in time */
	bool is_test;			/* returns at once: it only waits for the polls before it */
	bool several;			/* completes what comes of several requests, or all */
	bool polls;			/* a test or probe: where it fails its time is polling */
	bool frames;			/* the program: see base/run/span.h */
	/* requests that later rows refer to; what earlier rows started */
	bool starts, ends;
};

/* A call that no further edge can reach, with its rows, which lie side by side in the window. */
struct whole_call {
	struct wait_row *rows;
	const struct call_kind *kind;
	uint64_t first;
	uint32_t location, count;	/* of rows */
	/* when the location left its call before; INT64_MIN: its first */
	int64_t last_ns;
	int64_t program_ns, mpi_ns;	/* before it and in it */
	bool polled;			/* a test or probe that found nothing */
};

/* chains.c: those of waits, and their causes by how many there are. */
enum { MOST_CAUSES = 8 };	/* of a wait */
struct origins {
	struct item_pool waits, shares[MOST_CAUSES + 1];
};

/* As lp-graph counted, and whether there are samples. */
struct run_counts {
	uint64_t unmatched_sends, unmatched_receives, unmatched_collectives;
	uint64_t errors;		/* calls that returned one */
	uint64_t sampled;
	uint64_t switched;	/* there are intervals off the core */
};

struct imbalance;

/* Who wants to see what is read and counted, as lp-report does; the first two functions are
 * there. */
struct observer {
	/* Any message, once it is taken; CALLS holds the block of one of kind calls. */
	void (*message)(struct observer *observer, struct imbalance *im,
	    const struct message *message, const struct calls *calls);
	/* A call with its waits; those of a location come in order of time. */
	void (*call)(struct observer *observer, struct imbalance *im, uint32_t location,
	    const struct row *row, const struct wait *waits, int count);
	/* What the waits of the call just seen cost more by a delay of this rank, by KEY of struct
	 * delay. */
	void (*delay)(struct observer *observer, uint32_t key, int32_t rank, double cost_ns);
};

struct imbalance {
	struct graph_input graph;
	struct observer *observer;	/* NULL: nobody */
	const struct whole_call *seen;	/* the call that it sees, with all its rows */
	bool waits_only;		/* no causes */
	bool every_order;		/* any message may be in wrong order: wrong_order.c */
	struct part *part;		/* of the run that is read alone; NULL: all of it */
	size_t window_bytes;		/* see window_limit; as is usual unless it is set */
	bool window_bytes_set;
	struct open_requests *open;
	struct member *members;
	struct row *copies;		/* of the rows of an instance's members */
	uint32_t *waits_for;
	size_t member_capacity, copy_capacity, wait_capacity;

	int64_t from_ns, to_ns;		/* what is outside does not count */
	struct queue *queue;		/* count.c: calls to be counted next */
	/* count.c: the last message ended a stretch, and all of that is counted */
	bool at_point;
	uint64_t *done;			/* by location: rows already counted */
	uint64_t *settled;		/* by location: rows that no edge can reach any more */
	int64_t *settled_ns;		/* when the last of these was left */
	/* by location: of the last call counted; INT64_MIN before */
	int64_t *last_leave_ns;
	uint32_t *open_starts;		/* by location: rows in the window that are open */

	struct call_kind *kinds;	/* by index of call_name */
	unsigned kind_count;
	struct totals program, *ranks, *calls;	/* analytic; by rank, by index of call_name */
	size_t call_capacity;
	struct table tables[DIMENSIONS];
	struct state_sums states[STATES];
	struct site_ns {		/* by site: of each rank, or NULL */
		int64_t compute_ns, mpi_ns;	/* up to the site; in it, without waits */
	} **sites;
	size_t site_count, site_capacity;
	/* wrong_order.c: by location, receives that might be in wrong order */
	struct late_list *late;
	struct one_sided *one_sided;	/* one_sided.c: what was done to windows */
	struct causes *causes;		/* causes.c */
	struct origins origins;
	struct functions *functions;	/* functions.c: of the samples; NULL: there are none */
	struct run_counts counts;
	int64_t *before_ns;		/* by location: of the run, before its first call */
	struct span *spans;		/* by rank, of its first thread */
};

/* Nanoseconds of FROM to TO that count. */
static inline int64_t
counted_ns(const struct imbalance *im, int64_t from_ns, int64_t to_ns)
{
	from_ns = from_ns > im->from_ns ? from_ns : im->from_ns;
	to_ns = to_ns < im->to_ns ? to_ns : im->to_ns;
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

static inline int64_t
wait_ns(const struct totals *t)
{
	return t->wait_before_ns + t->wait_after_ns;
}

/* Waits over execution and program time; 0 where there is neither. */
double imbalance_of(const struct totals *t);

/* Waits of what INDEX numbers in a state, and in all. */
static inline int64_t
state_ns(const struct table *table, size_t index, int state)
{
	return index < table->count && table->wait_ns[state] != NULL ?
	    table->wait_ns[state][index] : 0;
}
int64_t waits_ns(const struct table *table, size_t index);

/* read.c: all of a graph stream; times from_ns and to_ns and the observer are set before. */
void read_graph(struct imbalance *im, const char *file);
void read_opened_graph(struct imbalance *im);	/* the same of a reader that is open */
/* The part im->part; analytic_end is left to who joins the parts. */
void read_part(struct imbalance *im, const char *file);

/* ---- parts of a run, for several processes: parts.c, join.c ---- */

/*
 * A part of a run: some stretches that follow each other, for one of several processes. It begins
 * where the index of the graph tells of a synchronisation point: reading begins in the blocks that
 * hold the point's calls, and counting behind these. It ends with the calls of the point where the
 * next part begins, if nothing reaches across that; else it goes on into the next part, whose
 * process then worked in vain.
 */
struct border {			/* where a part begins */
	uint64_t at;		/* offset of the message of kind sync; 0: the begin of the run */
	uint64_t from;		/* its calls and later ones are in blocks behind this */
};

struct part {
	const struct border *borders;	/* of all parts */
	size_t count;
	uint64_t defined;	/* no definition comes after this offset */
	size_t first;		/* the own one */
	size_t end;		/* the first that is not read as well */
	bool begun, ended;
};

/* The borders of at most COUNT parts of FILE, with about equally many rows; one where it has no
 * index. */
struct border *part_borders(const char *file, size_t count, size_t *parts, uint64_t *defined);

/* Each member of the team has counted its im->part, or nothing where that is NULL. */
struct team;
void join_parts(struct imbalance *im, const struct team *team);
void analytic_end(struct imbalance *im);	/* then, by the first */

/* ---- causes: causes.c, delays.c, chains.c ---- */

/* What one rank's excess time on one piece of code cost others. */
struct delay {
	uint32_t key;		/* 2 * site: compute up to it; 2 * site + 1: MPI in it */
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

/* most costly first; to be freed */
struct delay *sorted_delays(const struct imbalance *im, size_t *count);

enum { MOST_CHAINS = 5, MOST_LINKS = 33 };
size_t chain_count(const struct imbalance *im);
/* One of the longest waits and, behind it, the waits that led to it; returns how many. */
size_t chain_of(const struct imbalance *im, size_t index, struct wait chain[MOST_LINKS]);

/* ---- what follows from the sums: results.c ---- */

static inline double
seconds(int64_t ns)
{
	return 1e-9 * (double)ns;
}

/* The run as far as it counts. */
int64_t counted_run_ns(const struct imbalance *im);
/* The same of all locations together. */
int64_t all_time_ns(const struct imbalance *im);

/* Where the time of a rank went; all its locations together. */
struct shares {
	int32_t rank;
	int64_t before_ns, compute_ns, mpi_useful_ns, wait_ns, after_ns;
	int64_t run_ns;		/* what they add up to, if all is well */
	int64_t polling_ns;	/* part of mpi_useful_ns */
};
struct shares *shares_by_rank(const struct imbalance *im);	/* to be freed */
struct shares shares_of_all(const struct imbalance *im);
bool sums_hold(const struct imbalance *im);	/* on every rank, to the nanosecond */

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

/* What is known of why all waits came about. */
struct explained {
	int64_t wait_ns;
	int64_t delay_ns;	/* by what other ranks did, or waited for, meanwhile */
	int64_t completion_ns;	/* the collective itself took so long */
};
struct explained explained_of(const struct imbalance *im);
double explained_share(const struct explained *e);	/* 1 where nobody waits */

/* The cells that have anything, most wait first, then by number. */
struct line {
	size_t index;
	const struct cell *cell;
	int64_t wait_ns;
};
struct line *sorted_cells(const struct imbalance *im, enum dimension dimension, size_t *count);
/* What INDEX of the dimension is called, into TEXT. */
const char *index_text(const struct imbalance *im, enum dimension dimension, size_t index,
    char *text, size_t size);

/* The heuristic estimate: of the compute up to a call site, the largest of a rank over the mean of
 * all. */
double site_heuristic(const struct imbalance *im, size_t site);


#endif
