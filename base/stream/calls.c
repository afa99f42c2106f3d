/* SPDX-License-Identifier: BSD-3-Clause */
#include "calls.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"
#include "times.h"

/* Names given by calls_known, and names that only a stream brought; they live until exit. */
static const char *const *known;
static unsigned known_count;
static char **foreign;
static unsigned foreign_count;

/* All names, sorted: a stream of 65535 names must not take a linear search for each. */
struct name {
	const char *text;
	int index;
};
static void *names;

static int
by_text(const void *left, const void *right)
{
	return strcmp(((const struct name *)left)->text, ((const struct name *)right)->text);
}

/* False: no memory. */
static bool
add_name(const char *text, int index)
{
	struct name *name = malloc(sizeof *name);

	if (name == NULL)
		return false;
	*name = (struct name){ text, index };
	return tsearch(name, &names, by_text) != NULL;
}

void
calls_known(const char *const *given, unsigned count)
{
	known = given;
	known_count = count;
}

const char *
call_name(unsigned index)
{
	return index == 0 ? "part" : index <= known_count ? known[index - 1] :
	    foreign[index - 1 - known_count];
}

unsigned
call_count(void)
{
	return 1 + known_count + foreign_count;
}

int
call_number(const char *name)
{
	struct name key = { name, 0 }, **found;
	char **more, *copy;

	if (names == NULL)
		for (unsigned i = 0; i <= known_count; i++)
			if (!add_name(call_name(i), (int)i))
				return -1;
	if ((found = tfind(&key, &names, by_text)) != NULL)
		return (*found)->index;
	if (call_count() > UINT16_MAX || (copy = strdup(name)) == NULL)
		return -1;
	more = realloc(foreign, (foreign_count + 1) * sizeof *foreign);
	if (more == NULL) {
		free(copy);
		return -1;
	}
	foreign = more;
	foreign[foreign_count++] = copy;
	return add_name(copy, (int)call_count() - 1) ? (int)call_count() - 1 : -1;
}

int
calls_reserve(struct calls *calls, size_t rows)
{
	bool failed = false;

	if (rows <= calls->capacity)
		return 0;
#define ROOM(field, ...) { \
		void *more = realloc(calls->field, rows * sizeof *calls->field); \
		if (more != NULL) \
			calls->field = more; \
		failed |= more == NULL; \
	}
	CALL_FIELDS(ROOM)
	if (failed)
		return -1;
	calls->capacity = rows;
	return 0;
}

int
calls_append(struct calls *calls, const struct calls *more)
{
	const size_t all = calls->count + more->count;

	if (more->count == 0)	/* it may have no columns yet */
		return 0;
	if (all > calls->capacity && calls_reserve(calls, 2 * all) < 0)
		return -1;
#define ADD(field, ...) \
	memcpy(calls->field + calls->count, more->field, more->count * sizeof *calls->field);
	CALL_FIELDS(ADD)
	calls->count = all;
	return 0;
}

int
calls_add(struct calls *calls, const struct call_row *row)
{
	const size_t i = calls->count;

	if (i == calls->capacity && calls_reserve(calls, i > 0 ? 2 * i : 64) < 0)
		return -1;
#define SET(field, ...) calls->field[i] = row->field;
	CALL_FIELDS(SET)
	calls->count++;
	return 0;
}

struct calls
calls_slice(const struct calls *calls, size_t from, size_t to)
{
	struct calls slice = *calls;

	slice.first += from;
	slice.count = to - from;
#define SKIP(field, ...) slice.field += from;
	CALL_FIELDS(SKIP)
	return slice;
}

void
calls_drop(struct calls *calls, size_t count)
{
	calls->first += count;
	calls->count -= count;
#define MOVE(field, ...) \
	memmove(calls->field, calls->field + count, calls->count * sizeof *calls->field);
	CALL_FIELDS(MOVE)
}

