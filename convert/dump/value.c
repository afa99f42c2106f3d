/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of messages unknown to the format, as JSON. */
#include "dump.h"

static void
put_hex(struct json *out, const char *key, const char *bytes, size_t size)
{
	static const char hex[] = "0123456789abcdef";

	json_next(out, key);
	text_char(out->text, '"');
	for (size_t i = 0; i < size; i++) {
		text_char(out->text, hex[(unsigned char)bytes[i] >> 4]);
		text_char(out->text, hex[(unsigned char)bytes[i] & 15]);
	}
	text_char(out->text, '"');
}

/* JSON keys are strings: a number is put in quotes. */
void
put_map_key(struct json *out, const msgpack_object *key)
{
	char digits[24];

	switch (key->type) {
	case MSGPACK_OBJECT_STR:
		json_key_bytes(out, key->via.str.ptr, key->via.str.size);
		return;
	case MSGPACK_OBJECT_BIN:
		put_hex(out, NULL, key->via.bin.ptr, key->via.bin.size);
		text_char(out->text, ':');
		out->more = false;
		return;
	case MSGPACK_OBJECT_POSITIVE_INTEGER:
		snprintf(digits, sizeof digits, "%llu", (unsigned long long)key->via.u64);
		break;
	case MSGPACK_OBJECT_NEGATIVE_INTEGER:
		snprintf(digits, sizeof digits, "%lld", (long long)key->via.i64);
		break;
	default:
		snprintf(digits, sizeof digits, "?");
	}
	json_key_bytes(out, digits, strlen(digits));
}

void
put_value(struct json *out, const char *key, const msgpack_object *value)
{
	switch (value->type) {
	case MSGPACK_OBJECT_BOOLEAN: json_bool(out, key, value->via.boolean); break;
	case MSGPACK_OBJECT_POSITIVE_INTEGER: json_uint(out, key, value->via.u64); break;
	case MSGPACK_OBJECT_NEGATIVE_INTEGER: json_int(out, key, value->via.i64); break;
	case MSGPACK_OBJECT_FLOAT32:
	case MSGPACK_OBJECT_FLOAT64: json_double(out, key, value->via.f64); break;
	case MSGPACK_OBJECT_STR:
		json_bytes(out, key, value->via.str.ptr, value->via.str.size);
		break;
	case MSGPACK_OBJECT_BIN: put_hex(out, key, value->via.bin.ptr, value->via.bin.size); break;
	case MSGPACK_OBJECT_EXT: put_hex(out, key, value->via.ext.ptr, value->via.ext.size); break;
	case MSGPACK_OBJECT_ARRAY:
		json_begin_array(out, key);
		for (uint32_t i = 0; i < value->via.array.size; i++)
			put_value(out, NULL, &value->via.array.ptr[i]);
		json_end_array(out);
		break;
	case MSGPACK_OBJECT_MAP:
		json_begin_object(out, key);
		for (uint32_t i = 0; i < value->via.map.size; i++) {
			put_map_key(out, &value->via.map.ptr[i].key);
			put_value(out, NULL, &value->via.map.ptr[i].val);
		}
		json_end_object(out);
		break;
	case MSGPACK_OBJECT_NIL:
	default: json_null(out, key);
	}
}
