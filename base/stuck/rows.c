/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of raw traces, read again for a verdict. */
#include <stdlib.h>
#include <string.h>

#include "../stream/stream.h"
#include "../tool/tool.h"
#include "look.h"

enum { MOST_ROWS = 1 << 21 };		/* of a thread, to be read for a proof */

bool
block_read(const struct block *block, struct calls *calls)
{
	static struct reader *in;	/* making one takes longer than reading a block */
	struct message message;
	struct calls more = { 0 };
	bool done = false;

	/* The offset of a compressed block is that of its message. */
	if ((in == NULL ? reader_open(&in, block->file, READ_SKIMMING) : reader_go_on(in,
	    block->file)) == 0 && reader_next(in, &message) > 0) {
		reader_jump(in, block->offset);
		while (!done && reader_next(in, &message) > 0)
			done = is_kind(&message, "calls") && reader_verify(in, &message) == 0 &&
			    calls_read_numbered(&more, in, &message) == 0 &&
			    more.first == block->first;
		done = done && calls_append(calls, &more) == 0;
	}
	calls_free(&more);
	if (in != NULL)
		reader_leave(in);
	return done;
}

/* Before the tests and probes without success with which the block ends. */
static size_t
before_polls(const struct look *look, const struct calls *calls)
{
	size_t i = calls->count;

	while (i > 0 && call_polls(look->names[calls->call[i - 1]]) &&
	    calls->request[i - 1] == 0 && calls->request_at[i - 1] == 0)
		i--;
	return i;
}

int64_t
rows_last(const struct look *look, struct thread *thread, int64_t back_ns)
{
	int64_t leave_ns = INT64_MIN;
	bool polls = true;	/* all rows so far failed, or there are none */

	thread->moved_ns = INT64_MIN;
	thread->polls = 0;
	for (size_t b = thread->block_count; b-- > 0 && polls; ) {
		struct calls calls = { 0 };
		unsigned last;
		size_t i;

		if (thread->blocks[b].count == 0)
			continue;
		if (!block_read(&thread->blocks[b], &calls) || calls.count == 0) {
			calls_free(&calls);
			break;
		}
		i = before_polls(look, &calls);
		last = look->names[calls.call[calls.count - 1]];
		if (leave_ns == INT64_MIN) {
			leave_ns = calls.leave_ns[calls.count - 1];
			if (i < calls.count)
				thread->polls = last;
			if (call_aborts(last)) {
				thread->call = last;
				thread->open.peer = NO_PEER;
				thread->open.tag = NO_TAG;
				thread->open.comm = thread->open.collective = 0;
			}
		}
		thread->moved_ns = i > 0 ? calls.leave_ns[i - 1] : calls.enter_ns[0];
		polls = i == 0 && thread->moved_ns > leave_ns - back_ns;
		calls_free(&calls);
	}
	return leave_ns;
}

bool
rows_moved(const struct look *look, struct thread *thread, uint64_t from)
{
	bool moved = false, done = true;

	for (size_t b = thread->block_count; b-- > 0 && !moved && done; ) {
		const struct block *block = &thread->blocks[b];
		struct calls calls = { 0 };
		size_t last;

		if (block->first + block->count <= from)
			break;
		done = block->count == 0 || block_read(block, &calls);
		last = before_polls(look, &calls);
		moved = last > 0 && block->first + last > from;
		calls_free(&calls);
	}
	return moved || !done;
}

bool
rows_load(struct thread *thread)
{
	if (thread->calls.count > 0 && thread->calls.first == 0 &&
	    thread->calls.count >= thread->rows)
		return true;
	if (thread->rows > MOST_ROWS)
		return false;
	calls_free(&thread->calls);
	thread->calls = (struct calls){ 0 };
	for (size_t b = 0; b < thread->block_count; b++)
		if (thread->blocks[b].count > 0 && !block_read(&thread->blocks[b], &thread->calls))
			return false;
	return true;
}

static enum call_class
class_of(const struct look *look, const struct calls *calls, size_t i)
{
	return call_class(look->names[calls->call[i]]);
}

/* A row that starts a persistent request counts as its init call, if that row is still there. */
static unsigned
started_call(const struct look *look, const struct calls *calls, size_t i)
{
	const bool there = class_of(look, calls, i) == CLASS_START && calls->request_at[i] == 0 &&
	    calls->request[i] <= i;

	return look->names[calls->call[there ? i - calls->request[i] : i]];
}

