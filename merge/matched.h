/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace as corrected so far, and what lp-graph matches in it. */
#ifndef MATCHED_H
#define MATCHED_H

#include <sys/types.h>

#include "../base/run/definitions.h"
#include "../base/run/window.h"
#include "merge.h"

struct matched {
	struct input *input;
	size_t row_bytes;		/* of the window's rows */
	struct reader *in;
	struct definitions known;
	struct window window;
	struct edge_block edges;	/* of the last message that had some */
	struct calls calls;
	pid_t merge, graph;
};

void matched_open(struct matched *matched, struct input *input, size_t row_bytes);
/* 1: a message, and its rows are in the window or its edges in the edges; 0: no more. */
int matched_next(struct matched *matched, struct message *message);
void matched_close(struct matched *matched);

#endif
