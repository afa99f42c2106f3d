/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums up the path: shares by rank, call, site and kind, and the longest pieces. */
#include <stdlib.h>

#include "../run/span.h"
#include "../tool/tool.h"
#include "report.h"

static bool
longer(const struct segment *a, const struct segment *b)
{
	int64_t x = a->end_ns - a->begin_ns, y = b->end_ns - b->begin_ns;

	return x > y || (x == y && a->begin_ns < b->begin_ns);
}

static void
keep_longest(struct report *report, const struct segment *segment)
{
	const size_t room = sizeof report->longest / sizeof report->longest[0];
	size_t i = report->longest_count;

	if (i == room && !longer(segment, &report->longest[room - 1]))
		return;
	if (i < room)
		report->longest_count++;
	else
		i--;
	for (; i > 0 && longer(segment, &report->longest[i - 1]); i--)
		report->longest[i] = report->longest[i - 1];
	report->longest[i] = *segment;
}

static void
add_segment(struct share *share, const struct segment *segment)
{
	const int64_t ns = segment->end_ns - segment->begin_ns;

	share->polls_ns += segment->polls && segment->kind == MPI ? ns : 0;
	if (segment->call == 0 || !span_frames(segment->call))
		share->ns[segment->kind] += ns;
	else if (segment->kind == TRANSFER)
		share->frame_transfer_ns += ns;
	else
		share->frame_mpi_ns += ns;
}

void
report_add(struct report *report, const struct definitions *known, const struct segment *segment)
{
	const int64_t ns = segment->end_ns - segment->begin_ns;
	struct share_list *by = report->by;

	if (by[OF_LOCATION].at == NULL)
		by[OF_LOCATION] = (struct share_list){
		    zalloc(known->location_count, sizeof *by->at), known->location_count };
	if (report->segments == 0) {
		report->begin_ns = segment->begin_ns;
		report->first_location = segment->location;
	} else if (segment->location != report->last_location)
		report->hops++;
	report->end_ns = segment->end_ns;
	report->last_location = segment->location;
	report->segments++;
	if (segment->kind == GAP) {
		report->gap_ns += ns;
		return;
	}
	report->computations += segment->kind == COMPUTE || segment->kind == START;
	add_segment(&report->total, segment);
	add_segment(&by[OF_LOCATION].at[segment->location], segment);
	add_segment(AT(by[OF_CALL].at, by[OF_CALL].count, segment->call), segment);
	add_segment(AT(by[OF_SITE].at, by[OF_SITE].count, segment->site), segment);
	keep_longest(report, segment);
	if (segment->kind != START &&
	    (report->whole || segment->call == 0 || !span_frames(segment->call)))
		places_add(&report->places, &(struct place){ segment->site,
		    known->location_rank[segment->location],
		    segment->kind == COMPUTE && !segment->polls, ns,
		    segment->kind == TRANSFER ? ns : 0, segment->polls ? ns : 0 });
}

static void
add_share(struct share *to, const struct share *more)
{
	for (int kind = 0; kind < KINDS; kind++)
		to->ns[kind] += more->ns[kind];
	to->polls_ns += more->polls_ns;
	to->frame_mpi_ns += more->frame_mpi_ns;
	to->frame_transfer_ns += more->frame_transfer_ns;
}

void
report_append(struct report *report, const struct report *more)
{
	struct place *places;
	size_t count;

	if (more->segments == 0)
		return;
	if (report->segments == 0) {
		report->begin_ns = more->begin_ns;
		report->first_location = more->first_location;
	} else if (more->first_location != report->last_location)
		report->hops++;
	report->end_ns = more->end_ns;
	report->last_location = more->last_location;
	report->segments += more->segments;
	report->hops += more->hops;
	report->computations += more->computations;
	report->gap_ns += more->gap_ns;
	add_share(&report->total, &more->total);
	for (int of = 0; of < SHARES; of++)
		for (size_t i = 0; i < more->by[of].count; i++)
			add_share(AT(report->by[of].at, report->by[of].count, i),
			    &more->by[of].at[i]);
	for (size_t i = 0; i < more->longest_count; i++)
		keep_longest(report, &more->longest[i]);
	places = places_sorted(&more->places, &count);
	for (size_t i = 0; i < count; i++)
		places_add(&report->places, &places[i]);
	free(places);
}

void
report_free(struct report *report)
{
	for (int of = 0; of < SHARES; of++)
		free(report->by[of].at);
	places_free(&report->places);
	*report = (struct report){ .whole = report->whole };
}

void
report_gather(struct report *report, const struct team *team)
{
	size_t count, own, all;
	struct place *own_places = places_sorted(&report->places, &own);
	struct place *places = team_gather(team, own_places, own, sizeof *places, &all);
	struct report *parts = team_gather(team, report, 1, sizeof *report, &count);
	/* The shares of all members, one after the other: */
	struct share *shares[SHARES], *next[SHARES];

	for (int of = 0; of < SHARES; of++)
		shares[of] = next[of] = team_gather(team, report->by[of].at, report->by[of].count,
		    sizeof **shares, &(size_t){ 0 });
	report_free(report);
	for (size_t i = 0; i < all; i++)
		places_add(&report->places, &places[i]);
	for (struct report *part = parts; part < parts + count; part++) {
		for (int of = 0; of < SHARES; of++) {
			part->by[of].at = next[of];
			next[of] += part->by[of].count;
		}
		part->places = (struct places){ NULL };		/* of another process */
		report_append(report, part);
	}
	free(own_places);
	free(places);
	free(parts);
	for (int of = 0; of < SHARES; of++)
		free(shares[of]);
}

int64_t
report_length_ns(const struct report *report)
{
	return report->end_ns - report->begin_ns - report->gap_ns;
}

int64_t
share_sum(const struct share *share)
{
	return share->ns[COMPUTE] + share->ns[MPI] + share->ns[TRANSFER] + share->ns[START] +
	    share->frame_mpi_ns + share->frame_transfer_ns;
}

struct share
share_told(const struct share *share, bool whole)
{
	struct share told = *share;

	if (whole) {
		told.ns[MPI] += share->frame_mpi_ns;
		told.ns[TRANSFER] += share->frame_transfer_ns;
	} else
		told.ns[START] += share->frame_mpi_ns + share->frame_transfer_ns;
	told.frame_mpi_ns = told.frame_transfer_ns = 0;
	return told;
}

struct share *
report_by_rank(const struct report *report, const struct definitions *known)
{
	struct share *shares = zalloc((size_t)known->ranks, sizeof *shares);

	for (uint32_t l = 0; l < known->location_count && l < report->by[OF_LOCATION].count; l++)
		if (known->location_rank[l] >= 0)
			add_share(&shares[known->location_rank[l]], &report->by[OF_LOCATION].at[l]);
	return shares;
}
