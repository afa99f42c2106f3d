/* SPDX-License-Identifier: BSD-3-Clause */
#include "json.h"

#include <math.h>

void
json_begin(struct json *json, struct text *text)
{
	*json = (struct json){ .text = text };
}

/* The number of bytes from here that need no escape. */
static size_t
plain_run(const unsigned char *c, size_t left, bool in_markup)
{
	size_t run = 0;

	while (run < left && c[run] >= ' ' && c[run] < 0x7f && c[run] != '"' && c[run] != '\\' &&
	    (!in_markup || (c[run] != '<' && c[run] != '>' && c[run] != '&')))
		run++;
	return run;
}

static void
put_escaped(struct json *json, const char *bytes, size_t size)
{
	static const char hex[] = "0123456789abcdef";
	const unsigned char *c = (const unsigned char *)bytes;
	struct text *text = json->text;

	text_char(text, '"');
	for (size_t i = 0, step; i < size; i += step) {
		if ((step = plain_run(c + i, size - i, json->in_markup)) > 0) {
			text_bytes(text, bytes + i, step);
			continue;
		}
		step = utf8_size(c + i, size - i);
		if (step == 0) {
			text_put(text, "\\ufffd");
			step = 1;
		} else if (c[i] < ' ' || c[i] == 0x7f ||
		    (json->in_markup && (c[i] == '<' || c[i] == '>' || c[i] == '&'))) {
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

void
json_bytes(struct json *json, const char *key, const char *bytes, size_t size)
{
	json_next(json, key);
	put_escaped(json, bytes, size);
}

void
json_key_bytes(struct json *json, const char *bytes, size_t size)
{
	json_next(json, NULL);
	put_escaped(json, bytes, size);
	text_char(json->text, ':');
	json->more = false;	/* its value follows */
}

static void
put_number(struct json *json, const char *key, const char *format, int digits, double value)
{
	char number[NUMBER_BYTES];

	if (!isfinite(value)) {
		json_null(json, key);
		return;
	}
	json_next(json, key);
	snprintf(number, sizeof number, format, digits, value);
	text_put(json->text, number);
}

void
json_fixed(struct json *json, const char *key, double value, int decimals)
{
	put_number(json, key, "%.*f", decimals, value);
}

void
json_significant(struct json *json, const char *key, double value, int digits)
{
	put_number(json, key, "%.*g", digits, value);
}

void
json_double(struct json *json, const char *key, double value)
{
	put_number(json, key, "%.*g", exact_digits(value), value);
}

void
json_seconds(struct json *json, const char *key, int64_t ns)
{
	json_fixed(json, key, 1e-9 * (double)ns, 9);
}
