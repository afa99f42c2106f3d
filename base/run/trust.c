/* SPDX-License-Identifier: BSD-3-Clause */
#include "verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "../tool/fields.h"
#include "../tool/tool.h"

/*
 * Shares of the ranks' time without a core, and of the cores' time for others: harmless below the
 * first, misleading from the second on; of the time for recording, from the third on.
 */
static const double HARM = 0.05, MUCH = 0.1, MOST = 0.5;
static const double SHORT = 0.01, TOO_SHORT = 0.1;	/* the clocks' error, of the run time */
static const double FEW_LOST = 0.001, MANY_LOST = 0.05;	/* of all calls, without a partner */
static const int64_t FEW_SAMPLES = 10;

const struct evidence no_evidence = { .samples = -1, .function_samples = -1,
	.handing_rank = -1 };

static void __attribute__((format(printf, 3, 4)))
add_reason(struct trust *t, enum trust_level level, const char *format, ...)
{
	va_list values;

	if (level > t->level)
		t->level = level;
	va_start(values, format);
	if (vasprintf(&t->reasons[t->reason_count++], format, values) < 0)
		die("out of memory");
	va_end(values);
}

/* A user with more threads than cores slows all ranks alike; others slow some of them. */
static void
judge_cores(struct trust *t, const struct headline *h)
{
	const struct host_load sum = load_sum(h), *worst = load_worst(h);
	const struct load_shares shares = load_shares(worst);
	const bool by_others = shares.others >= MUCH ||
	    (worst->threads <= worst->cores && shares.preempted >= MUCH);

	t->level = TRUST_GOOD;
	t->load = load_shares(&sum);
	t->measured = load_measured(h, worst);
	if (shares.preempted >= HARM) {
		t->its_cores = true;
		add_reason(t, by_others ? TRUST_POOR : TRUST_FAIR, "%s", t->measured);
	}
	if (shares.others >= HARM)
		add_reason(t, t->its_cores && shares.others >= MUCH ? TRUST_POOR : TRUST_FAIR,
		    "other processes took %.0f %% of the cores", 100 * shares.others);
	if (t->load.recording >= HARM)
		add_reason(t, t->load.recording >= MOST ? TRUST_POOR : TRUST_FAIR,
		    "recording took some %.0f %% of the time, as threads switch often: see "
		    "--no-sample", 100 * t->load.recording);
}

static void
judge_ranks(struct trust *t, const struct definitions *known)
{
	const struct headline *h = &known->headline;
	const int64_t missing = known->ranks - h->ranks_told;
	const double run_ns = (double)known->run_ns, error_ns = (double)h->clock_error_ns;

	t->load.ranks = known->ranks;
	if (h->ranks_told > 0 && missing > 0)
		add_reason(t, TRUST_POOR, "%lld rank%s missing", (long long)missing,
		    missing == 1 ? " is" : "s are");
	if (h->ranks_died > 0)
		add_reason(t, TRUST_FAIR, "%d rank%s ended before MPI_Finalize",
		    (int)h->ranks_died, h->ranks_died == 1 ? "" : "s");
	t->clock_error_ns = h->ranks_told > 0 ? h->clock_error_ns : -1;
	if (error_ns > SHORT * run_ns)
		add_reason(t, error_ns > TOO_SHORT * run_ns ? TRUST_POOR : TRUST_FAIR,
		    "the run took %.3g ms, the clocks are known to %.3g ms", 1e-6 * run_ns,
		    1e-6 * error_ns);
}

struct trust
trust_of(const struct definitions *known, const struct evidence *e)
{
	struct trust t = { .load = { .cores = -1, .threads = -1, .preempted = NAN,
	    .off_core = NAN, .others = NAN }, .samples = e->samples };
	const double unmatched = (double)e->unmatched, calls = (double)e->calls;

	if (known->headline.load_count > 0)
		judge_cores(&t, &known->headline);
	judge_ranks(&t, known);
	if (e->function_samples >= 0 && e->function_samples < FEW_SAMPLES)
		add_reason(&t, TRUST_FAIR, "%lld samples of that function",
		    (long long)e->function_samples);
	if (e->handing_rank >= 0)
		add_reason(&t, e->samples >= 0 ? TRUST_POOR : TRUST_FAIR, "several threads of rank "
		    "%d make calls and may have waited for each other, which the path does not "
		    "follow", (int)e->handing_rank);
	if (unmatched > FEW_LOST * calls)
		add_reason(&t, unmatched > MANY_LOST * calls ? TRUST_POOR : TRUST_FAIR,
		    "%.0f of %.0f calls without a partner: others were not recorded", unmatched,
		    calls);
	return t;
}

void
trust_free(struct trust *t)
{
	free(t->measured);
	for (size_t i = 0; i < t->reason_count; i++)
		free(t->reasons[i]);
}

char *
trust_text(const struct trust *t)
{
	static const char *const levels[] = { "", "good", "fair", "do not act on this" };
	char *text = NULL;
	size_t size;
	FILE *out;

	if (t->level == TRUST_UNKNOWN)
		return NULL;
	out = need(open_memstream(&text, &size));
	fputs(levels[t->level], out);
	if (t->measured != NULL)
		fprintf(out, ": %s", t->measured);
	for (size_t i = t->its_cores; i < t->reason_count; i++)
		fprintf(out, "%s%s", i == 0 && t->measured == NULL ? ": " : "; ", t->reasons[i]);
	if (fclose(out) != 0)
		die("out of memory");
	return text;
}

static void
put_load(struct json *json, const struct load_shares *load)
{
#define LOAD(member) FIELD(struct load_shares, member)
	static const struct field fields[] = {
		{ "cores", LOAD(cores), .json = PLAIN, .known = UNLESS_NEGATIVE },
		{ "ranks", LOAD(ranks), .json = PLAIN, .known = UNLESS_NEGATIVE },
		{ "threads", LOAD(threads), .json = PLAIN, .known = UNLESS_NEGATIVE },
		{ "preempted_share", LOAD(preempted), .json = "%.4f" },
		{ "off_core_share", LOAD(off_core), .json = "%.4f" },
		{ "others_share", LOAD(others), .json = "%.4f" },
		FIELDS_END
	};

	json_members(json, fields, load);
}

void
load_json(struct json *json, const struct headline *h)
{
	const struct host_load sum = load_sum(h);
	struct load_shares shares;

	if (h->load_count == 0)
		return;
	shares = load_shares(&sum);
	json_begin_object(json, "load");
	put_load(json, &shares);
	json_end_object(json);
}

void
trust_json(struct json *json, const struct trust *t)
{
	static const char *const levels[] = { NULL, "good", "fair", "poor" };
	static const struct field fields[] = {
		{ "samples", FIELD(struct trust, samples), .json = PLAIN,
		    .known = UNLESS_NEGATIVE },
		{ "clock_error_ns", FIELD(struct trust, clock_error_ns), .json = PLAIN,
		    .known = UNLESS_NEGATIVE },
		FIELDS_END
	};

	json_break(json);
	json_begin_object(json, "trust");
	if (t->level == TRUST_UNKNOWN)
		json_null(json, "level");
	else
		json_text(json, "level", levels[t->level]);
	json_begin_array(json, "reasons");
	for (size_t i = 0; i < t->reason_count; i++)
		json_text(json, NULL, t->reasons[i]);
	json_end_array(json);
	put_load(json, &t->load);
	json_members(json, fields, t);
	json_end_object(json);
}
