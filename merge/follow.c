/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Raw traces while their run goes on. A trace is whole at every instant, so it is only read: nobody waits for the
 * reader, however slow it is, or sees whether it is there.
 *
 * Time goes on in steps. What has returned before a step ends goes out, location by location, and then a message of
 * kind reached (trace.5). The step is LAG_NS or more before now: so a thread that has read the clock and has not
 * stored its row yet has time to do so. One that needs longer, as it was stopped just then, has its row in a later
 * step. What goes out does not depend on when it is looked for: a run that has ended gives the same bytes.
 *
 * Memory: definitions, for each location a number of rows, and 40 bytes for each block that is still to be read.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "../base/run/raw_folder.h"
#include "../base/stream/bytes.h"
#include "../base/stream/open_call.h"
#include "definitions.h"
#include "scan.h"

#define SECOND_NS INT64_C(1000000000)
enum {
	STEP_NS = 100000000,
	LAG_NS = 300000000,
	NAP_NS = 100000000,	/* from one look to the next */
	STEP_LOCATIONS = 1024,	/* so many more make steps longer */
	ROWS = 1 << 18,		/* of all locations that are read ahead */
	LEAST_ROWS = 256,	/* of one */
	BLOCK_ROWS = 1 << 14,	/* of a block that goes out */
	FIRST_S = 60,		/* for the first trace to come */
	SILENCE_S = 600,	/* of all traces, until ranks of other hosts, which cannot be seen, are taken for dead */
};

/* A block that has rows that are still to be read. */
struct piece {
	size_t segment;
	uint64_t place;		/* in its file */
	uint64_t first;
	uint32_t rows;		/* that were there when it was looked at */
	uint32_t count_at, open_at;	/* where it says how many, and the open call, from its first byte; 0: nowhere */
};

/* A thread of a rank. */
struct lane {
	struct piece *pieces;
	size_t begin, count, capacity;	/* those from BEGIN on */
	uint64_t next;		/* row to be read next */
	struct calls rows;	/* that are read, of which FROM have gone out */
	size_t from;
	struct open_call open;	/* as it was when the folder was looked at last */
	int64_t open_ns;	/* enter of the call that it is in at the end of the step; or that end */
	uint16_t open_call;
};

struct tail {
	char *path;		/* of the first segment */
	struct segment {
		int fd;		/* -1: all of it is read */
		char *path;
	} *segments;
	size_t segment_count, segment_capacity;
	uint64_t offset;	/* of what has not been looked at, in the last of them */
	struct scan scan;
	int64_t pid;
	bool gone;		/* its process is, or its trace has ended */
	struct lane *lanes;
	size_t lane_count;
};

struct follow {
	struct input *input;
	const char *folder;
	char host[256];
	struct tail *tails;
	size_t tail_count, tail_capacity;
	struct tail **by_rank;
	struct calls read;	/* a piece */
	struct writer out;
	struct later *later;
	int64_t step_ns;	/* what has returned before this, on the trace's clock, has gone out */
	int64_t last_ns;	/* the last leave that has */
	int64_t moved_ns;	/* when a trace was seen to grow last */
	bool over;		/* the traces will not grow any more */
	bool told;		/* of a thread that is left out */
};

/* ---- files ---- */

static int64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

/* False: it is not there yet. A file stays open, since one that says the same may come in its place. */
static bool
open_segment(struct tail *tail)
{
	struct segment segment = { -1, NULL };

	if ((tail->segment_count == 0 ? asprintf(&segment.path, "%s", tail->path) :
	    asprintf(&segment.path, "%s.%04zu", tail->path, tail->segment_count)) < 0)
		die("out of memory");
	segment.fd = open(segment.path, O_RDONLY | O_CLOEXEC);
	if (segment.fd < 0) {
		if (errno != ENOENT)
			die("%s: %s", segment.path, strerror(errno));
		free(segment.path);
		return false;
	}
	tail->segments = grow(tail->segments, &tail->segment_capacity, tail->segment_count + 1, sizeof segment);
	tail->segments[tail->segment_count++] = segment;
	tail->offset = 0;
	return true;
}

static bool
knows(const struct follow *f, const char *name)
{
	for (size_t i = 0; i < f->tail_count; i++)
		if (strcmp(strrchr(f->tails[i].path, '/') + 1, name) == 0)
			return true;
	return false;
}

