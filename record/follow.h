/* SPDX-License-Identifier: BSD-3-Clause */
/* Compression while the program runs, by a process beside it. */
#ifndef FOLLOW_H
#define FOLLOW_H

#include <stdbool.h>

/* Whether all who write to files of the folder run under this kernel, as on a disk of its own. */
bool follow_can(const char *folder);
/* Compresses the full segments in FOLDER, also those of further runs, or that of one rank; LEVEL is zstd's. */
void follow_start(const char *folder, const char *rank, int level);
/* Ends that at once, whatever it is about: the traces are whole at every instant. */
void follow_stop(void);

#endif
