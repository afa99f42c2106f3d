/* SPDX-License-Identifier: BSD-3-Clause */
/* Machine files: lp-replay's own format (own.c), Dimemas' (dimemas.c), common words (machine.c). */
#ifndef MACHINE_CONFIG_H
#define MACHINE_CONFIG_H

#include "machine.h"

struct config {			/* a file in memory */
	const char *file;
	char *text;		/* the whole text, ended by 0 */
	int line;		/* for messages */
	size_t records;		/* upper bound of Dimemas' records; ids are smaller */
	const char *kind;	/* of Dimemas' record; NULL: in the own format */
	char **words;		/* of a line, or fields of a record, in which a list {1,2} is one */
	size_t capacity;
	int count, used;	/* used: number of words understood */
	bool needs_loggp;	/* a line means something with model loggp only */
};

/* The settings of a machine. Dimemas' record of a node has them as columns. */
struct setting {
	const char *words;
	enum setting_kind { IS_COUNT, IS_TWO_COUNTS, IS_NUMBER, IS_TIME, IS_RATE, IS_FLAG, IS_MODEL,
		IS_TABLE, IS_GAP, IS_WORK, IS_OVERHEAD,
		    IS_COMBINING } kind;	/* from IS_TABLE on: with loggp */
	size_t offset;		/* in struct node, island or machine */
	int oldest;		/* column in the oldest form of Dimemas' record; 0: none */
};
/* By columns of Dimemas' record, from the number of CPUs on; words NULL: the end. */
extern const struct setting node_settings[];

_Noreturn void die_config(const struct config *config, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *read_whole(const char *file);	/* or NULL, and errno */
/* Word I as a number of at least LEAST, or dies; marks it as used. */
double config_number(struct config *config, int i, double least);
/* A model or a size in Dimemas' or the own words, or dies. */
enum model config_model(const struct config *config, const char *word);
enum size config_size(const struct config *config, const char *word);
void read_own(struct machine *machine, struct config *config);
void read_dimemas(struct machine *machine, struct config *config);

#endif