/* Traces that are new in the folder. */
static void
look_for_traces(struct follow *f)
{
	struct dirent **entries;
	const int count = scandir(f->folder, &entries, is_raw_name, versionsort);

	if (count < 0)
		die("%s: %s", f->folder, strerror(errno));
	for (int i = 0; i < count; i++) {
		const char *segment = raw_name_segment(entries[i]->d_name);
		struct tail tail = { .pid = -1 };

		if (segment != NULL && *segment == '\0' && !knows(f, entries[i]->d_name)) {
			if (asprintf(&tail.path, "%s/%s", f->folder, entries[i]->d_name) < 0)
				die("out of memory");
			tail.scan = (struct scan){ .input = f->input, .file = tail.path };
			f->tails = grow(f->tails, &f->tail_capacity, f->tail_count + 1, sizeof tail);
			f->tails[f->tail_count++] = tail;
		}
		free(entries[i]);
	}
	free(entries);
}

/* The next message from OFFSET of the segment on, as it is now. */
static void
read_at(struct follow *f, const struct segment *segment, uint64_t offset, struct message *message)
{
	struct reader *in = f->input->in;

	reader_turn(in, segment->path, segment->fd, offset);
	reader_jump(in, offset);
	if (reader_next(in, message) <= 0)
		die_input(in);
}

/* ---- what is new in a trace ---- */

static struct lane *
lane_at(struct tail *tail, size_t location)
{
	if (location >= tail->lane_count) {
		tail->lanes = need(realloc(tail->lanes, (location + 1) * sizeof *tail->lanes));
		memset(&tail->lanes[tail->lane_count], 0, (location + 1 - tail->lane_count) * sizeof *tail->lanes);
		tail->lane_count = location + 1;
	}
	return &tail->lanes[location];
}

static void
add_piece(struct follow *f, struct tail *tail, const struct message *message)
{
	static const char count_key[] = "\245count\316";
	struct reader *in = f->input->in;
	const msgpack_object *open = body_get(message, "open");
	const unsigned char *count_at = memmem(message->bytes, message->size < 100 ? message->size : 100, count_key,
	    sizeof count_key - 1);
	struct piece piece = { .segment = tail->segment_count - 1, .place = message->offset };
	int64_t location, first, rows;
	struct lane *lane;

	if (body_int(in, message, "location", 0, 1 << 16, &location) < 0 ||
	    body_int(in, message, "first", 0, INT64_MAX, &first) < 0 ||
	    body_int(in, message, "count", 0, UINT32_MAX, &rows) < 0)
		die_input(in);
	lane = lane_at(tail, (size_t)location);
	piece.first = (uint64_t)first;
	piece.rows = (uint32_t)rows;
	if (open != NULL && open->type == MSGPACK_OBJECT_BIN && open->via.bin.size == sizeof lane->open && count_at != NULL) {
		piece.count_at = (uint32_t)(count_at - message->bytes) + sizeof count_key - 1;
		piece.open_at = (uint32_t)((const unsigned char *)open->via.bin.ptr - message->bytes);
	}
	if (lane->count > 0) {		/* that is full now */
		struct piece *last = &lane->pieces[lane->begin + lane->count - 1];

		if (piece.first < last->first + last->rows)
			die_message(in, message, "calls: the block does not follow the one before");
		last->rows = (uint32_t)(piece.first - last->first);
	}
	if (lane->begin > 0 && lane->begin + lane->count == lane->capacity) {
		memmove(lane->pieces, lane->pieces + lane->begin, lane->count * sizeof piece);
		lane->begin = 0;
	}
	lane->pieces = grow(lane->pieces, &lane->capacity, lane->begin + lane->count + 1, sizeof piece);
	lane->pieces[lane->begin + lane->count++] = piece;
}

static void
take(struct follow *f, struct tail *tail, const struct message *message)
{
	tail->scan.in = f->input->in;
	if (is_kind(message, "rank") && body_get(message, "pid") != NULL &&
	    body_int(f->input->in, message, "pid", 0, INT32_MAX, &tail->pid) < 0)
		die_input(f->input->in);
	if (is_kind(message, "calls")) {
		tail->scan.messages++;
		add_piece(f, tail, message);
	} else if (scan_message(&tail->scan, message) < 0)
		die_input(f->input->in);
}

/* The messages that the trace has got since. */
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
		read_at(f, segment, tail->offset, &message);
		take(f, tail, &message);
		/* The others that a compressed message holds. */
		while (reader_offset(f->input->in) == tail->offset) {
			if (reader_next(f->input->in, &message) <= 0)
				die_input(f->input->in);
			take(f, tail, &message);
		}
		tail->offset = reader_offset(f->input->in);
		if (is_kind(&message, "end") && body_get(&message, "more") != NULL && !open_segment(tail))
			tail->offset -= message.size;	/* once more, when the next one is there */
	}
}

