/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduces a run to a summary: lp-critpath finds its path, and the rest is counted on the way. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/run/thread_waits.h"
#include "../base/run/sections.h"
#include "compare.h"
#include "../base/run/places.h"
#include "../base/waits/functions.h"
#include "../base/tool/text.h"
#include "../base/tool/process.h"

struct watcher {
	struct observer observer;
	struct summary s;		/* places by site */
	/* of location 0: sites of its rows since the last synchronisation point */
	uint32_t *ends;
	uint64_t ends_first;			/* row of ends[ends_begin] */
	size_t ends_begin, ends_end, ends_capacity;
	/* site that ended the stretch whose path comes next; SIZE_MAX: none */
	size_t phase;
	size_t phase_capacity;
	struct segments path;		/* of one message */
	struct thread_lanes lanes;	/* kept until the path has passed */
	struct samples block;		/* of either, as read */
	struct awaited awaited;		/* threads of a segment */
	int64_t period_ns;		/* of samples */
	uint32_t visited;		/* site of the previous segment; NOBODY: START, or none */
	bool computed;			/* during this visit */
	struct places by_rank;		/* of the path */
	struct sections sections;	/* of --by */
	int by;
	int64_t *section_ns;		/* of the path */
	size_t section_capacity;
	int64_t last_ns;
	bool any_path;
};

static struct site_sums *
place_at(struct summary *s, size_t site)
{
	if (site >= s->count)
		s->count = site + 1;
	return AT(s->places, s->capacity, site);
}

static int64_t *
phase_at(struct watcher *w, size_t site)
{
	return AT(w->s.phase_ns, w->phase_capacity, site);
}

