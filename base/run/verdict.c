/* SPDX-License-Identifier: BSD-3-Clause */
#include "verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tool/text.h"
#include "../tool/tool.h"
#include "places.h"

const struct long_pole no_pole = { .rank = -1, .samples = -1, .times = NAN, .path_s = NAN,
	.path_share = NAN, .cost_s = NAN, .gain_s = NAN, .gain_share = NAN };

/* Shares not sampled: so much in all is worth saying, and so much of a part. */
static const double MUCH = 0.25, MUCH_OF_PART = 0.05;
static const double MANY = 1000;		/* times the mean: others hardly compute there */
static const double LITTLE = 0.01;		/* share of the path: no place stands out */

enum pole_kind
place_kind(const struct place *place)
{
	if (2 * place->polling_ns > place->ns)
		return POLE_POLLING;
	if (place->compute)
		return POLE_COMPUTE;
	return 2 * place->transfer_ns > place->ns ? POLE_TRANSFER : POLE_MPI;
}

bool
pole_has(const struct long_pole *p, int32_t rank)
{
	bool has = p->alike || p->rank == rank;

	for (size_t i = 0; i < p->rank_count; i++)
		has |= p->ranks[i] == rank;
	return has;
}

int32_t
pole_handing_rank(const struct long_pole *p, const struct definitions *known)
{
	const bool is_blocked = p->reason == IS_BLOCKED || p->reason == WAITS_FOR_THREADS ||
	    p->unsampled_share[OFF_BLOCKED] >= MUCH;
	/* lp-graph may have found the waits: then what is left of them matters */
	const bool may_wait = is_blocked || (known->handovers == 0 && (p->function == NULL ||
	    p->reason != COMPUTES));

	return p->kind == POLE_COMPUTE && may_wait && several_threads_call(known, p->rank) ?
	    p->rank : -1;
}

bool
pole_hung(struct long_pole *p, const struct definitions *known)
{
	const struct headline *h = &known->headline;
	size_t capacity = 0;

	if (h->hung == NULL)
		return false;
	*p = no_pole;
	p->kind = POLE_STUCK;
	p->rank = h->hung_ranks[0];
	for (size_t i = 0; i < h->hung_count; i++)
		*APPEND(p->ranks, p->rank_count, capacity) = h->hung_ranks[i];
	p->hung = h->hung;
	if (h->hung_site != 0)
		snprintf(p->where, sizeof p->where, "%s", site_text(known, h->hung_site));
	return true;
}

/* The unit that fits, and how many of it are a second. */
static const char *
unit_of(double s, double *of_second)
{
	*of_second = s >= 1 ? 1 : s >= 1e-3 ? 1e3 : 1e6;
	return s >= 1 ? "s" : s >= 1e-3 ? "ms" : "us";
}

/* Two significant digits. */
static void
put_two_digits(FILE *out, double value, const char *unit)
{
	fprintf(out, "%.*f %s", value < 9.95, value, unit);
}

/* Two digits in a suitable unit. */
static void
put_seconds(FILE *out, double s)
{
	double of_second;
	const char *unit = unit_of(s, &of_second);

	put_two_digits(out, s * of_second, unit);
}

static const double WORTH = 0.01;	/* of the run: a gain that changes its third digit */

static void
put_gain(FILE *out, const struct long_pole *p)
{
	double of_second;
	const char *unit = unit_of(p->run_s, &of_second);

	if (p->balanced && p->gain_s < WORTH * p->run_s) {	/* both would read alike */
		fprintf(out, "; balanced, the run takes ");
		put_seconds(out, p->gain_s);
		fprintf(out, " less");
	} else if (p->balanced)
		fprintf(out, "; balanced, the run takes %.3g instead of %.3g %s",
		    (p->run_s - p->gain_s) * of_second, p->run_s * of_second, unit);
	else if (isfinite(p->gain_share))
		fprintf(out, "; %d %% less there on all ranks gains %.1f %%", p->percent,
		    100 * p->gain_share);
}

/* Less is alike. */
static const double SLOW = 1.15;

bool
can_be_balanced(double own_ns, double others_ns)
{
	return own_ns >= SLOW * others_ns && own_ns < MANY * others_ns;
}

