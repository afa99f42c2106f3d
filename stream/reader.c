/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include "calls.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "columns are little-endian in a stream and are not swapped here"
#endif

enum {
	READ_BYTES = 1 << 20,		/* asked of the kernel at once */
	HASH_BYTES = 9,			/* a msgpack uint64: marker and value */
};
#define MESSAGE_LIMIT ((size_t)1 << 31)	/* bytes; more is taken for damage */

int
reader_fail(struct reader *in, uint64_t offset, const char *format, ...)
{
	va_list arguments;

	if (in->error[0] == '\0') {
		va_start(arguments, format);
		vsnprintf(in->error, sizeof in->error, format, arguments);
		va_end(arguments);
		in->error_offset = offset;
	}
	return -1;
}

static uint64_t
here(const struct reader *in)
{
	return in->buffer_offset + in->begin;
}

/* More bytes behind buffer[end]. 1: got some, 0: there are no more, -1: error. */
static int
refill(struct reader *in)
{
	ssize_t got;

	if (in->eof)
		return 0;
	if (in->capacity - in->end < READ_BYTES) {
		size_t unread = in->end - in->begin;

		if (in->begin > 0)
			memmove(in->buffer, in->buffer + in->begin, unread);
		in->buffer_offset += in->begin;
		in->begin = 0;
		in->end = unread;
		if (in->capacity - in->end < READ_BYTES) {
			size_t more = 2 * in->capacity + READ_BYTES;
			unsigned char *bigger = realloc(in->buffer, more);

			if (bigger == NULL)
				return reader_fail(in, here(in), "out of memory");
			in->buffer = bigger;
			in->capacity = more;
		}
	}
	do
		got = read(in->fd, in->buffer + in->end, in->capacity - in->end);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return reader_fail(in, in->buffer_offset + in->end, "%s", strerror(errno));
	in->eof = got == 0;
	in->end += (size_t)got;
	return got > 0;
}

/* Skips the unwritten space of a raw trace. 1: something follows, 0: nothing, -1: error. */
static int
skip_zeros(struct reader *in)
{
	for (;;) {
		int more;

		while (in->begin < in->end && in->buffer[in->begin] == 0)
			in->begin++;
		if (in->begin < in->end)
			return 1;
		if ((more = refill(in)) <= 0)
			return more;
	}
}

/*
 * The hash, where a message has one, is the last value of its body and covers all bytes before
 * that value (trace.5, INTEGRITY).
 */
static int
check_hash(struct reader *in, const struct message *message)
{
	const msgpack_object_map *map = &message->body.via.map;
	const msgpack_object_kv *last = map->size > 0 ? &map->ptr[map->size - 1] : NULL;
	uint64_t hash;

	if (last == NULL || last->key.type != MSGPACK_OBJECT_STR || last->key.via.str.size != 4 ||
	    memcmp(last->key.via.str.ptr, "xxh3", 4) != 0) {
		if (in->hashed)
			return reader_fail(in, message->offset, "%s: no hash", message->kind);
		return 0;
	}
	if (last->val.type != MSGPACK_OBJECT_POSITIVE_INTEGER || message->size < HASH_BYTES ||
	    message->bytes[message->size - HASH_BYTES] != 0xcf)
		return reader_fail(in, message->offset, "%s: its hash is malformed", message->kind);
	hash = last->val.via.u64;
	if (hash == 0 && in->raw && is_kind(message, "calls"))
		return 0;	/* the block that its rank was still filling */
	if (hash != XXH3_64bits(message->bytes, message->size - HASH_BYTES))
		return reader_fail(in, message->offset, "%s: damaged: its hash is wrong", message->kind);
	return 0;
}

/* A message of many rows, as most are. */
static bool
is_block(const struct message *message)
{
	return is_kind(message, "calls") || is_kind(message, "messages") ||
	    is_kind(message, "collectives") || is_kind(message, "settled");
}