static enum call_class
started_class(const struct look *look, const struct calls *calls, size_t i)
{
	const enum call_class class = call_class(started_call(look, calls, i));

	if (class_of(look, calls, i) != CLASS_START)
		return class;
	return class == CLASS_SEND_INIT ? CLASS_SEND_START : class == CLASS_RECV_INIT ?
	    CLASS_RECV_START : CLASS_START;
}

/* Reads the block with the row, unless it is there. */
static bool
load_row(struct thread *thread, uint64_t seq)
{
	struct calls *calls = &thread->calls;

	for (const struct block *b = thread->blocks; b < thread->blocks + thread->block_count &&
	    seq - calls->first >= calls->count; b++) {
		if (seq - b->first >= b->count)
			continue;
		calls_free(calls);
		*calls = (struct calls){ 0 };
		if (!block_read(b, calls))
			return false;
		calls->first = b->first;
	}
	return seq - calls->first < calls->count;
}

bool
row_read(const struct look *look, struct thread *thread, uint64_t seq, struct row *row)
{
	struct calls *calls = &thread->calls;
	size_t i;

	if (!load_row(thread, seq))
		return false;
	i = (size_t)(seq - calls->first);
	/* A persistent request was made in an earlier block, perhaps. */
	if (class_of(look, calls, i) == CLASS_START && calls->request[i] > i && rows_load(thread))
		i = (size_t)(seq - calls->first);
	*row = (struct row){ started_class(look, calls, i), started_call(look, calls, i),
		calls->comm[i], calls->peer[i], calls->tag[i], 0, false, 0 };
	return true;
}

void
rows_forget(struct look *look)
{
	for (struct thread *thread = NULL; (thread = next_thread(look, thread)) != NULL; ) {
		calls_free(&thread->calls);
		thread->calls = (struct calls){ 0 };
	}
}

bool
starts_persistent(unsigned call)
{
	return strncmp(call_name(call), "MPI_Start(", 10) == 0;
}

uint32_t
rows_collectives(const struct look *look, struct thread *thread, uint32_t comm, uint64_t seq)
{
	const struct calls *calls = &thread->calls;
	uint32_t count = 0;

	if (!rows_load(thread))
		return 0;
	for (size_t i = 0; i < calls->count && i <= seq; i++) {
		const unsigned call = look->names[calls->call[i]];

		/* They count, but their rows do not state the communicator. */
		if (call_failed(call) || (call_meets(call) && calls->comm[i] != comm))
			return 0;
		count += calls->comm[i] == comm && is_entered_on(call_class(call)) &&
		    !starts_persistent(call);
	}
	return count;
}

static bool
is_on(const struct calls *calls, size_t i, struct channel channel, bool wild)
{
	const int32_t peer = calls->peer[i], tag = calls->tag[i];

	return calls->comm[i] == channel.comm &&
	    (peer == channel.peer || (wild && peer == ANY_PEER)) &&
	    (channel.tag == ANY_TAG || tag == channel.tag || (wild && tag == ANY_TAG));
}

bool
rows_count(const struct look *look, struct rank *rank, struct channel channel,
    struct traffic *traffic)
{
	*traffic = (struct traffic){ 0 };
	for (size_t t = 0; t < rank->thread_count; t++) {
		const struct calls *calls = &rank->threads[t].calls;
		enum call_class owner = CLASS_LOCAL;

		if (!rows_load(&rank->threads[t]))
			return false;
		for (size_t i = 0; i < calls->count; i++) {
			const bool part = calls->call[i] == 0;
			const enum call_class class = part ? owner : started_class(look, calls, i);

			owner = part ? owner : class_of(look, calls, i);
			if (class == CLASS_RECV_START)
				traffic->posted += is_on(calls, i, channel, true);
			else if (class == CLASS_SEND || class == CLASS_SEND_START ||
			    (class == CLASS_SENDRECV && !part))
				traffic->sent += is_on(calls, i, channel, false);
			else if (class == CLASS_RECV || class == CLASS_COMPLETE ||
			    class == CLASS_SENDRECV)
				traffic->received += is_on(calls, i, channel, false);
		}
	}
	return true;
}
