/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interfaces between the files of lp-compare.
 *
 * A run is read once and becomes a summary (summarise.c): its path, waits and calls by call site,
 * rank and phase. Summaries are small streams (summary.c). align.c matches the sites of all runs to
 * units: a unit is a site, or stands for one, and has a value in each run. change.c computes
 * differences of means, exact to the nanosecond, and tests.
 */
#ifndef COMPARE_H
#define COMPARE_H

#include "../base/run/thread_lanes.h"
#include "../base/run/segments.h"
#include "../base/waits/waits.h"
#include "../base/statistics/statistics.h"
#include "../base/tool/fields.h"

/* ---- one run ---------------------------------------------------------------------------- */

enum form { TEXT, JSON, CSV, STREAM };

/*
 * Computation and communication are tested separately: where ranks wait for each other, computation
 * has far less noise.
 */
enum { COMPUTING, COMMUNICATION, PARTS };
/* A visit of the path to a site lasts until the path computes again or reaches another site. */
enum { POSITIONS = 64 };

/* What computation was: on a core, then off it by reason. */
enum { ON_CORE, OFF_CORE, CORE_PARTS = OFF_CORE + OFF_REASONS };

struct site_sums {			/* a call site of one run */
	const char *function, *file, *call;	/* function: with callers if stacks are known */
	int32_t line;			/* 0: unknown; then ORDER distinguishes sites */
	uint64_t order;			/* line, or offset in the module */
	int64_t path_ns[KINDS];
	int64_t core_ns[CORE_PARTS];	/* of path_ns[COMPUTE], if switches are known */
	int32_t *rank;			/* the ranks with most of the path, at most LISTED_RANKS */
	int64_t *rank_ns;		/* path of each, without the start */
	uint32_t rank_count;
	/* over all ranks: the computation before it and the useful MPI time in it */
	int64_t total_ns;
	int64_t wait_ns, delay_ns;	/* waits in it; waits elsewhere that it caused */
	uint64_t visits;		/* of the path; 0: also if unknown */
	uint64_t position_visits;	/* visits per position, a power of 2 */
	int64_t *position_ns[PARTS];	/* path time of successive visits; NULL: no visit */
	uint64_t calls, sent_bytes, received_bytes;
	uint32_t comm;			/* of its first call */
	int32_t comm_size;
	uint8_t polls;			/* 1: the number of calls is random */
	uint32_t unit;			/* align.c */
};

/* Parts of the path with names, matched by these: functions.c. */
enum { FUNCTIONS, SECTIONS, LISTS };
/* The sections of --by, and NO_SECTIONS. */
enum { BY_STEPS, BY_REGIONS, NO_SECTIONS = -1 };
extern const char *const section_kinds[];

struct summary {
	const char *file;
	int side;
	uint64_t number;		/* among the side's files, from 1 */
	uint64_t first_number;		/* of the run that this one repeats; 0: none */
	char *program;
	int32_t ranks;
	int64_t run_ns;
	struct efficiency of;
	int64_t wait_ns[STATES];
	uint64_t messages, collectives, communicators;
	char *hosts;			/* "name*ranks ...", sorted by name; NULL: unknown */
	char *load;			/* if ranks had too few cores: a sentence; else NULL */
	double preempted;		/* share of its threads' time: headline.h */
	struct variable *environment;	/* NULL: unknown */
	size_t variable_count, variable_capacity;
	int64_t date_s;			/* 0: unknown */
	char date[40];			/* "-": unknown */
	struct site_sums *places;		/* [0]: everything without a site */
	size_t count, capacity;
	struct named_times {
		struct function_times times;
		const struct function_time **by_name;	/* functions.c, indexed as by_unit */
	} lists[LISTS];
	uint64_t steps;
	const struct site_sums **by_unit;	/* align.c; NULL: this run lacks the unit */
	/* disturbed.c: by unit, without what delayed single visits */
	int64_t *undisturbed_ns[PARTS];
	int64_t held_up_ns;		/* time beyond what other runs of both sides take */
	double held_up;			/* the same as a share */
	bool disturbed, left_out;	/* left_out: of the tests */
	/* align.c: by unit, then after the last synchronisation point */
	int64_t *phase_unit_ns;
	int64_t *rank_ns;		/* path by rank */
	/* all computation by rank, CORE_PARTS each; NULL: no switches are known */
	int64_t *rank_core_ns;
	/* [0]: after the last synchronisation point; then by the place that ends a stretch */
	int64_t *phase_ns;
};

static inline size_t
positions_of(const struct site_sums *p)		/* number of positions in use */
{
	return p->visits > 0 ? (size_t)((p->visits - 1) / p->position_visits + 1) : 0;
}

static inline int64_t
path_of(const struct site_sums *p)
{
	return p->path_ns[COMPUTE] + p->path_ns[MPI] + p->path_ns[TRANSFER] + p->path_ns[START];
}