void
calls_free(struct calls *calls)
{
#define FREE(field, ...) free(calls->field);
	CALL_FIELDS(FREE)
	memset(calls, 0, sizeof *calls);
}

int
calls_begin(struct reader *in, const struct message *message, int64_t *enter_ns)
{
	const bool gaps = body_get(message, "gap") != NULL;
	int64_t count;
	size_t capacity;

	if (body_get(message, "time_codes") != NULL)
		return body_int(in, message, "begin", INT64_MIN, INT64_MAX, enter_ns);
	if (body_int(in, message, "count", 1, UINT32_MAX, &count) < 0)
		return -1;
	capacity = (size_t)count;
	if (body_int_if(in, message, "capacity", count, UINT32_MAX, &capacity) < 0)
		return -1;
	return body_column_of(in, message, gaps ? "gap" : "enter", time_type,
	    capacity, 1, enter_ns);
}

int
calls_count(struct reader *in, const struct message *message, uint64_t *rows)
{
	return body_int(in, message, "count", 0, UINT32_MAX, rows);
}

/* Gaps become enters; durations stay. -1: out of range. */
static int
add_gaps(struct calls *calls)
{
	int64_t leave_ns = 0;

	for (size_t i = 0; i < calls->count; i++) {
		if (calls->call[i] == 0 && i > 0)
			calls->enter_ns[i] = calls->enter_ns[i - 1];
		else if (__builtin_add_overflow(leave_ns, calls->enter_ns[i], &calls->enter_ns[i]))
			return -1;
		if (__builtin_add_overflow(calls->enter_ns[i], calls->leave_ns[i], &leave_ns))
			return -1;
	}
	return 0;
}

/*
 * Each check gathers its bits over the whole block and tests them once. The loops have no branch,
 * so that a compiler vectorises them.
 */

#define MOST_BIT 61
#define MOST_NS ((uint64_t)1 << MOST_BIT)

/*
 * Durations become leaves. False: an enter or duration is so large that the difference of two
 * times might overflow (trace.5, BLOCKS).
 */
static bool
add_durations(struct calls *calls)
{
	uint64_t far = 0;

	for (size_t i = 0; i < calls->count; i++) {
		const uint64_t enter_ns = (uint64_t)calls->enter_ns[i],
		    ns = (uint64_t)calls->leave_ns[i];

		far |= (enter_ns + MOST_NS) >> (MOST_BIT + 1) | ns >> MOST_BIT;
		calls->leave_ns[i] = (int64_t)(enter_ns + ns);
	}
	return far == 0;
}

/* Numbers become indices. Returns the first number without a name, or 0. */
static unsigned
take_names(struct calls *calls, const struct reader *in)
{
	unsigned unnamed = 0;

	for (size_t i = calls->count; i-- > 0; ) {
		const uint16_t number = calls->call[i];

		calls->call[i] = in->known->call_map[number];
		if (calls->call[i] == 0 && number != 0)
			unnamed = number;
	}
	return unnamed;
}

/* Sites that are not defined become 0. */
static void
forget_sites(struct calls *calls, uint32_t site_end)
{
	for (size_t i = 0; i < calls->count; i++)
		calls->site[i] = calls->site[i] < site_end ? calls->site[i] : 0;
}

static bool
refers_back(const struct calls *calls)
{
	uint32_t farthest = 0;		/* or more: the bits of all distances */

	for (size_t i = 0; i < calls->count; i++)
		farthest |= calls->request[i];
	for (size_t i = 0; farthest > calls->first && i < calls->count; i++)
		if (calls->request_at[i] == 0 && calls->request[i] > calls->first + i)
			return false;
	return true;
}

/* Moves a column from the order of sites to the order of rows. */
#define PUT_BACK(field) { \
		memcpy(held, calls->field, calls->count * sizeof *calls->field); \
		for (size_t i = 0; i < calls->count; i++) \
			memcpy(&calls->field[rows[i]], (char *)held + i * sizeof *calls->field, \
			    sizeof *calls->field); \
	}

