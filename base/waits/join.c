/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a run with several processes, each a part, and joins their results in the first one. These
 * are sums of integers, maxima, or the first or last in time, so parts may begin anywhere: a
 * binary-tree reduction over the parts, in order. Results travel as messages of a stream in memory;
 * a message has many rows of one kind.
 *
 * Memory: the results of a part, and some thousand rows.
 */
#include <stdlib.h>
#include <string.h>

#include "../tool/fields.h"
#include "causes.h"
#include "counters.h"
#include "functions.h"
#include "hybrid.h"

/* ---- results ------------------------------------------------------------------------- */

/* A result and where it belongs. OF is a table, a site, ...: see PLACE. */
struct item {
	uint32_t of, index;
	union {
		struct run_counts counts;
		struct state_sums state;
		struct analytic analytic;
		struct cell cell;
		struct site_ns site;
		struct span span;
		struct wait wait;
		struct delay delay;
		struct taken taken;
		struct hybrid_time hybrid;
		struct counted counted;
		struct { int64_t before_ns, last_leave_ns; } location;
		int64_t wait_ns;
	};
};

#define HAS(member) { #member, FIELD(struct item, member), .key = #member }
#define PLACE HAS(of), HAS(index)

static const struct field counts_fields[] = { PLACE, HAS(counts.unmatched_sends),
	HAS(counts.unmatched_receives), HAS(counts.unmatched_collectives), HAS(counts.errors),
	HAS(counts.sampled), HAS(counts.switched), FIELDS_END };
static const struct field state_fields[] = { PLACE, HAS(state.wait_ns), HAS(state.direct_ns),
	HAS(state.indirect_ns), HAS(state.propagating_ns), HAS(state.count), FIELDS_END };
static const struct field analytic_fields[] = { PLACE, HAS(analytic.wait_before_ns),
	HAS(analytic.wait_after_ns), HAS(analytic.unsynchronised_ns),
	HAS(analytic.unsynchronised), HAS(analytic.edges), FIELDS_END };
static const struct field cell_fields[] = { PLACE, HAS(cell.compute_ns), HAS(cell.mpi_ns),
	HAS(cell.polling_ns), HAS(cell.calls), HAS(cell.waits), FIELDS_END };
static const struct field wait_ns_fields[] = { PLACE, HAS(wait_ns), FIELDS_END };
static const struct field site_fields[] = { PLACE, HAS(site.compute_ns),
    HAS(site.mpi_ns), FIELDS_END };
static const struct field location_fields[] = { PLACE, HAS(location.before_ns),
	HAS(location.last_leave_ns), FIELDS_END };
static const struct field span_fields[] = { PLACE, HAS(span.begin_ns), HAS(span.end_ns),
	HAS(span.last_ns), HAS(span.useful_ns), HAS(span.outside_ns), HAS(span.start_ns),
	HAS(span.init_ns), HAS(span.finalize_ns), HAS(span.any),
	    HAS(span.began), HAS(span.finalized),
	FIELDS_END };
static const struct field wait_fields[] = { PLACE, HAS(wait.state), HAS(wait.from_ns),
	HAS(wait.to_ns), HAS(wait.location), HAS(wait.site), HAS(wait.comm), HAS(wait.call),
	HAS(wait.cause), HAS(wait.cause_seq), FIELDS_END };
static const struct field delay_fields[] = { PLACE, HAS(delay.key), HAS(delay.rank),
	HAS(delay.short_whole_ns), HAS(delay.short_fraction), HAS(delay.long_whole_ns),
	HAS(delay.long_fraction), FIELDS_END };
static const struct field taken_fields[] = { PLACE, HAS(taken.site),
    HAS(taken.place), HAS(taken.own),
	HAS(taken.rank), HAS(taken.samples), HAS(taken.period_ns), FIELDS_END };
static const struct field hybrid_fields[] = { PLACE, HAS(hybrid.ns), HAS(hybrid.on_core_ns),
	FIELDS_END };
#define COUNTER(name, ...) HAS(counted.of[COUNT_##name]),
static const struct field counted_fields[] = { PLACE, HAS(counted.rank), HAS(counted.place),
	HAS(counted.on_core_ns),
#include "../stream/counters.h"
	FIELDS_END };
#undef COUNTER

/* In the order of sending. */
enum result {
	COUNTS, STATE, LARGEST, SPAN, LOCATION, CELL, ANALYTIC, WAIT_NS, SITE, DELAY, LINK,
	    SAMPLED, HYBRID, COUNTED, RESULTS
};

static const struct {
	const char *kind;
	const struct field *fields;
} results[RESULTS] = {
	[COUNTS] = { "counts", counts_fields }, [STATE] = { "state", state_fields },
	[LARGEST] = { "largest", wait_fields }, [SPAN] = { "span", span_fields },
	[LOCATION] = { "location", location_fields }, [CELL] = { "cell", cell_fields },
	[ANALYTIC] = { "analytic", analytic_fields },
	[WAIT_NS] = { "wait_ns", wait_ns_fields }, [SITE] = { "site_ns", site_fields },
	[DELAY] = { "delay", delay_fields }, [LINK] = { "link", wait_fields },
	[SAMPLED] = { "sampled", taken_fields }, [HYBRID] = { "hybrid", hybrid_fields },
	[COUNTED] = { "counted", counted_fields },
};

