/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks as columns in memory, which are compressed. */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "held.h"

/* Bytes of a row in memory. */
#define X(field, key, type, is_signed, required, absent) + sizeof(type)
enum { ROW_BYTES = 2 * sizeof(int64_t) CALL_COLUMNS(X) };
#undef X

/*
 * Columns of a block are contiguous at BYTES, times as differences. Copies from them, or TO them.
 */
static void
copy_columns(struct calls *c, unsigned char *bytes, bool to)
{
	int64_t last_ns = 0, pair[2];

	for (size_t i = 0; i < c->count; i++, bytes += sizeof pair) {
		if (to) {
			pair[0] = c->enter_ns[i] - last_ns;
			pair[1] = c->leave_ns[i] - c->enter_ns[i];
			memcpy(bytes, pair, sizeof pair);
		} else {
			memcpy(pair, bytes, sizeof pair);
			c->enter_ns[i] = last_ns + pair[0];
			c->leave_ns[i] = c->enter_ns[i] + pair[1];
		}
		last_ns = c->enter_ns[i];
	}
#define X(field, key, type, is_signed, required, absent) \
	memcpy(to ? (void *)bytes : (void *)c->field, to ? (void *)c->field : (void *)bytes, \
	    c->count * sizeof *c->field); \
	bytes += c->count * sizeof *c->field;
	/* cppcheck-suppress uselessAssignmentPtrArg */
	CALL_COLUMNS(X)
#undef X
}

/* A long run of polls has some ten million rows a second, all much alike. */
static void
compress(struct held *h)
{
	const size_t most = ZSTD_compressBound(h->plain_size);
	unsigned char *packed = need(malloc(most));
	const size_t size = ZSTD_compress(packed, most, h->bytes, h->plain_size, 1);

	if (ZSTD_isError(size) || size >= h->plain_size) {
		free(packed);
		return;
	}
	free(h->bytes);
	h->bytes = need(realloc(packed, size));
	h->size = size;
}

struct held *
held_add(struct held_queue *queue, const struct message *message, struct calls *calls, bool packed)
{
	struct held *h = zalloc(1, sizeof *h);

	h->message = *message;
	h->is_block = calls != NULL;
	if (h->is_block) {
		h->location = calls->location;
		h->first = calls->first;
		h->count = h->moved_from = calls->count;
	}
	h->size = h->plain_size = h->count * ROW_BYTES + message->size;
	h->bytes = need(malloc(h->size));
	if (h->is_block)
		copy_columns(calls, h->bytes, true);
	memcpy(h->bytes + h->count * ROW_BYTES, message->bytes, message->size);
	if (h->is_block && packed)
		compress(h);
	queue->bytes += h->size;
	*(queue->oldest == NULL ? &queue->oldest : &queue->newest->next) = h;
	queue->newest = h;
	return h;
}

void
held_read(struct held *h, struct calls *calls)
{
	const uint64_t offset = h->message.offset;
	const char *why = "";

	if (h->size < h->plain_size) {
		unsigned char *plain = need(malloc(h->plain_size));

		if (ZSTD_decompress(plain, h->plain_size, h->bytes, h->size) != h->plain_size)
			die("out of memory");
		free(h->bytes);
		h->bytes = plain;
	}
	if (h->is_block) {
		calls->location = h->location;
		calls->first = h->first;
		need_memory(calls_reserve(calls, h->count + 1));
		calls->count = h->count;
		copy_columns(calls, h->bytes, false);
	}
	h->message.bytes = h->bytes + h->count * ROW_BYTES;
	/* The body of a message lasts only until the reader's next message. */
	if (!h->is_block && message_parse(&h->message, &h->unpacked, h->message.bytes,
	    h->message.size, &why) <= 0)
		die("a message held back: %s", why);
	h->message.offset = offset;
}

void
held_drop(struct held_queue *queue)
{
	struct held *h = queue->oldest;

	queue->oldest = h->next;
	queue->bytes -= h->size;
	msgpack_unpacked_destroy(&h->unpacked);
	free(h->bytes);
	free(h);
}
