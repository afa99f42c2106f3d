/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef IMPORT_H
#define IMPORT_H

#include <stdio.h>

#include "../stream/stream.h"
#include "../stream/tool.h"

/* A text that is read line by line. */
struct text {
	const char *file;	/* for messages */
	FILE *in;
	char *line;
	size_t capacity;
	size_t number;		/* of the line, from 1 */
};

/* The next line without its end, or NULL. */
char *text_line(struct text *text);
_Noreturn void die_text(const struct text *text, const char *what);

/* A format: what its files become, and who reads one. */
struct format {
	const char *name;
	const char *content;	/* of the stream */
	void (*read)(struct text *text, struct writer *out);
};

void read_reprompi(struct text *text, struct writer *out);

#endif
