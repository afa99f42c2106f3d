/* SPDX-License-Identifier: BSD-3-Clause */
/* The wire format of protocol buffers: a varint and three kinds of fields, in a growing buffer. */
#ifndef PROTOBUF_H
#define PROTOBUF_H

#include <string.h>

#include "../../base/tool/memory.h"

struct proto {
	unsigned char *bytes;
	size_t count, capacity;
};

static inline void
proto_room(struct proto *p, size_t more)
{
	if (p->count + more > p->capacity)
		p->bytes = grow(p->bytes, &p->capacity, p->count + more, 1);
}

static inline void
proto_varint(struct proto *p, uint64_t value)
{
	proto_room(p, 10);
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
	proto_room(p, 8);
	memcpy(p->bytes + p->count, &value, 8);
	p->count += 8;
}

static inline void
proto_double(struct proto *p, unsigned field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, 8);
	proto_fixed64(p, field, bits);
}

static inline void
proto_bytes(struct proto *p, unsigned field, const void *bytes, size_t count)
{
	proto_varint(p, field << 3 | 2);
	proto_varint(p, count);
	proto_room(p, count);
	memcpy(p->bytes + p->count, bytes, count);
	p->count += count;
}

static inline void
proto_text(struct proto *p, unsigned field, const char *text)
{
	proto_bytes(p, field, text, strlen(text));
}

/*
 * A nested message is begun, filled and ended. It is smaller than 2 MiB, and its size takes three
 * bytes.
 */
static inline size_t
proto_begin(struct proto *p, unsigned field)
{
	proto_varint(p, field << 3 | 2);
	proto_room(p, 3);
	p->count += 3;
	return p->count;
}

static inline void
proto_end(struct proto *p, size_t begun)
{
	size_t size = p->count - begun;

	p->bytes[begun - 3] = (unsigned char)(size | 0x80);
	p->bytes[begun - 2] = (unsigned char)(size >> 7 | 0x80);
	p->bytes[begun - 1] = (unsigned char)(size >> 14 & 0x7f);
}

#endif
