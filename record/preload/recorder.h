/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recorder inside the program's processes. It writes one raw trace per rank (lp-trace(5), RAW
 * TRACES). It prints only a line when it has to give up, and calls MPI only through PMPI_.
 *
 * A call costs two readings of the clock, a few hash look-ups and the stores of its rows. It makes
 * no system call, takes no lock except under MPI_THREAD_MULTIPLE, and needs no memory that grows
 * with the number of calls.
 */
#ifndef RECORDER_H
#define RECORDER_H

#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/*
 * The common path of a call is compiled into its wrapper. Rare paths stay out of it: there they
 * would take registers and space in the instruction cache.
 */
#define ALWAYS static inline __attribute__((always_inline))
#define SELDOM __attribute__((noinline, cold))
#define LIKELY(what) __builtin_expect(!!(what), 1)
#define UNLIKELY(what) __builtin_expect(!!(what), 0)
/* A variable that calls read: as it is hidden, its address needs no look-up. */
#define SHARED extern __attribute__((visibility("hidden")))

/* Open MPI 5 has the functions of MPI 4 except large counts. */
#if MPI_VERSION >= 4 || (defined OPEN_MPI && OMPI_MAJOR_VERSION >= 5)
#define HAVE_MPI_4
#endif
#if MPI_VERSION >= 4
#define HAVE_LARGE_COUNTS
#endif

/* Values of peer and tag: lp-trace(5), CALLS. */
enum { ANY_PEER = -1, NULL_PEER = -2, NO_PEER = -3, ROOT_PEER = -4, NO_TAG = -2 };
/* Of a call that has no rank: no constant of an MPI has this value. */
enum { NO_RANK = INT_MIN };

/* Numbers of the calls: their positions in call_table.h, from 1. 0 is a part of a call. */
enum call_number {
	NUMBER_part,
#define CALL(Name, ...) NUMBER_##Name,
#define SPECIAL(Name, ...) NUMBER_##Name,
#define LARGE(Name, ...) NUMBER_##Name##_c,
#define DERIVED(number, ...) NUMBER_##number,
#include "../../base/mpi/call_table.h"
	NUMBER_COUNT,
	NUMBER_ERROR = NUMBER_COUNT	/* added if the function returned an error */
};

/* Options from lp-record, as key=value pairs in LONGPOLE_OPTIONS. */
struct options {
	bool monotonic;			/* do not use the processor's counter */
	bool allreduce;			/* compare clocks by MPI_Allreduce, not by ping-pong */
	bool fold_polls;
	bool paused;			/* until MPI_Pcontrol(1) */
	/* callers noted for a call site; 1: only the calling function */
	int stack;
	bool any_stack;			/* a site is more than the address: callers, or Python */
	int64_t threshold_ns;		/* fold local calls shorter than this; 0: fold none */
	int sample_hz;			/* samples per second of computation; 0: none */
	bool switches;			/* record when threads leave a core and return */
	int sample_stack;		/* bytes of the stack copied with each; 0: the default */
	unsigned counters;		/* with samples: bits, in the order of stream/counters.h */
	/* size of a file before the next one begins; 0: one file */
	uint64_t segment_bytes;
	int64_t sync_every_ns;		/* 0: compare clocks only at the beginning and the end */
};
enum { MOST_CALLERS = 64 };
SHARED struct options options;
void read_options(void);		/* environment.c */
ALWAYS bool folding(void) { return options.fold_polls || options.threshold_ns > 0; }

SHARED _Atomic bool lost;	/* the trace cannot be written any more */
SHARED _Atomic bool paused;	/* by MPI_Pcontrol: calls leave no rows */
SHARED _Atomic bool silent;	/* lost or paused */
void set_paused(bool);
SHARED _Atomic bool recording;	/* between MPI_Init and MPI_Finalize, in this process */
SHARED bool many_threads;	/* MPI_THREAD_MULTIPLE: lock tables */
SHARED pthread_mutex_t table_lock;

