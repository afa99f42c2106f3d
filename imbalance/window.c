/* SPDX-License-Identifier: BSD-3-Clause */
/* A window of the run, as a line, a JSON object or a screen. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report.h"

enum { TOLD = 5 };	/* pairs and calls of a window */

ORDER(by_wait, struct pair, MOST(ns) BY(rank) BY(for_rank) BY(key))

/* The longest waits, or delays, first; returns their number. */
static size_t
longest(const struct window_sums *w, bool late, struct pair *to)
{
	size_t count = 0;

	for (size_t i = 0; i < w->pairs.size; i++)
		if (!pairs_is_free(&w->pairs.slots[i]) &&
		    (w->pairs.slots[i].for_rank == -1) == late)
			to[count++] = w->pairs.slots[i];
	SORT(to, count, by_wait);
	return count < TOLD ? count : TOLD;
}

/* The rank whose delays cost most; without delays, the one that computes most. */
static int32_t
long_pole(const struct window_sums *w, int32_t ranks)
{
	int32_t most = 0;

	for (int32_t r = 1; r < ranks; r++) {
		const struct share *s = &w->shares[r], *m = &w->shares[most];

		if (s->cost_ns > m->cost_ns ||
		    (s->cost_ns == m->cost_ns && s->compute_ns > m->compute_ns))
			most = r;
	}
	return most;
}

static struct efficiency
efficiency_in(const struct every *e, const struct window_sums *w, int64_t from_ns, int64_t to_ns)
{
	const int32_t ranks = e->im->graph.known.ranks;
	struct span *spans = zalloc((size_t)ranks, sizeof *spans);
	struct efficiency efficiency;

	for (int32_t r = 0; r < ranks; r++) {
		const int64_t last_ns = e->ended ? e->accounts[r].until_ns : INT64_MAX;

		spans[r] = (struct span){ .begin_ns = e->begin_ns[r],
		    .end_ns = e->end_ns[r] < last_ns ? e->end_ns[r] : last_ns,
		    .useful_ns = w->shares[r].useful_ns };
	}
	efficiency = efficiency_of_spans(spans, ranks, from_ns, to_ns, false);
	free(spans);
	return efficiency;
}

static void
put_pairs(struct every *e, const struct window_sums *w, bool late, struct pair *pairs)
{
	const size_t count = longest(w, late, pairs);

	json_begin_array(&e->json, late ? "delays" : "waits");
	for (size_t i = 0; i < count; i++) {
		json_begin_object(&e->json, NULL);
		json_int(&e->json, "rank", pairs[i].rank);
		if (late) {
			json_text(&e->json, "kind", pairs[i].key % 2 == 0 ? "compute" : "mpi");
			json_text(&e->json, "where",
			    site_text(&e->im->graph.known, pairs[i].key / 2));
			json_double(&e->json, "cost_s", 1e-9 * pairs[i].ns);
		} else {
			json_int(&e->json, "for", pairs[i].for_rank);
			json_seconds(&e->json, "wait_s", (int64_t)pairs[i].ns);
		}
		json_end_object(&e->json);
	}
	json_end_array(&e->json);
}

static void
put_ranks(struct every *e, const struct window_sums *w)
{
	json_begin_array(&e->json, "ranks");
	for (int32_t r = 0; r < e->im->graph.known.ranks; r++) {
		json_begin_object(&e->json, NULL);
		json_int(&e->json, "rank", r);
		json_seconds(&e->json, "compute_s", w->shares[r].compute_ns);
		json_seconds(&e->json, "mpi_s", w->shares[r].mpi_ns);
		json_seconds(&e->json, "wait_s", w->shares[r].wait_ns);
		json_double(&e->json, "cost_s", 1e-9 * w->shares[r].cost_ns);
		json_seconds(&e->json, "open_s", w->shares[r].open_ns);
		json_end_object(&e->json);
	}
	json_end_array(&e->json);
}

static struct share
sum_of(const struct window_sums *w, int32_t ranks)
{
	struct share all = { 0 };

	for (int32_t r = 0; r < ranks; r++) {
		all.compute_ns += w->shares[r].compute_ns;
		all.mpi_ns += w->shares[r].mpi_ns;
		all.wait_ns += w->shares[r].wait_ns;
		all.open_ns += w->shares[r].open_ns;
	}
	return all;
}

