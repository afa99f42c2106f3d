/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path by section. It is cut where the sections of its rank begin, so the sums of all sections
 * are those of the path. A window is printed as soon as the path leaves it. Memory: one window; or
 * 400 bytes for each section, and for each one that a rank is still in, 64 bytes for each location
 * and the sums of its call sites.
 */
#include <unistd.h>

#include "critpath.h"

/* What section_sums holds. */
struct sums {
	struct report report;
	int64_t (*off_ns)[OFF_REASONS];	/* by rank */
	int64_t function_ns;		/* of the function in paths */
};

void
by_begin(struct critpath *c)
{
	c->by = zalloc(1, sizeof *c->by);
	if (c->opt.by == BY_STEP)
		sections_by_steps(&c->by->sections, c->opt.files[0], (uint64_t)c->opt.steps);
	else if (c->opt.by == BY_REGION)
		sections_by_regions(&c->by->sections);
	else
		sections_by_windows(&c->by->sections, c->opt.every_ns);
	c->by->sections.sums_size = sizeof(struct sums);
	text_begin(&c->output.text, stdout, NULL);
	json_begin(&c->output.json, &c->output.text);
}

void
by_see(struct critpath *c, const struct message *message)
{
	if (is_kind(message, "run") && body_get(message, "followed") != NULL)
		c->by->screen = c->opt.form == TEXT && is_terminal(STDOUT_FILENO);
	sections_take(&c->by->sections, &c->run.graph.known, c->run.graph.in, message,
	    &c->run.graph.calls);
}

static struct section_path *
path_of(struct by_section *by, uint64_t section)
{
	return AT(by->paths, by->path_capacity, section);
}

/* The function with the most of the path since it came into the section. */
static void
end_visit(struct critpath *c)
{
	struct by_section *by = c->by;
	struct section_path *path;
	struct sums *sums;
	struct listed l;

	if (!c->functions.sums.any || c->opt.by == BY_WINDOW)
		return;
	path = path_of(by, by->visited);
	sums = section_sums(&by->sections, by->visited);
	l = functions_list(&c->functions, &c->run.graph.known, BY_FUNCTION);
	if (l.count > 0 && l.at[0].samples > 0 && l.at[0].path_ns > sums->function_ns) {
		free(path->function);
		path->function = need(strdup(l.at[0].frame.name));
		sums->function_ns = l.at[0].path_ns;
	}
	free(l.at);
	functions_begin_window(&c->functions);
}

static void
add_part(struct critpath *c, const struct segment *part, uint64_t section)
{
	const struct core_time before = c->functions.sums.core;
	const struct definitions *known = &c->run.graph.known;
	struct sums *sums = section_sums(&c->by->sections, section);

	sums->report.whole = true;
	report_add(&sums->report, known, part);
	functions_part(&c->functions, part);
	if (sums->off_ns == NULL)
		sums->off_ns = zalloc((size_t)known->ranks, sizeof *sums->off_ns);
	for (int why = 0; why < OFF_REASONS; why++)
		sums->off_ns[known->location_rank[part->location]][why] +=
		    c->functions.sums.core.off_ns[why] - before.off_ns[why];
}

