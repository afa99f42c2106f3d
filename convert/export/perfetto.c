/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Perfetto's trace of packets (TracePacket, field 1 of Trace), one sequence of them: a process a rank with
 * a track for the calls of each thread and one for its waits, messages as flows, the critical path where
 * the stream has one, and how much of all ranks computes as a counter.
 *
 * memory  rows to which edges may still come, and BINS of the counter
 */
#include <stdlib.h>
#include <string.h>

#include "../../base/mpi/call_class.h"
#include "../../base/run/collective.h"
#include "perfetto.h"

/* ---- reading ---- */

static void
take_run(struct perfetto *p)
{
	const uint32_t locations = p->known.location_count;

	window_open(&p->window, locations, sizeof(struct slice));
	p->seqs = zalloc(locations, sizeof *p->seqs);
	p->left_ns = zalloc(locations, sizeof *p->left_ns);
	for (uint32_t l = 0; l < locations; l++)
		p->left_ns[l] = -1;
}

/* All threads are defined when the first block comes. */
static void
put_tracks(struct perfetto *p)
{
	if (p->begun)
		return;
	p->begun = true;
	for (int32_t r = 0; r < p->known.ranks; r++)
		if (is_wanted(p->export, r, p->export->from_ns, p->export->from_ns))
			process_track(p, r);
	for (uint32_t l = 0; l < p->known.location_count; l++)
		if (p->known.location_rank[l] >= 0 &&
		    is_wanted(p->export, p->known.location_rank[l], p->export->from_ns, p->export->from_ns))
			location_tracks(p, l);
}

static void
take_calls(struct perfetto *p, const struct message *message)
{
	const struct calls *c = &p->calls;

	put_tracks(p);
	if (calls_read(&p->calls, p->in, message) < 0 ||
	    window_add(&p->window, p->in, message, c) < 0)
		die_input(p->in);
	for (size_t i = 0; i < c->count; i++) {
		struct slice *slice = window_change(&p->window, c->location, c->first + i);

		slice->sent = c->bytes_sent[i];
		slice->received = c->bytes_received[i];
		slice->tag = c->tag[i];
		slice->folded = c->folded[i];
	}
}

static void
take_messages(struct perfetto *p, const struct message *message)
{
	struct edge_block *e = &p->edges;

	if (messages_read(e, p->in, message, &p->window) < 0)
		die_input(p->in);
	for (size_t i = 0; i < e->count; i++) {
		struct slice *send = window_change(&p->window, e->source[i], e->send[i]);
		struct slice *receive = window_change(&p->window, e->target[i], e->receive[i]);
		const int64_t sent_ns = send->row.enter_ns;

		send->flow = receive->flow_end = ++p->flows;
		if (sent_ns <= receive->row.enter_ns)
			continue;
		receive->wait_end_ns = sent_ns < receive->row.leave_ns ? sent_ns : receive->row.leave_ns;
		receive->waits_for = e->source[i];
		receive->late_sender = true;
	}
}

static void
take_instance(struct perfetto *p, size_t first, uint32_t count)
{
	const struct edge_block *e = &p->edges;

	p->members = grow(p->members, &p->member_capacity, count, sizeof *p->members);
	p->waits_for = grow(p->waits_for, &p->waits_capacity, count, sizeof *p->waits_for);
	for (uint32_t i = 0; i < count; i++)
		p->members[i] = (struct member){ e->location[first + i], e->seq[first + i],
		    window_row(&p->window, e->location[first + i], e->seq[first + i]) };
	if (is_collective_start(call_class(p->members[0].row->call)))
		return;		/* the wait is in the completion, and what it waits for is not told there */
	collective_waits(&p->known, p->members, count, p->waits_for);
	for (uint32_t i = 0; i < count; i++) {
		struct slice *slice = window_change(&p->window, p->members[i].location, p->members[i].seq);
		int64_t late_ns;

		if (p->waits_for[i] == NOBODY || p->waits_for[i] == i)
			continue;
		late_ns = p->members[p->waits_for[i]].row->enter_ns;
		if (late_ns <= slice->row.enter_ns)
			continue;
		slice->wait_end_ns = late_ns < slice->row.leave_ns ? late_ns : slice->row.leave_ns;
		slice->waits_for = p->members[p->waits_for[i]].location;
	}
}

