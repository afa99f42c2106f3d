/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables in which times are added up; shares, efficiencies and names that follow from them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

const char *const state_names[STATES] = {
#define X(STATE, name) [STATE] = name,
	STATES_TABLE(X)
#undef X
};

int64_t
waits_ns(const struct table *table, size_t index)
{
	int64_t sum = 0;

	for (int s = 0; s < STATES; s++)
		sum += state_ns(table, index, s);
	return sum;
}

void
count_wait(struct imbalance *im, const struct wait *wait, int sign)
{
	const int64_t ns = sign * counted_ns(im, wait->from_ns, wait->to_ns);
	struct state_sums *sums = &im->states[wait->state];
	const int32_t *rank = im->graph.known.location_rank;
	const size_t index[DIMENSIONS] = { [BY_RANK] = (size_t)rank[wait->location],
	    [BY_SITE] = wait->site, [BY_CALL] = wait->call, [BY_COMMUNICATOR] = wait->comm,
	    [BY_PARTNER] = wait->cause == NOBODY ? SIZE_MAX : (size_t)rank[wait->cause] };

	if (ns == 0)
		return;
	sums->wait_ns += ns;
	sums->count += (uint64_t)(int64_t)sign;
	for (enum dimension by = 0; by < DIMENSIONS; by++) {
		if (index[by] == SIZE_MAX)
			continue;
		*wait_ns_of(&im->tables[by], index[by], wait->state) += ns;
		cell_of(im, by, index[by])->waits += (uint64_t)(int64_t)sign;
	}
}

void
count_largest(struct imbalance *im, const struct wait *wait)
{
	struct wait *largest = &im->states[wait->state].largest;
	const int64_t ns = counted_ns(im, wait->from_ns, wait->to_ns);
	const int64_t most_ns = counted_ns(im, largest->from_ns, largest->to_ns);

	if (ns > most_ns || (ns == most_ns && ns > 0 && (wait->from_ns < largest->from_ns ||
	    (wait->from_ns == largest->from_ns && wait->location < largest->location))))
		*largest = *wait;
}

void
count_analytic(struct imbalance *im, const struct whole_call *call)
{
	const struct row *row = &call->rows[0].row;
	const struct wait_row *group = NULL;
	struct analytic *sums[2];
	uint64_t edges = 0;
	int64_t start_ns, end_ns, before_ns, after_ns;
	bool apart;

	for (const struct wait_row *part = call->rows; part < call->rows + call->count; part++) {
		edges += part->edges;
		if (part->paired && (group == NULL || part->start_ns > group->start_ns))
			group = part;
	}
	if (group == NULL)
		return;		/* all execution; edges end only at rows of a group */
	sums[0] = analytic_of(im, BY_RANK, (size_t)im->graph.known.location_rank[call->location]);
	sums[1] = analytic_of(im, BY_CALL, row->call);
	start_ns = larger(group->start_ns, row->enter_ns);
	end_ns = smaller(group->end_ns, row->leave_ns);
	apart = end_ns < start_ns;
	before_ns = counted_ns(im, row->enter_ns, start_ns);
	after_ns = counted_ns(im, end_ns, row->leave_ns);
	for (int i = 0; i < 2; i++) {
		sums[i]->edges += edges;
		sums[i]->unsynchronised_ns += apart ? call->mpi_ns : 0;
		sums[i]->unsynchronised += apart;
		sums[i]->wait_before_ns += apart ? 0 : before_ns;
		sums[i]->wait_after_ns += apart ? 0 : after_ns;
	}
}

/* ---- results ---- */

