/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls as lines: a call with its parts becomes one JSON object or one line of the table. */
#include "dump.h"

#include "../../base/mpi/call_class.h"
#include "../../base/stream/open_call.h"

enum { SENT = 1, RECEIVED = 2 };

/* The byte counts that have a meaning even if 0. */
static unsigned
bytes_of(enum call_class class)
{
	switch (blocking_class(class)) {
	case CLASS_SEND: case CLASS_SENDRECV: case CLASS_SEND_START: case CLASS_SEND_INIT:
		return SENT;
	case CLASS_RECV: case CLASS_RECV_START: case CLASS_RECV_INIT: return RECEIVED;
	case CLASS_ALL_TO_ALL: case CLASS_ONE_TO_ALL: case CLASS_ALL_TO_ONE: case CLASS_SCAN:
	case CLASS_NEIGHBOUR: case CLASS_RMA: case CLASS_IO: case CLASS_FILE:
		return SENT | RECEIVED;
	default: return 0;
	}
}

static const char *
peer_name(int32_t peer)
{
	return peer == ANY_PEER ? "MPI_ANY_SOURCE" : peer == NULL_PEER ? "MPI_PROC_NULL" :
	    peer == ROOT_PEER ? "MPI_ROOT" : NULL;
}

static const char *
tag_name(int32_t tag)
{
	return tag == ANY_TAG ? "MPI_ANY_TAG" : NULL;
}

/* A number, or the name of a special value. */
static void
put_special(struct json *out, const char *key, int32_t value, const char *name)
{
	if (name != NULL)
		json_text(out, key, name);
	else
		json_int(out, key, value);
}

/* Peer and amount, as far as they apply to the row; counts in BYTES even if 0. */
static void
put_transfer(struct dump *dump, size_t row, unsigned bytes)
{
	const struct calls *calls = &dump->calls;
	struct json *out = &dump->json;

	if (calls->comm[row] != 0)
		json_uint(out, "comm", calls->comm[row]);
	if (calls->peer[row] != NO_PEER)
		put_special(out, "peer", calls->peer[row], peer_name(calls->peer[row]));
	if (calls->tag[row] != NO_TAG)
		put_special(out, "tag", calls->tag[row], tag_name(calls->tag[row]));
	if ((bytes & SENT) || calls->bytes_sent[row] > 0)
		json_uint(out, "bytes_sent", calls->bytes_sent[row]);
	if ((bytes & RECEIVED) || calls->bytes_received[row] > 0)
		json_uint(out, "bytes_received", calls->bytes_received[row]);
}

static bool
refers(const struct calls *calls, size_t row)
{
	return calls->request[row] > 0 || calls->request_at[row] > 0;
}

/* The row that this row refers to; its location if that is another. */
static void
put_request(struct dump *dump, const char *key, size_t row)
{
	const struct calls *calls = &dump->calls;

	json_uint(&dump->json, key, calls->request_at[row] > 0 ? calls->request[row] :
	    calls->first + row - calls->request[row]);
	if (calls->request_at[row] > 0)
		json_uint(&dump->json, "location", calls->request_at[row] - 1);
}

/* Only the completion of a receive has a peer. */
static unsigned
completed_bytes(const struct calls *calls, size_t row)
{
	return calls->peer[row] != NO_PEER ? RECEIVED : 0;
}

/* An array of the operations of a call: rows FROM to before TO. */
static void
put_operations(struct dump *dump, const char *key, size_t from, size_t to, bool completes)
{
	const struct calls *calls = &dump->calls;
	struct json *out = &dump->json;

	json_begin_array(out, key);
	for (size_t row = from; row < to; row++) {
		if (completes && !refers(calls, row))
			continue;	/* it completed nothing */
		json_begin_object(out, NULL);
		put_request(dump, "seq", row);
		put_transfer(dump, row, completes ? completed_bytes(calls, row) : 0);
		json_end_object(out);
	}
	json_end_array(out);
}

