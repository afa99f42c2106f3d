/* SPDX-License-Identifier: BSD-3-Clause */
/* The open call of a thread in a raw trace (trace.5, The open call). */
#ifndef OPEN_CALL_FORM_H
#define OPEN_CALL_FORM_H

#include <stddef.h>
#include <stdint.h>

enum { OPEN_REQUESTS = 16, OPEN_COUNTS = 32 };
#define OPEN_COMPLETE UINT64_MAX	/* in place of a starting row: nothing to wait for */
#define OPEN_UNKNOWN (UINT64_MAX - 1)

struct open_call {
	uint32_t call;		/* number of the function; 0: the thread is in none */
	uint32_t comm;
	int64_t enter_ns;
	uint64_t address;	/* return address */
	uint32_t collective;	/* its number on comm, from 1; 0: it is none */
	int32_t peer, tag;	/* as the program asked for */
	int32_t source, receive_tag;	/* of the receive, if the call is also a send */
	uint32_t requests, kept;	/* that a completion waits for; that rows has */
	uint32_t thread;	/* the system's number of the thread */
	uint64_t rows[OPEN_REQUESTS];	/* open_row of their starts */
	/* index: comm % OPEN_COUNTS */
	struct open_count { uint32_t comm, collectives; } last[OPEN_COUNTS];
} __attribute__((packed));

struct message;
/* Of a block of calls, or of a message of kind open; NULL: it has none. */
const struct open_call *open_call_of(const struct message *message);

enum { OPEN_ROW_BITS = 40 };
static inline uint64_t
open_row(uint32_t location, uint64_t row)
{
	return (uint64_t)location << OPEN_ROW_BITS | (row & (((uint64_t)1 << OPEN_ROW_BITS) - 1));
}

#endif
