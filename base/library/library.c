/* SPDX-License-Identifier: BSD-3-Clause */
/* The installed library: the reader and writer of base/stream behind opaque types. */
#include "longpole-stream.h"

#include <stdlib.h>
#include <string.h>

#include "../stream/calls.h"

#define API __attribute__((visibility("default")))

struct longpole_reader {
	struct reader *in;
	struct message message;
	struct calls calls;
};

struct longpole_writer {
	struct writer out;
};

API struct longpole_reader *
longpole_open(const char *file, enum longpole_how how)
{
	struct longpole_reader *r = calloc(1, sizeof *r);

	if (r == NULL)
		return NULL;
	reader_open(&r->in, file, how == LONGPOLE_STREAM ? READ_STREAM :
	    how == LONGPOLE_RAW ? READ_RAW : READ_ANY);
	if (r->in != NULL)
		return r;
	free(r);
	return NULL;
}

API void
longpole_close(struct longpole_reader *r)
{
	if (r == NULL)
		return;
	calls_free(&r->calls);
	reader_close(r->in);
	free(r);
}

API const char *
longpole_error(const struct longpole_reader *r, uint64_t *offset)
{
	int64_t place;
	const char *why = reader_error(r->in, &place);

	if (why != NULL && offset != NULL)
		*offset = place < 0 ? 0 : (uint64_t)place;
	return why;
}

API const char *
longpole_content(const struct longpole_reader *r)
{
	return reader_content(r->in);
}

API int
longpole_next(struct longpole_reader *r)
{
	int got = reader_next(r->in, &r->message);

	if (got <= 0)
		memset(&r->message, 0, sizeof r->message);
	return got;
}

API const char *
longpole_kind(const struct longpole_reader *r)
{
	return r->message.kind;
}

API uint64_t
longpole_offset(const struct longpole_reader *r)
{
	return r->message.offset;
}

static int
wrong_type(struct longpole_reader *r, const char *key)
{
	return reader_fail(r->in, r->message.offset, "%s: %s is of another type",
	    r->message.kind, key);
}

API int
longpole_int(struct longpole_reader *r, const char *key, int64_t *value)
{
	const msgpack_object *found = body_get(&r->message, key);

	if (found == NULL)
		return 0;
	if (found->type == MSGPACK_OBJECT_BOOLEAN) {
		*value = found->via.boolean;
		return 1;
	}
	return body_int(r->in, &r->message, key, INT64_MIN, INT64_MAX, value) < 0 ? -1 : 1;
}

API int
longpole_float(struct longpole_reader *r, const char *key, double *value)
{
	const msgpack_object *found = body_get(&r->message, key);

	if (found == NULL)
		return 0;
	switch (found->type) {
	case MSGPACK_OBJECT_FLOAT32:
	case MSGPACK_OBJECT_FLOAT64: *value = found->via.f64; return 1;
	case MSGPACK_OBJECT_POSITIVE_INTEGER: *value = (double)found->via.u64; return 1;
	case MSGPACK_OBJECT_NEGATIVE_INTEGER: *value = (double)found->via.i64; return 1;
	default: return wrong_type(r, key);
	}
}

API int
longpole_string(struct longpole_reader *r, const char *key, const char **text, size_t *length)
{
	const msgpack_object *found = body_get(&r->message, key);

	if (found == NULL)
		return 0;
	if (found->type != MSGPACK_OBJECT_STR)
		return wrong_type(r, key);
	*text = found->via.str.ptr;
	*length = found->via.str.size;
	return 1;
}

API int
longpole_column(struct longpole_reader *r, const char *key, size_t count, const void **values,
    unsigned *width)
{
	const msgpack_object *found = body_get(&r->message, key);
	int64_t room = (int64_t)count;
	size_t bytes;

	if (found == NULL)
		return 0;
	if (body_int_if(r->in, &r->message, "capacity", room, UINT32_MAX, &room) < 0)
		return -1;
	if (found->type != MSGPACK_OBJECT_BIN)
		return wrong_type(r, key);
	bytes = room > 0 ? found->via.bin.size / (size_t)room : 1;
	if (bytes * (size_t)room != found->via.bin.size ||
	    (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
		return reader_fail(r->in, r->message.offset, "%s: %s has %lu bytes for %lld rows",
		    r->message.kind, key, (unsigned long)found->via.bin.size, (long long)room);
	*values = found->via.bin.ptr;
	*width = (unsigned)bytes;
	return 1;
}

API int
longpole_column_int(struct longpole_reader *r, const char *key, size_t count, int is_signed,
    int64_t absent, int64_t *values)
{
	const struct column_type type = { 8, is_signed != 0, false, absent };
	const void *stored;
	unsigned width;
	int64_t room = (int64_t)count;
	int got = longpole_column(r, key, count, &stored, &width);

	if (got < 0 ||
	    body_int_if(r->in, &r->message, "capacity", room, UINT32_MAX, &room) < 0)
		return -1;
	return body_column_of(r->in, &r->message, key, type, (size_t)room, count, values) < 0 ?
	    -1 : got;
}

API int
longpole_calls(struct longpole_reader *r, struct longpole_calls *calls)
{
	struct calls *c = &r->calls;

	if (!is_kind(&r->message, "calls"))
		return 0;
	if (calls_read(c, r->in, &r->message) < 0)
		return -1;
	*calls = (struct longpole_calls){ c->location, c->first, c->count, c->enter_ns, c->leave_ns,
	    c->call, c->site, c->comm, c->peer, c->tag, c->bytes_sent, c->bytes_received,
	    c->request, c->request_at, c->folded };
	return 1;
}

API const char *
longpole_call_name(unsigned call)
{
	return call < call_count() ? call_name(call) : NULL;
}

API struct longpole_writer *
longpole_create(int fd, const char *content, const struct longpole_reader *in, int argc,
    char **argv)
{
	struct longpole_writer *w = calloc(1, sizeof *w);

	if (w == NULL)
		return NULL;
	if (writer_open(&w->out, fd, content, in != NULL ? in->in : NULL, argc, argv) == 0)
		return w;
	longpole_abandon(w);
	return NULL;
}

API int
longpole_pass(struct longpole_writer *w, struct longpole_reader *r)
{
	uint64_t rows = 0;

	if (is_kind(&r->message, "calls") && calls_count(r->in, &r->message, &rows) < 0)
		return -1;
	return writer_pass(&w->out, &r->message, rows);
}

API void
longpole_begin(struct longpole_writer *w, const char *kind, unsigned pairs)
{
	message_begin(&w->out, kind, pairs);
}

API void
longpole_put_int(struct longpole_writer *w, const char *key, int64_t value)
{
	put_int(&w->out, key, value);
}

API void
longpole_put_float(struct longpole_writer *w, const char *key, double value)
{
	put_double(&w->out, key, value);
}

API void
longpole_put_string(struct longpole_writer *w, const char *key, const char *value)
{
	put_string(&w->out, key, value);
}

API void
longpole_put_column(struct longpole_writer *w, const char *key, int is_signed,
    const int64_t *values, size_t count)
{
	put_column_of(&w->out, key, (struct column_type){ 8, is_signed != 0, true, 0 }, values,
	    count);
}

API int
longpole_finish(struct longpole_writer *w)
{
	return message_end(&w->out);
}

API int
longpole_end(struct longpole_writer *w)
{
	int done = writer_end(&w->out);

	if (done < 0)
		writer_close(&w->out);
	free(w);
	return done;
}

API void
longpole_abandon(struct longpole_writer *w)
{
	if (w == NULL)
		return;
	writer_close(&w->out);
	free(w);
}
