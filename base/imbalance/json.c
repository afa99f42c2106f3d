/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "../waits/poles.h"
#include "../tool/json.h"
#include "imbalance.h"

enum { WHERE = 1024 };		/* bytes of a site's name */

/* A list, and an object in it, begin new lines. */
static void
begin_list(struct json *out, const char *key)
{
	json_break(out);
	json_begin_array(out, key);
}

static void
begin_item(struct json *out)
{
	json_break(out);
	json_begin_object(out, NULL);
}

/* Puts members into an open object, and ends it. */
static void
put_totals(struct json *out, struct totals totals)
{
	const struct totals_line line = { .of = totals };

	json_members(out, totals_fields, &line);
	json_end_object(out);
}

static void
put_analytic(struct json *out, const struct imbalance *im)
{
	const struct table *calls = &im->tables[BY_CALL];

	json_begin_object(out, "program");
	json_seconds(out, "run_time_s", counted_run_ns(im));
	json_int(out, "ranks", im->graph.known.ranks);
	put_totals(out, totals_of_all(im));
	begin_list(out, "processes");
	for (int32_t r = 0; r < im->graph.known.ranks; r++) {
		begin_item(out);
		json_int(out, "rank", r);
		put_totals(out, totals_of(im, BY_RANK, (size_t)r));
	}
	json_end_array(out);
	begin_list(out, "calls");
	for (size_t i = 0; i < calls->count; i++)
		if (calls->cells[i].calls > 0) {
			begin_item(out);
			json_text(out, "call", call_name((unsigned)i));
			put_totals(out, totals_of(im, BY_CALL, i));
		}
	json_end_array(out);
}

static void
put_site(struct json *out, const struct imbalance *im, size_t site)
{
	char text[WHERE];
	const struct site *s = site < im->graph.known.site_count ?
	    &im->graph.known.sites[site] : NULL;

	json_uint(out, "site", site);
	json_text(out, "where", index_text(im, BY_SITE, site, text, sizeof text));
	if (s != NULL && s->stack != NULL && s->stack[0] < im->graph.known.site_count)
		s = &im->graph.known.sites[s->stack[0]];
	if (s != NULL && s->function != NULL)
		json_text(out, "function", s->function);
	if (s != NULL && s->file != NULL) {
		json_text(out, "file", s->file);
		json_int(out, "line", s->line);
	}
}

static int32_t
rank_at(const struct imbalance *im, uint32_t location)
{
	return im->graph.known.location_rank[location];
}

static void
put_largest(struct json *out, const struct imbalance *im, const struct wait *w)
{
	json_begin_object(out, "largest");
	json_seconds(out, "wait_s", w->to_ns - w->from_ns);
	json_seconds(out, "at_s", w->from_ns);
	json_int(out, "rank", rank_at(im, w->location));
	json_text(out, "call", call_name(w->call));
	if (w->cause != NOBODY)
		json_int(out, "partner", rank_at(im, w->cause));
	put_site(out, im, w->site);
	json_end_object(out);
}

/* The state's waits by rank, and by the rank waited for. */
static void
put_ranks(struct json *out, const struct imbalance *im, enum state state, enum dimension by,
    const char *key)
{
	const struct table *table = &im->tables[by];

	json_begin_array(out, key);
	for (size_t r = 0; r < (size_t)im->graph.known.ranks; r++)
		json_seconds(out, NULL, state_ns(table, r, state));
	json_end_array(out);
}

static void
put_state(struct json *out, const struct imbalance *im, enum state state)
{
	const struct state_sums *sums = &im->states[state];
	size_t count;
	struct line *lines = sorted_cells(im, BY_SITE, &count);
	const struct table *sites = &im->tables[BY_SITE];

	begin_item(out);
	json_text(out, "name", state_names[state]);
	json_seconds(out, "wait_s", sums->wait_ns);
	json_uint(out, "count", sums->count);
	json_seconds(out, "direct_s", sums->direct_ns);
	json_seconds(out, "indirect_s", sums->indirect_ns);
	json_seconds(out, "propagating_s", sums->propagating_ns);
	json_seconds(out, "terminal_s", sums->wait_ns - sums->propagating_ns);
	put_ranks(out, im, state, BY_RANK, "ranks");
	put_ranks(out, im, state, BY_PARTNER, "partners");
	json_begin_array(out, "sites");
	for (size_t i = 0; i < count; i++)
		if (state_ns(sites, lines[i].index, state) > 0) {
			json_begin_object(out, NULL);
			put_site(out, im, lines[i].index);
			json_seconds(out, "wait_s", state_ns(sites, lines[i].index, state));
			json_end_object(out);
		}
	json_end_array(out);
	free(lines);
	if (sums->count > 0)
		put_largest(out, im, &sums->largest);
	json_end_object(out);
}

static void
put_sums(struct json *out, const struct imbalance *im)
{
	struct shares *all = shares_by_rank(im);

	json_break(out);
	json_begin_object(out, "sums");
	json_bool(out, "hold", all[im->graph.known.ranks].adds_up);
	json_rows(out, "ranks", share_fields, all, (size_t)im->graph.known.ranks, sizeof *all);
	json_end_object(out);
	free(all);
}