/* The last block of a lane, which may have more rows by now, and says what call the thread is in. */
static void
look_at_block(struct follow *f, const struct tail *tail, struct lane *lane)
{
	struct piece *piece = lane->count > 0 ? &lane->pieces[lane->begin + lane->count - 1] : NULL;
	const int fd = piece != NULL ? tail->segments[piece->segment].fd : -1;
	unsigned char count[4];

	lane->open.call = 0;
	if (piece == NULL || piece->open_at == 0)
		return;
	if (pread(fd, count, sizeof count, (off_t)(piece->place + piece->count_at)) == sizeof count &&
	    big_endian(count, sizeof count) > piece->rows) {
		piece->rows = (uint32_t)big_endian(count, sizeof count);
		f->moved_ns = now_ns();
	}
	if (pread(fd, &lane->open, sizeof lane->open, (off_t)(piece->place + piece->open_at)) != sizeof lane->open)
		lane->open.call = 0;
}

static bool
is_alive(const struct follow *f, const struct tail *tail)
{
	char path[64], stat[512] = "", *behind;
	ssize_t got;
	int fd;

	if (strcmp(tail->scan.rank->host != NULL ? tail->scan.rank->host : "", f->host) != 0)
		return now_ns() - f->moved_ns < SILENCE_S * SECOND_NS;
	if (tail->pid <= 0 || (kill((pid_t)tail->pid, 0) != 0 && errno == ESRCH))
		return false;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)tail->pid);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		return true;
	got = read(fd, stat, sizeof stat - 1);
	close(fd);
	behind = got > 0 ? strrchr(stat, ')') : NULL;
	return behind == NULL || behind[1] != ' ' || (behind[2] != 'Z' && behind[2] != 'X');
}

/* A process that is gone has written all that it will. */
static void
look_at_processes(struct follow *f)
{
	f->over = f->tail_count > 0;
	for (size_t i = 0; i < f->tail_count; i++) {
		struct tail *tail = &f->tails[i];

		tail->gone |= tail->scan.rank != NULL && (tail->scan.rank->ended || !is_alive(f, tail));
		f->over &= tail->gone;
	}
}

static void
look(struct follow *f)
{
	if (f->by_rank == NULL)
		look_for_traces(f);
	look_at_processes(f);
	for (size_t i = 0; i < f->tail_count; i++) {
		struct tail *tail = &f->tails[i];
		const uint64_t before = tail->offset;

		for (size_t l = 0; l < tail->lane_count; l++)
			look_at_block(f, tail, &tail->lanes[l]);
		scan_tail(f, tail);
		if (tail->offset != before)
			f->moved_ns = now_ns();
	}
}

/* ---- rows ---- */

/* MPI_Finalize has its row while it lasts, and one that stands for several calls takes more of them. */
static bool
may_change(const struct tail *tail, const struct calls *rows, bool folds)
{
	return !tail->gone && rows->count > 0 &&
	    (folds || strcmp(call_name(rows->call[rows->count - 1]), "MPI_Finalize") == 0);
}

/* Takes the last call away. False: it is the only one. */
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

/* Rows of the piece from the next one on, MOST of them if they can be read apart. */
static void
read_piece(struct follow *f, struct tail *tail, struct lane *lane, const struct piece *piece, size_t most)
{
	struct reader *in = f->input->in;
	const size_t from = (size_t)(lane->next - piece->first), all = piece->rows - from;
	const bool last = piece == &lane->pieces[lane->begin + lane->count - 1];
	size_t count = all < most ? all : most;
	struct message message;
	bool folds;
	int narrow;

	read_at(f, &tail->segments[piece->segment], piece->place, &message);
	folds = body_get(&message, "folded") != NULL;
	if ((narrow = reader_narrow(in, &message, from, count)) < 0 || calls_read(&f->read, in, &message) < 0)
		die_input(in);
	if (narrow == 0) {
		if (f->read.count < from + all)
			die_message(in, &message, "calls: the block has lost rows");
		calls_drop(&f->read, from);
		f->read.count = count = all;
	}
	if (count < all && !drop_last_call(&f->read))	/* its parts may follow */
		read_piece(f, tail, lane, piece, 2 * most);
	else if (count == all && last && may_change(tail, &f->read, folds) && !drop_last_call(&f->read))
		f->read.count = 0;
}

