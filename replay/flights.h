/* SPDX-License-Identifier: BSD-3-Clause */
/* What is under way: messages and instances of collectives, and the links and buses that they take. */
#ifndef FLIGHTS_H
#define FLIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lanes.h"
#include "schedule.h"

enum { MESSAGE_SENT = 1, MESSAGE_POSTED = 2, MESSAGE_ARRIVED = 4, MESSAGE_RENDEZVOUS = 8,
	MESSAGE_HAS_OUT = 16, MESSAGE_HAS_IN = 32, MESSAGE_HAS_BUS = 64,
	MESSAGE_PART = 128 };	/* of a reduction, to its root */

/* WIRE_BUSES: no message, but a collective that queues for all buses. */
enum wire { WIRE_MEMORY, WIRE_NETWORK, WIRE_WIDE, WIRE_CONNECTION, WIRE_BUSES };

struct flight {			/* a message: a cache line */
	double sent_ns, posted_ns;	/* send reached, receive reached */
	double arrived_ns;	/* data there; before, since when it has its link out */
	double wire_ns;		/* that it holds links and bus for */
	uint32_t source, target;	/* locations */
	union { uint32_t sender, member; };	/* rank that sleeps on it, or NONE; of a part: whose */
	union { uint32_t receiver, instance; };	/* likewise; of a part: of which reduction */
	uint32_t next, previous;	/* in a queue */
	union { uint32_t next_lender, connection; };	/* see struct place; that it takes */
	uint8_t references;	/* rows that are not done, and the transfer */
	uint8_t flags, wire;
	bool departed;		/* all data has left the source */
};

struct trail {			/* of a message, for --explain */
	uint64_t bytes, send_seq, receive_seq;
	double due_ns, linked_ns, start_ns;	/* both ends ready; links held; data began to move */
};

struct arrival { uint32_t location, comm_rank; double at_ns; bool waits, started; uint32_t payer; };

struct instance {		/* of a collective */
	struct arrival *members;
	uint32_t count, capacity, arrived, left, references;
	uint32_t sleeping;	/* members that wait for it in a row of their own */
	double last_ns;		/* arrival so far */
	double done_ns;		/* all leave; -1 before */
	double factor;		/* of what --scale asks for */
	double own_ns;		/* lasts so long by itself, whatever the network */
	uint64_t sent, received;	/* of the root, or of the last to arrive */
	uint32_t root;		/* member; NONE */
	uint32_t comm, next;
	uint8_t class, operation;
	bool uneven;		/* sizes differ, so that who comes last matters */
	double *blocks;		/* by member: of the plan, where they differ */
	size_t block_capacity;
	struct plan plan;	/* as messages, members being numbered as in the communicator; or NO_SCHEDULE */
};

struct queue { uint32_t head, tail; };	/* of flights */

struct pool { int64_t total, busy; struct queue queue; };	/* links or buses; total 0: no limit */

struct place {			/* a node, for memory a rank, between islands an island or a connection */
	struct pool out, in;	/* half duplex: out is both */
	uint32_t lenders;	/* a list: messages that have a link out of here and wait for one into another */
	bool half_duplex;
};

#endif
