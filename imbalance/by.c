/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computation, calls, waits and delays by section of the run: step, region, or window. Each time is
 * cut where the sections of its rank begin, so the sums of all sections are those of the run. A
 * delay counts in the section in which the wait that it causes ends.
 *
 * A window is printed once nothing can be added to it, so also while the run goes on.
 *
 * Memory: 150 bytes for each step or region. For each section that some rank has not left 48 bytes
 * for each rank, and of windows the pairs of waiting ranks.
 */
#include <stdlib.h>
#include <unistd.h>

#include "report.h"

/* ---- sums ---- */

static struct section_sums *
sums_of(struct by_section *by, uint64_t section)
{
	struct section_sums *sums = section_sums(&by->sections, section);

	if (sums->shares == NULL)
		sums->shares = zalloc((size_t)by->im->graph.known.ranks, sizeof *sums->shares);
	return sums;
}

/* Only windows show pairs. */
static void
add_pair(const struct by_section *by, struct section_sums *sums, struct pair key, double ns)
{
	if (by->sections.window_ns > 0)
		pairs_add(&sums->pairs, &key)->ns += ns;
}

/* Adds a time that may be a wait FOR_RANK; -1: for no rank. */
static void
add(struct by_section *by, uint32_t location, enum time what, int64_t from_ns, int64_t to_ns,
    int32_t for_rank)
{
	const int32_t rank = by->im->graph.known.location_rank[location];
	struct section_cut cut = section_cut(location, 0, larger(from_ns, by->open_ns), to_ns);

	while (section_next(&by->sections, &cut)) {
		struct section_sums *sums = sums_of(by, cut.section);
		const int64_t ns = cut.to_ns - cut.from_ns;

		sums->shares[rank].ns[what] += ns;
		sums->open_calls += what == OPEN;
		if (for_rank >= 0)
			add_pair(by, sums, (struct pair){ .rank = rank, .for_rank = for_rank },
			    (double)ns);
	}
}

static void
add_compute(struct by_section *by, uint32_t location, int64_t from_ns, int64_t to_ns)
{
	const struct definitions *known = &by->im->graph.known;

	add(by, location, COMPUTING, from_ns, to_ns, -1);
	if (location >= (uint32_t)known->ranks || from_ns >= by->end_ns[location])
		add(by, location, OUTSIDE, from_ns, to_ns, -1);
}

/* A wait and its causes are known when its call returns. */
static void
see_delay(struct observer *observer, uint32_t key, int32_t rank, double cost_ns)
{
	struct by_section *by = (struct by_section *)(void *)observer;
	struct section_cut cut = section_cut(by->last, 0, by->last_ns - 1, by->last_ns);

	if (by->late == NULL && section_next(&by->sections, &cut))
		by->late = sums_of(by, cut.section);
	by->late->shares[rank].cost_ns += cost_ns;
	add_pair(by, by->late, (struct pair){ .rank = rank, .for_rank = -1, .key = key }, cost_ns);
}

static void
see_call(struct observer *observer, struct imbalance *im, uint32_t location, const struct row *row,
    const struct wait *waits, int count)
{
	struct by_section *by = (struct by_section *)(void *)observer;
	struct account *account = &by->accounts[location];
	const int32_t *rank_of = im->graph.known.location_rank, rank = rank_of[location];
	const bool first_thread = location < (uint32_t)im->graph.known.ranks;

	if (account->began)
		add_compute(by, location, account->until_ns, row->enter_ns);
	if (first_thread &&
	    (call_class(row->call) == CLASS_INIT || (!account->began && span_begins(row->call))))
		by->begin_ns[rank] = row->leave_ns;
	else if (first_thread && call_class(row->call) == CLASS_FINALIZE &&
	    by->end_ns[rank] == INT64_MAX)
		by->end_ns[rank] = row->enter_ns;
	/* Its time up to there has been added: the call was open. */
	add(by, location, IN_MPI, larger(row->enter_ns, account->until_ns), row->leave_ns, -1);
	if (is_overdue(im, im->seen))
		add(by, location, OPEN, row->enter_ns, row->leave_ns, -1);
	for (const struct wait *w = waits; w < waits + count; w++)
		add(by, location, WAITING, w->from_ns, w->to_ns,
		    w->cause == NOBODY ? -1 : rank_of[w->cause]);
	by->last = location;
	by->late = NULL;
	account->until_ns = by->last_ns = row->leave_ns;
	account->began = true;
}

/* ---- the end of sections ---- */

static void
end_section(void *by_section, uint64_t section)
{
	struct by_section *by = by_section;
	const int64_t window_ns = by->sections.window_ns;
	const int64_t end_ns = by->ended ? by->im->graph.known.run_ns : INT64_MAX;
	struct section_sums *sums = sums_of(by, section);

	if (window_ns > 0) {
		by->open_ns = (int64_t)section * window_ns;
		tell_window(by, sums, by->open_ns - window_ns, smaller(by->open_ns, end_ns));
	} else {
		*AT(by->lines, by->line_capacity, section) = section_line(sums,
		    by->im->graph.known.ranks);
	}
	free(sums->shares);
	free(sums->pairs);
}

