/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Perfetto's trace of packets (TracePacket, field 1 of Trace), one sequence of them: a process a rank with
 * a track for the calls of each thread and one for its waits, messages as flows, the critical path where
 * the stream has one, and how much of all ranks computes as a counter.
 *
 * memory  rows to which edges may still come, and BINS of the counter
 */
#include <stdlib.h>
#include <unistd.h>

#include "../../base/mpi/call_class.h"
#include "../../base/run/collective.h"
#include "../../base/run/window.h"
#include "../../base/tool/text.h"
#include "export.h"
#include "protobuf.h"

enum {
	BINS = 2000,		/* of the counter, over the whole run */
	WRITE_BYTES = 1 << 18,
	TEXT_SIZE = 512,
};

/* Numbers that Perfetto's .proto files give to fields. */
enum {
	TRACE_PACKET = 1,
	PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10, PACKET_EVENT = 11, PACKET_INTERNED = 12, PACKET_FLAGS = 13,
	PACKET_TRACK = 60,
	EVENT_ANNOTATION = 4, EVENT_TYPE = 9, EVENT_NAME_IID = 10, EVENT_TRACK = 11, EVENT_COUNTER = 44,
	EVENT_FLOW = 47, EVENT_FLOW_END = 48,
	TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5, TRACK_COUNTER = 8,
	PROCESS_PID = 1, PROCESS_NAME = 6,
	THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5,
	COUNTER_UNIT_NAME = 6,
	INTERNED_EVENT_NAMES = 2, INTERNED_ANNOTATION_NAMES = 3, INTERNED_STRINGS = 29,
	INTERNED_IID = 1, INTERNED_TEXT = 2,
	ANNOTATION_NAME_IID = 1, ANNOTATION_UINT = 3, ANNOTATION_INT = 4, ANNOTATION_STRING_IID = 17,
};
enum { SLICE_BEGIN = 1, SLICE_END = 2, COUNTER = 4 };
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };

enum annotation { PEER = 1, TAG, COMM, SENT, RECEIVED, SITE, WAITS_FOR, RANK, FOLDED, ANNOTATIONS };
static const char *const annotation_names[] = { [PEER] = "peer", [TAG] = "tag", [COMM] = "communicator",
	[SENT] = "bytes sent", [RECEIVED] = "bytes received", [SITE] = "site", [WAITS_FOR] = "waits for rank",
	[RANK] = "rank", [FOLDED] = "further calls" };

/* Names of slices: calls by their index, and behind them these. */
enum { NAME_COMPUTE = 1 << 16, NAME_MPI, NAME_TRANSFER, NAME_START, NAME_LATE_SENDER, NAME_LATE_MEMBER };
static const char *const own_names[] = { "compute", "MPI", "transfer", "start of the process", "late sender",
	"late to a collective" };

/* Tracks. */
enum { PATH_TRACK = 2, COUNTER_TRACK = 3, FIRST_TRACK = 16 };
#define PROCESS_TRACK(rank) (FIRST_TRACK + 4 * (uint64_t)(rank))
#define WAIT_TRACK(location) (FIRST_TRACK + 4 * (uint64_t)(location) + 1)
#define THREAD_TRACK(location) (FIRST_TRACK + 4 * (uint64_t)(location) + 2)

struct slice {
	struct row row;
	uint64_t sent, received;
	uint64_t flow, flow_end;	/* 0: no message */
	int64_t wait_end_ns;		/* from the enter on; 0: none */
	uint32_t waits_for;		/* location */
	int32_t tag;
	uint32_t folded;
	bool late_sender;
};

struct perfetto {
	const struct export *export;
	struct reader *in;
	struct definitions known;
	struct window window;
	struct calls calls;
	struct edge_block edges;
	struct segments segments;
	struct proto out;
	uint64_t flows, slices;
	uint64_t *seqs;			/* of sync and settled */
	bool *named;			/* names of slices, by number */
	bool *told;			/* sites, by number */
	size_t told_capacity;
	bool begun, path;
	int64_t *left_ns;		/* by location, of its last call; -1: none */
	double *bins;			/* ns that ranks compute, by time */
	uint32_t *waits_for;		/* members of an instance */
	struct member *members;
	size_t waits_capacity, member_capacity;
};

static void
flush(struct perfetto *p)
{
	if (p->out.count > 0 && fwrite(p->out.bytes, 1, p->out.count, stdout) != p->out.count)
		die_output();
	p->out.count = 0;
}

