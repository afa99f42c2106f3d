/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress on standard error, only if that is a terminal, and at most a few times a second. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct message;
struct reader;

/* Zero it before the first use; progress_end does it again. */
struct progress {
	bool begun;
	bool shown;		/* standard error is a terminal */
	bool any;		/* a line is on the terminal */
	double began_s, last_s;
};

/* COUNT of UNIT so far, and the share DONE of ALL; ALL 0: unknown. */
void progress_show(struct progress *progress, const char *unit, uint64_t count, uint64_t done,
    uint64_t all);
/* Calls read so far; for a file also its share and the time left. */
void progress_input(struct progress *progress, const struct reader *in);
/* Removes the line. */
void progress_end(struct progress *progress);
/* Reads the next message and shows progress. False: the end. Bad input ends the tool. */
bool progress_next(struct progress *progress, struct reader *in, struct message *message);

#endif
