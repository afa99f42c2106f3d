/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include "reader.h"
#include "shell.h"

enum { WRITE_BYTES = 1 << 18 };	/* least number of bytes to write at once */

static int
writer_fail(struct writer *out, int error)
{
	if (!out->failed)
		out->error = error;
	out->failed = true;
	errno = out->error;
	return -1;
}

static int
write_all(struct writer *out, const char *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t wrote = write(out->fd, data + done, size - done);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return writer_fail(out, errno);
		done += (size_t)wrote;
	}
	out->flushed += done;
	return 0;
}

int
writer_flush(struct writer *out)
{
	if (write_all(out, out->buffer.data, out->buffer.size) < 0)
		return -1;
	msgpack_sbuffer_clear(&out->buffer);
	return 0;
}

/* A writer without a file keeps everything in the buffer. */
static int
flush_full(struct writer *out)
{
	return out->fd >= 0 && out->buffer.size >= WRITE_BYTES ? writer_flush(out) : 0;
}

uint64_t
writer_offset(const struct writer *out)
{
	return out->flushed + out->buffer.size;
}

void
message_begin(struct writer *out, const char *kind, unsigned pairs)
{
	out->message_begin = out->buffer.size;
	msgpack_pack_array(&out->pack, 2);
	msgpack_pack_str_with_body(&out->pack, kind, strlen(kind));
	msgpack_pack_map(&out->pack, pairs + 1);	/* and the hash */
}

int
message_end(struct writer *out)
{
	uint64_t hash;

	msgpack_pack_str_with_body(&out->pack, "xxh3", 4);
	hash = XXH3_64bits(out->buffer.data + out->message_begin,
	    out->buffer.size - out->message_begin);
	if (msgpack_pack_fix_uint64(&out->pack, hash) < 0 || out->failed)
		return writer_fail(out, ENOMEM);
	out->messages++;
	return flush_full(out);
}

void
put_int(struct writer *out, const char *key, int64_t value)
{
	msgpack_pack_str_with_body(&out->pack, key, strlen(key));
	msgpack_pack_int64(&out->pack, value);
}

void
put_uint(struct writer *out, const char *key, uint64_t value)
{
	msgpack_pack_str_with_body(&out->pack, key, strlen(key));
	msgpack_pack_uint64(&out->pack, value);
}

void
put_bool(struct writer *out, const char *key, bool value)
{
	msgpack_pack_str_with_body(&out->pack, key, strlen(key));
	if (value)
		msgpack_pack_true(&out->pack);
	else
		msgpack_pack_false(&out->pack);
}

void
put_double(struct writer *out, const char *key, double value)
{
	msgpack_pack_str_with_body(&out->pack, key, strlen(key));
	msgpack_pack_double(&out->pack, value);
}

void
put_string(struct writer *out, const char *key, const char *value)
{
	msgpack_pack_str_with_body(&out->pack, key, strlen(key));
	msgpack_pack_str_with_body(&out->pack, value, strlen(value));
}

void
put_bytes(struct writer *out, const char *key, const void *bytes, size_t size)
{
	msgpack_pack_str_with_body(&out->pack, key, strlen(key));
	msgpack_pack_bin_with_body(&out->pack, bytes, size);
}

/* The command line, quoted for a shell and without the folder of the tool. */
static char *
command_line(int argc, char **argv)
{
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	size_t length = 1;
	char *line, *end;

	for (int i = 0; i < argc; i++)
		length += SHELL_WORD_BYTES(strlen(argv[i])) + 1;
	if ((line = malloc(length)) == NULL)
		return NULL;
	end = line;
	*end = '\0';
	for (int i = 0; i < argc; i++)
		end = shell_word(stpcpy(end, i > 0 ? " " : ""),
		    i == 0 && slash != NULL ? slash + 1 : argv[i]);
	return line;
}

void
writer_start(struct writer *out, int fd)
{
	memset(out, 0, sizeof *out);
	out->fd = fd;
	msgpack_sbuffer_init(&out->buffer);
	msgpack_packer_init(&out->pack, &out->buffer, msgpack_sbuffer_write);
}

int
writer_open(struct writer *out, int fd, const char *content, const struct reader *in, int argc,
    char **argv)
{
	char *line = command_line(argc, argv);
	size_t lines = in != NULL ? in->known->history_count : 0;

	writer_start(out, fd);
	widen_pipe(fd);
	if (line == NULL)
		return writer_fail(out, ENOMEM);
	message_begin(out, "longpole", 4);
	put_int(out, "version", STREAM_VERSION);
	put_string(out, "content", content);
	/*
	 * Messages passed on stay as they are. Ours have hashes, but the header speaks for all.
	 * Messages of raw traces are passed on only into raw traces.
	 */
	put_bool(out, "hashed", in == NULL || in->hashed ||
	    (in->raw && strcmp(content, "raw") != 0));
	msgpack_pack_str_with_body(&out->pack, "history", 7);
	msgpack_pack_array(&out->pack, lines + 1);
	for (size_t i = 0; i < lines; i++)
		msgpack_pack_str_with_body(&out->pack, in->known->history[i],
		    strlen(in->known->history[i]));
	msgpack_pack_str_with_body(&out->pack, line, strlen(line));
	free(line);
	if (message_end(out) < 0)
		return -1;
	out->messages = 0;	/* neither the header nor the end counts */
	return 0;
}