static size_t
packet_begin(struct perfetto *p)
{
	size_t packet = proto_begin(&p->out, TRACE_PACKET);

	proto_uint(&p->out, PACKET_SEQUENCE, 1);
	return packet;
}

static void
packet_end(struct perfetto *p, size_t packet)
{
	proto_end(&p->out, packet);
	if (p->out.count >= WRITE_BYTES)
		flush(p);
}

static void
put_text(struct perfetto *p, unsigned field, const char *name)
{
	char text[TEXT_SIZE];

	visible_copy(text, sizeof text, name);	/* it has to be UTF-8 */
	proto_text(&p->out, field, text);
}

/* ---- what is said once ---- */

static void
intern(struct perfetto *p, unsigned kind, uint64_t iid, const char *text)
{
	size_t packet = packet_begin(p), interned, one;

	proto_uint(&p->out, PACKET_FLAGS, NEEDS_STATE);
	interned = proto_begin(&p->out, PACKET_INTERNED);
	one = proto_begin(&p->out, kind);
	proto_uint(&p->out, INTERNED_IID, iid);
	put_text(p, INTERNED_TEXT, text);
	proto_end(&p->out, one);
	proto_end(&p->out, interned);
	packet_end(p, packet);
}

static void
begin(struct perfetto *p)
{
	size_t packet = packet_begin(p);

	proto_uint(&p->out, PACKET_FLAGS, STATE_CLEARED);
	packet_end(p, packet);
	for (unsigned a = 1; a < ANNOTATIONS; a++)
		intern(p, INTERNED_ANNOTATION_NAMES, a, annotation_names[a]);
}

/* An iid may not be 0. */
static uint64_t
name_iid(struct perfetto *p, uint32_t name)
{
	if (!p->named[name]) {
		p->named[name] = true;
		intern(p, INTERNED_EVENT_NAMES, name + (uint64_t)1,
		    name < NAME_COMPUTE ? call_name(name) : own_names[name - NAME_COMPUTE]);
	}
	return name + (uint64_t)1;
}

/* 0 where it is not known. */
static uint64_t
site_iid(struct perfetto *p, uint32_t site)
{
	char text[TEXT_SIZE];

	if (site == 0 || site >= p->known.site_count)
		return 0;
	if (site >= p->told_capacity) {
		size_t before = p->told_capacity;

		p->told = grow(p->told, &p->told_capacity, site + (size_t)1, sizeof *p->told);
		memset(p->told + before, 0, (p->told_capacity - before) * sizeof *p->told);
	}
	if (!p->told[site]) {
		p->told[site] = true;
		intern(p, INTERNED_STRINGS, site, site_text(&p->known, site, text, sizeof text));
	}
	return site;
}

static size_t
track_begin(struct perfetto *p, size_t *packet, uint64_t uuid)
{
	size_t track;

	*packet = packet_begin(p);
	track = proto_begin(&p->out, PACKET_TRACK);
	proto_uint(&p->out, TRACK_UUID, uuid);
	return track;
}

static void
process_track(struct perfetto *p, int32_t rank)
{
	char name[32];
	size_t packet, track = track_begin(p, &packet, PROCESS_TRACK(rank)), process;

	snprintf(name, sizeof name, "rank %d", (int)rank);
	process = proto_begin(&p->out, TRACK_PROCESS);
	proto_uint(&p->out, PROCESS_PID, (uint64_t)rank + 1);
	proto_text(&p->out, PROCESS_NAME, name);
	proto_end(&p->out, process);
	proto_end(&p->out, track);
	packet_end(p, packet);
}

static void
location_tracks(struct perfetto *p, uint32_t location)
{
	const int32_t rank = p->known.location_rank[location];
	char name[48];
	size_t packet, track, thread;

	snprintf(name, sizeof name, p->known.location_thread[location] == 0 ? "MPI" : "MPI of thread %u",
	    (unsigned)p->known.location_thread[location]);
	track = track_begin(p, &packet, THREAD_TRACK(location));
	thread = proto_begin(&p->out, TRACK_THREAD);
	proto_uint(&p->out, THREAD_PID, (uint64_t)rank + 1);
	proto_uint(&p->out, THREAD_TID, (uint64_t)location + 1);
	proto_text(&p->out, THREAD_NAME, name);
	proto_end(&p->out, thread);
	proto_end(&p->out, track);
	packet_end(p, packet);
	track = track_begin(p, &packet, WAIT_TRACK(location));
	proto_uint(&p->out, TRACK_PARENT, PROCESS_TRACK(rank));
	proto_text(&p->out, TRACK_NAME, "waits");
	proto_end(&p->out, track);
	packet_end(p, packet);
}

