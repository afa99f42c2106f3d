/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMPRESS_H
#define COMPRESS_H

#include <stdbool.h>

/* Replaces raw traces by compressed ones, as many at once as there are cores. LEVEL is zstd's. */
void compress_traces(char **paths, int count, int level);
/* One of them, by a process beside this one. False: there is none. A trace that cannot be compressed stays as it is. */
bool compress_start(const char *path, int level);
/* Who has done its work is gone. */
void compress_reap(void);
int compress_running(void);
/* From now on, those that run included: where a core is idle only, or as any process. */
void compress_when_idle(bool idle);
/* For a signal handler: what is not done stays as it is, and compress_traces() returns. */
void compress_stop(void);

#endif
