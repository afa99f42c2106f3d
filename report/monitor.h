/* SPDX-License-Identifier: BSD-3-Clause */
/* What lp-replay --monitor saw of transfer efficiency, and its phases, in columns of time. */
#ifndef MONITOR_H
#define MONITOR_H

#include "../base/tool/text.h"

enum { MONITOR_COLUMNS = 448 };

struct monitored {		/* one rank */
	int32_t rank;
	/* last end of a pair in the column; 0: none there */
	int64_t recorded_ns[MONITOR_COLUMNS];
	int64_t simulated_ns[MONITOR_COLUMNS];	/* and where the replay has it */
};

struct phase {
	int32_t rank;
	int64_t begin_ns, end_ns;
	double efficiency, computing;
};

struct monitor {
	int64_t run_ns;		/* as recorded */
	struct monitored *ranks;
	size_t count, capacity;
	struct phase *phases;
	size_t phase_count, phase_capacity;
};

/* Reads a replay's stream; there may be nothing of the kind in it. */
void monitor_read(struct monitor *monitor, const char *file, int64_t run_ns);
void monitor_draw(struct text *out, const struct monitor *monitor);

#endif
