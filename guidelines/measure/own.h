/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Guidelines of one's own, from a file: "Gather <= Allgather(in, out, block)". The language stands
 * in measure.1. own.c reads the file, evaluate.c its numbers, program.c makes calls of a right
 * side.
 */
#ifndef OWN_H
#define OWN_H

#include "measure.h"

enum {
	OWN_FIRST = 100,	/* number of the file's first guideline */
	OWN_BYTES = 1 << 20,	/* of a file */
	OWN_LINES = 1000,	/* guidelines of a file */
	OWN_STEPS = 64,		/* calls of a right side, as written */
	OWN_CALLS = 1 << 16,	/* and as made */
	OWN_BUFFERS = 16,	/* in, out and temporary ones */
	OWN_NAME = 64,		/* bytes of a name */
	OWN_DEPTH = 32,		/* parentheses in parentheses */
	ERROR_BYTES = 256,
};
enum { IN, OUT };		/* numbers of the first two buffers */

/* What numbers are made of. */
enum variable { VOLUME, RANKS, ELEMENTS, RANK, ROOT, TURN, VARIABLES };

/* Where in the text somebody reads; the first error stays. */
struct scanner {
	const char *at;
	size_t line;
	int depth;
	bool same;		/* the number has to be the same on all ranks */
	char *error;		/* ERROR_BYTES; empty while all is well */
};

void scan_fail(struct scanner *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Blanks and comments; a line that begins with a blank goes on with the one before. */
void scan_blanks(struct scanner *s);
/* The word is skipped if it stands here. */
bool scan_word(struct scanner *s, const char *word);
bool scan_need(struct scanner *s, const char *word);
bool scan_name(struct scanner *s, char name[OWN_NAME]);
/* A number; VALUES NULL only skips it, whatever it would be. 0 after an error. */
int64_t scan_number(struct scanner *s, const int64_t *values);
int64_t scan_factor(struct scanner *s, const int64_t *values);	/* of a product */

/* A number that is evaluated later; AT is NULL where there is none. */
struct number {
	const char *at;
	size_t line;
	bool factor;		/* where a + behind it would begin the next call */
};

struct place {
	int buffer;
	struct number offset;		/* elements */
};

/* What a right side may consist of. */
struct action {
	const char *name;
	void (*run)(const struct call *call);
	enum layout input, output;
	/* exchanges nothing; not done where in or out are not there */
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

/* False: ERROR says why, with the line. The text must stay. */
bool own_parse(const char *text, size_t size, struct own_file *file, char error[ERROR_BYTES]);

/* The right side for the call's function and size: what it calls. NULL: ERROR says why, the same on
 * all ranks. */
struct program *program_make(const struct own *own, const struct call *call,
    char error[ERROR_BYTES]);
uint64_t program_bytes(const struct program *program);	/* of temporary memory */
void program_free(struct program *program);
void program_run(const struct call *call);

#endif
