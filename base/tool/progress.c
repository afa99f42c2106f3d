/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#include "../stream/stream.h"
#include "process.h"
#include "tool.h"

/* Has enough time passed since the last line? */
static bool
is_due(struct progress *progress)
{
	double now;

	if (!progress->begun) {
		progress->begun = true;
		progress->shown = is_terminal(STDERR_FILENO);
		progress->began_s = progress->last_s = 1e-9 * (double)now_ns();
	}
	if (!progress->shown || (now = 1e-9 * (double)now_ns()) - progress->last_s < 0.2)
		return false;
	progress->last_s = now;
	return now - progress->began_s >= 0.5;	/* short work needs no progress */
}

static void
show(struct progress *progress, const char *unit, uint64_t count, double share)
{
	const double passed = progress->last_s - progress->began_s;
	const double each = (double)count / passed;

	if (each >= 1e5)
		fprintf(stderr, "\r\033[K%s: %.1f million %s, %.2f million/s", tool,
		    1e-6 * (double)count, unit, 1e-6 * each);
	else
		fprintf(stderr, "\r\033[K%s: %llu %s, %.3g/s", tool, (unsigned long long)count,
		    unit, each);
	if (share > 0)
		fprintf(stderr, ", %.0f %%, %.0f s left", 100 * share,
		    passed * (1 - share) / share);
	progress->any = true;
}

void
progress_show(struct progress *progress, const char *unit, uint64_t count, uint64_t done,
    uint64_t all)
{
	if (is_due(progress))
		show(progress, unit, count, all > 0 ? (double)done / (double)all : 0);
}

void
progress_input(struct progress *progress, const struct reader *in)
{
	if (is_due(progress))
		show(progress, "calls", reader_rows(in), reader_share(in));
}

void
progress_end(struct progress *progress)
{
	if (progress->any)
		fputs("\r\033[K", stderr);
	*progress = (struct progress){ 0 };
}

bool
progress_next(struct progress *progress, struct reader *in, struct message *message)
{
	const int got = reader_next(in, message);

	if (got > 0) {
		progress_input(progress, in);
		return true;
	}
	progress_end(progress);
	if (got < 0)
		die_input(in);
	return false;
}
