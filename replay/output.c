/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stream with new times. Messages keep their order, so each waits until the rows of all earlier
 * blocks have been simulated. A block gets new columns enter and duration, and keeps the recorded
 * ones beside them; the rest stays. The first message, of kind run, has the length of the run,
 * which is known last: so all others go through a temporary file.
 */
#include "replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/tool/spool.h"

struct held {			/* a message that waits */
	unsigned char *bytes;
	size_t size;
	uint32_t location;	/* of a block; NONE */
	uint64_t first, count;	/* its rows; of a partial replay only those simulated */
	uint64_t rows;		/* as read */
	int64_t *recorded;	/* of a block: enters, then durations */
};

struct output {
	struct writer out;	/* to the temporary file */
	msgpack_unpacked unpacked;	/* a held message */
	struct held *held;
	size_t begin, end, capacity;
	int64_t *times;		/* of a block: enters, then durations */
	size_t time_capacity;
};

struct output *
output_begin(void)
{
	struct output *o = zalloc(1, sizeof *o);

	writer_start(&o->out, spool_open());
	msgpack_unpacked_init(&o->unpacked);
	return o;
}

struct writer *
output_writer(struct output *o)
{
	return &o->out;
}

void
output_take(struct output *o, const struct message *message, const struct calls *calls)
{
	/* Messages that are written anew, have old times, or, like an index, old offsets. */
	static const char *const left_out[] = { "run", "replay", "monitor", "sampled", "switched",
	    "sampled_path", "regions", "index", "shard" };
	struct held *held;

	for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
		if (is_kind(message, left_out[i]))
			return;
	held = ENQUEUE(o->held, o->begin, o->end, o->capacity);
	*held = (struct held){ need(malloc(message->size)), message->size, NONE, 0, 0, 0, NULL };
	memcpy(held->bytes, message->bytes, message->size);
	if (!is_kind(message, "calls"))
		return;
	held->location = calls->location;
	held->first = calls->first;
	held->count = held->rows = calls->count;
	held->recorded = zalloc(2 * calls->count + 1, sizeof *held->recorded);
	for (size_t i = 0; i < calls->count; i++) {
		held->recorded[i] = calls->enter_ns[i];
		held->recorded[calls->count + i] = calls->leave_ns[i] - calls->enter_ns[i];
	}
}

static bool
is_key(const msgpack_object_kv *pair, const char *key)
{
	return pair->key.type == MSGPACK_OBJECT_STR && pair->key.via.str.size == strlen(key) &&
	    memcmp(pair->key.via.str.ptr, key, strlen(key)) == 0;
}

/* Keys of a block that are written anew. */
static bool
is_replaced(const msgpack_object_kv *pair)
{
	return is_key(pair, "enter") || is_key(pair, "gap") || is_key(pair, "duration") ||
	    is_key(pair, "capacity") || is_key(pair, "xxh3");
}

static void
put_times(struct output *o, const struct engine *e, const struct held *held, bool recorded)
{
	size_t n = (size_t)held->count;
	int64_t *enter, *duration;

	GROW(o->times, o->time_capacity, 2 * n + 1);
	enter = o->times;
	duration = enter + n;
	for (size_t i = 0; i < n; i++) {
		const struct op *op = op_at(e, held->location, held->first + i);

		enter[i] = op->gap_ns;
		duration[i] = op->duration_ns - op->gap_ns;
	}
	put_column(&o->out, "enter", enter, n);
	put_column(&o->out, "duration", (const uint64_t *)duration, n);
	if (!recorded)
		return;
	put_column(&o->out, "recorded_enter", held->recorded, n);
	put_column(&o->out, "recorded_duration", (const uint64_t *)held->recorded + held->rows, n);
}

/* Writes the block with new times; in a second replay the recorded times stay. */
static void
write_block(struct output *o, const struct engine *e, const struct held *held,
    const struct message *message)
{
	const msgpack_object_map *map = &message->body.via.map;
	const msgpack_object *stated = body_get(message, "capacity");
	const uint64_t capacity = stated != NULL ? stated->via.u64 : held->rows;
	const bool replayed = body_get(message, "recorded_enter") != NULL;
	unsigned kept = 0;

	for (uint32_t i = 0; i < map->size; i++)
		kept += !is_replaced(&map->ptr[i]);
	message_begin(&o->out, "calls", kept + (replayed ? 2 : 4));
	for (uint32_t i = 0; i < map->size; i++) {
		msgpack_object_kv pair = map->ptr[i];

		if (is_replaced(&pair))
			continue;
		if (is_key(&pair, "count"))
			pair.val.via.u64 = held->count;
		/* cut to the count */
		if (pair.val.type == MSGPACK_OBJECT_BIN && capacity > 0)
			pair.val.via.bin.size = (uint32_t)(pair.val.via.bin.size /
			    capacity * held->count);
		msgpack_pack_object(&o->out.pack, pair.key);
		msgpack_pack_object(&o->out.pack, pair.val);
	}
	put_times(o, e, held, !replayed);
	o->out.rows += held->count;
	end_message(&o->out);
}

/* Parses a held message, which reading it before has checked. */
static struct message
reread(struct output *o, const struct held *held)
{
	struct message message;
	const char *why;

	if (message_parse(&message, &o->unpacked, held->bytes, held->size, &why) <= 0)
		die("out of memory");
	return message;
}

