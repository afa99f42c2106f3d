/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <unistd.h>

#include "../base/tool/csv.h"
#include "report.h"

static void
print_analytic(struct text *text, const struct imbalance *im)
{
	struct totals_line line = totals_line("program", "", &im->program);
	struct csv csv;
	char rank[16];

	csv_head(&csv, text, totals_fields);
	csv_row(&csv, totals_fields, &line);
	for (int32_t r = 0; r < im->graph.known.ranks; r++) {
		snprintf(rank, sizeof rank, "%d", (int)r);
		line = totals_line("process", rank, &im->ranks[r]);
		csv_row(&csv, totals_fields, &line);
	}
	for (size_t i = 0; i < im->call_capacity; i++)
		if (im->calls[i].calls > 0) {
			line = totals_line("call", call_name((unsigned)i), &im->calls[i]);
			csv_row(&csv, totals_fields, &line);
		}
}

/* Prints one line for each state of each rank, site, ... that has any. */
static void
print_by(struct text *text, const struct imbalance *im, enum dimension by)
{
	struct csv csv;
	char name[1024];
	size_t count;
	struct line *lines = sorted_cells(im, by, &count);
	const struct table *table = &im->tables[by];

	snprintf(name, sizeof name, "%s,wait_state,wait_s", dimension_names[by]);
	csv_begin(&csv, text, name);
	for (size_t i = 0; i < count; i++)
		for (int s = 0; s < STATES; s++)
			if (state_ns(table, lines[i].index, s) > 0) {
				csv_text(&csv,
				    index_text(im, by, lines[i].index, name, sizeof name));
				csv_text(&csv, state_names[s]);
				csv_fixed(&csv, seconds(state_ns(table, lines[i].index, s)), 9);
				csv_end_row(&csv);
			}
	free(lines);
}

void
print_csv(struct text *text, const struct imbalance *im, const struct view *view)
{
	if (view->by == BY_FUNCTION)
		functions_rows(text, im);
	else if (view->by >= 0)
		print_by(text, im, (enum dimension)view->by);
	else
		print_analytic(text, im);
}

/* ---- the same numbers as messages ------------------------------------------------------- */

void
write_stream(const struct imbalance *im, int argc, char **argv)
{
	int64_t *ranks = zalloc((size_t)im->graph.known.ranks, sizeof *ranks);
	struct shares *shares = shares_by_rank(im);
	struct writer out;

	need_output(writer_open(&out, STDOUT_FILENO, "imbalance", im->graph.in, argc, argv));
	for (int s = 0; s < STATES; s++) {
		for (int32_t r = 0; r < im->graph.known.ranks; r++)
			ranks[r] = state_ns(&im->tables[BY_RANK], (size_t)r, s);
		message_begin(&out, "wait_state", 5);
		put_string(&out, "name", state_names[s]);
		put_int(&out, "wait_ns", im->states[s].wait_ns);
		put_uint(&out, "waits", im->states[s].count);
		put_int(&out, "count", im->graph.known.ranks);
		put_column(&out, "rank_ns", ranks, (size_t)im->graph.known.ranks);
		end_message(&out);
	}
	for (int32_t r = 0; r < im->graph.known.ranks; r++)
		put_row(&out, "shares", share_fields, &shares[r]);
	free(ranks);
	free(shares);
	need_output(writer_end(&out));
}
