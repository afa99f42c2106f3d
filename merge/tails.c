/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads raw traces that grow. Each is complete at every instant, so it is only read: the run
 * neither waits for the reader nor notices it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/run/raw_folder.h"
#include "../base/stream/bytes.h"
#include "../base/tool/text.h"
#include "follow.h"

enum {
	ROWS = 1 << 18,		/* of all locations, read ahead */
	LEAST_ROWS = 256,	/* of one */
	SILENCE_S = 600,	/* without growth, ranks of other hosts count as dead */
	HEAD_BYTES = 160,	/* of a block of calls, up to its count */
};

/* ---- files ---- */

/* False: it is not there yet. The file stays open, since one with the same name may replace it. */
static bool
open_segment(struct tail *tail)
{
	struct segment segment = { -1, tail->segment_count == 0 ? formatted("%s", tail->path) :
	    formatted("%s.%04zu", tail->path, tail->segment_count) };

	segment.fd = open(segment.path, O_RDONLY | O_CLOEXEC);
	if (segment.fd < 0) {
		if (errno != ENOENT)
			die("%s: %s", segment.path, strerror(errno));
		free(segment.path);
		return false;
	}
	*APPEND(tail->segments, tail->segment_count, tail->segment_capacity) = segment;
	tail->offset = 0;
	return true;
}

/* Is it the first segment of a trace that is not known so far? */
static bool
is_new(const struct follow *f, const char *path)
{
	bool new = *raw_name_segment(file_name(path)) == '\0';

	for (size_t i = 0; i < f->tail_count && new; i++)
		new = strcmp(f->tails[i].path, path) != 0;
	return new;
}

/*
 * Adds new traces in the folder. Readers need all ranks at the begin, so those of processes that
 * came later are left out.
 */
static void
look_for_traces(struct follow *f, const char *folder)
{
	struct paths found = folder_run(folder);

	if (found.count < 0 && f->by_rank == NULL)
		die("%s: %s", folder, strerror(errno));
	if (found.count == 0)
		f->empty = folder;
	for (int i = 0; i < found.count && !f->spawned; i++) {
		struct tail tail = { .pid = -1, .number = -1, .sampled_ns = INT64_MIN };

		if (!is_new(f, found.at[i]))
			continue;
		f->spawned = f->by_rank != NULL;
		if (f->spawned && !f->opt->until_spawn)
			note("%s: of processes that were spawned since this began: messages to and "
			    "from them match nothing here", found.at[i]);
		if (f->spawned)
			break;
		tail.path = need(strdup(found.at[i]));
		tail.scan = (struct scan){ .input = f->input, .file = tail.path };
		*APPEND(f->tails, f->tail_count, f->tail_capacity) = tail;
	}
	paths_free(&found);
}

/* Whether the folder has others for spawned processes. */
static bool
has_worlds(const char *folder)
{
	struct paths worlds = folder_paths(folder, is_world_name);
	const bool has = worlds.count > 0;

	paths_free(&worlds);
	return has;
}

void
tails_refuse(const struct follow *f)
{
	for (int32_t w = 1; w < f->input->world_count; w++) {
		const struct world *world = &f->input->worlds[w];
		bool gone = !world_has_met(f->input, world);

		for (const struct tail *tail = f->tails; tail < f->tails + f->tail_count; tail++)
			gone &= tail->gone || tail->number < world->first ||
			    tail->number >= world->first + world->ranks;
		if (gone)
			die("%s: of another run than %s: --follow takes the folders of one",
			    world->file, f->input->worlds->file);
	}
}

void
read_at(struct follow *f, const struct tail *tail, struct message_place place,
    struct message *message)
{
	const struct segment *segment = &tail->segments[place.segment];
	struct reader *in = f->input->in;

	reader_turn(in, segment->path, segment->fd, place.offset);
	reader_jump(in, place.offset);
	for (unsigned i = 0; i <= place.within; i++)
		if (reader_next(in, message) <= 0)
			die_input(in);
}

/* ---- news in a trace ----------------------------------------------------------------- */

struct lane *
lane_at(struct tail *tail, size_t location)
{
	if (location >= tail->lane_count) {
		tail->lanes = need(realloc(tail->lanes, (location + 1) * sizeof *tail->lanes));
		memset(&tail->lanes[tail->lane_count], 0,
		    (location + 1 - tail->lane_count) * sizeof *tail->lanes);
		tail->lane_count = location + 1;
	}
	return &tail->lanes[location];
}