/* [kind, body] at BYTES, of which SIZE are there. 1: done, 0: more bytes are needed, -1: error. */
static int
unpack(struct reader *in, struct message *message, const unsigned char *bytes, size_t size,
    uint64_t offset)
{
	const msgpack_object *array;
	size_t used = 0;

	msgpack_unpacked_destroy(&in->unpacked);
	msgpack_unpacked_init(&in->unpacked);
	switch (msgpack_unpack_next(&in->unpacked, (const char *)bytes, size, &used)) {
	case MSGPACK_UNPACK_SUCCESS:
	case MSGPACK_UNPACK_EXTRA_BYTES:
		break;
	case MSGPACK_UNPACK_CONTINUE:
		return 0;
	case MSGPACK_UNPACK_NOMEM_ERROR:
		return reader_fail(in, offset, "damaged: a message nested too deep or larger than memory");
	default:
		return reader_fail(in, offset, "damaged: not msgpack");
	}
	array = &in->unpacked.data;
	if (array->type != MSGPACK_OBJECT_ARRAY || array->via.array.size != 2 ||
	    array->via.array.ptr[0].type != MSGPACK_OBJECT_STR ||
	    array->via.array.ptr[1].type != MSGPACK_OBJECT_MAP)
		return reader_fail(in, offset, "damaged: a message is not [kind, body]");
	snprintf(message->kind, sizeof message->kind, "%.*s",
	    (int)array->via.array.ptr[0].via.str.size, array->via.array.ptr[0].via.str.ptr);
	message->body = array->via.array.ptr[1];
	message->bytes = bytes;
	message->size = message->stored = used;
	message->offset = offset;
	if (in->lazy && is_block(message))
		return 1;	/* see reader_verify */
	return check_hash(in, message) < 0 ? -1 : 1;
}

/* The next of the messages that a message of kind zstd held. */
static int
take_inflated(struct reader *in, struct message *message)
{
	int got = unpack(in, message, in->inflated + in->inflated_begin,
	    in->inflated_end - in->inflated_begin, in->inflated_offset);

	if (got == 0)
		return reader_fail(in, in->inflated_offset, "damaged: zstd: holds no whole message");
	if (got < 0)
		return -1;
	if (is_kind(message, "zstd") || is_kind(message, "longpole") || is_kind(message, "end"))
		return reader_fail(in, in->inflated_offset, "damaged: zstd: holds a message of kind %s",
		    message->kind);
	in->inflated_begin += message->size;
	message->stored = in->inflated_stored;
	return 1;
}

static int
inflate(struct reader *in, const struct message *message)
{
	const msgpack_object *data = body_get(message, "data");
	int64_t bytes;

	if (body_int(in, message, "bytes", 1, (int64_t)MESSAGE_LIMIT, &bytes) < 0)
		return -1;
	if (data == NULL || data->type != MSGPACK_OBJECT_BIN ||
	    ZSTD_getFrameContentSize(data->via.bin.ptr, data->via.bin.size) != (uint64_t)bytes)
		return reader_fail(in, message->offset, "damaged: zstd: no data of the size it states");
	if ((size_t)bytes > in->inflated_capacity) {
		free(in->inflated);
		in->inflated_capacity = 0;
		if ((in->inflated = malloc((size_t)bytes)) == NULL)
			return reader_fail(in, message->offset, "out of memory");
		in->inflated_capacity = (size_t)bytes;
	}
	if (ZSTD_decompress(in->inflated, (size_t)bytes, data->via.bin.ptr, data->via.bin.size) !=
	    (size_t)bytes)
		return reader_fail(in, message->offset, "damaged: zstd: cannot be decompressed");
	in->inflated_begin = 0;
	in->inflated_end = (size_t)bytes;
	in->inflated_offset = message->offset;
	in->inflated_stored = message->size;
	return 0;
}