ALWAYS void lock_tables(void) { if (UNLIKELY(many_threads)) pthread_mutex_lock(&table_lock); }
ALWAYS void unlock_tables(void) { if (UNLIKELY(many_threads)) pthread_mutex_unlock(&table_lock); }

/* threads.c */
SHARED __thread struct thread *self __attribute__((tls_model("initial-exec")));
/* all that made MPI calls, the last one first */
extern struct thread *all_threads;
SELDOM struct thread *new_thread(void);	/* NULL: no memory */
/* Whether the thread left its current call by longjmp, when a call is made from FRAME. */
SELDOM bool call_was_left(struct thread *thread, const void *frame);
struct thread *thread_of(pid_t tid);	/* NULL: the thread has made no MPI call */
void *zeroed(size_t size);	/* storage; NULL: no memory, so recording has ended */
/* Storage for WANTED items of SIZE bytes, which may move. NULL: recording has ended; it stays. */
void *room_for(void *storage, size_t *capacity, size_t wanted, size_t size);

/* environment.c: the MPI library and relevant variables, on the first rank */
void environment_append(void);
void check_mpi(void);	/* may be called before MPI_Init */
/* cores.c: cores that the rank may use and their time, when recording begins and ends */
void cores_append(void);
void cores_switch_costs(int64_t ns);	/* the kernel's records of it, from now on */
int64_t clock_of(clockid_t clock);	/* in ns; 0: there is no such clock */
/* The beginning of a file, as of those by which the kernel tells something; empty: nothing. */
void file_text(const char *path, char *text, size_t size);
/* The same of the file NAME of a thread of this process. */
void thread_file(pid_t tid, const char *name, char *text, size_t size);
/* How long a thread of this process ran, and how long it was ready and had no core. */
bool thread_scheduled(pid_t tid, uint64_t *ran_ns, uint64_t *waited_ns);
/* recorder.c: identifies the rank at the beginning of the trace's further files */
void rank_write(unsigned segment);
/* unrecorded.c */
/* names MPI functions that the program uses and that are not recorded; once */
void say_unrecorded(void);

/* recorder.c */
#ifdef HAVE_MPI_4
/* All processes as a group that the caller frees; MPI_GROUP_NULL without a session. */
MPI_Group session_world(void);
#endif
bool in_recorded_process(void);		/* false in a forked child */
/* Ends recording while the program goes on. No failure in here may do more harm than that. */
void give_up(const char *what, const char *why);
void out_of_memory(void);
void say(const char *what);	/* one line on standard error */
void say_at_abort(void);	/* the first rank's messages at the end, before it aborts */

/* regions.c: intervals of a thread to which the program gives a name. */
void region_begin(const char *name);
/* Ends that region and those within it; NULL: the innermost one. */
void region_end(const char *name);
/*
 * MPI_Pcontrol: LEVEL of 5 or more begins a region of that number, and -LEVEL ends it. 1 and NAME
 * begin a region, as IPM has it, and -1 and NAME end it. But the caller may have given no name:
 * such a region counts only if it is ended so, too.
 */
void region_by_level(int level, const char *name);
/* Recording has begun, at INIT_NS: the thread's earlier regions begin then. */
void regions_start(int64_t init_ns);
void regions_stop(void);		/* it ends */

/* sample.c: samples of computation and switches off the core, if options ask for them. */
/* from this time on, sample_call() is told of calls that end */
SHARED uint64_t sample_due_ticks;
void sample_start(int rank);
SELDOM void sample_call(struct thread *thread, int64_t enter_ns, uint64_t leave_ticks);
/* in place of a call's frame: sample_enter() is told of the thread's next call */
SHARED const char sample_mark[];
SELDOM void sample_enter(struct thread *thread);
void sample_end(void);
uint32_t thread_number(pid_t tid);	/* identifies it while it makes no calls */
void sample_forget(void);		/* in a forked child */

#endif