static void
add_piece(struct follow *f, struct tail *tail, const struct message *message)
{
	static const char count_key[] = "\245count\316";
	struct reader *in = f->input->in;
	const struct open_call *open = open_call_of(message);
	const unsigned char *count_at = memmem(message->bytes, message->size < HEAD_BYTES ?
	    message->size : HEAD_BYTES, count_key, sizeof count_key - 1);
	struct piece piece = { .place = { tail->segment_count - 1, message->offset, 0 } }, *last;
	struct lane *lane;
	size_t location;

	if (body_int(in, message, "location", 0, 1 << 16, &location) < 0 ||
	    body_int(in, message, "first", 0, INT64_MAX, &piece.first) < 0 ||
	    body_int(in, message, "count", 0, UINT32_MAX, &piece.rows) < 0)
		die_input(in);
	lane = lane_at(tail, location);
	if (open != NULL && count_at != NULL) {
		piece.count_at = (uint32_t)(count_at - message->bytes) + sizeof count_key - 1;
		piece.open_at = (uint32_t)((const unsigned char *)open - message->bytes);
	}
	if ((last = last_piece(lane)) != NULL) {	/* that is full now */
		if (piece.first < last->first + last->rows)
			die_message(in, message, "calls: the block does not follow the one before");
		last->rows = (uint32_t)(piece.first - last->first);
	}
	*ENQUEUE(lane->pieces, lane->begin, lane->end, lane->capacity) = piece;
}

static void
take(struct follow *f, struct tail *tail, const struct message *message)
{
	struct reader *in = f->input->in;
	struct sample_piece piece = { .place = { tail->segment_count - 1, message->offset,
	    tail->within++ } };
	size_t location;

	tail->scan.in = in;
	if (is_kind(message, "rank") &&
	    body_int_if(in, message, "pid", 0, INT32_MAX, &tail->pid) < 0)
		die_input(in);
	if (is_kind(message, "calls")) {
		tail->scan.messages++;
		add_piece(f, tail, message);
	} else if (scan_message(&tail->scan, message) < 0)
		die_input(in);
	if (is_kind(message, "rank")) {		/* a new world may have moved all */
		tail->number = (int32_t)(tail->scan.rank - f->input->ranks);
		for (struct tail *t = f->tails; t < f->tails + f->tail_count; t++)
			if (t->number >= 0)
				t->scan.rank = &f->input->ranks[t->number];
	}
	if (is_kind(message, "regions")) {
		struct lane_regions *of;

		if (body_int(in, message, "location", 0, 1 << 16, &location) < 0)
			die_input(in);
		of = &lane_at(tail, location)->regions;
		*APPEND(of->pieces, of->count, of->capacity) = piece.place;
	} else if (is_samples(message) && !f->opt->no_samples) {
		if (look_of(in, message, &piece.look_ns) < 0)
			die_input(in);
		if (tail->sample_at == tail->sample_count)
			tail->sample_at = tail->sample_count = 0;
		*APPEND(tail->samples, tail->sample_count, tail->sample_capacity) = piece;
	}
}

/* Reads the trace's new messages. */
static void
scan_tail(struct follow *f, struct tail *tail)
{
	while (tail->scan.rank == NULL || !tail->scan.rank->ended) {
		struct segment *segment;
		struct message message;
		char byte = 0;

		if (tail->segment_count == 0 && !open_segment(tail))
			return;
		segment = &tail->segments[tail->segment_count - 1];
		/* The first byte of a message is stored last. */
		if (pread(segment->fd, &byte, 1, (off_t)tail->offset) != 1 || byte == 0)
			return;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		read_at(f, tail, (struct message_place){ tail->segment_count - 1, tail->offset,
		    0 }, &message);
		tail->within = 0;
		take(f, tail, &message);
		/* Takes the other messages of a compressed one. */
		while (reader_offset(f->input->in) == tail->offset) {
			if (reader_next(f->input->in, &message) <= 0)
				die_input(f->input->in);
			take(f, tail, &message);
		}
		tail->offset = reader_offset(f->input->in);
		if (is_kind(&message, "end") && body_get(&message, "more") != NULL &&
		    !open_segment(tail))
			/* read it again when the next one is there */
			tail->offset -= message.size;
	}
}

