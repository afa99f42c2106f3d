/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>

#include "causes.h"
#include "critical.h"
#include "report.h"
#include "times.h"

static void
print_more(size_t count, size_t shown)
{
	if (count > shown)
		printf("(%zu more; --all shows them)\n", count - shown);
}

static double
share(int64_t ns, const struct imbalance *im)
{
	int64_t all_ns = counted_run_ns(im) * (int64_t)im->known.location_count;

	return all_ns > 0 ? 100 * (double)ns / (double)all_ns : 0;
}

static void
print_head(const struct imbalance *im, const struct view *view)
{
	const struct efficiency e = efficiency_of(im);
	const struct totals *p = &im->program;
	const struct explained why = explained_of(im);
	struct shares all = { 0 };

	for (int32_t r = 0; r < im->known.ranks; r++) {
		struct shares s = shares_of(im, r);

		all.before_ns += s.before_ns;
		all.compute_ns += s.compute_ns;
		all.mpi_useful_ns += s.mpi_useful_ns;
		all.wait_ns += s.wait_ns;
		all.after_ns += s.after_ns;
		all.polling_ns += s.polling_ns;
	}
	printf("run time %.9f s on %d ranks; imbalance of the program %.4f\n",
	    seconds(counted_run_ns(im)), (int)im->known.ranks, imbalance_of(p));
	if (isfinite(e.parallel))
		printf("efficiencies (POP): parallel %.4f = load balance %.4f x communication %.4f\n",
		    e.parallel, e.load_balance, e.communication);
	if (view->ideal != NULL) {
		const struct ideal_efficiency i = ideal_efficiency_of(im, view->ideal);

		printf("communication = serialisation %.4f x transfer %.4f (POP); %.4f x %.4f (BSC modelfactors)\n",
		    i.serialisation, i.transfer, i.bsc_serialisation, i.bsc_transfer);
	}
	printf("of all time: compute %.2f %%, useful MPI %.2f %% (failed polls %.2f %%), waits %.2f %%, "
	    "before the first call and after the last %.2f %%%s\n", share(all.compute_ns, im),
	    share(all.mpi_useful_ns, im), share(all.polling_ns, im), share(all.wait_ns, im),
	    share(all.before_ns + all.after_ns, im), sums_hold(im) ? "; adds up on every rank" :
	    "; DOES NOT ADD UP");
	if (why.wait_ns > 0)
		printf("of all waits %.2f %% have a cause: %.2f %% what other ranks did meanwhile, %.2f %% that "
		    "the collective itself took so long\n", 100 * explained_share(&why),
		    100 * (double)why.delay_ns / (double)why.wait_ns,
		    100 * (double)why.completion_ns / (double)why.wait_ns);
	if (im->unmatched_sends + im->unmatched_receives + im->unmatched_collectives > 0)
		printf("not judged: %llu sends, %llu receives and %llu collectives without partners\n",
		    (unsigned long long)im->unmatched_sends, (unsigned long long)im->unmatched_receives,
		    (unsigned long long)im->unmatched_collectives);
}

static int
by_state_wait(const void *left, const void *right, void *states)
{
	const struct state_sums *s = states;
	const int a = *(const int *)left, b = *(const int *)right;

	if (s[a].wait_ns != s[b].wait_ns)
		return s[a].wait_ns > s[b].wait_ns ? -1 : 1;
	return a - b;
}

static void
print_states(const struct imbalance *im, size_t shown)
{
	int order[STATES], count = 0;
	char text[256];

	for (int s = 0; s < STATES; s++)
		if (im->states[s].wait_ns > 0)
			order[count++] = s;
	qsort_r(order, (size_t)count, sizeof order[0], by_state_wait, (void *)im->states);
	printf("\nshare_%%\twait_s\twaits\tlargest_s\tby\tfor\tstate, and where the largest was\n");
	for (int i = 0; i < count && (size_t)i < shown; i++) {
		const struct state_sums *s = &im->states[order[i]];
		const struct wait *w = &s->largest;
		char partner[16] = "-";

		if (w->cause != NOBODY)
			snprintf(partner, sizeof partner, "%d", (int)im->known.location_rank[w->cause]);
		printf("%.2f\t%.6f\t%llu\t%.6f\t%d\t%s\t%s: %s\n", share(s->wait_ns, im),
		    seconds(s->wait_ns), (unsigned long long)s->count, seconds(w->to_ns - w->from_ns),
		    (int)im->known.location_rank[w->location], partner, state_names[order[i]],
		    index_text(im, BY_SITE, w->site, text, sizeof text));
	}
	print_more((size_t)count, shown);
}

