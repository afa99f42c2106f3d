/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNENDED_H
#define UNENDED_H

#include "../base/stuck/unreturned.h"
#include "scan.h"

/*
 * Take messages of raw traces: the open call, in a block or alone, and when the rank died. Return 0
 * or -1.
 */
int scan_open(struct scan *scan, const struct message *message, struct thread *thread);
int scan_died(struct scan *scan, const struct message *message);

/* After all traces are read: finds threads that get a last row. */
void find_last_rows(struct input *input);
/* Their number in the rank. */
uint64_t last_rows(const struct rank *rank);
/* The thread's last leave, or the later begin of its last row; own clock. */
int64_t end_of_thread(const struct rank *rank, const struct thread *thread);
/*
 * Adds the thread's last row, if any, after its last block, on its own clock. It lasts until END_NS
 * of the trace.
 */
void add_last_row(struct calls *calls, const struct thread *thread);
void stretch_last_row(struct calls *calls, const struct thread *thread, int64_t end_ns);
/*
 * Which calls did not return, and why; NULL: there are none, or not all of the run's traces are
 * here. The names of calls in it are then used. NAMES: of places in the program, too.
 */
struct unreturned *find_unreturned(struct input *input, bool names);
/* Writes which rank was where, and closes what was found. */
void write_unended(struct writer *out, const struct input *input, struct unreturned *found,
    int64_t end_ns, int64_t moved_ns);

#endif