/*
 * Writes the summary of FILE to OUT as a stream, after lp-critpath if FILE has no path. For use in
 * a process of its own.
 */
void summarise(const char *file, int by, int argc, char **argv);
/* Reads a summary from FILE, or has another process summarise FILE. */
void summary_read(struct summary *summary, const char *file, int by);
void summary_write(const struct summary *summary, struct reader *in, int by, int argc, char **argv);

/* ---- both sides ------------------------------------------------------------------------- */

enum { A, B, SIDES };

/* A site's name in output. */
struct place_names {
	const char *function, *file, *call;	/* NULL: unknown */
	const char *text;		/* "call at function (file:line)" */
	int32_t line;			/* 0: unknown */
};
/* Its fields in a line that has it as PLACE. */
#define PLACE_FIELDS(type) \
	{ "function", FIELD(type, place.function), IN_DATA }, \
	{ "file", FIELD(type, place.file), IN_DATA }, \
	{ "line", FIELD(type, place.line), .csv = PLAIN }, \
	{ "line", FIELD(type, place.line), .json = PLAIN, .known = UNLESS_ZERO }, \
	{ "call", FIELD(type, place.call), IN_DATA }

struct unit {
	struct place_names place;
	const struct site_sums *first;	/* as in the first run that has it */
	/* the same for each side; NULL: the side lacks it */
	const struct site_sums *on[SIDES];
};

struct comparison {
	struct summary *all;		/* all runs of A, then all of B */
	size_t run_count;
	struct summary *runs[SIDES];	/* of each side, among them */
	size_t count[SIDES];
	struct unit *units;
	size_t unit_count, unit_capacity;
	/* disturbed.c: both sides in order of run time, without disturbed runs */
	struct summary **tested;
	size_t tested_count;
	struct relabelling ways;
	struct summary *repeated;	/* no longer among all */
	size_t repeated_count;
};

/* disturbed.c */
/* A run that was given before: it is one measurement, and counts once. */
void leave_out_repeated(struct comparison *c);
/* Chooses the runs that the tests leave out, and removes disturbances from the others. */
void find_disturbed(struct comparison *c);

void align(struct comparison *c);

/* ---- changes ---------------------------------------------------------------------------- */

/* The change of one quantity from A to B; the interval exists only with enough runs. */
struct change {
	double a, b;			/* means, in ns where it is time */
	/* times only: rounded so that parts add up to their whole */
	int64_t change_ns;
	bool judged;			/* enough runs for the interval and p */
	double shift, low, high;	/* of the runs tested, 95 %; NaN unless judged, as is p */
	double p, p_adjusted;
};

/* A number of a run, by index, and a function that returns one. */
#define VALUE(name) int64_t (*name)(const struct summary *run, size_t index)
#define VALUE_IS(name, value) \
	int64_t name(const struct summary *run, size_t index) \
	{ \
		(void)index; \
		return value; \
	}
#define VALUE_OF_UNIT(name, member) \
	VALUE_IS(name, run->by_unit[index] != NULL ? (int64_t)run->by_unit[index]->member : 0)

/* Probability of a type I error: of one test, and of all sites together. */
#define LEVEL 0.05
/* A change by a smaller share of the run time is negligible, however significant. */
#define WORTH 1e-3

/* Whether there are enough runs for a statement of chance. */
bool can_judge(size_t a, size_t b);
void change_of(const struct comparison *c, VALUE(of), size_t index, struct change *change);
/* Changes of COUNT parts, numbered from FIRST, that add up to WHOLE_NS exactly. */
void apportion(const struct comparison *c, VALUE(of), size_t first, size_t count, int64_t whole_ns,
    int64_t *parts_ns);
int64_t mean_ns(const struct comparison *c, int side, VALUE(of), size_t index);	/* rounded */
int64_t difference(const struct comparison *c, VALUE(of), size_t index);	/* B minus A */
/* One of several quantities whose p are adjusted together. */
struct quantity {
	VALUE(of);
	size_t index;
	struct change change;
	double detectable;		/* the change found 4 times in 5; NaN: none */
};
void test_all(const struct comparison *c, struct quantity *tests, size_t count);

/* Computation on the path or of a rank, divided by reason. The parts add up to the whole. */
struct core_change {
	struct core_part { int64_t a_ns, b_ns, change_ns; } whole, part[CORE_PARTS];
};

struct site_change {
	struct place_names place;
	struct change path, total;
	struct core_change core;		/* of its computation on the path, if known */
	/* of its time on the path, the part with the most significant tests */
	int part;
	struct change surest;			/* of that part, whole or without disturbances */
	double detectable;	/* change of that, ns, found 4 times in 5; NaN: none */
	int64_t kinds_ns[KINDS], wait_ns, delay_ns;
	bool named;
	size_t unit;
	/* For output: */
	const char *on;				/* the sides that have it */
	int32_t rank, line_b;			/* -1: no single rank; 0: the same line */
};

