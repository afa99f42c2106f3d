/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"

/* To the owner of a row: a row that may have blocked its call. */
struct link {
	uint64_t seq, other_seq;
	struct far_end far;
	uint32_t location, other;
	uint32_t order;		/* in the block: a later link replaces an earlier one */
};

/* To the member that resolves a collective: the row of one of its members. */
struct parcel {
	uint64_t at;			/* index of the member in the block */
	struct row row;
};

static int
owner(const struct run *run, uint32_t location)
{
	return owner_in(run->team, run->graph.known.location_rank, location);
}

/* An own row that an edge names; NULL: another member's, or before the first wanted stretch. */
static struct event_row *
own_row(struct run *run, const struct message *message, uint32_t location, uint64_t seq)
{
	struct event_row *row = window_change(&run->graph.window, location, seq);

	if (row == NULL && run->part.from == 0 && owner(run, location) == run->team->rank) {
		reader_fail(run->graph.in, message->offset, "%s: row %llu of location %u is "
		    "not there", message->kind, (unsigned long long)seq, location);
		die_input(run->graph.in);
	}
	return row;
}

static void
post_link(struct run *run, struct post *out, struct link link, const struct row *other)
{
	link.far = far_end(other);
	post_add(out, &link, sizeof link, owner(run, link.location));
}

/* Joins arriving links with own rows; ORDERS: the number of different orders. */
static void
take_links(struct run *run, struct post *out, size_t orders, bool are_holds)
{
	const struct link **in_order = zalloc(orders, sizeof *in_order);
	size_t count;
	struct link *links = post_exchange(run->team, out, sizeof *links, &count);

	for (size_t i = 0; i < count; i++)
		in_order[links[i].order] = &links[i];
	for (size_t i = 0; i < orders; i++) {
		const struct link *link = in_order[i];
		struct shared_row *row = link != NULL ?
		    window_change(&run->graph.window, link->location, link->seq) : NULL;

		if (row == NULL ||
		    stays_linked(&row->at, row->far.enter_ns, link->far.enter_ns, are_holds))
			continue;
		/* with an odd order it is a send, which may wait for the post of its receive */
		if (i % 2 > 0 && is_signal(call_class(row->at.row.call)))
			continue;
		link_rows(&row->at, link->other, link->other_seq);
		row->far = link->far;
	}
	free(in_order);
	free(links);
}

void
share_messages(struct run *run, const struct message *message)
{
	const struct edge_block *e = &run->graph.edges;
	struct post out = { 0 };

	for (size_t i = 0; i < e->count; i++) {
		struct event_row *send = own_row(run, message, e->source[i], e->send[i]);
		const struct event_row *receive = own_row(run, message, e->target[i],
		    e->receive[i]);
		uint32_t poster = e->target[i], order = 2 * (uint32_t)i;
		uint64_t at = e->receive[i];

		if (send != NULL && call_class(send->row.call) == CLASS_ACCESS_END &&
		    owner(run, poster) != run->team->rank)
			*APPEND(run->told, run->told_count, run->told_capacity) = (struct told){
			    e->send[i], at, e->source[i], poster };
		if (send != NULL) {
			send->is_send |= is_kind(message, "messages");
			post_link(run, &out, (struct link){ .location = poster, .seq = at,
			    .other = e->source[i], .other_seq = e->send[i], .order = order },
			    &send->row);
		}
		/* nothing waits for a probe, or for who waits for a lock or a receiver */
		if (receive == NULL || !is_kind(message, "messages"))
			continue;
		post_of(receive, &poster, &at);
		/* The threads of a rank have the same owner, so the post is here, too. */
		if ((receive = window_row(&run->graph.window, poster, at)) != NULL)
			post_link(run, &out,
			    (struct link){ .location = e->source[i], .seq = e->send[i],
			    .other = poster, .other_seq = at, .order = order + 1 }, &receive->row);
	}
	take_links(run, &out, 2 * e->count, is_kind(message, "holds"));
}