/* Decodes the times of a block whose other columns have been read, in order of sites. */
static int
decode(struct calls *calls, int64_t begin_ns, struct bytes codes, struct bytes bits)
{
	uint32_t *rows = rows_by_site(calls);
	void *held = malloc(8 * (calls->count + 1));
	int done = -1;

	if (rows != NULL && held != NULL) {
#define X(field, key, type, is_signed, required, absent) \
		if (strcmp(key, "site") != 0) \
			PUT_BACK(field)
		CALL_COLUMNS(X)
#undef X
		done = times_decode(calls, rows, begin_ns, codes, bits);
	}
	free(rows);
	free(held);
	return done;
}

static int
read_coded(struct calls *calls, struct reader *in, const struct message *message)
{
	struct bytes codes, bits;
	int64_t begin_ns;

	if (!in->raw)
		return reader_fail(in, message->offset,
		    "calls: coded times outside of a raw trace");
	if (body_int(in, message, "begin", INT64_MIN, INT64_MAX, &begin_ns) < 0)
		return -1;
	codes.at = body_bin(message, "time_codes", &codes.size);
	bits.at = body_bin(message, "time_bits", &bits.size);
	if (codes.at == NULL || bits.at == NULL || decode(calls, begin_ns, codes, bits) < 0)
		return reader_fail(in, message->offset,
		    "calls: coded times that do not match its rows");
	return 0;
}

int
calls_read_numbered(struct calls *calls, struct reader *in, const struct message *message)
{
	const bool gaps = body_get(message, "gap") != NULL,
	    coded = body_get(message, "time_codes") != NULL;
	const char *enters = gaps ? "gap" : "enter";
	size_t count, capacity;

	if (body_int(in, message, "location", 0, INT32_MAX, &calls->location) < 0 ||
	    body_int(in, message, "first", 0, INT64_MAX, &calls->first) < 0 ||
	    body_count(in, message, "count", 0, UINT32_MAX,
	    coded ? "call" : enters, &count) < 0)
		return -1;
	capacity = count;
	if (body_int_if(in, message, "capacity", (int64_t)count, UINT32_MAX, &capacity) < 0)
		return -1;
	if (calls_reserve(calls, count) < 0)
		return reader_fail(in, message->offset, "out of memory");
	calls->count = count;
	if (!coded && (body_column_of(in, message, enters, time_type, capacity, count,
	    calls->enter_ns) < 0 || body_column_of(in, message, "duration", duration_type,
	    capacity, count, calls->leave_ns) < 0))
		return -1;
#define X(field, key, type, is_signed, required, absent) \
	if (body_column_of(in, message, key, (struct column_type){ sizeof(type), is_signed, \
	    required, absent }, capacity, count, calls->field) < 0) \
		return -1;
	CALL_COLUMNS(X)
#undef X
	if (coded && read_coded(calls, in, message) < 0)
		return -1;
	if (((gaps || coded) && add_gaps(calls) < 0) || !add_durations(calls))
		return reader_fail(in, message->offset, "calls: a time is out of range");
	return 0;
}

int
calls_read(struct calls *calls, struct reader *in, const struct message *message)
{
	unsigned unnamed;

	if (calls_read_numbered(calls, in, message) < 0)
		return -1;
	if ((unnamed = take_names(calls, in)) != 0)
		return reader_fail(in, message->offset, "calls: call %u has no name", unnamed);
	if (!in->raw)		/* in a raw trace, sites come after their calls */
		forget_sites(calls, in->known->site_end);
	if (calls->count > 0 && calls->call[0] == 0)
		return reader_fail(in, message->offset, "calls: a part without its call");
	if (!refers_back(calls))
		return reader_fail(in, message->offset, "calls: a request before the first row");
	return 0;
}