/* The state that most of the cell's waits are in. */
static const char *
main_state(const struct cell *cell)
{
	int most = 0;

	for (int s = 1; s < STATES; s++)
		if (cell->wait_ns[s] > cell->wait_ns[most])
			most = s;
	return cell->wait_ns[most] > 0 ? state_names[most] : "-";
}

static void
print_by(const struct imbalance *im, enum dimension by, size_t shown)
{
	char text[512];
	size_t count;
	struct line *lines = sorted_cells(im, by, &count);

	printf("\nshare_%%\twait_s\twaits\tcompute_s\tmpi_s\tcalls%s\tmost of it\t%s\n",
	    by == BY_SITE ? "\tmax/mean" : "", by == BY_PARTNER ? "rank that was waited for" :
	    dimension_names[by]);
	for (size_t i = 0; i < count && i < shown; i++) {
		const struct cell *c = lines[i].cell;

		printf("%.2f\t%.6f\t%llu\t%.6f\t%.6f\t%llu", share(lines[i].wait_ns, im),
		    seconds(lines[i].wait_ns), (unsigned long long)c->waits, seconds(c->compute_ns),
		    seconds(c->mpi_ns), (unsigned long long)c->calls);
		if (by == BY_SITE)
			printf("\t%.2f", site_heuristic(im, lines[i].index));
		printf("\t%s\t%s\n", main_state(c), index_text(im, by, lines[i].index, text, sizeof text));
	}
	print_more(count, shown);
	free(lines);
}

static void
print_delays(const struct imbalance *im, size_t shown)
{
	char text[512];
	size_t count;
	struct delay *delays = sorted_delays(im, &count);

	printf("\ncost_s\tshort_s\tlong_s\trank\tdelay: time that others spent waiting for it\n");
	for (size_t i = 0; i < count && i < shown; i++)
		printf("%.6f\t%.6f\t%.6f\t%d\t%s %s\n", 1e-9 * (delays[i].short_ns + delays[i].long_ns),
		    1e-9 * delays[i].short_ns, 1e-9 * delays[i].long_ns, (int)delays[i].rank,
		    delays[i].key % 2 == 0 ? "compute up to" : "MPI in",
		    index_text(im, BY_SITE, delays[i].key / 2, text, sizeof text));
	print_more(count, shown);
	free(delays);
}

/* The longest waits, each back to where it began. */
static void
print_chains(const struct imbalance *im, size_t shown)
{
	struct wait chain[MOST_LINKS];
	char text[512];

	for (size_t i = 0; i < chain_count(im) && i < shown; i++) {
		size_t links = chain_of(im, i, chain);

		printf("\n");
		for (size_t k = 0; k < links; k++) {
			const struct wait *w = &chain[k];

			printf("%srank %d waited %.6f s for rank %d at %.6f s: %s in %s\n",
			    k == 0 ? "" : "  as ", (int)im->known.location_rank[w->location],
			    seconds(w->to_ns - w->from_ns), (int)im->known.location_rank[w->cause],
			    seconds(w->from_ns), state_names[w->state],
			    index_text(im, BY_SITE, w->site, text, sizeof text));
		}
	}
}

static void
print_critical(const struct imbalance *im, const struct critical *c, size_t shown)
{
	char text[512];

	printf("\ncritical path %.9f s, %.2f %% of it in transfers\n", seconds(c->length_ns),
	    c->length_ns > 0 ? 100 * (double)c->transfer_ns / (double)c->length_ns : 0);
	printf("crit_imb_s\tpath_s\tmean_s\tact_impact_s\timb_impact_s\trank\tup to and in\n");
	for (size_t i = 0; i < c->count && i < shown; i++) {
		const struct critical_site *s = &c->sites[i];

		printf("%.6f\t%.6f\t%.6f\t%.6f\t%.6f\t%d\t%s\n", 1e-9 * s->imbalance_ns,
		    seconds(s->path_ns), 1e-9 * s->mean_ns, 1e-9 * s->activity_impact_ns,
		    1e-9 * s->imbalance_impact_ns, (int)s->rank,
		    index_text(im, BY_SITE, s->site, text, sizeof text));
	}
	print_more(c->count, shown);
}

void
print_table(const struct imbalance *im, const struct view *view)
{
	const size_t all = view->all ? SIZE_MAX : 0;

	print_head(im, view);
	if (view->by >= 0) {
		print_by(im, (enum dimension)view->by, all > 0 ? all : 30);
		return;
	}
	print_states(im, all > 0 ? all : 6);
	print_by(im, BY_SITE, all > 0 ? all : 6);
	print_by(im, BY_RANK, all > 0 ? all : 4);
	if (view->critical != NULL)
		print_critical(im, view->critical, all > 0 ? all : 6);
	print_delays(im, all > 0 ? all : 6);
	print_chains(im, all > 0 ? all : 1);
}
