/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the model of lp-replay(1) closest to a measured collective: in each phase a factor times
 * latency plus size over bandwidth, in the fullest node and between nodes. Sizes are those of the
 * root, or of any rank.
 */
#include <math.h>
#include <string.h>

#include "../base/mpi/catalogue.h"
#include "network.h"

#define WORTH 0.9	/* a second phase must lower the error to this fraction */

/* Bytes that the root sends or receives in lp-measure, in blocks. */
static double
blocks(enum layout layout, int64_t ranks)
{
	return layout == NONE || layout == ONE_BUT_ROOT ? 0 : layout >= ALL ? (double)ranks : 1;
}

/* Functions with models in machines; other functions belong to the unnamed kind. */
static const struct known { const char *name; enum layout in, out; } functions[] = {
#define FUNCTION(name, in, out) { "MPI_" #name, in, out },
	FUNCTIONS(FUNCTION)
};

static const struct known *
known_of(const char *function)
{
	/* A machine sends MPI_Reduce as messages to the root, without a model. */
	static const char *const unnamed[] = { "MPI_Reduce", "MPI_Exscan", "MPI_Sendrecv",
	    "MPI_Sendrecv_vector" };

	for (size_t i = 0; i < sizeof unnamed / sizeof *unnamed; i++)
		if (strcmp(function, unnamed[i]) == 0)
			return NULL;
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (strcmp(function, functions[i].name) == 0 && function[4] != 'I')
			return &functions[i];
	return NULL;
}

static double
model_us(const struct collective *c, const struct known *known, const struct wires *w,
    const struct point *point)
{
	const int64_t nodes = (point->ranks + w->cpus - 1) / w->cpus;
	const double sent = (double)point->bytes * blocks(known->in, point->ranks);
	const double received = (double)point->bytes * blocks(known->out, point->ranks);

	return phases_cost(&c->phases, sent, received, smaller(point->ranks, w->cpus), 0,
	    w->inside.latency_us, w->inside.us_per_byte).ns + phases_cost(&c->phases, sent,
	    received, nodes, 0, w->between.latency_us, w->between.us_per_byte).ns;
}

/* Of equally good models takes the logarithmic one, then one phase, then the simpler size. */
static struct collective
best_model(const struct known *known, const struct wires *w,
    const struct point *points, size_t count)
{
	static const enum model models[] = { MODEL_LOGARITHMIC, MODEL_LINEAR, MODEL_CONSTANT };
	static const enum size sizes[] = { BYTES_MAX, BYTES_MIN, BYTES_MEAN,
	    BYTES_TWICE_MAX, BYTES_SUM };
	enum { MODELS = 3, SIZES = 5 };
	struct collective best = { .mean_error = INFINITY }, c = { .few = false };

	/* The first models have one phase. */
	for (int i = -MODELS * SIZES; i < MODELS * SIZES * MODELS * SIZES; i++) {
		int first = i < 0 ? i + MODELS * SIZES : i / (MODELS * SIZES),
		    second = i % (MODELS * SIZES);

		c.phases = (struct phases){ models[first / SIZES], MODEL_NONE,
		    sizes[first % SIZES], BYTES_MAX };
		if (i >= 0) {
			c.phases.out = models[second / SIZES];
			c.phases.out_size = sizes[second % SIZES];
		}
		c.mean_error = 0;
		for (size_t k = 0; k < count; k++)
			c.mean_error += fabs(model_us(&c, known, w, &points[k]) / points[k].us - 1);
		c.mean_error /= (double)count;
		if (c.mean_error < best.mean_error * (c.phases.out != best.phases.out &&
		    best.phases.out == MODEL_NONE ? WORTH : 1) - 1e-6)
			best = c;
	}
	return best;
}

size_t
fit_collectives(struct points *points, const struct wires *wires, struct collective **all)
{
	size_t count = 0, capacity = 0, next;

	*all = NULL;
	for (size_t i = 0; i < points->count; i = next) {
		struct point *first = &points->at[i];
		const struct known *known = known_of(first->function);
		struct collective c;
		bool alike = true;

		for (next = i; next < points->count &&
		    strcmp(points->at[next].function, first->function) == 0; next++)
			alike = alike && points->at[next].ranks <= 2;
		if (known == NULL)
			continue;
		c = best_model(known, wires, first, next - i);
		c.function = first->function;
		/* a model and a size for each phase */
		c.few = next - i <= (c.phases.out == MODEL_NONE ? 2 : 4);
		c.alike = alike;
		for (size_t k = i; k < next; k++) {
			points->at[k].fitted_us = model_us(&c, known, wires, &points->at[k]);
			points->at[k].taken = c.few;
		}
		*APPEND(*all, count, capacity) = c;
	}
	return count;
}
