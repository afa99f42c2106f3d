/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "imbalance.h"

static void
add_totals(struct totals *to, const struct totals *call)
{
	to->wait_before_ns += call->wait_before_ns;
	to->wait_after_ns += call->wait_after_ns;
	to->execution_ns += call->execution_ns;
	to->unsynchronised_ns += call->unsynchronised_ns;
	to->program_ns += call->program_ns;
	to->graph_ns += call->graph_ns;
	to->calls += call->calls;
	to->unsynchronised += call->unsynchronised;
	to->nodes += call->nodes;
	to->edges += call->edges;
}

double
imbalance_of(const struct totals *t)
{
	int64_t useful_ns = t->execution_ns + t->program_ns;

	return useful_ns > 0 ? (double)wait_ns(t) / (double)useful_ns : 0;
}

void
count_analytic(struct imbalance *im, uint32_t location, uint64_t first, uint64_t end,
    int64_t program_ns)
{
	const struct wait_row *call = wait_row(im, location, first), *group = NULL;
	const struct row *row = &call->row;
	struct totals t = { .graph_ns = counted_ns(im, row->enter_ns, row->leave_ns), .calls = 1,
	    .nodes = 2, .edges = 1 };

	for (uint64_t seq = first; seq < end; seq++) {
		const struct wait_row *part = wait_row(im, location, seq);

		t.edges += part->edges;
		if (part->paired && (group == NULL || part->start_ns > group->start_ns))
			group = part;
	}
	if (group == NULL)
		t.execution_ns = t.graph_ns;
	else {
		int64_t start_ns = group->start_ns > row->enter_ns ? group->start_ns : row->enter_ns;
		int64_t end_ns = group->end_ns < row->leave_ns ? group->end_ns : row->leave_ns;

		if (end_ns >= start_ns) {
			t.wait_before_ns = counted_ns(im, row->enter_ns, start_ns);
			t.wait_after_ns = counted_ns(im, end_ns, row->leave_ns);
			t.execution_ns = counted_ns(im, start_ns, end_ns);
		} else {
			t.unsynchronised_ns = t.graph_ns;
			t.unsynchronised = 1;
		}
	}
	if (row->call >= im->call_capacity) {
		size_t known = im->call_capacity;

		im->calls = grow(im->calls, &im->call_capacity, row->call + (size_t)1,
		    sizeof *im->calls);
		memset(im->calls + known, 0, (im->call_capacity - known) * sizeof *im->calls);
	}
	add_totals(&im->calls[row->call], &t);
	t.program_ns = program_ns;
	t.edges += im->last_leave_ns[location] != INT64_MIN;
	add_totals(&im->ranks[im->known.location_rank[location]], &t);
	add_totals(&im->program, &t);
}
