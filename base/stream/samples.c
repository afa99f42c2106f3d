/* SPDX-License-Identifier: BSD-3-Clause */
#include "samples.h"

#include <stdlib.h>
#include <string.h>

#include "reader.h"

static const struct column_type time_type = { 8, true, true, 0 };
static const struct column_type site_type = { 4, false, true, 0 };
static const struct column_type callers_type = { 4, false, false, 0 };

static int
reserve(struct samples *s, size_t count)
{
	int64_t *time_ns;
	uint32_t *site, *callers;

	if (count <= s->capacity)
		return 0;
	time_ns = malloc(count * sizeof *time_ns);
	site = malloc(count * sizeof *site);
	callers = malloc(count * sizeof *callers);
	if (time_ns == NULL || site == NULL || callers == NULL) {
		free(time_ns);
		free(site);
		free(callers);
		return -1;
	}
	samples_free(s);
	s->time_ns = time_ns;
	s->site = site;
	s->callers = callers;
	s->capacity = count;
	return 0;
}

void
samples_free(struct samples *s)
{
	free(s->time_ns);
	free(s->site);
	free(s->callers);
	s->time_ns = NULL;
	s->site = s->callers = NULL;
	s->capacity = 0;
}

uint32_t
stack_bytes(const struct stacks *stacks, size_t i)
{
	uint32_t bytes;

	memcpy(&bytes, stacks->stack_bytes + 4 * i, sizeof bytes);
	return bytes;
}

/* A key that may be absent, and then is 0. */
static int
read_optional(struct reader *in, const struct message *message, const char *key, int64_t most,
    int64_t *value)
{
	*value = 0;
	return body_get(message, key) == NULL ? 0 : body_int(in, message, key, 0, most, value);
}

int
samples_read(struct samples *s, struct reader *in, const struct message *message)
{
	int64_t location, worker, lost;

	if (body_int(in, message, "location", 0, INT32_MAX, &location) < 0 ||
	    read_optional(in, message, "worker", UINT32_MAX, &worker) < 0 ||
	    body_count(in, message, "count", 0, UINT32_MAX, "time", &s->count) < 0 ||
	    body_int(in, message, "period_ns", 1, INT64_MAX, &s->period_ns) < 0 ||
	    body_int(in, message, "until_ns", INT64_MIN, INT64_MAX, &s->until_ns) < 0 ||
	    read_optional(in, message, "lost", INT64_MAX, &lost) < 0)
		return -1;
	s->location = (uint32_t)location;
	s->worker = (uint32_t)worker;
	s->lost = (uint64_t)lost;
	if (reserve(s, s->count) < 0)
		return reader_fail(in, message->offset, "sampled: out of memory");
	if (body_column(in, message, "time", time_type, s->count, s->count, s->time_ns) < 0 ||
	    body_column(in, message, "site", site_type, s->count, s->count, s->site) < 0 ||
	    body_column(in, message, "callers", callers_type, s->count, s->count, s->callers) < 0)
		return -1;
	return 0;
}

static const unsigned char *
bytes_of(const struct message *message, const char *key, size_t *size)
{
	const msgpack_object *bin = body_get(message, key);

	*size = bin != NULL && bin->type == MSGPACK_OBJECT_BIN ? bin->via.bin.size : 0;
	return *size > 0 ? (const unsigned char *)bin->via.bin.ptr : NULL;
}

int
stacks_read(struct stacks *s, struct reader *in, const struct message *message, size_t count)
{
	size_t registers, sizes, sum = 0;

	s->registers = bytes_of(message, "registers", &registers);
	s->stack_bytes = bytes_of(message, "stack_bytes", &sizes);
	s->stacks = bytes_of(message, "stacks", &s->size);
	if (s->registers == NULL)
		return 0;
	if (registers / (SAMPLE_REGISTERS * 8) != count || sizes / 4 != count)
		return reader_fail(in, message->offset, "sampled: registers and stacks are not those of the samples");
	for (size_t i = 0; i < count; i++)
		sum += stack_bytes(s, i);
	if (sum > s->size)
		return reader_fail(in, message->offset, "sampled: stacks is too short");
	return 1;
}

int
samples_write(struct writer *out, const struct samples *s)
{
	message_begin(out, "sampled", 7u + (s->worker > 0) + (s->lost > 0));
	put_uint(out, "location", s->location);
	if (s->worker > 0)
		put_uint(out, "worker", s->worker);
	put_uint(out, "count", s->count);
	put_int(out, "period_ns", s->period_ns);
	put_int(out, "until_ns", s->until_ns);
	if (s->lost > 0)
		put_uint(out, "lost", s->lost);
	put_column(out, "time", time_type, s->time_ns, s->count);
	put_column(out, "site", site_type, s->site, s->count);
	put_column(out, "callers", site_type, s->callers, s->count);
	return message_end(out);
}
