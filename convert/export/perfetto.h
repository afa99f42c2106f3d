/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the export to Perfetto (perfetto.c) and its packets (perfetto_packets.c). */
#ifndef PERFETTO_H
#define PERFETTO_H

#include <string.h>

#include "../../base/stream/samples.h"
#include "../../base/waits/waits.h"
#include "export.h"

/* The wire format of protocol buffers: a varint and three kinds of fields, in a growing buffer. */

struct proto {
	unsigned char *bytes;
	size_t count, capacity;
	size_t begun[4], depth;		/* nested messages, each behind its size */
};

static inline void
proto_varint(struct proto *p, uint64_t value)
{
	GROW(p->bytes, p->capacity, p->count + 10);
	for (; value >= 0x80; value >>= 7)
		p->bytes[p->count++] = (unsigned char)(value | 0x80);
	p->bytes[p->count++] = (unsigned char)value;
}

/* Negative values take ten bytes, as in int64 fields. */
static inline void
proto_uint(struct proto *p, unsigned field, uint64_t value)
{
	proto_varint(p, field << 3);
	proto_varint(p, value);
}

static inline void
proto_fixed64(struct proto *p, unsigned field, uint64_t value)
{
	proto_varint(p, field << 3 | 1);
	GROW(p->bytes, p->capacity, p->count + 8);
	memcpy(p->bytes + p->count, &value, 8);
	p->count += 8;
}

static inline void
proto_bytes(struct proto *p, unsigned field, const void *bytes, size_t count)
{
	proto_varint(p, field << 3 | 2);
	proto_varint(p, count);
	GROW(p->bytes, p->capacity, p->count + count);
	memcpy(p->bytes + p->count, bytes, count);
	p->count += count;
}

static inline void
proto_text(struct proto *p, unsigned field, const char *text)
{
	proto_bytes(p, field, text, strlen(text));
}

/* A nested message is begun, filled and ended: less than 2 MiB, as its size takes three bytes. */
static inline void
proto_begin(struct proto *p, unsigned field)
{
	proto_varint(p, field << 3 | 2);
	GROW(p->bytes, p->capacity, p->count + 3);
	p->count += 3;
	p->begun[p->depth++] = p->count;
}

static inline void
proto_end(struct proto *p)
{
	const size_t begun = p->begun[--p->depth], size = p->count - begun;

	p->bytes[begun - 3] = (unsigned char)(size | 0x80);
	p->bytes[begun - 2] = (unsigned char)(size >> 7 | 0x80);
	p->bytes[begun - 1] = (unsigned char)(size >> 14 & 0x7f);
}

enum { BINS = 2000 };		/* of the counter, over the whole run */

/* Field numbers from Perfetto's .proto files. */
enum {
	TRACE_PACKET = 1,
	PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10, PACKET_EVENT = 11, PACKET_INTERNED = 12,
	    PACKET_FLAGS = 13,
	PACKET_TRACK = 60,
	EVENT_ANNOTATION = 4, EVENT_TYPE = 9, EVENT_NAME_IID = 10, EVENT_TRACK = 11,
	    EVENT_COUNTER = 44,
	EVENT_FLOW = 47, EVENT_FLOW_END = 48,
	TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5,
	    TRACK_COUNTER = 8,
	PROCESS_PID = 1, PROCESS_NAME = 6,
	THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5,
	COUNTER_UNIT_NAME = 6,
	INTERNED_EVENT_NAMES = 2, INTERNED_ANNOTATION_NAMES = 3, INTERNED_STRINGS = 29,
	INTERNED_IID = 1, INTERNED_TEXT = 2,
	ANNOTATION_NAME_IID = 1, ANNOTATION_UINT = 3, ANNOTATION_INT = 4,
	    ANNOTATION_STRING_IID = 17,
};
enum { SLICE_BEGIN = 1, SLICE_END = 2, COUNTER = 4 };
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };

enum annotation { PEER = 1, TAG, COMM, SENT, RECEIVED, SITE, WAITS_FOR, RANK, FOLDED, ANNOTATIONS };

/* Names of slices: calls by their index, then these. */
enum { NAME_COMPUTE = 1 << 16, NAME_MPI, NAME_TRANSFER, NAME_START,
    NAME_OFF,					/* plus the reason */
    NAME_WAIT = NAME_OFF + OFF_UNKNOWN + 1,	/* plus the state */
    NAME_REGION = NAME_WAIT + STATES };		/* plus its number; 0: it has no name */

/* Tracks. */
enum { PATH_TRACK = 2, COUNTER_TRACK = 3, FIRST_TRACK = 16 };
#define PROCESS_TRACK(rank) (FIRST_TRACK + 4 * (uint64_t)(rank))
#define WAIT_TRACK(location) (FIRST_TRACK + 4 * (uint64_t)(location) + 1)
#define THREAD_TRACK(location) (FIRST_TRACK + 4 * (uint64_t)(location) + 2)
#define OFF_TRACK(location) (FIRST_TRACK + 4 * (uint64_t)(location) + 3)
#define REGION_TRACK(location, worker) \
	(UINT64_C(1) << 63 | (uint64_t)(location) << 32 | (worker))

struct spot {			/* a location */
	struct uncounted uncounted;
	struct flow { uint64_t begin, end; } *flows;	/* of these rows; 0: no message */
	size_t flow_capacity;
	int64_t left_ns;	/* of its last call; -1: none */
	bool off;		/* it has a track for its time off the core */
};

struct perfetto {
	struct observer observer;	/* must be first: its caller knows only this */
	const struct export *export;
	const struct definitions *known;
	struct text text;
	struct proto out;		/* for the text */
	uint64_t flows, slices;
	bool *named;			/* names of slices already written, by number */
	size_t named_capacity;
	bool *told;			/* sites already written, by number */
	size_t told_capacity;
	struct spot *spots;
	struct samples switches;	/* as read, or regions */
	struct region_track *region_tracks;
	size_t region_track_count, region_track_capacity;
	/* begun: a block came, so threads are defined; path: a segment came */
	bool begun, path;
	double *bins;			/* computation over time, ns */
};

/* perfetto_packets.c */
void perfetto_begin(struct perfetto *p);
void perfetto_flush(struct perfetto *p);
uint64_t name_iid(struct perfetto *p, uint32_t name);
uint64_t site_iid(struct perfetto *p, uint32_t site);
void process_track(struct perfetto *p, int32_t rank);
void location_tracks(struct perfetto *p, uint32_t location);
/* PARENT 0: none. UNIT: of a counter, or NULL. */
void named_track(struct perfetto *p, uint64_t uuid, uint64_t parent, const char *name,
    const char *unit);
/* A slice: begin, annotations, end. slice_open: others come before its end. */
void slice_open(struct perfetto *p, int64_t at_ns, uint64_t track, uint64_t name);
void slice_begin(struct perfetto *p, int64_t at_ns, uint64_t track, uint64_t name);
void annotate(struct perfetto *p, enum annotation name, unsigned field, uint64_t value);
void slice_end(struct perfetto *p, int64_t at_ns, uint64_t track);
void counter_value(struct perfetto *p, int64_t at_ns, uint64_t track, double value);

#endif
