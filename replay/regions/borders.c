/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks end near a border: it is where the pairs before look like one phase and those behind like the other. */
#include "regions.h"

#include <math.h>
#include <string.h>

#include "../../base/tool/search.h"

/* Sizes are looked at in classes that are that wide, in logarithms; a pair lasts less than 2^64 ns. */
static const double WIDTH = 0.2;
enum { CLASSES = 225, ROUNDS = 2 };

static int
class_of(double size)
{
	int class = (int)(size / WIDTH);

	return class < 1 ? 1 : class > CLASSES - 2 ? CLASSES - 2 : class;
}

/* The logarithm of how likely each class is among the pairs FIRST to before END; neighbours look alike. */
static void
find_density(const double *size, size_t first, size_t end, double *density)
{
	const double all = (double)(end - first);
	double pairs[CLASSES] = { 0 };

	for (size_t i = first; i < end; i++) {
		const int class = class_of(size[i]);

		pairs[class - 1] += 0.25;
		pairs[class] += 0.5;
		pairs[class + 1] += 0.25;
	}
	for (int class = 0; class < CLASSES; class++)
		density[class] = log((pairs[class] + 0.5) / (all + 0.5 * CLASSES));
}

/* Of two phases, FIRST to before FROM and TO to before END, where between them the border is most likely. */
static size_t
likely_border(const struct sizes *sizes, size_t first, size_t from, size_t to, size_t end)
{
	double left[PARTS][CLASSES], right[PARTS][CLASSES], sum = 0, most = 0;
	size_t border = from;

	for (int part = 0; part < PARTS; part++) {
		find_density(sizes->of[part], first, from, left[part]);
		find_density(sizes->of[part], to, end, right[part]);
	}
	for (size_t i = from; i < to; i++) {
		for (int part = 0; part < PARTS; part++) {
			const int class = class_of(sizes->of[part][i]);

			sum += left[part][class] - right[part][class];
		}
		if (sum > most) {
			most = sum;
			border = i + 1;
		}
	}
	return border;
}

#define ENDS_BEFORE(pair, ns) ((double)(pair)->recorded_ns < (ns))
SEARCH(pair_at, struct pair, double, ENDS_BEFORE)

void
move_borders(const struct series *s, const struct sizes *sizes, size_t *ends, int count)
{
	const double reach_ns = 1.5 * recorded_until(s, s->count) / MOST_PHASES;

	for (int round = 0; round < ROUNDS; round++)
		for (int k = 0; k + 1 < count; k++) {
			const size_t first = k > 0 ? ends[k - 1] : 0;
			const double at_ns = recorded_until(s, ends[k]);
			const double left_ns = (at_ns - recorded_until(s, first)) / 2;
			const double right_ns = (recorded_until(s, ends[k + 1]) - at_ns) / 2;
			const size_t from = pair_at(s->pairs, s->count, at_ns - fmin(left_ns, reach_ns));
			const size_t to = pair_at(s->pairs, s->count, at_ns + fmin(right_ns, reach_ns));

			if (first < from && from < ends[k] && ends[k] <= to && to < ends[k + 1])
				ends[k] = likely_border(sizes, first, from, to, ends[k + 1]);
		}
}
