/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run that did not end: the headline, and what its open calls wait for (trace.5, unended). A run
 * in progress: how far it has come (trace.5, reached).
 */
#include <stdlib.h>
#include <string.h>

#include "../tool/tool.h"
#include "definitions.h"

struct thread_ends
ends_begin(size_t most)
{
	return (struct thread_ends){ .locations = zalloc(most, sizeof(uint32_t)),
		.sites = zalloc(most, sizeof(uint32_t)), .calls = zalloc(most, sizeof(uint16_t)),
		.operations = zalloc(most, sizeof(uint16_t)),
		.waits_for = zalloc(most, sizeof(int32_t)),
		.since_ns = zalloc(most, sizeof(int64_t)) };
}

void
ends_free(struct thread_ends *ends)
{
	free(ends->locations);
	free(ends->sites);
	free(ends->calls);
	free(ends->operations);
	free(ends->waits_for);
	free(ends->since_ns);
}

static void
read_ends(struct thread_ends *b, int64_t *at_ns, struct reader *in, const struct message *message)
{
	const bool waits = body_get(message, "waits_for") != NULL;
	size_t count;

	if (body_int(in, message, "at_ns", INT64_MIN / 4, INT64_MAX / 4, at_ns) < 0 ||
	    body_count(in, message, "count", 1, 1 << 26, "location", &count) < 0)
		die_input(in);
	*b = ends_begin(count);
	b->count = count;
	if (body_column(in, message, "location", b->count, b->locations) < 0 ||
	    body_column(in, message, "call", b->count, b->calls) < 0 ||
	    body_column(in, message, "since", b->count, b->since_ns) < 0 ||
	    body_column(in, message, "site", b->count, b->sites) < 0 ||
	    (waits && (body_column(in, message, "operation", b->count, b->operations) < 0 ||
	    body_column(in, message, "waits_for", b->count, b->waits_for) < 0)))
		die_input(in);
}

static void
keep_waits(struct definitions *d, struct reader *in, const struct message *message,
    const struct thread_ends *b, int64_t at_ns)
{
	const uint32_t locations = d->location_count;

	for (size_t i = 0; i < b->count; i++)
		if (defined_rank(d, b->locations[i]) < 0 || b->waits_for[i] < -1 ||
		    b->waits_for[i] >= (int64_t)locations ||
		    (b->waits_for[i] >= 0 && defined_rank(d, (uint32_t)b->waits_for[i]) < 0))
			die_message(in, message, "unended: a location that is out of range");
	free(d->open_calls);
	d->open_calls = zalloc(locations, sizeof *d->open_calls);
	for (uint32_t l = 0; l < locations; l++)
		d->open_calls[l].location = UINT32_MAX;
	d->headline.open_ns = 0;
	for (size_t i = 0; i < b->count; i++) {
		const uint16_t operation = reader_calls(in)[b->operations[i]];

		if (!call_is_open(reader_calls(in)[b->calls[i]]))
			continue;
		/* a replay has other ends */
		if (operation == 0 || at_ns != d->run_ns)
			d->headline.open_ns += at_ns - b->since_ns[i];
		else
			d->open_calls[b->locations[i]] = (struct awaited_call){ operation,
			    (uint32_t)b->waits_for[i] };
	}
}

/* Unless the rank is one of those already. */
static void
add_hung(struct headline *h, int32_t rank, uint32_t site)
{
	for (size_t i = 0; i < h->hung_count; i++)
		if (h->hung_ranks[i] == rank)
			return;
	if (h->hung_count == 0)
		h->hung_site = site;
	*APPEND(h->hung_ranks, h->hung_count, h->hung_capacity) = rank;
}

/*
 * Of a run that lp-stuck has found to hang: the ranks at the ends of the waits. Others wait for
 * them, and they wait for none; in a deadlock it is the last to enter its call. If all wait for
 * ranks that left nothing: all.
 */
static void
keep_hung(struct definitions *d, const struct message *message, const struct thread_ends *b)
{
	struct headline *h = &d->headline;
	char *verdict = body_string(message, "verdict");
	bool *waits = zalloc(d->location_count, sizeof *waits),
	    *is_awaited = zalloc(d->location_count, sizeof *is_awaited);
	uint32_t *sites = zalloc(d->location_count, sizeof *sites);
	bool none_left;

	free(h->hung);
	h->hung = NULL;
	h->hung_count = 0;
	for (size_t i = 0; i < b->count; i++) {
		waits[b->locations[i]] = b->operations[i] != 0;
		sites[b->locations[i]] = b->sites[i];
		if (b->operations[i] != 0 && b->waits_for[i] >= 0)
			is_awaited[b->waits_for[i]] = true;
	}
	if (verdict != NULL && strcmp(verdict, "none") != 0)
		h->hung = body_string(message, "sentence");
	for (uint32_t l = 0; l < d->location_count && h->hung != NULL; l++)
		if (is_awaited[l] && !waits[l])
			add_hung(h, d->location_rank[l], sites[l]);
	none_left = h->hung_count == 0;
	for (size_t i = 0; i < b->count && none_left; i++)
		add_hung(h, d->location_rank[b->locations[i]], b->sites[i]);
	free(verdict);
	free(waits);
	free(is_awaited);
	free(sites);
}

void
unended_take(struct definitions *d, struct reader *in, const struct message *message)
{
	struct thread_ends ends;
	char *sentence;
	int64_t at_ns;

	read_ends(&ends, &at_ns, in, message);
	keep_waits(d, in, message, &ends, at_ns);
	keep_hung(d, message, &ends);
	free(d->headline.unended);
	sentence = body_string(message, "sentence");
	d->headline.unended = formatted("%s at %.1f s%s%s", body_true(message, "known") ? "killed" :
	    "did not end, last seen", (double)at_ns / 1e9, sentence != NULL ? ": " : "",
	    sentence != NULL ? sentence : "");
	free(sentence);
	ends_free(&ends);
}

/* ---- a run in progress ------------------------------------------------------------------- */

void
reached_read(struct reached *reached, struct reader *in, const struct message *message,
    uint32_t count)
{
	const int64_t limit = INT64_MAX / 4;	/* so that sums of times do not overflow */
	int64_t stated;

	*reached = (struct reached){ 0, zalloc(count, sizeof *reached->since_ns),
	    zalloc(count, sizeof *reached->call) };
	if (body_int(in, message, "at_ns", -limit, limit, &reached->at_ns) < 0 ||
	    body_int(in, message, "count", count, count, &stated) < 0 ||
	    body_column(in, message, "since", count, reached->since_ns) < 0 ||
	    body_column(in, message, "call", count, reached->call) < 0)
		die_input(in);
	for (uint32_t l = 0; l < count; l++) {
		if (reached->since_ns[l] > reached->at_ns || reached->since_ns[l] < -limit)
			die_message(in, message, "reached: since is out of range");
		reached->call[l] = reader_calls(in)[reached->call[l]];
	}
}

void
reached_free(struct reached *reached)
{
	free(reached->since_ns);
	free(reached->call);
}
