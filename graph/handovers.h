/* SPDX-License-Identifier: BSD-3-Clause */
/* Internal to handovers.c, which has the rule, and handovers_find.c. */
#ifndef HANDOVERS_H
#define HANDOVERS_H

#include "../base/run/thread_waits.h"
#include "graph.h"

/* A row that is made. */
struct made_row {
	uint64_t before;		/* seq of the next row of the thread as recorded */
	int64_t enter_ns, leave_ns;
	uint32_t site;			/* as defined here; 0: unknown */
	int32_t tag;
	uint16_t call;			/* call_thread_wait, or call_thread_signal */
};

/* A thread that makes calls, if others of its rank do so, too. */
struct thread_rows {
	struct time_spans calls;
	uint64_t *seq;			/* of each call's first row */
	size_t seq_capacity;
	uint64_t rows;
	struct made_row *made;		/* in order */
	size_t count, capacity;
};

#endif
