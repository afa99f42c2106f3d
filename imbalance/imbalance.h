/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What lp-imbalance counts, and where.
 *
 * ANALYTIC (analytic.c), of Korkhov et al., "Finding Bottlenecks in MPI Programs by Scalable
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
 * WAIT STATES (waits.c): pieces of calls in which a rank could not go on for another. No two of them
 * overlap and none is longer than its call, so for each rank compute + useful MPI + waits is the same
 * time again, to the nanosecond.
 *
 * CAUSES (causes.c): what the rank that was waited for did meanwhile, or why it had to wait itself.
 */
#ifndef IMBALANCE_H
#define IMBALANCE_H

#include "../base/mpi/call_class.h"
#include "../base/run/collective.h"
#include "../base/run/span.h"
#include "../base/tool/tool.h"
#include "pool.h"

/* ---- analytic --------------------------------------------------------------------------- */

struct totals {
	int64_t wait_before_ns, wait_after_ns, execution_ns, unsynchronised_ns;
	int64_t program_ns;	/* outside of MPI calls; processes only */
	int64_t mpi_ns;	/* in MPI calls */
	uint64_t calls, unsynchronised, nodes, edges;
};

/* ---- wait states ------------------------------------------------------------------------ */

/* X(STATE, name in reports). Formulas and their source are at each rule in waits.c. */
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
	X(WAIT_FOR_PROGRESS, "wait_for_progress")

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
	uint32_t location, site, comm;
	uint16_t call;
	uint32_t cause;		/* location that was waited for; NOBODY: not known */
	uint64_t cause_seq;	/* its row that ended the wait */
};

/* What the waits are told by. */
enum dimension { BY_RANK, BY_SITE, BY_CALL, BY_COMMUNICATOR, BY_PARTNER, DIMENSIONS, BY_FUNCTION = DIMENSIONS };

struct cell {
	/* What each call adds to comes first: it lies in one line of a cache. */
	int64_t compute_ns;	/* before calls: a site's is that up to it */
	int64_t mpi_ns;		/* in calls, waits included */
	int64_t polling_ns;	/* of it in tests and probes that failed */
	uint64_t calls, waits;
	int64_t delay_ns;	/* waits of others that its compute and calls caused */
};

struct state_sums {
	int64_t wait_ns;
	int64_t direct_ns, indirect_ns;		/* caused by delays; by waits of the delaying rank */
	int64_t propagating_ns;			/* what caused waits of others in turn */
	uint64_t count;
	struct wait largest;
};

struct table {
	struct cell *cells;	/* by rank, site, call, ... */
	int64_t *wait_ns[STATES];	/* the same, of each state; NULL: nobody was in it. Most runs have few */
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
	bool overlap;		/* collective: all its calls overlap in time; then end_ns holds for it */
	bool open;		/* it started a request that nothing counted so far has completed */
};

enum one_sided_kind {
	NO_ACCESS, ACCESSES, LOCKS, UNLOCKS, FLUSHES, FLUSHES_LOCALLY, LOCKS_ALL, UNLOCKS_ALL, FLUSHES_ALL,
	ENDS_EPOCH,			/* of active targets */
};

/* What a call can lead to, by index of call_name: waits.c. */
struct call_kind {
	enum call_class class;
	enum one_sided_kind one_sided;
	enum state before, after;	/* STATES: none */
	bool only_overlap;		/* the wait is sure only where all calls overlap in time */
	bool is_test;			/* returns at once: it only waits for the polls before it */
	bool several;			/* completes what comes of several requests, or all */
	bool polls;			/* a test or probe: where it fails its time is polling */
	bool frames;			/* the program: see base/run/span.h */
	bool starts, ends;		/* requests that later rows refer to; what earlier rows started */
};

/* A call that no further edge can reach, with its rows, which lie side by side in the window. */
struct whole_call {
	struct wait_row *rows;
	const struct call_kind *kind;
	uint64_t first;
	uint32_t location, count;	/* of rows */
	int64_t last_ns;		/* when the location left its call before; INT64_MIN: its first */
	int64_t program_ns, mpi_ns;	/* before it and in it */
	bool polled;			/* a test or probe that found nothing */
};

/* origins.c: those of waits, and their causes by how many there are. */
enum { MOST_CAUSES = 8 };	/* of a wait */
struct origins {
	struct item_pool waits, shares[MOST_CAUSES + 1];
};

struct imbalance;

/* Who wants to see what is read and counted, as lp-report does; both functions are there. */
struct observer {
	/* Any message, once it is taken; CALLS holds the block of one of kind calls. */
	void (*message)(struct observer *observer, struct imbalance *im, const struct message *message,
	    const struct calls *calls);
	/* A call with its waits; those of a location come in order of time. */
	void (*call)(struct observer *observer, struct imbalance *im, uint32_t location,
	    const struct row *row, const struct wait *waits, int count);
};

struct imbalance {
	struct reader *in;
	struct observer *observer;	/* NULL: nobody */
	bool waits_only;		/* no causes */
	bool every_order;		/* any message may be in wrong order: late.h */
	struct part *part;		/* of the run that is read alone; NULL: all of it */
	struct definitions known;
	struct window window;
	size_t window_bytes;		/* see window_limit; as is usual unless it is set */
	bool window_bytes_set;
	struct edge_block edges;
	struct open_requests *open;
	struct member *members;
	struct row *copies;		/* of the rows of an instance's members */
	uint32_t *waits_for;
	size_t member_capacity, copy_capacity, wait_capacity;

