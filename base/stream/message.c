/* SPDX-License-Identifier: BSD-3-Clause */
/* One message: its bytes become kind and body; its hash is checked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include "reader.h"

enum { HASH_BYTES = 9 };		/* a msgpack uint64: marker and value */

/*
 * The hash, if a message has one, is the last value of its body and covers all bytes before that
 * value (trace.5, INTEGRITY).
 */
enum message_hash
message_hash(const struct message *message, uint64_t *hash)
{
	const msgpack_object_map *map = &message->body.via.map;
	const msgpack_object_kv *last = map->size > 0 ? &map->ptr[map->size - 1] : NULL;

	if (last == NULL || !is_text(&last->key, "xxh3"))
		return HASH_NONE;
	if (last->val.type != MSGPACK_OBJECT_POSITIVE_INTEGER || message->size < HASH_BYTES ||
	    message->bytes[message->size - HASH_BYTES] != 0xcf)
		return HASH_MALFORMED;
	*hash = last->val.via.u64;
	return *hash == XXH3_64bits(message->bytes, message->size - HASH_BYTES) ?
	    HASH_RIGHT : HASH_WRONG;
}

int
message_check_hash(struct reader *in, const struct message *message)
{
	uint64_t hash;

	switch (message_hash(message, &hash)) {
	case HASH_RIGHT:
		return 0;
	case HASH_NONE:
		return in->hashed ?
		    reader_fail(in, message->offset, "%s: no hash", message->kind) : 0;
	case HASH_MALFORMED:
		return reader_fail(in, message->offset, "%s: its hash is malformed", message->kind);
	default:
		if (hash == 0 && in->raw && (is_kind(message, "calls") ||
		    is_kind(message, "regions")))
			return 0;	/* the rank was still filling this block */
		return reader_fail(in, message->offset, "%s: damaged: its hash is wrong",
		    message->kind);
	}
}

bool
message_is_block(const struct message *message)
{
	return is_kind(message, "calls") || is_kind(message, "messages") || is_kind(message,
	    "probes") || is_kind(message, "collectives") || is_kind(message, "settled");
}

int
message_parse(struct message *message, msgpack_unpacked *unpacked, const void *bytes, size_t size,
    const char **why)
{
	const msgpack_object *pair;
	size_t used = 0;

	msgpack_unpacked_destroy(unpacked);
	msgpack_unpacked_init(unpacked);
	switch (msgpack_unpack_next(unpacked, bytes, size, &used)) {
	case MSGPACK_UNPACK_SUCCESS:
	case MSGPACK_UNPACK_EXTRA_BYTES:
		break;
	case MSGPACK_UNPACK_CONTINUE:
		return 0;
	case MSGPACK_UNPACK_NOMEM_ERROR:
		*why = "damaged: a message nested too deep or larger than memory";
		return -1;
	default:
		*why = "damaged: not msgpack";
		return -1;
	}
	pair = unpacked->data.via.array.ptr;
	if (unpacked->data.type != MSGPACK_OBJECT_ARRAY || unpacked->data.via.array.size != 2 ||
	    pair[0].type != MSGPACK_OBJECT_STR || pair[1].type != MSGPACK_OBJECT_MAP) {
		*why = "damaged: a message is not [kind, body]";
		return -1;
	}
	snprintf(message->kind, sizeof message->kind, "%.*s", (int)pair[0].via.str.size,
	    pair[0].via.str.ptr);
	message->stated_kind = pair[0];
	message->body = pair[1];
	message->bytes = bytes;
	message->size = used;
	message->offset = 0;
	return 1;
}

/* The message at the beginning of the unread part. 1: done, 0: more bytes are needed, -1: error. */
static int
unpack(struct reader *in, struct message *message, const struct buffer *from, uint64_t offset)
{
	const char *why;
	const int got = message_parse(message, &in->unpacked, from->bytes + from->begin,
	    from->end - from->begin, &why);

	if (got <= 0)
		return got < 0 ? reader_fail(in, offset, "%s", why) : 0;
	message->offset = offset;
	if (((in->lazy || in->growing) && message_is_block(message)) || in->hollow)
		return 1;	/* see reader_verify */
	return message_check_hash(in, message) < 0 ? -1 : 1;
}

