/* SPDX-License-Identifier: BSD-3-Clause */
/* How streams are opened, and where a reader goes on that does not read message by message. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "calls.h"
#include "reader.h"
#include "shards.h"

enum { INPUT_BYTES = 1 << 20 };		/* asked of the kernel at once */

/* Whichever comes: the header, which reader_next returns, too, says whether the stream is raw. */
static int
peek_header(struct reader *in)
{
	struct message header;
	char *content;
	int got = message_take(in, &header);

	if (got < 0)
		return -1;
	if (got == 0)
		return reader_fail(in, 0, "empty: not a longpole stream");
	content = body_string(&header, "content");
	in->raw = content != NULL && strcmp(content, "raw") == 0;
	free(content);
	in->begin = 0;
	return 0;
}

static bool
is_folder(const char *file)
{
	struct stat status;

	return file != NULL && strcmp(file, "-") != 0 && stat(file, &status) == 0 && S_ISDIR(status.st_mode);
}

static int
start(struct reader *in, const char *file, enum reading how)
{
	struct message header;

	in->names_late = how == READ_NUMBERED;
	in->raw = how == READ_RAW || how == READ_SKIMMING || in->names_late;
	in->all = in->raw || how == READ_ANY || how == READ_BYTES;
	in->lazy = how == READ_LAZY;
	in->skims = how == READ_SKIMMING;
	in->by_offset = how == READ_FILE || in->lazy || in->skims;
	if (!in->raw && how != READ_BYTES && is_folder(file))
		return shards_open(in, file, how);
	if (how == READ_BYTES)	/* of our own writing, and not from the first one on */
		in->hashed = in->jumped = true;
	else if (input_open(in, file) < 0)
		return -1;
	if ((how == READ_FILE || in->lazy) && input_is_file(in) < 0)
		return -1;
	if (in->all)
		return how == READ_ANY ? peek_header(in) : 0;
	return next_stream(in, &header) < 0 ? -1 : 0;
}

int
reader_open(struct reader **opened, const char *file, enum reading how)
{
	struct reader *in = *opened = calloc(1, sizeof *in);

	if (in == NULL)
		return -1;
	in->fd = -1;
	in->chunk_bytes = INPUT_BYTES;
	msgpack_unpacked_init(&in->unpacked);
	in->call_map = calloc(65536, sizeof *in->call_map);
	in->call_number = calloc(65536, sizeof *in->call_number);
	if (in->call_map == NULL || in->call_number == NULL) {
		reader_close(in);
		*opened = NULL;
		return -1;
	}
	return start(in, file, how);
}

int
reader_verify(struct reader *in, const struct message *message)
{
	if (in->hollow)
		return input_fill(in, message) < 0 ? -1 : message_check_hash(in, message);
	return in->lazy && message_is_block(message) ? message_check_hash(in, message) : 0;
}

void
reader_jump(struct reader *in, uint64_t offset)
{
	if (in->shards != NULL) {
		shards_jump(in, offset);
		return;
	}
	input_seek(in, offset);
	in->inflated_begin = in->inflated_end = 0;
	in->jumped = true;
}

int
reader_rewind(struct reader *in)
{
	if (in->shards != NULL)
		return shards_rewind(in);
	if (input_rewind(in) < 0)
		return -1;
	in->inflated_begin = in->inflated_end = in->inflated_bytes = 0;
	in->started = in->in_stream = false;
	in->error[0] = '\0';
	return 0;
}

void
reader_leave(struct reader *in)
{
	input_close(in);
	in->file = NULL;
	in->inflated_begin = in->inflated_end = in->inflated_bytes = 0;
	in->hint_bytes = 0;
	in->started = in->in_stream = in->jumped = in->hollow = false;
}

int
reader_go_on(struct reader *in, const char *file)
{
	reader_leave(in);
	in->error[0] = '\0';
	return input_open(in, file);
}

void
reader_turn(struct reader *in, const char *file, int fd, uint64_t offset)
{
	if (in->file == file && reader_offset(in) == offset)
		return;
	in->file = file;
	in->fd = fd;
	in->lent = true;
	in->in_stream = in->started = true;
	in->hashed = false;	/* its header is not read */
	reader_jump(in, offset);
}

void
reader_hint(struct reader *in, size_t bytes)
{
	in->hint_bytes = bytes;
}

int
reader_bytes(struct reader *in, const void *bytes, size_t size)
{
	in->inflated_begin = in->inflated_end = 0;
	in->in_stream = true;
	return input_copy(in, bytes, size);
}

void
reader_close(struct reader *in)
{
	if (in == NULL)
		return;
	shards_close(in);
	free(in->shard.of);
	forget_history(in);
	msgpack_unpacked_destroy(&in->unpacked);
	input_close(in);
	free(in->inflated);
	free(in->call_map);
	free(in->call_number);
	free(in);
}
