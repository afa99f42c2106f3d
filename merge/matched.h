/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace as corrected so far, and what lp-graph matches in it. */
#ifndef MATCHED_H
#define MATCHED_H

#include <sys/types.h>

#include "../base/run/graph_input.h"
#include "merge.h"

struct matched {
	struct input *input;
	struct graph_input graph;
	pid_t merge, matcher;
};

void matched_open(struct matched *matched, struct input *input, size_t row_bytes);
/* False at the end of the graph. */
bool matched_next(struct matched *matched, enum graph_item *item);
void matched_close(struct matched *matched);

#endif
