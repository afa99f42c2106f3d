/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FIT_H
#define FIT_H

#include <stddef.h>
#include <stdint.h>

#include "../base/tool/tool.h"
#include "model.h"

/* One measured run; NAN stands for what was not measured. */
struct run {
	double n;		/* cores */
	double t;		/* s */
	double tau, dtau;	/* s; mean overhead of a core and its standard deviation */
};

/* All runs of a program, n not falling. */
struct program {
	char *name;
	struct run *runs;
	size_t count, capacity;
};

/* Fewer say nothing. */
enum { LEAST_RUNS = 4, LEAST_N = 3 };

enum residuals { LOG, RELATIVE, ABSOLUTE };
enum model { HOFINGER, AMDAHL, USL, MODELS };

/*
 * Reads FILES (none: standard input); a text file is a program, graph streams are one a folder, and
 * WHOLE tells whether their start and end count.
 */
struct program *read_programs(char **files, size_t count, bool whole, size_t *programs);

#endif
