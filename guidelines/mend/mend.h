/* SPDX-License-Identifier: BSD-3-Clause */
/* What lp-mend reads of verdicts, and the rules that it makes of it. */
#ifndef MEND_H
#define MEND_H

#include "../../base/stream/stream.h"
#include "../../base/tool/text.h"
#include "../../base/tool/tool.h"

/* The winner at one measured size, and what else there is to know of that size. */
struct size_rule {
	int64_t ranks;
	char *function;
	uint64_t from, to;	/* bytes; to the next measured size, both inclusive */
	double function_ns;	/* as the library has it */
	/* mock-up, or "split"; NULL: nothing is faster, or may stand for it */
	char *winner;
	uint64_t part;		/* of a split */
	double winner_ns;
	const char *why_not;	/* of what is faster and may not stand for it; or NULL */
};

struct mending {
	struct size_rule *at;	/* by ranks, function, size; one each */
	size_t count, capacity;
	char *library;		/* that was measured; NULL before the first verdict */
};

void read_verdict(struct mending *m, const char *file);
/* Behind the last verdict. */
void finish_rules(struct mending *m);
size_t count_rules(const struct mending *m);
char *rules_text(const struct mending *m);	/* for the library: LONGPOLE_MEND */
void print_rules(struct text *out, const struct mending *m);

/* factors.c: of each function in the graph, how many times as long all its calls will take. */
void print_factors(struct text *out, const struct mending *m, const char *graph);

#endif
