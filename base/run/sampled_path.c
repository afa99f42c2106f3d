/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampled_path.h"

#include <stdlib.h>
#include <string.h>

#include "../tool/memory.h"
#include "../tool/order.h"
#include "off_core.h"
#include "sampled_place.h"
#include "../tool/text.h"

int
function_times_compare(const void *left, const void *right)
{
	const struct function_time *a = left, *b = right;
	const int names = strcmp(a->name, b->name);

	return names != 0 ? names : strcmp(file_name(a->file), file_name(b->file));
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
static int
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
			return -1;
		if (i == 2 || rest.path_ns > 0)
			function_times_add(f, &rest);
	}
	return 0;
}

int
sampled_path_read(struct function_times *f, struct reader *in, const struct message *message,
    const struct definitions *known)
{
	int64_t count, period_ns;
	uint32_t *site;
	uint64_t *all;
	int64_t *path;
	size_t n;
	int got = -1;

	if (body_int(in, message, "count", 0, (int64_t)message->size, &count) < 0 ||
	    body_int(in, message, "period_ns", 0, INT32_MAX, &period_ns) < 0)
		return -1;
	n = (size_t)count;
	site = zalloc(n + 1, sizeof *site);
	all = zalloc(n + 1, sizeof *all);
	path = zalloc(n + 1, sizeof *path);
	if (body_column(in, message, "site", n, site) == 0 &&
	    body_column(in, message, "all", n, all) == 0 &&
	    body_column(in, message, "path", n, path) == 0)
		got = 0;
	for (size_t i = 0; i < n && got == 0; i++) {
		const struct stack_frame frame = place_frame(known, site[i]);
		struct function_time one = { frame.name, frame.file, path[i], 0 };

		if (__builtin_mul_overflow(all[i], period_ns, &one.all_ns))
			one.all_ns = INT64_MAX;
		function_times_add(f, &one);
	}
	if (got == 0)
		got = add_rest(f, in, message);
	free(site);
	free(all);
	free(path);
	return got;
}
