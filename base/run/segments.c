/* SPDX-License-Identifier: BSD-3-Clause */
#include "segments.h"

#include <stdlib.h>

#include "../tool/text.h"
#include "../tool/tool.h"
#include "sampled_place.h"
#include "thread_lanes.h"

const char *const segment_names[KINDS + 1] = { "compute", "mpi", "transfer", "start", "unknown" };

/* The limit of leaves: calls.c. */
#define MOST_NS ((int64_t)1 << 62)

void
segments_read(struct segments *s, struct reader *in, const struct message *message,
    const struct definitions *known)
{
	/* columns, in two allocations */
	uint32_t *location, *kind, *call, *site, *polls;
	int64_t *begin_ns, *end_ns;
	size_t n;

	if (body_count(in, message, "count", 0, UINT32_MAX, "location", &n) < 0)
		die_input(in);
	if (known->ranks == 0)
		die_message(in, message, "segments before the message of kind run");
	location = zalloc(5 * n, sizeof *location);
	kind = location + n;
	call = kind + n;
	site = call + n;
	polls = site + n;
	begin_ns = zalloc(2 * n, sizeof *begin_ns);
	end_ns = begin_ns + n;
	if (body_column(in, message, "location", n, location) < 0 ||
	    body_column(in, message, "begin", n, begin_ns) < 0 ||
	    body_column(in, message, "end", n, end_ns) < 0 ||
	    body_column(in, message, "kind", n, kind) < 0 ||
	    body_column(in, message, "call", n, call) < 0 ||
	    body_column_or_0(in, message, "site", n, site) < 0 ||
	    body_column_or_0(in, message, "polls", n, polls) < 0)
		die_input(in);
	GROW(s->at, s->capacity, s->count + n);
	for (size_t i = 0; i < n; i++) {
		if (defined_rank(known, location[i]) < 0 || kind[i] > GAP ||
		    call[i] > UINT16_MAX || end_ns[i] < begin_ns[i] ||
		    begin_ns[i] < -MOST_NS || end_ns[i] > MOST_NS)
			die_message(in, message,
			    "segments: location, kind, call or time is out of range");
		if (s->begun && begin_ns[i] != s->end_ns)
			die_message(in, message,
			    "segments: does not go on where the path so far ends");
		s->begun = true;
		s->end_ns = end_ns[i];
		s->at[s->count++] = (struct segment){ begin_ns[i], end_ns[i], location[i],
		    site[i] < known->site_count ? site[i] : 0, reader_calls(in)[call[i]],
		    (uint8_t)kind[i], polls[i] != 0 };
	}
	free(location);
	free(begin_ns);
}

/* ---- by function ---- */

int
function_times_compare(const void *left, const void *right)
{
	const struct function_time *a = left, *b = right;

	return BY_TEXT(name) COMPARED(strcmp(file_name(a->file), file_name(b->file)), 0) 0;
}

void
function_times_add(struct function_times *f, const struct function_time *more)
{
	*APPEND(f->at, f->count, f->capacity) = *more;
}

/* Saturates: a damaged stream may have any numbers. */
static int64_t
sum_of(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

FOLD(fold, struct function_time, function_times_compare,
	to->path_ns = sum_of(to->path_ns, more->path_ns);
	to->all_ns = sum_of(to->all_ns, more->all_ns);)

void
function_times_fold(struct function_times *f)
{
	f->count = fold(f->at, f->count);
}

/* Adds the rest of the path: by reason if there are switches. */
static void
add_rest(struct function_times *f, struct reader *in, const struct message *message)
{
	static const char *const keys[] = { "blocked_ns", "preempted_ns", "not_sampled_ns",
	    "unsampled_ns" };
	const char *const names[] = { off_names[OFF_BLOCKED], off_names[OFF_PREEMPTED], not_sampled,
	    on_core_name };
	const bool switched = body_get(message, "clock") != NULL;

	for (int i = 0; i < 4; i++) {
		struct function_time rest = { .name = names[i] };

		if (!switched && i != 2)
			continue;
		if (body_int(in, message, keys[i], 0, INT64_MAX, &rest.path_ns) < 0)
			die_input(in);
		if (i == 2 || rest.path_ns > 0)
			function_times_add(f, &rest);
	}
}

void
sampled_path_read(struct function_times *f, struct reader *in, const struct message *message,
    const struct definitions *known)
{
	int64_t period_ns, *path;
	uint32_t *site;
	uint64_t *all;
	size_t n;

	if (body_int(in, message, "count", 0, (int64_t)message->size, &n) < 0 ||
	    body_int(in, message, "period_ns", 0, INT32_MAX, &period_ns) < 0)
		die_input(in);
	site = zalloc(n, sizeof *site);
	all = zalloc(n, sizeof *all);
	path = zalloc(n, sizeof *path);
	if (body_column(in, message, "site", n, site) < 0 ||
	    body_column(in, message, "all", n, all) < 0 ||
	    body_column(in, message, "path", n, path) < 0)
		die_input(in);
	for (size_t i = 0; i < n; i++) {
		const struct stack_frame frame = place_frame(known, site[i]);
		struct function_time one = { frame.name, frame.file, path[i], 0 };

		if (__builtin_mul_overflow(all[i], period_ns, &one.all_ns))
			one.all_ns = INT64_MAX;
		function_times_add(f, &one);
	}
	add_rest(f, in, message);
	free(site);
	free(all);
	free(path);
}
