/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The schedule of each collective of the library: the one whose replay on the fitted machine is
 * closest to the measurements, by size and number of ranks. The replay is lp-replay's own.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/replay/engine.h"
#include "network.h"

#define CHANGE 0.05	/* a change of schedule at a size must lower the relative error by this */
#define PLAINER 0.01		/* likewise a segmented schedule, at each size */

/* Ranks that make one call repeatedly. */
struct stage {
	struct machine machine;
	struct definitions known;
	struct engine engine;
	uint32_t ranks;
};

static void
stage_begin(struct stage *s, const char *machine, uint32_t ranks)
{
	memset(s, 0, sizeof *s);
	s->ranks = ranks;
	machine_read_text(&s->machine, "the fitted machine", need(strdup(machine)));
	machine_map(&s->machine, ranks);
	s->known.ranks = (int32_t)ranks;
	s->known.location_count = ranks;
	s->known.location_rank = zalloc(ranks, sizeof *s->known.location_rank);
	for (uint32_t r = 0; r < ranks; r++)
		s->known.location_rank[r] = (int32_t)r;
	engine_begin(&s->engine, &s->machine, &s->known);
	s->engine.ended = true;
	for (uint32_t r = 0; r < ranks; r++) {
		s->engine.lanes[r].ops = zalloc(1, sizeof *s->engine.lanes[r].ops);
		s->engine.lanes[r].rows = zalloc(1, sizeof *s->engine.lanes[r].rows);
	}
}

/* The time until the last rank leaves, if all enter at one time. */
static double
stage_us(struct stage *s, const struct plan *plan)
{
	struct engine *e = &s->engine;
	uint32_t i = instance_new(e, s->ranks);
	double last_ns = 0;

	e->instances[i].plan = *plan;
	e->starving = s->ranks;
	e->now_ns = 0;
	free(e->events.slots);
	events_begin(&e->events);
	for (uint32_t r = 0; r < s->ranks; r++) {
		struct op_lane *lane = &e->lanes[r];
		struct runner *runner = &e->runners[r];

		e->instances[i].members[r] = (struct arrival){ .location = r, .at_ns = -1 };
		lane->ops[0] = (struct op){ .act = ACT_COLLECTIVE, .link = i };
		lane->rows[0] = (struct replay_row){ .member = r };
		lane->begin = lane->first = 0;
		lane->count = lane->ready = lane->settled = 1;
		*runner = (struct runner){ .starved = true, .next = NONE, .rank = r,
		    .cpu_ratio = 1 };
	}
	engine_run(e);
	for (uint32_t r = 0; r < s->ranks; r++)
		last_ns = e->runners[r].now_ns > last_ns ? e->runners[r].now_ns : last_ns;
	return last_ns / 1e3;
}

/* A way to try: a schedule, for trees also with segments of the sizes that libraries use. */
struct way { enum schedule schedule; uint64_t segment; };
enum {
	SEGMENTS = 5,
	MANY = 1024,		/* more segments in a block take long, and no library sends them */
	/* of all ranks: some 0.1 s for each size; grows as ranks squared */
	MOST_MOVES = 1 << 18,
	MOST_WAYS = SCHEDULES * (1 + SEGMENTS)
};
static const uint64_t segments[SEGMENTS] = { 1024, 8192, 32768, 65536, 131072 };

struct ways { struct way at[MOST_WAYS]; size_t count; };

static struct ways
ways_of(enum operation operation)
{
	struct ways ways = { .count = 0 };

	for (enum schedule s = SCHEDULE_LINEAR; s < SCHEDULES; s++)
		if (schedule_fits(s, operation))
			ways.at[ways.count++] = (struct way){ s, 0 };
	for (enum schedule s = SCHEDULE_LINEAR; s < SCHEDULES; s++)
		for (int i = 0; i < SEGMENTS && schedule_is_segmented(s, operation); i++)
			ways.at[ways.count++] = (struct way){ s, segments[i] };
	return ways;
}

/* Relative errors of all ways at points [FIRST, END), of one function and number of ranks. */
struct trial { double us[MOST_WAYS], error[MOST_WAYS]; };

static struct trial *
try_all(const struct points *points, size_t first, size_t end, enum operation operation,
    const struct ways *ways, const char *machine)
{
	struct trial *trials = zalloc(end - first, sizeof *trials);
	struct stage stage;
	bool skipped = false;

	stage_begin(&stage, machine, (uint32_t)points->at[first].ranks);
	for (size_t i = first; i < end; i++)
		for (size_t w = 0; w < ways->count; w++) {
			struct trial *t = &trials[i - first];
			struct plan plan = { .schedule = ways->at[w].schedule,
			    .operation = operation, .ranks = stage.ranks,
			    .bytes = (double)points->at[i].bytes,
			    .segment = (double)ways->at[w].segment };

			t->error[w] = INFINITY;
			if (plan.segment > 0 && plan.bytes > MANY * plan.segment)
				continue;
			if ((uint64_t)schedule_rounds(&plan) * plan.ranks > MOST_MOVES) {
				skipped = true;
				continue;
			}
			t->us[w] = stage_us(&stage, &plan);
			t->error[w] = fabs(t->us[w] / points->at[i].us - 1) +
			    (plan.segment > 0 ? PLAINER : 0);
		}
	if (skipped)
		note("%s of %lld ranks: schedules of more than %d rounds of all ranks are not "
		    "tried", points->at[first].function, (long long)points->at[first].ranks,
		    MOST_MOVES);
	return trials;
}

