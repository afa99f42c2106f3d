/* SPDX-License-Identifier: BSD-3-Clause */
/* Interfaces between the files of lp-record. */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../base/run/raw_folder.h"

/* ---- folder.c: the folder with the raw traces ---- */

/*
 * Makes FOLDER, or a temporary folder if NULL, and stores its absolute path in REAL (PATH_MAX
 * bytes). Dies if the folder cannot be written to.
 */
void folder_make(const char *folder, char *real);
/* Whether every writer to the folder runs under this kernel, as on a local disk. */
bool folder_is_local(const char *folder);
/* Suffix of a trace that is being compressed. */
#define UNFINISHED ".new"
/* The raw traces of the folder, in order of ranks, or only those of RANK; to be freed. */
struct paths folder_traces(const char *folder, const char *rank);
/* Likewise the beginnings of those whose processes have not left MPI_Init. */
struct paths folder_starting(const char *folder, const char *rank);
/*
 * Reads a part of a regular file, from OFFSET, or as far before the end. Returns its length; -1: it
 * cannot be read.
 */
ssize_t file_part(const char *path, off_t offset, void *to, size_t size);
/* Removes what a killed compression of these traces has left, also of further runs. */
void folder_remove_unfinished(const char *folder, const char *rank);
/* Removes all raw traces, including those of further runs; but no beginnings. */
void folder_remove_traces(const char *folder);
void folder_remove_starting(const char *folder, const char *rank);
/* Dies if something else has the name of a trace. */
void folder_refuse_others(const char *folder);

/* ---- compress.c: compresses raw traces in a process beside the program ---- */

/*
 * Compresses full segments in FOLDER and of further runs, or only those of RANK, at zstd's LEVEL.
 */
void compress_begin(const char *folder, const char *rank, int level);
/*
 * To be called after the program. Returns when each trace is compressed or reported as impossible.
 */
void compress_end(const char *folder, const char *rank, int level);
/* For a signal handler: compress_end() stops waiting, and the remaining traces stay as they are. */
void compress_stop(void);

/* ---- squeeze.c ---- */

/*
 * Compresses a raw trace under another name, and then renames it over the trace. Each block gets
 * the narrowest columns that hold it; small blocks of a location become one block; definitions
 * between them are compressed together. A compressed trace stays as it is. LEVEL is zstd's. Returns
 * 0, or -1 if the trace stayed as it was. Memory: one such block per location, not freed before the
 * process ends.
 */
int squeeze_trace(const char *path, int level);

/* ---- died.c ---- */

/*
 * Appends a death at AT_NS on this host to each trace without an end, or only to that of RANK.
 * Returns false if a rank is still alive.
 */
bool died_mark(const char *folder, const char *rank, int64_t at_ns);

/* ---- hang.c ---- */

struct hang {
	const char *folder;
	int64_t after_ns;	/* without motion for so long, a run counts as stuck */
	bool watched;
	bool ends_run;		/* end the run as soon as it hangs */
};
/* Looks again and again in a process beside RUN, and reports a hang once on standard error. */
void hang_watch(const struct hang *hang, pid_t run);
/* For a signal handler: the run is about to end and no longer hangs. */
void hang_stop(void);
/* To be called after the run: whether that process ended it. */
bool hang_ended_run(void);
/* Reports what hung, if anything, in a run that ended before its ranks did. */
void hang_say(const struct hang *hang);
/*
 * At SIGUSR1: reports the state of the run without waiting. Passes the signal on if the program
 * would survive it.
 */
void hang_answer(const struct hang *hang, pid_t run);

/* ---- why.c ---- */

/*
 * Prints one line on why no rank was recorded, from the files that COMMAND names. BEGAN: some have
 * called MPI_Init.
 */
void say_why(char **command, bool began);

#endif