static void
tell_json(struct every *e, const struct window_sums *w, int64_t from_ns, int64_t to_ns)
{
	const int32_t ranks = e->im->graph.known.ranks, pole = long_pole(w, ranks);
	const struct efficiency f = efficiency_in(e, w, from_ns, to_ns);
	const struct share all = sum_of(w, ranks);
	struct pair *pairs = zalloc(w->pairs.count + 1, sizeof *pairs);

	json_begin_object(&e->json, NULL);
	json_seconds(&e->json, "from_s", from_ns);
	json_seconds(&e->json, "to_s", to_ns);
	json_fixed(&e->json, "parallel", f.parallel, 9);
	json_fixed(&e->json, "load_balance", f.load_balance, 9);
	json_fixed(&e->json, "communication", f.communication, 9);
	json_seconds(&e->json, "compute_s", all.compute_ns);
	json_seconds(&e->json, "mpi_s", all.mpi_ns);
	json_seconds(&e->json, "wait_s", all.wait_ns);
	json_int(&e->json, "open_calls", w->open_calls);
	json_seconds(&e->json, "open_s", all.open_ns);
	json_begin_object(&e->json, "long_pole");
	json_int(&e->json, "rank", pole);
	json_double(&e->json, "cost_s", 1e-9 * w->shares[pole].cost_ns);
	json_seconds(&e->json, "compute_s", w->shares[pole].compute_ns);
	json_end_object(&e->json);
	put_pairs(e, w, true, pairs);
	put_pairs(e, w, false, pairs);
	put_ranks(e, w);
	json_end_object(&e->json);
	json_end_line(&e->json);
	free(pairs);
}

static double
percent(int64_t ns, int64_t of_ns)
{
	return of_ns > 0 ? 100 * (double)ns / (double)of_ns : 0;
}

static void
tell_text(struct every *e, const struct window_sums *w, int64_t from_ns, int64_t to_ns)
{
	const int32_t ranks = e->im->graph.known.ranks, pole = long_pole(w, ranks);
	const struct efficiency f = efficiency_in(e, w, from_ns, to_ns);
	const struct share all = sum_of(w, ranks);
	const int64_t all_ns = (to_ns - from_ns) * counted_locations(e->im);
	struct pair *pairs = zalloc(w->pairs.count + 1, sizeof *pairs);
	const bool late = longest(w, true, pairs) > 0;

	text_print(&e->text, "%.3f s: parallel %.3f = load balance %.3f x communication %.3f; "
	    "compute %.1f %%, MPI %.1f %%, waits %.1f %%", seconds(to_ns), isnan(f.parallel) ? 0 :
	    f.parallel, isnan(f.load_balance) ? 0 : f.load_balance, isnan(f.communication) ? 0 :
	    f.communication, percent(all.compute_ns, all_ns), percent(all.mpi_ns - all.wait_ns,
	    all_ns), percent(all.wait_ns, all_ns));
	if (all.open_ns > 0)
		text_print(&e->text, ", open calls %.1f %%", percent(all.open_ns, all_ns));
	text_put(&e->text, "; ");
	if (late)
		text_line(&e->text, "rank %d cost the others %.3f s, rank %d's %s %s %.3f s",
		    (int)pole, 1e-9 * w->shares[pole].cost_ns, (int)pairs[0].rank,
		    pairs[0].key % 2 == 0 ? "computation before" : "time in", pairs[0].key > 1 ?
		    site_text(&e->im->graph.known, pairs[0].key / 2) :
		    "an unknown place", 1e-9 * pairs[0].ns);
	else
		text_line(&e->text, "rank %d computed %.3f s",
		    (int)pole, seconds(w->shares[pole].compute_ns));
	free(pairs);
}

struct rank_share {
	int32_t rank;
	struct share share;
};

ORDER(by_cost, struct rank_share, MOST(share.cost_ns) MOST(share.compute_ns) BY(rank))