/*
 * Looks again at the last block of a lane: it has the thread's open call, and may have more rows.
 * The call is read first: if it has returned by then, its row is there after it, or is_complete
 * will miss it.
 */
static void
look_at_block(struct follow *f, const struct tail *tail, struct lane *lane)
{
	struct piece *piece = last_piece(lane);
	const int fd = piece != NULL ? tail->segments[piece->place.segment].fd : -1;
	unsigned char count[4];

	memset(&lane->open, 0, sizeof lane->open);
	if (piece == NULL || piece->open_at == 0)
		return;
	if (pread(fd, &lane->open, sizeof lane->open,
	    (off_t)(piece->place.offset + piece->open_at)) != sizeof lane->open)
		memset(&lane->open, 0, sizeof lane->open);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (pread(fd, count, sizeof count, (off_t)(piece->place.offset +
	    piece->count_at)) == sizeof count && big_endian(count, sizeof count) > piece->rows) {
		piece->rows = (uint32_t)big_endian(count, sizeof count);
		f->moved_ns = now_ns();
	}
}

static bool
is_alive(const struct follow *f, const struct tail *tail)
{
	if (strcmp(tail->scan.rank->host != NULL ? tail->scan.rank->host : "", f->host) != 0)
		return now_ns() - f->moved_ns < SILENCE_S * SECOND_NS;
	return tail->pid > 0 && process_state(tail->pid) != 0;
}

/* A process that is gone writes no more. */
static void
look_at_processes(struct follow *f)
{
	f->over = f->tail_count > 0;
	for (struct tail *tail = f->tails; tail < f->tails + f->tail_count; tail++) {
		const struct rank *rank = tail->scan.rank;

		/* The recorder may have seen it end. */
		tail->gone |= rank != NULL &&
		    (rank->ended || rank->died_ns != 0 || !is_alive(f, tail));
		f->over &= tail->gone;
	}
}

/* A new block, which has the open call from then on, may come at any time. */
static void
look_at_trace(struct follow *f, struct tail *tail)
{
	const uint64_t first = tail->offset;
	uint64_t before;

	scan_tail(f, tail);
	do {
		before = tail->offset;
		for (size_t l = 0; l < tail->lane_count; l++)
			look_at_block(f, tail, &tail->lanes[l]);
		scan_tail(f, tail);
	} while (tail->offset != before);
	if (tail->offset != first)
		f->moved_ns = now_ns();
}

void
tails_look(struct follow *f)
{
	const bool begun = f->by_rank != NULL;
	const int64_t now = now_ns();

	f->empty = NULL;
	for (char **folder = f->opt->files; *folder != NULL; folder++)
		if (!begun || (!f->spawned && now - f->worlds_ns > SECOND_NS &&
		    has_worlds(*folder)))
			look_for_traces(f, *folder);
	if (begun && now - f->worlds_ns > SECOND_NS)
		f->worlds_ns = now;
	look_at_processes(f);
	for (size_t i = 0; i < f->tail_count; i++)
		look_at_trace(f, &f->tails[i]);
}

/* ---- rows ---- */

/* It has its row before it returns. */
static bool
is_finalize(const struct calls *rows)
{
	return rows->count > 0 &&
	    strcmp(call_name(rows->call[rows->count - 1]), "MPI_Finalize") == 0;
}

void
forget_unsure(struct lane *lane)
{
	if (!lane->unsure)
		return;
	lane->rows.count--;
	lane->next--;
	lane->unsure = false;
}

/* Removes the last call. False: it is the only one. */
static bool
drop_last_call(struct calls *rows)
{
	size_t i = rows->count - 1;

	while (i > 0 && rows->call[i] == 0)
		i--;
	if (i > 0)
		rows->count = i;
	return i > 0;
}

