/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of lp-compare share.
 *
 * A run is read once and becomes a summary (summarise.c): what its path, its waits and its calls
 * make up by call site, rank and phase. Summaries are small streams (summary.c). Those of both
 * sides get their sites aligned (align.c), so that they have rows of numbers: a unit is a site, or
 * what stands for one, with a value of each run. Differences of means, exact to the nanosecond, and
 * tests are in change.c.
 */
#ifndef COMPARE_H
#define COMPARE_H

#include "../base/run/sampled_path.h"
#include "../base/run/segments.h"
#include "../base/waits/waits.h"
#include "../base/statistics/statistics.h"
#include "../base/tool/fields.h"

/* X(KIND, name): kinds of segments of a path, as in lp-trace(5). */
#define PATH_KINDS(X) X(COMPUTE, "compute") X(MPI, "mpi") X(TRANSFER, "transfer") X(START, "start")
enum path_kind {
#define X(KIND, name) PATH_##KIND,
	PATH_KINDS(X)
#undef X
	PATH_KINDS_COUNT
};
extern const char *const path_kind_names[PATH_KINDS_COUNT];

/* ---- one run ---------------------------------------------------------------------------- */

enum form { TEXT, JSON, CSV, STREAM };

/*
 * The tests look at computing and at communication apart: where ranks wait for each other the one
 * is far quieter than the other.
 */
enum { COMPUTING, COMMUNICATION, PARTS };
/* A visit of the path to a site lasts until it computes anew or is elsewhere. */
enum { POSITIONS = 64 };

struct site_sums {			/* a call site of one run */
	char *function, *file, *call;	/* function: with the callers where stacks are known */
	int32_t line;			/* 0: not known; ORDER then tells them apart */
	uint64_t order;			/* line, or offset in the module */
	int64_t path_ns[PATH_KINDS_COUNT];
	int32_t *rank;			/* those with most of the path, so many at most */
	int64_t *rank_ns;		/* of each, less its start */
	uint32_t rank_count;
	int64_t total_ns;		/* of all ranks: compute up to it and useful MPI in it */
	int64_t wait_ns, delay_ns;	/* waits in it; waits of others that it caused */
	uint64_t visits;		/* of the path; 0: not known either */
	uint64_t position_visits;	/* that a position holds, a power of 2 */
	int64_t *position_ns[PARTS];	/* the path of successive visits; NULL: no visit */
	uint64_t calls, sent_bytes, received_bytes;
	uint32_t comm;			/* of its first call */
	int32_t comm_size;
	bool polls;			/* how often it is called is chance */
	uint32_t unit;			/* align.c */
};

struct summary {
	const char *file;
	int side;			/* disturbed.c */
	char *program;
	int32_t ranks;
	int64_t run_ns;
	struct efficiency of;
	int64_t wait_ns[STATES];
	uint64_t messages, collectives, communicators;
	char *hosts;			/* "name*ranks ...", in order of name; NULL: not known */
	char *load;			/* where ranks had too few cores: a sentence; else NULL */
	double preempted;		/* share of its threads' time: load.h */
	struct variable *environment;	/* NULL: not known */
	size_t variable_count, variable_capacity;
	int64_t date_s;			/* 0: not known */
	char date[40];			/* "-": not known */
	struct site_sums *places;		/* [0]: what has no site */
	size_t count, capacity;
	struct function_times functions;
	const struct function_time **by_function;	/* functions.c, as by_unit */
	const struct site_sums **by_unit;	/* align.c; NULL: it has none of it */
	int64_t *undisturbed_ns[PARTS];	/* disturbed.c: by unit, less what held up single visits */
	int64_t held_up_ns;		/* more than other runs of both sides take */
	/* change.c: by unit, then behind the last synchronisation point */
	int64_t *phase_unit_ns;
	int64_t *rank_ns;		/* by rank: of the path */
	/* by place that ended a stretch; [count]: behind the last */
	int64_t *phase_ns;
};

static inline size_t
positions_of(const struct site_sums *p)		/* that are in use */
{
	return p->visits > 0 ? (size_t)((p->visits - 1) / p->position_visits + 1) : 0;
}

