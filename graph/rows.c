/* SPDX-License-Identifier: BSD-3-Clause */
/* What each row does, by the class of its call. */
#include <string.h>

#include "graph.h"

/* The next row of the block; LOCATION: its thread. */
static void
read_row(struct graph_row *row, const struct location *location, const struct calls *c, size_t i)
{
	const uint32_t request = c->request[i], at = c->request_at[i];

	row->i = i;
	row->seq = c->first + i;
	row->candidates = location->candidates;
	row->comm = c->comm[i];
	row->peer = c->peer[i];
	row->tag = c->tag[i];
	if (c->call[i] != 0)	/* otherwise of the call before */
		row->call = c->call[i];
	row->refers = (request | at) > 0;
	if (row->refers) {
		row->starter = at > 0 ? at - 1 : c->location;
		row->start = at > 0 ? request : row->seq - request;
	}
}

/* MPI_Bsend keeps the message in a buffer of the program. */
static void
take_send(struct graph *graph, const struct graph_row *row, enum call_class class)
{
	if (class == CLASS_SEND_START)
		request_open(graph, row, (struct request){ .operation = NONE, .class = class,
		    .comm = row->comm, .peer = row->peer });
	else if (strcmp(call_name(row->call), "MPI_Bsend") != 0)
		hold_row(graph, row, row->comm, row->peer, true);
	match_send(graph, row);
}

/* A message is looked for, received, or is to be received later. */
static void
take_receive(struct graph *graph, const struct graph_row *row, enum call_class class)
{
	if (class == CLASS_PROBE) {
		if (row->refers && (row->starter != row->location || row->start != row->seq))
			match_answer(graph, row);
		else
			match_probe(graph, row, row->refers);
	} else if (class == CLASS_RECV) {
		if (row->refers)
			match_complete(graph, row);
		else
			match_receive(graph, row, COMPLETED);
	} else {
		graph->locations[row->location].open++;
		if (row->refers)
			match_taken(graph, row);
		else
			match_receive(graph, row, POSTED);
	}
}

/* Requests that are made ahead of their use, started, completed and freed. */
static void
take_request(struct graph *graph, const struct graph_row *row, enum call_class class)
{
	int64_t *open = &graph->locations[row->location].open;
	enum call_class started = CLASS_LOCAL;
	struct request *request;

	switch (class) {
	case CLASS_COLLECTIVE_INIT:
		collective_init(graph, row);
		break;
	case CLASS_START:
		if (!row->refers)
			break;
		++*open;
		/* Rows of the thread that made it may come later: the sizes show its kind. */
		if ((request = request_find(graph, row->starter, row->start)) != NULL)
			started = request->class;
		else if (row->calls->request_at[row->i] > 0)
			started = row->calls->bytes_received[row->i] > 0 ? CLASS_RECV_INIT :
			    CLASS_SEND_INIT;
		if (started == CLASS_SEND_INIT)
			take_send(graph, row, CLASS_SEND_START);
		else if (started == CLASS_RECV_INIT)
			match_receive(graph, row, POSTED);
		break;
	case CLASS_COMPLETE:
		if (!row->refers)
			break;
		graph->locations[row->starter].open--;
		if ((request = request_find(graph, row->starter, row->start)) != NULL &&
		    request->class == CLASS_SEND_START) {
			hold_row(graph, row, request->comm, request->peer, true);
			request_close(graph, request);
		} else if (request != NULL || !background_close(graph, row))
			match_complete(graph, row);
		break;
	case CLASS_REQUEST_FREE:
		if (!row->refers)
			break;
		if (background_close(graph, row) ||
		    request_free(graph, row->starter, row->start))
			graph->locations[row->starter].open--;
		break;
	default:
		request_open(graph, row, (struct request){ .operation = NONE, .class = class });
	}
}

static void
take_row(struct graph *graph, const struct graph_row *row)
{
	const enum call_class class = call_class(row->call);
	const bool part = row->calls->call[row->i] == 0;
	int64_t *open = &graph->locations[row->location].open;

	switch (class) {
	case CLASS_SENDRECV:
		if (part)
			match_receive(graph, row, COMPLETED);
		else
			take_send(graph, row, class);
		break;
	case CLASS_SEND_START:
		++*open;
		/* fall through */
	case CLASS_SEND:
		take_send(graph, row, class);
		break;
	case CLASS_PROBE:
	case CLASS_RECV:
	case CLASS_RECV_START:
		take_receive(graph, row, class);
		break;
	case CLASS_SEND_INIT:
	case CLASS_RECV_INIT:
	case CLASS_COLLECTIVE_INIT:
	case CLASS_START:
	case CLASS_COMPLETE:
	case CLASS_REQUEST_FREE:
		take_request(graph, row, class);
		break;
	case CLASS_POST:
	case CLASS_ACCESS:
		epoch_open(graph, row, class);
		break;
	case CLASS_ACCESS_END:
		one_sided_row(graph, row);
		/* fall through */
	case CLASS_EXPOSE_END:
		if (row->refers)
			epoch_close(graph, row, class);
		break;
	case CLASS_RMA:
		one_sided_row(graph, row);
		/* fall through */
	case CLASS_IO:
		*open += call_starts(row->call);
		break;
	case CLASS_THREAD_WAIT:
	case CLASS_THREAD_SIGNAL:
		handover_row(graph, row);
		break;
	default:
		graph->counts.errors += call_failed(row->call);
		if (part || !is_collective(class))
			break;
		collective_member(graph, row);
		*open += is_collective_start(class);
	}
}

void
take_rows(struct graph *graph, const struct calls *calls, size_t from, size_t to)
{
	struct location *location = &graph->locations[calls->location];
	struct graph_row row = { .calls = calls, .location = calls->location,
	    .rank = rank_of(graph, calls->location) };
	const bool computed = location->computings.to_come > 0 || location->computings.in_wait;

	for (size_t i = from; i < to; i++) {
		read_row(&row, location, calls, i);
		location->next_seq = row.seq + 1;
		if (computed && calls->call[i] != 0)
			hold_reached(graph, &row);
		take_row(graph, &row);
		if (graph->any_early)
			match_early(graph, row.location, row.seq);
	}
}
