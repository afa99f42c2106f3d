/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfer efficiency as seen by lp-replay --monitor, and its phases, in columns of time. */
#ifndef MONITOR_H
#define MONITOR_H

#include "../base/tool/text.h"

enum { MONITOR_COLUMNS = 448 };

struct monitored {		/* one rank */
	int32_t rank;
	/* last end of a pair in the column; 0: none */
	int64_t recorded_ns[MONITOR_COLUMNS];
	int64_t simulated_ns[MONITOR_COLUMNS];	/* the same in the replay */
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

/* Reads a replay's stream, which may lack this. */
void monitor_read(struct monitor *monitor, const char *file, int64_t run_ns);
void monitor_draw(struct text *out, const struct monitor *monitor);

#endif
