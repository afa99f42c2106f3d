/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides which sends wait for their receive. MPI_Bsend and its kin never do, MPI_Ssend and its kin
 * always do; others do from a size on. A persistent send has the mode of the call that made its
 * request. That row may be long gone at the start, so the mode is kept until the request is freed.
 */
#include <stdlib.h>
#include <string.h>

#include "../mpi/call_class.h"
#include "../tool/hash_table.h"
#include "engine.h"

struct made {			/* by a call of class SEND_INIT or RECV_INIT */
	uint64_t seq, started;	/* row that started it last; 0: none */
	uint32_t location;	/* NONE: free */
	uint16_t call;
};

HASH_TABLE_OF(made_requests, struct made, location, seq, location, NONE)

struct made_requests *
made_requests(void)
{
	struct made_requests *made = zalloc(1, sizeof *made);

	made_requests_begin(made, 64);
	return made;
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

/* Modes that are eager in Dimemas' converter; there all other sends are rendezvous. */
static bool
is_eager_by_call(uint16_t call)
{
	const char *name = call_name(call);

	return strcmp(name, "MPI_Send") != 0 && strcmp(name, "MPI_Ssend") != 0 &&
	    strcmp(name, "MPI_Rsend") != 0 && strcmp(name, "MPI_Irsend") != 0;
}

uint64_t
rendezvous_from(const struct machine *m, uint16_t call)
{
	if (is_signal(call_class(call)))
		return UINT64_MAX;
	if (m->eager_bytes < 0)
		return is_eager_by_call(call) ? UINT64_MAX : 0;
	if (m->heeds_modes && mode_of(call) != MODE_STANDARD)
		return mode_of(call) == MODE_SYNCHRONOUS ? 0 : UINT64_MAX;
	return (uint64_t)m->eager_bytes;
}

/* The request of a row, by the call that made it; NULL: unknown. */
static struct made *
made_for(const struct engine *e, uint32_t location, uint64_t seq, const struct replay_row *row)
{
	struct made key = { .seq = seq, .location = location };

	follow_request(row, &key.location, &key.seq);
	return key.location < e->locations ? made_requests_find(e->made, &key) : NULL;
}

void
note_request(struct engine *e, uint32_t location, uint64_t seq, struct op *op,
    struct replay_row *row)
{
	enum call_class class = call_class(row->call);
	struct made *made;

	if (class == CLASS_SEND_INIT || class == CLASS_RECV_INIT) {
		made_requests_add(e->made, &(struct made){ seq, 0, location, row->call });
		return;
	}
	made = made_for(e, location, seq, row);
	if (made == NULL)
		return;
	if (class == CLASS_START) {
		made->started = seq;
		op->act = call_class(made->call) == CLASS_SEND_INIT ? ACT_SEND_START : ACT_POST;
		op->rendezvous = row->sent >= rendezvous_from(e->machine,
		    e->machine->eager_bytes < 0 ? row->call : made->call);
		return;
	}
	/* Freeing a persistent request frees the operation started last. */
	if (made->started > 0) {
		row->request_at = made->location + 1;
		row->request = (uint32_t)made->started;
	}
	made_requests_remove(e->made, made);
}