static void
write_held(struct output *o, struct engine *e, struct held *held)
{
	struct message message = { .bytes = held->bytes, .size = held->size };

	if (held->location == NONE) {
		need_output(writer_pass(&o->out, &message, 0));
	} else {
		message = reread(o, held);
		write_block(o, e, held, &message);
		lane_drop(&e->lanes[held->location], held->first + held->count);
	}
	free(held->bytes);
	free(held->recorded);
}

void
output_flush(struct output *o, struct engine *e)
{
	for (; o->begin < o->end; o->begin++) {
		struct held *held = &o->held[o->begin];

		if (held->location != NONE &&
		    e->runners[held->location].seq < held->first + held->count)
			break;
		write_held(o, e, held);
	}
}

/* A column of N integers; reading it before has checked it. */
static uint64_t *
column(const struct message *message, const char *key, size_t n)
{
	uint64_t *values = zalloc(n + 1, sizeof *values);

	if (body_column(NULL, message, key, n, values) < 0)
		die("out of memory");
	return values;
}

/* Writes edges of a block whose ends are all simulated: messages, or collectives of any size. */
static void
write_partial_edges(struct output *o, const struct engine *e, const struct message *message)
{
	static const char *const ends[] = { "source", "send", "target", "receive" };
	static const char *const members[] = { "location", "seq" };
	const bool collectives = is_kind(message, "collectives");
	const char *const *keys = collectives ? members : ends;
	const size_t count = (size_t)body_get(message, "count")->via.u64,
	    columns = collectives ? 2 : 4;
	const size_t edges = collectives ? (size_t)body_get(message, "instances")->via.u64 : count;
	uint64_t *at[4], *size = collectives ? column(message, "size", edges) : NULL;
	size_t n = 0, kept = 0, row = 0;

	for (size_t c = 0; c < columns; c++)
		at[c] = column(message, keys[c], count);
	for (size_t i = 0; i < edges; i++) {
		const size_t rows = collectives ? (size_t)size[i] : 1;
		bool all = true;

		for (size_t k = 0; k < rows; k++, row++)
			for (size_t c = 0; c < columns; c += 2) {
				at[c][n + k] = at[c][row];
				at[c + 1][n + k] = at[c + 1][row];
				all &= at[c][row] < e->locations &&
				    at[c + 1][row] < e->runners[at[c][row]].seq;
			}
		if (!all)
			continue;
		n += rows;
		if (collectives)
			size[kept++] = rows;
	}
	message_begin(&o->out, message->kind, 5);
	put_uint(&o->out, "count", n);
	if (collectives) {
		put_uint(&o->out, "instances", kept);
		put_column(&o->out, "size", size, kept);
		free(size);
	}
	for (size_t c = 0; c < columns; c++) {
		put_column(&o->out, keys[c], at[c], n);
		free(at[c]);
	}
	end_message(&o->out);
}

/* Writes a replay that stopped early: rows and edges up to there. */
void
output_partial(struct output *o, struct engine *e)
{
	for (; o->begin < o->end; o->begin++) {
		struct held *held = &o->held[o->begin];
		struct message message;

		if (held->location != NONE) {
			uint64_t done = e->runners[held->location].seq;

			held->count = done <= held->first ? 0 : done - held->first < held->count ?
			    done - held->first : held->count;
			if (held->count > 0)
				write_held(o, e, held);
			continue;
		}
		message = reread(o, held);
		if (is_kind(&message, "messages") || is_kind(&message, "probes") ||
		    is_kind(&message, "locks") || is_kind(&message, "holds") ||
		    is_kind(&message, "collectives"))
			write_partial_edges(o, e, &message);
		else if (!is_kind(&message, "sync") && !is_kind(&message, "settled") &&
		    !is_kind(&message, "matching"))
			write_held(o, e, held);
	}
}

static void
copy_to(int fd, int from)
{
	static char buffer[1 << 18];
	ssize_t got;

	if (lseek(from, 0, SEEK_SET) < 0)
		die("temporary file: %s", strerror(errno));
	while ((got = read(from, buffer, sizeof buffer)) > 0)
		for (ssize_t at = 0, put; at < got; at += put)
			if ((put = write(fd, buffer + at, (size_t)(got - at))) < 0)
				die_output();
	if (got < 0)
		die("temporary file: %s", strerror(errno));
}

void
output_end(struct output *o, const struct engine *e, const struct result *r, struct reader *in,
    int argc, char **argv)
{
	struct writer out;

	/* the last message: for lp-imbalance --ideal and for people */
	message_begin(&o->out, "replay", 7);
	put_int(&o->out, "run_ns", r->run_ns);
	put_int(&o->out, "recorded_run_ns", r->recorded_run_ns);
	put_uint(&o->out, "count", r->ranks);
	put_column(&o->out, "finish", r->finish_ns, r->ranks);
	put_column(&o->out, "recorded_finish", r->recorded_finish_ns, r->ranks);
	put_column(&o->out, "useful", r->useful_ns, r->ranks);
	put_column(&o->out, "recorded_useful", r->recorded_useful_ns, r->ranks);
	end_message(&o->out);
	if (writer_flush(&o->out) < 0)
		die("temporary file: it cannot be written");
	need_output(writer_open(&out, STDOUT_FILENO, reader_content(in), in, argc, argv));
	message_begin(&out, "run", 3);
	put_int(&out, "ranks", e->known->ranks);
	put_uint(&out, "locations", e->locations);
	put_int(&out, "run_ns", r->run_ns);
	end_message(&out);
	need_output(writer_flush(&out));
	copy_to(STDOUT_FILENO, o->out.fd);
	out.messages += o->out.messages;
	out.rows += o->out.rows;
	need_output(writer_end(&out));
}
