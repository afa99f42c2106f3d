/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps that took longer than their like, why, and whether steps get longer.
 *
 * Steps are alike if rank 0 calls at the same places in them; if fewer than LEAST_LIKE are, all
 * steps of the loop are. The length of a step is its part of the critical path.
 */
#include <math.h>

#include "../base/statistics/statistics.h"
#include "critpath.h"

enum { LEAST_LIKE = 8, MOST_POINTS = 100 };
/* A slow step is that many robust deviations longer than the median, and by that share of it. */
static const double DEVIATIONS = 5, LEAST_EXTRA = 0.1;

const char *const cause_names[CAUSES] = { "computing", "blocked", "preempted", "mpi", "transfer" };

/* Steps of one kind, in order, with their medians. */
struct like {
	const struct section_path **steps;
	size_t count;
	double path_ns, deviation_ns, ns[CAUSES];
};

ORDER(by_kind, struct section_path *const, COMPARED((*a)->kind, (*b)->kind)
    COMPARED((*a)->row.section, (*b)->row.section))
ORDER(slowest, struct slow, MOST(extra_ns) BY(instance))

static double
median_of(const struct like *like, double *values, size_t offset)
{
	for (size_t i = 0; i < like->count; i++)
		values[i] = (double)*(const int64_t *)(const void *)
		    ((const char *)like->steps[i] + offset);
	return median((struct sample){ values, like->count });
}

static void
find_medians(struct like *like)
{
	double *values = zalloc(like->count, sizeof *values);

	for (int cause = 0; cause < CAUSES; cause++)
		like->ns[cause] = median_of(like, values, offsetof(struct section_path, ns) +
		    (size_t)cause * sizeof(int64_t));
	like->path_ns = median_of(like, values, offsetof(struct section_path, path_ns));
	like->deviation_ns = robust_deviation((struct sample){ values, like->count });
	free(values);
}

static char *
sentence_of(const struct slow *s)
{
	char of[3072] = "", by[1024] = "", *sentence;
	const double cause_s = seconds(s->cause_ns), own_s = seconds(s->ns);

	if (s->where != NULL)
		snprintf(of, sizeof of, " before %s", s->where);
	if (s->function != NULL)
		snprintf(by, sizeof by, ", most of it in %.900s", s->function);
	switch (s->cause) {
	case COMPUTING:
		sentence = formatted("rank %d computed for %.6f s more%s%s", (int)s->rank, cause_s,
		    of, by);
		break;
	case BLOCKED:
	case PREEMPTED:
		sentence = formatted("rank %d was %s for %.6f s%s", (int)s->rank,
		    cause_names[s->cause], own_s, of);
		break;
	case CALLING:
		sentence = formatted("rank %d was in %s for %.6f s more", (int)s->rank,
		    s->where != NULL ? s->where : "MPI", cause_s);
		break;
	default:
		sentence = formatted("messages to rank %d took %.6f s more", (int)s->rank, cause_s);
	}
	return sentence;
}

static struct slow
slow_step(const struct section_path *step, const struct like *like, const struct loop *loop,
    const struct definitions *known)
{
	struct slow s = { .step = step, .label = step->row.label, .instance = step->row.instance,
	    .of = (int64_t)loop->steps, .times = (double)step->path_ns / like->path_ns,
	    .extra_ns = step->path_ns - llround(like->path_ns), .cause_ns = INT64_MIN };
	char *why;

	for (int cause = 0; cause < CAUSES; cause++) {
		const int64_t more_ns = step->ns[cause] - llround(like->ns[cause]);

		if (more_ns <= s.cause_ns)
			continue;
		s.cause = (enum cause)cause;
		s.cause_ns = more_ns;
	}
	s.cause_name = cause_names[s.cause];
	s.rank = step->of[s.cause].rank;
	s.ns = step->of[s.cause].ns;
	if (step->of[s.cause].site > 0)
		s.where = need(strdup(site_shown(known, step->of[s.cause].site)));
	if (s.cause == COMPUTING && step->function != NULL)
		s.function = step->function;
	why = sentence_of(&s);
	s.sentence = formatted("step %lld of %lld took %.1f times as long: %s",
	    (long long)s.instance, (long long)s.of, s.times, why);
	free(why);
	return s;
}

