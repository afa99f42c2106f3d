/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>

#include "../waits/poles.h"
#include "../tool/table.h"
#include "imbalance.h"

static void
print_more(struct text *out, size_t count, size_t shown)
{
	if (count > shown)
		text_line(out, "(%zu more; --all shows them)", count - shown);
}

static void
begin_table(struct table_writer *table, struct text *out, const char *head)
{
	text_char(out, '\n');
	table_begin(table, out, head);
}

static double
share(int64_t ns, const struct imbalance *im)
{
	const int64_t all_ns = all_time_ns(im);

	return all_ns > 0 ? 100 * (double)ns / (double)all_ns : 0;
}

static void
print_head(struct text *out, const struct imbalance *im, const struct view *view)
{
	const struct efficiency e = efficiency_of(im, view->whole);
	const struct explained why = explained_of(im);
	struct shares *by_rank = shares_by_rank(im), all = by_rank[im->graph.known.ranks];
	const int64_t known_open_ns = im->graph.known.headline.open_ns;
	const int64_t open_ns = known_open_ns < all.mpi_useful_ns ? known_open_ns :
	    all.mpi_useful_ns;
	struct verdict v = verdict_of(im, NULL);

	free(by_rank);
	verdict_text(out, &im->graph.known.headline, &v);
	verdict_free(&v);
	text_line(out, "run time %.9f s on %d ranks; imbalance of the program %.4f",
	    seconds(counted_run_ns(im)), (int)im->graph.known.ranks, totals_of_all(im).imbalance);
	if (isfinite(e.parallel))
		text_line(out, "efficiencies (POP) %s: parallel %.4f = load balance %.4f x "
		    "communication %.4f", span_rule(view->whole), e.parallel, e.load_balance,
		    e.communication);
	hybrid_line(out, im);
	if (view->ideal != NULL) {
		const struct ideal_efficiency i = ideal_efficiency_of(im, view->ideal, view->whole);

		text_line(out, "%s %.9f s, on an ideal network %.9f s", span_rule(view->whole),
		    seconds(e.span_ns), seconds(view->ideal->of.span_ns));
		text_line(out, "communication = serialisation %.4f x transfer %.4f (POP); %.4f x "
		    "%.4f (BSC modelfactors)", i.serialisation, i.transfer, i.bsc_serialisation,
		    i.bsc_transfer);
	}
	text_line(out, "of all time: compute %.2f %%, useful MPI %.2f %% (failed polls %.2f %%), "
	    "waits %.2f %%, before the first call and after the last %.2f %%%s",
	    share(all.compute_ns, im), share(all.mpi_useful_ns - open_ns, im), share(all.polling_ns,
	    im), share(all.wait_ns, im), share(all.before_ns + all.after_ns, im), all.adds_up ?
	    "; adds up on every rank" : "; DOES NOT ADD UP");
	if (open_ns > 0)
		text_line(out, "and %.2f %% in calls that did not return, and may have waited",
		    share(open_ns, im));
	if (why.wait_ns > 0)
		text_line(out, "%.2f %% of all waits have a cause: %.2f %% delays of other ranks, "
		    "%.2f %% the time that the collective itself took",
		    100 * why.share, 100 * (double)why.delay_ns / (double)why.wait_ns,
		    100 * (double)why.completion_ns / (double)why.wait_ns);
	if (im->graph.known.polls_wait)
		text_line(out, "polling loops with at most %.6g us between polls count as waiting",
		    1e-3 * (double)im->graph.known.poll_gap_ns);
	if (im->counts.unmatched_sends + im->counts.unmatched_receives +
	    im->counts.unmatched_collectives > 0)
		text_line(out, "not judged: %llu sends, %llu receives and %llu collectives without "
		    "partners", (unsigned long long)im->counts.unmatched_sends,
		    (unsigned long long)im->counts.unmatched_receives,
		    (unsigned long long)im->counts.unmatched_collectives);
	if (im->counts.errors > 0)
		text_line(out, "%llu calls returned an error: their time is MPI, and nobody waited "
		    "for them", (unsigned long long)im->counts.errors);
}

struct shown_state {
	int state;
	int64_t wait_ns;
};

ORDER(by_wait, struct shown_state, MOST(wait_ns) BY(state))

static void
print_states(struct text *out, const struct imbalance *im, size_t shown)
{
	struct shown_state order[STATES];
	size_t count = 0;
	struct table_writer table;
	char text[1024];

	for (int s = 0; s < STATES; s++)
		if (im->states[s].wait_ns > 0)
			order[count++] = (struct shown_state){ s, im->states[s].wait_ns };
	SORT(order, count, by_wait);
	begin_table(&table, out, "share_%\twait_s\twaits\tlargest_s\tby\tfor\tstate, and where the "
	    "largest was");
	for (size_t i = 0; i < count && i < shown; i++) {
		const struct state_sums *s = &im->states[order[i].state];
		const struct wait *w = &s->largest;

		table_fixed(&table, share(s->wait_ns, im), 2);
		table_seconds(&table, s->wait_ns);
		table_uint(&table, s->count);
		table_seconds(&table, w->to_ns - w->from_ns);
		table_int(&table, im->graph.known.location_rank[w->location]);
		if (w->cause != NOBODY)
			table_int(&table, im->graph.known.location_rank[w->cause]);
		else
			table_text(&table, "-");
		table_format(&table, "%s: %s", state_names[order[i].state],
		    index_text(im, BY_SITE, w->site, text, sizeof text));
		table_end_line(&table);
	}
	table_end(&table);
	print_more(out, count, shown);
}

