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

/* places.c */
/* Its texts belong to places.c, until the next call. */
struct site place_of(const struct rank *rank, uint64_t address);
struct places { struct namer namer; const struct look *look; };
struct places places_of(const struct look *look);
/* Lines "function file:line", innermost first, NULL at the end; NULL: not available. */
char **stack_of(const struct rank *rank, uint32_t thread);
/* output.c */
void output(const struct look *look, const struct verdict *verdict, const struct options *opt);

#endif
