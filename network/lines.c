/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fits lines T = L + m / B to a ping-pong by least squares of the relative error. Dynamic
 * programming finds the breaks between lines. Schwarz' criterion (G. Schwarz, Ann. Statist. 6
 * (1978)) finds their number; a further line must improve it by STRONG (R. E. Kass, A. E. Raftery,
 * JASA 90 (1995)). The eager limit is the break with the largest jump up in time. Caches affect
 * large messages otherwise: they change the slope, and make a jump at one of the two sizes only.
 */
#include <math.h>
#include <stdlib.h>

#include "network.h"

enum {
	LEAST = 3,		/* sizes in a segment: two would fit any line */
	STRONG = 6,
	MOST_SIZES = 512
};
#define RESOLUTION 1e-3		/* relative: finer differences do not count */
#define QUESTION 0.5		/* latencies: the least time of a request before a rendezvous */

struct sizes {			/* of the ping-pong, ascending */
	double bytes[MOST_SIZES], us[MOST_SIZES];
	size_t count;
};

/* The sum of squared relative errors of the best line through the sizes [FIRST, END). */
static double
fit_line(const struct sizes *s, size_t first, size_t end, bool bounded, struct line *line)
{
	double a = 0, b = 0, c = 0, u = 0, v = 0, sum = 0, det, l, k, left;
	size_t n = end - first;

	/* Normal equations of rows (1 / T, m / T) and the right-hand side 1. */
	for (size_t i = first; i < end; i++) {
		double p = 1 / s->us[i], q = s->bytes[i] / s->us[i];

		a += p * p;
		b += p * q;
		c += q * q;
		u += p;
		v += q;
	}
	det = a * c - b * b;
	l = det > 1e-12 * a * c ? (c * u - b * v) / det : u / a;
	k = det > 1e-12 * a * c ? (a * v - b * u) / det : 0;
	if (bounded && l < 0) {	/* a machine has no negative latency; beyond a cache a line may */
		l = 0;
		k = v / c;
	} else if (bounded && k < 0) {
		k = 0;
		l = u / a;
	}
	for (size_t i = first; i < end; i++)
		sum += pow((l + k * s->bytes[i]) / s->us[i] - 1, 2);
	left = n > 2 ? sum / (double)(n - 2) : -1;
	*line = (struct line){ l, -1, k, -1 };
	if (left >= 0 && det > 1e-12 * a * c) {
		line->latency_error_us = sqrt(left * c / det);
		line->us_per_byte_error = sqrt(left * a / det);
	}
	return sum;
}

/* Each line has two parameters, each break one. */
static double
criterion(const struct sizes *s, double sum, size_t segments)
{
	double n = (double)s->count, least = n * RESOLUTION * RESOLUTION;

	return n * log((sum > least ? sum : least) / n) + (3 * (double)segments - 1) * log(n);
}

/* The best sum for sizes [0, END) in so many segments; BEGIN: where the last one begins. */
struct cuts {
	double sum[MOST_SEGMENTS][MOST_SIZES + 1];
	size_t begin[MOST_SEGMENTS][MOST_SIZES + 1];
};

static void
find_cuts(const struct sizes *s, struct cuts *cuts)
{
	struct line line;

	for (size_t k = 0; k < MOST_SEGMENTS; k++)
		for (size_t end = 0; end <= s->count; end++) {
			cuts->sum[k][end] = INFINITY;
			cuts->begin[k][end] = 0;
			if (k == 0 && end >= LEAST)
				cuts->sum[k][end] = fit_line(s, 0, end, false, &line);
			for (size_t b = k * LEAST; k > 0 && b + LEAST <= end; b++) {
				double sum = cuts->sum[k - 1][b] +
				    fit_line(s, b, end, false, &line);

				if (sum < cuts->sum[k][end]) {
					cuts->sum[k][end] = sum;
					cuts->begin[k][end] = b;
				}
			}
		}
}

/* The jump up in time between two lines, at the sizes on both sides of the break. */
static double
jump_us(const struct sizes *s, const struct segment *segments, size_t at)
{
	const struct line *below = &segments[0].line, *above = &segments[1].line;
	double least = INFINITY;

	for (size_t i = at - 1; i <= at; i++) {
		double up = above->latency_us - below->latency_us +
		    s->bytes[i] * (above->us_per_byte - below->us_per_byte);

		least = up < least ? up : least;
	}
	return least;
}

