/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which sends wait for their receive. MPI_Bsend and its kin never do, MPI_Ssend and its kin always; the
 * others where they are large enough. A persistent send has the mode of the call that made its request,
 * whose row may be long gone when it is started, so what these calls made is kept until it is freed.
 */
#include <stdlib.h>
#include <string.h>

#include "../mpi/call_class.h"
#include "../tool/search.h"
#include "engine.h"

struct made {			/* by a call of class SEND_INIT or RECV_INIT */
	uint64_t seq, started;	/* started: row that did so last; 0: none */
	uint16_t call;
};

struct made_requests {		/* of a location, in order of their seq */
	struct made *items;
	size_t count, capacity;
};

struct made_requests *
made_requests(uint32_t locations)
{
	return zalloc(locations, sizeof(struct made_requests));
}

static enum mode
mode_of(uint16_t call)
{
	const char *name = call_name(call);

	if (strncmp(name, "MPI_", 4) != 0)
		return MODE_STANDARD;
	name += 4;
	name += name[0] == 'I' && strchr("bsr", name[1]) != NULL;
	if (strncmp(name, "Bsend", 5) == 0 || strncmp(name, "bsend", 5) == 0)
		return MODE_BUFFERED;
	if (strncmp(name, "Ssend", 5) == 0 || strncmp(name, "ssend", 5) == 0)
		return MODE_SYNCHRONOUS;
	return MODE_STANDARD;
}

/* Modes that Dimemas' converter takes for eager; all other sends are rendezvous by themselves. */
static bool
is_eager_by_call(uint16_t call)
{
	const char *name = call_name(call);

	return strcmp(name, "MPI_Send") != 0 && strcmp(name, "MPI_Ssend") != 0 &&
	    strcmp(name, "MPI_Rsend") != 0 && strcmp(name, "MPI_Irsend") != 0;
}

bool
is_rendezvous(const struct machine *m, uint16_t call, uint64_t bytes)
{
	static uint8_t known[UINT16_MAX + 1];	/* 1 + mode, and 128 for eager by call; 0: not yet */

	if (known[call] == 0)
		known[call] = (uint8_t)((1 + mode_of(call)) | (is_eager_by_call(call) ? 128 : 0));
	if (m->eager_bytes < 0)
		return known[call] < 128;
	if (m->heeds_modes && (known[call] & 127) != 1 + MODE_STANDARD)
		return (known[call] & 127) == 1 + MODE_SYNCHRONOUS;
	return bytes >= (uint64_t)m->eager_bytes;
}

/* Where the request made in row SEQ is or would be kept. */
#define BEFORE(made, sought) ((made)->seq < (sought))
SEARCH(place_of, struct made, uint64_t, BEFORE)

static struct made *
find_made(const struct engine *e, uint32_t location, uint64_t seq)
{
	const struct made_requests *made;
	size_t i;

	if (location >= e->locations)
		return NULL;
	made = &e->made[location];
	i = place_of(made->items, made->count, seq);
	return i < made->count && made->items[i].seq == seq ? &made->items[i] : NULL;
}

/* The row that row SEQ refers to. */
static void
follow(const struct replay_row *row, uint32_t *location, uint64_t *seq)
{
	if (row->request_at > 0) {
		*location = row->request_at - 1;
		*seq = row->request;
	} else
		*seq -= row->request;
}

/* A row of MPI_Start: what it starts, as far as the call that made its request is known. */
static void
note_start(struct engine *e, uint32_t location, uint64_t seq, struct op *op, const struct replay_row *row)
{
	uint64_t begun = seq;
	struct made *made;

	follow(row, &location, &begun);
	made = find_made(e, location, begun);
	if (made == NULL)
		return;
	made->started = seq;
	op->act = call_class(made->call) == CLASS_SEND_INIT ? ACT_SEND_START : ACT_POST;
	op->rendezvous = is_rendezvous(e->machine, e->machine->eager_bytes < 0 ? row->call : made->call,
	    row->sent);
}

/* What frees a request that was made to be started frees the operation that was started last. */
static void
note_free(struct engine *e, uint32_t location, uint64_t seq, struct replay_row *row)
{
	uint32_t at = location;
	uint64_t begun = seq;
	struct made_requests *requests;
	struct made *made;

	follow(row, &at, &begun);
	made = find_made(e, at, begun);
	if (made == NULL)
		return;
	if (made->started > 0) {
		row->request_at = at + 1;
		row->request = (uint32_t)made->started;
	}
	requests = &e->made[at];
	memmove(made, made + 1, (size_t)(requests->items + requests->count - made - 1) * sizeof *made);
	requests->count--;
}

void
note_request(struct engine *e, uint32_t location, uint64_t seq, struct op *op, struct replay_row *row)
{
	enum call_class class = call_class(row->call);
	struct made_requests *made = &e->made[location];

	if (class == CLASS_START)
		note_start(e, location, seq, op, row);
	else if (class == CLASS_REQUEST_FREE)
		note_free(e, location, seq, row);
	else if (class == CLASS_SEND_INIT || class == CLASS_RECV_INIT) {
		made->items = grow(made->items, &made->capacity, made->count + 1, sizeof *made->items);
		made->items[made->count++] = (struct made){ seq, 0, row->call };
	}
}
