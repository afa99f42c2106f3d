/* SPDX-License-Identifier: BSD-3-Clause */
/* The path summed up, and what the forms for people and scripts have in common: report.c,
 * report_print.c. */
#ifndef REPORT_H
#define REPORT_H

#include "../tool/fields.h"
#include "stretch.h"

static inline double
seconds(int64_t ns)
{
	return 1e-9 * (double)ns;
}

struct share {
	int64_t ns[KINDS];	/* by segment kind */
	int64_t polls_ns;		/* of MPI, in tests and probes that completed nothing */
	int64_t frame_mpi_ns, frame_transfer_ns;	/* of MPI_Init and MPI_Finalize, apart */
};

/* Of a struct that has a share, as it is told, as MEMBER. */
#define SHARE_FIELDS(type, member) \
	{ "compute_s", FIELD(type, member.ns[COMPUTE]), IN_SECONDS }, \
	{ "mpi_s", FIELD(type, member.ns[MPI]), IN_SECONDS }, \
	{ "transfer_s", FIELD(type, member.ns[TRANSFER]), IN_SECONDS }, \
	{ "start_s", FIELD(type, member.ns[START]), IN_SECONDS }, \
	{ "polls_s", FIELD(type, member.polls_ns), .json = "%.9f", .scale = 1e-9 }

struct report {
	struct share total;
	struct share *by_location, *by_call, *by_site;
	struct places places;	/* without the start and, unless WHOLE, what frames MPI */
	size_t call_capacity, site_capacity;
	size_t segments, hops;	/* hops: changes of location */
	size_t computations;	/* segments that are COMPUTE or START */
	int64_t gap_ns;		/* of an approximate path; no part of its length */
	uint32_t first_location, last_location;
	struct segment longest[10];
	size_t longest_count;
	int64_t begin_ns, end_ns;
	/* MPI_Init and MPI_Finalize are MPI like all, and shares of the whole path */
	bool whole;
};

/* What the run gains if a call site takes PERCENT less time. */
struct gains {
	int percent;
	struct gain {
		int64_t ns;		/* by how much the run gets shorter */
		int64_t most_ns;	/* and would if no other path took over */
	} *by_site;
	size_t capacity;
	const struct balance *balances;	/* if a rank were as fast as the others */
	size_t balance_count;
};

void report_add(struct report *report, const struct definitions *known,
    const struct segment *segment);
/* MORE comes behind what REPORT has. */
void report_append(struct report *report, const struct definitions *known,
    const struct report *more);
void report_free(struct report *report);
/* Member 0 gets the reports of all, one behind the other, as one. */
void report_gather(struct report *report, const struct definitions *known, const struct team *team);
/* The first lines of every report; the verdict says what its place gains, unless GAINS is NULL. */
void report_head(struct text *out, const struct report *report, const struct definitions *known,
    const struct gains *gains);
void report_text(struct text *out, const struct report *report,
    const struct definitions *known, bool all);
int64_t report_length_ns(const struct report *report);
/* What shares are of. */
int64_t report_told_ns(const struct report *report);
int64_t share_sum(const struct share *share);
/* By rank, to be freed: several threads of a rank are one. */
struct share *report_by_rank(const struct report *report, const struct definitions *known);
/* As it is told: what frames the spans is MPI where WHOLE, else it is with the start. */
struct share share_told(const struct share *share, bool whole);
/* What follows the array of segments; the VERDICT as JSON, unless that is NULL. */
void report_json(struct json *out, const struct report *report, const struct definitions *known,
    const struct gains *gains, const char *verdict);
/* COUNT pieces that follow each other: one, or those of a loop of polls. */
void segment_json(struct json *out, const struct segment *segment, size_t count,
    const struct definitions *known);
/* A site's name, for people. */
enum { SITE_TEXT = 1024 };
const char *site_shown(const struct definitions *known, size_t site, char text[SITE_TEXT]);
/* A line that says how many are not shown, behind BEFORE empty cells. */
void put_more(struct table_writer *table, int before, size_t more);

#endif