static void
take_collectives(struct perfetto *p, const struct message *message)
{
	size_t first = 0;

	if (collectives_read(&p->edges, p->in, message, &p->window) < 0)
		die_input(p->in);
	for (size_t i = 0; i < p->edges.instances; first += p->edges.size[i++])
		take_instance(p, first, p->edges.size[i]);
}

static void
take_settled(struct perfetto *p, const struct message *message)
{
	if (seqs_read(p->seqs, p->in, message, &p->window) < 0)
		die_input(p->in);
	for (uint32_t l = 0; l < p->known.location_count; l++)
		put_calls(p, l, p->seqs[l]);
}

static void
take_segments(struct perfetto *p, const struct message *message)
{
	if (!p->path)
		own_track(p, PATH_TRACK, "critical path", NULL);
	p->path = true;
	p->segments.count = 0;
	if (segments_read(&p->segments, p->in, message, &p->known) < 0)
		die_input(p->in);
	for (size_t i = 0; i < p->segments.count; i++) {
		const struct segment *s = &p->segments.at[i];
		uint64_t name, where;
		size_t packet, event;

		if (s->kind == GAP || s->begin_ns >= s->end_ns || s->end_ns < p->export->from_ns || s->begin_ns > p->export->to_ns)
			continue;
		name = name_iid(p, s->kind == 1 && s->call > 0 ? s->call : NAME_COMPUTE + s->kind);
		where = site_iid(p, s->site);
		event = event_begin(p, &packet, s->begin_ns, PATH_TRACK, SLICE_BEGIN);
		proto_uint(&p->out, EVENT_NAME_IID, name);
		annotate(p, RANK, ANNOTATION_UINT, (uint64_t)p->known.location_rank[s->location]);
		if (where > 0)
			annotate(p, SITE, ANNOTATION_STRING_IID, where);
		proto_end(&p->out, event);
		packet_end(p, packet);
		slice_end(p, s->end_ns, PATH_TRACK);
	}
}

static void
take(struct perfetto *p, const struct message *message)
{
	if (definitions_take(&p->known, p->in, message) < 0)
		die_input(p->in);
	if (is_kind(message, "run"))
		take_run(p);
	else if (is_kind(message, "calls"))
		take_calls(p, message);
	else if (is_kind(message, "messages"))
		take_messages(p, message);
	else if (is_kind(message, "collectives"))
		take_collectives(p, message);
	else if (is_kind(message, "sync") || is_kind(message, "settled"))
		take_settled(p, message);
	else if (is_kind(message, "segments"))
		take_segments(p, message);
}

void
export_perfetto(const struct export *export)
{
	static struct perfetto p;
	struct message message;
	struct progress progress = { 0 };

	p.export = export;
	p.named = zalloc(NAME_COMPUTE + OWN_NAMES, sizeof *p.named);
	p.bins = zalloc(BINS, sizeof *p.bins);
	if (reader_open(&p.in, export->files[0], READ_STREAM) < 0 ||
	    reader_refuse_content(p.in, "trace", "lp-graph matches it first") < 0)
		die_input(p.in);
	perfetto_begin(&p);
	while (progress_next(&progress, p.in, &message))
		take(&p, &message);
	if (p.known.ranks == 0)
		die("the stream has no message of kind run");
	for (uint32_t l = 0; l < p.known.location_count; l++)
		put_calls(&p, l, UINT64_MAX);
	if (p.slices == 0)
		die("nothing is of the ranks and times asked for");
	put_counter(&p);
	perfetto_flush(&p);
}
