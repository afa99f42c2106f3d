/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What lp-report collects in one pass, and how it shows it.
 *
 * The timeline has two layers. BINS: a grid of rows (locations, or groups of them) and columns of
 * time, with the time of each activity per cell. EVENTS: the longest calls, waits and segments of
 * the path one by one. Events too short to be kept are visible only at high zoom, where the bins
 * show them. So memory and page depend on the budget, not on the run.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "../base/path/report.h"
#include "../base/run/places.h"
#include "../base/run/span.h"
#include "../base/tool/json.h"
#include "../base/tool/text.h"
#include "../base/waits/functions.h"
#include "../base/waits/poles.h"

/* Transfer efficiency as seen by lp-replay --monitor, and its phases, in columns of time. */

enum { MONITOR_COLUMNS = 448 };

struct monitored {		/* one rank */
	int32_t rank;
	/* last end of a pair in the column; 0: none */
	int64_t recorded_ns[MONITOR_COLUMNS];
	int64_t simulated_ns[MONITOR_COLUMNS];	/* the same in the replay */
};

struct phase {
	int32_t rank;
	int64_t begin_ns, end_ns;
	double efficiency, computing;
};

struct monitor {
	int64_t run_ns;		/* as recorded */
	struct monitored *ranks;
	size_t count, capacity;
	struct phase *phases;
	size_t phase_count, phase_capacity;
};

/* Reads a replay's stream, which may lack this. */
void monitor_read(struct monitor *monitor, const char *file, int64_t run_ns);

/* What a colour means: its class in figure.css, and its name in legends. */
struct colour {
	const char *class, *name;
};

/*
 * Activities, as colours; waits are grouped into the classes below. The colour behind them is the
 * path's; the next is its name where cells show how much of it they contain.
 */
enum activity { OUTSIDE, COMPUTING, IN_MPI, WAIT_MESSAGE, WAIT_RECEIVER, WAIT_COLLECTIVE,
    WAIT_SETUP, WAIT_RMA, COMPUTE_BLOCKED, COMPUTE_PREEMPTED, ACTIVITIES,
    WAITS_END = COMPUTE_BLOCKED, ON_PATH = ACTIVITIES, PATH_SHARES, COLOURS };
extern const struct colour colours[COLOURS];
enum activity activity_of(enum state state);

struct event {
	int64_t begin_ns, end_ns;
	uint32_t location, site;
	/* rank waited for, -1: none; of a message its sender's location */
	int32_t partner;
	uint16_t call;
	uint16_t what;	/* state of a wait, or one of these; of the path enum segment_kind */
};
/* The last is the computation before a call; those before it are parts of computations. */
enum { A_CALL = STATES, A_BLOCKED, A_PREEMPTED, A_COMPUTATION };

/* The longest events. */
struct pool {
	struct event *at;
	size_t count, capacity, most;
	int64_t least_ns;	/* shorter ones are dropped */
	bool dropped;		/* some were */
};
void pool_keep(struct pool *pool, const struct event *event);
static inline bool
pool_wants(const struct pool *pool, int64_t begin_ns, int64_t end_ns)
{
	return !pool->dropped || end_ns - begin_ns >= pool->least_ns;
}
/* Reduces the pool to MOST events, in order of location and time. */
void pool_sort(struct pool *pool, size_t most);

/* Items in groups of about equal size: the group of one, and the first one of a group. */
static inline size_t
group_of(int64_t items, size_t groups, int64_t item)
{
	return (size_t)(item * (int64_t)groups / items);
}
static inline int64_t
group_first(int64_t items, size_t groups, size_t group)
{
	return ((int64_t)group * items + (int64_t)groups - 1) / (int64_t)groups;
}

enum { LAYERS = ON_PATH + 1 };		/* of a cell: its activities and the path */
struct bins {
	size_t rows, columns;
	int64_t run_ns;
	uint32_t locations;
	int64_t *edge_ns;	/* by column: its first instant; after the last INT64_MAX */
	struct spot {
		uint32_t row, column;	/* its own row, and the column used last */
		int64_t begin_ns, end_ns;	/* of that column */
		float *cell;		/* layers of that cell, in ns */
	} *at;			/* by location */
	float *ns;		/* by row, column, layer */
};
void bins_begin(struct bins *bins, uint32_t locations, int64_t run_ns, size_t cells);
void bins_spread(struct bins *bins, uint32_t location, enum activity activity, int64_t from_ns,
    int64_t to_ns);