/* ---- their places in memory ---------------------------------------------------------- */

/* Counts the indices of a kind in table, state or site OF; false: there is no such OF. */
static bool
count_places(const struct imbalance *im, enum result result, uint32_t of, size_t *count)
{
	*count = 1;
	switch (result) {
	case CELL:
		*count = of < DIMENSIONS ? im->tables[of].count : 0;
		return of < DIMENSIONS;
	case ANALYTIC:
		*count = of < DIMENSIONS ? im->tables[of].analytic_count : 0;
		return of < DIMENSIONS;
	case WAIT_NS:
		*count = of < DIMENSIONS * STATES ?
		    im->tables[of / STATES].wait_count[of % STATES] : 0;
		return of < DIMENSIONS * STATES;
	case SITE:
		*count = (size_t)im->graph.known.ranks;
		return of < im->site_count;
	case HYBRID:
		*count = (size_t)im->graph.known.ranks;
		return of < im->hybrid_count;
	case LINK:
		*count = MOST_LINKS;
		return of < chain_count(im);
	case STATE:
	case LARGEST: *count = STATES; break;
	case SPAN: *count = (size_t)im->graph.known.ranks; break;
	case LOCATION: *count = im->graph.known.location_count; break;
	case DELAY: *count = im->causes->delays.count; break;
	case SAMPLED: *count = im->functions != NULL ? taken_places(im) : 0; break;
	case COUNTED: *count = counted_places(im); break;
	default: break;
	}
	return of == 0;
}

/* The result at an index; false: there is none. */
static bool
find(const struct imbalance *im, enum result result, struct item *item)
{
	const uint32_t of = item->of, index = item->index;
	struct wait chain[MOST_LINKS];
	size_t links;

	switch (result) {
	case COUNTS: item->counts = im->counts; break;
	case STATE: item->state = im->states[index]; break;
	case LARGEST: item->wait = im->states[index].largest; break;
	case SPAN: item->span = im->spans[index]; break;
	case LOCATION:
		item->location.before_ns = im->before_ns[index];
		item->location.last_leave_ns = im->last_leave_ns[index];
		break;
	case CELL: item->cell = im->tables[of].cells[index]; break;
	case ANALYTIC: item->analytic = im->tables[of].analytic[index]; break;
	case WAIT_NS:
		item->wait_ns = state_ns(&im->tables[of / STATES], index, (int)(of % STATES));
		return item->wait_ns != 0;
	case SITE:
		if (im->sites[of] == NULL)
			return false;
		item->site = im->sites[of][index];
		return index == 0 || item->site.compute_ns != 0 || item->site.mpi_ns != 0;
	case DELAY: item->delay = im->causes->delays.of[index]; break;
	case LINK:		/* OF: links after this one */
		links = chain_of(im, of, chain);
		if (index >= links)
			return false;
		item->of = (uint32_t)(links - 1 - index);
		item->wait = chain[index];
		break;
	case SAMPLED: return taken_at(im, index, &item->taken);
	case COUNTED: return counted_at(im, index, &item->counted);
	case HYBRID:
		item->hybrid = hybrid_time(im, of, (int32_t)index);
		return item->hybrid.ns > 0;
	default: return false;
	}
	return true;
}

/* The sums at an index, added if missing; NULL: it has no sums. */
static void *
sums_of(struct imbalance *im, enum result result, const struct item *item)
{
	switch (result) {
	case COUNTS: return &im->counts;
	case STATE: return &im->states[item->index];
	case CELL: return cell_of(im, item->of, item->index);
	case ANALYTIC: return analytic_of(im, item->of, item->index);
	case WAIT_NS: return wait_ns_of(&im->tables[item->of / STATES], item->index,
	    item->of % STATES);
	case SITE: return site_ns_of(im, item->of, (int32_t)item->index);
	case HYBRID: return hybrid_at(im, item->of, (int32_t)item->index);
	default: return NULL;
	}
}

/* ---- one writer, one adder ---- */

enum { AT_ONCE = 4096 };	/* rows of a message */

static void
send_rows(const struct team *team, int to, enum result result,
    const struct item *items, size_t count)
{
	struct writer out;

	writer_start(&out, -1);
	put_rows(&out, results[result].kind, results[result].fields, items, count, sizeof *items);
	team_send(team, to, out.buffer.data, out.buffer.size, 1);
	writer_close(&out);
}

/* Sends all results; a message without bytes is the last. */
static void
give(const struct imbalance *im, const struct team *team, int to)
{
	struct item *items = zalloc(AT_ONCE, sizeof *items);

	for (int result = 0; result < RESULTS; result++) {
		size_t places, count = 0;

		for (uint32_t of = 0; count_places(im, (enum result)result, of, &places); of++)
			for (uint32_t index = 0; index < places; index++) {
				items[count] = (struct item){ .of = of, .index = index };
				count += find(im, (enum result)result, &items[count]);
				if (count < AT_ONCE)
					continue;
				send_rows(team, to, (enum result)result, items, count);
				count = 0;
			}
		send_rows(team, to, (enum result)result, items, count);
	}
	team_send(team, to, items, 0, 1);
	free(items);
}

