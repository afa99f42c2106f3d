/* SPDX-License-Identifier: BSD-3-Clause */
/* The jobs of lp-measure: each is a function at one size. */
#ifndef JOBS_H
#define JOBS_H

#include "../../base/stream/stream.h"
#include "measure.h"

/*
 * The user's guidelines, from a file: "Gather <= Allgather(in, out, block)". measure.1 has the
 * language. own.c reads the file, evaluate.c its numbers, and program.c makes calls of a right
 * side.
 */

enum {
	OWN_FIRST = 100,	/* number of the file's first guideline */
	OWN_BYTES = 1 << 20,	/* of a file */
	OWN_LINES = 1000,	/* guidelines in a file */
	OWN_STEPS = 64,		/* calls of a right side, as written */
	OWN_CALLS = 1 << 16,	/* and as executed */
	OWN_BUFFERS = 16,	/* in, out and temporary ones */
	OWN_NAME = 64,		/* bytes of a name */
	OWN_DEPTH = 32,		/* depth of parentheses */
	ERROR_BYTES = 256,
};
enum { IN, OUT };		/* numbers of the first two buffers */

/* Variables in numbers. */
enum variable { VOLUME, RANKS, ELEMENTS, RANK, ROOT, TURN, VARIABLES };

/* Position of a parser in the text; the first error is kept. */
struct scanner {
	const char *at;
	size_t line;
	int depth;
	bool same;		/* the number must be the same on all ranks */
	char *error;		/* ERROR_BYTES; empty without an error */
};

void scan_fail(struct scanner *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Skips blanks and comments; a line that begins with a blank continues the previous one. */
void scan_blanks(struct scanner *s);
/* Skips the word if it is here. */
bool scan_word(struct scanner *s, const char *word);
bool scan_need(struct scanner *s, const char *word);
bool scan_name(struct scanner *s, char name[OWN_NAME]);
/* A number; with VALUES NULL it is only skipped. 0 after an error. */
int64_t scan_number(struct scanner *s, const int64_t *values);
int64_t scan_factor(struct scanner *s, const int64_t *values);	/* operand of a product */

/* A number that is evaluated later; AT is NULL if there is none. */
struct number {
	const char *at;
	size_t line;
	bool factor;		/* a factor: a following + begins the next call */
};

struct place {
	int buffer;
	struct number offset;		/* elements */
};

/* A function that a right side may use. */
struct action {
	const char *name;
	void (*run)(const struct call *call);
	enum layout input, output;
	/* exchanges nothing; skipped on ranks without in or out */
	bool local;
};

struct own_step {
	struct action action;
	struct place from, to;
	struct number count, root, turns;
};

struct own {
	const struct subject *function;
	struct own_step steps[OWN_STEPS];
	size_t step_count;
	char buffers[OWN_BUFFERS][OWN_NAME];
	int buffer_count;
	size_t line;
};

struct own_file {
	struct subject *subjects;	/* mock-ups, each with its struct own */
	size_t count;
};

/* On failure ERROR has the reason, with the line. TEXT must outlive the guidelines. */
bool own_parse(const char *text, size_t size, struct own_file *file, char error[ERROR_BYTES]);

/*
 * The calls of the right side, for the function and size of CALL. NULL: ERROR has the reason, the
 * same on all ranks.
 */
struct program *program_make(const struct own *own, const struct call *call,
    char error[ERROR_BYTES]);
uint64_t program_bytes(const struct program *program);	/* of temporary memory */
void program_free(struct program *program);
void program_run(const struct call *call);

struct options {
	const char *functions;		/* NULL: those of the file's guidelines, or all */
	const char *sizes, *reps_file, *output;
	const char *guidelines;		/* a file of guidelines, or NULL */
	const char *confirm;	/* a file of candidates: measures only these, a second time */
	const char *control;		/* NULL: the first one chosen */
	size_t reps, splits, warm_up;
	enum sync_kind sync;
	int64_t window_us;
	enum type type;
	int root;
	int64_t seed;			/* -1: from the clock */
	int64_t budget_ns;		/* 0: none */
	bool plain, check, list;
};

/* A function at one size, and everything it is compared with. */
struct group {
	const struct subject *function;
	size_t bytes;
	size_t reps;
};

struct state {
	struct options opt;
	struct sync sync;
	struct call call;
	struct random random;		/* the same on all ranks */
	struct writer out;
	struct group *groups;
	size_t group_count;
	const struct subject *control;
	struct own_file own;		/* guidelines of the file */
	size_t *sizes, size_count;
	int64_t began_ns;
};

/* Measures the group at this position, and writes the result. */
void measure_group(struct state *s, size_t position);

/* Checks all results; returns false if a guideline of the file is impossible. */
bool check_all(struct state *s);
/* Whether all guidelines of the file are possible at the planned sizes; reports if not. */
bool own_fits(struct state *s);

#endif