/* Calls of a location arrive in order, and most fall into the column used last. */
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
/* The row with most of the path in EACH columns from FROM on; SIZE_MAX: none. */
size_t bins_path(const struct bins *bins, size_t from, size_t each);
/*
 * Whether a line along the path would be a smear, as the path changes rows much more often than
 * there are columns: the line would cross a tenth of all rows from column to column, or most path
 * time is outside the columns' main rows. Then the picture shows the path's share of each cell, by
 * level.
 */
bool bins_path_spreads(const struct bins *bins);
enum { PATH_LEVELS = 5 };	/* share of a column's time: below 1/256, 1/16, 1/4, 1/2; above */
/*
 * For cells of EACH_ROW rows and EACH_COLUMN columns: the level of the path, or the main activity
 * of the first row, as an average would show what no rank did. USED gets a bit for each value.
 * free() them.
 */
unsigned char *bins_cells(const struct bins *bins, size_t each_row, size_t each_column,
    bool of_path, unsigned *used);

/* Bytes and messages by sender and receiver; many ranks are grouped. */
struct matrix {
	size_t side;
	int32_t ranks;
	uint64_t *messages, *bytes;	/* by group of the sender and of the receiver */
};

/* by.c: the path by step or region; the first part is none of these. */
struct run_parts {
	const char *what;		/* "step" or "region" */
	struct run_part {
		char *name, *where, *slow;	/* of its loop, or its own; "" or NULL: unknown */
		double number;		/* of a step, or of instances; NaN: none */
		double path_s, compute_s, blocked_s, preempted_s, mpi_s, transfer_s, rank;
	} *at;
	size_t count, capacity;
};

/* names.c: what is computed over time, by the functions of samples and by regions. */
enum naming { BY_FUNCTIONS, BY_REGIONS, NAMINGS };
enum { MOST_THREADS = 256 };		/* that make no calls */
struct named {
	struct named_row {		/* of the bins; then of a thread without calls */
		uint32_t location, worker;
		struct name_cell {
			uint32_t name;	/* site or region */
			float ns;	/* that it leads; 0: there is none */
		} *cells[NAMINGS];	/* by column, or NULL */
		float *ns;		/* of a thread: by column and activity */
		bool switched;
		int64_t until_ns;	/* its switches are known so far */
		struct open_names {
			uint32_t *at;	/* regions, the outermost first */
			size_t depth, room;
			int64_t since_ns;
		} open;			/* of a thread */
	} *at;
	size_t count, capacity;
	struct open_names *open;	/* by location */
	size_t open_count;
	struct samples block;		/* as read */
	bool any[NAMINGS], dropped;
};

/* beside.c: another run's timeline. */
struct beside {
	const char *file;		/* the stream */
	int64_t axis_ns;		/* of the longer run */
	int height;			/* of the other's picture */
	char *svg;			/* NULL: there is none */
};

struct page {
	struct observer observer;	/* must be first: lp-imbalance's engine knows only this */
	struct imbalance im;
	const char *file;		/* of the graph, for titles */
	size_t budget;			/* bytes of the page */
	struct bins bins;
	struct pool events, computations, pieces;
	struct event *off;		/* parts of the next computation off its core */
	size_t off_count, off_capacity;
	struct pool messages;		/* on the receiver's row, from send to receipt */
	struct matrix matrix;
	struct segments segments;	/* of one message */
	/* MPI_Init and MPI_Finalize count as start; shares leave the start out. */
	struct report path;
	struct share path_told, *path_ranks;	/* of all, and by rank */
	struct function_times functions;	/* of the path, from samples */
	struct named named;
	struct run_parts parts;
	struct site_gain *gains;
	struct balance *balances;
	size_t balance_count, balance_capacity;
	size_t gain_count, gain_capacity;
	struct beside beside;
	int percent;			/* of the gains */
	struct verdict verdict;
	const struct times *ideal;	/* or NULL */
	struct monitor monitor;		/* of the replay */
	struct times *runs;		/* to compare with, the smallest first; count 0: none */
	size_t run_count, run_capacity;
};