	int64_t from_ns, to_ns;		/* what is outside does not count */
	struct queue *queue;		/* order.c: calls to be counted next */
	bool at_point;			/* order.c: the last message ended a stretch, and all of that is counted */
	uint64_t *done;			/* by location: rows already counted */
	uint64_t *settled;		/* by location: rows that no edge can reach any more */
	int64_t *settled_ns;		/* when the last of these was left */
	int64_t *last_leave_ns;		/* by location: of the last call counted; INT64_MIN before */
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
	struct late_list *late;		/* late.c: by location, receives that might be in wrong order */
	struct one_sided *one_sided;	/* one_sided.c: what was done to windows */
	struct causes *causes;		/* causes.c */
	struct origins origins;
	struct functions *functions;	/* functions.c: of the samples; NULL: there are none */
	uint64_t unmatched_sends, unmatched_receives, unmatched_collectives;	/* as lp-graph counted */
	uint64_t errors;	/* calls that returned one; likewise */
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

/* As window_row, of a known size; NULL also where the row is packed. */
static inline struct wait_row *
wait_row_here(const struct imbalance *im, uint32_t location, uint64_t seq)
{
	const struct lane *lane = &im->window.lanes[location];

	return seq - lane->first < lane->count ?
	    (struct wait_row *)(void *)lane->rows + lane->begin + (seq - lane->first) : NULL;
}

static inline const struct wait_row *
wait_row(const struct imbalance *im, uint32_t location, uint64_t seq)
{
	const struct wait_row *row = wait_row_here(im, location, seq);

	return row != NULL ? row : window_unpacked(&im->window, location, seq, false);
}

/* The same, to be changed. */
static inline struct wait_row *
wait_row_change(const struct imbalance *im, uint32_t location, uint64_t seq)
{
	struct wait_row *row = wait_row_here(im, location, seq);

	return row != NULL ? row : window_unpacked(&im->window, location, seq, true);
}

/* The row that ROW at LOCATION, SEQ refers to, where it is in the window; NULL: none, or elsewhere. */
static inline const struct wait_row *
referred_here(const struct imbalance *im, const struct wait_row *row, uint32_t location, uint64_t seq,
    uint32_t *to, uint64_t *to_seq)
{
	return row_refers(&row->row, location, seq, to, to_seq) && *to < im->known.location_count ?
	    wait_row(im, *to, *to_seq) : NULL;
}

static inline int64_t
wait_ns(const struct totals *t)
{
	return t->wait_before_ns + t->wait_after_ns;
}

/* Waits over execution and program time; 0 where there is neither. */
double imbalance_of(const struct totals *t);

/* cells.c: the cell of what INDEX numbers, made where it is not there yet. */
void add_cell(struct table *table, size_t index);

static inline struct cell *
cell_of(struct imbalance *im, enum dimension dimension, size_t index)
{
	struct table *table = &im->tables[dimension];

	if (index >= table->count)
		add_cell(table, index);
	return &table->cells[index];
}

/* Adds the wait to all tables, or takes it away again where SIGN is -1. */
void count_wait(struct imbalance *im, const struct wait *wait, int sign);
/* What another part of the run has. */
void join_cell(struct table *table, size_t index, const struct cell *more);
void join_wait_ns(struct table *table, size_t index, enum state state, int64_t ns);
/* Its state is certain: it may be the largest of it. */
void count_largest(struct imbalance *im, const struct wait *wait);
/* Of a site by rank. */
struct site_ns *new_site(struct imbalance *im, uint32_t site);

static inline void
count_site(struct imbalance *im, uint32_t site, int32_t rank, int64_t compute_ns, int64_t mpi_ns)
{
	struct site_ns *of = site < im->site_count ? im->sites[site] : NULL;

	of = (of != NULL ? of : new_site(im, site)) + rank;
	of->compute_ns += compute_ns;
	of->mpi_ns += mpi_ns;
}

/* Waits of what INDEX numbers in a state, and in all. */
static inline int64_t
state_ns(const struct table *table, size_t index, int state)
{
	return index < table->count && table->wait_ns[state] != NULL ? table->wait_ns[state][index] : 0;
}
int64_t waits_ns(const struct table *table, size_t index);

/* read.c: all of a graph stream; times from_ns and to_ns and the observer are set before. */
void read_graph(struct imbalance *im, const char *file);
void read_opened_graph(struct imbalance *im);	/* the same of a reader that is open */
/* The part im->part; analytic_end is left to who joins the parts. */
void read_part(struct imbalance *im, const char *file);

/* edges.c: what an edge tells is noted at its rows. */
void take_messages(struct imbalance *im, const struct message *message);
void take_collectives(struct imbalance *im, const struct message *message);

/*
 * open.c: rows that started a request are there until the row that completes it has been counted: those
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

/* analytic.c */
void count_analytic(struct imbalance *im, const struct whole_call *call);
/* To what is counted of calls of that function. */
struct totals *totals_of(struct imbalance *im, uint16_t call);
void add_totals(struct totals *to, const struct totals *more);
/* What follows from the others, at the end. */
void analytic_end(struct imbalance *im);

/* waits.c: the waits of a call, in order of time. */
enum { MOST_WAITS = 4 };	/* of a call */
void waits_begin(struct imbalance *im);
/* No receive to come changes what is known: a stretch has ended, or the run. */
void waits_forget(struct imbalance *im);
void learn_kinds(struct imbalance *im);

/* Good until the next one that is asked for: names may come at any time. */
static inline const struct call_kind *
call_kind(struct imbalance *im, uint16_t call)
{
	if (call >= im->kind_count)
		learn_kinds(im);
	return &im->kinds[call];
}

int find_waits(struct imbalance *im, const struct whole_call *call, struct wait waits[MOST_WAITS]);

#endif
