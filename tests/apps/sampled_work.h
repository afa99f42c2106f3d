/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLED_WORK_H
#define SAMPLED_WORK_H

double own_time_s(void);
double long_work(double s);
double short_work(double s);

#endif
