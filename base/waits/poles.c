/* SPDX-License-Identifier: BSD-3-Clause */
#include "poles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../run/sampled_place.h"
#include "functions.h"

/* Ranks whose compute times differ by less are alike. */
static const double ALIKE = 1.15, LITTLE = 0.2;
/* Some of the ranks are one pole if they differ by less, and from the next one by ALIKE, and so
 * much of their time is in the same functions. */
static const double EQUAL = 1.05, SAME = 0.8;

enum { LEAST_SAMPLES = 3 };	/* of a function that is named */

struct poles {
	const struct imbalance *im;
	const struct known_path *path;
	const struct by_function *by;	/* NULL: not sampled */
	bool crowded;			/* more ranks or threads than cores preempt each other */
	struct place *places;		/* longest first */
	struct delay *delays;		/* most costly first */
	size_t place_count, delay_count;
};

struct line_samples {
	int32_t line;
	struct stack_frame inlined;	/* there; without a name: none */
	uint64_t samples;
};

static bool
is_line(const struct line_samples *line, const struct stack_frame *frame,
    const struct stack_frame *inlined)
{
	return line->line == frame->line && line->inlined.line == inlined->line &&
	    text_compare(line->inlined.name, inlined->name) == 0 &&
	    text_compare(line->inlined.file, inlined->file) == 0;
}

/* The line in the function with the most samples before a site of that name, as far as known. */
static void
find_line(const struct poles *poles, struct long_pole *p)
{
	struct line_samples *lines = NULL, *most = NULL;
	size_t count = 0, capacity = 0, k;
	char text[1024];
	struct taken taken;

	for (size_t i = 0; i < taken_places(poles->im); i++) {
		struct stack_frame frame, inlined;

		if (!taken_at(poles->im, i, &taken) || !pole_has(p, taken.rank))
			continue;
		if (strcmp(index_text(poles->im, BY_SITE, taken.site, text, sizeof text),
		    p->where) != 0)
			continue;
		frame = own_frame(&poles->im->graph.known, taken.own, &inlined);
		if (strcmp(frame.name, p->function) != 0 || frame.line <= 0 ||
		    text_compare(frame.file, p->file) != 0)
			continue;
		for (k = 0; k < count && !is_line(&lines[k], &frame, &inlined); k++)
			;
		GROW(lines, capacity, count + 1);
		if (k == count)
			lines[count++] = (struct line_samples){ frame.line, inlined, 0 };
		lines[k].samples += taken.samples;
	}
	for (k = 0; k < count; k++)
		if (most == NULL || lines[k].samples > most->samples ||
		    (lines[k].samples == most->samples && lines[k].line < most->line))
			most = &lines[k];
	if (most != NULL) {
		p->line = most->line;
		p->inlined = most->inlined;
	}
	free(lines);
}

/* What the part of a computation is: of no known reason, it computes. */
static enum pole_reason
reason_of(const struct poles *poles, const struct excess *e)
{
	const struct sampled_function *f = &poles->by->names[e->function];

	if (strcmp(f->name, thread_wait_name) == 0 ||
	    (f->in != NULL && strcmp(f->in, thread_wait_name) == 0))
		return WAITS_FOR_THREADS;
	if (e->off == OFF_BLOCKED)
		return IS_BLOCKED;
	return e->off == OFF_PREEMPTED ? IS_PREEMPTED : COMPUTES;
}

/*
 * The reason for most of the slow rank's excess, if that is more than equal ranks differ. Who has
 * more work is preempted for longer, too: only what exceeds this counts, and only if the run does
 * not crowd itself. The function where it is blocked, if that is known.
 */
static void
find_reason(const struct poles *poles, struct long_pole *p, const struct uneven *u)
{
	const double others = p->alike ? 0 : 1;
	double slow_ns[POLE_REASONS] = { 0 }, others_ns[POLE_REASONS] = { 0 }, more_ns, most_ns = 0;
	double work = 1, least_ns;

	for (const struct excess *e = u->functions; e < u->functions + u->count; e++) {
		const enum pole_reason reason = reason_of(poles, e);

		slow_ns[reason] += (double)e->slow_ns;
		others_ns[reason] += others * e->others_ns;
	}
	if (slow_ns[COMPUTES] > others_ns[COMPUTES] && others_ns[COMPUTES] > 0)
		work = slow_ns[COMPUTES] / others_ns[COMPUTES];
	if (p->alike || poles->crowded)
		others_ns[IS_PREEMPTED] = slow_ns[IS_PREEMPTED];
	else
		others_ns[IS_PREEMPTED] *= work;
	least_ns = fmax(((double)u->slow_ns - others * u->others_ns) / 2,
	    (EQUAL - 1) * (double)u->slow_ns);
	for (enum pole_reason reason = IS_BLOCKED; reason < POLE_REASONS; reason++)
		if (slow_ns[reason] - others_ns[reason] > least_ns) {
			least_ns = slow_ns[reason] - others_ns[reason];
			p->reason = reason;
			p->reason_share = slow_ns[reason] / (double)u->slow_ns;
		}
	for (size_t i = 0; i < u->count && p->reason == IS_BLOCKED; i++) {
		const struct excess *e = &u->functions[i];
		const struct sampled_function *f = &poles->by->names[e->function];

		more_ns = (double)e->slow_ns - others * e->others_ns;
		if (reason_of(poles, e) == IS_BLOCKED && f->in != NULL && more_ns > most_ns) {
			most_ns = more_ns;
			p->function = f->in;
			p->file = f->file;
		}
	}
}

