/* SPDX-License-Identifier: BSD-3-Clause */
/* The folder with the raw traces. */
#ifndef FOLDER_H
#define FOLDER_H

#include <stdbool.h>

/*
 * Makes FOLDER, or a temporary one where it is NULL, and says its absolute path in REAL (PATH_MAX
 * bytes). Dies where it cannot be written to.
 */
void folder_make(const char *folder, char *real);
/* Whether all who write to files of the folder run under this kernel, as on a disk of its own. */
bool folder_is_local(const char *folder);
/* What the name of a trace that is being compressed ends with. */
#define UNFINISHED ".new"
/* Whether the file is a raw trace, or the empty beginning of one: a folder may hold other things. */
bool folder_is_trace(const char *path);
/* Of that rank; RANK NULL: of any. */
bool folder_is_of_rank(const char *path, const char *rank);
/* Calls DO_IT for each raw trace of the folder, in order of ranks; returns how many there are. */
int folder_for_each(const char *folder, void (*do_it)(const char *path));
/* The same for the folders of further runs within it. */
int folder_for_each_world(const char *folder, void (*do_it)(const char *path));
/* Takes away all raw traces, those of further runs included. */
void folder_remove_traces(const char *folder);
/* Dies where something else has the name of a trace. */
void folder_refuse_others(const char *folder);

#endif
