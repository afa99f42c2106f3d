/* SPDX-License-Identifier: BSD-3-Clause */
/* every.c: a line for each window of the run. */
#ifndef EVERY_H
#define EVERY_H

#include "report.h"

void print_every(struct imbalance *im, const char *file, int64_t every_ns, enum form form);

#endif
