/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What lp-report gathers in one pass, and how it shows it.
 *
 * The timeline has two layers. BINS: so many rows (locations, or groups of them) by so many columns
 * of time, in each how long which activity lasted. EVENTS: the longest calls, waits and pieces of
 * the path as single ones; what is too short to be kept is too short to be seen but zoomed far in,
 * where the bins show it. So memory and page depend on the budget, not on the run.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "../base/run/places.h"
#include "../base/run/sampled_path.h"
#include "../base/run/segments.h"
#include "../base/tool/json.h"
#include "../base/waits/functions.h"
#include "../base/waits/poles.h"
#include "../base/run/scaling.h"
#include "monitor.h"

/* Activities, as colours: a wait is of one of the classes below. */
enum activity { OUTSIDE, COMPUTING, IN_MPI, WAIT_MESSAGE, WAIT_RECEIVER, WAIT_COLLECTIVE,
    WAIT_SETUP, WAIT_RMA, ACTIVITIES };
extern const char *const activity_names[ACTIVITIES];
extern const char *const activity_classes[ACTIVITIES];	/* of CSS */
enum activity activity_of(enum state state);

/*
 * Kinds of pieces of the path, as lp-trace(5) numbers them. What frames the program, MPI_Init and
 * MPI_Finalize, is with the start, and none of that is in shares: base/run/span.h.
 */
enum piece { COMPUTE_PIECE, MPI_PIECE, TRANSFER_PIECE, START_PIECE, PIECES };
extern const char *const piece_names[PIECES];

struct event {
	int64_t begin_ns, end_ns;
	uint32_t location, site;
	/* rank that was waited for, -1: none; of a message its sender's location */
	int32_t partner;
	uint16_t call;
	uint16_t what;		/* state of a wait, or one of these; of the path enum piece */
};
enum { A_CALL = STATES, A_COMPUTATION };	/* the computation before a call */

/* The longest events. */
struct pool {
	struct event *at;
	size_t count, capacity, most;
	int64_t least_ns;	/* shorter ones are not kept */
	bool dropped;		/* there were such */
};
void pool_keep(struct pool *pool, const struct event *event);
static inline bool
pool_wants(const struct pool *pool, int64_t begin_ns, int64_t end_ns)
{
	return !pool->dropped || end_ns - begin_ns >= pool->least_ns;
}
/* Down to MOST, and in order of location and time. */
void pool_sort(struct pool *pool, size_t most);

struct bins {
	size_t rows, columns;
	int64_t run_ns;
	uint32_t locations;
	int64_t *edge_ns;	/* by column: the first instant in it; behind the last INT64_MAX */
	struct spot {
		uint32_t row, column;	/* its own, and the one that was asked for last */
		int64_t begin_ns, end_ns;	/* of that column */
		float *cell;		/* of ns, there */
	} *at;			/* by location */
	float *ns;		/* by row, column, activity */
	float *path_ns;		/* by row, column */
};
void bins_begin(struct bins *bins, uint32_t locations, int64_t run_ns, size_t cells);
void bins_spread(struct bins *bins, uint32_t location, enum activity activity, int64_t from_ns,
    int64_t to_ns);
/* Calls of a location come in order, and most are in the column of the last. */
static inline void
bins_add(struct bins *bins, uint32_t location, enum activity activity, int64_t from_ns,
    int64_t to_ns)
{
	const struct spot *at = &bins->at[location];

	if (from_ns >= at->begin_ns && to_ns < at->end_ns && from_ns < to_ns)
		at->cell[activity] += (float)(to_ns - from_ns);
	else
		bins_spread(bins, location, activity, from_ns, to_ns);
}
void bins_add_path(struct bins *bins, uint32_t location, int64_t from_ns, int64_t to_ns);
size_t bins_row(const struct bins *bins, uint32_t location);
/* What most of the time in those columns is, waits first where they are a quarter; OUTSIDE:
 * nothing. */
enum activity bins_main(const struct bins *bins, size_t row, size_t from, size_t to);
/* The row that the path is in for most of those columns' time; SIZE_MAX: none. */
size_t bins_path(const struct bins *bins, size_t from, size_t to);
/*
 * Where the path changes rows far more often than there are columns a line through them is a smear:
 * it would go through a tenth of all rows from column to column, or most of the path's time is in
 * no column's main row. Its share of each cell is shown instead, by level.
 */
bool bins_path_spreads(const struct bins *bins);
enum { PATH_LEVELS = 5 };	/* of the columns' time: less than 1/256, 1/16, 1/4, 1/2; more */
unsigned bins_path_level(const struct bins *bins, size_t row, size_t rows, size_t from, size_t to);

/* Who sent how much to whom; ranks in groups where they are many. */
struct matrix {
	size_t side;
	int32_t ranks;
	uint64_t *messages, *bytes;	/* by group of the sender, of the receiver */
};

/* beside.c: another run's timeline. */
struct beside {
	const char *own, *file;		/* the streams */
	int64_t axis_ns;		/* of the longer run */
	int height;			/* of the other's picture */
	char *svg;			/* NULL: there is none */
};

struct page {
	struct observer observer;	/* first: the engine of lp-imbalance knows no more of it */
	struct imbalance im;
	const char *file;		/* of the graph, for messages and the title */
	size_t budget;			/* bytes of the page */
	struct bins bins;
	struct pool events, computations, pieces;
	struct pool messages;		/* of the receiver, from send to receipt */
	struct matrix matrix;
	struct segments path;		/* those of one message */
	struct places places;		/* of the path */
	int64_t (*path_ns)[PIECES];	/* by rank */
	int64_t *path_site_ns;		/* by site */
	size_t path_sites;
	int64_t path_all_ns[PIECES];
	uint64_t segments;
	struct function_times functions;	/* of the path, by samples */
	struct site_gain *gains;
	size_t gain_count, gain_capacity;
	struct beside beside;
	int percent;			/* of the gains */
	struct verdict verdict;
	const struct times *ideal;	/* or NULL */
	struct monitor monitor;		/* of the replay */
	const struct times *runs;	/* to compare with, this one first; count 0: none */
	size_t run_count;
};

/* collect.c: reads the graph or path stream FILE, or the one that FD yields where that is not
 * -1. */
void page_read(struct page *page, const char *file, int fd, size_t budget);
int64_t path_length_ns(const struct page *page);	/* what shares are of: without the start */
const char *site_label(const struct page *page, size_t site, char *text, size_t size);

/* figures.c: pictures as svg elements, text alternatives included. */
struct figure {
	const char *name, *title;
	void (*draw)(struct text *out, const struct page *page);
	bool (*has)(const struct page *page);	/* there is something to show */
	bool wide;				/* it has an axis of time */
};
extern const struct figure figures[];
extern const size_t figure_count;
/* columns.c: the timeline as CSV. */
void columns_write(struct text *out, const struct page *page);
/* What the colours of the timeline mean: classes and names, the path last. */
void timeline_colours(const struct page *page, const char *classes[ACTIVITIES + 1],
    const char *names[ACTIVITIES + 1]);
void figure_file(struct text *out, const struct page *page, const struct figure *figure);

/* page.c */
void page_write(struct text *out, struct page *page);
void verdict_write(struct text *out, const struct page *page, bool as_json);
/* tables.c: all tables of the page. */
void tables_write(struct text *out, const struct page *page);
/* data.c: what the script draws from, as JSON. */
void data_write(struct text *out, struct page *page, size_t events);

#endif
