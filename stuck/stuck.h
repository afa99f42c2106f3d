/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the parts of lp-stuck. */
#ifndef STUCK_H
#define STUCK_H

#include "../base/stuck/waits.h"

struct options {
	char **folders;
	bool json;
	int64_t after_ns;
	int64_t watch_ns;
};

/* output.c */
void output(const struct verdict *verdict, const struct options *opt);

#endif