/* The steps of a loop by kind, and in order within each. */
static const struct section_path **
steps_by_kind(const struct by_section *by, size_t loop, size_t *count)
{
	const struct loop *of = &by->sections.steps.loops[loop];
	const struct section_path **steps = zalloc((size_t)of->steps, sizeof *steps);
	uint64_t instance;

	*count = 0;
	for (size_t i = 1; i < by->sections.count; i++)
		if (section_loop(&by->sections, (uint32_t)i, &instance) == of)
			steps[(*count)++] = &by->paths[i];
	SORT(steps, *count, by_kind);
	return steps;
}

/* The steps of one kind that begin at FROM. */
static struct like
next_like(const struct section_path **steps, size_t from, size_t count)
{
	struct like like = { .steps = &steps[from] };

	while (from + like.count < count && steps[from + like.count]->kind == steps[from]->kind)
		like.count++;
	return like;
}

struct slow *
slow_steps(const struct by_section *by, const struct definitions *known, size_t *count)
{
	struct slow *slow = NULL;
	size_t capacity = 0;

	*count = 0;
	for (size_t l = 0; l < by->sections.steps.count; l++) {
		size_t steps_count;
		const struct section_path **steps = steps_by_kind(by, l, &steps_count);
		struct like all = { .steps = steps, .count = steps_count }, like;

		find_medians(&all);
		for (size_t i = 0; i < steps_count; i += like.count) {
			const struct like *judge = &all;

			like = next_like(steps, i, steps_count);
			if (like.count >= LEAST_LIKE) {
				find_medians(&like);
				judge = &like;
			}
			for (size_t k = 0; k < like.count; k++) {
				const double more = (double)like.steps[k]->path_ns - judge->path_ns;

				if (judge->path_ns > 0 && more > DEVIATIONS * judge->deviation_ns &&
				    more > LEAST_EXTRA * judge->path_ns)
					*APPEND(slow, *count, capacity) = slow_step(like.steps[k],
					    judge, &by->sections.steps.loops[l], known);
			}
		}
		free(steps);
	}
	SORT(slow, *count, slowest);
	return slow;
}

/* ---- do steps get longer? ---------------------------------------------------------------- */

/* The medians of blocks of the most frequent kind's steps, so that few slow ones do not count. */
bool
trend_of(const struct by_section *by, size_t loop, struct trend *trend)
{
	size_t count, points = 0;
	const struct section_path **steps = steps_by_kind(by, loop, &count);
	struct like like = { .steps = steps }, next;
	double x[MOST_POINTS], y[MOST_POINTS], *values;
	struct effect slope;

	for (size_t i = 0; i < count; i += next.count) {
		next = next_like(steps, i, count);
		if (next.count > like.count)
			like = next;
	}
	if (like.count < 2 * LEAST_LIKE) {
		free(steps);
		return false;
	}
	find_medians(&like);
	values = zalloc(like.count, sizeof *values);
	for (size_t at = 0; points < MOST_POINTS && at < like.count; points++) {
		const size_t end = (points + 1) * like.count / (like.count < MOST_POINTS ?
		    like.count : MOST_POINTS);
		const struct like block = { .steps = like.steps + at, .count = end - at };

		y[points] = median_of(&block, values, offsetof(struct section_path, path_ns));
		x[points] = median_of(&block, values, offsetof(struct section_path, row.instance));
		at = end;
	}
	slope = theil_sen(x, y, points, 0.95);
	*trend = (struct trend){ by->sections.steps.loops[loop].label, (int64_t)like.count,
	    slope.shift, slope.low, slope.high, 0 };
	if (like.path_ns > 0)
		trend->growth = slope.shift * (x[points - 1] - x[0]) / like.path_ns;
	free(values);
	free(steps);
	return true;
}
