/* SPDX-License-Identifier: BSD-3-Clause */
#include "index.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../tool/tool.h"

enum {
	MOST_ENTRIES = 1 << 14,		/* even, since every second goes */
	END_BYTES = 256,		/* more than an end message has */
	INDEX_BYTES = 1 << 21,		/* and than an index has */
};

static const struct column_type entry_type = { 8, false, true, 0 };
static const char *const entry_keys[] = { "rows", "from", "before", "at" };
enum { KEYS = sizeof entry_keys / sizeof entry_keys[0] };

_Static_assert(sizeof(struct index_entry) == KEYS * sizeof(uint64_t), "an entry is its columns");

void
index_begin(struct index *index)
{
	*index = (struct index){ .step = 1, .entries = zalloc(MOST_ENTRIES, sizeof *index->entries) };
}

void
index_add(struct index *index, struct index_entry entry)
{
	if (++index->syncs % index->step != 0)
		return;
	if (index->count == MOST_ENTRIES) {
		index->count /= 2;
		for (size_t i = 0; i < index->count; i++)
			index->entries[i] = index->entries[2 * i + 1];
		index->step *= 2;
		return;		/* this one is at an odd multiple of the old step */
	}
	index->entries[index->count++] = entry;
}

int
index_write(const struct index *index, struct writer *out)
{
	uint64_t *column = zalloc(index->count, sizeof *column);

	out->index_offset = writer_offset(out);
	message_begin(out, "index", 4 + KEYS);
	put_uint(out, "count", index->count);
	put_uint(out, "syncs", index->syncs);
	put_uint(out, "step", index->step);
	put_uint(out, "defined", index->defined);
	for (size_t k = 0; k < KEYS; k++) {
		for (size_t i = 0; i < index->count; i++)
			column[i] = ((const uint64_t *)&index->entries[i])[k];
		put_column(out, entry_keys[k], entry_type, column, index->count);
	}
	free(column);
	return message_end(out);
}

/* The message that BYTES consist of, if it is of KIND and is written as our writer does. */
static bool
take_message(struct reader *in, const unsigned char *bytes, size_t size, const char *kind,
    struct message *message)
{
	size_t length = strlen(kind);

	return size > length + 2 && bytes[0] == 0x92 && bytes[1] == (0xa0 | length) &&
	    memcmp(bytes + 2, kind, length) == 0 && reader_bytes(in, bytes, size) == 0 &&
	    reader_next(in, message) == 1 && message->size == size;
}

/* The end message among the last bytes of a file; its size, or 0. */
static size_t
find_end(struct reader *in, const unsigned char *tail, size_t size, struct message *end)
{
	for (size_t length = 1; length <= size && reader_error(in, NULL) == NULL; length++)
		if (take_message(in, tail + size - length, length, "end", end))
			return length;
	return 0;
}

/* What a reader can tell without looking at the stream: entries follow each other. */
static bool
is_plausible(const struct index *index, uint64_t offset)
{
	struct index_entry last = { 0 };

	if (index->step == 0 || index->syncs >= offset || index->defined == 0 || index->defined >= offset ||
	    index->count > index->syncs / index->step)
		return false;
	for (size_t i = 0; i < index->count; i++) {
		const struct index_entry *e = &index->entries[i];

		if (e->rows < last.rows || e->from < last.from || e->at <= last.at || e->from >= e->at ||
		    e->at >= offset || e->before < last.before || e->before >= (i + 1) * index->step)
			return false;
		last = *e;
	}
	return index->rows >= last.rows;
}

static bool
take_index(struct index *index, struct reader *in, const struct message *message, uint64_t offset)
{
	int64_t count;
	uint64_t *column;
	bool taken;

	if (body_int(in, message, "count", 0, MOST_ENTRIES, &count) < 0 ||
	    body_uint(in, message, "syncs", &index->syncs) < 0 ||
	    body_uint(in, message, "step", &index->step) < 0 ||
	    body_uint(in, message, "defined", &index->defined) < 0)
		return false;
	index->count = (size_t)count;
	index->entries = zalloc(index->count, sizeof *index->entries);
	column = zalloc(index->count, sizeof *column);
	taken = true;
	for (size_t k = 0; k < KEYS && taken; k++) {
		taken = body_column(in, message, entry_keys[k], entry_type, index->count, index->count,
		    column) == 0;
		for (size_t i = 0; i < index->count; i++)
			((uint64_t *)&index->entries[i])[k] = column[i];
	}
	free(column);
	return taken && is_plausible(index, offset);
}

static bool
read_from(struct index *index, struct reader *in, int fd, uint64_t size)
{
	unsigned char tail[END_BYTES], *bytes;
	size_t tail_size = size < sizeof tail ? (size_t)size : sizeof tail, end_size, index_size;
	struct message message;
	uint64_t offset;
	bool taken;

	if (pread(fd, tail, tail_size, (off_t)(size - tail_size)) != (ssize_t)tail_size ||
	    (end_size = find_end(in, tail, tail_size, &message)) == 0 ||
	    body_uint(in, &message, "rows", &index->rows) < 0 ||
	    body_uint(in, &message, "index", &offset) < 0 ||
	    offset >= size - end_size || size - end_size - offset > INDEX_BYTES)
		return false;
	index_size = (size_t)(size - end_size - offset);
	bytes = zalloc(index_size, 1);
	taken = pread(fd, bytes, index_size, (off_t)offset) == (ssize_t)index_size &&
	    take_message(in, bytes, index_size, "index", &message) &&
	    take_index(index, in, &message, offset);
	free(bytes);
	return taken;
}

bool
index_read(struct index *index, const char *file)
{
	struct reader *in;
	int fd = file != NULL ? open(file, O_RDONLY | O_CLOEXEC) : -1;
	struct stat status;
	bool found;

	*index = (struct index){ 0 };
	if (fd < 0)
		return false;
	found = reader_open(&in, NULL, READ_BYTES) == 0 && fstat(fd, &status) == 0 &&
	    S_ISREG(status.st_mode) && read_from(index, in, fd, (uint64_t)status.st_size);
	reader_close(in);
	close(fd);
	return found;
}

void
index_free(struct index *index)
{
	free(index->entries);
	index->entries = NULL;
}
