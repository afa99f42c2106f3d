/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recorder that lives in the program's own processes. It writes one raw trace a rank
 * (lp-trace(5), RAW TRACES), prints nothing but one line when it has to give up, and calls MPI
 * only through PMPI_.
 *
 * A call costs two readings of the clock, a few hash look-ups and the stores of its rows: no system
 * call, no lock unless MPI_THREAD_MULTIPLE was provided, no memory of its own that grows with
 * calls.
 */
#ifndef RECORDER_H
#define RECORDER_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What every call goes through is compiled into its wrapper; what is seldom needed is kept out of
 * there, so that it takes neither registers nor room in caches.
 */
#define ALWAYS static inline __attribute__((always_inline))
#define SELDOM __attribute__((noinline, cold))
#define LIKELY(what) __builtin_expect(!!(what), 1)
#define UNLIKELY(what) __builtin_expect(!!(what), 0)
/* A variable that calls read: hidden, its address needs no look-up. */
#define SHARED extern __attribute__((visibility("hidden")))

/* Open MPI 5 has the calls of MPI 4 but for large counts. */
#if MPI_VERSION >= 4 || (defined OPEN_MPI && OMPI_MAJOR_VERSION >= 5)
#define HAVE_MPI_4
#endif
#if MPI_VERSION >= 4
#define HAVE_LARGE_COUNTS
#endif

/* Values of peer and tag: lp-trace(5), CALLS. */
enum { ANY_PEER = -1, NULL_PEER = -2, NO_PEER = -3, ROOT_PEER = -4, NO_TAG = -2 };

/* Numbers of the calls: their places in call_table.h, from 1; 0 is a part. */
enum call_number {
	NUMBER_part,
#define CALL(Name, ...) NUMBER_##Name,
#define SPECIAL(Name, ...) NUMBER_##Name,
#define LARGE(Name, ...) NUMBER_##Name##_c,
#define DERIVED(number, ...) NUMBER_##number,
#include "../../base/mpi/call_table.h"
	NUMBER_COUNT,
	NUMBER_ERROR = NUMBER_COUNT	/* to be added: the function returned an error */
};

/* What lp-record was told, as key=value pairs in LONGPOLE_OPTIONS. */
struct options {
	bool monotonic;			/* never the processor's counter */
	bool allreduce;			/* clocks are compared by MPI_Allreduce, not by ping-pong */
	bool fold_polls;
	bool paused;			/* until MPI_Pcontrol(1) */
	/* callers noted for a call site, 1: the calling function alone */
	int stack;
	int64_t threshold_ns;		/* local calls shorter than this are folded; 0: none */
	int sample_hz;			/* samples a second of computation; 0: none */
	bool switches;			/* when threads leave the core, and come back */
	int sample_stack;		/* bytes of the stack that go with each; 0: none */
	/* of a file, before the next one is begun; 0: there is one */
	uint64_t segment_bytes;
	int64_t sync_every_ns;		/* 0: clocks are compared at the beginning and the end */
};
enum { MOST_CALLERS = 64 };
SHARED struct options options;
void read_options(void);		/* options.c */
ALWAYS bool folding(void) { return options.fold_polls || options.threshold_ns > 0; }

SHARED _Atomic bool lost;	/* the trace cannot be written any more */
SHARED _Atomic bool paused;	/* by MPI_Pcontrol: calls leave no rows */
SHARED _Atomic bool silent;	/* one of these two */
void set_paused(bool);
SHARED _Atomic bool recording;	/* between MPI_Init and MPI_Finalize, in this process */
SHARED bool many_threads;	/* MPI_THREAD_MULTIPLE: tables are locked */
SHARED pthread_mutex_t table_lock;

ALWAYS void lock_tables(void) { if (UNLIKELY(many_threads)) pthread_mutex_lock(&table_lock); }
ALWAYS void unlock_tables(void) { if (UNLIKELY(many_threads)) pthread_mutex_unlock(&table_lock); }

/* threads.c */
SHARED __thread struct thread *self __attribute__((tls_model("initial-exec")));
/* all that have made MPI calls, the last one first */
extern struct thread *all_threads;
SELDOM struct thread *new_thread(void);	/* NULL: no memory */
/* Whether the call that the thread is in was left by longjmp, as one is made from FRAME. */
SELDOM bool call_was_left(struct thread *thread, const void *frame);
struct thread *thread_of(pid_t tid);	/* of one that has made MPI calls; NULL: it has not */

/* environment.c: the MPI library and variables that matter, of the first rank */
void environment_append(void);
/* cores.c: cores that the rank may use, and time on them; when recording begins, and when it
 * ends */
void cores_append(void);
/* recorder.c: who this is, at the beginning of the trace's further files */
void rank_write(unsigned segment);
/* unrecorded.c */
void say_unrecorded(void);	/* what the program uses of MPI and is not recorded; once */

/* recorder.c */
#ifdef HAVE_MPI_4
/* INIT and FINALIZE: the library's own, as the program's language has them; INIT tells the session
 * made. */
int session_init_wrapper(int (*init)(void *, MPI_Session *), void *arguments, const void *from);
int session_finalize_wrapper(int (*finalize)(void *), void *arguments, MPI_Session session,
    const void *from);
/* All processes, where there is a session; to be freed. MPI_GROUP_NULL: there is none. */
MPI_Group session_world(void);
#endif
bool in_recorded_process(void);		/* recording, and not a forked child */
/* Recording ends, the program goes on. Nothing that fails in here may do more harm than that. */
void give_up(const char *what, const char *why);
void out_of_memory(void);
void say(const char *what);	/* one line on standard error */
void say_at_abort(void);	/* what is told at the end, by the first rank, as this is it */
int init_wrapper(int (*init)(void *), void *arguments, uint16_t call, const void *from);
int finalize_wrapper(int (*finalize)(void), const void *from);

/* sample.c: samples of computation and switches off the core, where options ask for them. */
/* calls left from then on are to be told to sample_call() */
SHARED uint64_t sample_due_ticks;
void sample_start(int rank);
SELDOM void sample_call(struct thread *thread, uint64_t enter_ticks, uint64_t leave_ticks);
void sample_end(void);
void sample_forget(void);		/* in a forked child */
/* switch.c: where the kernel tells no switches, what a thread computes is timed by its own clock,
 * too. */
/* in place of the frame of a call: the thread is in such a stretch */
SHARED const char stretch_mark[];
SELDOM void stretch_end(struct thread *thread);

#endif
