/* SPDX-License-Identifier: BSD-3-Clause */
/* A configuration file in memory, and how to complain about it. */
#ifndef CONFIG_H
#define CONFIG_H

#include "machine.h"

struct config {
	const char *file;
	char *text;		/* all of it, with a 0 behind */
	int line;		/* for messages */
	size_t records;		/* of Dimemas, at most; ids are smaller */
};

_Noreturn void die_config(const struct config *config, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *read_whole(const char *file);	/* or NULL, and errno */
/* A model of a collective by Dimemas' numbers and words; sizes; or death. */
enum model config_model(const struct config *config, const char *word);
enum size config_size(const struct config *config, const char *word);
/* The table of collectives that a .cfg names; looked for beside it, too. */
void read_dimemas_table(struct machine *machine, const struct config *parent, const char *file);

#endif
