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
longest(const struct section_sums *w, bool late, struct pair *to)
{
	size_t count = 0;

	for (const struct pair *p = NULL; (p = pairs_next(w->pairs, p)) != NULL; )
		if ((p->for_rank == -1) == late)
			to[count++] = *p;
	SORT(to, count, by_wait);
	return count < TOLD ? count : TOLD;
}

/* What all forms show of a window. */
struct shown {
	const struct section_sums *sums;
	int64_t from_ns, to_ns;
	struct share all;
	int32_t pole;	/* the rank whose delays cost most; without delays, that computes most */
	struct efficiency of;
	struct pair *pairs;		/* scratch */
};

static struct shown
shown_of(const struct by_section *by, const struct section_sums *w, int64_t from_ns, int64_t to_ns)
{
	const int32_t ranks = by->im->graph.known.ranks;
	struct span *spans = zalloc((size_t)ranks, sizeof *spans);
	struct shown shown = { .sums = w, .from_ns = from_ns, .to_ns = to_ns,
	    .pairs = zalloc(pairs_count(w->pairs), sizeof *shown.pairs) };

	for (int32_t r = 0; r < ranks; r++) {
		const int64_t last_ns = by->ended ? by->accounts[r].until_ns : INT64_MAX;
		const struct share *s = &w->shares[r], *most = &w->shares[shown.pole];

		if (s->cost_ns > most->cost_ns ||
		    (s->cost_ns == most->cost_ns && s->ns[COMPUTING] > most->ns[COMPUTING]))
			shown.pole = r;
		for (int what = 0; what < TIMES; what++)
			shown.all.ns[what] += s->ns[what];
		spans[r] = (struct span){ .begin_ns = by->begin_ns[r],
		    .end_ns = smaller(by->end_ns[r], last_ns),
		    .useful_ns = s->ns[COMPUTING] - s->ns[OUTSIDE] };
	}
	shown.of = efficiency_of_spans(spans, ranks, from_ns, to_ns, false);
	free(spans);
	return shown;
}

static void
put_pairs(struct by_section *by, const struct shown *w, bool late)
{
	struct pair *pairs = w->pairs;
	const size_t count = longest(w->sums, late, pairs);

	json_begin_array(&by->json, late ? "delays" : "waits");
	for (size_t i = 0; i < count; i++) {
		json_begin_object(&by->json, NULL);
		json_int(&by->json, "rank", pairs[i].rank);
		if (late) {
			json_text(&by->json, "kind", pairs[i].key % 2 == 0 ? "compute" : "mpi");
			json_text(&by->json, "where",
			    site_text(&by->im->graph.known, pairs[i].key / 2));
			json_double(&by->json, "cost_s", 1e-9 * pairs[i].ns);
		} else {
			json_int(&by->json, "for", pairs[i].for_rank);
			json_seconds(&by->json, "wait_s", (int64_t)pairs[i].ns);
		}
		json_end_object(&by->json);
	}
	json_end_array(&by->json);
}

static void
put_ranks(struct by_section *by, const struct section_sums *w)
{
	json_begin_array(&by->json, "ranks");
	for (int32_t r = 0; r < by->im->graph.known.ranks; r++) {
		json_begin_object(&by->json, NULL);
		json_int(&by->json, "rank", r);
		json_seconds(&by->json, "compute_s", w->shares[r].ns[COMPUTING]);
		json_seconds(&by->json, "mpi_s", w->shares[r].ns[IN_MPI]);
		json_seconds(&by->json, "wait_s", w->shares[r].ns[WAITING]);
		json_double(&by->json, "cost_s", 1e-9 * w->shares[r].cost_ns);
		json_seconds(&by->json, "open_s", w->shares[r].ns[OPEN]);
		json_end_object(&by->json);
	}
	json_end_array(&by->json);
}

static void
tell_json(struct by_section *by, const struct shown *w)
{
	const struct share *pole = &w->sums->shares[w->pole];

	json_begin_object(&by->json, NULL);
	json_seconds(&by->json, "from_s", w->from_ns);
	json_seconds(&by->json, "to_s", w->to_ns);
	json_fixed(&by->json, "parallel", w->of.parallel, 9);
	json_fixed(&by->json, "load_balance", w->of.load_balance, 9);
	json_fixed(&by->json, "communication", w->of.communication, 9);
	json_seconds(&by->json, "compute_s", w->all.ns[COMPUTING]);
	json_seconds(&by->json, "mpi_s", w->all.ns[IN_MPI]);
	json_seconds(&by->json, "wait_s", w->all.ns[WAITING]);
	json_int(&by->json, "open_calls", w->sums->open_calls);
	json_seconds(&by->json, "open_s", w->all.ns[OPEN]);
	json_begin_object(&by->json, "long_pole");
	json_int(&by->json, "rank", w->pole);
	json_double(&by->json, "cost_s", 1e-9 * pole->cost_ns);
	json_seconds(&by->json, "compute_s", pole->ns[COMPUTING]);
	json_end_object(&by->json);
	put_pairs(by, w, true);
	put_pairs(by, w, false);
	put_ranks(by, w->sums);
	json_end_object(&by->json);
	json_end_line(&by->json);
}

static double
percent(int64_t ns, int64_t of_ns)
{
	return of_ns > 0 ? 100 * (double)ns / (double)of_ns : 0;
}

static double
known_or_0(double efficiency)
{
	return isnan(efficiency) ? 0 : efficiency;
}

