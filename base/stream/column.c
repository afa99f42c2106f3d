/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns: integers that all have 1, 2, 4 or 8 bytes (trace.5, COLUMNS). */
#include <string.h>

#include "reader.h"

/* Columns lie anywhere in a message, so these types may be read at any address. */
#define ANYWHERE __attribute__((aligned(1), may_alias))
typedef uint8_t u8;
typedef int8_t i8;
typedef uint16_t ANYWHERE u16;
typedef int16_t ANYWHERE i16;
typedef uint32_t ANYWHERE u32;
typedef int32_t ANYWHERE i32;
typedef uint64_t ANYWHERE u64;
typedef int64_t ANYWHERE i64;

#define CONVERT(to, from) \
	static void from##_to_##to(void *out, const void *in, size_t count) \
	{ \
		to *restrict o = out; \
		const from *restrict n = in; \
		for (size_t i = 0; i < count; i++) \
			o[i] = (to)n[i]; \
	}
#define CONVERT_ALL(to) \
	CONVERT(to, u8) CONVERT(to, u16) CONVERT(to, u32) CONVERT(to, u64) \
	CONVERT(to, i8) CONVERT(to, i16) CONVERT(to, i32) CONVERT(to, i64)
CONVERT_ALL(u8)
CONVERT_ALL(u16)
CONVERT_ALL(u32)
CONVERT_ALL(u64)

typedef void convert_function(void *, const void *, size_t);

/* [source is signed][log2 of its width][log2 of the width in memory] */
#define FROM(from) { from##_to_u8, from##_to_u16, from##_to_u32, from##_to_u64 }
static convert_function *const convert[2][4][4] = {
	{ FROM(u8), FROM(u16), FROM(u32), FROM(u64) },
	{ FROM(i8), FROM(i16), FROM(i32), FROM(i64) },
};

static int
log2_width(size_t width)
{
	return width == 1 ? 0 : width == 2 ? 1 : width == 4 ? 2 : width == 8 ? 3 : -1;
}

/* The number of bytes that hold every value. */
static uint8_t
width_needed(const void *values, struct column_type type, size_t count)
{
	uint64_t bits = 0;

	/* The highest bit of v ^ 2v is the sign of v in the fewest bits that hold it. */
#define GATHER(u) { \
		u all = 0; \
		if (type.is_signed) \
			for (size_t k = 0; k < count; k++) \
				all |= (u)(((const u *)values)[k] ^ \
				    (u)(((const u *)values)[k] << 1)); \
		else \
			for (size_t k = 0; k < count; k++) \
				all |= ((const u *)values)[k]; \
		bits = all; \
		break; \
	}
	switch (type.width) {
	case 1: return 1;
	case 2: GATHER(u16)
	case 4: GATHER(u32)
	default: GATHER(u64)
	}
	return bits <= UINT8_MAX ? 1 : bits <= UINT16_MAX ? 2 : bits <= UINT32_MAX ? 4 : 8;
}

void
put_column_of(struct writer *out, const char *key, struct column_type type, const void *values,
    size_t count)
{
	uint8_t width = width_needed(values, type, count);
	static const char room[4096];
	size_t bytes = count * width, begin;

	if (width > type.width)
		width = type.width;
	bytes = count * width;
	msgpack_pack_str_with_body(&out->pack, key, strlen(key));
	msgpack_pack_bin(&out->pack, bytes);
	begin = out->buffer.size;
	for (size_t left = bytes; left > 0; left -= left < sizeof room ? left : sizeof room)
		if (msgpack_sbuffer_write(&out->buffer, room,
		    left < sizeof room ? left : sizeof room) < 0) {
			out->failed = true;
			return;
		}
	convert[type.is_signed][log2_width(type.width)][log2_width(width)]
	    (out->buffer.data + begin, values, count);
	out->column_bytes = bytes;
}

void
column_apart(struct writer *out, size_t count)
{
	const size_t width = out->column_bytes / (count > 0 ? count : 1);

	if (width > 1 && out->plane_count < MOST_PLANES && out->buffer.size <= UINT32_MAX)
		out->planes[out->plane_count++] = (struct plane){ (uint32_t)(out->buffer.size -
		    out->column_bytes),
			(uint32_t)count, (uint32_t)width };
}

/* Writes the first value, then doubles the filled part: as fast as copying. */
static void
fill(void *to, uint8_t width, int64_t value, size_t count)
{
	size_t done = width, bytes = count * width;

	if (count == 0)
		return;
	memcpy(to, &value, width);
	for (; done < bytes; done += done < bytes - done ? done : bytes - done)
		memcpy((char *)to + done, to, done < bytes - done ? done : bytes - done);
}

int
body_column_of(struct reader *in, const struct message *message, const char *key,
    struct column_type type, size_t capacity, size_t count, void *to)
{
	const msgpack_object *found = body_get(message, key);
	size_t width;

	if (found == NULL) {
		if (type.required)
			return reader_fail(in, message->offset, "%s: %s is missing",
			    message->kind, key);
		fill(to, type.width, type.absent, count);
		return 0;
	}
	if (found->type != MSGPACK_OBJECT_BIN || count > capacity)
		return reader_fail(in, message->offset, "%s: %s is no column", message->kind, key);
	if (count == 0)
		return 0;
	width = found->via.bin.size / capacity;
	if (width * capacity != found->via.bin.size || log2_width(width) < 0)
		return reader_fail(in, message->offset, "%s: %s has %lu bytes for %lu rows",
		    message->kind, key, (unsigned long)found->via.bin.size,
		    (unsigned long)capacity);
	if (width > type.width) {
		/* Wider than needed is allowed as long as the values fit. */
		struct column_type wide = { (uint8_t)width, type.is_signed, true, 0 };

		if (width_needed(found->via.bin.ptr, wide, count) > type.width)
			return reader_fail(in, message->offset, "%s: %s is out of range",
			    message->kind, key);
	}
	convert[type.is_signed][log2_width(width)][log2_width(type.width)]
	    (to, found->via.bin.ptr, count);
	return 0;
}

/* The first bytes of all integers, then their second ones, and so on (trace.5, COMPRESSION). */
void
planes_apart(unsigned char *bytes, const struct plane *plane, unsigned char *room)
{
	const size_t count = plane->count, width = plane->width;
	unsigned char *at = bytes + plane->begin;

	memcpy(room, at, count * width);
	for (size_t byte = 0; byte < width; byte++)
		for (size_t i = 0; i < count; i++)
			at[byte * count + i] = room[i * width + byte];
}

void
planes_together(unsigned char *bytes, const struct plane *plane, unsigned char *room)
{
	const size_t count = plane->count, width = plane->width;
	unsigned char *at = bytes + plane->begin;

	memcpy(room, at, count * width);
	for (size_t byte = 0; byte < width; byte++)
		for (size_t i = 0; i < count; i++)
			at[i * width + byte] = room[byte * count + i];
}