/* Details of the call in rows FROM to before TO. */
static void
put_details(struct dump *dump, size_t from, size_t to)
{
	const struct calls *calls = &dump->calls;
	enum call_class class = call_class(calls->call[from]);
	bool single = to - from == 1;
	struct json *out = &dump->json;

	if (class == CLASS_COMPLETE) {
		if (single)
			put_transfer(dump, from, completed_bytes(calls, from));
		put_operations(dump, "completed", from, to, true);
		return;
	}
	if (class == CLASS_START) {
		if (single) {
			put_request(dump, "request_seq", from);
			put_transfer(dump, from, 0);
		}
		put_operations(dump, "started", from, to, false);
		return;
	}
	if (refers(calls, from))
		put_request(dump, "request_seq", from);
	put_transfer(dump, from, bytes_of(class));
	if (class == CLASS_SENDRECV && !single) {	/* its receive */
		from++;
		put_special(out, "source", calls->peer[from], peer_name(calls->peer[from]));
		if (calls->tag[from] != NO_TAG)
			put_special(out, "receive_tag", calls->tag[from],
			    tag_name(calls->tag[from]));
		json_uint(out, "bytes_received", calls->bytes_received[from]);
	}
	if (to - from > 1)
		put_operations(dump, "parts", from + 1, to, false);
}

static void
print_line(struct dump *dump, struct thread where, size_t from, size_t to)
{
	const struct calls *calls = &dump->calls;
	const char *name = call_name(calls->call[from]);
	struct json *out = &dump->json;

	begin_picked(dump, "call", true);
	put_rank(out, where);
	json_uint(out, "seq", calls->first + from);
	json_text(out, "call", name);
	json_int(out, "enter_ns", calls->enter_ns[from]);
	json_int(out, "leave_ns", calls->leave_ns[from]);
	put_details(dump, from, to);
	if (calls->site[from] != 0)
		json_uint(out, "site", calls->site[from]);
	if (calls->folded[from] != 0)
		json_uint(out, "folded", calls->folded[from]);
	end_line(dump);
}

/* "-" if it does not apply. */
static void
put_number(struct text *out, bool applies, int64_t value)
{
	if (applies)
		text_int(out, value);
	else
		text_char(out, '-');
	text_char(out, '\t');
}

static void
put_name(struct text *out, const char *name, int32_t value, bool applies)
{
	if (name == NULL || !applies) {
		put_number(out, applies, value);
		return;
	}
	text_put(out, name);
	text_char(out, '\t');
}

/* Printed by hand: the form is fixed, and calls are many. */
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
	dump->picked = dump->any = true;
	put_number(out, where.rank >= 0, where.rank);
	put_number(out, true, (int64_t)(calls->first + from));
	/* a stream may contain any name of a function */
	text_visible(out, call_name(calls->call[from]));
	text_char(out, '\t');
	put_number(out, true, calls->enter_ns[from]);
	put_number(out, true, calls->leave_ns[from]);
	put_number(out, calls->comm[from] != 0, calls->comm[from]);
	put_name(out, peer_name(calls->peer[from]), calls->peer[from],
	    calls->peer[from] != NO_PEER);
	put_name(out, tag_name(calls->tag[from]), calls->tag[from], calls->tag[from] != NO_TAG);
	put_number(out, (bytes & SENT) || sent > 0, (int64_t)sent);
	if ((bytes & RECEIVED) || received > 0)
		text_uint(out, received);
	else
		text_char(out, '-');
	text_char(out, '\n');
}

/* For a raw trace: the call that the thread is in. */
static void
print_open(struct dump *dump, const struct message *message, struct thread where)
{
	const struct open_call *open = open_call_of(message);
	struct json *out = &dump->json;

	if (open == NULL || open->call == 0 || open->call > UINT16_MAX || dump->opt.table ||
	    !is_wanted(dump, "open"))
		return;
	begin_picked(dump, "open", true);
	put_rank(out, where);
	json_text(out, "call", call_name(reader_calls(dump->in)[open->call]));
	json_int(out, "enter_ns", open->enter_ns);
	json_uint(out, "address", open->address);
	json_uint(out, "comm", open->comm);
	if (open->collective > 0)
		json_uint(out, "collective", open->collective);
	json_int(out, "peer", open->peer);
	json_int(out, "tag", open->tag);
	end_line(dump);
}

void
print_calls(struct dump *dump, const struct message *message)
{
	struct calls *calls = &dump->calls;
	struct thread where;

	if (calls_read(calls, dump->in, message) < 0)
		return;		/* the reader has the reason */
	dump->chosen_from |= calls->count > 0;
	where = find_thread(dump, calls->location);
	if (!has_rank(&dump->opt.ranks, where.rank))
		return;
	if (reader_is_raw(dump->in))
		print_open(dump, message, where);
	if (!is_wanted(dump, "call"))
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
