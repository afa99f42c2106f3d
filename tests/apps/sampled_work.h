/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLED_WORK_H
#define SAMPLED_WORK_H

double own_time_s(void);
double waited_s(void);	/* ready to run without a core so far, as the kernel counts it */
double long_work(double s);
double short_work(double s);

#endif
