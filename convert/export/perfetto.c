/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Perfetto's trace of packets (TracePacket, field 1 of Trace), in one sequence. Each rank is a
 * process with a track for the calls of each thread and one for its waits. Messages are flows. The
 * critical path, if known, has a track. A counter shows the share of ranks that compute.
 *
 * memory rows to which edges may still come, and BINS of the counter
 */
#include <string.h>

#include "perfetto.h"

static bool
is_wanted_rank(const struct export *export, int32_t rank)
{
	return is_wanted(export, rank, export->from_ns, export->from_ns);
}

/* ---- slices of calls and their waits ---- */

/* A call with its parts, COUNT rows: its own data as arguments, all its messages as flows. */
static void
put_call(struct perfetto *p, uint32_t location, uint64_t seq, size_t count)
{
	const struct slice *call = window_row(&p->graph.window, location, seq), *longest = call;
	const uint64_t name = name_iid(p, call->kept.row.call),
	    site = site_iid(p, call->kept.row.site);

	slice_begin(p, call->kept.row.enter_ns, THREAD_TRACK(location), name);
	if (call->kept.row.peer != NO_PEER)
		annotate(p, PEER, ANNOTATION_INT, (uint64_t)(int64_t)call->kept.row.peer);
	if (call->kept.tag != NO_TAG)
		annotate(p, TAG, ANNOTATION_INT, (uint64_t)(int64_t)call->kept.tag);
	if (call->kept.row.comm > 0)
		annotate(p, COMM, ANNOTATION_UINT, call->kept.row.comm);
	if (call->kept.sent > 0)
		annotate(p, SENT, ANNOTATION_UINT, call->kept.sent);
	if (call->kept.received > 0)
		annotate(p, RECEIVED, ANNOTATION_UINT, call->kept.received);
	if (call->kept.folded > 0)
		annotate(p, FOLDED, ANNOTATION_UINT, call->kept.folded);
	if (site > 0)
		annotate(p, SITE, ANNOTATION_STRING_IID, site);
	for (size_t i = 0; i < count; i++) {
		const struct slice *part = window_row(&p->graph.window, location, seq + i);

		if (part->flow > 0)
			proto_fixed64(&p->out, EVENT_FLOW, part->flow);
		if (part->flow_end > 0)
			proto_fixed64(&p->out, EVENT_FLOW_END, part->flow_end);
		if (part->wait_end_ns > longest->wait_end_ns)
			longest = part;
	}
	slice_end(p, call->kept.row.leave_ns, THREAD_TRACK(location));
	if (longest->wait_end_ns <= call->kept.row.enter_ns)
		return;
	slice_begin(p, call->kept.row.enter_ns, WAIT_TRACK(location), name_iid(p,
	    longest->late_sender ? NAME_LATE_SENDER : NAME_LATE_MEMBER));
	annotate(p, WAITS_FOR, ANNOTATION_UINT,
	    (uint64_t)p->graph.known.location_rank[longest->waits_for]);
	slice_end(p, longest->wait_end_ns, WAIT_TRACK(location));
}

/* Spreads the time between calls over the bins that it overlaps. */
static void
add_computing(struct perfetto *p, int64_t from_ns, int64_t to_ns)
{
	const double width = (double)p->graph.known.run_ns / BINS;

	if (width <= 0 || to_ns > p->graph.known.run_ns || from_ns < 0)
		return;
	for (size_t bin = (size_t)((double)from_ns / width);
	    bin < BINS && (double)bin * width < (double)to_ns; bin++) {
		const double begin = (double)bin * width, end = begin + width,
		    low = begin > (double)from_ns ? begin : (double)from_ns,
		    high = end < (double)to_ns ? end : (double)to_ns;

		if (high > low)
			p->bins[bin] += high - low;
	}
}

/* Writes the calls before SEQ, which have all their edges. */
static void
put_calls(struct perfetto *p, uint32_t location, uint64_t seq)
{
	const int32_t rank = p->graph.known.location_rank[location];
	const uint64_t all = window_end(&p->graph.window, location), end = seq < all ? seq : all;
	uint64_t at = p->graph.window.lanes[location].first;

	while (at < end) {
		const struct slice *call = window_row(&p->graph.window, location, at), *part;
		size_t count = 1;

		while ((part = window_row(&p->graph.window, location, at + count)) != NULL &&
		    part->kept.row.part > 0)
			count++;
		if (at + count > end)
			break;
		if (p->graph.known.location_thread[location] == 0 && p->left_ns[location] >= 0)
			add_computing(p, p->left_ns[location], call->kept.row.enter_ns);
		p->left_ns[location] = call->kept.row.leave_ns;
		if (is_wanted(p->export, rank, call->kept.row.enter_ns, call->kept.row.leave_ns))
			put_call(p, location, at, count);
		at += count;
	}
	window_drop(&p->graph.window, location, at);
}

