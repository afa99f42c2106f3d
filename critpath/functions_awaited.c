/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path in threads for which the first thread of their rank waited: the time of each by
 * function, and the rest of it, so that the rows add up to the time on the path in these threads.
 */
#include <stdlib.h>
#include <string.h>

#include "critpath.h"
#include "../base/path/report.h"
#include "../base/tool/fields.h"

struct awaited_row {
	int32_t rank, line;		/* line 0: unknown */
	uint32_t thread;
	const char *function, *file;	/* file NULL: unknown */
	uint64_t samples;
	int64_t ns;
	double share;
	char shown[1024];
};
#define AWAITED(member) FIELD(struct awaited_row, member)
static const struct field awaited_fields[] = {
	{ "rank", AWAITED(rank), .json = PLAIN },
	{ "thread", AWAITED(thread), .json = PLAIN },
	{ "function", AWAITED(function), .json = PLAIN },
	{ "file", AWAITED(file), .json = PLAIN },
	{ "line", AWAITED(line), .json = PLAIN, .known = UNLESS_ZERO },
	{ "samples", AWAITED(samples), .json = PLAIN },
	{ "path_%", AWAITED(share), .text = "%.2f", .percent = true },
	{ "path_s", AWAITED(ns), IN_SECONDS },
	{ "path_share", AWAITED(share), .json = PLAIN },
	{ "rank", AWAITED(rank), .text = PLAIN },
	{ "thread", AWAITED(thread), .text = PLAIN },
	{ "function of a thread that the first one waited for", AWAITED(shown), .text = PLAIN },
	FIELDS_END
};

ORDER(by_function, struct awaited_row,
    BY(rank) BY(thread) BY_TEXT(function) BY_ANY_TEXT(file) BY(line))
ORDER(by_time, struct awaited_row, MOST(ns) COMPARED(by_function(a, b), 0))

/* The samples of the place, or with REST the time of its thread without samples. */
static struct awaited_row
row_of(const struct listed *l, const struct definitions *known, const struct sampled *place,
    bool rest)
{
	struct awaited_row row = { .rank = place->rank, .thread = place->worker };
	struct stack_frame frame = { .name = not_sampled };

	row.ns = -on_path_ns(&l->on_path, place->samples);
	if (rest)
		row.ns += place->awaited_ns;
	else {
		frame = place_frame(known, place->site);
		row.samples = place->samples;
		row.ns = -row.ns;
		row.line = frame.line;
	}
	row.function = frame.name;
	row.file = frame.file;
	return row;
}

/* Functions of one thread, on the line with most samples; the longest first. */
struct rows
awaited_rows(const struct listed *l, const struct definitions *known)
{
	size_t count, found = 0, kept = 0;
	struct sampled *places = functions_places(l->of, &count);
	struct awaited_row *rows = zalloc(2 * count + 1, sizeof *rows);
	uint64_t most = 0;

	for (size_t i = 0; i < count; i++)
		if (places[i].worker > 0) {
			rows[found++] = row_of(l, known, &places[i], true);
			if (places[i].samples > 0)
				rows[found++] = row_of(l, known, &places[i], false);
		}
	free(places);
	qsort(rows, found, sizeof *rows, by_function);
	for (size_t i = 0; i < found; i++) {
		struct awaited_row *last = &rows[kept > 0 ? kept - 1 : 0];

		if (kept == 0 || last->rank != rows[i].rank || last->thread != rows[i].thread ||
		    strcmp(last->function, rows[i].function) != 0 ||
		    text_compare(last->file, rows[i].file) != 0) {
			rows[kept++] = rows[i];
			most = rows[i].samples;
			continue;
		}
		last->samples += rows[i].samples;
		last->ns += rows[i].ns;
		if (rows[i].samples > most) {
			most = rows[i].samples;
			last->line = rows[i].line;
		}
	}
	qsort(rows, kept, sizeof *rows, by_time);
	for (struct awaited_row *r = rows; r < rows + kept; r++) {
		r->share = l->path_ns > 0 ? (double)r->ns / (double)l->path_ns : 0;
		if (r->file != NULL)
			snprintf(r->shown, sizeof r->shown, "%s (%s:%d)", r->function,
			    file_name(r->file), (int)r->line);
		else
			snprintf(r->shown, sizeof r->shown, "%s", r->function);
	}
	return (struct rows){ awaited_fields, rows, kept, sizeof *rows };
}
