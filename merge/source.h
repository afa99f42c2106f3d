/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads messages of the raw traces by rank and place, in any order; there may be more files than
 * can be open.
 */
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
	struct open_file files[OPEN_FILES];	/* by rank modulo OPEN_FILES */
	size_t segment;				/* the rank's segment with the last message */
	uint64_t base;				/* of that piece */
};

void source_open(struct source *source, const struct input *input);
void source_close(struct source *source);

/* Reads the message at this place of the rank's trace, without the columns of calls. */
void source_message(struct source *source, int32_t rank, uint64_t offset, struct message *message);
/* The same; false at the end of the rank's trace. */
bool source_look(struct source *source, int32_t rank, uint64_t offset, struct message *message);
/* The place of the last message, and the place after it. */
uint64_t source_place(const struct source *source, const struct message *message);
uint64_t source_behind(const struct source *source);
/* Reads the columns of the last message; numbers of calls become indices. */
void source_calls(struct source *source, const struct message *message, struct calls *calls);
/* Dies because a message that the survey found is gone. */
_Noreturn void source_changed(const struct source *source);

#endif