/* More rows of the thread, behind those that are there. False: there are none. */
static bool
read_rows(struct follow *f, struct tail *tail, struct lane *lane)
{
	const size_t most = ROWS / f->input->location_count;

	for (; lane->count > 0; lane->begin++, lane->count--) {
		const struct piece *piece = &lane->pieces[lane->begin];

		if (lane->next < piece->first + piece->rows) {
			read_piece(f, tail, lane, piece, most > LEAST_ROWS ? most : LEAST_ROWS);
			if (lane->from > 0)
				calls_drop(&lane->rows, lane->from);
			lane->from = 0;
			if (lane->rows.count == 0)
				lane->rows.first = lane->next;
			if (calls_append(&lane->rows, &f->read) < 0)
				die("out of memory");
			lane->next += f->read.count;
			return f->read.count > 0;
		}
		if (lane->count == 1)
			break;
	}
	return false;
}

/* Segments that are read to their end. */
static void
close_segments(struct tail *tail)
{
	size_t needed = tail->segment_count > 0 ? tail->segment_count - 1 : 0;

	for (size_t l = 0; l < tail->lane_count; l++)
		if (tail->lanes[l].count > 0 && tail->lanes[l].pieces[tail->lanes[l].begin].segment < needed)
			needed = tail->lanes[l].pieces[tail->lanes[l].begin].segment;
	while (needed-- > 0 && tail->segments[needed].fd >= 0) {
		close(tail->segments[needed].fd);
		tail->segments[needed].fd = -1;
	}
}

/* ---- what goes out ---- */

/* From the trace's clock to the rank's own; it has one offset from the beginning to the end. */
static int64_t
own_ns(const struct follow *f, int32_t rank, int64_t at_ns)
{
	return at_ns + f->input->origin_ns - corrected_ns(&f->input->ranks[rank].correction, 0);
}

static void
add(int64_t *times_ns, size_t from, size_t count, int64_t ns)
{
	for (size_t i = from; i < from + count; i++)
		times_ns[i] += ns;
}

static void
write_slice(struct follow *f, uint32_t location, struct lane *lane, size_t count)
{
	const int32_t rank = f->input->location_rank[location];
	const int64_t to_trace_ns = -own_ns(f, rank, 0);
	struct calls slice = lane->rows;

	add(slice.enter_ns, lane->from, count, to_trace_ns);
	add(slice.leave_ns, lane->from, count, to_trace_ns);
	slice.location = location;
	slice.first += lane->from;
	slice.count = count;
	slice.enter_ns += lane->from;
	slice.leave_ns += lane->from;
#define X(field, key, type, is_signed, required, absent) slice.field += lane->from;
	CALL_COLUMNS(X)
#undef X
	for (size_t i = 0; i < count; i++)	/* a row of a thread that is not followed */
		if (slice.request_at[i] > f->input->ranks[rank].threads)
			slice.request[i] = slice.request_at[i] = 0;
	output_rows(&f->out, f->input, &slice);
	if (slice.leave_ns[count - 1] > f->last_ns)
		f->last_ns = slice.leave_ns[count - 1];
	lane->from += count;
}

/* What the thread is in at UNTIL_NS, on its own clock. */
static void
find_open_call(const struct follow *f, struct lane *lane, int64_t until_ns)
{
	lane->open_ns = until_ns;
	lane->open_call = 0;
	if (lane->from < lane->rows.count) {
		if (lane->rows.enter_ns[lane->from] < until_ns) {
			lane->open_ns = lane->rows.enter_ns[lane->from];
			lane->open_call = lane->rows.call[lane->from];
		}
	} else if (lane->open.call != 0 && lane->open.call <= UINT16_MAX && lane->open.enter_ns < until_ns) {
		lane->open_ns = lane->open.enter_ns;
		lane->open_call = reader_calls(f->input->in)[lane->open.call];
	}
}

/* The rows of a location that had returned by then. */
static void
step_location(struct follow *f, struct tail *tail, uint32_t location, struct lane *lane)
{
	const int32_t rank = f->input->location_rank[location];
	const int64_t until_ns = own_ns(f, rank, f->step_ns);

	for (;;) {
		size_t end = lane->from, count, can;

		while (end < lane->rows.count && lane->rows.leave_ns[end] < until_ns)
			end++;
		count = end - lane->from;
		/* Where a block ends must not depend on how much was there at this look. */
		if (end == lane->rows.count && count < BLOCK_ROWS && read_rows(f, tail, lane))
			continue;
		if (count == 0)
			break;
		for (count = count < BLOCK_ROWS ? count : BLOCK_ROWS; lane->from + count < end &&
		    lane->rows.call[lane->from + count] == 0; count++)
			;
		can = later_define(f->later, rank, &lane->rows, lane->from, count);
		if (can > 0)
			write_slice(f, location, lane, can);
		if (can < count)
			break;
	}
	find_open_call(f, lane, until_ns);
}

