/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <unistd.h>

#include "../base/tool/csv.h"
#include "report.h"

static void
put_totals(struct csv *out, const char *what, const char *name, const struct totals *t)
{
	const int64_t times_ns[] = { t->program_ns + t->mpi_ns, t->program_ns, t->mpi_ns,
		t->execution_ns, wait_ns(t), t->wait_before_ns, t->wait_after_ns, t->unsynchronised_ns };

	csv_text(out, what);
	csv_text(out, name);
	for (size_t i = 0; i < sizeof times_ns / sizeof times_ns[0]; i++)
		csv_fixed(out, seconds(times_ns[i]), 9);
	csv_fixed(out, imbalance_of(t), 9);
	csv_uint(out, t->calls);
	csv_uint(out, t->unsynchronised);
	csv_uint(out, t->nodes);
	csv_uint(out, t->edges);
	csv_end_row(out);
}

static void
print_analytic(struct text *text, const struct imbalance *im)
{
	struct csv csv, *out = &csv;
	char rank[16];

	csv_begin(out, text, "what,name,total_time_s,program_time_s,mpi_time_s,total_execution_time_s,"
	    "total_wait_time_s,wait_before_time_s,wait_after_time_s,unsynchronised_time_s,imbalance,"
	    "num_calls,num_unsynchronised,num_nodes,num_edges");
	put_totals(out, "program", "", &im->program);
	for (int32_t r = 0; r < im->graph.known.ranks; r++) {
		snprintf(rank, sizeof rank, "%d", (int)r);
		put_totals(out, "process", rank, &im->ranks[r]);
	}
	for (size_t i = 0; i < im->call_capacity; i++)
		if (im->calls[i].calls > 0)
			put_totals(out, "call", call_name((unsigned)i), &im->calls[i]);
}

/* One line for each state of each rank, site, ... that has any. */
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
				csv_text(&csv, index_text(im, by, lines[i].index, name, sizeof name));
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
	static const struct column_type ns_type = { 8, true, true, 0 };
	int64_t *ranks = zalloc((size_t)im->graph.known.ranks, sizeof *ranks);
	struct shares *shares = shares_by_rank(im);
	struct writer out;

	if (writer_open(&out, STDOUT_FILENO, "imbalance", im->graph.in, argc, argv) < 0)
		die_output();
	for (int s = 0; s < STATES; s++) {
		for (int32_t r = 0; r < im->graph.known.ranks; r++)
			ranks[r] = state_ns(&im->tables[BY_RANK], (size_t)r, s);
		message_begin(&out, "wait_state", 5);
		put_string(&out, "name", state_names[s]);
		put_int(&out, "wait_ns", im->states[s].wait_ns);
		put_uint(&out, "waits", im->states[s].count);
		put_int(&out, "count", im->graph.known.ranks);
		put_column(&out, "rank_ns", ns_type, ranks, (size_t)im->graph.known.ranks);
		if (message_end(&out) < 0)
			die_output();
	}
	for (int32_t r = 0; r < im->graph.known.ranks; r++) {
		const struct shares share = shares[r];

		message_begin(&out, "shares", 7);
		put_int(&out, "rank", r);
		put_int(&out, "before_ns", share.before_ns);
		put_int(&out, "compute_ns", share.compute_ns);
		put_int(&out, "mpi_useful_ns", share.mpi_useful_ns);
		put_int(&out, "wait_ns", share.wait_ns);
		put_int(&out, "after_ns", share.after_ns);
		put_int(&out, "polling_ns", share.polling_ns);
		if (message_end(&out) < 0)
			die_output();
	}
	free(ranks);
	free(shares);
	if (writer_end(&out) < 0)
		die_output();
}