/* The next message inside a message of kind zstd. */
static int
take_inflated(struct reader *in, struct message *message)
{
	int got = unpack(in, message, &in->inflated, in->inflated_offset);

	if (got == 0)
		return reader_fail(in, in->inflated_offset,
		    "damaged: zstd: holds no whole message");
	if (got < 0)
		return -1;
	if (is_kind(message, "zstd") || is_kind(message, "longpole") || is_kind(message, "end"))
		return reader_fail(in, in->inflated_offset,
		    "damaged: zstd: holds a message of kind %s", message->kind);
	in->inflated.begin += message->size;
	return 1;
}

/* The bytes of some integers lie apart: moves each byte back to its integer. */
static int
put_together(struct reader *in, const struct message *message, const msgpack_object *stated,
    size_t bytes)
{
	struct plane planes[MOST_PLANES];
	const size_t count = stated->type == MSGPACK_OBJECT_BIN ?
	    stated->via.bin.size / sizeof planes[0] : 0;
	size_t from = 0;
	unsigned char *room;

	if (count == 0 || count > MOST_PLANES || count * sizeof planes[0] != stated->via.bin.size)
		return reader_fail(in, message->offset, "damaged: zstd: planes are none");
	memcpy(planes, stated->via.bin.ptr, stated->via.bin.size);
	for (const struct plane *p = planes; p < planes + count; p++) {
		if (p->begin < from || p->begin > bytes || p->width < 2 || p->width > 8 ||
		    p->count > (bytes - p->begin) / p->width)
			return reader_fail(in, message->offset,
			    "damaged: zstd: planes beyond its end");
		from = p->begin + (size_t)p->count * p->width;
	}
	if ((room = malloc(bytes)) == NULL)
		return reader_fail(in, message->offset, "out of memory");
	for (size_t i = 0; i < count; i++)
		planes_together(in->inflated.bytes, &planes[i], room);
	free(room);
	return 0;
}

static int
inflate(struct reader *in, const struct message *message)
{
	const msgpack_object *planes = body_get(message, "planes");
	size_t packed, bytes;
	const void *data = body_bin(message, "data", &packed);

	if (body_int(in, message, "bytes", 1, (int64_t)MESSAGE_LIMIT, &bytes) < 0)
		return -1;
	if (data == NULL || ZSTD_getFrameContentSize(data, packed) != bytes)
		return reader_fail(in, message->offset,
		    "damaged: zstd: no data of the size it states");
	if (bytes > INFLATED_FREE && bytes / INFLATED_FACTOR > packed)
		return reader_fail(in, message->offset, "damaged: zstd: %zu bytes out of %zu",
		    bytes, packed);
	if (in->inflated.capacity < bytes)
		buffer_close(&in->inflated);
	in->inflated.begin = in->inflated.end = 0;
	if (buffer_room(&in->inflated, bytes) < 0)
		return reader_fail(in, message->offset, "out of memory");
	if (ZSTD_decompress(in->inflated.bytes, bytes, data, packed) != bytes)
		return reader_fail(in, message->offset, "damaged: zstd: cannot be decompressed");
	if (planes != NULL && put_together(in, message, planes, bytes) < 0)
		return -1;
	in->inflated.end = bytes;
	in->inflated_offset = message->offset;
	in->inflated_bytes += bytes;
	return 0;
}

int
message_take(struct reader *in, struct message *message)
{
	struct buffer *input = &in->input;
	int more, got;

	if (in->inflated.begin < in->inflated.end)
		return take_inflated(in, message);
	if (input->begin == input->end && (more = reader_more(in)) <= 0)
		return more;
	if (input->bytes[input->begin] != 0x92)
		return reader_fail(in, buffer_here(input), in->state == IN_STREAM ||
		    in->content[0] != '\0' ? "damaged: no message begins here" :
		    "not a longpole stream");
	if (in->skims)
		skim(in);
	while ((got = unpack(in, message, input, buffer_here(input))) == 0) {
		if (input->end - input->begin > MESSAGE_LIMIT)
			return reader_fail(in, buffer_here(input),
			    "damaged: a message of more than 2 GiB");
		if ((more = reader_more(in)) < 0)
			return -1;
		if (more == 0)
			return reader_fail(in, buffer_end(input), "cut short in the message that "
			    "begins at byte %llu", (unsigned long long)buffer_here(input));
	}
	if (got < 0)
		return -1;
	input->begin += message->size;
	if (!is_kind(message, "zstd"))
		return 1;
	return inflate(in, message) < 0 ? -1 : take_inflated(in, message);
}