static struct lane *
lane_of(const struct follow *f, uint32_t location, struct tail **tail)
{
	const int32_t rank = f->input->location_rank[location];
	const uint32_t thread = location < (uint32_t)f->input->rank_count ? 0 :
	    location - f->input->ranks[rank].location_base + 1;

	*tail = f->by_rank[rank];
	return *tail == NULL ? NULL : &(*tail)->lanes[thread];
}

/* How far all have come. */
static void
write_reached(struct follow *f)
{
	static const struct column_type time_type = { 8, true, true, 0 }, call_type = { 2, false, true, 0 };
	const uint32_t count = f->input->location_count;
	int64_t *since_ns = zalloc(count, sizeof *since_ns);
	uint16_t *calls = zalloc(count, sizeof *calls);
	struct tail *tail;

	for (uint32_t l = 0; l < count; l++) {
		const struct lane *lane = lane_of(f, l, &tail);

		since_ns[l] = lane == NULL ? f->step_ns : lane->open_ns - own_ns(f, f->input->location_rank[l], 0);
		calls[l] = lane == NULL ? 0 : lane->open_call;
		later_call(f->later, calls[l]);
	}
	message_begin(&f->out, "reached", 4);
	put_int(&f->out, "at_ns", f->step_ns);
	put_uint(&f->out, "count", count);
	put_column(&f->out, "since", time_type, since_ns, count);
	put_column(&f->out, "call", call_type, calls, count);
	if (message_end(&f->out) < 0)
		die_output();
	free(since_ns);
	free(calls);
}

static bool
has_more(const struct lane *lane)
{
	const struct piece *last = &lane->pieces[lane->begin + lane->count - 1];

	return lane->count > 0 && lane->next < last->first + last->rows;
}

/* False: no rows are left. */
static bool
step(struct follow *f, int64_t until_ns)
{
	bool left = false;

	f->step_ns = until_ns;
	for (uint32_t location = 0; location < f->input->location_count; location++) {
		struct tail *tail;
		struct lane *lane = lane_of(f, location, &tail);

		if (lane != NULL) {
			step_location(f, tail, location, lane);
			close_segments(tail);
			left |= lane->from < lane->rows.count || has_more(lane);
		}
	}
	write_reached(f);
	return left;
}

/* ---- the run ---- */

/* Each rank has told what there is to know of it before its rows go out. */
static bool
is_ready(const struct follow *f)
{
	const struct input *input = f->input;

	if (input->rank_count == 0 || f->tail_count < (size_t)input->rank_count)
		return false;
	for (size_t i = 0; i < f->tail_count; i++) {
		const struct rank *rank = f->tails[i].scan.rank;

		if (rank == NULL || f->tails[i].lane_count == 0 || f->tails[i].lanes[0].count == 0 ||
		    f->tails[i].lanes[0].pieces[0].rows == 0 ||
		    (rank != input->ranks && rank->clock_peer < 0 && rank->sample_count == 0))
			return false;
	}
	return true;
}

static void
wait_for_ranks(struct follow *f)
{
	const int64_t begun_ns = now_ns();
	const struct timespec nap = { 0, NAP_NS };

	for (look(f); !is_ready(f) && !f->over; look(f)) {
		if (f->tail_count == 0 && now_ns() - begun_ns > FIRST_S * SECOND_NS)
			die("%s: holds no raw trace (rank.0, rank.1, ...)", f->folder);
		nanosleep(&nap, NULL);
	}
	if (f->input->rank_count == 0)
		die("%s: no raw trace tells its rank", f->folder);
	look(f);		/* all that came before the last rank's first row */
}