/*
 * The function with the largest part of the slow rank's excess; a small part is no reason. On a
 * busy machine most of the excess is preempted, in whatever function.
 */
static void
find_function(const struct poles *poles, struct long_pole *p, const struct uneven *u)
{
	const double others = p->alike ? 0 : 1;
	double most_ns = 0;

	for (const struct excess *e = u->functions; e < u->functions + u->count; e++)
		if (reason_of(poles, e) != IS_PREEMPTED)
			most_ns += LITTLE * ((double)e->slow_ns - others * e->others_ns);
	most_ns = fmax(most_ns, 0);
	for (const struct excess *e = u->functions; e < u->functions + u->count; e++) {
		const double more_ns = (double)e->slow_ns - others * e->others_ns;

		if (e->is_unsampled)
			p->unsampled_share[e->off] += (double)e->slow_ns / (double)u->slow_ns;
		else if (more_ns > most_ns && e->samples >= LEAST_SAMPLES) {
			most_ns = more_ns;
			p->function = poles->by->names[e->function].name;
			p->file = poles->by->names[e->function].file;
			p->samples = (int64_t)e->samples;
		}
	}
	if (p->function != NULL)
		find_line(poles, p);
}

/*
 * Who sleeps as long as another computes is not like it. Of ranks that preempt each other counts
 * what they compute.
 */
static bool
is_alike(const struct poles *poles, const struct uneven *u)
{
	double all_ns = (double)u->slow_ns, all_others_ns = u->others_ns;
	double slow_ns = 0, others_ns = 0;

	for (const struct excess *e = u->functions; e < u->functions + u->count; e++) {
		const enum pole_reason reason = reason_of(poles, e);

		if (reason == IS_BLOCKED || reason == WAITS_FOR_THREADS) {
			slow_ns += (double)e->slow_ns;
			others_ns += e->others_ns;
		} else if (reason == IS_PREEMPTED && poles->crowded) {
			all_ns -= (double)e->slow_ns;
			all_others_ns -= e->others_ns;
		}
	}
	return all_ns < ALIKE * all_others_ns &&
	    (2 * slow_ns > all_ns) == (2 * others_ns > all_others_ns);
}

/*
 * Ranks as late as the slowest one, if all others clearly are not. Then returns how many times the
 * mean of these they compute.
 */
static double
find_equals(struct long_pole *p, const int64_t *by_rank, int32_t ranks)
{
	double least_ns, next_ns = 0, others_ns = 0;
	size_t capacity = 0, others;
	int64_t slow_ns = 0;

	for (int32_t r = 0; r < ranks; r++)
		slow_ns = larger(slow_ns, by_rank[r]);
	least_ns = (double)slow_ns;
	for (int32_t r = 0; r < ranks; r++) {
		const double ns = (double)by_rank[r];

		if (EQUAL * ns >= (double)slow_ns) {
			least_ns = fmin(least_ns, ns);
			*APPEND(p->ranks, p->rank_count, capacity) = r;
		} else {
			next_ns = fmax(next_ns, ns);
			others_ns += ns;
		}
	}
	others = (size_t)ranks - p->rank_count;
	if (p->rank_count < 2 || others == 0 || ALIKE * next_ns > least_ns ||
	    EQUAL * (double)by_rank[p->rank] < (double)slow_ns)
		p->rank_count = 0;
	return (double)slow_ns * (double)others / others_ns;
}

