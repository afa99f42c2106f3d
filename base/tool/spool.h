/* SPDX-License-Identifier: BSD-3-Clause */
/* Files for input from a pipe that must be read more than once. */
#ifndef SPOOL_H
#define SPOOL_H

#include <stddef.h>
#include <stdint.h>

/* A new unnamed file in TMPDIR, or in /tmp; it disappears when its descriptor is closed. */
int spool_open(void);
/* Copies the rest of FD into such a file; FILE: FD's name for messages. */
int spool_copy(int fd, const char *file);
/* Writes or reads SIZE bytes at OFFSET of such a file, or dies. */
void spool_put(int fd, const void *bytes, size_t size, uint64_t offset);
void spool_get(int fd, void *bytes, size_t size, uint64_t offset);
/* Copies standard input to such a file, so that it can be read twice. */
void spool_stdin(void);

#endif
