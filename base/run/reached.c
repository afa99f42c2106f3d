/* SPDX-License-Identifier: BSD-3-Clause */
#include "reached.h"

#include <stdlib.h>

#include "../tool/tool.h"

void
reached_read(struct reached *reached, struct reader *in, const struct message *message,
    uint32_t count)
{
	const int64_t limit = INT64_MAX / 4;	/* so that sums of times do not overflow */
	int64_t stated;

	*reached = (struct reached){ 0, zalloc(count, sizeof *reached->since_ns),
	    zalloc(count, sizeof *reached->call) };
	if (body_int(in, message, "at_ns", -limit, limit, &reached->at_ns) < 0 ||
	    body_int(in, message, "count", count, count, &stated) < 0 ||
	    body_column(in, message, "since", count, reached->since_ns) < 0 ||
	    body_column(in, message, "call", count, reached->call) < 0)
		die_input(in);
	for (uint32_t l = 0; l < count; l++) {
		if (reached->since_ns[l] > reached->at_ns || reached->since_ns[l] < -limit)
			die_message(in, message, "reached: since is out of range");
		reached->call[l] = reader_calls(in)[reached->call[l]];
	}
}

void
reached_free(struct reached *reached)
{
	free(reached->since_ns);
	free(reached->call);
}
