/* SPDX-License-Identifier: BSD-3-Clause */
/* How much worse the network may be: the run time against each parameter, and what follows from it. */
#ifndef TOLERANCE_H
#define TOLERANCE_H

#include "curve.h"
#include "engine.h"
#include "paths.h"

struct writer;

enum { MOST_PERCENTS = 16 };

struct tolerance {
	bool asked;
	double percents[MOST_PERCENTS];
	size_t percent_count;
	double range;		/* curves end at so many times the parameter; 0: nowhere */
	bool wanted[PARAMETERS];
	bool sites;		/* who is on the longest way is asked for */
	struct paths paths;
	const struct definitions *known;
	const char *sampled;	/* why the curves are points; NULL: they are exact */
	double base[PARAMETERS], run_ns;
	struct marks marks;
	struct curve curves[PARAMETERS];
	struct watcher watchers[PARAMETERS + 1];
	struct piece *pieces[PARAMETERS];
	size_t piece_count[PARAMETERS];
};

extern const char *const parameter_names[PARAMETERS];

void tolerance_parse(struct tolerance *tolerance, const char *percents);	/* NULL: 1, 2 and 5 */
void tolerance_curves(struct tolerance *tolerance, const char *names);	/* only these */
/* Looks on, unless something is limited. */
void tolerance_begin(struct tolerance *tolerance, struct engine *engine);
/* All has been replayed. TRY replays once more with one parameter changed, and says how long it takes. */
void tolerance_end(struct tolerance *tolerance, const struct engine *engine, double run_ns,
    double (*try)(void *context, enum parameter parameter, double value), void *context);
/* The largest value at which the run takes so many percent longer; INFINITY: any. */
double tolerance_at(const struct tolerance *tolerance, enum parameter parameter, double percent);

void tolerance_json(struct tolerance *tolerance);
void tolerance_csv(const struct tolerance *tolerance);
void tolerance_table(struct tolerance *tolerance);
void tolerance_write(const struct tolerance *tolerance, struct writer *out);

#endif
