/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of the raw traces by rank and place, in any order; files may be more than can be
 * open. */
#ifndef SOURCE_H
#define SOURCE_H

#include "merge.h"

enum { OPEN_FILES = 64 };

struct open_file {
	const char *name;	/* NULL: none */
	int fd;
};

struct source {
	const struct input *input;
	struct reader *in;
	struct open_file files[OPEN_FILES];	/* by rank modulo this */
	size_t segment;				/* of its rank, that the last message is in */
	uint64_t base;				/* of that piece */
};

void source_open(struct source *source, const struct input *input);
void source_close(struct source *source);

/* The message at this place of the rank's file, without what is in the columns of calls. */
void source_message(struct source *source, int32_t rank, uint64_t offset, struct message *message);
/* The same; false where the rank's trace ends there. */
bool source_look(struct source *source, int32_t rank, uint64_t offset, struct message *message);
/* Where the message is that has just been returned, and what is behind it. */
uint64_t source_place(const struct source *source, const struct message *message);
uint64_t source_behind(const struct source *source);
/* The whole block of calls that has just been returned; numbers of calls become indices. */
void source_calls(struct source *source, const struct message *message, struct calls *calls);
/* Dies, for what the survey found is not there. */
_Noreturn void source_changed(const struct source *source);

#endif
