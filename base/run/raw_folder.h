/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder that lp-record wrote: a raw trace in a file rank.N for each rank, and its further
 * segments in rank.N.K. */
#ifndef RAW_FOLDER_H
#define RAW_FOLDER_H

#include <dirent.h>

/* For scandir: world.N, a folder in it with a run that was started or spawned by the recorded
 * one. */
int is_world_name(const struct dirent *entry);
/* For scandir: does a file have such a name? It need not be a raw trace. */
int is_raw_name(const struct dirent *entry);
/* The number of the segment, "" of the first one; NULL: no such name. */
const char *raw_name_segment(const char *name);

#endif
