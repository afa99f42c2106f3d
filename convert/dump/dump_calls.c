/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls as lines: a call and its parts become one JSON object or one line of the table. */
#include "dump.h"

#include "../../base/mpi/call_class.h"
#include "../../base/tool/tool.h"

enum { SENT = 1, RECEIVED = 2 };

/* Which of the byte counts say something even where they are 0. */
static unsigned
bytes_of(enum call_class class)
{
	switch (blocking_class(class)) {
	case CLASS_SEND:
	case CLASS_SENDRECV:
	case CLASS_SEND_START:
	case CLASS_SEND_INIT:
		return SENT;
	case CLASS_RECV:
	case CLASS_RECV_START:
	case CLASS_RECV_INIT:
		return RECEIVED;
	case CLASS_ALL_TO_ALL:
	case CLASS_ONE_TO_ALL:
	case CLASS_ALL_TO_ONE:
	case CLASS_SCAN:
	case CLASS_NEIGHBOUR:
	case CLASS_RMA:
	case CLASS_IO:
		return SENT | RECEIVED;
	default:
		return 0;
	}
}

/* A number, or the name of a special value between QUOTE. */
static void
put_special(struct text *out, const char *quote, int32_t value, const char *name)
{
	if (name == NULL) {
		text_int(out, value);
		return;
	}
	text_put(out, quote);
	text_put(out, name);
	text_put(out, quote);
}

static void
put_peer(struct text *out, const char *quote, int32_t peer)
{
	put_special(out, quote, peer, peer == ANY_PEER ? "MPI_ANY_SOURCE" :
	    peer == NULL_PEER ? "MPI_PROC_NULL" : peer == ROOT_PEER ? "MPI_ROOT" : NULL);
}

static void
put_tag(struct text *out, const char *quote, int32_t tag)
{
	put_special(out, quote, tag, tag == ANY_TAG ? "MPI_ANY_TAG" : NULL);
}

/* Where to or from, and how much: what applies to the row, BYTES even where they are 0. */
static void
put_transfer(struct dump *dump, size_t row, unsigned bytes)
{
	const struct calls *calls = &dump->calls;
	struct text *out = &dump->out;

	if (calls->comm[row] != 0)
		text_pair(out, "comm", calls->comm[row]);
	if (calls->peer[row] != NO_PEER) {
		text_key(out, "peer");
		put_peer(out, "\"", calls->peer[row]);
	}
	if (calls->tag[row] != NO_TAG) {
		text_key(out, "tag");
		put_tag(out, "\"", calls->tag[row]);
	}
	if ((bytes & SENT) || calls->bytes_sent[row] > 0)
		text_pair(out, "bytes_sent", calls->bytes_sent[row]);
	if ((bytes & RECEIVED) || calls->bytes_received[row] > 0)
		text_pair(out, "bytes_received", calls->bytes_received[row]);
}

static bool
refers(const struct calls *calls, size_t row)
{
	return calls->request[row] > 0 || calls->request_at[row] > 0;
}

/* The row that this row refers to; its location where that is another. */
static void
put_request(struct dump *dump, size_t row)
{
	const struct calls *calls = &dump->calls;

	text_uint(&dump->out, calls->request_at[row] > 0 ? calls->request[row] :
	    calls->first + row - calls->request[row]);
	if (calls->request_at[row] > 0)
		text_pair(&dump->out, "location", calls->request_at[row] - 1);
}

/* Only the completion of a receive has a peer. */
static unsigned
completed_bytes(const struct calls *calls, size_t row)
{
	return calls->peer[row] != NO_PEER ? RECEIVED : 0;
}

/* An array of the operations of a call: rows FROM up to TO. */
static void
put_operations(struct dump *dump, const char *key, size_t from, size_t to, bool completes)
{
	const struct calls *calls = &dump->calls;
	struct text *out = &dump->out;
	bool first = true;

	text_key(out, key);
	text_char(out, '[');
	for (size_t row = from; row < to; row++) {
		if (completes && !refers(calls, row))
			continue;	/* completed nothing */
		text_put(out, first ? "{\"seq\":" : ",{\"seq\":");
		put_request(dump, row);
		put_transfer(dump, row, completes ? completed_bytes(calls, row) : 0);
		text_char(out, '}');
		first = false;
	}
	text_char(out, ']');
}

static void
put_receive_part(struct dump *dump, size_t row)
{
	struct text *out = &dump->out;

	text_key(out, "source");
	put_peer(out, "\"", dump->calls.peer[row]);
	if (dump->calls.tag[row] != NO_TAG) {
		text_key(out, "receive_tag");
		put_tag(out, "\"", dump->calls.tag[row]);
	}
	text_pair(out, "bytes_received", dump->calls.bytes_received[row]);
}