/* Per cent of all ranks that compute; only for the whole run. */
static void
put_counter(struct perfetto *p)
{
	const double width = (double)p->graph.known.run_ns / BINS;

	if (p->export->ranks.count > 0 || width <= 0)
		return;
	named_track(p, COUNTER_TRACK, 0, "computing", "% of ranks");
	for (size_t bin = 0; bin < BINS; bin++) {
		int64_t at_ns = (int64_t)((double)bin * width);

		if (at_ns >= p->export->from_ns && at_ns <= p->export->to_ns)
			counter_value(p, at_ns, COUNTER_TRACK,
			    100 * p->bins[bin] / width / p->graph.known.ranks);
	}
}

/* ---- regions, on a track for each thread; with limits of time, only what lies within ---- */

struct region_track {
	uint32_t location, worker;
	struct begun { uint32_t region; int64_t ns; } *open;
	size_t count, capacity;
	size_t shown;			/* the first ones of these have a begin in the output */
};

static struct region_track *
track_of(struct perfetto *p, uint32_t location, uint32_t worker)
{
	const uint32_t thread = p->graph.known.location_thread[location];
	struct region_track *track;
	char name[48] = "regions";

	for (size_t i = 0; i < p->region_track_count; i++)
		if (p->region_tracks[i].location == location &&
		    p->region_tracks[i].worker == worker)
			return &p->region_tracks[i];
	track = APPEND(p->region_tracks, p->region_track_count, p->region_track_capacity);
	*track = (struct region_track){ .location = location, .worker = worker };
	if (worker > 0)
		snprintf(name, sizeof name, "regions of a thread without calls");
	else if (thread > 0)
		snprintf(name, sizeof name, "regions of thread %u", (unsigned)thread);
	named_track(p, REGION_TRACK(location, worker),
	    PROCESS_TRACK(p->graph.known.location_rank[location]), name, NULL);
	return track;
}

/* The regions that are open at the first instant shown begin there. */
static void
show_open(struct perfetto *p, struct region_track *track)
{
	const struct definitions *known = &p->graph.known;

	for (; track->shown < track->count; track->shown++) {
		const struct begun *begun = &track->open[track->shown];
		const bool has_name = begun->region < known->region_count &&
		    known->regions[begun->region] != NULL;

		slice_open(p, larger(begun->ns, p->export->from_ns),
		    REGION_TRACK(track->location, track->worker),
		    name_iid(p, NAME_REGION + (has_name ? begun->region : 0)));
	}
}

static void
take_event(struct perfetto *p, struct region_track *track, int64_t at_ns, uint32_t region)
{
	const int64_t from_ns = p->export->from_ns, to_ns = p->export->to_ns;
	const struct begun *last = track->count > 0 ? &track->open[track->count - 1] : NULL;

	if (region > 0)
		*APPEND(track->open, track->count, track->capacity) =
		    (struct begun){ region, at_ns };
	else if (last == NULL)
		return;
	if (at_ns >= from_ns && (region > 0 ? at_ns : last->ns) <= to_ns)
		show_open(p, track);
	if (region > 0)
		return;
	if (track->shown == track->count) {
		slice_end(p, smaller(at_ns, to_ns),
		    REGION_TRACK(track->location, track->worker));
		track->shown--;
	}
	track->count--;
}

/* ---- reading ---- */

/* When the first block arrives, all threads are defined. */
static void
begin_tracks(struct perfetto *p)
{
	const struct definitions *known = &p->graph.known;

	if (p->begun)
		return;
	p->begun = true;
	for (int32_t r = 0; r < known->ranks; r++)
		if (is_wanted_rank(p->export, r))
			process_track(p, r);
	for (uint32_t l = 0; l < known->location_count; l++)
		if (known->location_rank[l] >= 0 &&
		    is_wanted_rank(p->export, known->location_rank[l]))
			location_tracks(p, l);
}

static void
take_message(struct perfetto *p, size_t i)
{
	const struct edge_block *e = &p->graph.edges;
	struct slice *send = window_change(&p->graph.window, e->source[i], e->send[i]);
	struct slice *receive = window_change(&p->graph.window, e->target[i], e->receive[i]);
	const int64_t sent_ns = send->kept.row.enter_ns;

	send->flow = receive->flow_end = ++p->flows;
	if (sent_ns <= receive->kept.row.enter_ns)
		return;
	receive->wait_end_ns = smaller(sent_ns, receive->kept.row.leave_ns);
	receive->waits_for = e->source[i];
	receive->late_sender = true;
}

static void
take_instance(struct perfetto *p, size_t first, uint32_t count)
{
	const struct edge_block *e = &p->graph.edges;
	const uint32_t *waits_for;

	GROW(p->members, p->member_capacity, count);
	for (uint32_t i = 0; i < count; i++)
		p->members[i] = (struct member){ e->location[first + i], e->seq[first + i],
		    window_row(&p->graph.window, e->location[first + i], e->seq[first + i]) };
	if (is_collective_start(call_class(p->members[0].row->call)))
		/* the wait is in the completion, which has no partner there */
		return;
	waits_for = collective_waits(&p->needs, &p->graph.known, p->members, count);
	for (uint32_t i = 0; i < count; i++) {
		struct slice *slice = window_change(&p->graph.window, p->members[i].location,
		    p->members[i].seq);
		int64_t late_ns;

		if (waits_for[i] == NOBODY || waits_for[i] == i)
			continue;
		late_ns = p->members[waits_for[i]].row->enter_ns;
		if (late_ns <= slice->kept.row.enter_ns)
			continue;
		slice->wait_end_ns = smaller(late_ns, slice->kept.row.leave_ns);
		slice->waits_for = p->members[waits_for[i]].location;
	}
}