/* Reads the next rows of the piece, at most MOST if they can be read in parts. */
static void
read_piece(struct follow *f, struct tail *tail, struct lane *lane,
    const struct piece *piece, size_t most, int64_t final_ns)
{
	struct reader *in = f->input->in;
	const size_t from = (size_t)(lane->next - piece->first), all = piece->rows - from;
	const bool last = piece == last_piece(lane);
	size_t count = all < most ? all : most;
	struct message message;
	bool folds;
	int narrow;

	read_at(f, tail, piece->place, &message);
	folds = body_get(&message, "folded") != NULL;
	if ((narrow = reader_narrow(in, &message, from, count)) < 0 ||
	    calls_read(&f->read, in, &message) < 0)
		die_input(in);
	if (narrow == 0) {
		if (f->read.count < from + all)
			die_message(in, &message, "calls: the block has lost rows");
		calls_drop(&f->read, from);
		f->read.count = count = all;
	}
	if (count < all && !drop_last_call(&f->read))	/* its parts may follow */
		read_piece(f, tail, lane, piece, 2 * most, final_ns);
	else if (count == all && last && !tail->gone && lane->open.call != 0 &&
	    is_finalize(&f->read) && !drop_last_call(&f->read))
		f->read.count = 0;
	/* A row that stands for several calls may get more. */
	lane->unsure = count == all && last && !tail->gone && f->read.count > 0 &&
	    (folds || is_finalize(&f->read)) &&
	    f->read.leave_ns[f->read.count - 1] >= final_ns;
}

bool
read_rows(struct follow *f, struct tail *tail, struct lane *lane, int64_t final_ns)
{
	const size_t most = ROWS / f->input->location_count;

	for (; lane->begin < lane->end; lane->begin++) {
		const struct piece *piece = &lane->pieces[lane->begin];

		if (lane->next < piece->first + piece->rows) {
			read_piece(f, tail, lane, piece, most > LEAST_ROWS ? most : LEAST_ROWS,
			    final_ns);
			if (f->read.count == 0)
				return false;	/* the rows in memory stay where they are */
			if (lane->from > 0)
				calls_drop(&lane->rows, lane->from);
			lane->from = 0;
			if (lane->rows.count == 0)
				lane->rows.first = lane->next;
			need_memory(calls_append(&lane->rows, &f->read));
			lane->next += f->read.count;
			lane->last_leave_ns = f->read.leave_ns[f->read.count - 1];
			return true;
		}
		if (lane->begin + 1 == lane->end)
			break;
	}
	return false;
}

bool
is_complete(struct follow *f, struct tail *tail, struct lane *lane, int64_t until_ns)
{
	if (tail->gone || lane->open.call != 0 || lane->open.enter_ns >= until_ns)
		return true;
	forget_unsure(lane);
	while (lane->last_leave_ns < lane->open.enter_ns && read_rows(f, tail, lane, until_ns))
		;
	return lane->last_leave_ns >= lane->open.enter_ns;
}

bool
is_sampled(const struct tail *tail, int64_t at_ns, int64_t latest_ns)
{
	bool is = tail->sampled_ns >= at_ns;

	for (size_t i = tail->sample_at; i < tail->sample_count && !is; i++)
		is = tail->samples[i].look_ns >= at_ns && tail->samples[i].look_ns <= latest_ns;
	return is;
}

void
read_samples(struct follow *f, struct tail *tail, int64_t at_ns, int64_t latest_ns)
{
	for (; tail->sample_at < tail->sample_count; tail->sample_at++) {
		const struct sample_piece *piece = &tail->samples[tail->sample_at];
		struct message message;

		/* One look makes several blocks. */
		if (piece->look_ns > latest_ns || (tail->sampled_ns >= at_ns &&
		    piece->look_ns != tail->sampled_ns))
			return;
		read_at(f, tail, piece->place, &message);
		samples_take(&f->sampled, (int32_t)(tail->scan.rank - f->input->ranks), &message);
		tail->sampled_ns = piece->look_ns;
	}
}

void
close_segments(struct tail *tail)
{
	size_t needed = tail->segment_count > 0 ? tail->segment_count - 1 : 0;

	if (tail->sample_at < tail->sample_count &&
	    tail->samples[tail->sample_at].place.segment < needed)
		needed = tail->samples[tail->sample_at].place.segment;
	for (size_t l = 0; l < tail->lane_count; l++) {
		const struct lane *lane = &tail->lanes[l];

		if (lane->begin < lane->end && lane->pieces[lane->begin].place.segment < needed)
			needed = lane->pieces[lane->begin].place.segment;
		if (lane->regions.count > 0 &&
		    lane->regions.pieces[lane->regions.at].segment < needed)
			needed = lane->regions.pieces[lane->regions.at].segment;
	}
	while (needed-- > 0 && tail->segments[needed].fd >= 0) {
		close(tail->segments[needed].fd);
		tail->segments[needed].fd = -1;
	}
}
