/* SPDX-License-Identifier: BSD-3-Clause */
#include "tail.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	END_BYTES = 256,		/* more than an end message takes */
	INDEX_BYTES = 1 << 21,		/* more than an index takes */
};

/* Parses BYTES, if they are one message of KIND as our writer writes it. */
static bool
take_message(struct tail *tail, const unsigned char *bytes, size_t size, const char *kind,
    struct message *message)
{
	const size_t length = strlen(kind);
	const char *why;
	uint64_t hash;

	return size > length + 2 && bytes[0] == 0x92 && bytes[1] == (0xa0 | length) &&
	    memcmp(bytes + 2, kind, length) == 0 && message_parse(message, &tail->unpacked, bytes,
	    size, &why) > 0 && message->size == size && message_hash(message, &hash) == HASH_RIGHT;
}

static bool
find_index(struct tail *tail, int fd, uint64_t size)
{
	unsigned char end[END_BYTES];
	const size_t last = size < sizeof end ? (size_t)size : sizeof end;
	size_t end_size = 1, index_size;
	struct message message;

	if (pread(fd, end, last, (off_t)(size - last)) != (ssize_t)last)
		return false;
	while (end_size <= last &&
	    !take_message(tail, end + last - end_size, end_size, "end", &message))
		end_size++;
	if (end_size > last ||
	    body_uint(NULL, &message, "rows", &tail->rows) < 0 ||
	    body_uint(NULL, &message, "index", &tail->offset) < 0 ||
	    tail->offset >= size - end_size || size - end_size - tail->offset > INDEX_BYTES)
		return false;
	index_size = (size_t)(size - end_size - tail->offset);
	return (tail->bytes = malloc(index_size)) != NULL &&
	    pread(fd, tail->bytes, index_size, (off_t)tail->offset) == (ssize_t)index_size &&
	    take_message(tail, tail->bytes, index_size, "index", &tail->index) &&
	    body_int(NULL, &tail->index, "count", 0, INDEX_ROWS, &tail->count) == 0;
}

bool
tail_open(struct tail *tail, const char *file)
{
	int fd = file != NULL ? open(file, O_RDONLY | O_CLOEXEC) : -1;
	struct stat status;
	bool found;

	*tail = (struct tail){ 0 };
	msgpack_unpacked_init(&tail->unpacked);
	if (fd < 0)
		return false;
	found = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    find_index(tail, fd, (uint64_t)status.st_size);
	close(fd);
	return found;
}

void
tail_close(struct tail *tail)
{
	msgpack_unpacked_destroy(&tail->unpacked);
	free(tail->bytes);
	tail->bytes = NULL;
}

int
tail_column(struct tail *tail, const char *key, uint64_t *to)
{
	return body_column(NULL, &tail->index, key, tail->count, to);
}
