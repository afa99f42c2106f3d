/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder written by lp-record: each rank's raw trace in rank.N, further segments in rank.N.K. */
#ifndef RAW_FOLDER_H
#define RAW_FOLDER_H

#include <dirent.h>

/* For scandir: is it world.N, a folder in it for a run that the recorded one started or spawned? */
int is_world_name(const struct dirent *entry);
/* For scandir: does the file have such a name? It need not be a raw trace. */
int is_raw_name(const struct dirent *entry);
/* Is it .rank.N.PID, the beginning of the trace of a process that has not left MPI_Init? */
int is_starting_name(const struct dirent *entry);
/* The paths of the entries whose names IS_NAME takes, in order; COUNT -1: none, see errno. */
struct paths {
	char **at;
	int count;
};
struct paths folder_paths(const char *folder, int (*is_name)(const struct dirent *));
void paths_free(struct paths *paths);
/*
 * The raw traces of the ranks of a run, and of the processes that they have spawned; COUNT -1: see
 * errno. Other runs in the folder must be named by the user.
 */
struct paths folder_run(const char *folder);
/* The number of the segment, "" for the first; NULL: no such name. */
const char *raw_name_segment(const char *name);

#endif
