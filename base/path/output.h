/* SPDX-License-Identifier: BSD-3-Clause */
/* The path on its way out of a tool, in whichever form; output errors end the tool. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "functions.h"
#include "report.h"
#include "run.h"

enum form { UNSAID_FORM = -1, STREAM, TEXT, JSON, FOLDED, SPEEDSCOPE };

struct output {
	enum form form;
	const struct run *run;
	struct functions *functions;	/* get the path; NULL: they know it, or are not asked for */
	struct writer out;
	struct text text;
	struct json json;		/* onto it */
	struct report report;
};

/* Form, run, functions and report.whole have been set. */
void output_begin(struct output *output, int argc, char **argv);
/* A message of the input, which a stream passes on. */
void output_pass(struct output *output, const struct message *message);
/* Into the sums, and into JSON. */
void output_report(struct output *output, const struct segments *segments);
/* Pieces of the path, or of the alternative NUMBER from 1, into a stream. */
void output_write(struct output *output, int number, const struct segments *segments);
/* The end of a stream; FUNCTIONS of a run with samples come before. */
void output_end_stream(struct output *output, const struct functions *functions);
/*
 * All of JSON but what the tool adds before the end: the path, GAINS in its verdict where they are
 * not NULL; or the whole VERDICT.
 */
void output_json(struct output *output, const struct gains *gains, const char *verdict);
void output_end_json(struct output *output);

#endif