void
pole_balance(struct long_pole *p, const struct place *place,
    const struct definitions *known, const struct balance *balances, size_t count,
    double told_ns)
{
	if (p->kind != POLE_COMPUTE || p->alike || p->rank_count > 0)
		return;
	for (size_t i = 0; i < count; i++)
		if (balances[i].rank == place->rank && is_same_site(known, balances[i].site,
		    place->site)) {
			p->balanced = true;
			p->run_s = 1e-9 * (double)known->run_ns;
			p->gain_s = 1e-9 * (double)balances[i].gain_ns;
			p->gain_share = (double)balances[i].gain_ns / told_ns;
		}
}

/* "relax (heat.c:80)", or "relax (heat.c:80; inlined: norm (norm.h:12))" */
static void
put_function(FILE *out, const struct long_pole *p)
{
	fprintf(out, " in %s", p->function);
	if (p->file != NULL && p->line > 0)
		fprintf(out, " (%s:%d", file_name(p->file), (int)p->line);
	else if (p->file != NULL)
		fprintf(out, " (%s", file_name(p->file));
	if (p->file != NULL && p->inlined.name != NULL)
		fprintf(out, "; inlined: %s (%s:%d)", p->inlined.name, file_name(p->inlined.file),
		    (int)p->inlined.line);
	if (p->file != NULL)
		fputc(')', out);
}

/* Returns whether there is much of it. */
static bool
put_unsampled(FILE *out, const struct long_pole *p)
{
	static const char *const words[OFF_REASONS + 1] = { [OFF_BLOCKED] = "blocked",
		[OFF_PREEMPTED] = "preempted", [OFF_UNKNOWN] = "not on a core or not sampled",
		[OFF_REASONS] = "on a core but not sampled" };
	double all = 0;
	bool first = true;

	for (int i = 0; i <= OFF_REASONS; i++)
		all += p->unsampled_share[i];
	for (int i = 0; all >= MUCH && i <= OFF_REASONS; i++)
		if (p->unsampled_share[i] >= MUCH_OF_PART) {
			fprintf(out, ", %.0f %%%s %s", 100 * p->unsampled_share[i],
			    first ? " of it" : "", words[i]);
			first = false;
		}
	return !first;
}

static void
put_computation(FILE *out, const struct long_pole *p)
{
	static const char *const words[POLE_REASONS] = { [IS_BLOCKED] = "blocked",
		[IS_PREEMPTED] = "preempted", [WAITS_FOR_THREADS] = "waiting for its threads" };
	const bool longer = !p->alike && p->times >= 1.1 && p->times < MANY &&
	    !(p->path_share < LITTLE);
	bool explained = p->alike || longer || p->reason != COMPUTES;

	fputs(p->reason == COMPUTES ? "computation" : "time", out);
	if (p->function != NULL && p->reason == COMPUTES)
		put_function(out, p);
	if (p->where[0] != '\0')
		fprintf(out, " before %s", p->where);
	if (p->alike)
		fputs(", alike on each", out);
	if (longer)
		fprintf(out, ", %.*f times the mean of the others", p->times < 9.95, p->times);
	if (p->reason != COMPUTES) {
		fprintf(out, ", %.0f %% of it %s", 100 * p->reason_share, words[p->reason]);
		if (p->function != NULL)
			put_function(out, p);
	} else
		explained |= put_unsampled(out, p);
	if (explained)
		fputs(",", out);
}

/* "rank 1's ", "ranks 1 and 2's ", "ranks 8 to 15's ", or how many */
static void
put_owner(FILE *out, const struct long_pole *p)
{
	const size_t n = p->rank_count;

	if (p->alike)
		fputs("the ranks' ", out);
	else if (n == 0)
		fprintf(out, "rank %d's ", (int)p->rank);
	else if (n == 2)
		fprintf(out, "ranks %d and %d's ", (int)p->ranks[0], (int)p->ranks[1]);
	else if (p->ranks[n - 1] - p->ranks[0] == (int32_t)n - 1)
		fprintf(out, "ranks %d to %d's ", (int)p->ranks[0], (int)p->ranks[n - 1]);
	else
		fprintf(out, "%zu ranks' ", n);
}

