/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model of Hoefinger and Haunschmid, "Modelling parallel overhead from simple run-time
 * records", J. Supercomput. 73 (2017) 4390; equation numbers are that paper's. With x = n - 1,
 *
 *	r_n = tau_n / t_n = b/(c+1) - b/(c+n)					(1)
 *	t_n = t_n^Amdahl + tau_n						(3)
 *	t_n^Amdahl = f t_1 + (1-f) t_1/n					(4)
 *	tau_n = t_n^Amdahl b x / ((1+c-b) n + b + c + c^2)			(5)
 *	t_n = t_n^Amdahl (1 + b x / ((1+c-b) n + b + c + c^2))			(6)
 *
 * Here b and c are carried as g = 1/(c+1) and r = b/(c+1), the limit of tau_n/t_n. Then
 *
 *	r_n = r g x / (1 + g x)							(1)
 *	n t_n / t_1 = (1 + f x)(1 + g x) / (1 + h x),  h = g (1 - r)		(6)
 *
 * and the bounds are a box: f >= 0, 0 < g <= 1 (c >= 0), 0 <= r <= 1 (0 <= b <= c+1). r = 1 is the
 * USL (sigma + kappa = f + g, kappa = f g), r = 0 is Amdahl's law. t_n is symmetric in f and g,
 * tau_n is not: run times cannot tell the two apart, so the branch f <= g is declared to be meant.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>

/* The order of the derivatives. g and t_1 are fitted as logarithms. */
enum parameter { F, LOG_G, R, LOG_T1, PARAMETERS };

struct curve {
	double f;	/* serial share */
	double g;	/* 1/(c+1); half of r is reached at n = 1 + 1/g */
	double r;	/* limit of tau_n/t_n */
	double t1;	/* s; run time on one core */
};

static inline double curve_h(const struct curve *c) { return c->g * (1 - c->r); }
static inline double curve_b(const struct curve *c) { return c->r / c->g; }
static inline double curve_c(const struct curve *c) { return 1 / c->g - 1; }

double curve_amdahl(const struct curve *c, double n);	/* equation 4 */
double curve_time(const struct curve *c, double n);	/* equation 6; s */
double curve_share(const struct curve *c, double n);	/* equation 1 */
double curve_tau(const struct curve *c, double n);	/* equation 5; s */

/* Derivatives of ln t_n, of ln t_n^Amdahl and of tau_n/t_n. */
void curve_time_slopes(const struct curve *c, double n, double slopes[PARAMETERS]);
void curve_amdahl_slopes(const struct curve *c, double n, double slopes[PARAMETERS]);
void curve_share_slopes(const struct curve *c, double n, double slopes[PARAMETERS]);

/* The other solution: the same t_n with f and g exchanged. False if its overhead is negative. */
bool curve_swap(const struct curve *c, struct curve *other);

/* The n of the shortest run time; infinite if t_n always falls. */
double curve_best_n(const struct curve *c);

#endif
