/* SPDX-License-Identifier: BSD-3-Clause */
/* Input that is read more than once, though it comes from a pipe. */
#ifndef SPOOL_H
#define SPOOL_H

/* A new unnamed file in TMPDIR, or in /tmp; it goes with its descriptor. */
int spool_open(void);
/* The rest of FD in such a file, at its beginning; FILE is FD's name for messages. */
int spool_copy(int fd, const char *file);
/* Standard input can be read twice from now on. */
void spool_stdin(void);

#endif