/* collect.c: reads a path stream, or a graph, which gets its path, and gains if PERCENT > 0. */
void page_read(struct page *page, const char *file, int percent, size_t budget);
double path_share(const struct page *page, int64_t ns);
enum { LABEL = 1024 };		/* bytes of a place in the program */
const char *site_label(const struct page *page, size_t site, char text[LABEL]);

/* Has lp-critpath divide FILE; a later reader begins anew. */
void by_read(struct run_parts *parts, const char *what, const char *file);
bool has_steps(const struct page *page);
bool has_regions(const struct page *page);
void draw_by_steps(struct text *out, const struct page *page);
void draw_by_regions(struct text *out, const struct page *page);
void put_slow(struct text *out, const struct page *page);

/* Samples, switches or regions. */
void names_take(struct page *page, const struct message *message);
void names_write(struct json *out, const struct page *page);

/* figures.c: pictures as svg elements, including text alternatives. */
struct figure {
	const char *name, *title;
	void (*draw)(struct text *out, const struct page *page);
	bool (*has)(const struct page *page);	/* is there something to show? NULL: always */
	bool wide;				/* it has a time axis */
};
enum { TIMELINE_FIGURE, BESIDE_FIGURE };	/* the first in the list */
extern const struct figure figures[];
extern const size_t figure_count;
/* timeline.c: the timeline as CSV. */
void columns_write(struct text *out, const struct page *page);
void figure_file(struct text *out, const struct page *page, const struct figure *figure);

/* page.c */
void page_write(struct text *out, struct page *page);
/* tables.c: all tables of the page. */
void tables_write(struct text *out, const struct page *page);
/* data.c: the script's data, as JSON. */
void data_write(struct text *out, struct page *page, size_t events);

/* Parts of SVG pictures. Colours are classes of figure.css, so that a page can be dark. */

/*
 * Widths of a chart, for a narrow screen or a column of a paper, and of a time axis; margins; the
 * columns that can be told apart on a time axis.
 */
enum { WIDTH = 480, WIDE = 800, LEFT = 64, RIGHT = 16, TOP = 44, SHOWN_COLUMNS = 440 };

/* Opens the element with a title and a description for screen readers. */
void draw_begin(struct text *out, const char *id, int width, int height, const char *title,
    const char *description);
void draw_end(struct text *out);
/* ANCHOR: start, middle or end. */
void draw_label(struct text *out, double x, double y, const char *anchor, const char *label);
/* Cuts NAME to MOST bytes if it is longer; TEXT has MOST + 4. */
const char *cut_label(const char *name, size_t most, char *text);
void draw_box(struct text *out, const char *class, double x, double y, double width, double height,
    const char *tip);
/* figures.c: row I of bars from the left: its name above, cut to fit, and its number behind. */
void draw_row(struct text *out, int i, const char *class, const char *name, double share,
    double full, const char *number);
void draw_line(struct text *out, const char *class, double x1, double y1, double x2, double y2);
/* A horizontal line at Y through the plot, with its label at the left. */
void draw_mark(struct text *out, int width, double y, const char *label);

/* timeline.c: a run's rows on an axis of that length. */
int lanes_height(const struct page *page);
void draw_lanes(struct text *out, const struct page *page, const char *id, const char *title,
    int64_t axis_ns);
/* beside.c */
void beside_read(struct beside *beside, const char *own, const char *other, size_t budget);
void draw_beside(struct text *out, const struct page *page);

/* A legend in two rows at the top; bit i of WANTED selects entry i. */
void draw_legend(struct text *out, int width, const struct colour *shown, size_t count,
    unsigned wanted);

/* A step of 1, 2 or 5 times a power of ten that divides MOST into at most COUNT parts. */
double nice_step(double most, int count);
/* "1.5 s", "20 ms", "3 us": in the unit that fits LARGEST. */
void time_label(double s, double largest_s, char *text, size_t size);
/* The time axis below a wide plot, from 0 to RUN_S. */
void draw_time_axis(struct text *out, double run_s, double top, double bottom);
/* Label every n-th of marks that are EACH apart, so that labels as long as LONGEST fit. */
size_t label_step(double each, const char *longest);
/* "0", "16-31", ... for ranks in groups. */
void group_label(int32_t ranks, size_t groups, size_t group, char *text, size_t size);

/* timeline.c: the picture of one run; monitor.c. */
void draw_timeline(struct text *out, const struct page *page);
void draw_monitor(struct text *out, const struct page *page);

#endif
