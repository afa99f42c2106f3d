/* SPDX-License-Identifier: BSD-3-Clause */
#include "samples.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

const char *const counter_names[COUNTERS] = {
#define COUNTER(name, ...) #name,
#include "counters.h"
#undef COUNTER
};

#define AT(member) offsetof(struct samples, member)
enum { OF_SAMPLES = 1, OF_SWITCHES = 2, OF_REGIONS = 4, MAY_LACK = 8 };
static const struct {
	const char *key;
	struct column_type type;
	size_t at;
	int of;
} columns[SAMPLE_COLUMNS] = {
	{ "time", { 8, true, true, 0 }, AT(time_ns), OF_SAMPLES | OF_SWITCHES | OF_REGIONS },
	{ "site", { 4, false, true, 0 }, AT(site), OF_SAMPLES },
	{ "site", { 4, false, false, 0 }, AT(site), OF_SWITCHES | MAY_LACK },
	{ "callers", { 4, false, false, 0 }, AT(callers), OF_SAMPLES },
	{ "callers", { 4, false, false, 0 }, AT(callers), OF_SWITCHES | MAY_LACK },
	{ "duration", { 8, false, true, 0 }, AT(end_ns), OF_SWITCHES },
	{ "reason", { 1, false, true, 0 }, AT(reason), OF_SWITCHES },
	{ "on_core", { 8, false, false, 0 }, AT(on_core_ns), OF_SWITCHES | MAY_LACK },
	{ "region", { 4, true, true, 0 }, AT(region), OF_REGIONS },
#define COUNTER(name, ...) \
	{ #name, { 8, false, false, 0 }, AT(counted[COUNT_##name]), OF_SAMPLES | MAY_LACK },
#include "counters.h"
#undef COUNTER
};

static bool
is_of(const struct samples *s, int column)
{
	return (columns[column].of & (s->switches ? OF_SWITCHES : s->regions ? OF_REGIONS :
	    OF_SAMPLES)) != 0;
}

void *
samples_column(const struct samples *s, int column, size_t *width)
{
	void *values;

	*width = columns[column].type.width;
	memcpy(&values, (const char *)s + columns[column].at, sizeof values);
	return is_of(s, column) ? values : NULL;
}

static void
set_column(struct samples *s, int column, void *values)
{
	memcpy((char *)s + columns[column].at, &values, sizeof values);
}

void
samples_skip(struct samples *s, size_t count)
{
	for (int c = 0; c < SAMPLE_COLUMNS; c++) {
		size_t width;
		char *values = samples_column(s, c, &width);

		if (values != NULL)
			set_column(s, c, values + count * width);
	}
	s->count -= count;
}

void
samples_free(struct samples *s)
{
	for (int c = 0; c < SAMPLE_COLUMNS; c++) {
		void *values;

		memcpy(&values, (char *)s + columns[c].at, sizeof values);
		free(values);
		set_column(s, c, NULL);
	}
	s->capacity = 0;
}

int
samples_reserve(struct samples *s, size_t count)
{
	static const size_t least = 64;
	size_t capacity = count < least ? least : count + count / 2;

	if (count <= s->capacity)
		return 0;
	for (int c = 0; c < SAMPLE_COLUMNS; c++) {
		size_t width;
		void *values = samples_column(s, c, &width), *more;

		if (!is_of(s, c))
			continue;
		if (capacity > SIZE_MAX / width ||
		    (more = realloc(values, capacity * width)) == NULL)
			return -1;
		set_column(s, c, more);
	}
	s->capacity = capacity;
	return 0;
}

/* Durations become ends. The intervals of a block are in order and do not overlap. */
static int
find_ends(struct samples *s, struct reader *in, const struct message *message)
{
	int64_t before_ns = INT64_MIN;

	for (size_t i = 0; i < s->count; i++) {
		if (s->reason[i] > OFF_UNKNOWN)
			return reader_fail(in, message->offset, "switched: reason is out of range");
		if (s->end_ns[i] < 0 || __builtin_add_overflow(s->time_ns[i],
		    s->end_ns[i], &s->end_ns[i]) || s->on_core_ns[i] < 0 ||
		    s->on_core_ns[i] > s->end_ns[i] - s->time_ns[i] || s->time_ns[i] < before_ns)
			return reader_fail(in, message->offset,
			    "switched: an interval is out of range");
		before_ns = s->end_ns[i];
	}
	return 0;
}

/* The values beside the columns. A block of regions that is being filled has more ROOM. */
static int
read_head(struct samples *s, struct reader *in, const struct message *message, size_t *room)
{
	s->clock = body_true(message, "clock");
	s->worker = 0;
	s->lost = s->left = 0;
	s->from_ns = s->until_ns = INT64_MIN;
	if (body_int(in, message, "location", 0, INT32_MAX, &s->location) < 0 ||
	    body_int_if(in, message, "worker", 0, UINT32_MAX, &s->worker) < 0 ||
	    body_count(in, message, "count", 0, UINT32_MAX, "time", &s->count) < 0)
		return -1;
	*room = s->count;
	if (s->regions)
		return body_int_if(in, message, "capacity", (int64_t)s->count, UINT32_MAX,
		    room) < 0 ||
		    body_int_if(in, message, "from_ns", INT64_MIN, INT64_MAX, &s->from_ns) < 0 ||
		    body_int_if(in, message, "left", 0, INT64_MAX, &s->left) < 0 ? -1 : 0;
	return (s->switches ?
	    body_int(in, message, "from_ns", INT64_MIN, INT64_MAX, &s->from_ns) :
	    body_int(in, message, "period_ns", 1, INT64_MAX, &s->period_ns)) < 0 ||
	    body_int(in, message, "until_ns", INT64_MIN, INT64_MAX, &s->until_ns) < 0 ||
	    body_int_if(in, message, "lost", 0, INT64_MAX, &s->lost) < 0 ? -1 : 0;
}

static int
check_order(const struct samples *s, struct reader *in, const struct message *message)
{
	for (size_t i = 1; i < s->count; i++)
		if (s->time_ns[i] < s->time_ns[i - 1])
			return reader_fail(in, message->offset, "regions: times go back");
	return 0;
}

int
samples_read(struct samples *s, struct reader *in, const struct message *message)
{
	const bool switches = is_kind(message, "switched"), regions = is_kind(message, "regions");
	size_t room;

	if (switches != s->switches || regions != s->regions)
		samples_free(s);	/* a block has the columns of its kind */
	s->switches = switches;
	s->regions = regions;
	if (read_head(s, in, message, &room) < 0)
		return -1;
	if (samples_reserve(s, s->count) < 0)
		return reader_fail(in, message->offset, "%s: out of memory", message->kind);
	s->counts = false;
	for (int c = 0; c < SAMPLE_COLUMNS; c++) {
		size_t width;
		void *values = samples_column(s, c, &width);

		s->counts |= columns[c].at >= AT(counted[0]) && columns[c].at < AT(end_ns) &&
		    body_get(message, columns[c].key) != NULL;
		if (values != NULL && body_column_of(in, message, columns[c].key, columns[c].type,
		    room, s->count, values) < 0)
			return -1;
	}
	return switches ? find_ends(s, in, message) : regions ? check_order(s, in, message) : 0;
}

bool
is_samples(const struct message *message)
{
	return is_kind(message, "sampled") || is_kind(message, "switched");
}

bool
comes_before_calls(const struct message *message)
{
	return is_samples(message) || is_kind(message, "regions");
}

/* Does a column have to be written? An optional one only if a value is not 0. */
static bool
says(const struct samples *s, const void *values, int column)
{
	const unsigned char *bytes = values;
	const size_t size = s->count * columns[column].type.width;

	if (!is_of(s, column) || (columns[column].of & MAY_LACK) == 0)
		return is_of(s, column);
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != 0)
			return true;
	return false;
}

