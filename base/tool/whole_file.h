/* SPDX-License-Identifier: BSD-3-Clause */
/* A file that gets its name when all of it is there; until then it has another beside it. */
#ifndef WHOLE_FILE_H
#define WHOLE_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct whole_file {
	FILE *file;
	const char *name;	/* NULL: standard output, which is only that */
	char *temporary;	/* NULL: it is written into as it comes */
};

/* Devices and pipes are written into: root could put a file in the place of /dev/null. */
bool whole_file_replaces(const char *name);

/* Both end the tool where they fail, and take away what is not whole. */
struct whole_file whole_file_begin(const char *name);
void whole_file_end(struct whole_file *whole);

#endif
