/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * growing FOLDER RANKS CALLS SECONDS - raw traces that grow like those of a run with RANKS ranks
 * and, together, CALLS calls a second: 15 messages from each even rank to the next one, then an
 * Allreduce for which one rank is late.
 *
 * writes like the recorder, by stores into mappings: blocks whose count grows
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../../base/stream/calls.h"
#include "../../base/stream/open_call.h"
#include "../../base/tool/options.h"
#include "../../base/tool/tool.h"
#include "../../record/preload/pack.h"

enum { BLOCK_ROWS = 16464, ROW_BYTES = 36, HEAD_BYTES = 1 << 16, ROUND = 16 };
static const char usage[] = "usage: growing FOLDER RANKS CALLS SECONDS\n";

struct trace {
	char path[4096];
	unsigned char *map, *tail;
	size_t size;
	uint64_t messages, rows;
	/* the open block */
	unsigned char *count_at, *enter, *duration, *call, *comm, *peer, *tag, *sent, *received;
	uint32_t count;
};

struct growing {
	struct trace *traces;
	int64_t ranks, step_ns, begin_ns;
	uint16_t init, send, receive, allreduce, finalize;
};

static int64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void
put_messages(struct trace *t, struct writer *from)
{
	memcpy(t->tail + 1, from->buffer.data + 1, from->buffer.size - 1);
	__atomic_store_n(t->tail, (unsigned char)from->buffer.data[0], __ATOMIC_RELEASE);
	t->tail += from->buffer.size;
	t->messages += from->messages;
	writer_close(from);
}

static unsigned char *
begin_column(unsigned char **at, const char *key, uint32_t bytes)
{
	unsigned char *column;

	put_text(at, key);
	put_byte(at, 0xc6);
	put_big(at, bytes, 4);
	column = *at;
	*at += bytes;
	return column;
}

static void
open_block(struct trace *t)
{
	unsigned char *at = t->tail + 1;

	put_text(&at, "calls");
	put_byte(&at, 0xde);
	put_big(&at, 16, 2);
	put_text(&at, "location");
	put_byte(&at, 0xce);
	put_big(&at, 0, 4);
	put_text(&at, "first");
	put_byte(&at, 0xcf);
	put_big(&at, t->rows, 8);
	put_text(&at, "count");
	put_byte(&at, 0xce);
	t->count_at = at;
	put_big(&at, 0, 4);
	put_text(&at, "capacity");
	put_byte(&at, 0xce);
	put_big(&at, BLOCK_ROWS, 4);
	t->enter = begin_column(&at, "enter", 8 * BLOCK_ROWS);
	t->duration = begin_column(&at, "duration", 4 * BLOCK_ROWS);
	t->call = begin_column(&at, "call", 2 * BLOCK_ROWS);
	begin_column(&at, "site", 2 * BLOCK_ROWS);
	t->comm = begin_column(&at, "comm", 2 * BLOCK_ROWS);
	t->peer = begin_column(&at, "peer", 4 * BLOCK_ROWS);
	t->tag = begin_column(&at, "tag", 4 * BLOCK_ROWS);
	t->sent = begin_column(&at, "bytes_sent", 4 * BLOCK_ROWS);
	t->received = begin_column(&at, "bytes_received", 4 * BLOCK_ROWS);
	begin_column(&at, "request", 2 * BLOCK_ROWS);
	put_text(&at, "open");
	put_byte(&at, 0xc5);
	put_big(&at, sizeof(struct open_call), 2);
	at += sizeof(struct open_call);
	/* 15 pairs and a hash, which is not computed. */
	put_text(&at, "xxh3");
	put_byte(&at, 0xcf);
	at += 8;
	t->count = 0;
	__atomic_store_n(t->tail, 0x92, __ATOMIC_RELEASE);
	t->tail = at;
	t->messages++;
}

static void
add_row(struct trace *t, uint16_t call, int64_t enter_ns, int64_t leave_ns, int32_t peer,
    bool sends, bool receives)
{
	const uint32_t duration = (uint32_t)(leave_ns - enter_ns), bytes = 8;
	const uint16_t world = 1;
	const int32_t tag = peer >= 0 ? 1 : NO_TAG;
	uint32_t i, count;

	if (t->count_at == NULL || t->count == BLOCK_ROWS)
		open_block(t);
	i = t->count++;
	memcpy(t->enter + 8 * i, &enter_ns, 8);
	memcpy(t->duration + 4 * i, &duration, 4);
	memcpy(t->call + 2 * i, &call, 2);
	memcpy(t->comm + 2 * i, &world, 2);
	memcpy(t->peer + 4 * i, &peer, 4);
	memcpy(t->tag + 4 * i, &tag, 4);
	memcpy(t->sent + 4 * i, sends ? &bytes : &(uint32_t){ 0 }, 4);
	memcpy(t->received + 4 * i, receives ? &bytes : &(uint32_t){ 0 }, 4);
	count = __builtin_bswap32(t->count);
	__atomic_signal_fence(__ATOMIC_RELEASE);
	memcpy(t->count_at, &count, 4);
	t->rows++;
}

