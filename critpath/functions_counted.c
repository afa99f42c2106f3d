/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters on the path by function: what was counted between two samples of the path in it. */
#include <stdlib.h>
#include <string.h>

#include "critpath.h"
#include "../base/run/sampled_place.h"

struct counted_row {
	const char *function, *file;	/* file NULL: unknown */
	struct shown_counts counts;
};
#define ROW(member) FIELD(struct counted_row, member)
static const struct field counted_fields[] = {
	{ "function", ROW(function), .json = PLAIN }, { "file", ROW(file), .json = PLAIN },
	SHOWN_COUNTS(struct counted_row, counts),
	{ "counted on the path between two samples in", ROW(function), .text = PLAIN },
	FIELDS_END
};

ORDER(by_function, struct counted_row, BY_TEXT(function) BY_ANY_TEXT(file))
FOLD(fold, struct counted_row, by_function, counts_add(&to->counts, &more->counts);)
ORDER(by_time, struct counted_row, MOST(counts.on_core_ns) COMPARED(by_function(a, b), 0))

/* The longest first; none without counters. */
struct rows
counted_rows(const struct functions *f, const struct definitions *known)
{
	size_t count, found = 0;
	struct sampled *places = functions_places(f, &count);
	struct counted_row *rows = zalloc(count + 1, sizeof *rows);
	bool counted[COUNTERS] = { false };

	for (size_t i = 0; i < count; i++) {
		const struct stack_frame frame = place_frame(known, places[i].site);
		struct counted_row *row = &rows[found];
		bool any = false;

		for (int c = 0; c < COUNTERS; c++) {
			row->counts.of[c] = (int64_t)places[i].counts.of[c];
			any |= row->counts.of[c] > 0;
			counted[c] |= row->counts.of[c] > 0;
		}
		if (!any)
			continue;
		row->function = frame.name;
		row->file = frame.file;
		row->counts.on_core_ns = places[i].counted_ns;
		found++;
	}
	free(places);
	count = fold(rows, found);
	SORT(rows, count, by_time);
	for (size_t i = 0; i < count; i++)
		counts_show(&rows[i].counts, counted, f->sums.switched);
	return (struct rows){ counted_fields, rows, count, sizeof *rows };
}
