/* SPDX-License-Identifier: BSD-3-Clause */
/* The path's sums: report.c; as text and JSON: report_print.c. */
#ifndef PATH_REPORT_H
#define PATH_REPORT_H

#include "../run/places.h"
#include "../run/segments.h"
#include "../team/team.h"
#include "../tool/fields.h"

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

enum shares_of { OF_LOCATION, OF_CALL, OF_SITE, SHARES };

struct report {
	struct share total;
	struct share_list {
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
/* The total of one; without the start unless WHOLE. */
int64_t share_told_ns(const struct share *told, bool whole);
/* The members after the array of segments; VERDICT is JSON, NULL: from the report. */
void report_json(struct json *out, const struct report *report, const struct definitions *known,
    const struct gains *gains, const char *verdict);
/* COUNT consecutive pieces: one, or a polling loop. */
void segment_json(struct json *out, const struct segment *segment, size_t count,
    const struct definitions *known);
/* The text of a site for people. */
const char *site_shown(const struct definitions *known, size_t site);

#endif
