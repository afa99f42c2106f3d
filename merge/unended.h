/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNENDED_H
#define UNENDED_H

#include "scan.h"

/* From raw traces: the open call of a block or a message of its own; and when the rank died. 0 or
 * -1. */
/* Is CALL MPI_Abort, which does not return though its row says so? */
bool is_abort(unsigned call);
int scan_open(struct scan *scan, const struct message *message, struct thread *thread);
int scan_died(struct scan *scan, const struct message *message);

/* When all traces have been read: which threads get a last row. */
void find_last_rows(struct input *input);
/* How many the rank gets. */
uint64_t last_rows(const struct rank *rank);
/* Its last leave, or later, on its own clock, where it has such a row. */
int64_t end_of_thread(const struct rank *rank, const struct thread *thread);
/* Adds the thread's, if it has one, behind its last block, on its own clock; then it lasts until
 * END_NS of the trace. */
void add_last_row(struct calls *calls, const struct thread *thread);
void stretch_last_row(struct calls *calls, const struct thread *thread, int64_t end_ns);
/* Who was where. */
void write_unended(struct writer *out, const struct input *input, int64_t end_ns, int64_t moved_ns);

#endif
