/* SPDX-License-Identifier: BSD-3-Clause */
/* What lp-mend reads from verdicts, and the rules it derives. */
#ifndef MEND_H
#define MEND_H

#include "../../base/stream/stream.h"
#include "../../base/tool/text.h"
#include "../../base/tool/tool.h"

/* The fastest alternative at one measured size, and other results for that size. */
struct size_rule {
	int64_t ranks;
	char *function;
	uint64_t from, to;	/* bytes; up to the next measured size, both inclusive */
	double function_ns;	/* of the library's function */
	/* mock-up, or "split"; NULL: none is faster, or none is permitted */
	char *winner;
	uint64_t part;		/* of a split */
	double winner_ns;
	const char *why_not;	/* why a faster one is not permitted; or NULL */
};

struct mending {
	struct size_rule *at;	/* by ranks, function, size; one each */
	size_t count, capacity;
	char *library;		/* the library measured; NULL before the first verdict */
};

void read_verdict(struct mending *m, const char *file);
/* To be called after the last verdict. */
void finish_rules(struct mending *m);
size_t count_rules(const struct mending *m);
char *rules_text(const struct mending *m);	/* for the preloaded library: LONGPOLE_MEND */
void print_rules(struct text *out, const struct mending *m);

#endif