static void
begin(struct follow *f, enum sync sync)
{
	struct input *input = f->input;
	struct message message;

	f->by_rank = zalloc((size_t)input->rank_count, sizeof *f->by_rank);
	for (size_t i = 0; i < f->tail_count; i++) {
		struct tail *tail = &f->tails[i];
		struct rank *rank = tail->scan.rank;

		if (rank == NULL)
			continue;
		f->by_rank[rank - input->ranks] = tail;
		lane_at(tail, 0);
		rank->threads = (uint32_t)tail->lane_count;
		rank->thread = zalloc(tail->lane_count, sizeof *rank->thread);
		for (size_t l = 0; l < tail->lane_count; l++) {
			const struct piece *first = tail->lanes[l].count > 0 ? tail->lanes[l].pieces : NULL;
			int64_t begin_ns;

			if (first == NULL || first->rows == 0)
				continue;
			read_at(f, &tail->segments[first->segment], first->place, &message);
			if (calls_begin(input->in, &message, &begin_ns) < 0)
				die_input(input->in);
			if (rank->rows == 0 || begin_ns < rank->begin_ns)
				rank->begin_ns = rank->end_ns = begin_ns;
			rank->rows = 1;
		}
	}
	correct_clocks(input, sync);
	number_locations(input);
}

/* Now, on the trace's clock: by a rank of this host, or else by the latest call of any. */
static int64_t
trace_now_ns(const struct follow *f)
{
	int64_t latest_ns = INT64_MIN;

	for (int32_t r = 0; r < f->input->rank_count; r++) {
		const struct tail *tail = f->by_rank[r];

		if (tail == NULL)
			continue;
		if (f->input->ranks[r].host != NULL && strcmp(f->input->ranks[r].host, f->host) == 0)
			return now_ns() - own_ns(f, r, 0);
		for (size_t l = 0; l < tail->lane_count; l++)
			if (tail->lanes[l].open.call != 0 && tail->lanes[l].open.enter_ns - own_ns(f, r, 0) > latest_ns)
				latest_ns = tail->lanes[l].open.enter_ns - own_ns(f, r, 0);
	}
	return latest_ns;
}

/* A thread whose first call comes later has no location. */
static void
tell_of_threads(struct follow *f)
{
	for (size_t i = 0; i < f->tail_count && !f->told; i++) {
		const struct rank *rank = f->tails[i].scan.rank;

		if (rank == NULL || f->tails[i].lane_count <= rank->threads)
			continue;
		note("%s: rank %d has called MPI from one more thread since: its calls are left out", rank->file,
		    (int)(rank - f->input->ranks));
		f->told = true;
	}
}

/* What is known of the run now that it has ended. */
static void
write_ended(struct follow *f)
{
	static const struct column_type type = { 1, false, true, 0 };
	const size_t ranks = (size_t)f->input->rank_count;
	uint8_t *ended = zalloc(ranks, 1);

	for (size_t r = 0; r < ranks; r++)
		ended[r] = f->input->ranks[r].ended;
	write_loads(&f->out, f->input);
	message_begin(&f->out, "ended", 3);
	put_int(&f->out, "run_ns", f->last_ns);
	put_uint(&f->out, "count", ranks);
	put_column(&f->out, "ended", type, ended, ranks);
	if (message_end(&f->out) < 0)
		die_output();
	free(ended);
}

/* Step by step, up to the end of the run. */
static void
go_along(struct follow *f)
{
	const struct timespec nap = { 0, NAP_NS };
	const int64_t step_ns = STEP_NS * (1 + f->input->location_count / STEP_LOCATIONS);
	bool over = false, left = true;

	while (!over) {
		const int64_t now = trace_now_ns(f);

		look(f);
		over = f->over;
		later_look(f->later, over);
		tell_of_threads(f);
		while (over ? left : f->step_ns + step_ns <= now - LAG_NS)
			left = step(f, f->step_ns + step_ns);
		if (writer_flush(&f->out) < 0)
			die_output();
		if (!over)
			nanosleep(&nap, NULL);
	}
}

void
follow(struct input *input, const char *folder, int fd, bool names, enum sync sync, int argc, char **argv)
{
	struct follow f = { .input = input, .folder = folder };
	struct rlimit files;

	gethostname(f.host, sizeof f.host - 1);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {	/* each rank's stays open */
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (reader_open(&input->in, "/dev/null", READ_GROWING) < 0)
		die_input(input->in);
	f.moved_ns = now_ns();
	wait_for_ranks(&f);
	begin(&f, sync == SYNC_NONE ? SYNC_NONE : SYNC_OFFSET);
	if (writer_open(&f.out, fd, "trace", input->in, argc, argv) < 0)
		die_output();
	write_ranks(&f.out, input, 0, true);
	f.later = later_begin(input, &f.out, names);
	go_along(&f);
	later_end(f.later);
	write_ended(&f);
	if (writer_end_of(&f.out, false) < 0)
		die_output();
}