/* Do ranks as late as the slowest one do the same, as far as the mean of all but that one tells? */
static bool
do_the_same(const struct poles *poles, const struct long_pole *p, const struct uneven *u,
    int32_t ranks)
{
	const double share = (ranks - 1) / (double)(p->rank_count - 1);
	double same_ns = 0, all_ns = 0;

	for (const struct excess *e = u->functions; e < u->functions + u->count; e++)
		if (!poles->crowded || reason_of(poles, e) != IS_PREEMPTED) {
			same_ns += fmin((double)e->slow_ns, share * e->others_ns);
			all_ns += (double)e->slow_ns;
		}
	return u->count == 0 || same_ns > SAME * all_ns;
}

/* Of ranks that preempt each other, chance decides which one of equals is preempted longer. */
static void
leave_out_preempted(const struct poles *poles, uint32_t site, int64_t *by_rank)
{
	struct taken taken;

	if (poles->by == NULL || !poles->crowded)
		return;
	for (size_t i = 0; i < taken_places(poles->im); i++)
		if (taken_at(poles->im, i, &taken) && taken.place == taken_off(OFF_PREEMPTED) &&
		    is_same_site(&poles->im->graph.known, site, taken.site))
			by_rank[taken.rank] -= (int64_t)taken.samples;
}

/*
 * The computation of each rank before the site, and before others of its name, which are one in the
 * samples.
 */
static int64_t *
computation_at(const struct poles *poles, uint32_t site, struct uneven *u)
{
	const struct imbalance *im = poles->im;
	const struct definitions *known = &im->graph.known;
	const int32_t ranks = known->ranks;
	int64_t *by_rank = zalloc((size_t)ranks, sizeof *by_rank), all_ns = 0;

	*u = (struct uneven){ .site = site };
	for (uint32_t s = 0; s < im->site_count; s++) {
		if (im->sites[s] == NULL || !is_same_site(known, site, s))
			continue;
		for (int32_t r = 0; r < ranks; r++) {
			by_rank[r] += im->sites[s][r].compute_ns;
			all_ns += im->sites[s][r].compute_ns;
		}
	}
	for (int32_t r = 1; r < ranks; r++)
		if (by_rank[r] > by_rank[u->rank])
			u->rank = r;
	u->slow_ns = by_rank[u->rank];
	u->others_ns = (double)(all_ns - u->slow_ns) / (ranks > 1 ? ranks - 1 : 1);
	for (size_t i = 0; poles->by != NULL && i < poles->by->site_count; i++)
		if (is_same_site(known, site, poles->by->sites[i].site)) {
			*u = poles->by->sites[i];
			break;
		}
	return by_rank;
}

/* How the other ranks compare and, from samples, its function. */
static void
add_computation(const struct poles *poles, struct long_pole *p, uint32_t site)
{
	const int32_t ranks = poles->im->graph.known.ranks;
	struct uneven u;
	int64_t *by_rank = computation_at(poles, site, &u);
	double times;

	p->alike = is_alike(poles, &u);
	leave_out_preempted(poles, site, by_rank);
	times = find_equals(p, by_rank, ranks);
	free(by_rank);
	if (p->alike || (p->rank_count > 0 && !do_the_same(poles, p, &u, ranks)))
		p->rank_count = 0;
	if (!pole_has(p, u.rank))
		return;
	p->times = p->rank_count > 0 ? times : (double)u.slow_ns / u.others_ns;
	find_reason(poles, p, &u);
	if (p->reason == COMPUTES)
		find_function(poles, p, &u);
}

static double
path_share(const struct poles *poles, int64_t ns)
{
	return (double)ns / (double)poles->path->ns;
}

static void
add_path(const struct poles *poles, struct long_pole *p, size_t at)
{
	const struct place *place = &poles->places[at];
	const struct known_path *path = poles->path;
	const struct definitions *known = &poles->im->graph.known;
	int64_t ns = place->ns;

	for (size_t i = 0; p->kind == POLE_COMPUTE && i < poles->place_count; i++)
		if (i != at && poles->places[i].site == place->site && poles->places[i].compute &&
		    pole_has(p, poles->places[i].rank))
			ns += poles->places[i].ns;
	p->path_s = 1e-9 * (double)ns;
	p->path_share = path_share(poles, ns);
	p->percent = path->percent;
	for (size_t i = 0; i < path->gain_count; i++)
		if (is_same_site(known, path->gains[i].site, place->site)) {
			p->gain_s = 1e-9 * (double)path->gains[i].gain_ns;
			p->gain_share = path_share(poles, path->gains[i].gain_ns);
		}
	pole_balance(p, place, known, path->balances, path->balance_count, (double)path->ns);
}