static void
own_track(struct perfetto *p, uint64_t uuid, const char *name, const char *unit)
{
	size_t packet, track = track_begin(p, &packet, uuid), counter;

	proto_text(&p->out, TRACK_NAME, name);
	if (unit != NULL) {
		counter = proto_begin(&p->out, TRACK_COUNTER);
		proto_text(&p->out, COUNTER_UNIT_NAME, unit);
		proto_end(&p->out, counter);
	}
	proto_end(&p->out, track);
	packet_end(p, packet);
}

/* ---- slices ---- */

static size_t
event_begin(struct perfetto *p, size_t *packet, int64_t at_ns, uint64_t track, unsigned type)
{
	size_t event;

	*packet = packet_begin(p);
	proto_uint(&p->out, PACKET_FLAGS, NEEDS_STATE);
	proto_uint(&p->out, PACKET_TIMESTAMP, at_ns > 0 ? (uint64_t)at_ns : 0);
	event = proto_begin(&p->out, PACKET_EVENT);
	proto_uint(&p->out, EVENT_TYPE, type);
	proto_uint(&p->out, EVENT_TRACK, track);
	return event;
}

static void
annotate(struct perfetto *p, enum annotation name, unsigned field, uint64_t value)
{
	size_t annotation = proto_begin(&p->out, EVENT_ANNOTATION);

	proto_uint(&p->out, ANNOTATION_NAME_IID, name);
	proto_uint(&p->out, field, value);
	proto_end(&p->out, annotation);
}

static void
slice_end(struct perfetto *p, int64_t at_ns, uint64_t track)
{
	size_t packet, event = event_begin(p, &packet, at_ns, track, SLICE_END);

	proto_end(&p->out, event);
	packet_end(p, packet);
	p->slices++;
}

static void
put_wait(struct perfetto *p, uint32_t location, const struct slice *call, const struct slice *longest)
{
	const uint64_t name = name_iid(p, longest->late_sender ? NAME_LATE_SENDER : NAME_LATE_MEMBER);
	size_t packet, event = event_begin(p, &packet, call->row.enter_ns, WAIT_TRACK(location), SLICE_BEGIN);

	proto_uint(&p->out, EVENT_NAME_IID, name);
	annotate(p, WAITS_FOR, ANNOTATION_UINT, (uint64_t)p->known.location_rank[longest->waits_for]);
	proto_end(&p->out, event);
	packet_end(p, packet);
	slice_end(p, longest->wait_end_ns, WAIT_TRACK(location));
}

/* A call with its PARTS, COUNT rows: what it did itself as arguments, all its messages as flows. */
static void
put_call(struct perfetto *p, uint32_t location, uint64_t seq, size_t count)
{
	const struct slice *call = window_row(&p->window, location, seq), *longest = call;
	const uint64_t name = name_iid(p, call->row.call), site = site_iid(p, call->row.site);
	size_t packet, event = event_begin(p, &packet, call->row.enter_ns, THREAD_TRACK(location), SLICE_BEGIN);

	proto_uint(&p->out, EVENT_NAME_IID, name);
	if (call->row.peer != NO_PEER)
		annotate(p, PEER, ANNOTATION_INT, (uint64_t)(int64_t)call->row.peer);
	if (call->tag != NO_TAG)
		annotate(p, TAG, ANNOTATION_INT, (uint64_t)(int64_t)call->tag);
	if (call->row.comm > 0)
		annotate(p, COMM, ANNOTATION_UINT, call->row.comm);
	if (call->sent > 0)
		annotate(p, SENT, ANNOTATION_UINT, call->sent);
	if (call->received > 0)
		annotate(p, RECEIVED, ANNOTATION_UINT, call->received);
	if (call->folded > 0)
		annotate(p, FOLDED, ANNOTATION_UINT, call->folded);
	if (site > 0)
		annotate(p, SITE, ANNOTATION_STRING_IID, site);
	for (size_t i = 0; i < count; i++) {
		const struct slice *part = window_row(&p->window, location, seq + i);

		if (part->flow > 0)
			proto_fixed64(&p->out, EVENT_FLOW, part->flow);
		if (part->flow_end > 0)
			proto_fixed64(&p->out, EVENT_FLOW_END, part->flow_end);
		if (part->wait_end_ns > longest->wait_end_ns)
			longest = part;
	}
	proto_end(&p->out, event);
	packet_end(p, packet);
	slice_end(p, call->row.leave_ns, THREAD_TRACK(location));
	if (longest->wait_end_ns > call->row.enter_ns)
		put_wait(p, location, call, longest);
}

