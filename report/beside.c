/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timelines of two runs, one above the other on one time axis. Each run is read in a process of
 * its own, since the analysis holds one run. The other run's picture comes in a temporary file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/tool/spool.h"
#include "report.h"

/* The run time from the head of the stream. */
static int64_t
run_ns_of(const char *file)
{
	struct message message;
	struct reader *in;
	int64_t run_ns = -1;
	int got;

	if (file == NULL || strcmp(file, "-") == 0)
		die("--beside: both runs must be files");
	if (reader_open(&in, file, READ_STREAM) < 0)
		die_input(in);
	while (run_ns < 0 && (got = reader_next(in, &message)) > 0)
		if (is_kind(&message, "run") &&
		    body_int(in, &message, "run_ns", 0, INT64_MAX, &run_ns) < 0)
			die_input(in);
	if (run_ns < 0 && got < 0)
		die_input(in);
	if (run_ns < 0)
		die("%s: no run", file);
	reader_close(in);
	return run_ns;
}

static _Noreturn void
draw_other(const struct beside *b, int fd, size_t budget)
{
	static struct page other;
	static struct text text;	/* too large for the stack */
	FILE *file = need(fdopen(fd, "w"));
	char title[300];

	page_read(&other, b->file, 0, budget);	/* gains are for the page only */
	snprintf(title, sizeof title, "Timeline of %s", file_name(b->file));
	fprintf(file, "%d\n", lanes_height(&other));
	text_begin(&text, file, "temporary file");
	draw_lanes(&text, &other, "timeline-beside", title, b->axis_ns);
	text_flush(&text);
	_exit(fclose(file) == 0 ? DONE : TROUBLE);
}

void
beside_read(struct beside *b, const char *own, const char *other, size_t budget)
{
	const int64_t own_ns = run_ns_of(own), other_ns = run_ns_of(other);
	const int fd = spool_open();
	int status = 0;
	size_t size = 0;
	FILE *file;
	pid_t child;

	*b = (struct beside){ .file = other, .axis_ns = larger(own_ns, other_ns) };
	if ((child = fork()) < 0)
		die("%s: %s", other, strerror(errno));
	if (child == 0)
		draw_other(b, fd, budget);
	if (waitpid(child, &status, 0) < 0 || status != 0)
		die("%s: it cannot be shown", other);	/* the child has reported why */
	if (lseek(fd, 0, SEEK_SET) < 0 || (file = fdopen(fd, "r")) == NULL ||
	    fscanf(file, "%d\n", &b->height) != 1 || getdelim(&b->svg, &size, '\0', file) < 0)
		die("temporary file: it was truncated");
	fclose(file);
}

void
draw_beside(struct text *out, const struct page *page)
{
	const int height = lanes_height(page), strip = 24;
	char title[300];

	draw_begin(out, "beside", WIDE, height + page->beside.height + 2 * strip, "Timelines of "
	    "two runs, one above the other on one axis of time", file_name(page->beside.file));
	draw_label(out, 8, 16, "start", file_name(page->file));
	text_print(out, "<g transform=\"translate(0 %d)\">\n", strip);
	snprintf(title, sizeof title, "Timeline of %s", file_name(page->file));
	draw_lanes(out, page, "timeline-own", title, page->beside.axis_ns);
	text_put(out, "</g>\n");
	draw_label(out, 8, height + strip + 16, "start", file_name(page->beside.file));
	text_print(out, "<g transform=\"translate(0 %d)\">\n", height + 2 * strip);
	text_put(out, page->beside.svg);
	text_put(out, "</g>\n");
	draw_end(out);
}
