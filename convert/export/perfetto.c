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
take_run(struct rows *rows)
{
	struct perfetto *p = (struct perfetto *)(void *)rows;

	p->left_ns = zalloc(rows->known.location_count, sizeof *p->left_ns);
	for (uint32_t l = 0; l < rows->known.location_count; l++)
		p->left_ns[l] = -1;
}

/* All threads are defined when the first block comes. */
static void
put_tracks(struct rows *rows)
{
	struct perfetto *p = (struct perfetto *)(void *)rows;

	for (int32_t r = 0; r < rows->known.ranks; r++)
		if (is_wanted(p->export, r, p->export->from_ns, p->export->from_ns))
			process_track(p, r);
	for (uint32_t l = 0; l < rows->known.location_count; l++)
		if (rows->known.location_rank[l] >= 0 &&
		    is_wanted(p->export, rows->known.location_rank[l], p->export->from_ns, p->export->from_ns))
			location_tracks(p, l);
}

static void
take_message(struct rows *rows, size_t i)
{
	const struct edge_block *e = &rows->edges;
	struct slice *send = window_change(&rows->window, e->source[i], e->send[i]);
	struct slice *receive = window_change(&rows->window, e->target[i], e->receive[i]);
	const int64_t sent_ns = send->kept.row.enter_ns, left_ns = receive->kept.row.leave_ns;

	send->flow = receive->flow_end = ++((struct perfetto *)(void *)rows)->flows;
	if (sent_ns <= receive->kept.row.enter_ns)
		return;
	receive->wait_end_ns = sent_ns < left_ns ? sent_ns : left_ns;
	receive->waits_for = e->source[i];
	receive->late_sender = true;
}

static void
take_instance(struct perfetto *p, size_t first, uint32_t count)
{
	const struct edge_block *e = &p->rows.edges;

	p->members = grow(p->members, &p->member_capacity, count, sizeof *p->members);
	p->waits_for = grow(p->waits_for, &p->waits_capacity, count, sizeof *p->waits_for);
	for (uint32_t i = 0; i < count; i++)
		p->members[i] = (struct member){ e->location[first + i], e->seq[first + i],
		    window_row(&p->rows.window, e->location[first + i], e->seq[first + i]) };
	if (is_collective_start(call_class(p->members[0].row->call)))
		return;		/* the wait is in the completion, and what it waits for is not told there */
	collective_waits(&p->rows.known, p->members, count, p->waits_for);
	for (uint32_t i = 0; i < count; i++) {
		struct slice *slice = window_change(&p->rows.window, p->members[i].location, p->members[i].seq);
		int64_t late_ns;

		if (p->waits_for[i] == NOBODY || p->waits_for[i] == i)
			continue;
		late_ns = p->members[p->waits_for[i]].row->enter_ns;
		if (late_ns <= slice->kept.row.enter_ns)
			continue;
		slice->wait_end_ns = late_ns < slice->kept.row.leave_ns ? late_ns : slice->kept.row.leave_ns;
		slice->waits_for = p->members[p->waits_for[i]].location;
	}
}

static void
take_collectives(struct rows *rows)
{
	size_t first = 0;

	for (size_t i = 0; i < rows->edges.instances; first += rows->edges.size[i++])
		take_instance((struct perfetto *)(void *)rows, first, rows->edges.size[i]);
}

static void
take_segment(struct rows *rows, const struct segment *s)
{
	struct perfetto *p = (struct perfetto *)(void *)rows;
	uint64_t name, where;
	size_t packet, event;

	if (!p->path)
		own_track(p, PATH_TRACK, "critical path", NULL);
	p->path = true;
	if (s->kind == GAP || s->begin_ns >= s->end_ns || s->end_ns < p->export->from_ns ||
	    s->begin_ns > p->export->to_ns)
		return;
	name = name_iid(p, s->kind == 1 && s->call > 0 ? s->call : NAME_COMPUTE + s->kind);
	where = site_iid(p, s->site);
	event = event_begin(p, &packet, s->begin_ns, PATH_TRACK, SLICE_BEGIN);
	proto_uint(&p->out, EVENT_NAME_IID, name);
	annotate(p, RANK, ANNOTATION_UINT, (uint64_t)rows->known.location_rank[s->location]);
	if (where > 0)
		annotate(p, SITE, ANNOTATION_STRING_IID, where);
	proto_end(&p->out, event);
	packet_end(p, packet);
	slice_end(p, s->end_ns, PATH_TRACK);
}

void
export_perfetto(const struct export *export)
{
	static const struct rows_user user = { .row_bytes = sizeof(struct slice), .run = take_run,
	    .begin = put_tracks, .message = take_message, .collectives = take_collectives,
	    .settle = put_calls, .segment = take_segment };
	static struct perfetto p;

	p.export = export;
	p.named = zalloc(NAME_COMPUTE + OWN_NAMES, sizeof *p.named);
	p.bins = zalloc(BINS, sizeof *p.bins);
	rows_open(&p.rows, export->files[0]);
	perfetto_begin(&p);
	rows_read(&p.rows, &user);
	if (p.slices == 0)
		die("nothing is of the ranks and times asked for");
	put_counter(&p);
	perfetto_flush(&p);
}
