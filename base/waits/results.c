/* SPDX-License-Identifier: BSD-3-Clause */
/* Derives shares, efficiencies and names from the sums of a run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "waits.h"

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
	struct shares *all = zalloc((size_t)im->graph.known.ranks, sizeof *all);

	for (int32_t r = 0; r < im->graph.known.ranks; r++) {
		const struct cell *cell = &im->tables[BY_RANK].cells[r];

		all[r] = (struct shares){ .rank = r,
		    .compute_ns = cell->compute_ns, .polling_ns = cell->polling_ns,
		    .wait_ns = waits_ns(&im->tables[BY_RANK], (size_t)r) };
		all[r].mpi_useful_ns = cell->mpi_ns - all[r].wait_ns;
	}
	for (uint32_t l = 0; l < im->graph.known.location_count; l++) {
		struct shares *s;

		if (im->graph.known.location_rank[l] < 0 || !is_counted(im, l))
			continue;
		s = &all[im->graph.known.location_rank[l]];
		s->run_ns += counted_run_ns(im);
		if (im->last_leave_ns[l] == INT64_MIN)	/* no calls at all */
			s->before_ns += counted_run_ns(im);
		else {
			s->before_ns += im->before_ns[l];
			s->after_ns += counted_ns(im, im->last_leave_ns[l], im->graph.known.run_ns);
		}
	}
	return all;
}

struct shares
shares_of_all(const struct imbalance *im)
{
	struct shares *by_rank = shares_by_rank(im), all = { 0 };

	for (int32_t r = 0; r < im->graph.known.ranks; r++) {
		all.before_ns += by_rank[r].before_ns;
		all.compute_ns += by_rank[r].compute_ns;
		all.mpi_useful_ns += by_rank[r].mpi_useful_ns;
		all.wait_ns += by_rank[r].wait_ns;
		all.after_ns += by_rank[r].after_ns;
		all.polling_ns += by_rank[r].polling_ns;
	}
	free(by_rank);
	return all;
}

bool
sums_hold(const struct imbalance *im)
{
	struct shares *all = shares_by_rank(im);
	bool hold = true;

	for (const struct shares *s = all; s < all + im->graph.known.ranks; s++) {
		hold = hold && s->mpi_useful_ns >= 0 && s->before_ns + s->compute_ns +
		    s->mpi_useful_ns + s->wait_ns + s->after_ns == s->run_ns;
	}
	free(all);
	return hold;
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
	return e;
}

double
explained_share(const struct explained *e)
{
	return e->wait_ns > 0 ? (double)(e->delay_ns + e->completion_ns) / (double)e->wait_ns : 1;
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
