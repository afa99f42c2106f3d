/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens streams, moves to other places in them, and says what has been read. */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shards.h"

/* ---- errors ---- */

int
reader_fail(struct reader *in, uint64_t offset, const char *format, ...)
{
	va_list arguments;

	if (in == NULL || in->error[0] != '\0')
		return -1;
	va_start(arguments, format);
	vsnprintf(in->error, sizeof in->error, format, arguments);
	va_end(arguments);
	if (in->shards != NULL)
		in->error_offset = in->shards->last_place == 0 ? -1 :
		    (int64_t)in->shards->last_offset;
	else	/* a file that could not be opened has no places */
		in->error_offset = in->input.fd < 0 ? -1 : (int64_t)offset;
	return -1;
}

/* Fails with the reason in errno: the input cannot be read. -1. */
static int
fail_input(struct reader *in, uint64_t offset)
{
	return reader_fail(in, offset, "%s", errno == ENOMEM ? "out of memory" : strerror(errno));
}

int
reader_more(struct reader *in)
{
	struct pollfd input = { .fd = in->input.fd, .events = POLLIN };
	int got;

	if (in->waiting != NULL && poll(&input, 1, 0) == 0)
		in->waiting(in->waiting_context);
	got = buffer_more(&in->input);
	return got < 0 ? fail_input(in, buffer_end(&in->input)) : got;
}

void
reader_when_waiting(struct reader *in, void (*waiting)(void *), void *context)
{
	in->waiting = waiting;
	in->waiting_context = context;
}

const char *
reader_error(const struct reader *in, int64_t *offset)
{
	if (offset != NULL)
		*offset = in == NULL ? -1 : in->error_offset;
	return in == NULL ? "out of memory" : in->error[0] != '\0' ? in->error : NULL;
}

/* ---- opening ---- */

/* Any stream: its header, which reader_next returns again, says whether it is raw. */
static int
peek_header(struct reader *in)
{
	struct message header;
	int got = message_take(in, &header);

	if (got < 0)
		return -1;
	if (got == 0)
		return reader_fail(in, 0, "empty: not a longpole stream");
	in->raw = body_is(&header, "content", "raw");
	in->input.begin = 0;
	return 0;
}

static bool
is_folder(const char *file)
{
	struct stat status;

	return file != NULL && strcmp(file, "-") != 0 && stat(file, &status) == 0 &&
	    S_ISDIR(status.st_mode);
}

static int
open_input(struct reader *in, const char *file)
{
	in->file = file == NULL || strcmp(file, "-") == 0 ? "standard input" : file;
	if (buffer_open(&in->input, file) < 0)
		return fail_input(in, 0);
	in->input.by_offset |= in->lazy || in->skims;
	in->input.few_bytes = in->skims ? SKIM_BYTES : 0;
	if (in->lazy && buffer_file_bytes(&in->input) < 0)
		return reader_fail(in, 0, "not a file, and it is read more than once");
	return 0;
}

int
reader_open_known(struct reader **opened, const char *file, enum reading how, struct known *known)
{
	struct reader *in = *opened = calloc(1, sizeof *in);
	struct message header;

	if (in == NULL)
		return -1;
	in->input.fd = in->inflated.fd = -1;
	msgpack_unpacked_init(&in->unpacked);
	in->of_folder = known != NULL;
	in->known = known != NULL ? known : calloc(1, sizeof *known);
	if (in->known == NULL) {
		reader_close(in);
		*opened = NULL;
		return -1;
	}
	in->growing = how == READ_GROWING;
	in->raw = how == READ_RAW || how == READ_SKIMMING || in->growing;
	in->all = in->raw || how == READ_ANY;
	in->lazy = how == READ_LAZY;
	in->skims = how == READ_SKIMMING || in->growing;
	if (!in->raw && is_folder(file))
		return shards_open(in, file, how);
	if (open_input(in, file) < 0)
		return -1;
	if (in->all)
		return how == READ_ANY ? peek_header(in) : 0;
	return next_stream(in, &header) < 0 ? -1 : 0;
}

