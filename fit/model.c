/* SPDX-License-Identifier: BSD-3-Clause */
#include "fit.h"

#include <math.h>

double
curve_amdahl(const struct curve *c, double n)
{
	return c->t1 * (1 + c->f * (n - 1)) / n;
}

double
curve_time(const struct curve *c, double n)
{
	/* In this order the products are bitwise the same if f and g are exchanged. */
	return c->t1 / n *
	    ((1 + c->f * (n - 1)) * (1 + c->g * (n - 1)) / (1 + curve_h(c) * (n - 1)));
}

double
curve_share(const struct curve *c, double n)
{
	return c->r * c->g * (n - 1) / (1 + c->g * (n - 1));
}

double
curve_tau(const struct curve *c, double n)
{
	return curve_amdahl(c, n) * c->r * c->g * (n - 1) / (1 + curve_h(c) * (n - 1));
}

void
curve_time_slopes(const struct curve *c, double n, double slopes[PARAMETERS])
{
	double x = n - 1, h = curve_h(c);

	slopes[F] = x / (1 + c->f * x);
	slopes[LOG_G] = c->g * x / (1 + c->g * x) - h * x / (1 + h * x);
	slopes[R] = c->g * x / (1 + h * x);
	slopes[LOG_T1] = 1;
}

void
curve_share_slopes(const struct curve *c, double n, double slopes[PARAMETERS])
{
	double gx = c->g * (n - 1);

	slopes[F] = 0;
	slopes[LOG_G] = c->r * gx / ((1 + gx) * (1 + gx));
	slopes[R] = gx / (1 + gx);
	slopes[LOG_T1] = 0;
}

void
curve_amdahl_slopes(const struct curve *c, double n, double slopes[PARAMETERS])
{
	slopes[F] = (n - 1) / (1 + c->f * (n - 1));
	slopes[LOG_G] = slopes[R] = 0;
	slopes[LOG_T1] = 1;
}

bool
curve_swap(const struct curve *c, struct curve *other)
{
	double h = curve_h(c);

	/* Without f the other is plain Amdahl, which does not depend on g. */
	*other = c->f > 0 ? (struct curve){ c->g, c->f, 1 - h / c->f, c->t1 } :
	    (struct curve){ c->g, 1, 0, c->t1 };
	return h <= c->f;
}

double
curve_best_n(const struct curve *c)
{
	/*
	 * t_n/t_1 = (A x^2 + B x + 1)/(P x^2 + Q x + 1); its slope has the sign of u x^2 + 2 v x +
	 * w.
	 */
	double h = curve_h(c), A = c->f * c->g, B = c->f + c->g, P = h, Q = 1 + h;
	double u = A * Q - B * P, v = A - P, w = B - Q, root;

	if (w >= 0)
		return 1;	/* the second core does not pay */
	if (u <= 0 && (v <= 0 || v * v - u * w <= 0))
		return INFINITY;
	/* The smaller positive root, without cancellation or division by u. */
	root = -w / (v + sqrt(v * v - u * w));
	return root > 0 ? 1 + root : INFINITY;
}