/* A chain that arrives link by link. */
struct links {
	struct wait of[MOST_LINKS];
	size_t count;
};

static void
add(struct imbalance *im, enum result result, const struct item *item, struct links *links)
{
	char *sums = sums_of(im, result, item);

	for (const struct field *f = results[result].fields + 2;
	    sums != NULL && f->name != NULL; f++)
		*(int64_t *)(void *)(sums + f->offset - offsetof(struct item, counts)) +=
		    *(const int64_t *)(const void *)((const char *)item + f->offset);
	switch (result) {
	case LARGEST: count_largest(im, &item->wait); break;
	case SPAN: span_join(&im->spans[item->index], &item->span); break;
	case LOCATION:
		/* only one part has its first call */
		im->before_ns[item->index] += item->location.before_ns;
		if (item->location.last_leave_ns > im->last_leave_ns[item->index])
			im->last_leave_ns[item->index] = item->location.last_leave_ns;
		break;
	case DELAY: join_delay(im, &item->delay); break;
	case LINK:
		links->of[links->count++] = item->wait;
		if (item->of == 0) {
			join_chain(im, links->of, links->count);
			links->count = 0;
		}
		break;
	case SAMPLED: join_taken(im, &item->taken); break;
	case COUNTED: counted_add(im, &item->counted); break;
	default: break;
	}
	if (im->counts.sampled > 0)
		functions_begin(im);
}

/* Takes all results that the member gives. */
static void
take(struct imbalance *im, const struct team *team, int from)
{
	struct item *items = zalloc(AT_ONCE, sizeof *items);
	const char *why = "its rows are damaged";
	struct links links = { .count = 0 };
	msgpack_unpacked unpacked;
	struct message message;
	size_t bytes, count;
	void *sent;

	msgpack_unpacked_init(&unpacked);
	for (;;) {
		int result = 0;

		sent = team_receive(team, from, 1, &bytes);
		if (bytes == 0)
			break;
		if (message_parse(&message, &unpacked, sent, bytes, &why) <= 0)
			die("results of process %d: %s", from, why);
		while (!is_kind(&message, results[result].kind))
			result++;
		if (rows_read(NULL, &message, results[result].fields, items, AT_ONCE,
		    sizeof *items, &count) < 0)
			die("results of process %d: %s", from, why);
		for (size_t i = 0; i < count; i++)
			add(im, (enum result)result, &items[i], &links);
		free(sent);
	}
	free(sent);
	msgpack_unpacked_destroy(&unpacked);
	free(items);
}

/* ---- the reduction tree -------------------------------------------------------------- */

/* The members whose parts make up the run; their number goes to *COUNT. */
static int *
needed(const struct part *part, const struct team *team, size_t *count)
{
	struct read { uint64_t member, first, end; } own = { (uint64_t)team->rank, 0, 0 }, *all;
	int *members = zalloc((size_t)team->size, sizeof *members);
	size_t parts;
	uint64_t next = 0;

	if (part != NULL) {
		own.first = part->first;
		own.end = part->end;
	}
	all = team_share(team, &own, part != NULL, sizeof own, &parts);
	*count = 0;
	for (size_t i = 0; i < parts; i++)	/* in order of their parts */
		if (all[i].first == next) {
			members[(*count)++] = (int)all[i].member;
			next = all[i].end;
		}
	free(all);
	return members;
}

/* Each member has counted its part, or nothing. */
static void
join_parts(struct imbalance *im, const struct team *team)
{
	size_t count, own = 0;
	int *members = needed(im->part, team, &count);

	while (own < count && members[own] != team->rank)
		own++;
	for (size_t step = 1; own < count && step < count && own % step == 0; step *= 2)
		if (own % (2 * step) == step)
			give(im, team, members[own - step]);
		else if (own + step < count)
			take(im, team, members[own + step]);
	free(members);
}

void
read_graph_together(struct imbalance *im, const char *file, const struct team *team)
{
	struct part part = { .first = (size_t)team->rank, .begun = team->rank == 0,
	    .end = (size_t)team->rank + 1 };
	uint64_t counts[2] = { 1, 0 };		/* of parts; what is defined before */
	struct border *borders = NULL;

	if (team->size == 1) {
		read_graph(im, file);
		return;
	}
	if (team->rank == 0)
		borders = part_borders(file, (size_t)team->size, &counts[0], &counts[1]);
	team_copy(team, counts, sizeof counts);
	if (team->rank > 0)
		borders = zalloc(counts[0], sizeof *borders);
	team_copy(team, borders, counts[0] * sizeof *borders);
	part.borders = borders;
	part.count = counts[0];
	part.defined = counts[1];
	team_part(team);
	if (part.first < part.count) {
		im->part = &part;
		read_graph(im, file);
	}
	team_meet(team);
	join_parts(im, team);
	im->part = NULL;
}
