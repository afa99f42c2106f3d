/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TIMES_H
#define TIMES_H

#include "report.h"

/* What comparing runs needs of each. */
struct times {
	const char *file;
	int32_t ranks;
	int64_t run_ns;
	struct efficiency of;
};
struct times read_times(const char *file, bool whole);

/* Efficiencies of the POP methodology against the smallest run; times weak scaling allows for. */
struct scaling {
	double load_balance, communication, parallel, computation_scaling, global, speedup;
};
struct scaling scaling_of(const struct times *run, const struct times *least, bool weak);
int by_ranks(const void *left, const void *right);	/* for qsort: smallest run first */
void print_scaling(char **files, size_t count, bool weak, bool whole, enum form form);

#endif
