/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows of the run, one after another. Each is printed once nothing can be added to it, so also
 * while the run goes on. Each call is added once, divided among the windows that it spans, so the
 * sums of all windows are those of the run.
 *
 * Memory: for each window from the slowest location to the fastest 48 bytes for each rank, and its
 * pairs of waiting ranks.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

/* ---- sums ---- */

static struct window_sums *
window_of(struct every *e, size_t number)
{
	struct window_sums *w;

	if (number < e->first)	/* a delay before a call that was stored late */
		number = e->first;
	while (e->first + e->count <= number)
		APPEND(e->windows, e->count, e->capacity);
	w = &e->windows[number - e->first];
	if (w->shares == NULL)
		w->shares = zalloc((size_t)e->im->graph.known.ranks, sizeof *w->shares);
	return w;
}

/* Calls ADD for the part of FROM to TO in each window that has not been printed. */
#define FOR_WINDOWS(e, from, to, ADD) \
	for (int64_t at_ = larger((from), (int64_t)(e)->first * (e)->every_ns), end_; \
	    at_ < (to); at_ = end_) { \
		const size_t number_ = at_ > 0 ? (size_t)(at_ / (e)->every_ns) : 0; \
		end_ = ((int64_t)number_ + 1) * (e)->every_ns; \
		if (end_ > (to)) \
			end_ = (to); \
		struct window_sums *w = window_of(e, number_); \
		const int64_t ns = end_ - at_; \
		ADD; \
	}

static void
add_compute(struct every *e, uint32_t location, int64_t from_ns, int64_t to_ns)
{
	const int32_t rank = e->im->graph.known.location_rank[location];
	/* Before MPI_Init and from MPI_Finalize on no time is useful. */
	const bool useful = location < (uint32_t)e->im->graph.known.ranks &&
	    from_ns < e->end_ns[rank];

	FOR_WINDOWS(e, from_ns, to_ns, {
		w->shares[rank].compute_ns += ns;
		w->shares[rank].useful_ns += useful ? ns : 0;
	})
}

static void
add_pair(struct window_sums *w, struct pair key, double ns)
{
	pairs_add(&w->pairs, &key)->ns += ns;
}

static void
add_wait(struct every *e, int32_t rank, const struct wait *wait)
{
	FOR_WINDOWS(e, wait->from_ns, wait->to_ns, {
		w->shares[rank].wait_ns += ns;
		if (wait->cause != NOBODY)
			add_pair(w, (struct pair){ .rank = rank,
			    .for_rank = e->im->graph.known.location_rank[wait->cause] },
			    (double)ns);
	})
}

static void
add_open(struct every *e, int32_t rank, int64_t from_ns, int64_t to_ns)
{
	FOR_WINDOWS(e, from_ns, to_ns, {
		w->shares[rank].open_ns += ns;
		w->open_calls++;
	})
}

/* A wait and its causes are known when its call returns. */
static void
see_delay(struct observer *observer, uint32_t key, int32_t rank, double cost_ns)
{
	struct every *e = (struct every *)(void *)observer;
	struct window_sums *w = window_of(e,
	    e->last_ns > 0 ? (size_t)((e->last_ns - 1) / e->every_ns) : 0);

	w->shares[rank].cost_ns += cost_ns;
	add_pair(w, (struct pair){ .rank = rank, .for_rank = -1, .key = key }, cost_ns);
}

static void
see_call(struct observer *observer, struct imbalance *im, uint32_t location, const struct row *row,
    const struct wait *waits, int count)
{
	struct every *e = (struct every *)(void *)observer;
	struct account *account = &e->accounts[location];
	const int32_t rank = im->graph.known.location_rank[location];
	const bool first_thread = location < (uint32_t)im->graph.known.ranks;

	if (account->began)
		add_compute(e, location, account->until_ns, row->enter_ns);
	if (first_thread &&
	    (call_class(row->call) == CLASS_INIT || (!account->began && span_begins(row->call))))
		e->begin_ns[rank] = row->leave_ns;
	else if (first_thread && call_class(row->call) == CLASS_FINALIZE &&
	    e->end_ns[rank] == INT64_MAX)
		e->end_ns[rank] = row->enter_ns;
	/* Its time up to there has been added: the call was open. */
	FOR_WINDOWS(e, larger(row->enter_ns, account->until_ns), row->leave_ns,
	    w->shares[rank].mpi_ns += ns)
	if (is_overdue(im, im->seen))
		add_open(e, rank, row->enter_ns, row->leave_ns);
	for (int i = 0; i < count; i++)
		add_wait(e, rank, &waits[i]);
	account->until_ns = e->last_ns = row->leave_ns;
	account->began = true;
}