struct verdict {
	struct change run_time;
	double run_spread[SIDES], run_detectable;	/* ns */
	struct site_change *sites;		/* by unit */
	/* phases: by unit, then after the last synchronisation point */
	int64_t *ranks_ns, *phases_ns;
	int64_t all_kinds_ns[KINDS];
	size_t ranks;
	/* reasons.c: why computation changed; NULL: both are known, of the path and by rank */
	const char *core_unknown;
	struct core_change core;
	struct rank_change { size_t rank; struct core_change core; } *rank_cores;
	struct fact *facts;
	size_t fact_count, fact_capacity;
	/* largest first; no functions unless all runs were sampled, no sections without --by */
	struct named_changes {
		struct function_change *at;
		size_t count;
	} lists[LISTS];
	struct limit *limits;
	size_t limit_count, limit_capacity;
	char text[2048];
};

/*
 * verdict.c: the rank with most of a unit's change on the path, or -1. It is -1 if the time of all
 * ranks in the unit changes by more than 1.5 times the change of the path. Then all ranks take
 * longer, and it is random which of them is on the path.
 */
enum { LISTED_RANKS = 64 };
int32_t rank_of_change(const struct comparison *c, const struct verdict *v, size_t unit);

/* reasons.c */
void judge_reasons(const struct comparison *c, struct verdict *v);
/* ", +0.31 s: 0.30 s of it blocked", of the computation of a site; free() it. */
char *reason_text(const struct comparison *c, const struct verdict *v, size_t unit);
void print_reasons(struct text *text, const struct comparison *c, const struct verdict *v,
    const struct site_change *sites, size_t shown);
/* Members "computation" of a site; of the run, with its ranks. */
void put_site_reasons(struct json *out, const struct verdict *v, const struct site_change *site);
void put_reasons(struct json *out, const struct verdict *v);

struct function_change {
	const char *name, *file;
	const char *text;		/* both sides */
	struct change path;
	int64_t all_change_ns;		/* of all time, on the path or not */
	bool named;
};

struct limit {
	const char *typed, *name, *unit;	/* the whole argument; unit: s, % or none */
	const char *site;		/* of the sites that match NAME, or NULL */
	double limit, value, low, high;	/* NaN: unknown */
	bool relative, is_share;	/* of A's run time; without a unit */
	bool judged, exceeded;
	char text[512];
};

struct fact {
	/* ranks, program, hosts, library, environment, site, calls, bytes_sent, ... */
	const char *what;
	uint32_t unit;			/* NOBODY: of the whole run */
	double a, b;			/* NaN: only in words */
	const char *name;		/* of a variable, or NULL */
	char text[512];
};

void find_facts(const struct comparison *c, struct verdict *v);	/* facts.c */
void judge(const struct comparison *c, struct verdict *v);		/* change.c */
void say_verdict(const struct comparison *c, struct verdict *v);	/* verdict.c */
/*
 * Whether it takes enough of the run time to be tested; whether its change, with p adjusted, is
 * significant and not negligible.
 */
bool is_tested(const struct verdict *v, const struct change *path);
bool is_named(const struct verdict *v, const struct change *change);
double share_of(const struct verdict *v, double ns);	/* of A's run time, in per cent */
struct weighed {
	double weight;
	size_t unit;
};
/* functions.c */
/* at the end of reading: time other than computation */
void add_other_functions(struct summary *summary);
void judge_lists(const struct comparison *c, struct verdict *v);
void print_list(struct text *text, const struct named_changes *list, const struct field *fields,
    const char *what, size_t shown);
void print_steps(struct text *text, const struct comparison *c, const struct named_changes *list);
/*
 * limit.c: adds a result for each limit and prints each that is exceeded or cannot be judged.
 * Returns whether any is exceeded.
 */
bool judge_limits(const struct comparison *c, struct verdict *v, const char **limits, size_t count);
void write_junit(const struct verdict *v, const char *name);

/* change.c: path of a unit, all kinds; values of a run by wait state. */
int64_t unit_path(const struct summary *run, size_t unit);
int64_t unit_part(const struct summary *run, size_t unit, size_t part);
int64_t state_wait(const struct summary *run, size_t state);

/* print.c */
extern const struct field place_fields[];	/* of a struct unit */
void print_more(struct text *text, size_t count, size_t shown);	/* "(3 more; ...)" */
void print_comparison(struct text *text, const struct comparison *c, const struct verdict *v,
    enum form form, bool all, int by);
void print_stream(const struct comparison *c, const struct verdict *v, int argc, char **argv);
/* Runs that are all on one side: scaling.c. */
void print_history(struct text *text, struct comparison *c, enum form form, bool all);
void print_scaling_sites(struct text *text, struct comparison *c, bool weak, enum form form,
    bool all);

#endif
