/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Perfetto's trace of packets (TracePacket, field 1 of Trace), in one sequence. Each rank is a
 * process with a track for the calls of each thread and one for its waits. Messages are flows. The
 * critical path, if known, has a track. A counter shows the share of ranks that compute.
 *
 * memory  that of lp-imbalance without causes, and BINS of the counter
 */
#include <string.h>

#include "perfetto.h"

static bool
is_wanted_rank(const struct export *export, int32_t rank)
{
	return is_wanted(export, rank, export->from_ns, export->from_ns);
}

/* ---- slices of calls and their waits ---- */

/* The first call, with its rows up to END: its own data as arguments, all its messages as flows. */
static void
put_call(struct perfetto *p, uint32_t location, size_t end)
{
	const struct spot *spot = &p->spots[location];
	const struct calls *c = &spot->uncounted.rows;
	const size_t at = spot->uncounted.begin;
	const uint64_t name = name_iid(p, c->call[at]), site = site_iid(p, c->site[at]);

	slice_begin(p, c->enter_ns[at], THREAD_TRACK(location), name);
	if (c->peer[at] != NO_PEER)
		annotate(p, PEER, ANNOTATION_INT, (uint64_t)(int64_t)c->peer[at]);
	if (c->tag[at] != NO_TAG)
		annotate(p, TAG, ANNOTATION_INT, (uint64_t)(int64_t)c->tag[at]);
	if (c->comm[at] > 0)
		annotate(p, COMM, ANNOTATION_UINT, c->comm[at]);
	if (c->bytes_sent[at] > 0)
		annotate(p, SENT, ANNOTATION_UINT, c->bytes_sent[at]);
	if (c->bytes_received[at] > 0)
		annotate(p, RECEIVED, ANNOTATION_UINT, c->bytes_received[at]);
	if (c->folded[at] > 0)
		annotate(p, FOLDED, ANNOTATION_UINT, c->folded[at]);
	if (site > 0)
		annotate(p, SITE, ANNOTATION_STRING_IID, site);
	for (const struct flow *f = spot->flows + at; f < spot->flows + end; f++) {
		if (f->begin > 0)
			proto_fixed64(&p->out, EVENT_FLOW, f->begin);
		if (f->end > 0)
			proto_fixed64(&p->out, EVENT_FLOW_END, f->end);
	}
	slice_end(p, c->leave_ns[at], THREAD_TRACK(location));
}

static void
put_wait(struct perfetto *p, uint32_t location, const struct wait *wait)
{
	slice_begin(p, wait->from_ns, WAIT_TRACK(location), name_iid(p, NAME_WAIT + wait->state));
	if (wait->cause != NOBODY)
		annotate(p, WAITS_FOR, ANNOTATION_UINT,
		    (uint64_t)p->known->location_rank[wait->cause]);
	slice_end(p, wait->to_ns, WAIT_TRACK(location));
}