/* Takes the next message. 1: done, 0: nothing left, -1: error. */
static int
take(struct reader *in, struct message *message)
{
	int more, got;

	if (in->inflated_begin < in->inflated_end)
		return take_inflated(in, message);
	if (in->begin == in->end && (more = refill(in)) <= 0)
		return more;
	if (in->buffer[in->begin] != 0x92)
		return reader_fail(in, here(in), in->in_stream || in->content[0] != '\0' ?
		    "damaged: no message begins here" : "not a longpole stream");
	while ((got = unpack(in, message, in->buffer + in->begin, in->end - in->begin, here(in))) == 0) {
		if (in->end - in->begin > MESSAGE_LIMIT)
			return reader_fail(in, here(in), "damaged: a message of more than 2 GiB");
		if ((more = refill(in)) < 0)
			return -1;
		if (more == 0)
			return reader_fail(in, in->buffer_offset + in->end, "cut short in the message "
			    "that begins at byte %llu", (unsigned long long)here(in));
	}
	if (got < 0)
		return -1;
	in->begin += message->size;
	if (!is_kind(message, "zstd"))
		return 1;
	return inflate(in, message) < 0 ? -1 : take_inflated(in, message);
}

static void
forget_history(struct reader *in)
{
	for (size_t i = 0; i < in->history_count; i++)
		free(in->history[i]);
	free(in->history);
	in->history = NULL;
	in->history_count = 0;
}

static char *
copy_string(const msgpack_object *string)
{
	return strndup(string->via.str.ptr, string->via.str.size);
}

static int
read_header(struct reader *in, const struct message *message)
{
	const msgpack_object *history = body_get(message, "history");
	const msgpack_object *hashed = body_get(message, "hashed");
	char *content = body_string(message, "content");
	int64_t version;

	if (!is_kind(message, "longpole")) {
		free(content);
		return reader_fail(in, message->offset, "not a longpole stream: it begins with a "
		    "message of kind \"%s\"", message->kind);
	}
	if (body_int(in, message, "version", 0, INT64_MAX, &version) < 0) {
		free(content);
		return -1;
	}
	if (version != STREAM_VERSION) {
		free(content);
		return reader_fail(in, message->offset, "version %lld of the format; this is for "
		    "version %d", (long long)version, STREAM_VERSION);
	}
	if (content == NULL)
		return reader_fail(in, message->offset, "longpole: content is missing or no string");
	snprintf(in->content, sizeof in->content, "%s", content);
	free(content);
	in->hashed = hashed != NULL && hashed->type == MSGPACK_OBJECT_BOOLEAN && hashed->via.boolean;
	if (in->hashed && check_hash(in, message) < 0)
		return -1;
	if (strcmp(in->content, "raw") == 0 && !in->raw)
		return reader_fail(in, message->offset, "a raw trace; lp-merge makes a trace of it");
	if (strcmp(in->content, "raw") != 0 && in->raw)
		return reader_fail(in, message->offset, "not a raw trace but a %s stream", in->content);
	forget_history(in);
	if (history != NULL && history->type == MSGPACK_OBJECT_ARRAY) {
		in->history = calloc(history->via.array.size + 1, sizeof *in->history);
		for (uint32_t i = 0; in->history != NULL && i < history->via.array.size; i++) {
			const msgpack_object *line = &history->via.array.ptr[i];

			if (line->type == MSGPACK_OBJECT_STR &&
			    (in->history[in->history_count] = copy_string(line)) != NULL)
				in->history_count++;
		}
	}
	if (!in->raw)		/* the ranks of a run number their calls alike */
		memset(in->call_map, 0, 65536 * sizeof *in->call_map);
	in->in_stream = in->started = true;
	in->messages = in->rows = 0;
	return 0;
}

