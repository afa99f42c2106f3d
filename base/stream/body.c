/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of a message's body, by key; columns are in column.c. */
#include <string.h>

#include "open_call.h"
#include "reader.h"

const msgpack_object *
body_get(const struct message *message, const char *key)
{
	const msgpack_object_map *map = &message->body.via.map;
	const size_t length = strlen(key);

	for (uint32_t i = 0; i < map->size; i++)
		if (has_text(&map->ptr[i].key, key, length))
			return &map->ptr[i].val;
	return NULL;
}

static int
missing(struct reader *in, const struct message *message, const char *key)
{
	reader_fail(in, message->offset, "%s: %s is missing or no number", message->kind, key);
	return -1;
}

const void *
body_bin(const struct message *message, const char *key, size_t *size)
{
	const msgpack_object *found = body_get(message, key);
	const bool is_bin = found != NULL && found->type == MSGPACK_OBJECT_BIN;

	*size = is_bin ? found->via.bin.size : 0;
	return is_bin ? found->via.bin.ptr : NULL;
}

bool
body_is(const struct message *message, const char *key, const char *text)
{
	const msgpack_object *found = body_get(message, key);

	return found != NULL && is_text(found, text);
}

bool
body_true(const struct message *message, const char *key)
{
	const msgpack_object *found = body_get(message, key);

	return found != NULL && found->type == MSGPACK_OBJECT_BOOLEAN && found->via.boolean;
}

int
body_whole(struct reader *in, const struct message *message, const char *key, int64_t min,
    int64_t max, void *value, size_t width)
{
	const msgpack_object *found = body_get(message, key);

	if (found == NULL || (found->type != MSGPACK_OBJECT_POSITIVE_INTEGER &&
	    found->type != MSGPACK_OBJECT_NEGATIVE_INTEGER))
		return missing(in, message, key);
	if ((found->type == MSGPACK_OBJECT_POSITIVE_INTEGER && found->via.u64 > INT64_MAX) ||
	    found->via.i64 < min || found->via.i64 > max) {
		reader_fail(in, message->offset, "%s: %s is out of range", message->kind, key);
		return -1;
	}
	switch (width) {
	case 1: *(uint8_t *)value = (uint8_t)found->via.i64; break;
	case 2: *(uint16_t *)value = (uint16_t)found->via.i64; break;
	case 4: *(uint32_t *)value = (uint32_t)found->via.i64; break;
	default: *(int64_t *)value = found->via.i64;
	}
	return 0;
}

int
body_uint(struct reader *in, const struct message *message, const char *key, uint64_t *value)
{
	const msgpack_object *found = body_get(message, key);

	if (found == NULL || found->type != MSGPACK_OBJECT_POSITIVE_INTEGER)
		return missing(in, message, key);
	*value = found->via.u64;
	return 0;
}

int
body_number(struct reader *in, const struct message *message, const char *key, int64_t min,
    uint32_t *value)
{
	const uint64_t read = message->offset + in->inflated_bytes;
	int64_t number;

	if (body_int(in, message, key, min, UINT32_MAX, &number) < 0)
		return -1;
	if ((uint64_t)number >= NUMBERS_FREE + read / NUMBER_BYTES)
		return reader_fail(in, message->offset, "%s: %s is %lld, far more than are defined",
		    message->kind, key, (long long)number);
	*value = (uint32_t)number;
	return 0;
}

int
body_count(struct reader *in, const struct message *message, const char *key, int64_t min,
    int64_t max, const char *column, size_t *count)
{
	int64_t value;
	size_t bytes;

	if (body_int(in, message, key, min, max, &value) < 0)
		return -1;
	if (body_bin(message, column, &bytes) == NULL || bytes < (size_t)value)
		return reader_fail(in, message->offset, "%s: %s is missing or too short",
		    message->kind, column);
	*count = (size_t)value;
	return 0;
}

char *
body_string(const struct message *message, const char *key)
{
	const msgpack_object *found = body_get(message, key);

	return found != NULL && found->type == MSGPACK_OBJECT_STR ?
	    strndup(found->via.str.ptr, found->via.str.size) : NULL;
}

const struct open_call *
open_call_of(const struct message *message)
{
	size_t size;
	const void *open = body_bin(message, "open", &size);

	return size == sizeof(struct open_call) ? open : NULL;
}
