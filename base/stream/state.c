/* SPDX-License-Identifier: BSD-3-Clause */
/* What a reader tells of itself: what it has read, and why it reads no more. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "reader.h"
#include "shards.h"

int
reader_fail(struct reader *in, uint64_t offset, const char *format, ...)
{
	va_list arguments;

	if (in != NULL && in->error[0] == '\0') {
		if (in->shards != NULL)
			in->placed = shards_place(in, &offset);
		va_start(arguments, format);
		vsnprintf(in->error, sizeof in->error, format, arguments);
		va_end(arguments);
		in->error_offset = offset;
	}
	return -1;
}

const char *
reader_error(const struct reader *in, int64_t *offset)
{
	if (offset != NULL)	/* what could not be opened has no place */
		*offset = in == NULL || (in->buffer == NULL && in->fd < 0 && !in->placed) ? -1 : (int64_t)in->error_offset;
	return in == NULL ? "out of memory" : in->error[0] != '\0' ? in->error : NULL;
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

bool
reader_is_raw(const struct reader *in)
{
	return in->raw;
}

const char *
reader_lost(const struct reader *in, size_t i)
{
	return shards_lost(in, i);
}

const struct shard_head *
reader_shard(const struct reader *in)
{
	return in->shard.count > 0 ? &in->shard : NULL;
}

const struct shard_head *
reader_folder(const struct reader *in)
{
	return shards_head(in);
}

const char *
reader_history(const struct reader *in, size_t i)
{
	return in != NULL && i < in->history_count ? in->history[i] : NULL;
}

int
reader_set_history(struct reader *in, char *const *lines, size_t count)
{
	char **copy = calloc(count + 1, sizeof *copy);

	for (size_t i = 0; copy != NULL && i < count; i++)
		if ((copy[i] = strdup(lines[i])) == NULL) {
			while (i > 0)
				free(copy[--i]);
			free(copy);
			copy = NULL;
		}
	if (copy == NULL)
		return reader_fail(in, 0, "out of memory");
	for (size_t i = 0; i < in->history_count; i++)
		free(in->history[i]);
	free(in->history);
	in->history = copy;
	in->history_count = count;
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
	return in->call_map;
}

const uint16_t *
reader_call_numbers(const struct reader *in)
{
	return in->call_number;
}

uint64_t
reader_offset(const struct reader *in)
{
	if (in->shards != NULL)
		return shards_offset(in);
	return in->inflated_begin < in->inflated_end ? in->inflated_offset : input_here(in);
}

double
reader_share(const struct reader *in)
{
	struct stat status;
	double share;

	if (in->shards != NULL)
		return shards_share(in);
	if (in->fd < 0 || fstat(in->fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size <= 0)
		return 0;
	share = (double)reader_offset(in) / (double)status.st_size;
	return share < 1 ? share : 1;
}