/* A name for the number of a call: from now on blocks may use it. */
static int
read_call_name(struct reader *in, const struct message *message)
{
	char *name = body_string(message, "name");
	int64_t number;
	int index;

	if (name == NULL)
		return reader_fail(in, message->offset, "call: name is missing or no string");
	index = call_number(name);
	free(name);
	if (body_int(in, message, "number", 1, UINT16_MAX, &number) < 0)
		return -1;
	if (index <= 0)
		return reader_fail(in, message->offset, "call: its name cannot be kept");
	if (in->call_map[number] != 0 && in->call_map[number] != index)
		return reader_fail(in, message->offset, "call: number %d has two names", (int)number);
	in->call_map[number] = (uint16_t)index;
	in->call_number[index] = (uint16_t)number;
	return 0;
}

static int
read_end(struct reader *in, const struct message *message)
{
	int64_t messages, rows;

	if (body_int(in, message, "messages", 0, INT64_MAX, &messages) < 0 ||
	    body_int(in, message, "rows", 0, INT64_MAX, &rows) < 0)
		return -1;
	if (!in->jumped && ((uint64_t)messages != in->messages || (uint64_t)rows != in->rows))
		return reader_fail(in, message->offset, "damaged: %llu messages and %llu rows, but its "
		    "end tells of %lld and %lld", (unsigned long long)in->messages,
		    (unsigned long long)in->rows, (long long)messages, (long long)rows);
	in->in_stream = false;
	return 0;
}

/* Between streams: a raw trace may be followed by another one, any other by nothing. */
static int
next_stream(struct reader *in, struct message *message)
{
	int more = in->raw && in->started ? skip_zeros(in) : in->begin < in->end ? 1 : refill(in);

	if (more == 0 && !in->started)
		return reader_fail(in, 0, in->raw ? "empty: no raw trace" :
		    "empty: not a longpole stream");
	if (more <= 0)
		return more;
	if (!in->raw && in->started)
		return reader_fail(in, here(in), "bytes after the end of the stream");
	if ((more = take(in, message)) <= 0)
		return more;
	return read_header(in, message) < 0 ? -1 : 1;
}

int
reader_next(struct reader *in, struct message *message)
{
	int got;

	if (in->error[0] != '\0')
		return -1;
	if (!in->in_stream)
		return next_stream(in, message);
	if (in->inflated_begin < in->inflated_end)
		got = 1;
	else if (in->begin == in->end && (got = refill(in)) <= 0)
		return got < 0 ? -1 : reader_fail(in, here(in), "ends without an end message");
	else if (in->raw && in->buffer[in->begin] == 0) {
		/* Unwritten space: the rank died. The next stream, if any, begins behind it. */
		*message = (struct message){ .kind = "cut", .offset = here(in) };
		in->in_stream = false;
		return skip_zeros(in) < 0 ? -1 : 1;
	}
	if ((got = take(in, message)) <= 0)
		return got;
	if (is_kind(message, "longpole"))
		return reader_fail(in, message->offset, "a second header before the end of the stream");
	if (is_kind(message, "end")) {
		if (read_end(in, message) < 0)
			return -1;
		return in->all ? 1 : next_stream(in, message);
	}
	in->messages++;
	if (is_kind(message, "call"))
		return read_call_name(in, message) < 0 ? -1 : 1;
	if (is_kind(message, "calls")) {
		int64_t rows;

		if (body_int(in, message, "count", 0, UINT32_MAX, &rows) < 0)
			return -1;
		in->rows += (uint64_t)rows;
	}
	return 1;
}

static int
reader_start(struct reader *in, const char *file, bool raw)
{
	memset(in, 0, sizeof *in);
	in->raw = in->all = raw;
	in->file = file;
	in->fd = STDIN_FILENO;
	msgpack_unpacked_init(&in->unpacked);
	if (file == NULL || strcmp(file, "-") == 0)
		in->file = "standard input";
	else if ((in->fd = open(file, O_RDONLY | O_CLOEXEC)) < 0)
		return reader_fail(in, 0, "%s", strerror(errno));
	in->call_map = calloc(65536, sizeof *in->call_map);
	in->call_number = calloc(65536, sizeof *in->call_number);
	if (in->call_map == NULL || in->call_number == NULL)
		return reader_fail(in, 0, "out of memory");
	return 0;
}

