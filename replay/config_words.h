/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of the own format, and what stands on those that are for LogGP. */
#ifndef CONFIG_WORDS_H
#define CONFIG_WORDS_H

#include "config.h"

struct line {
	char **words;
	size_t capacity;
	int count, used;	/* used: words that mean something here */
};

struct unit { const char *name; double factor; };
extern const struct unit word_times[], word_sizes[];	/* factors: to ns, to bytes */

/* Word I as a number, or death; it is used then. */
double word_number(const struct config *config, struct line *line, int i);
int64_t word_count(const struct config *config, struct line *line, int i);
/* Words I and I + 1, the second a unit. */
double word_quantity(const struct config *config, struct line *line, int i, const struct unit *units);
double word_ns_each(const struct config *config, struct line *line, int i);	/* of a rate: ns a byte */
/* Whether the line begins so, which uses these words; SECOND may be NULL. */
bool word_is(struct line *line, const char *first, const char *second);

/* config_loggp.c: false: it is none of its lines. */
bool take_loggp_line(struct machine *machine, const struct config *config, struct line *line);
/* Some line means something with model loggp only. */
bool needs_loggp(const struct machine *machine);

#endif
