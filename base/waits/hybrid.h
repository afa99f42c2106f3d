/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Efficiencies of processes with several threads, from switches: POP's hybrid model, with the
 * states of the threads while the first one of their process is outside MPI.
 *
 *	parallel = useful time of all threads / (threads * T) = mpi * threads
 *	mpi = time outside MPI / T; each process weighs as many times as it has threads
 *	threads = useful time of all threads / (threads * time outside MPI)
 *		= serial * imbalance * on_core
 *
 * A thread is active while it is on a core or ready to run and does not wait for other threads
 * (base/run/thread_waits.h). It no longer waits once it has been woken; nor does the first thread
 * while it is preempted and no thread is active, since what it waited for has ended. A thread is
 * useful while it is active on a core. Without samples it is not known when threads spin: that
 * counts as useful. The lost time is
 *	serial		of threads that are not active while only the first one is
 *	imbalance	of threads that are not active while others are
 *	blocked		of all threads, while none of them is active
 *	preempted	of threads that are ready to run
 * Each factor is the share that is left after the losses of the factors before it.
 *
 * Memory: 16 bytes for each rank and number of active threads.
 */
#ifndef HYBRID_H
#define HYBRID_H

#include "../run/thread_lanes.h"
#include "waits.h"

/* The time of a rank outside MPI with one number of active threads. */
struct hybrid_time {
	int64_t ns, on_core_ns;		/* on_core_ns: of all its threads */
};

/* The indices of these times; with N threads active, HYBRID_SEVERAL + N. */
enum { HYBRID_IDLE, HYBRID_SERIAL, HYBRID_SEVERAL };

struct hybrid {
	double parallel, mpi, threads, serial, imbalance, on_core;
	bool sampled;
	int64_t thread_count;		/* of all processes */
	int64_t outside_ns;		/* thread time outside MPI: the sum of the rest */
	int64_t useful_ns, serial_ns, imbalance_ns, blocked_ns, preempted_ns;
	int64_t unknown_ns;		/* of first threads outside MPI; in none of the others */
};

/*
 * Counts the time outside MPI before a call, before the call is added to its rank's span. STATES is
 * scratch memory, empty between uses.
 */
void hybrid_count(struct imbalance *im, struct thread_states *states,
    const struct thread_lanes *lanes, const struct thread_waits *waits, uint32_t location,
    const struct row *row, int64_t from_ns, int64_t to_ns);
/* One time of a rank, and the same to add to it. */
struct hybrid_time hybrid_time(const struct imbalance *im, size_t index, int32_t rank);
struct hybrid_time *hybrid_at(struct imbalance *im, size_t index, int32_t rank);
/*
 * False if it is not known: no switches, over 1 % of the time outside MPI unknown, several threads
 * of a process call MPI, or no process has several threads.
 */
bool hybrid_of(const struct imbalance *im, struct hybrid *hybrid);

#endif