/* Runs lp-critpath on FILE unless it has a path. Into OUT as a stream, in a process of its own. */
void summarise(const char *file, int argc, char **argv);
/* A summary that is written, or FILE summarised by another process. */
void summary_read(struct summary *summary, const char *file);
void summary_write(const struct summary *summary, struct reader *in, int argc, char **argv);

/* ---- both sides ------------------------------------------------------------------------- */

enum { A, B, SIDES };

/* A site's name in output. */
struct place_names {
	const char *function, *file, *call;	/* NULL: not known */
	const char *text;		/* "call at function (file:line)" */
	int32_t line;			/* 0: not known */
};
/* Its fields in a row that has it as PLACE. */
#define PLACE_FIELDS(type) \
	{ "function", FIELD(type, place.function), IN_DATA }, { "file", FIELD(type, place.file), \
	    IN_DATA }, \
	{ "line", FIELD(type, place.line), .csv = PLAIN }, \
	{ "line", FIELD(type, place.line), .json = PLAIN, .known = UNLESS_ZERO }, \
	{ "call", FIELD(type, place.call), IN_DATA }

struct unit {
	struct place_names place;
	const struct site_sums *first;	/* as the first run that has it tells it */
	const struct summary *of;
	const struct site_sums *on[SIDES];	/* the same of each side; NULL: it has none of it */
};

struct comparison {
	struct summary *runs[SIDES];
	size_t count[SIDES];
	struct unit *units;
	size_t unit_count, unit_capacity;
	/* disturbed.c: both sides in order of run time, less disturbed runs */
	struct summary **tested;
	bool *is_b;
	size_t tested_count;
	struct disturbed *disturbed;
	size_t disturbed_count;
	struct relabelling ways;
};

struct disturbed {
	int side;
	uint64_t run;			/* as given, from 1 */
	const char *file;
	double held_up, preempted;	/* shares of its time */
	bool left_out;
};
/* Which runs the tests leave out, and what of the others. */
void find_disturbed(struct comparison *c);

void align(struct comparison *c);

/* ---- changes ---------------------------------------------------------------------------- */

/* Of one quantity from A to B; an interval only where the runs are enough for one. */
struct change {
	double a, b;			/* means, in ns where it is time */
	/* of times: apportioned, so that parts make up their whole */
	int64_t change_ns;
	bool judged;			/* enough runs for the interval and p */
	double shift, low, high;	/* of the runs tested, 95 %; NaN unless judged, as p */
	double p, p_adjusted;
};

/* One number of a run, by index; and a function for it. */
#define VALUE(name) int64_t (*name)(const struct summary *run, size_t index)
#define VALUE_IS(name, value) \
	int64_t name(const struct summary *run, size_t index) \
	{ \
		(void)index; \
		return value; \
	}
#define VALUE_OF_UNIT(name, member) \
	VALUE_IS(name, run->by_unit[index] != NULL ? (int64_t)run->by_unit[index]->member : 0)

/* Errors of the first kind that are put up with: of a test, and of all sites' together. */
#define LEVEL 0.05
/* A change by less of the run time is not worth a name, however sure. */
#define WORTH 1e-3

/* Are there enough runs for a statement of chance at all? */
bool can_judge(size_t a, size_t b);
void change_of(const struct comparison *c, VALUE(of), size_t index, struct change *change);
/* Changes of COUNT parts of the run time that add up to WHOLE_NS, to the nanosecond. */
void apportion(const struct comparison *c, VALUE(of), size_t count, int64_t whole_ns,
    int64_t *parts_ns);
int64_t mean_ns(const struct comparison *c, int side, VALUE(of), size_t index);	/* rounded */
int64_t difference(const struct comparison *c, VALUE(of), size_t index);	/* B less A */
/* Of several whose p are adjusted together. */
struct quantity {
	VALUE(of);
	size_t index;
	struct change change;
	double detectable;		/* a change that is found 4 times in 5; NaN: none is */
};
void test_all(const struct comparison *c, struct quantity *tests, size_t count);

