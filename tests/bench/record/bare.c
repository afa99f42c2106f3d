/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The minimum for a recorder, as a baseline: a wrapper that reads the clock twice and stores 32
 * bytes. With -DCOUNTER the clock is the processor's time-stamp counter.
 */
#include <mpi.h>
#include <stdint.h>
#include <time.h>
#ifdef COUNTER
#include <x86intrin.h>
#endif

enum { ROWS = 1 << 16 };
static struct { int64_t enter, leave; const void *site; uint64_t call; } rows[ROWS];
static unsigned count;

static int64_t
now(void)
{
#ifdef COUNTER
	return (int64_t)__rdtsc();
#else
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
#endif
}

/* The same for a region of longpole.h. */
void longpole_region_begin(const char *name);
void longpole_region_end(const char *name);

void
longpole_region_begin(const char *name)
{
	rows[count % ROWS].enter = now();
	rows[count % ROWS].site = name;
}

void
longpole_region_end(const char *name)
{
	unsigned i = count++ % ROWS;

	(void)name;
	rows[i].leave = now();
	rows[i].call = 0;
}

#define BARE(number, name, params, arguments) \
	int MPI_##name params \
	{ \
		int64_t enter = now(); \
		int result = PMPI_##name arguments; \
		unsigned i = count++ % ROWS; \
		rows[i].enter = enter; \
		rows[i].leave = now(); \
		rows[i].site = __builtin_return_address(0); \
		rows[i].call = number; \
		return result; \
	}

BARE(1, Allreduce, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
    (a, b, n, t, o, c))
BARE(2, Isend, (const void *b, int n, MPI_Datatype t, int p, int tag, MPI_Comm c, MPI_Request *r),
    (b, n, t, p, tag, c, r))
BARE(3, Irecv, (void *b, int n, MPI_Datatype t, int p, int tag, MPI_Comm c, MPI_Request *r),
    (b, n, t, p, tag, c, r))
BARE(4, Wait, (MPI_Request *r, MPI_Status *s), (r, s))
BARE(5, Iprobe, (int p, int tag, MPI_Comm c, int *flag, MPI_Status *s), (p, tag, c, flag, s))
BARE(6, Send, (const void *b, int n, MPI_Datatype t, int p, int tag, MPI_Comm c),
    (b, n, t, p, tag, c))
BARE(7, Recv, (void *b, int n, MPI_Datatype t, int p, int tag, MPI_Comm c, MPI_Status *s),
    (b, n, t, p, tag, c, s))
BARE(8, Barrier, (MPI_Comm c), (c))
BARE(10, Sendrecv, (const void *a, int n, MPI_Datatype t, int p, int tag, void *b, int m, \
    MPI_Datatype u, int q, int other, MPI_Comm c, MPI_Status *s),
    (a, n, t, p, tag, b, m, u, q, other, c, s))
BARE(11, Test, (MPI_Request *r, int *flag, MPI_Status *s), (r, flag, s))
BARE(13, Waitall, (int n, MPI_Request r[], MPI_Status s[]), (n, r, s))
