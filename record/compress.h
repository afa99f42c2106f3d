/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMPRESS_H
#define COMPRESS_H

/* Replaces raw traces by compressed ones, as many at once as there are cores. LEVEL is zstd's. */
void compress_traces(char **paths, int count, int level);
/* For a signal handler: what is not done stays as it is, and compress_traces() returns. */
void compress_stop(void);

#endif