/* The range of a break between its neighbours in which the fit is as good, within STRONG. */
static void
find_range(const struct sizes *s, const size_t *breaks, size_t which, double sum,
    struct pingpong *p)
{
	size_t first = breaks[which - 1], end = breaks[which + 1];
	struct line line;
	double here = fit_line(s, first, breaks[which], false, &line) +
	    fit_line(s, breaks[which], end, false, &line);

	p->below_least = UINT64_MAX;
	for (size_t at = first + LEAST; at + LEAST <= end; at++) {
		double other = sum - here + fit_line(s, first, at, false, &line) +
		    fit_line(s, at, end, false, &line);

		if (criterion(s, other, p->segment_count) >
		    criterion(s, sum, p->segment_count) + STRONG)
			continue;
		if (p->below_least == UINT64_MAX)
			p->below_least = (uint64_t)s->bytes[at - 1];
		p->from_most = (uint64_t)s->bytes[at];
	}
}

static void
find_segments(const struct sizes *s, struct pingpong *p)
{
	struct cuts *cuts = zalloc(1, sizeof *cuts);
	size_t breaks[MOST_SEGMENTS + 1] = { 0 }, count = 1, best = 0;
	double largest, sum;

	find_cuts(s, cuts);
	for (size_t k = 2; k <= MOST_SEGMENTS && k * LEAST <= s->count; k++)
		if (criterion(s, cuts->sum[k - 1][s->count], k) + STRONG * (double)(k - count) <
		    criterion(s, cuts->sum[count - 1][s->count], count))
			count = k;
	sum = cuts->sum[count - 1][s->count];
	breaks[count] = s->count;
	for (size_t k = count; k > 1; k--)
		breaks[k - 1] = cuts->begin[k - 1][breaks[k]];
	free(cuts);
	p->segment_count = count;
	for (size_t k = 0; k < count; k++) {
		p->segments[k].first = (uint64_t)s->bytes[breaks[k]];
		p->segments[k].last = (uint64_t)s->bytes[breaks[k + 1] - 1];
		fit_line(s, breaks[k], breaks[k + 1], false, &p->segments[k].line);
	}
	/* A jump within the error of the lines does not count. */
	largest = 2 * sqrt(sum / (double)s->count);
	for (size_t k = 1; k < count; k++) {
		double us = jump_us(s, &p->segments[k - 1], breaks[k]),
		    up = us / s->us[breaks[k] - 1];

		if (up > largest && us > QUESTION * p->all.latency_us) {
			largest = up;
			best = k;
		}
	}
	p->has_limit = best > 0;
	if (best == 0)
		return;
	p->below = (uint64_t)s->bytes[breaks[best] - 1];
	p->from = (uint64_t)s->bytes[breaks[best]];
	find_range(s, breaks, best, sum, p);
}

static struct sizes
sizes_of(const struct points *points, const char *file)
{
	struct sizes s = { .count = 0 };

	for (const struct point *point = points->at; point < points->at + points->count; point++) {
		if (!is_pingpong(point))
			continue;
		if (s.count > 0 && s.bytes[s.count - 1] >= (double)point->bytes)
			die("%s: the ping-pong was measured with different numbers of ranks", file);
		if (s.count == MOST_SIZES)
			die("%s: a ping-pong of more than %d sizes", file, MOST_SIZES);
		s.bytes[s.count] = (double)point->bytes;
		s.us[s.count++] = point->us;
	}
	if (s.count < LEAST)
		die("%s: a ping-pong of %zu sizes, at least %d are needed", file, s.count, LEAST);
	return s;
}

double
line_error(const struct points *points, double latency_us, double us_per_byte)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < points->count; i++)
		if (is_pingpong(&points->at[i])) {
			sum += fabs((latency_us + us_per_byte * (double)points->at[i].bytes) /
			    points->at[i].us - 1);
			n++;
		}
	return sum / (double)n;
}

struct pingpong
fit_pingpong(struct points *points, const char *file)
{
	struct sizes s = sizes_of(points, file);
	struct pingpong p = { .count = s.count };

	fit_line(&s, 0, s.count, true, &p.all);
	p.mean_error = line_error(points, p.all.latency_us, p.all.us_per_byte);
	for (struct point *point = points->at; point < points->at + points->count; point++) {
		double error;

		if (!is_pingpong(point))
			continue;
		point->fitted_us = p.all.latency_us + p.all.us_per_byte * (double)point->bytes;
		error = fabs(point->fitted_us / point->us - 1);
		if (error > p.most_error) {
			p.most_error = error;
			p.most_at = point->bytes;
		}
	}
	find_segments(&s, &p);
	return p;
}