/* The state with most of the wait time. */
static const char *
main_state(const struct table *table, size_t index)
{
	int most = 0;

	for (int s = 1; s < STATES; s++)
		if (state_ns(table, index, s) > state_ns(table, index, most))
			most = s;
	return state_ns(table, index, most) > 0 ? state_names[most] : "-";
}

static void
print_by(struct text *out, const struct imbalance *im, enum dimension by, size_t shown)
{
	struct table_writer table;
	char text[1024];
	size_t count;
	struct line *lines = sorted_cells(im, by, &count);

	snprintf(text, sizeof text, "share_%%\twait_s\twaits\tcompute_s\tmpi_s\tcalls%s\tmost of "
	    "it\t%s", by == BY_SITE ? "\tmax/mean" : "", by == BY_PARTNER ?
	    "rank that was waited for" : dimension_names[by]);
	begin_table(&table, out, text);
	for (size_t i = 0; i < count && i < shown; i++) {
		const struct cell *c = lines[i].cell;

		table_fixed(&table, share(lines[i].wait_ns, im), 2);
		table_seconds(&table, lines[i].wait_ns);
		table_uint(&table, c->waits);
		table_seconds(&table, c->compute_ns);
		table_seconds(&table, c->mpi_ns);
		table_uint(&table, c->calls);
		if (by == BY_SITE)
			table_fixed(&table, site_heuristic(im, lines[i].index), 2);
		table_text(&table, main_state(&im->tables[by], lines[i].index));
		table_text(&table, index_text(im, by, lines[i].index, text, sizeof text));
		table_end_line(&table);
	}
	table_end(&table);
	print_more(out, count, shown);
	free(lines);
}

static void
print_delays(struct text *out, const struct imbalance *im, size_t shown)
{
	struct table_writer table;
	char site[1024], where[1100];
	size_t count;
	struct delay *delays = sorted_delays(im, &count);

	begin_table(&table, out, NULL);
	table_head(&table, delay_fields);
	for (size_t i = 0; i < count && i < shown; i++) {
		struct delay_line line = delay_line(&delays[i]);

		snprintf(where, sizeof where, "%s%s",
		    delays[i].key % 2 == 0 ? "compute up to " : "MPI in ",
		    index_text(im, BY_SITE, delays[i].key / 2, site, sizeof site));
		line.where = where;
		table_row(&table, delay_fields, &line);
	}
	table_end(&table);
	print_more(out, count, shown);
	free(delays);
}

/* The longest waits, each with the chain back to its origin, of which SHOWN_LINKS are shown. */
static void
print_chains(struct text *out, const struct imbalance *im, size_t shown, size_t shown_links)
{
	struct wait chain[MOST_LINKS];
	char text[1024];

	for (size_t i = 0; i < chain_count(im) && i < shown; i++) {
		size_t links = chain_of(im, i, chain);

		text_char(out, '\n');
		for (size_t k = 0; k < links && k < shown_links; k++) {
			const struct wait *w = &chain[k];

			text_line(out, "%srank %d waited %.6f s for rank %d at %.6f s: %s in %s",
			    k == 0 ? "" : "  as ", (int)im->graph.known.location_rank[w->location],
			    seconds(w->to_ns - w->from_ns),
			    (int)im->graph.known.location_rank[w->cause], seconds(w->from_ns),
			    state_names[w->state], index_text(im, BY_SITE, w->site, text,
			    sizeof text));
		}
		print_more(out, links, shown_links);
	}
}

static void
print_critical(struct text *out, const struct imbalance *im, const struct critical *c, size_t shown)
{
	struct table_writer table;
	char where[1024];

	text_char(out, '\n');
	text_line(out, "critical path %.9f s, %.2f %% of it in transfers", seconds(c->length_ns),
	    c->length_ns > 0 ? 100 * (double)c->transfer_ns / (double)c->length_ns : 0);
	table_begin(&table, out, NULL);
	table_head(&table, critical_fields);
	for (size_t i = 0; i < c->count && i < shown; i++) {
		const struct critical_line line = { c->sites[i],
		    index_text(im, BY_SITE, c->sites[i].site, where, sizeof where) };

		table_row(&table, critical_fields, &line);
	}
	table_end(&table);
	print_more(out, c->count, shown);
}

void
print_table(struct text *out, const struct imbalance *im, const struct view *view)
{
	const size_t all = view->all ? SIZE_MAX : 0;

	print_head(out, im, view);
	if (view->by == BY_FUNCTION) {
		functions_table(out, im, true);
		return;
	}
	if (view->by >= 0) {
		print_by(out, im, (enum dimension)view->by, all > 0 ? all : 30);
		return;
	}
	print_states(out, im, all > 0 ? all : 6);
	print_by(out, im, BY_SITE, all > 0 ? all : 6);
	print_by(out, im, BY_RANK, all > 0 ? all : 4);
	if (view->critical != NULL)
		print_critical(out, im, view->critical, all > 0 ? all : 6);
	print_delays(out, im, all > 0 ? all : 6);
	functions_table(out, im, view->all);
	print_chains(out, im, all > 0 ? all : 1, all > 0 ? all : 6);
}