/* The ways with the least sum of errors; each change adds CHANGE per size. */
static void
choose(const struct trial *trials, size_t count, const struct ways *ways, size_t *chosen)
{
	double (*best)[MOST_WAYS] = zalloc(count, sizeof *best);
	size_t (*before)[MOST_WAYS] = zalloc(count, sizeof *before), last = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t w = 0; w < ways->count; w++) {
			best[i][w] = i > 0 ? best[i - 1][w] : 0;
			before[i][w] = w;
			for (size_t from = 0; i > 0 && from < ways->count; from++)
				if (best[i - 1][from] + CHANGE < best[i][w]) {
					best[i][w] = best[i - 1][from] + CHANGE;
					before[i][w] = from;
				}
			best[i][w] += trials[i].error[w];
		}
	for (size_t w = 0; w < ways->count; w++)
		if (best[count - 1][w] < best[count - 1][last])
			last = w;
	for (size_t i = count; i-- > 0; last = before[i][last])
		chosen[i] = last;
	free(best);
	free(before);
}

/*
 * The rules of one function and number of ranks, and the time beside messages: copies in memory,
 * buffers and the call itself. If all wait for all, it does not matter which rank spends that, and
 * no rank runs ahead. For rooted collectives it is unknown, so they get none.
 */
static void
add_rules(struct points *points, size_t first, size_t end, enum operation operation,
    const char *machine, struct rules *rules)
{
	const bool has_beside = !schedule_is_rooted(operation) && operation != OP_SCAN;
	size_t count = end - first;
	const struct ways ways = ways_of(operation);
	struct trial *trials = try_all(points, first, end, operation, &ways, machine);
	size_t *chosen = zalloc(count, sizeof *chosen);

	choose(trials, count, &ways, chosen);
	for (size_t i = 0; i < count; i++) {
		struct point *point = &points->at[first + i];
		const struct way *way = &ways.at[chosen[i]];
		const double us = point->us - trials[i].us[chosen[i]];
		struct rule_found *rule;

		if (isinf(trials[i].error[chosen[i]]))
			continue;	/* none was tried */
		point->fitted_us = trials[i].us[chosen[i]];
		if (i == 0 || chosen[i] != chosen[i - 1] ||
		    isinf(trials[i - 1].error[chosen[i - 1]]))
			*APPEND(rules->at, rules->count, rules->capacity) = (struct rule_found){
			    .function = point->function, .schedule = way->schedule,
			    .segment = way->segment, .from_bytes = i == 0 ? 0 : point->bytes,
			    .from_ranks = point->ranks };
		if (has_beside)
			*APPEND(rules->besides, rules->beside_count, rules->beside_capacity) =
			    (struct beside_found){ point->function, point->ranks, point->bytes,
			    fmax(us, 0) };
		if (has_beside && us > 0) {
			point->fitted_us = point->us;
			point->taken = true;
		}
		rule = &rules->at[rules->count - 1];
		rule->error += trials[i].error[chosen[i]];
		rule->sizes++;
	}
	free(trials);
	free(chosen);
}

static bool
has_rules(const struct rules *rules, const char *function)
{
	for (size_t i = 0; i < rules->count; i++)
		if (strcmp(rules->at[i].function, function) == 0)
			return true;
	return false;
}

/*
 * A collective that was not measured runs as its kin, whose blocks mean the same: a library's
 * algorithms for equal and unequal blocks differ little. Without any rule it would take no time.
 */
static void
add_kin(struct rules *rules, const char *measured, const char *function)
{
	const enum operation operation = operation_named(function + strlen("MPI_"));
	const size_t count = rules->count, besides = rules->beside_count;

	if (!has_rules(rules, measured) || has_rules(rules, function))
		return;
	for (size_t i = 0; i < count; i++) {
		struct rule_found rule = rules->at[i];

		if (strcmp(rule.function, measured) != 0 ||
		    !schedule_fits(rule.schedule, operation))
			continue;
		rule.function = function;
		*APPEND(rules->at, rules->count, rules->capacity) = rule;
	}
	for (size_t i = 0; i < besides; i++) {
		struct beside_found beside = rules->besides[i];

		if (strcmp(beside.function, measured) != 0)
			continue;
		beside.function = function;
		*APPEND(rules->besides, rules->beside_count, rules->beside_capacity) = beside;
	}
}

struct rules
fit_schedules(struct points *points, const char *machine)
{
	static const char *const kin[][2] = {
		{ "MPI_Gather", "MPI_Gatherv" }, { "MPI_Scatter", "MPI_Scatterv" },
		{ "MPI_Allgather", "MPI_Allgatherv" }, { "MPI_Alltoall", "MPI_Alltoallv" },
		{ "MPI_Alltoallv", "MPI_Alltoallw" },
		{ "MPI_Reduce_scatter", "MPI_Reduce_scatter_block" },
	};
	struct rules rules = { 0 };
	size_t next;

	for (size_t i = 0; i < points->count; i = next) {
		const char *function = points->at[i].function;
		enum operation operation = operation_named(function + strlen("MPI_"));

		/* Without data the library sends no messages. */
		if (operation != OP_BARRIER && points->at[i].bytes == 0) {
			next = i + 1;
			continue;
		}

		for (next = i; next < points->count &&
		    points->at[next].ranks == points->at[i].ranks &&
		    strcmp(points->at[next].function, function) == 0; next++)
			;
		if (operation != OP_OTHER && points->at[i].ranks > 1 &&
		    points->at[i].ranks <= UINT16_MAX)
			add_rules(points, i, next, operation, machine, &rules);
	}
	for (size_t i = 0; i < sizeof kin / sizeof kin[0]; i++)
		for (int k = 0; k < 2; k++)
			add_kin(&rules, kin[i][k], kin[i][1 - k]);
	return rules;
}