void
writer_cut(struct writer *out, size_t at)
{
	if (out->cut_count < MOST_CUTS && at <= UINT32_MAX)
		out->cuts[out->cut_count++] = (uint32_t)at;
}

/*
 * One frame with a zstd block for each cut: zstd codes all bytes of a block with the same
 * frequencies. Returns its size; 0: error.
 */
static size_t
compress(char *to, size_t room, const struct writer *held, int level)
{
	const size_t size = held->buffer.size;
	ZSTD_CCtx *context = ZSTD_createCCtx();
	ZSTD_outBuffer out = { to, room, 0 };
	ZSTD_inBuffer in = { held->buffer.data, 0, 0 };
	size_t left = 1;

	if (context == NULL || ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel,
	    level)) || ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(context, size))) {
		ZSTD_freeCCtx(context);
		return 0;
	}
	for (unsigned i = 0; i <= held->cut_count; i++) {
		const bool last = i == held->cut_count;

		in.size = last ? size : held->cuts[i];
		left = ZSTD_compressStream2(context, &out, &in, last ? ZSTD_e_end : ZSTD_e_flush);
		if (left != 0)		/* an error, or no room */
			break;
	}
	ZSTD_freeCCtx(context);
	return left == 0 ? out.pos : 0;
}

int
put_compressed(struct writer *out, struct writer *held, int level)
{
	const size_t size = held->buffer.size;
	const unsigned planes = held->plane_count;
	/* A zstd block takes 3 bytes; one that does not compress is stored as it is. */
	size_t room = ZSTD_compressBound(size) + 16 * (size_t)(held->cut_count + 1), got;
	char *packed = malloc(room);

	held->plane_count = 0;
	if (packed == NULL)
		return writer_fail(out, ENOMEM);
	for (unsigned i = 0; i < planes; i++)
		planes_apart((unsigned char *)held->buffer.data, &held->planes[i],
		    (unsigned char *)packed);
	got = compress(packed, room, held, level);
	held->cut_count = 0;
	if (got == 0) {
		free(packed);
		return writer_fail(out, ENOMEM);
	}
	message_begin(out, "zstd", planes > 0 ? 3 : 2);
	put_uint(out, "bytes", size);
	if (planes > 0)
		put_bytes(out, "planes", held->planes, planes * sizeof held->planes[0]);
	put_bytes(out, "data", packed, got);
	free(packed);
	out->messages--;	/* the messages inside count, but not this one */
	return message_end(out);
}

int
writer_pass(struct writer *out, const struct message *message, uint64_t rows)
{
	if (is_kind(message, "index") || is_kind(message, "shard"))
		return 0;
	if (msgpack_sbuffer_write(&out->buffer, (const char *)message->bytes, message->size) < 0)
		return writer_fail(out, ENOMEM);
	out->messages++;
	out->rows += rows;
	return flush_full(out);
}

int
writer_append(struct writer *out, const struct writer *more)
{
	const char *data = more->buffer.data;
	const size_t size = more->buffer.size;

	if (out->fd >= 0 && size >= WRITE_BYTES) {	/* not kept twice */
		if (writer_flush(out) < 0 || write_all(out, data, size) < 0)
			return -1;
	} else if (msgpack_sbuffer_write(&out->buffer, data, size) < 0)
		return writer_fail(out, ENOMEM);
	out->messages += more->messages;
	return flush_full(out);
}

uint64_t
writer_hash(const struct writer *out)
{
	return XXH3_64bits(out->buffer.data, out->buffer.size);
}

int
writer_end_of(struct writer *out, bool more)
{
	uint64_t messages = out->messages;

	message_begin(out, "end", 2u + (out->index_offset > 0) + more);
	put_uint(out, "messages", messages);
	put_uint(out, "rows", out->rows);
	if (out->index_offset > 0)
		put_uint(out, "index", out->index_offset);
	if (more)
		put_bool(out, "more", true);
	if (message_end(out) < 0 || writer_flush(out) < 0)
		return -1;
	writer_close(out);
	return 0;
}

int
writer_end(struct writer *out)
{
	if (writer_end_of(out, false) < 0)
		return -1;
	if (close(out->fd) != 0)	/* some file systems report a full disk only here */
		return writer_fail(out, errno);
	return 0;
}

void
writer_close(struct writer *out)
{
	msgpack_sbuffer_destroy(&out->buffer);
}
