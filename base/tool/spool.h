/* SPDX-License-Identifier: BSD-3-Clause */
/* Input that is read more than once, though it comes from a pipe. */
#ifndef SPOOL_H
#define SPOOL_H

#include <stddef.h>

/* A new unnamed file in TMPDIR, or in /tmp; it goes with its descriptor. */
int spool_open(void);
/*
 * The rest of FD, behind SIZE bytes that have been read of it already, in such a file, whose
 * descriptor is returned, at its beginning; FILE is FD's name for messages.
 */
int spool_copy(int fd, const char *file, const void *bytes, size_t size);
/* Standard input can be read twice from now on. */
void spool_stdin(void);

#endif
