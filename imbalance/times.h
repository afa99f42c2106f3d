/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TIMES_H
#define TIMES_H

#include "report.h"

/* What comparing runs needs of each. Useful is the time outside of MPI. */
struct times {
	const char *file;
	int32_t ranks;
	int64_t run_ns, useful_ns, useful_max_ns;	/* useful: of all ranks; of the one with most */
};
struct times read_times(const char *file);

/* Efficiencies of the POP methodology against the smallest run; times weak scaling allows for. */
struct scaling {
	double load_balance, communication, parallel, computation_scaling, global, speedup;
};
void print_scaling(char **files, size_t count, bool weak, enum form form);

#endif
