/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of Perfetto's trace: names and tracks, written once, and events. */
#include <string.h>

#include "perfetto.h"

enum { WRITE_BYTES = 1 << 18, TEXT_SIZE = 512 };

static const char *const annotation_names[] = { [PEER] = "peer", [TAG] = "tag",
    [COMM] = "communicator", [SENT] = "bytes sent", [RECEIVED] = "bytes received", [SITE] = "site",
    [WAITS_FOR] = "waits for rank", [RANK] = "rank", [FOLDED] = "further calls" };

static const char *const own_names[] = { "compute", "MPI", "transfer", "start of the process",
    "blocked", "preempted", "not known" };

void
perfetto_flush(struct perfetto *p)
{
	text_more(&p->text, (const char *)p->out.bytes, p->out.count);
	p->out.count = 0;
}

static void
packet_begin(struct perfetto *p)
{
	proto_begin(&p->out, TRACE_PACKET);
	proto_uint(&p->out, PACKET_SEQUENCE, 1);
}

/* Ends what is open in it, too. */
static void
packet_end(struct perfetto *p)
{
	while (p->out.depth > 0)
		proto_end(&p->out);
	if (p->out.count >= WRITE_BYTES)
		perfetto_flush(p);
}

/* ---- written once ---- */

static void
intern(struct perfetto *p, unsigned kind, uint64_t iid, const char *name)
{
	char text[TEXT_SIZE];

	visible_copy(text, sizeof text, name);	/* it must be UTF-8 */
	packet_begin(p);
	proto_uint(&p->out, PACKET_FLAGS, NEEDS_STATE);
	proto_begin(&p->out, PACKET_INTERNED);
	proto_begin(&p->out, kind);
	proto_uint(&p->out, INTERNED_IID, iid);
	proto_text(&p->out, INTERNED_TEXT, text);
	packet_end(p);
}

void
perfetto_begin(struct perfetto *p)
{
	packet_begin(p);
	proto_uint(&p->out, PACKET_FLAGS, STATE_CLEARED);
	packet_end(p);
	for (unsigned a = 1; a < ANNOTATIONS; a++)
		intern(p, INTERNED_ANNOTATION_NAMES, a, annotation_names[a]);
}

/* An iid must not be 0. */
uint64_t
name_iid(struct perfetto *p, uint32_t name)
{
	if (!*AT(p->named, p->named_capacity, name)) {
		p->named[name] = true;
		intern(p, INTERNED_EVENT_NAMES, name + (uint64_t)1, name < NAME_COMPUTE ?
		    call_name(name) : name < NAME_WAIT ? own_names[name - NAME_COMPUTE] :
		    name < NAME_REGION ? state_names[name - NAME_WAIT] :
		    name == NAME_REGION ? "(no name)" : p->known->regions[name - NAME_REGION]);
	}
	return name + (uint64_t)1;
}

/* 0: unknown. */
uint64_t
site_iid(struct perfetto *p, uint32_t site)
{
	if (site == 0 || site >= p->known->site_count)
		return 0;
	if (!*AT(p->told, p->told_capacity, site)) {
		p->told[site] = true;
		intern(p, INTERNED_STRINGS, site, site_text(p->known, site));
	}
	return site;
}

static void
track_begin(struct perfetto *p, uint64_t uuid)
{
	packet_begin(p);
	proto_begin(&p->out, PACKET_TRACK);
	proto_uint(&p->out, TRACK_UUID, uuid);
}

void
process_track(struct perfetto *p, int32_t rank)
{
	char name[32];

	snprintf(name, sizeof name, "rank %d", (int)rank);
	track_begin(p, PROCESS_TRACK(rank));
	proto_begin(&p->out, TRACK_PROCESS);
	proto_uint(&p->out, PROCESS_PID, (uint64_t)rank + 1);
	proto_text(&p->out, PROCESS_NAME, name);
	packet_end(p);
}

void
named_track(struct perfetto *p, uint64_t uuid, uint64_t parent, const char *name, const char *unit)
{
	track_begin(p, uuid);
	if (parent > 0)
		proto_uint(&p->out, TRACK_PARENT, parent);
	proto_text(&p->out, TRACK_NAME, name);
	if (unit != NULL) {
		proto_begin(&p->out, TRACK_COUNTER);
		proto_text(&p->out, COUNTER_UNIT_NAME, unit);
	}
	packet_end(p);
}

void
location_tracks(struct perfetto *p, uint32_t location)
{
	const int32_t rank = p->known->location_rank[location];
	char name[48];

	snprintf(name, sizeof name, p->known->location_thread[location] == 0 ? "MPI" :
	    "MPI of thread %u", (unsigned)p->known->location_thread[location]);
	track_begin(p, THREAD_TRACK(location));
	proto_begin(&p->out, TRACK_THREAD);
	proto_uint(&p->out, THREAD_PID, (uint64_t)rank + 1);
	proto_uint(&p->out, THREAD_TID, (uint64_t)location + 1);
	proto_text(&p->out, THREAD_NAME, name);
	packet_end(p);
	named_track(p, WAIT_TRACK(location), PROCESS_TRACK(rank), "waits", NULL);
}

/* ---- slices ---- */

static void
event_begin(struct perfetto *p, int64_t at_ns, uint64_t track, unsigned type)
{
	packet_begin(p);
	proto_uint(&p->out, PACKET_FLAGS, NEEDS_STATE);
	proto_uint(&p->out, PACKET_TIMESTAMP, at_ns > 0 ? (uint64_t)at_ns : 0);
	proto_begin(&p->out, PACKET_EVENT);
	proto_uint(&p->out, EVENT_TYPE, type);
	proto_uint(&p->out, EVENT_TRACK, track);
}

void
slice_begin(struct perfetto *p, int64_t at_ns, uint64_t track, uint64_t name)
{
	event_begin(p, at_ns, track, SLICE_BEGIN);
	proto_uint(&p->out, EVENT_NAME_IID, name);
}

void
annotate(struct perfetto *p, enum annotation name, unsigned field, uint64_t value)
{
	proto_begin(&p->out, EVENT_ANNOTATION);
	proto_uint(&p->out, ANNOTATION_NAME_IID, name);
	proto_uint(&p->out, field, value);
	proto_end(&p->out);
}

void
slice_open(struct perfetto *p, int64_t at_ns, uint64_t track, uint64_t name)
{
	slice_begin(p, at_ns, track, name);
	packet_end(p);
}

void
slice_end(struct perfetto *p, int64_t at_ns, uint64_t track)
{
	packet_end(p);
	event_begin(p, at_ns, track, SLICE_END);
	packet_end(p);
	p->slices++;
}

void
counter_value(struct perfetto *p, int64_t at_ns, uint64_t track, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	event_begin(p, at_ns, track, COUNTER);
	proto_fixed64(&p->out, EVENT_COUNTER, bits);
	packet_end(p);
}
