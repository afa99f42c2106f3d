/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path by section. It is cut where the sections of its rank begin, so the sums of all sections
 * are those of the path. Memory: 400 bytes for each section, and for each one that a rank is still
 * in, 64 bytes for each location and the sums of its call sites.
 */
#include "critpath.h"

/* A section that the path may come back to. */
struct open_section {
	uint32_t section;
	struct report report;
	int64_t (*ns)[CAUSES];		/* by rank */
	int64_t function_ns;		/* of the function in paths */
};

void
by_begin(struct critpath *c)
{
	c->by = zalloc(1, sizeof *c->by);
	if (c->opt.by == BY_STEP)
		sections_by_steps(&c->by->sections, c->opt.files[0], (uint64_t)c->opt.steps);
	else
		sections_by_regions(&c->by->sections);
	text_begin(&c->output.text, stdout, NULL);
	json_begin(&c->output.json, &c->output.text);
}

void
by_see(struct critpath *c, const struct message *message)
{
	sections_take(&c->by->sections, &c->run.graph.known, c->run.graph.in, message,
	    &c->run.graph.calls);
}

static struct open_section *
open_of(struct critpath *c, uint32_t section)
{
	struct by_section *by = c->by;
	struct open_section *open;

	for (size_t i = by->open_count; i-- > 0;)
		if (by->open[i].section == section)
			return &by->open[i];
	open = APPEND(by->open, by->open_count, by->open_capacity);
	open->section = section;
	open->report.whole = true;
	open->ns = zalloc((size_t)c->run.graph.known.ranks, sizeof *open->ns);
	return open;
}

/* The function with the most of the path since it came into the section. */
static void
end_visit(struct critpath *c)
{
	struct by_section *by = c->by;
	struct section_path *path = AT(by->paths, by->path_capacity, by->visited);
	struct open_section *open;
	struct listed l;

	if (!c->functions.sums.any)
		return;
	open = open_of(c, by->visited);
	l = functions_list(&c->functions, &c->run.graph.known, BY_FUNCTION);
	if (l.count > 0 && l.at[0].samples > 0 && l.at[0].path_ns > open->function_ns) {
		free(path->function);
		path->function = need(strdup(l.at[0].frame.name));
		open->function_ns = l.at[0].path_ns;
	}
	free(l.at);
	functions_begin_window(&c->functions);
}

static void
add_part(struct critpath *c, const struct segment *part, uint32_t section)
{
	const struct core_time before = c->functions.sums.core;
	const struct core_time *core = &c->functions.sums.core;
	const int32_t rank = c->run.graph.known.location_rank[part->location];
	const int64_t length_ns = part->end_ns - part->begin_ns;
	int64_t blocked_ns, preempted_ns, *ns;
	struct open_section *open = open_of(c, section);

	report_add(&open->report, &c->run.graph.known, part);
	functions_part(&c->functions, part);
	blocked_ns = core->off_ns[OFF_BLOCKED] - before.off_ns[OFF_BLOCKED];
	preempted_ns = core->off_ns[OFF_PREEMPTED] - before.off_ns[OFF_PREEMPTED];
	ns = open->ns[rank];
	switch (part->kind) {
	case COMPUTE:
		ns[COMPUTING] += length_ns - blocked_ns - preempted_ns;
		ns[BLOCKED] += blocked_ns;
		ns[PREEMPTED] += preempted_ns;
		break;
	case MPI: ns[CALLING] += length_ns; break;
	case TRANSFER: ns[RECEIVING] += length_ns; break;
	default: AT(c->by->paths, c->by->path_capacity, section)->start_ns += length_ns;
	}
}

/* The rank with the most of a cause, and its largest place. */
static struct cause_at
most_of(const struct open_section *open, const struct definitions *known, enum cause cause,
    const struct place *places, size_t count)
{
	struct cause_at most = { 0, 0, 0 };

	for (int32_t r = 0; r < known->ranks; r++)
		if (open->ns[r][cause] > most.ns)
			most = (struct cause_at){ r, open->ns[r][cause], 0 };
	for (size_t i = 0; i < count && most.site == 0; i++)
		if (places[i].rank == most.rank && places[i].compute == (cause < CALLING))
			most.site = places[i].site;
	return most;
}

static void
close_section(struct critpath *c, struct open_section *open)
{
	const struct definitions *known = &c->run.graph.known;
	struct section_path *path = AT(c->by->paths, c->by->path_capacity, open->section);
	size_t count;
	struct place *places = places_sorted(&open->report.places, &count);
	struct share *ranks = report_by_rank(&open->report, known);

	for (int cause = 0; cause < CAUSES; cause++) {
		path->of[cause] = most_of(open, known, (enum cause)cause, places, count);
		for (int32_t r = 0; r < known->ranks; r++)
			path->ns[cause] += open->ns[r][cause];
	}
	for (int32_t r = 0; r < known->ranks; r++)
		if (share_sum(&ranks[r]) > path->rank_ns) {
			path->rank = r;
			path->rank_ns = share_sum(&ranks[r]);
		}
	path->polls_ns = open->report.total.polls_ns;
	path->path_ns = share_sum(&open->report.total);
	if (count > 0)
		path->where = need(strdup(site_shown(known, places[0].site)));
	free(ranks);
	free(places);
	free(open->ns);
	report_free(&open->report);
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
	}
}

void
by_add(struct critpath *c, const struct segments *segments)
{
	struct by_section *by = c->by;
	const struct awaited *threads = &c->functions.awaited;
	uint32_t oldest = 0;
	size_t kept = 0;

	for (size_t i = 0; i < segments->count; i++) {
		const struct segment *piece = &segments->at[i];

		report_add(&c->output.report, &c->run.graph.known, piece);
		functions_find(&c->functions, piece);
		if (piece->kind != COMPUTE || c->functions.known == NULL)
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
		oldest = sections_forget(&by->sections, segments->at[segments->count - 1].end_ns);
	/* no rank is in a step before it any more */
	for (size_t i = 0; i < by->open_count; i++)
		if (by->open[i].section > 0 && by->open[i].section < oldest &&
		    !by->sections.regions)
			close_section(c, &by->open[i]);
		else
			by->open[kept++] = by->open[i];
	by->open_count = kept;
}

void
by_end(struct critpath *c)
{
	const struct definitions *known = &c->run.graph.known;
	struct by_section *by = c->by;

	end_visit(c);
	while (by->open_count > 0)
		close_section(c, &by->open[--by->open_count]);
	sections_name(&by->sections, known);
	for (size_t i = 0; i < by->sections.count; i++) {
		struct section_path *path = AT(by->paths, by->path_capacity, i);

		path->row = section_row(&by->sections, (uint32_t)i);
		path->kind = by->sections.at[i].kind;
	}
	by_print(c);
}
