/* SPDX-License-Identifier: BSD-3-Clause */
/* The path: its sums, and its forms of output. Output errors end the tool. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "functions.h"
#include "run.h"
#include "../tool/fields.h"
#include "../tool/whole_file.h"

/* ---- report.c: sums; report_print.c: as text and JSON ---- */

static inline double
seconds(int64_t ns)
{
	return 1e-9 * (double)ns;
}

static inline double
share_of(int64_t ns, int64_t of_ns)
{
	return of_ns > 0 ? (double)ns / (double)of_ns : 0;
}

struct share {
	int64_t ns[KINDS];	/* by segment kind */
	int64_t polls_ns;		/* part of MPI: tests and probes that completed nothing */
	int64_t frame_mpi_ns, frame_transfer_ns;	/* MPI_Init and MPI_Finalize, separately */
};

/* Fields of a struct with a share_told in MEMBER. */
#define SHARE_FIELDS(type, member) \
	{ "compute_s", FIELD(type, member.ns[COMPUTE]), IN_SECONDS }, \
	{ "mpi_s", FIELD(type, member.ns[MPI]), IN_SECONDS }, \
	{ "transfer_s", FIELD(type, member.ns[TRANSFER]), IN_SECONDS }, \
	{ "start_s", FIELD(type, member.ns[START]), IN_SECONDS }, \
	{ "polls_s", FIELD(type, member.polls_ns), .json = "%.9f", .scale = 1e-9 }

enum shares_of { BY_LOCATION, BY_CALL, BY_SITE, SHARES };

struct report {
	struct share total;
	struct shares {
		struct share *at;	/* by location, call or site */
		size_t count;
	} by[SHARES];
	struct places places;	/* without start; unless WHOLE, without MPI_Init and Finalize */
	size_t segments, hops;	/* hops: changes of location */
	size_t computations;	/* segments that are COMPUTE or START */
	int64_t gap_ns;		/* of an approximate path; not part of its length */
	uint32_t first_location, last_location;
	struct segment longest[10];
	size_t longest_count;
	int64_t begin_ns, end_ns;
	bool whole;		/* MPI_Init and Finalize are MPI; shares of the whole path */
};

/* What the run gains if each call site takes PERCENT less time. */
struct gains {
	int percent;
	struct gain {
		int64_t ns;		/* by how much the run is shorter */
		int64_t most_ns;	/* the same if no other path took over */
	} *by_site;
	size_t capacity;
	const struct balance *balances;	/* if a rank were as fast as the others */
	size_t balance_count;
};

void report_add(struct report *report, const struct definitions *known,
    const struct segment *segment);
/* Appends MORE to REPORT. */
void report_append(struct report *report, const struct report *more);
void report_free(struct report *report);
/* Joins the reports of all members, in order, on member 0. */
void report_gather(struct report *report, const struct team *team);
/* The first lines of every report; the verdict has the gain of its place unless GAINS is NULL. */
void report_head(struct text *out, const struct report *report, const struct definitions *known,
    const struct gains *gains);
void report_text(struct text *out, const struct report *report,
    const struct definitions *known, bool all);
int64_t report_length_ns(const struct report *report);
/* The total of the shares. */
int64_t report_told_ns(const struct report *report);
int64_t share_sum(const struct share *share);
/* By rank, with all its threads; free() them. */
struct share *report_by_rank(const struct report *report, const struct definitions *known);
/* A share as printed: MPI_Init and MPI_Finalize count as MPI if WHOLE, else as start. */
struct share share_told(const struct share *share, bool whole);
/* The members after the array of segments; VERDICT is JSON, NULL: from the report. */
void report_json(struct json *out, const struct report *report, const struct definitions *known,
    const struct gains *gains, const char *verdict);
/* COUNT consecutive pieces: one, or a polling loop. */
void segment_json(struct json *out, const struct segment *segment, size_t count,
    const struct definitions *known);
/* The text of a site for people. */
const char *site_shown(const struct definitions *known, size_t site);

/* ---- output.c ---- */

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
