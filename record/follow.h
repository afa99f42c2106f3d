/* SPDX-License-Identifier: BSD-3-Clause */
/* Compression while the program runs, by a process beside it. */
#ifndef FOLLOW_H
#define FOLLOW_H

#include <stdbool.h>

/*
 * Whether traces in the folder can be followed: only where all who write to them run under this kernel, as
 * on a disk of its own, and the disk can take back pages in the midst of a file.
 */
bool follow_can(const char *folder);
/* Follows the traces in FOLDER, also those of further runs, or that of one rank; LEVEL is zstd's. */
void follow_start(const char *folder, const char *rank, int level);
/* Ends that at once, whatever it is about: the traces are whole at every instant. */
void follow_stop(void);

#endif
