/* SPDX-License-Identifier: BSD-3-Clause */
/* The forms of output of the path. Output errors end the tool. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "functions.h"
#include "report.h"
#include "run.h"
#include "../tool/whole_file.h"

/* Rows of a table or of a JSON array, in order; free() them. */
struct rows {
	const struct field *fields;
	void *at;
	size_t count, size;
};
/* Both free the rows. The first MOST of them: */
void rows_table(struct text *out, struct rows rows, size_t most);
void rows_json(struct json *out, const char *key, struct rows rows);

/* A column of a message from a member of each row; MEMBER is that of the first. */
void put_member(struct writer *out, const char *key, struct column_type type, const void *member,
    size_t count, size_t row_size);
#define PUT_MEMBER(out, key, rows, member, count) put_member(out, key, \
	COLUMN_OF(&(rows)->member), &(rows)->member, count, sizeof *(rows))

enum form { UNSAID_FORM = -1, STREAM, TEXT, JSON, CSV, FOLDED, SPEEDSCOPE };

struct output {
	enum form form;
	const struct run *run;
	struct functions *functions;	/* get the path; NULL: they have it, or are not wanted */
	struct writer out, alone;
	struct text text;
	/*
	 * An unnamed file of the pieces before a stretch has ended, which are written with its last
	 * one. So the stream does not depend on when pieces became known.
	 */
	FILE *early;
	size_t early_count;
	const char *alone_name;		/* of a file with the path alone beside FORM; NULL: none */
	struct whole_file alone_file;
	const char *json_name;		/* of a file with JSON beside FORM; NULL: none */
	struct whole_file json_file;
	struct text json_text;
	struct json json;		/* of FORM, or beside it; writes to json_text */
	struct report report;
};

/* Set form, json_name, alone_name, run, functions and report.whole first. */
void output_begin(struct output *output, int argc, char **argv);
/* Passes a message of the input on to a stream. */
void output_pass(struct output *output, const struct message *message);
/* Adds segments to the sums, to JSON, and to the file with the path alone. */
void output_report(struct output *output, const struct segments *segments);
/* Pieces of a stretch that has not ended, for a stream. */
void output_early(struct output *output, const struct segments *segments);
/* Writes the path of a stretch that has ended, or alternative NUMBER from 1, to a stream. */
void output_write(struct output *output, int number, const struct segments *segments);
/* Ends the streams; before the end come the FUNCTIONS of a run with samples. */
void output_end(struct output *output, const struct functions *functions);
/* Is JSON the form, or written beside it? */
bool output_has_json(const struct output *output);
/*
 * Writes all of JSON that comes before the tool's own values: the path, its verdict with GAINS
 * unless NULL; or the given VERDICT.
 */
void output_json(struct output *output, const struct gains *gains, const char *verdict);
void output_end_json(struct output *output);

#endif
