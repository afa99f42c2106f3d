/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLED_WORK_H
#define SAMPLED_WORK_H

double own_time_s(void);
void long_work(double s);
void short_work(double s);

#endif
