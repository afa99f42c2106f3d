/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <unistd.h>

#include "report.h"

static void
csv_totals(const char *what, const char *name, const struct totals *t)
{
	printf("%s,%s,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,%llu,%llu,%llu,%llu\n", what, name,
	    seconds(t->program_ns + t->graph_ns), seconds(t->program_ns), seconds(t->graph_ns),
	    seconds(t->execution_ns), seconds(wait_ns(t)), seconds(t->wait_before_ns),
	    seconds(t->wait_after_ns), seconds(t->unsynchronised_ns), imbalance_of(t),
	    (unsigned long long)t->calls, (unsigned long long)t->unsynchronised,
	    (unsigned long long)t->nodes, (unsigned long long)t->edges);
}

static void
csv_analytic(const struct imbalance *im)
{
	char rank[16];

	printf("what,name,total_time_s,program_time_s,graph_time_s,total_execution_time_s,"
	    "total_wait_time_s,wait_before_time_s,wait_after_time_s,unsynchronised_time_s,imbalance,"
	    "num_calls,num_unsynchronised,num_nodes,num_edges\n");
	csv_totals("program", "", &im->program);
	for (int32_t r = 0; r < im->known.ranks; r++) {
		snprintf(rank, sizeof rank, "%d", (int)r);
		csv_totals("process", rank, &im->ranks[r]);
	}
	for (size_t i = 0; i < im->call_capacity; i++)
		if (im->calls[i].calls > 0)
			csv_totals("call", call_name((unsigned)i), &im->calls[i]);
}

static void
csv_text(const char *text)
{
	putchar('"');
	for (; *text != '\0'; text++)
		if (*text == '"')
			printf("\"\"");
		else
			putchar(*text);
	putchar('"');
}

/* One line for each state of each rank, site, ... that has any. */
static void
csv_by(const struct imbalance *im, enum dimension by)
{
	char text[1024];
	size_t count;
	struct line *lines = sorted_cells(im, by, &count);

	printf("%s,wait_state,wait_s\n", dimension_names[by]);
	for (size_t i = 0; i < count; i++)
		for (int s = 0; s < STATES; s++)
			if (lines[i].cell->wait_ns[s] > 0) {
				csv_text(index_text(im, by, lines[i].index, text, sizeof text));
				printf(",%s,%.9f\n", state_names[s], seconds(lines[i].cell->wait_ns[s]));
			}
	free(lines);
}

void
print_csv(const struct imbalance *im, const struct view *view)
{
	if (view->by >= 0)
		csv_by(im, (enum dimension)view->by);
	else
		csv_analytic(im);
}

/* ---- the same numbers as messages ------------------------------------------------------- */

void
write_stream(const struct imbalance *im, int argc, char **argv)
{
	static const struct column_type ns_type = { 8, true, true, 0 };
	int64_t *ranks = zalloc((size_t)im->known.ranks, sizeof *ranks);
	struct writer out;

	if (writer_open(&out, STDOUT_FILENO, "imbalance", &im->in, argc, argv) < 0)
		die_output();
	for (int s = 0; s < STATES; s++) {
		for (int32_t r = 0; r < im->known.ranks; r++)
			ranks[r] = im->tables[BY_RANK].cells[r].wait_ns[s];
		message_begin(&out, "wait_state", 5);
		put_string(&out, "name", state_names[s]);
		put_int(&out, "wait_ns", im->states[s].wait_ns);
		put_uint(&out, "waits", im->states[s].count);
		put_int(&out, "count", im->known.ranks);
		put_column(&out, "rank_ns", ns_type, ranks, (size_t)im->known.ranks);
		if (message_end(&out) < 0)
			die_output();
	}
	for (int32_t r = 0; r < im->known.ranks; r++) {
		struct shares share = shares_of(im, r);

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
	if (writer_end(&out) < 0)
		die_output();
}
