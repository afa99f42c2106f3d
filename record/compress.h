/* SPDX-License-Identifier: BSD-3-Clause */
/* Raw traces made smaller, while the program runs and afterwards, by a process beside it. */
#ifndef COMPRESS_H
#define COMPRESS_H

#include <stdbool.h>

/* Compresses the full segments in FOLDER, also those of further runs, or those of one rank; LEVEL is zstd's. */
void compress_begin(const char *folder, const char *rank, int level);
/* The program has ended: returns when all of its traces are compressed, or cannot be, which is said. */
void compress_end(const char *folder, const char *rank, int level);
/* For a signal handler: compress_end() waits for nothing more, and what is not done stays as it is. */
void compress_stop(void);

#endif