/* The time between calls, shared out to the bins that it lies in. */
static void
add_computing(struct perfetto *p, int64_t from_ns, int64_t to_ns)
{
	const double width = (double)p->known.run_ns / BINS;

	if (width <= 0 || to_ns > p->known.run_ns || from_ns < 0)
		return;
	for (size_t bin = (size_t)((double)from_ns / width); bin < BINS && (double)bin * width < (double)to_ns;
	    bin++) {
		double low = (double)bin * width, high = low + width;

		if (low < (double)from_ns)
			low = (double)from_ns;
		if (high > (double)to_ns)
			high = (double)to_ns;
		if (high > low)
			p->bins[bin] += high - low;
	}
}

/* Calls before SEQ are complete with all their edges. */
static void
put_calls(struct perfetto *p, uint32_t location, uint64_t seq)
{
	const struct lane *lane = &p->window.lanes[location];
	const int32_t rank = p->known.location_rank[location];
	const uint64_t end = seq < lane->first + lane->count ? seq : lane->first + lane->count;
	uint64_t at = lane->first;

	while (at < end) {
		const struct slice *call = window_row(&p->window, location, at), *part;
		size_t count = 1;

		while ((part = window_row(&p->window, location, at + count)) != NULL && part->row.part > 0)
			count++;
		if (at + count > end)
			break;
		if (p->known.location_thread[location] == 0 && p->left_ns[location] >= 0)
			add_computing(p, p->left_ns[location], call->row.enter_ns);
		p->left_ns[location] = call->row.leave_ns;
		if (is_wanted(p->export, rank, call->row.enter_ns, call->row.leave_ns))
			put_call(p, location, at, count);
		at += count;
	}
	window_drop(&p->window, location, at);
}

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
		struct slice *slice = window_row(&p->window, c->location, c->first + i);

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
		struct slice *send = window_row(&p->window, e->source[i], e->send[i]);
		struct slice *receive = window_row(&p->window, e->target[i], e->receive[i]);
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
		struct slice *slice = window_row(&p->window, p->members[i].location, p->members[i].seq);
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

/* How many of all ranks compute, in percent, where it is of the whole run. */
static void
put_counter(struct perfetto *p)
{
	const double width = (double)p->known.run_ns / BINS;

	if (p->export->ranks != NULL || width <= 0)
		return;
	own_track(p, COUNTER_TRACK, "computing", "% of ranks");
	for (size_t bin = 0; bin < BINS; bin++) {
		int64_t at_ns = (int64_t)((double)bin * width);
		size_t packet, event;

		if (at_ns < p->export->from_ns || at_ns > p->export->to_ns)
			continue;
		event = event_begin(p, &packet, at_ns, COUNTER_TRACK, COUNTER);
		proto_double(&p->out, EVENT_COUNTER, 100 * p->bins[bin] / width / p->known.ranks);
		proto_end(&p->out, event);
		packet_end(p, packet);
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
	p.named = zalloc(NAME_COMPUTE + sizeof own_names / sizeof *own_names, sizeof *p.named);
	p.bins = zalloc(BINS, sizeof *p.bins);
	if (reader_open(&p.in, export->files[0], READ_STREAM) < 0 ||
	    reader_refuse_content(p.in, "trace", "lp-graph matches it first") < 0)
		die_input(p.in);
	begin(&p);
	while (progress_next(&progress, p.in, &message))
		take(&p, &message);
	if (p.known.ranks == 0)
		die("the stream has no message of kind run");
	for (uint32_t l = 0; l < p.known.location_count; l++)
		put_calls(&p, l, UINT64_MAX);
	if (p.slices == 0)
		die("nothing is of the ranks and times asked for");
	put_counter(&p);
	flush(&p);
}