/* Sums up a section, and for each cause the rank with the most of it, and its largest place. */
static void
sum_up(struct critpath *c, uint64_t section)
{
	const struct sums *sums = section_sums(&c->by->sections, section);
	const struct definitions *known = &c->run.graph.known;
	struct section_path *path = path_of(c->by, section);
	size_t count;
	struct place *places = places_by_name(&sums->report.places, known, &c->by->same, &count);
	struct share *ranks = report_by_rank(&sums->report, known);

	for (int32_t r = 0; r < known->ranks && sums->off_ns != NULL; r++) {
		const struct share told = share_told(&ranks[r], true);
		const int64_t *off_ns = sums->off_ns[r];
		const int64_t ns[CAUSES] = { told.ns[COMPUTE] - off_ns[OFF_BLOCKED] -
		    off_ns[OFF_PREEMPTED], off_ns[OFF_BLOCKED], off_ns[OFF_PREEMPTED],
		    told.ns[MPI], told.ns[TRANSFER] };

		for (int cause = 0; cause < CAUSES; cause++) {
			path->ns[cause] += ns[cause];
			if (ns[cause] > path->of[cause].ns)
				path->of[cause] = (struct cause_at){ r, ns[cause], 0 };
		}
		path->start_ns += told.ns[START];
		if (share_sum(&told) > path->rank_ns) {
			path->rank = r;
			path->rank_ns = share_sum(&told);
		}
	}
	for (int cause = 0; cause < CAUSES; cause++)
		for (size_t i = 0; i < count && path->of[cause].site == 0; i++)
			if (places[i].rank == path->of[cause].rank &&
			    places[i].compute == (cause < CALLING))
				path->of[cause].site = places[i].site;
	path->polls_ns = sums->report.total.polls_ns;
	path->path_ns = share_sum(&sums->report.total);
	if (count > 0)
		path->where = need(strdup(site_shown(known, places[0].site)));
	free(ranks);
	free(places);
}

static void
end_section(void *critpath, uint64_t section)
{
	struct critpath *c = critpath;
	struct sums *sums = section_sums(&c->by->sections, section);

	if (c->opt.by == BY_WINDOW)
		tell_window(c, &sums->report);
	else
		sum_up(c, section);
	free(sums->off_ns);
	report_free(&sums->report);
}

/* Ends the sections that no rank is in any more. */
static void
forget(struct critpath *c, int64_t before_ns)
{
	struct sections *sections = &c->by->sections;

	sections_close(sections, sections_forget(sections, before_ns), end_section, c);
}

/* A piece of the path in one thread. */
static void
divide_piece(struct critpath *c, const struct segment *piece, struct section_cut cut)
{
	struct by_section *by = c->by;

	while (section_next(&by->sections, &cut)) {
		struct segment part = *piece;

		part.begin_ns = cut.from_ns;
		part.end_ns = cut.to_ns;
		if (cut.section != by->visited)
			end_visit(c);
		by->visited = cut.section;
		add_part(c, &part, cut.section);
		if (c->opt.by == BY_WINDOW)
			forget(c, cut.to_ns);
	}
}

void
by_add(struct critpath *c, const struct segments *segments)
{
	const struct awaited *threads = &c->functions.awaited;

	for (size_t i = 0; i < segments->count; i++) {
		const struct segment *piece = &segments->at[i];

		if (c->opt.by != BY_WINDOW)
			report_add(&c->output.report, &c->run.graph.known, piece);
		functions_find(&c->functions, piece);
		if (c->opt.by != BY_REGION || piece->kind != COMPUTE || c->functions.known == NULL)
			divide_piece(c, piece, section_cut(piece->location, 0, piece->begin_ns,
			    piece->end_ns));
		else	/* it goes through threads, the last of them first */
			for (size_t k = threads->count; k-- > 0;)
				divide_piece(c, piece, section_cut(thread_location(
				    c->functions.known, piece->location, threads->at[k].worker),
				    threads->at[k].worker, threads->at[k].from_ns,
				    threads->at[k].to_ns));
	}
	if (segments->count > 0)
		forget(c, segments->at[segments->count - 1].end_ns);
}

void
by_end(struct critpath *c)
{
	struct by_section *by = c->by;

	end_visit(c);
	if (c->opt.by == BY_WINDOW) {
		sections_close(&by->sections, by->visited + 1, end_section, c);
		return;
	}
	sections_close(&by->sections, by->sections.count, end_section, c);
	end_section(c, 0);
	sections_name(&by->sections, &c->run.graph.known);
	for (size_t i = 0; i < by->sections.count; i++) {
		struct section_path *path = path_of(by, i);

		path->row = section_row(&by->sections, (uint32_t)i);
		path->kind = by->sections.at[i].kind;
	}
	by_print(c);
}
