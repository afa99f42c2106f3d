/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums up the path: shares by rank, call, site and kind, and the longest pieces. */
#include <stdlib.h>
#include <string.h>

#include "../run/span.h"
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

static struct share *
share_of(struct share **shares, size_t *capacity, size_t index)
{
	return AT(*shares, *capacity, index);
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

static void
add_place(struct report *report, const struct definitions *known, const struct segment *segment)
{
	const int64_t ns = segment->end_ns - segment->begin_ns;
	const struct place place = { segment->site, known->location_rank[segment->location],
	    segment->kind == COMPUTE && !segment->polls, ns, segment->kind == TRANSFER ? ns : 0,
	    segment->polls ? ns : 0 };

	if (segment->kind != START &&
	    (report->whole || segment->call == 0 || !span_frames(segment->call)))
		places_add(&report->places, &place);
}

void
report_add(struct report *report, const struct definitions *known, const struct segment *segment)
{
	if (report->by_location == NULL)
		report->by_location = zalloc(known->location_count, sizeof *report->by_location);
	if (report->segments == 0) {
		report->begin_ns = segment->begin_ns;
		report->first_location = segment->location;
	} else if (segment->location != report->last_location)
		report->hops++;
	report->end_ns = segment->end_ns;
	report->last_location = segment->location;
	report->segments++;
	if (segment->kind == GAP) {
		report->gap_ns += segment->end_ns - segment->begin_ns;
		return;
	}
	report->computations += segment->kind == COMPUTE || segment->kind == START;
	add_segment(&report->total, segment);
	add_segment(&report->by_location[segment->location], segment);
	add_segment(share_of(&report->by_call, &report->call_capacity, segment->call), segment);
	add_segment(share_of(&report->by_site, &report->site_capacity, segment->site), segment);
	add_place(report, known, segment);
	keep_longest(report, segment);
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

static void
append_places(struct report *report, const struct place *more, size_t count)
{
	for (size_t i = 0; i < count; i++)
		places_add(&report->places, &more[i]);
}

void
report_append(struct report *report, const struct definitions *known, const struct report *more)
{
	struct place *places;
	size_t count;

	if (more->segments == 0)
		return;
	if (report->segments == 0) {
		report->begin_ns = more->begin_ns;
		report->first_location = more->first_location;
		report->by_location = zalloc(known->location_count, sizeof *report->by_location);
	} else if (more->first_location != report->last_location)
		report->hops++;
	report->end_ns = more->end_ns;
	report->last_location = more->last_location;
	report->segments += more->segments;
	report->hops += more->hops;
	report->computations += more->computations;
	report->gap_ns += more->gap_ns;
	add_share(&report->total, &more->total);
	for (uint32_t l = 0; l < known->location_count; l++)
		add_share(&report->by_location[l], &more->by_location[l]);
	for (size_t i = 0; i < more->call_capacity; i++)
		add_share(share_of(&report->by_call, &report->call_capacity, i), &more->by_call[i]);
	for (size_t i = 0; i < more->site_capacity; i++)
		add_share(share_of(&report->by_site, &report->site_capacity, i), &more->by_site[i]);
	for (size_t i = 0; i < more->longest_count; i++)
		keep_longest(report, &more->longest[i]);
	places = places_sorted(&more->places, &count);
	append_places(report, places, count);
	free(places);
}

void
report_free(struct report *report)
{
	free(report->by_location);
	free(report->by_call);
	free(report->by_site);
	places_free(&report->places);
	*report = (struct report){ .whole = report->whole };
}

void
report_gather(struct report *report, const struct definitions *known, const struct team *team)
{
	size_t locations = report->segments > 0 ? known->location_count : 0, count, own, all;
	struct place *own_places = places_sorted(&report->places, &own);
	struct place *places = team_gather(team, own_places, own, sizeof *places, &all);
	struct report *parts = team_gather(team, report, 1, sizeof *report, &count);
	/* The shares of all members, one after the other: */
	struct share *by_location = team_gather(team, report->by_location, locations,
	    sizeof *by_location, &(size_t){ 0 }), *location = by_location;
	struct share *by_call = team_gather(team, report->by_call, report->call_capacity,
	    sizeof *by_call, &(size_t){ 0 }), *call = by_call;
	struct share *by_site = team_gather(team, report->by_site, report->site_capacity,
	    sizeof *by_site, &(size_t){ 0 }), *site = by_site;

	report_free(report);
	append_places(report, places, all);
	free(places);
	free(own_places);
	for (struct report *part = parts; part < parts + count; part++) {
		part->by_location = location;
		part->by_call = call;
		part->by_site = site;
		part->places = (struct places){ NULL };		/* of another process */
		report_append(report, known, part);
		location += part->segments > 0 ? known->location_count : 0;
		call += part->call_capacity;
		site += part->site_capacity;
	}
	free(parts);
	free(by_location);
	free(by_call);
	free(by_site);
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

	for (uint32_t l = 0; l < known->location_count && report->by_location != NULL; l++)
		if (known->location_rank[l] >= 0)
			add_share(&shares[known->location_rank[l]], &report->by_location[l]);
	return shares;
}