static void
take_segment(struct perfetto *p, const struct segment *s)
{
	uint64_t name, where;

	if (!p->path)
		named_track(p, PATH_TRACK, 0, "critical path", NULL);
	p->path = true;
	if (s->kind == GAP || s->begin_ns >= s->end_ns || s->end_ns < p->export->from_ns ||
	    s->begin_ns > p->export->to_ns)
		return;
	name = name_iid(p, s->kind == MPI && s->call > 0 ? s->call : NAME_COMPUTE + s->kind);
	where = site_iid(p, s->site);
	slice_begin(p, s->begin_ns, PATH_TRACK, name);
	annotate(p, RANK, ANNOTATION_UINT, (uint64_t)p->graph.known.location_rank[s->location]);
	if (where > 0)
		annotate(p, SITE, ANNOTATION_STRING_IID, where);
	slice_end(p, s->end_ns, PATH_TRACK);
}

/* Intervals off the core, for threads that make calls; and regions. */
static void
take_switches(struct perfetto *p, const struct message *message)
{
	const struct samples *s = &p->switches;
	struct region_track *track;
	int32_t rank;

	if (reader_verify(p->graph.in, message) < 0 ||
	    samples_read(&p->switches, p->graph.in, message) < 0)
		die_input(p->graph.in);
	begin_tracks(p);
	rank = p->graph.known.location_rank[s->location];
	if (s->regions && is_wanted_rank(p->export, rank)) {
		track = track_of(p, s->location, s->worker);
		for (size_t i = 0; i < s->count; i++)
			take_event(p, track, s->time_ns[i],
			    s->region[i] > 0 ? (uint32_t)s->region[i] : 0);
	}
	for (size_t i = 0; i < s->count && s->worker == 0 && !s->regions; i++) {
		if (!is_wanted(p->export, rank, s->time_ns[i], s->end_ns[i]))
			continue;
		if (!p->off[s->location])
			named_track(p, OFF_TRACK(s->location), PROCESS_TRACK(rank), "off the core",
			    NULL);
		p->off[s->location] = true;
		slice_begin(p, s->time_ns[i], OFF_TRACK(s->location),
		    name_iid(p, NAME_OFF + s->reason[i]));
		slice_end(p, s->end_ns[i], OFF_TRACK(s->location));
	}
}

static void
take(struct perfetto *p, const struct message *message)
{
	const struct definitions *known = &p->graph.known;
	const struct segments *path;
	size_t first = 0;

	switch (graph_take(&p->graph, message)) {
	case GRAPH_RUN:
		p->left_ns = zalloc(known->location_count, sizeof *p->left_ns);
		memset(p->left_ns, -1, known->location_count * sizeof *p->left_ns);
		p->off = zalloc(known->location_count, sizeof *p->off);
		break;
	case GRAPH_CALLS:
		begin_tracks(p);
		keep_rows(&p->graph);
		break;
	case GRAPH_MESSAGES:
		for (size_t i = 0; i < p->graph.edges.count; i++)
			take_message(p, i);
		break;
	case GRAPH_COLLECTIVES:
		for (size_t i = 0; i < p->graph.edges.instances; first += p->graph.edges.size[i++])
			take_instance(p, first, p->graph.edges.size[i]);
		break;
	case GRAPH_SETTLED: case GRAPH_SYNC:
		for (uint32_t l = 0; l < known->location_count; l++)
			put_calls(p, l, p->graph.seqs[l]);
		break;
	default:
		if (is_kind(message, "switched") || is_kind(message, "regions"))
			take_switches(p, message);
		path = message_segments(p->graph.in, message, known);
		for (size_t i = 0; path != NULL && i < path->count; i++)
			take_segment(p, &path->at[i]);
	}
}

void
export_perfetto(const struct export *export)
{
	static struct perfetto p = { .graph.row_bytes = sizeof(struct slice) };
	struct progress progress = { 0 };
	struct message message;

	p.export = export;
	p.bins = zalloc(BINS, sizeof *p.bins);
	graph_open(&p.graph, export->files[0], READ_STREAM);
	text_begin(&p.text, export->out.file, export->out.name);
	perfetto_begin(&p);
	while (progress_next(&progress, p.graph.in, &message))
		take(&p, &message);
	if (p.graph.known.ranks == 0)
		die("the stream has no message of kind run");
	begin_tracks(&p);
	for (uint32_t l = 0; l < p.graph.known.location_count; l++)
		put_calls(&p, l, UINT64_MAX);
	if (p.slices == 0)
		die("nothing has the ranks and times asked for");
	put_counter(&p);
	perfetto_flush(&p);
	text_flush(&p.text);
}
