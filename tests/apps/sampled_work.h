/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLED_WORK_H
#define SAMPLED_WORK_H

/* The clocks of the calling thread at one instant. */
struct clocks {
	double at_s;		/* CLOCK_MONOTONIC */
	double own_s;		/* its CPU time */
	double waited_s;	/* ready to run without a core so far, as the kernel counts it */
};

struct clocks read_clocks(void);
double own_time_s(void);
double waited_s(void);
double long_work(double s);
double short_work(double s);

#endif