static void
begin_trace(struct growing *g, struct trace *t, const char *folder, int64_t rank, int64_t rows)
{
	bool used[1 << 16] = { false };
	struct writer head;
	char host[256] = "";
	int fd;

	gethostname(host, sizeof host - 1);
	t->size = (size_t)(rows + 2 * BLOCK_ROWS) * (ROW_BYTES + 4) + HEAD_BYTES;
	snprintf(t->path, sizeof t->path, "%s/rank.%lld", folder, (long long)rank);
	if ((fd = open(t->path, O_RDWR | O_CREAT | O_TRUNC, 0666)) < 0 ||
	    ftruncate(fd, (off_t)t->size) != 0 ||
	    (t->map = mmap(NULL, t->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED)
		die("%s: %s", t->path, strerror(errno));
	close(fd);
	t->tail = t->map;
	writer_open(&head, -1, "raw", NULL, 1, (char *[]){ (char *)(uintptr_t)"growing", NULL });
	message_begin(&head, "rank", 6);
	put_int(&head, "rank", rank);
	put_int(&head, "ranks", g->ranks);
	put_int(&head, "run", 1);
	put_string(&head, "host", host);
	put_int(&head, "pid", getpid());
	put_string(&head, "program", "growing");
	end_message(&head);
	if (rank > 0) {
		message_begin(&head, "clock_shared", 1);
		put_int(&head, "peer", 0);
		end_message(&head);
	}
	used[g->init] = used[g->send] = used[g->receive] = used[g->allreduce] =
	    used[g->finalize] = true;
	call_names_write(&head, used);
	put_messages(t, &head);
}

/* Call K of the rank; returns false if it has not returned by NOW. */
static bool
add_call(const struct growing *g, int64_t rank, int64_t k, int64_t now)
{
	struct trace *t = &g->traces[rank];
	const int64_t at_ns = g->begin_ns + k * g->step_ns, step_ns = g->step_ns;
	const bool late = k / ROUND % g->ranks == rank;

	if (at_ns + 3 * step_ns / 4 > now)
		return false;
	if (k % ROUND == ROUND - 1)
		add_row(t, g->allreduce, at_ns + (late ? step_ns / 2 : 0), at_ns + 3 * step_ns / 4,
		    NO_PEER, true, true);
	else if (rank % 2 == 0)
		add_row(t, g->send, at_ns + step_ns / 4, at_ns + step_ns / 3,
		    (int32_t)rank + 1, true, false);
	else
		add_row(t, g->receive, at_ns, at_ns + step_ns / 2, (int32_t)rank - 1, false, true);
	return true;
}

static void
end_trace(const struct growing *g, struct trace *t, int64_t at_ns)
{
	struct writer end;

	add_row(t, g->finalize, at_ns, at_ns + 1000, NO_PEER, false, false);
	writer_start(&end, -1);
	message_begin(&end, "end", 2);
	put_uint(&end, "messages", t->messages);
	put_uint(&end, "rows", t->rows);
	end_message(&end);
	put_messages(t, &end);
	if (truncate(t->path, t->tail - t->map) != 0)
		die("%s: %s", t->path, strerror(errno));
}

int
main(int argc, char **argv)
{
	static struct growing g;
	const struct timespec nap = { 0, 2000000 };
	int64_t calls, all, *next;
	bool more = true;

	tool = "growing";
	if (argc != 5)
		bad_usage(usage);
	g.ranks = parse_integer("RANKS", argv[2], 2, 1 << 16) / 2 * 2;
	calls = parse_integer("CALLS", argv[3], 1, 1 << 30);
	g.step_ns = 1000000000 * g.ranks / calls;
	all = parse_integer("SECONDS", argv[4], 1, 1 << 20) * calls / g.ranks;
	g.traces = zalloc((size_t)g.ranks, sizeof *g.traces);
	next = zalloc((size_t)g.ranks, sizeof *next);
	g.init = (uint16_t)call_number("MPI_Init");
	g.send = (uint16_t)call_number("MPI_Send");
	g.receive = (uint16_t)call_number("MPI_Recv");
	g.allreduce = (uint16_t)call_number("MPI_Allreduce");
	g.finalize = (uint16_t)call_number("MPI_Finalize");
	for (int64_t r = 0; r < g.ranks; r++)
		begin_trace(&g, &g.traces[r], argv[1], r, all);
	g.begin_ns = now_ns() + 100000000;
	for (int64_t r = 0; r < g.ranks; r++)
		add_row(&g.traces[r], g.init, g.begin_ns - 90000000, g.begin_ns - 80000000, NO_PEER,
		    false, false);
	while (more) {
		const int64_t now = now_ns();

		more = false;
		for (int64_t r = 0; r < g.ranks; r++) {
			while (next[r] < all && add_call(&g, r, next[r], now))
				next[r]++;
			more |= next[r] < all;
		}
		nanosleep(&nap, NULL);
	}
	for (int64_t r = 0; r < g.ranks; r++)
		end_trace(&g, &g.traces[r], g.begin_ns + all * g.step_ns);
	return DONE;
}
