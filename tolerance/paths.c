/* SPDX-License-Identifier: BSD-3-Clause */
/* The longest way and its payers, see tolerance.h. */
#include "tolerance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CHANGED = 50 };	/* sites with a computed gain: those with most time on the way */

enum { ADD, SET, MAX };

struct mark {
	uint32_t to, from, payer;
	uint8_t kind;
	bool taken;		/* MAX: FROM was later */
	double ns;		/* MAX: time of FROM; SET: time of TO */
	struct cost cost;
};

static void
keep(struct paths *p, struct mark step)
{
	*APPEND(p->steps, p->count, p->capacity) = step;
}

static void
add(void *paths, uint32_t to, const struct cost *cost, uint32_t payer)
{
	keep(paths, (struct mark){ .to = to, .payer = payer, .kind = ADD, .cost = *cost });
}

static void
set(void *paths, uint32_t to, uint32_t from, const struct cost *cost, uint32_t payer)
{
	keep(paths, (struct mark){ to, from, payer, SET, .cost = *cost });
}

static void
max(void *paths, uint32_t to, uint32_t from, uint32_t payer)
{
	keep(paths, (struct mark){ to, from, payer, MAX, .taken = false });
}

struct watcher
paths_watcher(struct paths *p, uint32_t locations)
{
	p->locations = locations;
	return (struct watcher){ p, add, set, max, NULL, NULL };
}

/* A change: rows at this site no longer wait, or their messages arrive earlier. */
struct change { const struct payer *site; bool waitless; double earlier_ns; };

/* The run time with a change, and where the run ends; without one (NULL) keeps all times. */
static double
evaluate(struct paths *p, const struct marks *m, const struct change *change, double *times,
    uint32_t *location)
{
	memset(times, 0, m->times * sizeof *times);
	for (struct mark *s = p->steps; s < p->steps + p->count; s++) {
		/* a site is a call at a place, for waits and sends alike */
		const struct payer *payer = &m->payers[s->payer];
		bool changed, later = false;

		if (s->kind == ADD) {
			times[s->to] += s->cost.ns;
			continue;
		}
		changed = change != NULL && s->payer != NO_PAYER &&
		    payer->site == change->site->site && payer->call == change->site->call;
		if (s->kind == SET) {
			double ns = changed ? change->earlier_ns : 0;

			times[s->to] = times[s->from] + (s->cost.ns > ns ? s->cost.ns - ns : 0);
		} else if (times[s->from] > times[s->to] &&
		    !(changed && change->waitless && payer->waits)) {
			times[s->to] = times[s->from];
			later = true;
		}
		if (change == NULL) {
			s->ns = times[s->kind == MAX ? s->from : s->to];
			s->taken = later;
		}
	}
	*location = 0;
	for (uint32_t l = 1; l < p->locations; l++)
		if (times[l] > times[*location])
			*location = l;
	return times[*location];
}

/* Goes back along the way; adds up each payer's part of it. */
static void
go_back(const struct paths *p, uint32_t at, struct share *shares)
{
	for (size_t i = p->count; i > 0; i--) {
		const struct mark *s = &p->steps[i - 1];

		if (s->to != at)
			continue;
		if (s->kind == MAX) {
			at = s->taken ? s->from : at;
			continue;
		}
		shares[s->payer].ns += s->cost.ns;
		for (int k = 0; k < PARAMETERS; k++)
			shares[s->payer].times[k] += s->cost.times[k];
		if (s->kind == SET)
			at = s->from;
	}
}

/* The latest value of each time without a longer run, for messages as sent and as awaited. */
static void
find_slack(const struct paths *p, const struct marks *m, double run_ns, struct share *shares)
{
	double *late = zalloc(m->times, sizeof *late);

	for (uint32_t t = 0; t < m->times; t++)
		late[t] = t < p->locations ? run_ns : INFINITY;
	for (size_t i = p->count; i > 0; i--) {
		const struct mark *s = &p->steps[i - 1];
		double slack = late[s->to] - s->ns;

		if (s->kind == ADD) {
			late[s->to] -= s->cost.ns;
			continue;
		}
		if (s->payer != NO_PAYER && slack < shares[s->payer].slack_ns)
			shares[s->payer].slack_ns = slack > 0 ? slack : 0;
		if (s->kind == SET) {
			double before = late[s->to] - s->cost.ns;

			late[s->to] = INFINITY;
			late[s->from] = before < late[s->from] ? before : late[s->from];
		} else if (late[s->to] < late[s->from])
			late[s->from] = late[s->to];
	}
	free(late);
}

/* By the numbers of their sites, communicators and nodes. */
ORDER(by_payer, struct share, BY(who.site) BY(who.call) BY(who.comm) BY(who.source) BY(who.target))

ORDER(by_size, struct share, MOST(ns) MOST(times[LATENCY]) COMPARED(by_payer(a, b), 0))

FOLD(fold_shares, struct share, by_payer,
	to->ns += more->ns;
	for (int k = 0; k < PARAMETERS; k++)
		to->times[k] += more->times[k];
	to->slack_ns = fmin(to->slack_ns, more->slack_ns);
)

/* Adds up shares of one group: by the fields of WHO that this grouping uses. */
static struct shares
group(const struct share *shares, size_t count, enum grouping grouping)
{
	struct share *sorted = zalloc(count + 1, sizeof *sorted);
	size_t n;

	for (size_t i = 0; i < count; i++) {
		const struct payer *who = &shares[i].who;

		sorted[i] = shares[i];
		if (grouping == BY_SITE)
			sorted[i].who = (struct payer){ .site = who->site, .call = who->call };
		else if (grouping == BY_COMM)
			sorted[i].who = (struct payer){ .comm = who->comm };
		else
			sorted[i].who = (struct payer){ .source = who->source,
			    .target = who->target };
	}
	n = fold_shares(sorted, count);
	SORT(sorted, n, by_size);
	return (struct shares){ sorted, n };
}

void
paths_find(struct paths *p, const struct marks *m, struct shares found[GROUPINGS])
{
	struct share *all = zalloc(m->payer_count, sizeof *all);
	double *times = zalloc(m->times, sizeof *times), run_ns;
	uint32_t location;

	for (size_t i = 0; i < m->payer_count; i++)
		all[i] = (struct share){ .who = m->payers[i], .slack_ns = INFINITY };
	run_ns = evaluate(p, m, NULL, times, &location);
	go_back(p, location, all);
	find_slack(p, m, run_ns, all);
	for (int g = 0; g < GROUPINGS; g++)
		found[g] = group(all + 1, m->payer_count - 1, (enum grouping)g);
	for (size_t i = 0; i < found[BY_SITE].count; i++) {
		struct share *s = &found[BY_SITE].at[i];
		struct change waitless = { &s->who, true, 0 },
		    earlier = { &s->who, false, p->earlier_ns };

		s->waitless_ns = s->earlier_ns = NAN;
		if (i >= MOST_CHANGED)
			continue;
		s->waitless_ns = run_ns - evaluate(p, m, &waitless, times, &location);
		s->earlier_ns = run_ns - evaluate(p, m, &earlier, times, &location);
	}
	free(all);
	free(times);
}