static struct totals
totals_from(const struct cell *cell, const struct analytic *of, bool ranks)
{
	struct totals t = { .of = *of, .program_ns = ranks ? cell->compute_ns : 0,
	    .mpi_ns = cell->mpi_ns, .calls = cell->calls, .nodes = 2 * cell->calls };
	int64_t useful_ns;

	t.edges = of->edges + cell->calls;
	if (ranks)
		t.edges += cell->calls;		/* from the call before */
	t.wait_ns = of->wait_before_ns + of->wait_after_ns;
	t.execution_ns = t.mpi_ns - t.wait_ns - of->unsynchronised_ns;
	t.total_ns = t.program_ns + t.mpi_ns;
	useful_ns = t.execution_ns + t.program_ns;
	t.imbalance = useful_ns > 0 ? (double)t.wait_ns / (double)useful_ns : 0;
	return t;
}

struct totals
totals_of(const struct imbalance *im, enum dimension by, size_t index)
{
	const struct table *table = &im->tables[by];
	const struct analytic none = { 0 };

	return totals_from(&table->cells[index], index < table->analytic_count ?
	    &table->analytic[index] : &none, by == BY_RANK);
}

struct totals
totals_of_all(const struct imbalance *im)
{
	struct cell cell = { 0 };
	struct analytic sum = { 0 };

	for (size_t r = 0; r < (size_t)im->graph.known.ranks; r++) {
		const struct totals rank = totals_of(im, BY_RANK, r);

		cell.compute_ns += rank.program_ns;
		cell.mpi_ns += rank.mpi_ns;
		cell.calls += rank.calls;
		sum.wait_before_ns += rank.of.wait_before_ns;
		sum.wait_after_ns += rank.of.wait_after_ns;
		sum.unsynchronised_ns += rank.of.unsynchronised_ns;
		sum.unsynchronised += rank.of.unsynchronised;
		sum.edges += rank.of.edges;
	}
	return totals_from(&cell, &sum, true);
}

int64_t
counted_run_ns(const struct imbalance *im)
{
	return counted_ns(im, 0, im->graph.known.run_ns);
}

/* A followed run has locations for threads that may call MPI later, or never. */
static bool
is_counted(const struct imbalance *im, uint32_t location)
{
	return location < (uint32_t)im->graph.known.ranks ||
	    im->last_leave_ns[location] != INT64_MIN;
}

int64_t
counted_locations(const struct imbalance *im)
{
	int64_t count = 0;

	for (uint32_t l = 0; l < im->graph.known.location_count; l++)
		count += is_counted(im, l);
	return count;
}

int64_t
all_time_ns(const struct imbalance *im)
{
	return counted_run_ns(im) * counted_locations(im);
}

struct shares *
shares_by_rank(const struct imbalance *im)
{
	const int32_t ranks = im->graph.known.ranks;
	struct shares *by_rank = zalloc((size_t)ranks + 1, sizeof *by_rank);
	struct shares *all = &by_rank[ranks];

	for (uint32_t l = 0; l < im->graph.known.location_count; l++) {
		struct shares *s;

		if (im->graph.known.location_rank[l] < 0 || !is_counted(im, l))
			continue;
		s = &by_rank[im->graph.known.location_rank[l]];
		s->run_ns += counted_run_ns(im);
		if (im->last_leave_ns[l] == INT64_MIN)	/* no calls at all */
			s->before_ns += counted_run_ns(im);
		else {
			s->before_ns += im->before_ns[l];
			s->after_ns += counted_ns(im, im->last_leave_ns[l], im->graph.known.run_ns);
		}
	}
	all->adds_up = true;
	for (int32_t r = 0; r < ranks; r++) {
		const struct cell *cell = &im->tables[BY_RANK].cells[r];
		struct shares *s = &by_rank[r];

		s->rank = r;
		s->compute_ns = cell->compute_ns;
		s->polling_ns = cell->polling_ns;
		s->wait_ns = waits_ns(&im->tables[BY_RANK], (size_t)r);
		s->mpi_useful_ns = cell->mpi_ns - s->wait_ns;
		s->adds_up = s->mpi_useful_ns >= 0 && s->before_ns + s->compute_ns +
		    s->mpi_useful_ns + s->wait_ns + s->after_ns == s->run_ns;
		all->before_ns += s->before_ns;
		all->compute_ns += s->compute_ns;
		all->mpi_useful_ns += s->mpi_useful_ns;
		all->wait_ns += s->wait_ns;
		all->after_ns += s->after_ns;
		all->polling_ns += s->polling_ns;
		all->adds_up &= s->adds_up;
	}
	return by_rank;
}