/* Tests, probes and calls that complete some requests: the number of these calls is random. */
static bool
is_chance(const char *call)
{
	static const char *const names[] = { "MPI_Test", "MPI_Iprobe", "MPI_Improbe",
	    "MPI_Waitsome", "MPI_Waitany", "MPI_Request_get_status", "MPI_Win_test" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strncmp(call, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static void
take_calls(struct watcher *w, const struct imbalance *im, const struct calls *calls)
{
	for (size_t i = 0; i < calls->count; i++) {
		struct site_sums *p = place_at(&w->s, calls->site[i]);

		p->sent_bytes += calls->bytes_sent[i];
		p->received_bytes += calls->bytes_received[i];
		if (calls->call[i] != 0) {
			p->calls += 1 + calls->folded[i];
			if (p->call == NULL) {
				p->call = call_name(calls->call[i]);
				p->polls = is_chance(p->call);
				p->comm = calls->comm[i];
				p->comm_size = p->comm == 1 ? im->graph.known.ranks :
				    p->comm < im->graph.known.comm_count ?
				    im->graph.known.comms[p->comm].size : 0;
			}
		}
		if (calls->location == 0)
			*ENQUEUE(w->ends, w->ends_begin, w->ends_end, w->ends_capacity) =
			    calls->site[i];
	}
	w->phase = SIZE_MAX;
}

static void
take_sync(struct watcher *w, const struct imbalance *im)
{
	const uint64_t *seqs = im->graph.seqs;

	if (seqs[0] >= w->ends_first && seqs[0] - w->ends_first < w->ends_end - w->ends_begin) {
		w->ends_begin += (size_t)(seqs[0] - w->ends_first);
		w->ends_first = seqs[0];
		w->phase = w->ends[w->ends_begin];
	}
}

/* Merges positions in pairs. */
static void
join_positions(struct site_sums *p)
{
	for (size_t part = 0; part < PARTS; part++) {
		int64_t *ns = p->position_ns[part];

		for (size_t i = 0; i < POSITIONS; i++)
			ns[i] = i < POSITIONS / 2 ? ns[2 * i] + ns[2 * i + 1] : 0;
	}
	p->position_visits *= 2;
}

static void
add_visit(struct watcher *w, struct site_sums *p, const struct segment *s)
{
	const bool computes = s->kind == COMPUTE;
	size_t at;

	if (p->position_ns[0] == NULL) {
		p->position_visits = 1;
		for (size_t part = 0; part < PARTS; part++)
			p->position_ns[part] = zalloc(POSITIONS, sizeof *p->position_ns[part]);
	}
	p->visits += s->site != w->visited || (computes && !w->computed);
	if ((p->visits - 1) / p->position_visits == POSITIONS)
		join_positions(p);
	at = (size_t)((p->visits - 1) / p->position_visits);
	p->position_ns[computes ? COMPUTING : COMMUNICATION][at] += s->end_ns - s->begin_ns;
	w->visited = s->site;
	w->computed = computes;
}

static void
take_threads(struct watcher *w, struct imbalance *im, const struct message *message)
{
	if (samples_read(&w->block, im->graph.in, message) < 0)
		die_input(im->graph.in);
	lane_add(&w->lanes, &w->block);
	if (!w->block.switches)
		w->period_ns = w->block.period_ns;
}

static void
add_sections(struct watcher *w, const struct segment *s, uint32_t worker, int64_t from_ns,
    int64_t to_ns)
{
	struct section_cut cut = section_cut(s->location, worker, from_ns, to_ns);

	while (w->by != NO_SECTIONS && section_next(&w->sections, &cut))
		*AT(w->section_ns, w->section_capacity, cut.section) += cut.to_ns - cut.from_ns;
}

static void
add_core_time(struct watcher *w, const struct imbalance *im, const struct segment *s)
{
	int64_t *core_ns = place_at(&w->s, s->site)->core_ns;

	awaited_find(&w->awaited, &im->graph.known, &w->lanes, w->period_ns, s->location,
	    s->begin_ns, s->end_ns);
	for (size_t i = 0; i < w->awaited.count; i++) {
		const struct awaited_piece *piece = &w->awaited.at[i];
		const struct core_time time = core_time(off_lane(piece->lane), piece->from_ns,
		    piece->to_ns);

		core_ns[ON_CORE] += time.on_ns;
		for (int reason = 0; reason < OFF_REASONS; reason++)
			core_ns[OFF_CORE + reason] += time.off_ns[reason];
		add_sections(w, s, piece->worker, piece->from_ns, piece->to_ns);
	}
}

static void
take_segments(struct watcher *w, struct imbalance *im, const struct message *message)
{
	struct segments *path = &w->path;
	const bool first = !path->begun;

	path->count = 0;
	segments_read(path, im->graph.in, message, &im->graph.known);
	for (size_t i = 0; i < path->count; i++) {
		const struct segment *s = &path->at[i];
		const int64_t ns = s->end_ns - s->begin_ns;

		if (s->kind == GAP || (first && i == 0 && s->begin_ns != 0))
			die_message(im->graph.in, message, "segments: no path from begin to end");
		w->last_ns = s->end_ns;
		place_at(&w->s, s->kind == START ? 0 : s->site)->path_ns[s->kind] += ns;
		if (s->kind == COMPUTE)
			add_core_time(w, im, s);
		else
			add_sections(w, s, 0, s->begin_ns, s->end_ns);
		w->s.rank_ns[im->graph.known.location_rank[s->location]] += ns;
		if (s->kind == START)
			w->visited = NOBODY;
		else {
			places_add(&w->by_rank, &(struct place){ .site = s->site,
			    .rank = im->graph.known.location_rank[s->location], .ns = ns });
			add_visit(w, place_at(&w->s, s->site), s);
		}
		*phase_at(w, w->phase == SIZE_MAX ? 0 : w->phase + 1) += ns;
	}
	for (uint32_t l = 0; l < im->graph.known.location_count; l++)
		lanes_forget(&w->lanes, l, w->last_ns);
	if (w->by != NO_SECTIONS)
		sections_forget(&w->sections, w->last_ns);
	w->any_path = true;
}

static void
see_message(struct observer *observer, struct imbalance *im, const struct message *message,
    const struct calls *calls)
{
	struct watcher *w = (struct watcher *)(void *)observer;

	if (w->by != NO_SECTIONS)
		sections_take(&w->sections, &im->graph.known, im->graph.in, message, calls);
	if (is_kind(message, "run"))
		w->s.rank_ns = zalloc((size_t)im->graph.known.ranks, sizeof *w->s.rank_ns);
	else if (is_kind(message, "rank") && w->s.program == NULL)
		w->s.program = body_string(message, "program");
	else if (is_kind(message, "calls"))
		take_calls(w, im, calls);
	else if (is_kind(message, "sync"))
		take_sync(w, im);
	else if (is_kind(message, "segments"))
		take_segments(w, im, message);
	else if (is_kind(message, "switched") || is_kind(message, "sampled"))
		take_threads(w, im, message);
	else if (is_kind(message, "sampled_path"))
		sampled_path_read(&w->s.lists[FUNCTIONS].times, im->graph.in, message,
		    &im->graph.known);
	else if (is_kind(message, "matching")) {
		if (body_int(im->graph.in, message, "messages", 0, INT64_MAX,
		    &w->s.messages) < 0 || body_int(im->graph.in, message, "collectives", 0,
		    INT64_MAX, &w->s.collectives) < 0)
			die_input(im->graph.in);
	}
}

static bool
has_path(const char *file)
{
	struct reader *in;
	bool has;

	if (reader_open(&in, file, READ_STREAM) < 0)
		die_input(in);
	has = reader_need_content(in, "path") == 0;
	reader_close(in);
	return has;
}

/* With its callers, if they are known. */
static const char *
function_of(const struct definitions *known, const struct site *s)
{
	char *text = NULL;
	size_t size;
	FILE *out;

	if (s->stack == NULL)
		return s->function;
	out = need(open_memstream(&text, &size));
	for (uint32_t i = 0; i < s->depth; i++) {
		const char *name = known->sites[s->stack[i]].function;

		fprintf(out, "%s%s", i > 0 ? " < " : "", name != NULL ? name : "?");
	}
	if (fclose(out) != 0)
		die("out of memory");
	return text;
}

/* Names each site from the definitions and the analysis. */
static void
name_places(struct summary *s, const struct imbalance *im)
{
	const struct definitions *known = &im->graph.known;
	size_t delay_count;
	struct delay *delays = sorted_delays(im, &delay_count);

	for (size_t i = 0; i < s->count; i++) {
		struct site_sums *p = &s->places[i];
		const struct cell *cell = i < im->tables[BY_SITE].count ?
		    &im->tables[BY_SITE].cells[i] : NULL;

		if (i > 0 && i < known->site_count) {
			const struct site *site = &known->sites[i],
			    *top = site->stack != NULL ? &known->sites[site->stack[0]] : site;

			p->function = function_of(known, site);
			if (p->function == NULL && top->module < known->module_count &&
			    known->modules[top->module].path != NULL)
				p->function = file_name(known->modules[top->module].path);
			p->file = top->file;
			p->line = top->line;
			p->order = top->line > 0 ? (uint64_t)top->line : top->offset;
		}
		if (cell != NULL) {
			p->wait_ns = waits_ns(&im->tables[BY_SITE], i);
			p->total_ns = cell->compute_ns + cell->mpi_ns - p->wait_ns;
		}
		if (i == 0)	/* calls of all kinds */
			p->call = NULL;
	}
	for (size_t i = 0; i < delay_count; i++)
		if (delays[i].key / 2 < s->count)
			s->places[delays[i].key / 2].delay_ns += (int64_t)delay_cost_ns(&delays[i]);
	free(delays);
}

/* Lists the ranks with most of each site's path. */
static void
list_ranks(struct summary *s, const struct places *by_rank)
{
	size_t count;
	struct place *sorted = places_sorted(by_rank, &count);

	for (size_t i = 0; i < count; i++) {
		struct site_sums *p = &s->places[sorted[i].site];

		if (p->rank_count == LISTED_RANKS || sorted[i].ns == 0)
			continue;
		if (p->rank == NULL) {
			p->rank = zalloc(LISTED_RANKS, sizeof *p->rank);
			p->rank_ns = zalloc(LISTED_RANKS, sizeof *p->rank_ns);
		}
		p->rank[p->rank_count] = sorted[i].rank;
		p->rank_ns[p->rank_count++] = sorted[i].ns;
	}
	free(sorted);
}

static void
divide_ranks(struct summary *s, const struct imbalance *im)
{
	const struct by_function *by = im->counts.switched > 0 ?
	    functions_by(im, false, false) : NULL;

	if (by == NULL)
		return;
	s->rank_core_ns = zalloc((size_t)s->ranks * CORE_PARTS, sizeof *s->rank_core_ns);
	for (int32_t r = 0; r < by->rank_count; r++) {
		int64_t *to = s->rank_core_ns + (size_t)r * CORE_PARTS;

		to[ON_CORE] = by->ranks[r].core.on_ns;
		memcpy(to + OFF_CORE, by->ranks[r].core.off_ns, sizeof by->ranks[r].core.off_ns);
	}
}

/* The path by the sections of --by. Steps are known by their loop, not by a place that may move. */
static void
name_sections(struct watcher *w, const struct imbalance *im)
{
	struct sections *s = &w->sections;

	sections_name(s, &im->graph.known);
	for (uint32_t i = 0; i < s->count; i++) {
		const struct loop *loop;
		struct function_time f = { .path_ns = *AT(w->section_ns, w->section_capacity, i) };
		const struct section_row row = section_row(s, i);

		f.name = row.label;
		if ((loop = section_loop(s, i, &(uint64_t){ 0 })) != NULL)
			f.name = s->steps.count == 1 ?
			    formatted("step %lld", (long long)row.instance) :
			    formatted("loop %d, step %lld", (int)(loop - s->steps.loops) + 1,
			    (long long)row.instance);
		function_times_add(&w->s.lists[SECTIONS].times, &f);
	}
}

ORDER(by_host, struct host, BY_TEXT(name))

static char *
hosts_text(struct headline *h)
{
	char *all = NULL;
	size_t size;
	FILE *text = need(open_memstream(&all, &size));

	SORT(h->hosts, h->host_count, by_host);
	for (size_t i = 0; i < h->host_count; i++)
		fprintf(text, "%s%s*%d", i > 0 ? " " : "", h->hosts[i].name,
		    (int)h->hosts[i].ranks);
	if (fclose(text) != 0)
		die("out of memory");
	return all;
}

void
summarise(const char *file, int by, int argc, char **argv)
{
	static struct imbalance im;
	struct watcher w = { .observer = { see_message }, .phase = SIZE_MAX,
		.visited = NOBODY, .by = by };
	char pipe_name[32];
	pid_t child = 0;
	int from = -1;

	if (by == BY_STEPS)
		sections_by_steps(&w.sections, file, 0);
	else if (by == BY_REGIONS)
		sections_by_regions(&w.sections);
	if (!has_path(file)) {
		child = start_tool((char *[]){ "lp-critpath", "-F", "stream", "--",
		    (char *)(uintptr_t)file, NULL }, &from);
		snprintf(pipe_name, sizeof pipe_name, "/dev/fd/%d", from);
	}
	im.from_ns = INT64_MIN;
	im.to_ns = INT64_MAX;
	im.observer = &w.observer;
	place_at(&w.s, 0);
	read_graph(&im, child > 0 ? pipe_name : file);
	if (child > 0 && !ended_well(child))
		die("%s: its path was not found", file);
	if (!w.any_path && im.graph.known.run_ns > 0)
		die("%s: no critical path", file);
	w.s.of = efficiency_of_spans(im.spans, im.graph.known.ranks, 0,
	    im.graph.known.run_ns, false);
	w.s.ranks = im.graph.known.ranks;
	w.s.run_ns = w.last_ns;
	w.s.date_s = im.graph.known.headline.date_s;
	w.s.environment = im.graph.known.headline.environment;
	w.s.variable_count = im.graph.known.headline.variable_count;
	w.s.hosts = hosts_text(&im.graph.known.headline);
	w.s.load = load_text(&im.graph.known.headline);
	w.s.preempted = preempted_share(&im.graph.known.headline);
	for (size_t i = 3; i < im.graph.known.comm_count; i++)
		w.s.communicators += im.graph.known.comms[i].size > 0;
	for (int i = 0; i < STATES; i++)
		w.s.wait_ns[i] = im.states[i].wait_ns;
	phase_at(&w, w.s.count);
	name_places(&w.s, &im);
	list_ranks(&w.s, &w.by_rank);
	divide_ranks(&w.s, &im);
	add_other_functions(&w.s);
	if (by != NO_SECTIONS)
		name_sections(&w, &im);
	summary_write(&w.s, im.graph.in, by, argc, argv);
}