struct site_change {
	struct place_names place;
	struct change path, total;
	/* of its time on the path, of which tests are surest */
	int part;
	struct change surest;			/* of that part, or of it undisturbed */
	double detectable;			/* of that, ns; NaN: none is */
	int64_t kinds_ns[PATH_KINDS_COUNT], wait_ns, delay_ns;
	bool named;
	size_t unit;
	/* Of the output: */
	const char *on;				/* the sides that have it */
	int32_t rank, line_b;			/* -1: no single one; 0: the same */
};

struct verdict {
	struct change run_time;
	double run_spread[SIDES], run_detectable;	/* ns */
	struct site_change *sites;		/* by unit */
	int64_t *ranks_ns, *phases_ns;		/* phases: by unit, then behind the last */
	int64_t all_kinds_ns[PATH_KINDS_COUNT];
	size_t ranks;
	struct fact *facts;
	size_t fact_count, fact_capacity;
	struct function_change *functions;	/* largest first; none: not all runs were sampled */
	size_t function_count;
	struct limit *limits;
	size_t limit_count, limit_capacity;
	char text[2048];
};

/*
 * ranks.c: the rank on which most of a unit's change on the path is, or -1. There is one only where
 * what all ranks spend there does not change by more than half as much again as the path does:
 * where all ranks take longer, which of them the path runs through is chance.
 */
enum { LISTED_RANKS = 64 };
int32_t rank_of_change(const struct comparison *c, const struct verdict *v, size_t unit);

struct function_change {
	const char *name, *file;
	char *text;			/* both */
	struct change path;
	int64_t all_change_ns;		/* of all time, on the path or not */
	bool named;
};

struct limit {
	const char *typed, *name, *unit;	/* unit: s, % or none */
	const char *site;		/* of those that NAME fits, or NULL */
	double limit, value, low, high;	/* NaN: not known */
	bool judged, exceeded;
	char text[512];
};

struct fact {
	/* ranks, program, hosts, library, environment, site, calls, bytes_sent, ... */
	const char *what;
	uint32_t unit;			/* NOBODY: of the whole run */
	double a, b;			/* NaN: it is told in words only */
	const char *name;		/* of a variable, or NULL */
	char text[512];
};

void find_facts(const struct comparison *c, struct verdict *v);	/* facts.c */
void judge(const struct comparison *c, struct verdict *v);		/* change.c */
void say_verdict(const struct comparison *c, struct verdict *v);	/* verdict.c */
/* Does it take enough of the run time to be tested? And is the change, with its p adjusted, worth a
 * name? */
bool is_tested(const struct verdict *v, const struct change *path);
bool is_named(const struct verdict *v, const struct change *change);
double share_of(const struct verdict *v, double ns);	/* of A's run time, in per cent */
struct weighed {
	double weight;
	size_t unit;
};
int by_weight(const void *left, const void *right);	/* for qsort: largest first, then by unit */
/* functions.c */
void add_other_functions(struct summary *summary);	/* at the end: what is no computation */
void judge_functions(const struct comparison *c, struct verdict *v);
/* limit.c: adds a result for each limit, and says which are exceeded or cannot be judged: is any
 * exceeded? */
bool judge_limits(const struct comparison *c, struct verdict *v, const char **limits, size_t count);
void write_junit(const struct verdict *v, const char *name);

/* change.c: of a unit all kinds, of a run by wait state. */
int64_t unit_path(const struct summary *run, size_t unit);
int64_t unit_part(const struct summary *run, size_t unit, size_t part);
int64_t state_wait(const struct summary *run, size_t state);

/* print.c */
extern const struct field place_fields[];	/* of a struct unit */
void print_more(struct text *text, size_t count, size_t shown);	/* "(3 more; ...)" */
void print_comparison(const struct comparison *c, const struct verdict *v, enum form form, bool all,
    int argc, char **argv);
/* Runs that are all of one side: history.c, scaling.c. */
void print_history(struct comparison *c, enum form form, bool all);
void print_scaling_sites(struct comparison *c, bool weak, enum form form, bool all);

#endif