void
share_collectives(struct run *run, const struct message *message)
{
	const struct edge_block *e = &run->graph.edges;
	/* of the members of own instances, by index in the block; NULL: there is none */
	const struct row **rows = zalloc(e->count, sizeof *rows);
	struct parcel *parcels;
	struct post out = { 0 };
	size_t at = 0, count;

	for (size_t k = 0; k < e->instances; k++)
		for (size_t first = at; at < first + e->size[k]; at++) {
			const struct event_row *row = own_row(run, message, e->location[at],
			    e->seq[at]);

			if (row != NULL)
				post_add(&out, &(struct parcel){ at, row->row },
				    sizeof(struct parcel), owner(run, e->location[first]));
		}
	parcels = post_exchange(run->team, &out, sizeof *parcels, &count);
	for (size_t i = 0; i < count; i++)
		rows[parcels[i].at] = &parcels[i].row;
	at = 0;
	for (size_t k = 0; k < e->instances; at += e->size[k++]) {
		if (owner(run, e->location[at]) != run->team->rank ||
		    !collective_find(run, k, at, rows + at))
			continue;
		for (uint32_t i = 0; i < e->size[k]; i++) {
			uint32_t other = run->waits_for[i];

			if (other != NOBODY && other != i)
				post_link(run, &out, (struct link){ .location = e->location[at + i],
				    .seq = e->seq[at + i], .other = e->location[at + other],
				    .other_seq = e->seq[at + other], .order = (uint32_t)(at + i) },
				    rows[at + other]);
		}
	}
	take_links(run, &out, e->count, false);
	free(parcels);
	free(rows);
}

/* The last post that an MPI_Win_complete waits for blocks the MPI_Win_wait that it ends, too. */
static void
share_posts(struct run *run)
{
	const struct stretch stretch = run_stretch(run, (struct event){ 0 });
	struct post out = { 0 };
	size_t kept = 0, count;
	struct link *links;

	for (const struct told *t = run->told; t < run->told + run->told_count; t++) {
		const struct event_row *row = window_row(stretch.window, t->location, t->seq);
		struct edge_rows e;
		struct far far;

		if (row == NULL)
			continue;
		for (e = edge_rows(stretch.window, t->location, t->seq - row->row.part);
		    edge_rows_next(&e);)
			if (find_far(&stretch, e.edge, &far))
				post_add(&out, &(struct link){ .location = t->waiter,
				    .seq = t->wait_seq, .other = far.location,
				    .other_seq = far.seq, .far = far.end }, sizeof *links,
				    owner(run, t->waiter));
		if (t->seq >= run->end_seq[t->location])
			run->told[kept++] = *t;
	}
	run->told_count = kept;
	links = post_exchange(run->team, &out, sizeof *links, &count);
	for (const struct link *link = links; link < links + count; link++) {
		const struct far far = { link->other_seq, link->other, link->far };
		struct shared_row *wait = window_change(&run->graph.window, link->location,
		    link->seq);

		if (wait == NULL)
			continue;
		if (!is_within(&wait->at.row, wait->far.enter_ns) ? is_within(&wait->at.row,
		    far.end.enter_ns) : is_last_far(&wait->at.row, &far,
		    &(struct far){ wait->at.other_seq, wait->at.other, wait->far })) {
			link_rows(&wait->at, far.location, far.seq);
			wait->far = far.end;
		}
	}
	free(links);
}

#define LOCATIONS (INT64_C(1) << 32)

void
share_last(struct run *run, struct event *last, int preference)
{
	const int64_t own_ns = run->last_ns, own = (int64_t)preference * LOCATIONS + LOCATIONS - 1 -
	    last->location;
	int64_t best, seq, most[] = { run->last_ns, run->told_count > 0 };

	team_max(run->team, most, 2);
	run->last_ns = most[0];
	if (most[1] > 0)
		share_posts(run);
	best = own_ns == run->last_ns && own_ns != INT64_MIN ? own : INT64_MIN;
	team_max(run->team, &best, 1);		/* of equal preference: the lowest location */
	seq = best == own && own_ns == run->last_ns ? (int64_t)last->seq : -1;
	team_max(run->team, &seq, 1);
	last->location = best == INT64_MIN ? 0 : (uint32_t)(LOCATIONS - 1 - best % LOCATIONS);
	last->seq = (uint64_t)seq;
}

void
share_ends(struct run *run)
{
	int64_t *ends = zalloc(run->graph.known.location_count, sizeof *ends);

	for (uint32_t l = 0; l < run->graph.known.location_count; l++)
		ends[l] = run_owns(run, l) ? (int64_t)run->end_seq[l] : 0;
	team_max(run->team, ends, run->graph.known.location_count);
	for (uint32_t l = 0; l < run->graph.known.location_count; l++)
		run->end_seq[l] = (uint64_t)ends[l];
	free(ends);
}
