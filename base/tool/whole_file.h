/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file that gets its name only when it is complete. Until then it has none, so that nothing is
 * left of a tool that is killed; where the file system cannot do that, another name beside it.
 */
#ifndef WHOLE_FILE_H
#define WHOLE_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct whole_file {
	FILE *file;
	const char *name;	/* NULL: standard output */
	char *temporary;	/* NULL: written directly */
	bool unnamed;		/* not there yet */
};

/* Both end the tool if they fail, and remove the incomplete file. */
struct whole_file whole_file_begin(const char *name);
void whole_file_end(struct whole_file *whole);

#endif
