/* SPDX-License-Identifier: BSD-3-Clause */
/* Input that is read more than once, though it comes from a pipe. */
#ifndef SPOOL_H
#define SPOOL_H

#include <stddef.h>
#include <stdint.h>

/* A new unnamed file in TMPDIR, or in /tmp; it goes with its descriptor. */
int spool_open(void);
/* The rest of FD in such a file, at its beginning; FILE is FD's name for messages. */
int spool_copy(int fd, const char *file);
/* SIZE bytes at OFFSET of such a file, or death. */
void spool_put(int fd, const void *bytes, size_t size, uint64_t offset);
void spool_get(int fd, void *bytes, size_t size, uint64_t offset);
/* Standard input can be read twice from now on. */
void spool_stdin(void);

#endif
