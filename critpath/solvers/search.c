/* SPDX-License-Identifier: BSD-3-Clause */
#include "search.h"

#include <stdlib.h>
#include <string.h>

void
add_entry(struct entries *entries, struct entry entry)
{
	entries->at = grow(entries->at, &entries->capacity, entries->count + 1, sizeof *entries->at);
	entries->at[entries->count++] = entry;
}

static struct label *
label_of(const struct search *search, struct event event)
{
	return &search->labels[numbering_of(&search->own, event)];
}

static void
improve(struct search *search, const struct request *request)
{
	struct label *label = label_of(search, request->source);
	struct entry entry = { request->distance_ns, request->source };

	if (request->distance_ns + 1 <= label->reached)
		return;
	if (label->reached == 0)
		add_entry(&search->reached, entry);
	*label = (struct label){ request->distance_ns + 1, request->target };
	add_entry(&search->improved, entry);
}

void
search_open(struct search *search, const struct stretch *stretch)
{
	const struct team *team = stretch->team;
	struct request last = { stretch->to, stretch->to, 0 };

	memset(search, 0, sizeof *search);
	search->stretch = stretch;
	numbering_open(&search->own, stretch, team->rank);
	search->labels = zalloc(2 * (size_t)search->own.base[stretch->window->locations],
	    sizeof *search->labels);
	search->outbox = zalloc((size_t)team->size, sizeof *search->outbox);
	if (owner_of(stretch, stretch->to.location) == team->rank)
		improve(search, &last);
}

bool
search_is_current(const struct search *search, const struct entry *entry)
{
	return label_of(search, entry->event)->reached == entry->distance_ns + 1;
}

void
search_relax(struct search *search, const struct entry *entry, int64_t min_ns, int64_t max_ns)
{
	const struct stretch *stretch = search->stretch;
	struct request request = { .target = entry->event };
	int64_t source_ns = stretch->begin_ns, weight_ns;
	bool has_source = event_before(stretch, entry->event, &request.source, &source_ns);
	int owner;

	weight_ns = time_of(stretch, entry->event) - source_ns;
	if (weight_ns < min_ns || weight_ns > max_ns)
		return;
	request.distance_ns = entry->distance_ns + weight_ns;
	if (!has_source) {
		if (!search->arrived || request.distance_ns > search->first.distance_ns)
			search->first = (struct entry){ request.distance_ns, entry->event };
		search->arrived = true;
	} else if ((owner = owner_of(stretch, request.source.location)) == stretch->team->rank) {
		improve(search, &request);
	} else {
		struct outbox *outbox = &search->outbox[owner];

		outbox->at = grow(outbox->at, &outbox->capacity, outbox->count + 1, sizeof *outbox->at);
		outbox->at[outbox->count++] = request;
	}
}

bool
search_exchange(struct search *search)
{
	const struct team *team = search->stretch->team;
	struct request *all, *got;
	size_t *counts, total = 0, received;

	for (int m = 0; m < team->size; m++)
		total += search->outbox[m].count;
	if (team_sum(team, total) == 0)
		return false;
	all = zalloc(total, sizeof *all);
	counts = zalloc((size_t)team->size, sizeof *counts);
	total = 0;
	for (int m = 0; m < team->size; m++) {
		struct outbox *outbox = &search->outbox[m];

		counts[m] = outbox->count;
		if (outbox->count > 0)
			memcpy(all + total, outbox->at, outbox->count * sizeof *all);
		total += outbox->count;
		outbox->count = 0;
	}
	got = team_exchange(team, all, counts, sizeof *all, &received);
	for (size_t i = 0; i < received; i++)
		improve(search, &got[i]);
	free(all);
	free(counts);
	free(got);
	return true;
}

struct step {
	struct stop at;
	struct event next;
};

static int
by_event(const void *left, const void *right)
{
	const struct event *a = &((const struct step *)left)->at.event;
	const struct event *b = &((const struct step *)right)->at.event;

	if (a->location != b->location)
		return a->location < b->location ? -1 : 1;
	if (a->seq != b->seq)
		return a->seq < b->seq ? -1 : 1;
	return (int)a->leave - (int)b->leave;
}

/* From the first event along the labels, which member 0 has got from all. */
static void
follow(const struct search *search, struct step *steps, size_t count, struct event first,
    struct segments *segments)
{
	struct step key = { .at.event = first }, *found, *before = NULL;

	qsort(steps, count, sizeof *steps, by_event);
	while ((found = bsearch(&key, steps, count, sizeof *steps, by_event)) != NULL) {
		add_between(segments, search->stretch, before != NULL ? &before->at : NULL, &found->at);
		if (same_event(found->next, found->at.event))
			break;
		before = found;
		key.at.event = found->next;
	}
}

bool
search_finish(struct search *search, struct segments *segments)
{
	const struct team *team = search->stretch->team;
	int64_t longest_ns = search->arrived ? search->first.distance_ns : -1;
	struct step *steps = zalloc(search->reached.count, sizeof *steps), *all;
	struct event *first;
	size_t count;

	team_max(team, &longest_ns, 1);
	for (size_t i = 0; longest_ns >= 0 && i < search->reached.count; i++) {
		struct event at = search->reached.at[i].event;

		steps[i] = (struct step){ stop_at(search->stretch, at), label_of(search, at)->next };
	}
	all = team_gather(team, steps, longest_ns >= 0 ? search->reached.count : 0, sizeof *steps, &count);
	first = team_gather(team, &search->first.event,
	    search->arrived && search->first.distance_ns == longest_ns ? 1 : 0, sizeof *first, &(size_t){ 0 });
	if (longest_ns >= 0 && team->rank == 0)
		follow(search, all, count, first[0], segments);
	for (int m = 0; m < team->size; m++)
		free(search->outbox[m].at);
	free(search->outbox);
	free(search->improved.at);
	free(search->reached.at);
	free(search->labels);
	numbering_close(&search->own);
	free(steps);
	free(all);
	free(first);
	return longest_ns >= 0;
}