/* Ends the sections that no rank is in any more. */
static void
end_sections(struct by_section *by, int64_t until_ns)
{
	sections_close(&by->sections, sections_forget(&by->sections, until_ns), end_section, by);
	text_flush(&by->text);
	fflush(stdout);
}

static int64_t
all_until_ns(const struct by_section *by)
{
	int64_t until_ns = INT64_MAX;

	for (uint32_t l = 0; l < by->im->graph.known.location_count; l++)
		if (by->accounts[l].until_ns < until_ns)
			until_ns = by->accounts[l].until_ns;
	return until_ns;
}

/* ---- a run that continues ------------------------------------------------------------ */

/*
 * A call may last long, or for ever. Windows do not wait for a call that is older than this: its
 * time in them is open.
 */
#define PATIENCE_NS INT64_C(10000000000)

static void
go_on(struct by_section *by, const struct message *message)
{
	struct imbalance *im = by->im;
	struct reached now;
	int64_t passed_ns;	/* windows before it wait for no old call */

	reached_read(&now, im->graph.in, message, im->graph.known.location_count);
	passed_ns = now.at_ns > 0 ? now.at_ns / by->sections.window_ns * by->sections.window_ns : 0;
	for (uint32_t l = 0; l < im->graph.known.location_count; l++) {
		struct account *account = &by->accounts[l];
		const int32_t rank = im->graph.known.location_rank[l];

		if (im->done[l] < window_end(&im->graph.window, l))
			continue;	/* the end of an uncounted call is unknown */
		if (now.since_ns[l] > account->until_ns) {
			if (account->began && by->end_ns[rank] == INT64_MAX)
				add_compute(by, l, account->until_ns, now.since_ns[l]);
			account->until_ns = now.since_ns[l];
		}
		if (rank < 0 || now.call[l] == 0 || now.at_ns - now.since_ns[l] < PATIENCE_NS ||
		    account->until_ns >= passed_ns)
			continue;
		add(by, l, IN_MPI, account->until_ns, passed_ns, -1);
		add(by, l, OPEN, account->until_ns, passed_ns, -1);
		account->until_ns = passed_ns;
	}
	end_sections(by, all_until_ns(by));
	if (now.at_ns >= larger(by->open_ns, by->told_ns) + 2 * by->sections.window_ns)
		tell_open_calls(by, &now, all_until_ns(by));
	reached_free(&now);
}

static void
see_message(struct observer *observer, struct imbalance *im, const struct message *message,
    const struct calls *calls)
{
	struct by_section *by = (struct by_section *)(void *)observer;
	const struct definitions *known = &im->graph.known;

	if (is_kind(message, "run")) {
		by->accounts = zalloc(known->location_count, sizeof *by->accounts);
		by->begin_ns = zalloc((size_t)known->ranks, sizeof *by->begin_ns);
		by->end_ns = zalloc((size_t)known->ranks, sizeof *by->end_ns);
		for (int32_t r = 0; r < known->ranks; r++)
			by->end_ns[r] = INT64_MAX;
		by->screen = by->form == TEXT && body_get(message, "followed") != NULL &&
		    is_terminal(STDOUT_FILENO);
	}
	sections_take(&by->sections, known, im->graph.in, message, calls);
	if (is_kind(message, "reached") && im->goes_on)
		go_on(by, message);
	else if (is_kind(message, "sync") || is_kind(message, "settled"))
		end_sections(by, all_until_ns(by));
}

void
print_by_section(struct imbalance *im, const char *file, const struct view *view,
    int64_t every_ns, uint64_t steps, enum form form)
{
	static struct by_section by;	/* large for a stack */

	by.observer = (struct observer){ .message = see_message, .call = see_call,
	    .delay = see_delay };
	by.im = im;
	by.form = form;
	by.open_ns = every_ns > 0 ? 0 : INT64_MIN;
	if (every_ns > 0)
		sections_by_windows(&by.sections, every_ns);
	else if (view->by == BY_STEP)
		sections_by_steps(&by.sections, file, steps);
	else
		sections_by_regions(&by.sections);
	by.sections.sums_size = sizeof(struct section_sums);
	text_begin(&by.text, stdout, NULL);
	json_begin(&by.json, &by.text);
	im->observer = &by.observer;
	im->goes_on = every_ns > 0;
	read_graph(im, file);
	by.ended = true;
	if (every_ns > 0) {
		end_sections(&by, (im->graph.known.run_ns + every_ns - 1) / every_ns * every_ns);
		return;
	}
	sections_close(&by.sections, by.sections.count, end_section, &by);
	end_section(&by, 0);
	print_sections(&by, view->all);
	text_flush(&by.text);
}
