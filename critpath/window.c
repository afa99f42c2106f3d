/* SPDX-License-Identifier: BSD-3-Clause */
/* A window of the path, as a line or a JSON object. */
#include "critpath.h"

enum { TOLD = 5 };	/* ranks, places and functions of a window */

struct on_rank {
	int32_t rank;
	int64_t ns;
};

static const struct field rank_fields[] = {
	{ "rank", FIELD(struct on_rank, rank), .json = PLAIN },
	{ "path_s", FIELD(struct on_rank, ns), .json = "%.9f", .scale = 1e-9 },
	FIELDS_END
};
static const struct field function_fields[] = {
	{ "function", FIELD(struct function, frame.name), .json = PLAIN },
	{ "file", FIELD(struct function, frame.file), .json = PLAIN, .optional = true },
	{ "path_s", FIELD(struct function, path_ns), .json = "%.9f", .scale = 1e-9 },
	FIELDS_END
};

ORDER(by_time, struct on_rank, MOST(ns) BY(rank))

ORDER(by_samples, struct function, MOST(samples) BY_TEXT(frame.name) BY_ANY_TEXT(frame.file))

static void
tell_json(struct critpath *c, const struct report *report, const struct on_rank *ranks,
    const struct place *places, size_t count, const struct listed *l)
{
	const struct definitions *known = &c->run.graph.known;
	const struct share told = share_told(&report->total, true);
	struct json *out = &c->output.json;

	json_begin_object(out, NULL);
	json_seconds(out, "from_s", report->begin_ns);
	json_seconds(out, "to_s", report->end_ns);
	for (int k = 0; k < KINDS; k++) {
		char key[32];

		snprintf(key, sizeof key, "%s_s", segment_names[k]);
		json_seconds(out, key, told.ns[k]);
	}
	json_uint(out, "open_calls", c->run.overdue);
	json_begin_array(out, "ranks");
	for (int32_t r = 0; r < known->ranks && r < TOLD && ranks[r].ns > 0; r++)
		json_row(out, NULL, rank_fields, &ranks[r]);
	json_end_array(out);
	json_begin_array(out, "places");
	for (size_t p = 0; p < count && p < TOLD; p++) {
		json_begin_object(out, NULL);
		json_int(out, "rank", places[p].rank);
		json_text(out, "kind", places[p].compute ? "compute" : "mpi");
		json_text(out, "where", site_text(known, places[p].site));
		json_seconds(out, "path_s", places[p].ns);
		json_end_object(out);
	}
	json_end_array(out);
	if (c->functions.sums.any) {
		computation_json(out, &c->functions, &l->on_path);
		json_begin_array(out, "functions");
		for (size_t i = 0; i < l->count && i < TOLD && l->at[i].samples > 0; i++)
			json_row(out, NULL, function_fields, &l->at[i]);
		json_end_array(out);
	}
	json_end_object(out);
	json_end_line(out);
}

static void
tell_text(struct critpath *c, const struct report *r, const struct on_rank *ranks,
    const struct place *places, size_t count, const struct listed *l)
{
	const struct share told = share_told(&r->total, true);
	const double percent = 100 / (double)(r->end_ns - r->begin_ns);

	if (c->by->screen)
		text_put(&c->output.text, "\033[H\033[J");
	text_print(&c->output.text, "%.3f s: the path is compute %.1f %%, MPI %.1f %%, transfer "
	    "%.1f %%; ", seconds(r->end_ns), percent * (double)told.ns[COMPUTE],
	    percent * (double)told.ns[MPI], percent * (double)told.ns[TRANSFER]);
	if (c->run.overdue > 0)
		text_print(&c->output.text, "open calls %llu; ",
		    (unsigned long long)c->run.overdue);
	if (c->functions.sums.switched)
		text_print(&c->output.text, "on a core %.1f %%, blocked %.1f %%, preempted "
		    "%.1f %%; ", percent * (double)l->on_path.on_core_ns,
		    percent * (double)l->on_path.off_ns[OFF_BLOCKED],
		    percent * (double)l->on_path.off_ns[OFF_PREEMPTED]);
	if (l->count > 0 && l->at[0].samples > 0) {
		text_print(&c->output.text, "%.1f %% in ", percent * (double)l->at[0].path_ns);
		text_visible(&c->output.text, l->at[0].frame.name);
		text_put(&c->output.text, "; ");
	}
	text_print(&c->output.text, "%.1f %% on rank %d", percent * (double)ranks[0].ns,
	    (int)ranks[0].rank);
	if (count == 0)
		text_char(&c->output.text, '\n');
	for (size_t p = 0; p < count && p < (c->by->screen ? TOLD : 1); p++)
		text_line(&c->output.text, "%s %.1f %% rank %d's %s %s", p == 0 ? ";" : " ",
		    percent * (double)places[p].ns, (int)places[p].rank,
		    places[p].compute ? "computation before" : "time in",
		    site_shown(&c->run.graph.known, places[p].site));
}

void
tell_window(struct critpath *c, const struct report *report)
{
	const struct definitions *known = &c->run.graph.known;
	struct on_rank *ranks;
	struct share *shares;
	struct place *places;
	struct listed l = { 0 };
	struct same_sites same = { NULL };
	size_t count;

	if (report->segments == 0)
		return;
	shares = report_by_rank(report, known);
	ranks = zalloc((size_t)known->ranks, sizeof *ranks);
	for (int32_t r = 0; r < known->ranks; r++)
		ranks[r] = (struct on_rank){ r, share_sum(&shares[r]) };
	SORT(ranks, (size_t)known->ranks, by_time);
	places = places_by_name(&report->places, known, &same, &count);
	if (c->functions.sums.any)
		l = functions_list(&c->functions, known, BY_FUNCTION);
	/* How much of what other ranks do has been read when a window ends is chance. */
	SORT(l.at, l.count, by_samples);
	(c->opt.form == JSON ? tell_json : tell_text)(c, report, ranks, places, count, &l);
	text_flush(&c->output.text);
	fflush(stdout);
	free(shares);
	free(ranks);
	free(places);
	same_sites_free(&same);
	free(l.at);
	functions_begin_window(&c->functions);
}
