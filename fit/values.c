/* SPDX-License-Identifier: BSD-3-Clause */
/* What all outputs say of a point. */
#include <math.h>

#include "analysis.h"

const char *const value_names[VALUES] = { "n", "t", "t_fit", "t_low", "t_high", "tau",
	"tau_fit", "tau_low", "tau_high", "share", "tau_bound", "tau_estimate", "efficiency",
	"dtau" };

void
values_of(const struct analysis *a, const struct point *p, double values[VALUES])
{
	double t = isnan(p->t) ? p->t_fit : p->t;

	values[N] = p->n;
	values[T] = p->t;
	values[T_FIT] = p->t_fit;
	values[T_LOW] = p->t_band.low;
	values[T_HIGH] = p->t_band.high;
	values[TAU] = p->tau;
	values[TAU_FIT] = p->tau_fit;
	values[TAU_LOW] = p->tau_band.low;
	values[TAU_HIGH] = p->tau_band.high;
	values[SHARE] = p->tau_estimate / t;
	values[TAU_BOUND] = p->tau_bound;
	values[TAU_ESTIMATE] = p->tau_estimate;
	values[DTAU] = p->dtau;
	values[EFFICIENCY] = (isnan(a->t1_measured) ? a->curve.t1 : a->t1_measured) / (p->n * t);
}