static void
put_durations(struct writer *out, const struct samples *s, int column)
{
	int64_t *duration_ns = malloc(s->count * sizeof *duration_ns + 1);

	if (duration_ns == NULL) {
		errno = ENOMEM;
		out->failed = true;
		return;
	}
	for (size_t i = 0; i < s->count; i++)
		duration_ns[i] = s->end_ns[i] - s->time_ns[i];
	put_column_of(out, columns[column].key, columns[column].type, duration_ns, s->count);
	free(duration_ns);
}

int
samples_write(struct writer *out, const struct samples *s)
{
	const struct { const char *key; int64_t value; bool said; } values[] = {
		{ "location", s->location, true }, { "worker", s->worker, s->worker > 0 },
		{ "count", (int64_t)s->count, true },
		{ "from_ns", s->from_ns, s->regions ? s->from_ns > INT64_MIN : s->switches },
		{ "left", (int64_t)s->left, s->regions && s->left > 0 },
		{ "period_ns", s->period_ns, !s->regions && !s->switches },
		{ "until_ns", s->until_ns, !s->regions },
		{ "lost", (int64_t)s->lost, !s->regions && s->lost > 0 },
	};
	enum { VALUES = sizeof values / sizeof *values };
	const bool clock = s->clock && !s->regions;
	uint32_t keys = clock;
	bool said[SAMPLE_COLUMNS];
	size_t width;

	for (int v = 0; v < VALUES; v++)
		keys += values[v].said;
	for (int c = 0; c < SAMPLE_COLUMNS; c++)
		keys += said[c] = says(s, samples_column(s, c, &width), c);
	message_begin(out, s->switches ? "switched" : s->regions ? "regions" : "sampled", keys);
	for (int v = 0; v < VALUES; v++)
		if (values[v].said)
			put_int(out, values[v].key, values[v].value);
	if (clock)
		put_bool(out, "clock", true);
	for (int c = 0; c < SAMPLE_COLUMNS; c++)
		if (said[c] && columns[c].at == AT(end_ns))
			put_durations(out, s, c);
		else if (said[c])
			put_column_of(out, columns[c].key, columns[c].type,
			    samples_column(s, c, &width), s->count);
	return message_end(out);
}
