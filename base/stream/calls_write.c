/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes blocks of calls. */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "times.h"

/* A column need not be written if every value means that it is absent. */
static bool
all_are(const void *values, size_t width, int64_t value, size_t count)
{
	const char *bytes = values;

	/* Compares the first value with VALUE, and each other value with the one before. */
	return count == 0 || (memcmp(bytes, &value, width) == 0 &&
	    memcmp(bytes, bytes + width, (count - 1) * width) == 0);
}

/* How the times of a block are written. */
struct times {
	const int64_t *gaps;		/* in place of enters; NULL: enters */
	const struct coded_times *coded;	/* in place of both; NULL: times are columns */
	const uint32_t *rows;		/* with coded: the order of the other columns */
};

/* A column; with ROWS in their order, and with its bytes apart. */
static void
put_one(struct writer *out, const char *key, struct column_type type, const void *values,
    size_t count, const uint32_t *rows)
{
	const size_t width = type.width;
	void *sorted = rows != NULL ? malloc(count * width + 1) : NULL;

	if (rows == NULL) {
		put_column_of(out, key, type, values, count);
		return;
	}
	if (sorted == NULL) {
		out->failed = true;
		return;
	}
#define GATHER(type) \
	for (size_t i = 0; i < count; i++) \
		((type *)sorted)[i] = ((const type *)values)[rows[i]];
	if (width == 2)
		GATHER(uint16_t)
	else if (width == 4)
		GATHER(uint32_t)
	else
		GATHER(uint64_t)
#undef GATHER
	put_column_of(out, key, type, sorted, count);
	column_apart(out, count);
	free(sorted);
}

/* Times as two columns. */
static void
put_times(struct writer *out, const struct calls *calls, const int64_t *gaps)
{
	int64_t *duration_ns = malloc((calls->count + 1) * sizeof *duration_ns);

	if (duration_ns == NULL) {
		out->failed = true;
		return;
	}
	for (size_t i = 0; i < calls->count; i++)
		duration_ns[i] = calls->leave_ns[i] - calls->enter_ns[i];
	if (gaps != NULL) {
		put_column_of(out, "gap", time_type, gaps, calls->count);
		column_apart(out, calls->count);
	} else
		put_column_of(out, "enter", time_type, calls->enter_ns, calls->count);
	put_column_of(out, "duration", duration_type, duration_ns, calls->count);
	if (gaps != NULL)
		column_apart(out, calls->count);
	free(duration_ns);
}

/* Codes of each group of sites have frequencies of their own; the bits do not compress at all. */
static void
put_coded(struct writer *out, const struct coded_times *coded)
{
	size_t begin;

	put_bytes(out, "time_codes", coded->codes, coded->code_bytes);
	begin = out->buffer.size - coded->code_bytes;
	for (unsigned i = 0; i < coded->cut_count; i++)
		writer_cut(out, begin + coded->cuts[i]);
	writer_cut(out, out->buffer.size);
	put_bytes(out, "time_bits", coded->bits, coded->bit_bytes);
	writer_cut(out, out->buffer.size);
}

static int
write_block(struct writer *out, const struct calls *calls, const struct times *times)
{
	unsigned columns = 0;

#define X(field, key, type, is_signed, required, absent) \
	bool has_##field = required || !all_are(calls->field, sizeof(type), absent, calls->count); \
	columns += has_##field;
	CALL_COLUMNS(X)
#undef X
	message_begin(out, "calls", (times->coded != NULL ? 6 : 5) + columns);
	put_uint(out, "location", calls->location);
	put_uint(out, "first", calls->first);
	put_uint(out, "count", calls->count);
	if (times->coded == NULL)
		put_times(out, calls, times->gaps);
#define X(field, key, type, is_signed, required, absent) \
	if (has_##field) \
		put_one(out, key, (struct column_type){ sizeof(type), is_signed, required, \
		    absent }, calls->field, \
		    calls->count, strcmp(key, "site") != 0 ? times->rows : NULL);
	CALL_COLUMNS(X)
#undef X
	if (times->coded != NULL) {
		put_int(out, "begin", calls->enter_ns[0]);
		put_coded(out, times->coded);
	}
	out->rows += calls->count;
	return message_end(out);
}

int
calls_write(struct writer *out, const struct calls *calls)
{
	return write_block(out, calls, &(struct times){ NULL, NULL, NULL });
}

/* Gaps in place of enters are smaller numbers, which compress better. */
static int
write_gaps(struct writer *out, const struct calls *calls)
{
	int64_t *gaps = malloc((calls->count + 1) * sizeof *gaps), leave_ns = 0;
	int done;

	if (gaps == NULL) {
		out->failed = true;
		return -1;
	}
	for (size_t i = 0; i < calls->count; i++) {
		gaps[i] = calls->call[i] == 0 ? 0 : calls->enter_ns[i] - leave_ns;
		leave_ns = calls->leave_ns[i];
	}
	done = write_block(out, calls, &(struct times){ gaps, NULL, NULL });
	free(gaps);
	return done;
}

int
calls_write_small(struct writer *out, const struct calls *calls)
{
	uint32_t *rows = rows_by_site(calls);
	struct coded_times coded;
	int done;

	if (rows != NULL && times_code(calls, rows, &coded) == 0) {
		done = write_block(out, calls, &(struct times){ NULL, &coded, rows });
		times_free(&coded);
	} else
		done = write_gaps(out, calls);
	free(rows);
	return done;
}

int
call_names_write(struct writer *out, const bool *used)
{
	for (unsigned i = 1; i < call_count(); i++)
		if (used[i]) {
			message_begin(out, "call", 2);
			put_uint(out, "number", i);
			put_string(out, "name", call_name(i));
			if (message_end(out) < 0)
				return -1;
		}
	return 0;
}
