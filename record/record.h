/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of lp-record have for each other. */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- folder.c: the folder with the raw traces ---- */

/*
 * Makes FOLDER, or a temporary one where it is NULL, and says its absolute path in REAL (PATH_MAX
 * bytes). Dies where it cannot be written to.
 */
void folder_make(const char *folder, char *real);
/* Whether all who write to files of the folder run under this kernel, as on a disk of its own. */
bool folder_is_local(const char *folder);
/* What the name of a trace that is being compressed ends with. */
#define UNFINISHED ".new"
/* Whether the file is a raw trace, or the empty beginning of one: a folder may hold other
 * things. */
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

/* ---- compress.c: raw traces made smaller, while the program runs and afterwards, by a process
 * beside it ---- */

/* Compresses the full segments in FOLDER, also those of further runs, or those of one rank; LEVEL
 * is zstd's. */
void compress_begin(const char *folder, const char *rank, int level);
/* The program has ended: returns when all of its traces are compressed, or cannot be, which is
 * said. */
void compress_end(const char *folder, const char *rank, int level);
/* For a signal handler: compress_end() waits for nothing more, and what is not done stays as it
 * is. */
void compress_stop(void);

/* ---- squeeze.c ---- */

/*
 * Makes a raw trace smaller, under another name that then becomes its own: every block with the
 * narrowest columns that hold it and compressed, small blocks of a location as one, the definitions
 * between them together. One that is compressed stays. LEVEL is zstd's. 0, or -1: the trace is as
 * it was. Memory: one such block for each location, which the caller leaves to the end of its
 * process.
 */
int squeeze_trace(const char *path, int level);

/* ---- died.c ---- */

int64_t monotonic_ns(void);
/*
 * Says in the traces of ranks that left no end, all or those of RANK, that they are dead: since
 * AT_NS, on this host. False: one still lives.
 */
bool died_mark(const char *folder, const char *rank, int64_t at_ns);

/* ---- hang.c: does the run hang ---- */

struct hang {
	const char *folder;
	int64_t after_ns;	/* not proved, but nothing moves for so long */
	bool watched;
	bool ends_run;		/* as soon as it hangs */
};
/* Looks again and again, in a process beside RUN, and says it once on standard error. */
void hang_watch(const struct hang *hang, pid_t run);
/* For a signal handler: the run is about to end, and hangs no more. */
void hang_stop(void);
/* The run has ended: whether that process has done it. */
bool hang_ended_run(void);
/* Says what hung, if it did, of a run that has ended before its ranks had. */
void hang_say(const struct hang *hang);
/* SIGUSR1 asks what the run does. It is for the program, too, if that would not die of it. Does not
 * wait. */
void hang_answer(const struct hang *hang, pid_t run);

/* ---- why.c ---- */

/* Says in one line why no rank was recorded, by what the files that COMMAND names are. */
void say_why(char **command);

#endif