static void
tell_text(struct by_section *by, const struct shown *w)
{
	const struct share *pole = &w->sums->shares[w->pole];
	const int64_t all_ns = (w->to_ns - w->from_ns) * counted_locations(by->im);
	const bool late = longest(w->sums, true, w->pairs) > 0;
	const struct pair *first = &w->pairs[0];

	text_print(&by->text, "%.3f s: parallel %.3f = load balance %.3f x communication %.3f; "
	    "compute %.1f %%, MPI %.1f %%, waits %.1f %%", seconds(w->to_ns),
	    known_or_0(w->of.parallel), known_or_0(w->of.load_balance),
	    known_or_0(w->of.communication), percent(w->all.ns[COMPUTING], all_ns),
	    percent(w->all.ns[IN_MPI] - w->all.ns[WAITING], all_ns),
	    percent(w->all.ns[WAITING], all_ns));
	if (w->all.ns[OPEN] > 0)
		text_print(&by->text, ", open calls %.1f %%", percent(w->all.ns[OPEN], all_ns));
	text_put(&by->text, "; ");
	if (late)
		text_line(&by->text, "rank %d cost the others %.3f s, rank %d's %s %s %.3f s",
		    (int)w->pole, 1e-9 * pole->cost_ns, (int)first->rank, first->key % 2 == 0 ?
		    "computation before" : "time in", first->key > 1 ?
		    site_text(&by->im->graph.known, first->key / 2) : "an unknown place",
		    1e-9 * first->ns);
	else
		text_line(&by->text, "rank %d computed %.3f s",
		    (int)w->pole, seconds(pole->ns[COMPUTING]));
}

struct rank_share {
	int32_t rank;
	struct share share;
};

ORDER(by_cost, struct rank_share, MOST(share.cost_ns) MOST(share.ns[COMPUTING]) BY(rank))

/* The most costly ranks, as many as there are lines, and which rank waits for which. */
static void
tell_screen(struct by_section *by, const struct shown *w)
{
	enum { OTHER_LINES = 8, USUAL_LINES = 24 };
	const int32_t ranks = by->im->graph.known.ranks;
	struct rank_share *all = zalloc((size_t)ranks, sizeof *all);
	const int64_t ns = w->to_ns - w->from_ns;
	size_t count;
	char *headline = headline_text(&by->im->graph.known.headline);
	struct winsize size = { 0 };
	int lines;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0)
		size.ws_row = USUAL_LINES;
	lines = size.ws_row > OTHER_LINES ? size.ws_row - OTHER_LINES : 1;
	for (int32_t r = 0; r < ranks; r++)
		all[r] = (struct rank_share){ r, w->sums->shares[r] };
	SORT(all, (size_t)ranks, by_cost);
	text_put(&by->text, "\033[H\033[J");
	text_line(&by->text, "%s", headline);
	tell_text(by, w);
	text_put(&by->text, "\n rank  compute_%    MPI_%  waits_%  costs_others_s\n");
	for (int32_t i = 0; i < ranks && i < lines; i++)
		text_line(&by->text, "%5d %10.1f %8.1f %8.1f %15.3f", (int)all[i].rank,
		    percent(all[i].share.ns[COMPUTING], ns),
		    percent(all[i].share.ns[IN_MPI] - all[i].share.ns[WAITING], ns),
		    percent(all[i].share.ns[WAITING], ns), 1e-9 * all[i].share.cost_ns);
	text_char(&by->text, '\n');
	count = longest(w->sums, false, w->pairs);
	for (size_t i = 0; i < count; i++)
		text_print(&by->text, "%srank %d waited %.3f s for %d", i > 0 ? "; " : "",
		    (int)w->pairs[i].rank, 1e-9 * w->pairs[i].ns, (int)w->pairs[i].for_rank);
	text_char(&by->text, '\n');
	free(headline);
	free(all);
}

void
tell_window(struct by_section *by, const struct section_sums *w, int64_t from_ns, int64_t to_ns)
{
	const struct shown shown = shown_of(by, w, from_ns, to_ns);

	if (by->form == JSON)
		tell_json(by, &shown);
	else if (by->screen)
		tell_screen(by, &shown);
	else
		tell_text(by, &shown);
	free(shown.pairs);
}

/* ---- calls that hold up the next window ---------------------------------------------- */

void
tell_open_calls(struct by_section *by, const struct reached *now, int64_t all_until_ns)
{
	const struct definitions *known = &by->im->graph.known;
	uint32_t first = UINT32_MAX;

	for (uint32_t l = 0; l < known->location_count; l++)
		if (now->call[l] != 0 &&
		    (first == UINT32_MAX || now->since_ns[l] < now->since_ns[first]))
			first = l;
	if (by->form == JSON) {
		json_begin_object(&by->json, NULL);
		json_seconds(&by->json, "at_s", now->at_ns);
		json_begin_array(&by->json, "calls");
		for (uint32_t l = 0; l < known->location_count; l++) {
			json_begin_object(&by->json, NULL);
			json_int(&by->json, "rank", known->location_rank[l]);
			json_uint(&by->json, "thread", known->location_thread[l]);
			if (now->call[l] != 0)
				json_text(&by->json, "call", call_name(now->call[l]));
			else
				json_null(&by->json, "call");
			json_seconds(&by->json, "since_s",
			    now->call[l] != 0 ? now->since_ns[l] : by->accounts[l].until_ns);
			json_end_object(&by->json);
		}
		json_end_array(&by->json);
		json_end_object(&by->json);
		json_end_line(&by->json);
	} else if (first != UINT32_MAX)
		text_line(&by->text, "%.3f s: rank %d has been in %s for %.3f s",
		    seconds(now->at_ns), (int)known->location_rank[first],
		    call_name(now->call[first]), seconds(now->at_ns - now->since_ns[first]));
	else
		text_line(&by->text, "%.3f s: a message or collective is not complete since %.3f s",
		    seconds(now->at_ns), seconds(all_until_ns));
	by->told_ns = now->at_ns;
	text_flush(&by->text);
	fflush(stdout);
}