int
reader_open(struct reader **opened, const char *file, enum reading how)
{
	return reader_open_known(opened, file, how, NULL);
}

void
reader_close(struct reader *in)
{
	if (in == NULL)
		return;
	shards_close(in);
	free(in->shard.of);
	if (in->known != NULL && !in->of_folder) {
		forget_history(in->known);
		free(in->known);
	}
	msgpack_unpacked_destroy(&in->unpacked);
	buffer_close(&in->input);
	buffer_close(&in->inflated);
	free(in);
}

/* Fills a hole: SIZE bytes of the message at AT, from its file. */
static int
fetch(struct reader *in, const struct message *message, const void *at, size_t size)
{
	const unsigned char *begin = at;

	if (!in->hollow || buffer_again(&in->input, in->input.bytes + (begin - in->input.bytes),
	    size, message->offset + (uint64_t)(begin - message->bytes)) == 0)
		return 0;
	return errno == 0 ? reader_fail(in, message->offset, "the file has shrunk") :
	    fail_input(in, message->offset);
}

int
reader_verify(struct reader *in, const struct message *message)
{
	if (!in->hollow)
		return in->lazy && message_is_block(message) ? message_check_hash(in, message) : 0;
	if (fetch(in, message, message->bytes, message->size) < 0)
		return -1;
	in->hollow = false;
	return message_check_hash(in, message);
}

/* ---- moving to another place ---- */

void
reader_jump(struct reader *in, uint64_t offset)
{
	in->jumped = true;
	if (in->shards != NULL)
		shards_jump(in, offset);
	else if (buffer_seek(&in->input, offset) < 0)
		reader_fail(in, 0, "not a file, and it is read more than once");
	in->inflated.begin = in->inflated.end = 0;
}

int
reader_rewind(struct reader *in)
{
	if (in->shards != NULL)
		return shards_rewind(in);
	if (buffer_seek(&in->input, 0) < 0)
		return fail_input(in, buffer_here(&in->input));
	in->inflated.begin = in->inflated.end = in->inflated_bytes = 0;
	in->state = NOT_STARTED;
	in->error[0] = '\0';
	return 0;
}

bool
reader_is_seekable(const struct reader *in)
{
	return in->shards != NULL || lseek(in->input.fd, 0, SEEK_CUR) >= 0;
}

int
reader_spool(struct reader *in, int fd)
{
	return buffer_spool(&in->input, fd) < 0 ?
	    reader_fail(in, 0, "temporary file: %s", strerror(errno)) : reader_rewind(in);
}

void
reader_leave(struct reader *in)
{
	buffer_close(&in->input);
	reader_hint(in, 0);
	in->file = NULL;
	in->inflated.begin = in->inflated.end = in->inflated_bytes = 0;
	in->state = NOT_STARTED;
	in->jumped = in->hollow = false;
}

int
reader_go_on(struct reader *in, const char *file)
{
	reader_leave(in);
	in->error[0] = '\0';
	return open_input(in, file);
}

void
reader_turn(struct reader *in, const char *file, int fd, uint64_t offset)
{
	if (in->file == file && reader_offset(in) == offset)
		return;
	in->error[0] = '\0';
	in->file = file;
	in->input.fd = fd;
	in->input.lent = in->input.by_offset = true;
	in->state = offset > 0 ? IN_STREAM : NOT_STARTED;
	in->hashed = false;	/* its header is not read */
	reader_jump(in, offset);
}

