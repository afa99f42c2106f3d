/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "recorder.h"

struct options options = { .stack = 1 };

static int64_t
value_of(const char *text, const char *key)
{
	const size_t size = strlen(key);

	for (const char *at = text; at != NULL; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, key, size) == 0 && at[size] == '=')
			return strtoll(at + size + 1, NULL, 10);
	}
	return 0;
}

void
read_options(void)
{
	const char *text = getenv("LONGPOLE_OPTIONS");
	int64_t stack = value_of(text, "stack");

	options.monotonic = value_of(text, "monotonic") != 0;
	options.allreduce = value_of(text, "allreduce") != 0;
	options.fold_polls = value_of(text, "fold_polls") != 0;
	options.segment_bytes = (uint64_t)value_of(text, "segment_bytes");
	options.paused = value_of(text, "paused") != 0;
	options.threshold_ns = value_of(text, "threshold_ns");
	options.sync_every_ns = value_of(text, "sync_every_ns");
	options.sample_hz = (int)value_of(text, "sample_hz");
	options.switches = value_of(text, "switches") != 0;
	options.sample_stack = (int)value_of(text, "sample_stack");
	options.stack = stack > 1 && stack <= MOST_CALLERS ? (int)stack : 1;
}