/* What the call in rows FROM up to TO did. */
static void
put_details(struct dump *dump, size_t from, size_t to)
{
	const struct calls *calls = &dump->calls;
	enum call_class class = call_class(calls->call[from]);
	bool single = to - from == 1;

	if (class == CLASS_COMPLETE) {
		if (single)
			put_transfer(dump, from, completed_bytes(calls, from));
		put_operations(dump, "completed", from, to, true);
		return;
	}
	if (class == CLASS_START) {
		if (single) {
			text_key(&dump->out, "request_seq");
			put_request(dump, from);
			put_transfer(dump, from, 0);
		}
		put_operations(dump, "started", from, to, false);
		return;
	}
	if (refers(calls, from)) {
		text_key(&dump->out, "request_seq");
		put_request(dump, from);
	}
	put_transfer(dump, from, bytes_of(class));
	if (class == CLASS_SENDRECV && !single)
		put_receive_part(dump, ++from);
	if (to - from > 1)
		put_operations(dump, "parts", from + 1, to, false);
}

static void
print_line(struct dump *dump, struct thread where, size_t from, size_t to)
{
	const struct calls *calls = &dump->calls;
	const char *name = call_name(calls->call[from]);
	struct text *out = &dump->out;

	text_put(out, "{\"kind\":\"call\"");
	put_rank(out, where);
	text_pair(out, "seq", calls->first + from);
	text_key(out, "call");
	text_string(out, name, strlen(name));
	text_signed_pair(out, "enter_ns", calls->enter_ns[from]);
	text_signed_pair(out, "leave_ns", calls->leave_ns[from]);
	put_details(dump, from, to);
	if (calls->site[from] != 0)
		text_pair(out, "site", calls->site[from]);
	if (calls->folded[from] != 0)
		text_pair(out, "folded", calls->folded[from]);
	text_put(out, "}\n");
}

static void
put_cell(struct text *out, bool applies, uint64_t value)
{
	text_char(out, '\t');
	if (applies)
		text_uint(out, value);
	else
		text_char(out, '-');
}

static void
print_table_line(struct dump *dump, struct thread where, size_t from, size_t to)
{
	const struct calls *calls = &dump->calls;
	enum call_class class = call_class(calls->call[from]);
	unsigned bytes = bytes_of(class) | (class == CLASS_SENDRECV ? RECEIVED : 0);
	uint64_t sent = 0, received = 0;
	struct text *out = &dump->out;

	for (size_t row = from; row < to; row++) {
		sent += calls->bytes_sent[row];
		received += calls->bytes_received[row];
		if (class == CLASS_COMPLETE)
			bytes |= completed_bytes(calls, row);
	}
	if (where.rank < 0)
		text_char(out, '-');
	else
		text_int(out, where.rank);
	put_cell(out, true, calls->first + from);
	text_char(out, '\t');
	/* A stream may name a function anything. */
	for (const char *c = call_name(calls->call[from]); *c != '\0'; c++)
		text_char(out, (unsigned char)*c < ' ' ? '?' : *c);
	text_char(out, '\t');
	text_int(out, calls->enter_ns[from]);
	text_char(out, '\t');
	text_int(out, calls->leave_ns[from]);
	put_cell(out, calls->comm[from] != 0, calls->comm[from]);
	text_char(out, '\t');
	if (calls->peer[from] == NO_PEER)
		text_char(out, '-');
	else
		put_peer(out, "", calls->peer[from]);
	text_char(out, '\t');
	if (calls->tag[from] == NO_TAG)
		text_char(out, '-');
	else
		put_tag(out, "", calls->tag[from]);
	put_cell(out, (bytes & SENT) || sent > 0, sent);
	put_cell(out, (bytes & RECEIVED) || received > 0, received);
	text_char(out, '\n');
}

void
print_calls(struct dump *dump, const struct message *message)
{
	struct calls *calls = &dump->calls;
	struct thread where;

	if (calls_read(calls, &dump->in, message) < 0)
		return;		/* the reader keeps the reason */
	where = find_thread(dump, calls->location);
	if (!is_wanted_rank(dump, where.rank))
		return;
	for (size_t from = 0, to; from < calls->count; from = to) {
		for (to = from + 1; to < calls->count && calls->call[to] == 0; to++)
			;
		if (calls->enter_ns[from] < dump->opt.begin_ns ||
		    calls->enter_ns[from] >= dump->opt.end_ns)
			continue;
		if (dump->opt.table)
			print_table_line(dump, where, from, to);
		else
			print_line(dump, where, from, to);
	}
}