/* Spreads the time between calls over the bins that it overlaps. */
static void
add_computing(struct perfetto *p, int64_t from_ns, int64_t to_ns)
{
	const double width = (double)p->known->run_ns / BINS;

	if (width <= 0 || to_ns > p->known->run_ns || from_ns < 0)
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

static void
see_call(struct observer *observer, struct imbalance *im, uint32_t location, const struct row *row,
    const struct wait *waits, int count)
{
	struct perfetto *p = (struct perfetto *)(void *)observer;
	struct spot *spot = &p->spots[location];
	struct uncounted *of = &spot->uncounted;
	const size_t end = uncounted_end(of);
	const int64_t enter_ns = of->rows.enter_ns[of->begin],
	    leave_ns = of->rows.leave_ns[of->begin];
	size_t dropped;

	(void)im, (void)row;
	if (p->known->location_thread[location] == 0 && spot->left_ns >= 0)
		add_computing(p, spot->left_ns, enter_ns);
	spot->left_ns = leave_ns;
	if (is_wanted(p->export, p->known->location_rank[location], enter_ns, leave_ns)) {
		put_call(p, location, end);
		for (int i = 0; i < count; i++)
			put_wait(p, location, &waits[i]);
	}
	dropped = uncounted_drop(of, end);
	if (dropped > 0)
		memmove(spot->flows, spot->flows + dropped, of->rows.count * sizeof *spot->flows);
}

/* Per cent of all ranks that compute; only for the whole run. */
static void
put_counter(struct perfetto *p)
{
	const double width = (double)p->known->run_ns / BINS;

	if (p->export->ranks.count > 0 || width <= 0)
		return;
	named_track(p, COUNTER_TRACK, 0, "computing", "% of ranks");
	for (size_t bin = 0; bin < BINS; bin++) {
		int64_t at_ns = (int64_t)((double)bin * width);

		if (at_ns >= p->export->from_ns && at_ns <= p->export->to_ns)
			counter_value(p, at_ns, COUNTER_TRACK,
			    100 * p->bins[bin] / width / p->known->ranks);
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
	const uint32_t thread = p->known->location_thread[location];
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
	    PROCESS_TRACK(p->known->location_rank[location]), name, NULL);
	return track;
}

/* The regions that are open at the first instant shown begin there. */
static void
show_open(struct perfetto *p, struct region_track *track)
{
	const struct definitions *known = p->known;

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
	const struct definitions *known = p->known;

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
take_calls(struct perfetto *p, struct reader *in, const struct message *message,
    const struct calls *block)
{
	struct spot *spot = &p->spots[block->location];
	const size_t count = spot->uncounted.rows.count;

	begin_tracks(p);
	uncounted_add(&spot->uncounted, in, message, block);
	GROW(spot->flows, spot->flow_capacity, count + block->count);
	for (size_t i = count; i < count + block->count; i++)
		spot->flows[i] = (struct flow){ 0 };
}

/* NULL: its call is written, as it was overdue. */
static struct flow *
flow_of(const struct perfetto *p, uint32_t location, uint64_t seq)
{
	const struct spot *spot = &p->spots[location];
	const uint64_t at = seq - spot->uncounted.rows.first;

	return at >= spot->uncounted.begin && at < spot->uncounted.rows.count ?
	    &spot->flows[at] : NULL;
}

static void
take_messages(struct perfetto *p, const struct edge_block *e)
{
	for (size_t i = 0; i < e->count; i++) {
		struct flow *send = flow_of(p, e->source[i], e->send[i]);
		struct flow *receive = flow_of(p, e->target[i], e->receive[i]);

		if (send != NULL && receive != NULL)
			send->begin = receive->end = ++p->flows;
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
	annotate(p, RANK, ANNOTATION_UINT, (uint64_t)p->known->location_rank[s->location]);
	if (where > 0)
		annotate(p, SITE, ANNOTATION_STRING_IID, where);
	slice_end(p, s->end_ns, PATH_TRACK);
}

/* Intervals off the core, for threads that make calls; and regions. */
static void
take_switches(struct perfetto *p, struct reader *in, const struct message *message)
{
	const struct samples *s = &p->switches;
	struct region_track *track;
	int32_t rank;

	if (reader_verify(in, message) < 0 || samples_read(&p->switches, in, message) < 0)
		die_input(in);
	begin_tracks(p);
	rank = p->known->location_rank[s->location];
	if (s->regions && is_wanted_rank(p->export, rank)) {
		track = track_of(p, s->location, s->worker);
		for (size_t i = 0; i < s->count; i++)
			take_event(p, track, s->time_ns[i],
			    s->region[i] > 0 ? (uint32_t)s->region[i] : 0);
	}
	for (size_t i = 0; i < s->count && s->worker == 0 && !s->regions; i++) {
		if (!is_wanted(p->export, rank, s->time_ns[i], s->end_ns[i]))
			continue;
		if (!p->spots[s->location].off)
			named_track(p, OFF_TRACK(s->location), PROCESS_TRACK(rank), "off the core",
			    NULL);
		p->spots[s->location].off = true;
		slice_begin(p, s->time_ns[i], OFF_TRACK(s->location),
		    name_iid(p, NAME_OFF + s->reason[i]));
		slice_end(p, s->end_ns[i], OFF_TRACK(s->location));
	}
}

static void
see_message(struct observer *observer, struct imbalance *im, const struct message *message,
    const struct calls *block)
{
	struct perfetto *p = (struct perfetto *)(void *)observer;
	struct reader *in = im->graph.in;
	const struct segments *path;

	if (is_kind(message, "run")) {
		p->spots = zalloc(p->known->location_count, sizeof *p->spots);
		for (uint32_t l = 0; l < p->known->location_count; l++)
			p->spots[l].left_ns = -1;
	} else if (is_kind(message, "calls"))
		take_calls(p, in, message, block);
	else if (is_kind(message, "messages"))
		take_messages(p, &im->graph.edges);
	else if (is_kind(message, "switched") || is_kind(message, "regions"))
		take_switches(p, in, message);
	else if ((path = message_segments(in, message, p->known)) != NULL)
		for (size_t i = 0; i < path->count; i++)
			take_segment(p, &path->at[i]);
}

void
export_perfetto(const struct export *export)
{
	static struct imbalance im;
	static struct perfetto p = { .observer = { .message = see_message, .call = see_call } };

	p.export = export;
	p.known = &im.graph.known;
	p.bins = zalloc(BINS, sizeof *p.bins);
	text_begin(&p.text, export->out.file, export->out.name);
	perfetto_begin(&p);
	observe(&im, &p.observer, open_stream(export->files[0]));
	begin_tracks(&p);
	if (p.slices == 0)
		die("nothing has the ranks and times asked for");
	put_counter(&p);
	perfetto_flush(&p);
	text_flush(&p.text);
}