/* The most costly ranks, as many as there are lines, and which rank waits for which. */
static void
tell_screen(struct every *e, const struct window_sums *w, int64_t from_ns, int64_t to_ns)
{
	enum { OTHER_LINES = 8, USUAL_LINES = 24 };
	const int32_t ranks = e->im->graph.known.ranks;
	struct rank_share *all = zalloc((size_t)ranks, sizeof *all);
	struct pair *pairs = zalloc(w->pairs.count + 1, sizeof *pairs);
	const size_t count = longest(w, false, pairs);
	char *headline = headline_text(&e->im->graph.known.headline);
	struct winsize size = { 0 };
	int lines;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0)
		size.ws_row = USUAL_LINES;
	lines = size.ws_row > OTHER_LINES ? size.ws_row - OTHER_LINES : 1;
	for (int32_t r = 0; r < ranks; r++)
		all[r] = (struct rank_share){ r, w->shares[r] };
	SORT(all, (size_t)ranks, by_cost);
	text_put(&e->text, "\033[H\033[J");
	text_line(&e->text, "%s", headline);
	tell_text(e, w, from_ns, to_ns);
	text_put(&e->text, "\n rank  compute_%    MPI_%  waits_%  costs_others_s\n");
	for (int32_t i = 0; i < ranks && i < lines; i++)
		text_line(&e->text, "%5d %10.1f %8.1f %8.1f %15.3f", (int)all[i].rank,
		    percent(all[i].share.compute_ns, to_ns - from_ns),
		    percent(all[i].share.mpi_ns - all[i].share.wait_ns, to_ns - from_ns),
		    percent(all[i].share.wait_ns, to_ns - from_ns), 1e-9 * all[i].share.cost_ns);
	text_char(&e->text, '\n');
	for (size_t i = 0; i < count; i++)
		text_print(&e->text, "%srank %d waited %.3f s for %d", i > 0 ? "; " : "",
		    (int)pairs[i].rank, 1e-9 * pairs[i].ns, (int)pairs[i].for_rank);
	text_char(&e->text, '\n');
	free(headline);
	free(all);
	free(pairs);
}

void
tell_window(struct every *e, const struct window_sums *w, int64_t from_ns, int64_t to_ns)
{
	if (e->form == JSON)
		tell_json(e, w, from_ns, to_ns);
	else if (e->screen)
		tell_screen(e, w, from_ns, to_ns);
	else
		tell_text(e, w, from_ns, to_ns);
}

/* ---- calls that hold up the next window ---------------------------------------------- */

void
tell_open_calls(struct every *e, const struct reached *now, int64_t all_until_ns)
{
	const struct definitions *known = &e->im->graph.known;
	uint32_t first = UINT32_MAX;

	for (uint32_t l = 0; l < known->location_count; l++)
		if (now->call[l] != 0 &&
		    (first == UINT32_MAX || now->since_ns[l] < now->since_ns[first]))
			first = l;
	if (e->form == JSON) {
		json_begin_object(&e->json, NULL);
		json_seconds(&e->json, "at_s", now->at_ns);
		json_begin_array(&e->json, "calls");
		for (uint32_t l = 0; l < known->location_count; l++) {
			json_begin_object(&e->json, NULL);
			json_int(&e->json, "rank", known->location_rank[l]);
			json_uint(&e->json, "thread", known->location_thread[l]);
			if (now->call[l] != 0)
				json_text(&e->json, "call", call_name(now->call[l]));
			else
				json_null(&e->json, "call");
			json_seconds(&e->json, "since_s",
			    now->call[l] != 0 ? now->since_ns[l] : e->accounts[l].until_ns);
			json_end_object(&e->json);
		}
		json_end_array(&e->json);
		json_end_object(&e->json);
		json_end_line(&e->json);
	} else if (first != UINT32_MAX)
		text_line(&e->text, "%.3f s: rank %d has been in %s for %.3f s",
		    seconds(now->at_ns), (int)known->location_rank[first],
		    call_name(now->call[first]), seconds(now->at_ns - now->since_ns[first]));
	else
		text_line(&e->text, "%.3f s: a message or collective is not complete since %.3f s",
		    seconds(now->at_ns), seconds(all_until_ns));
	e->told_ns = now->at_ns;
	text_flush(&e->text);
	fflush(stdout);
}