/* Prints windows that are complete. */
static void
tell_windows(struct every *e, int64_t until_ns)
{
	const int64_t end_ns = e->ended ? e->im->graph.known.run_ns : INT64_MAX;
	size_t told = 0;

	for (; until_ns >= ((int64_t)(e->first + told) + 1) * e->every_ns; told++) {
		struct window_sums *w = window_of(e, e->first + told);
		const int64_t from_ns = (int64_t)(e->first + told) * e->every_ns;
		const int64_t to_ns = smaller(from_ns + e->every_ns, end_ns);

		tell_window(e, w, from_ns, to_ns);
		e->told_ns = larger(e->told_ns, to_ns);
		free(w->shares);
		free(w->pairs);
	}
	if (told == 0)
		return;
	e->first += told;
	e->count -= told;
	memmove(e->windows, e->windows + told, e->count * sizeof *e->windows);
	text_flush(&e->text);
	fflush(stdout);
}

static int64_t
all_until_ns(const struct every *e)
{
	int64_t until_ns = INT64_MAX;

	for (uint32_t l = 0; l < e->im->graph.known.location_count; l++)
		if (e->accounts[l].until_ns < until_ns)
			until_ns = e->accounts[l].until_ns;
	return until_ns;
}

/* ---- a run that continues ------------------------------------------------------------ */

/*
 * A call may last long, or for ever. Windows do not wait for a call that is older than this: its
 * time in them is open.
 */
#define PATIENCE_NS INT64_C(10000000000)

static void
go_on(struct every *e, const struct message *message)
{
	struct imbalance *im = e->im;
	struct reached now;
	int64_t passed_ns;	/* windows before it wait for no old call */

	reached_read(&now, im->graph.in, message, im->graph.known.location_count);
	passed_ns = now.at_ns > 0 ? now.at_ns / e->every_ns * e->every_ns : 0;
	for (uint32_t l = 0; l < im->graph.known.location_count; l++) {
		struct account *account = &e->accounts[l];
		const int32_t rank = im->graph.known.location_rank[l];

		if (im->done[l] < window_end(&im->graph.window, l))
			continue;	/* the end of an uncounted call is unknown */
		if (now.since_ns[l] > account->until_ns) {
			if (account->began && e->end_ns[rank] == INT64_MAX)
				add_compute(e, l, account->until_ns, now.since_ns[l]);
			account->until_ns = now.since_ns[l];
		}
		if (rank < 0 || now.call[l] == 0 || now.at_ns - now.since_ns[l] < PATIENCE_NS ||
		    account->until_ns >= passed_ns)
			continue;
		FOR_WINDOWS(e, account->until_ns, passed_ns, w->shares[rank].mpi_ns += ns)
		add_open(e, rank, account->until_ns, passed_ns);
		account->until_ns = passed_ns;
	}
	tell_windows(e, all_until_ns(e));
	if (now.at_ns >= e->told_ns + 2 * e->every_ns)
		tell_open_calls(e, &now, all_until_ns(e));
	reached_free(&now);
}

static void
see_message(struct observer *observer, struct imbalance *im, const struct message *message,
    const struct calls *calls)
{
	struct every *e = (struct every *)(void *)observer;
	const struct definitions *known = &im->graph.known;

	(void)calls;
	if (is_kind(message, "run")) {
		e->accounts = zalloc(known->location_count, sizeof *e->accounts);
		e->begin_ns = zalloc((size_t)known->ranks, sizeof *e->begin_ns);
		e->end_ns = zalloc((size_t)known->ranks, sizeof *e->end_ns);
		for (int32_t r = 0; r < known->ranks; r++)
			e->end_ns[r] = INT64_MAX;
		e->screen = e->form == TEXT && body_get(message, "followed") != NULL &&
		    is_terminal(STDOUT_FILENO);
	}
	if (is_kind(message, "reached"))
		go_on(e, message);
	else if (is_kind(message, "sync") || is_kind(message, "settled"))
		tell_windows(e, all_until_ns(e));
}

void
print_every(struct imbalance *im, const char *file, int64_t every_ns, enum form form)
{
	static struct every e;		/* large for a stack */

	e.observer = (struct observer){ .message = see_message, .call = see_call,
	    .delay = see_delay };
	e.im = im;
	e.every_ns = every_ns;
	e.form = form;
	text_begin(&e.text, stdout, NULL);
	json_begin(&e.json, &e.text);
	im->observer = &e.observer;
	im->goes_on = true;
	read_graph(im, file);
	e.ended = true;
	tell_windows(&e, (im->graph.known.run_ns + every_ns - 1) / every_ns * every_ns);
	text_flush(&e.text);
}
