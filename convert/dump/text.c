/* SPDX-License-Identifier: BSD-3-Clause */
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../base/tool/tool.h"

void
text_flush(struct text *text)
{
	if (fwrite(text->bytes, 1, text->used, stdout) != text->used)
		die_output();
	text->used = 0;
}

void
text_bytes(struct text *text, const char *bytes, size_t size)
{
	while (size > 0) {
		size_t room = TEXT_BYTES - text->used, part = size < room ? size : room;

		memcpy(text->bytes + text->used, bytes, part);
		text->used += part;
		bytes += part;
		size -= part;
		if (size > 0)
			text_flush(text);
	}
}

void
text_uint(struct text *text, uint64_t value)
{
	char digits[20];
	size_t begin = sizeof digits;

	do {
		digits[--begin] = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0);
	text_bytes(text, digits + begin, sizeof digits - begin);
}

void
text_int(struct text *text, int64_t value)
{
	if (value < 0)
		text_char(text, '-');
	text_uint(text, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

/* Bytes of the UTF-8 character that begins here, 0 where none does. */
static size_t
utf8_size(const unsigned char *c, size_t left)
{
	size_t size = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 :
	    c[0] < 0xf5 ? 4 : 0;

	if (size > left)
		return 0;
	for (size_t i = 1; i < size; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates and what lies beyond U+10FFFF. */
	if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) ||
	    (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f))
		return 0;
	return size;
}

void
text_string(struct text *text, const char *bytes, size_t size)
{
	static const char hex[] = "0123456789abcdef";
	const unsigned char *c = (const unsigned char *)bytes;

	text_char(text, '"');
	for (size_t i = 0, step; i < size; i += step) {
		step = utf8_size(c + i, size - i);
		if (step == 0) {
			text_put(text, "\\ufffd");
			step = 1;
		} else if (c[i] < ' ' || c[i] == 0x7f) {
			text_put(text, "\\u00");
			text_char(text, hex[c[i] >> 4]);
			text_char(text, hex[c[i] & 15]);
		} else {
			if (c[i] == '"' || c[i] == '\\')
				text_char(text, '\\');
			text_bytes(text, bytes + i, step);
		}
	}
	text_char(text, '"');
}

static void
put_hex(struct text *text, const char *bytes, size_t size)
{
	static const char hex[] = "0123456789abcdef";

	text_char(text, '"');
	for (size_t i = 0; i < size; i++) {
		text_char(text, hex[(unsigned char)bytes[i] >> 4]);
		text_char(text, hex[(unsigned char)bytes[i] & 15]);
	}
	text_char(text, '"');
}

static void
put_double(struct text *text, double value)
{
	char digits[32];

	if (!isfinite(value))
		text_put(text, "null");		/* JSON has no word for it */
	else if (snprintf(digits, sizeof digits, "%.15g", value) > 0) {
		if (strtod(digits, NULL) != value)
			snprintf(digits, sizeof digits, "%.17g", value);
		text_put(text, digits);
	}
}

/* Keys of JSON are strings: any other is put into quotes as it would be printed. */
void
text_map_key(struct text *text, const msgpack_object *key)
{
	switch (key->type) {
	case MSGPACK_OBJECT_STR:
	case MSGPACK_OBJECT_BIN:
		text_value(text, key);
		break;
	case MSGPACK_OBJECT_POSITIVE_INTEGER:
	case MSGPACK_OBJECT_NEGATIVE_INTEGER:
		text_char(text, '"');
		text_value(text, key);
		text_char(text, '"');
		break;
	default:
		text_put(text, "\"?\"");
	}
}

void
text_value(struct text *text, const msgpack_object *value)
{
	switch (value->type) {
	case MSGPACK_OBJECT_BOOLEAN: text_put(text, value->via.boolean ? "true" : "false"); break;
	case MSGPACK_OBJECT_POSITIVE_INTEGER: text_uint(text, value->via.u64); break;
	case MSGPACK_OBJECT_NEGATIVE_INTEGER: text_int(text, value->via.i64); break;
	case MSGPACK_OBJECT_FLOAT32:
	case MSGPACK_OBJECT_FLOAT64: put_double(text, value->via.f64); break;
	case MSGPACK_OBJECT_STR: text_string(text, value->via.str.ptr, value->via.str.size); break;
	case MSGPACK_OBJECT_BIN: put_hex(text, value->via.bin.ptr, value->via.bin.size); break;
	case MSGPACK_OBJECT_EXT: put_hex(text, value->via.ext.ptr, value->via.ext.size); break;
	case MSGPACK_OBJECT_ARRAY:
		text_char(text, '[');
		for (uint32_t i = 0; i < value->via.array.size; i++) {
			if (i > 0)
				text_char(text, ',');
			text_value(text, &value->via.array.ptr[i]);
		}
		text_char(text, ']');
		break;
	case MSGPACK_OBJECT_MAP:
		text_char(text, '{');
		for (uint32_t i = 0; i < value->via.map.size; i++) {
			if (i > 0)
				text_char(text, ',');
			text_map_key(text, &value->via.map.ptr[i].key);
			text_char(text, ':');
			text_value(text, &value->via.map.ptr[i].val);
		}
		text_char(text, '}');
		break;
	case MSGPACK_OBJECT_NIL:
	default: text_put(text, "null");
	}
}