struct efficiency
efficiency_of(const struct imbalance *im, bool whole)
{
	const int64_t from_ns = im->from_ns > 0 ? im->from_ns : 0;

	return efficiency_of_spans(im->spans, im->graph.known.ranks, from_ns,
	    from_ns + counted_run_ns(im), whole);
}

struct ideal_efficiency
ideal_efficiency_of(const struct imbalance *im, const struct times *ideal, bool whole)
{
	const struct efficiency e = efficiency_of(im, whole);
	const double run_ns = (double)e.span_ns, ideal_ns = (double)ideal->of.span_ns;
	struct ideal_efficiency i = { .transfer = ideal_ns / run_ns,
	    .serialisation = e.communication * run_ns / ideal_ns,
	    .bsc_serialisation = ideal->of.communication };

	i.bsc_transfer = e.communication / i.bsc_serialisation;
	return i;
}

struct explained
explained_of(const struct imbalance *im)
{
	struct explained e = { 0 };

	for (int s = 0; s < STATES; s++) {
		const struct state_sums *sums = &im->states[s];

		e.wait_ns += sums->wait_ns;
		*(is_completion((enum state)s) ? &e.completion_ns : &e.delay_ns) +=
		    sums->direct_ns + sums->indirect_ns;
	}
	e.share = e.wait_ns > 0 ? (double)(e.delay_ns + e.completion_ns) / (double)e.wait_ns : 1;
	return e;
}

ORDER(by_wait, struct line, MOST(wait_ns) BY(index))

struct line *
sorted_cells(const struct imbalance *im, enum dimension dimension, size_t *count)
{
	const struct table *table = &im->tables[dimension];
	struct line *lines = zalloc(table->count + 1, sizeof *lines);

	*count = 0;
	for (size_t i = 0; i < table->count; i++)
		if (table->cells[i].calls > 0 || table->cells[i].waits > 0)
			lines[(*count)++] = (struct line){ i, &table->cells[i],
			    waits_ns(table, i) };
	SORT(lines, *count, by_wait);
	return lines;
}

const char *
index_text(const struct imbalance *im, enum dimension dimension, size_t index,
    char *text, size_t size)
{
	const struct definitions *known = &im->graph.known;
	const struct communicator *c = index < known->comm_count ? &known->comms[index] : NULL;

	switch (dimension) {
	case BY_SITE:
		if (site_text(known, (uint32_t)index)[0] != '\0')
			return site_text(known, (uint32_t)index);
		snprintf(text, size, "site %zu", index);
		break;
	case BY_CALL:
		snprintf(text, size, "%s", call_name((unsigned)index));
		break;
	case BY_COMMUNICATOR:
		if (index < 3)
			snprintf(text, size, "%s", index == 1 ? "MPI_COMM_WORLD" : index == 2 ?
			    "MPI_COMM_SELF" : "(none)");
		else if (c != NULL && c->is_world)
			snprintf(text, size, "MPI_COMM_WORLD %zu of %d", index - 3, (int)c->size);
		else
			snprintf(text, size, "communicator %zu of %d", index,
			    c != NULL ? (int)c->size : 0);
		break;
	default:
		snprintf(text, size, "%zu", index);
	}
	return text;
}

double
site_heuristic(const struct imbalance *im, size_t site)
{
	const struct site_ns *of = site < im->site_count ? im->sites[site] : NULL;
	double most = 0, sum = 0;

	for (int32_t r = 0; of != NULL && r < im->graph.known.ranks; r++) {
		const double ns = (double)of[r].compute_ns;

		most = ns > most ? ns : most;
		sum += ns;
	}
	return sum > 0 ? most * im->graph.known.ranks / sum : 1;
}