int
reader_narrow(struct reader *in, struct message *message, size_t from, size_t count)
{
	const msgpack_object_map *map = &message->body.via.map;
	int64_t capacity;

	if (body_get(message, "capacity") == NULL || body_get(message, "enter") == NULL)
		return fetch(in, message, message->bytes, message->size) < 0 ? -1 :
		    (in->hollow = false);
	if (body_int(in, message, "capacity", (int64_t)(from + count), UINT32_MAX, &capacity) < 0)
		return -1;
	for (uint32_t i = 0; i < map->size; i++) {
		msgpack_object_kv *pair = &map->ptr[i];
		msgpack_object_bin *bin = &pair->val.via.bin;

		if (is_text(&pair->key, "first"))
			pair->val.via.u64 += from;
		else if (is_text(&pair->key, "count") || is_text(&pair->key, "capacity"))
			pair->val.via.u64 = count;
		else if (pair->val.type == MSGPACK_OBJECT_BIN && !is_text(&pair->key, "open")) {
			const size_t width = bin->size / (size_t)capacity;

			bin->ptr += from * width;
			bin->size = (uint32_t)(count * width);
			if (fetch(in, message, bin->ptr, bin->size) < 0)
				return -1;
		}
	}
	in->hollow = false;
	return 1;
}

void
reader_hint(struct reader *in, size_t bytes)
{
	in->input.few_bytes = bytes > 0 ? bytes : SKIM_BYTES;
}

/* ---- what has been read ---- */

const char *
reader_file(const struct reader *in)
{
	return in == NULL || in->file == NULL ? "no file" : in->file;
}

const char *
reader_content(const struct reader *in)
{
	return in == NULL ? "" : in->content;
}

int
reader_need_content(struct reader *in, const char *content)
{
	if (in != NULL && strcmp(in->content, content) == 0)
		return 0;
	return reader_fail(in, 0, "not a %s but a %s stream", content, reader_content(in));
}

int
reader_refuse_content(struct reader *in, const char *content, const char *hint)
{
	if (in != NULL && strcmp(in->content, content) != 0)
		return 0;
	return reader_fail(in, 0, "a %s; %s", content, hint);
}

bool
reader_is_raw(const struct reader *in)
{
	return in->raw;
}

const char *
reader_lost(const struct reader *in, size_t i)
{
	return in->shards != NULL && i < in->shards->lost_count ? in->shards->lost[i] : NULL;
}

const struct shard_head *
reader_shard(const struct reader *in)
{
	return in->shard.count > 0 ? &in->shard : NULL;
}

const struct shard_head *
reader_folder(const struct reader *in)
{
	return in->shards != NULL ? &in->shards->head : NULL;
}

const char *
reader_history(const struct reader *in, size_t i)
{
	return in != NULL && i < in->known->history_count ? in->known->history[i] : NULL;
}

int
reader_set_history(struct reader *in, char *const *lines, size_t count)
{
	struct known *known = in->known;

	forget_history(known);
	if ((known->history = calloc(count + 1, sizeof *known->history)) == NULL)
		return reader_fail(in, 0, "out of memory");
	for (; known->history_count < count; known->history_count++)
		if ((known->history[known->history_count] = strdup(lines[known->history_count])) ==
		    NULL)
			return reader_fail(in, 0, "out of memory");
	return 0;
}

uint64_t
reader_messages(const struct reader *in)
{
	return in->messages;
}

uint64_t
reader_rows(const struct reader *in)
{
	return in->rows_before + in->rows;
}

const uint16_t *
reader_calls(const struct reader *in)
{
	return in->known->call_map;
}

const uint16_t *
reader_call_numbers(const struct reader *in)
{
	return in->known->call_number;
}

uint64_t
reader_offset(const struct reader *in)
{
	if (in->shards != NULL)
		return in->shards->skip_to > in->shards->place ? in->shards->skip_to :
		    in->shards->place;
	return in->inflated.begin < in->inflated.end ? in->inflated_offset :
	    buffer_here(&in->input);
}

double
reader_share(const struct reader *in)
{
	int64_t all;
	double share = 0;

	if (in->shards != NULL) {
		for (uint32_t i = 0; i < in->shards->count; i++)
			share += reader_share(in->shards->parts[i].in) / in->shards->count;
		return share;
	}
	if ((all = buffer_file_bytes(&in->input)) <= 0)
		return 0;
	share = (double)reader_offset(in) / (double)all;
	return share < 1 ? share : 1;
}