static void
add_cost(const struct poles *poles, struct long_pole *p, uint32_t site)
{
	double ns = 0;

	for (size_t i = 0; i < poles->delay_count; i++)
		if (pole_has(p, poles->delays[i].rank) &&
		    poles->delays[i].key / 2 == site && (p->kind == POLE_POLLING ||
		    poles->delays[i].key % 2 == (p->kind != POLE_COMPUTE)))
			ns += delay_cost_ns(&poles->delays[i]);
	p->cost_s = 1e-9 * ns;
	p->all_s = 1e-9 * (double)all_time_ns(poles->im);
}

static bool
polls_at(const struct definitions *known, uint32_t site)
{
	const struct site *s = site < known->site_count ? &known->sites[site] : NULL;
	int call;

	if (s != NULL && s->stack != NULL)
		s = &known->sites[s->stack[0]];
	call = s != NULL && s->call != NULL ? call_number(s->call) : -1;
	return call >= 0 && call_polls((unsigned)call);
}

/* From place AT of the path; if the path is unknown, from delay AT. */
static struct long_pole
pole_at(const struct poles *poles, size_t at)
{
	struct long_pole p = no_pole;
	char text[1024];
	uint32_t site;

	if (poles->place_count > 0) {
		const struct place *place = &poles->places[at];

		site = place->site;
		p.rank = place->rank;
		p.kind = place_kind(place);
	} else {
		site = (uint32_t)(poles->delays[at].key / 2);
		p.rank = poles->delays[at].rank;
		p.kind = poles->delays[at].key % 2 == 0 ? POLE_COMPUTE :
		    polls_at(&poles->im->graph.known, site) ? POLE_POLLING : POLE_MPI;
	}
	if (site != 0)
		snprintf(p.where, sizeof p.where, "%s", index_text(poles->im, BY_SITE, site, text,
		    sizeof text));
	if (p.kind == POLE_COMPUTE)
		add_computation(poles, &p, site);
	if (poles->place_count > 0)
		add_path(poles, &p, at);
	add_cost(poles, &p, site);
	return p;
}

static struct evidence
evidence_of(const struct poles *poles, const struct long_pole *pole)
{
	const struct imbalance *im = poles->im;
	struct evidence e = no_evidence;

	if (poles->by != NULL && poles->by->samples > 0)
		e.samples = (int64_t)poles->by->samples;
	e.function_samples = pole->samples;
	e.unmatched = (int64_t)(im->counts.unmatched_sends + im->counts.unmatched_receives +
	    im->counts.unmatched_collectives);
	e.handing_rank = pole_handing_rank(pole, &im->graph.known);
	for (int32_t r = 0; r < im->graph.known.ranks; r++)
		e.calls += (int64_t)im->tables[BY_RANK].cells[r].calls;
	return e;
}

struct verdict
verdict_of(const struct imbalance *im, const struct known_path *path)
{
	enum { MOST_LOOKED_AT = 32 };
	struct poles poles = { .im = im, .path = path };
	struct same_sites same = { NULL };
	struct long_pole found[3] = { no_pole, no_pole, no_pole };
	struct evidence evidence;
	struct verdict v = { .trust = trust_of(&im->graph.known, &no_evidence) };
	size_t count = 0, candidates;
	bool hung;

	poles.crowded = v.trust.load.cores >= 0 &&
	    v.trust.load.cores < larger(v.trust.load.ranks, v.trust.load.threads);
	poles.by = functions_by(im, true, poles.crowded);
	if (path != NULL)
		poles.places = places_by_name(path->places, &im->graph.known, &same,
		    &poles.place_count);
	poles.delays = delays_by_name(im, &same, &poles.delay_count);
	candidates = poles.place_count > 0 ? poles.place_count : poles.delay_count;
	for (size_t i = 0; i < candidates && i < MOST_LOOKED_AT && count < 3; i++) {
		const struct long_pole pole = pole_at(&poles, i);
		size_t k = 0;

		/* An earlier one covers it: ranks that compute alike are one pole. */
		while (k < count && !(pole_has(&found[k], pole.rank) &&
		    found[k].kind == pole.kind && strcmp(found[k].where, pole.where) == 0))
			k++;
		if (k < count)
			free(pole.ranks);
		else
			found[count++] = pole;
	}
	hung = pole_hung(&v.pole, &im->graph.known);
	if (!hung)
		v.pole = found[0];
	else
		free(found[2].ranks);
	v.next[0] = found[1 - hung];
	v.next[1] = found[2 - hung];
	evidence = evidence_of(&poles, &v.pole);
	trust_free(&v.trust);
	v.trust = trust_of(&im->graph.known, &evidence);
	free(poles.places);
	free(poles.delays);
	same_sites_free(&same);
	return v;
}
