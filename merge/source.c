/* SPDX-License-Identifier: BSD-3-Clause */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SPARE_BYTES = 256 };	/* the next block may be this much larger */

void
source_open(struct source *source, const struct input *input)
{
	memset(source, 0, sizeof *source);
	source->input = input;
	source->in = input->in;
}

static void
close_file(struct open_file *file)
{
	if (file->name != NULL && file->fd > STDIN_FILENO)
		close(file->fd);
	file->name = NULL;
}

void
source_close(struct source *source)
{
	for (int i = 0; i < OPEN_FILES; i++)
		close_file(&source->files[i]);
	reader_leave(source->in);
}

static int
open_file(struct source *source, int32_t rank)
{
	const char *name = source->input->ranks[rank].segments[source->segment].file;
	struct open_file *file = &source->files[rank % OPEN_FILES];

	if (file->name == name)
		return file->fd;
	close_file(file);
	file->fd = strcmp(name, "standard input") == 0 ? STDIN_FILENO :
	    open(name, O_RDONLY | O_CLOEXEC);
	if (file->fd < 0)
		die("%s: %s", name, strerror(errno));
	file->name = name;
	return file->fd;
}

bool
source_look(struct source *source, int32_t rank, uint64_t offset, struct message *message)
{
	const struct rank *from = &source->input->ranks[rank];
	int got;

	for (;;) {
		const struct raw_segment *segment =
		    &from->segments[source->segment = (size_t)(offset >> SEGMENT_BITS)];

		source->base = segment->base;
		reader_turn(source->in, segment->file, open_file(source, rank),
		    segment->base + (offset & SEGMENT_OFFSET));
		if ((got = reader_next(source->in, message)) < 0)
			die_input(source->in);
		if (got > 0 && !is_kind(message, "end") && !is_kind(message, "cut"))
			return true;
		if (source->segment + 1 == from->segments_count)
			return false;
		offset = (uint64_t)(source->segment + 1) << SEGMENT_BITS |
		    from->segments[source->segment + 1].offset;
	}
}

uint64_t
source_place(const struct source *source, const struct message *message)
{
	return (uint64_t)source->segment << SEGMENT_BITS | (message->offset - source->base);
}

uint64_t
source_behind(const struct source *source)
{
	return (uint64_t)source->segment << SEGMENT_BITS |
	    (reader_offset(source->in) - source->base);
}

void
source_message(struct source *source, int32_t rank, uint64_t offset, struct message *message)
{
	if (!source_look(source, rank, offset, message))
		source_changed(source);
}

void
source_calls(struct source *source, const struct message *message, struct calls *calls)
{
	if (!is_kind(message, "calls"))
		source_changed(source);
	if (reader_verify(source->in, message) < 0 || calls_read(calls, source->in, message) < 0)
		die_input(source->in);
	reader_hint(source->in,
	    (size_t)(reader_offset(source->in) - message->offset) + SPARE_BYTES);
}

void
source_changed(const struct source *source)
{
	die("%s:%llu: the file has changed", reader_file(source->in),
	    (unsigned long long)reader_offset(source->in));
}