int
reader_open_raw(struct reader *in, const char *file)
{
	return reader_start(in, file, true);
}

int
reader_open(struct reader *in, const char *file)
{
	struct message header;

	if (reader_start(in, file, false) < 0)
		return -1;
	return next_stream(in, &header) < 0 ? -1 : 0;
}

/* Reading goes on at OFFSET of the file. */
static int
seek(struct reader *in, uint64_t offset)
{
	if (offset > INT64_MAX || lseek(in->fd, (off_t)offset, SEEK_SET) < 0)
		return reader_fail(in, here(in), "%s", strerror(errno));
	in->begin = in->end = 0;
	in->buffer_offset = offset;
	in->eof = false;
	return 0;
}

int
reader_open_lazy(struct reader *in, const char *file)
{
	struct message header;
	struct stat status;

	if (reader_start(in, file, false) < 0)
		return -1;
	if (fstat(in->fd, &status) < 0)
		return reader_fail(in, 0, "%s", strerror(errno));
	if (!S_ISREG(status.st_mode))
		return reader_fail(in, 0, "not a file, and it is read more than once");
	in->lazy = true;
	return seek(in, 0) < 0 ? -1 : next_stream(in, &header) < 0 ? -1 : 0;
}

int
reader_verify(struct reader *in, const struct message *message)
{
	return in->lazy && is_block(message) ? check_hash(in, message) : 0;
}

uint64_t
reader_offset(const struct reader *in)
{
	return in->inflated_begin < in->inflated_end ? in->inflated_offset : here(in);
}

int
reader_jump(struct reader *in, uint64_t offset)
{
	in->inflated_begin = in->inflated_end = 0;
	in->jumped = true;
	return seek(in, offset);
}

int
reader_open_any(struct reader *in, const char *file)
{
	struct message header;
	char *content;
	int got;

	if (reader_start(in, file, false) < 0 || (got = take(in, &header)) < 0)
		return -1;
	if (got == 0)
		return reader_fail(in, 0, "empty: not a longpole stream");
	content = body_string(&header, "content");
	in->raw = content != NULL && strcmp(content, "raw") == 0;
	free(content);
	in->all = true;
	in->begin = 0;	/* reader_next returns it, too */
	return 0;
}

int
reader_rewind(struct reader *in)
{
	if (seek(in, 0) < 0)
		return -1;
	in->inflated_begin = in->inflated_end = 0;
	in->started = in->in_stream = false;
	in->error[0] = '\0';
	return 0;
}

int
reader_refuse_content(struct reader *in, const char *content, const char *hint)
{
	if (strcmp(in->content, content) != 0)
		return 0;
	return reader_fail(in, 0, "a %s; %s", content, hint);
}

int
reader_open_bytes(struct reader *in, const char *file, const void *bytes, size_t size,
    uint64_t offset)
{
	if (in->capacity < size) {
		unsigned char *bigger = realloc(in->buffer, size);

		if (bigger == NULL)
			return reader_fail(in, offset, "out of memory");
		in->buffer = bigger;
		in->capacity = size;
	}
	memcpy(in->buffer, bytes, size);
	in->file = file;
	in->begin = 0;
	in->end = size;
	in->buffer_offset = offset;
	in->inflated_begin = in->inflated_end = 0;
	in->eof = true;
	in->in_stream = true;
	return 0;
}

void
reader_close(struct reader *in)
{
	forget_history(in);
	msgpack_unpacked_destroy(&in->unpacked);
	free(in->buffer);
	free(in->inflated);
	free(in->call_map);
	free(in->call_number);
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	in->buffer = NULL;
	in->call_map = NULL;
	in->fd = -1;
}