static void
put_by(struct json *out, const struct imbalance *im, enum dimension by)
{
	char text[WHERE], key[64];
	size_t count;
	struct line *lines = sorted_cells(im, by, &count);

	snprintf(key, sizeof key, "by_%s", dimension_names[by]);
	begin_list(out, key);
	for (size_t i = 0; i < count; i++) {
		const struct cell *c = lines[i].cell;

		begin_item(out);
		if (by == BY_RANK || by == BY_PARTNER)
			json_uint(out, dimension_names[by], lines[i].index);
		else
			json_text(out, dimension_names[by],
			    index_text(im, by, lines[i].index, text, sizeof text));
		json_seconds(out, "wait_s", lines[i].wait_ns);
		json_uint(out, "waits", c->waits);
		if (by != BY_PARTNER) {
			json_seconds(out, "compute_s", c->compute_ns);
			json_seconds(out, "mpi_s", c->mpi_ns);
			json_uint(out, "calls", c->calls);
		}
		if (by == BY_SITE)
			json_fixed(out, "heuristic", site_heuristic(im, lines[i].index), 9);
		for (int s = 0; s < STATES; s++) {
			const int64_t ns = state_ns(&im->tables[by], lines[i].index, s);

			if (ns > 0) {
				snprintf(key, sizeof key, "%s_s", state_names[s]);
				json_seconds(out, key, ns);
			}
		}
		json_end_object(out);
	}
	json_end_array(out);
	free(lines);
}

static void
put_critical(struct json *out, const struct imbalance *im, const struct critical *c)
{
	json_break(out);
	json_begin_object(out, "critical");
	json_seconds(out, "length_s", c->length_ns);
	json_seconds(out, "transfer_s", c->transfer_ns);
	json_begin_array(out, "sites");
	for (size_t i = 0; i < c->count; i++) {
		const struct critical_line line = { .of = c->sites[i] };

		begin_item(out);
		json_members(out, critical_fields, &line);
		put_site(out, im, line.of.site);
		json_end_object(out);
	}
	json_end_array(out);
	json_end_object(out);
}

static void
put_delays(struct json *out, const struct imbalance *im)
{
	size_t count;
	struct delay *delays = sorted_delays(im, &count);

	begin_list(out, "delays");
	for (size_t i = 0; i < count; i++) {
		const struct delay_line line = delay_line(&delays[i]);

		begin_item(out);
		json_members(out, delay_fields, &line);
		put_site(out, im, delays[i].key / 2);
		json_end_object(out);
	}
	json_end_array(out);
	free(delays);
}

static void
put_chains(struct json *out, const struct imbalance *im)
{
	struct wait chain[MOST_LINKS];

	begin_list(out, "chains");
	for (size_t i = 0; i < chain_count(im); i++) {
		size_t links = chain_of(im, i, chain);

		begin_list(out, NULL);
		for (size_t k = 0; k < links; k++) {
			json_begin_object(out, NULL);
			json_text(out, "name", state_names[chain[k].state]);
			json_seconds(out, "wait_s", chain[k].to_ns - chain[k].from_ns);
			json_seconds(out, "at_s", chain[k].from_ns);
			json_int(out, "rank", rank_at(im, chain[k].location));
			json_int(out, "partner", rank_at(im, chain[k].cause));
			put_site(out, im, chain[k].site);
			json_end_object(out);
		}
		json_end_array(out);
	}
	json_end_array(out);
}

static void
put_explained(struct json *out, const struct imbalance *im)
{
	const struct explained explained = explained_of(im);

	json_break(out);
	json_begin_object(out, "causes");
	json_seconds(out, "wait_s", explained.wait_ns);
	json_seconds(out, "by_ranks_s", explained.delay_ns);
	json_seconds(out, "by_completion_s", explained.completion_ns);
	json_fixed(out, "share", explained.share, 9);
	json_end_object(out);
}

static void
put_efficiency(struct json *out, const struct imbalance *im, const struct view *view)
{
	const struct efficiency e = efficiency_of(im, view->whole);

	json_break(out);
	json_begin_object(out, "efficiency");
	json_fixed(out, "parallel", e.parallel, 9);
	json_fixed(out, "load_balance", e.load_balance, 9);
	json_fixed(out, "communication", e.communication, 9);
	json_seconds(out, "span_s", e.span_ns);
	json_bool(out, "whole", view->whole);
	if (view->ideal != NULL) {
		const struct ideal_efficiency i = ideal_efficiency_of(im, view->ideal, view->whole);

		json_seconds(out, "ideal_span_s", view->ideal->of.span_ns);
		json_fixed(out, "serialization", i.serialisation, 9);
		json_fixed(out, "transfer", i.transfer, 9);
		json_fixed(out, "bsc_serialization", i.bsc_serialisation, 9);
		json_fixed(out, "bsc_transfer", i.bsc_transfer, 9);
	}
	json_end_object(out);
}

void
print_json(struct text *text, const struct imbalance *im, const struct view *view)
{
	struct json json, *out = &json;
	struct verdict verdict = verdict_of(im, NULL);

	json_begin(out, text);
	json_begin_object(out, NULL);
	verdict_json(out, "verdict", &verdict, im->graph.known.ranks);
	load_json(out, &im->graph.known.headline);
	verdict_free(&verdict);
	put_analytic(out, im);
	begin_list(out, "wait_states");
	for (int s = 0; s < STATES; s++)
		put_state(out, im, (enum state)s);
	json_end_array(out);
	put_sums(out, im);
	put_explained(out, im);
	put_efficiency(out, im, view);
	hybrid_member(out, im);
	json_break(out);
	json_begin_object(out, "unmatched");
	json_uint(out, "sends", im->counts.unmatched_sends);
	json_uint(out, "receives", im->counts.unmatched_receives);
	json_uint(out, "collectives", im->counts.unmatched_collectives);
	if (im->counts.errors > 0)
		json_uint(out, "errors", im->counts.errors);
	json_end_object(out);
	if (view->critical != NULL)
		put_critical(out, im, view->critical);
	put_delays(out, im);
	put_chains(out, im);
	functions_members(out, im);
	for (int by = 0; by < DIMENSIONS; by++)
		if (view->by < 0 || view->by == by)
			put_by(out, im, (enum dimension)by);
	json_end_object(out);
	json_end_line(out);
}