char *
verdict_sentence(const struct long_pole *p)
{
	char *sentence = NULL;
	size_t size;
	FILE *out;
	const bool little = p->rank >= 0 && p->path_share < LITTLE;

	if (p->kind == POLE_STUCK)
		return need(strdup(p->hung));
	out = need(open_memstream(&sentence, &size));
	if (little)
		fputs("no place stands out; ", out);
	if (p->rank < 0)
		fputs("no rank keeps the others waiting", out);
	else
		put_owner(out, p);
	if (p->rank >= 0 && p->kind == POLE_COMPUTE)
		put_computation(out, p);
	else if (p->rank >= 0)
		fprintf(out, "%s in %s", p->kind == POLE_POLLING ? "polling" : "time",
		    p->where[0] != '\0' ? p->where : "MPI");
	if (little)
		fprintf(out, " is only %.2g %% of the critical path", 100 * p->path_share);
	else if (isfinite(p->path_share))
		fprintf(out, " is %.0f %% of the critical path", 100 * p->path_share);
	if (!little && isfinite(p->cost_s) && p->cost_s > 0) {
		fprintf(out, "%s cost %s ", isfinite(p->path_share) ? " and" : "",
		    p->alike ? "each other" : "the others");
		put_seconds(out, p->cost_s);
		fputs(" of rank time, ", out);
		put_two_digits(out, 100 * p->cost_s / p->all_s, "%");
		fputs(" of all", out);
	}
	if (!little)
		put_gain(out, p);
	if (fclose(out) != 0)
		die("out of memory");
	return sentence;
}

void
verdict_free(struct verdict *v)
{
	trust_free(&v->trust);
	free(v->pole.ranks);
	for (size_t i = 0; i < sizeof v->next / sizeof v->next[0]; i++)
		free(v->next[i].ranks);
}

void
verdict_text(struct text *text, const struct headline *headline, const struct verdict *v)
{
	char *run = headline_text(headline), *sentence = verdict_sentence(&v->pole);
	char *trust = trust_text(&v->trust);

	/* Of a run that hangs, the headline says so itself. */
	if (v->pole.kind == POLE_STUCK)
		text_line(text, "%s", run);
	else
		text_line(text, "%s: %s", run, sentence);
	if (trust != NULL)
		text_line(text, "%s", trust);
	free(run);
	free(sentence);
	free(trust);
}

static void
put_text(struct json *json, const char *key, const char *text)
{
	if (text != NULL && text[0] != '\0')
		json_text(json, key, text);
	else
		json_null(json, key);
}

static void
put_pole(struct json *json, const char *key, const struct long_pole *p, int32_t ranks)
{
	static const char *const kinds[] = { "compute", "mpi", "transfer", "polling", "stuck" };
	static const char *const reasons[] = { "compute", "blocked", "preempted", "threads" };
	const int32_t first = p->alike ? 0 : p->rank, end = p->alike ? ranks : p->rank + 1;
	char question[40] = "";

	json_break(json);
	if (p->rank < 0) {
		json_null(json, key);
		return;
	}
	if (p->balanced)
		snprintf(question, sizeof question, "balanced");
	else if (isfinite(p->gain_share))
		snprintf(question, sizeof question, "%d %% less", p->percent);
	json_begin_object(json, key);
	json_begin_array(json, "ranks");
	for (size_t i = 0; i < p->rank_count; i++)
		json_int(json, NULL, p->ranks[i]);
	for (int32_t r = first; r < end && p->rank_count == 0; r++)
		json_int(json, NULL, r);
	json_end_array(json);
	json_text(json, "what", p->kind == POLE_COMPUTE ? reasons[p->reason] : kinds[p->kind]);
	put_text(json, "function", p->function);
	put_text(json, "file", p->file);
	if (p->line > 0)
		json_int(json, "line", p->line);
	else
		json_null(json, "line");
	put_text(json, "site", p->where);
	json_fixed(json, "path_s", p->path_s, 9);
	json_fixed(json, "path_share", p->path_share, 6);
	json_fixed(json, "times_the_mean", p->alike || p->times < MANY ? p->times : NAN, 3);
	json_fixed(json, "cost_rank_s", p->cost_s, 9);
	json_fixed(json, "gain_s", p->gain_s, 9);
	json_fixed(json, "gain_share", p->gain_share, 6);
	put_text(json, "if", question);
	json_end_object(json);
}

void
verdict_json(struct json *json, const char *key, const struct verdict *v, int32_t ranks)
{
	char *sentence = verdict_sentence(&v->pole);

	if (key != NULL)
		json_break(json);
	json_begin_object(json, key);
	json_text(json, "sentence", sentence);
	put_pole(json, "long_pole", &v->pole, ranks);
	trust_json(json, &v->trust);
	json_break(json);
	json_begin_array(json, "next");
	for (size_t i = 0; i < sizeof v->next / sizeof v->next[0]; i++)
		if (v->next[i].rank >= 0)
			put_pole(json, NULL, &v->next[i], ranks);
	json_end_array(json);
	json_end_object(json);
	free(sentence);
}
