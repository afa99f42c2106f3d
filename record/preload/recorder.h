/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recorder that lives in the program's own processes. It writes one raw trace a rank
 * (lp-trace(5), RAW TRACES), prints nothing but one line when it has to give up, and calls MPI
 * only through PMPI_.
 *
 * A call costs two readings of the clock, a few hash look-ups and the stores of its rows: no system
 * call, no lock unless MPI_THREAD_MULTIPLE was provided, no memory of its own that grows with calls.
 */
#ifndef RECORDER_H
#define RECORDER_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

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
	NUMBER_COUNT
};

/* One row. */
struct entry {
	int64_t enter_ns, leave_ns;
	uint64_t bytes_sent, bytes_received;
	uint32_t site, comm, request;
	int32_t peer, tag;
	uint16_t call, request_at;	/* request_at: 1 + location of the row, if not the own one */
};

/* What lp-record was told, as key=value pairs in LONGPOLE_OPTIONS. */
struct options {
	bool monotonic;			/* never the processor's counter */
	bool allreduce;			/* clocks are compared by MPI_Allreduce, not by ping-pong */
	bool fold_polls;
	bool paused;			/* until MPI_Pcontrol(1) */
	int stack;			/* callers noted for a call site, 1: the calling function alone */
	int64_t threshold_ns;		/* local calls shorter than this are folded; 0: none */
	int sample_hz;			/* samples a second of computation; 0: none */
	int sample_stack;		/* bytes of the stack that go with each; 0: none */
	int64_t sync_every_ns;		/* 0: clocks are compared at the beginning and the end */
};
enum { MOST_CALLERS = 64 };
extern struct options options;
void read_options(void);		/* options.c */

/* The block that a thread fills, in a mapping of the file. */
struct block {
	struct mapping *mapping;	/* of the file, in which it lies; NULL: none open */
	unsigned char *message;	/* its first byte */
	size_t message_bytes;
	uint32_t count, capacity;
	bool wide;		/* 8 bytes for durations and sizes, 4 for communicators; else 4, 2 */
	unsigned char *request_at, *folded;	/* NULL: the block is without */
	unsigned char *count_at, *enter, *duration, *call, *site, *comm, *peer, *tag, *sent, *received,
	    *request;
};

/* What a thread has of its own. */
struct thread {
	bool known;		/* has a location */
	int depth;		/* in an MPI call: calls within it are the library's own */
	uint32_t location;
	pid_t tid;
	bool refers;		/* to rows of other threads: its blocks have a column for that */
	uint64_t seq;		/* of its next row */
	uint64_t fold_seq;	/* seq as it was behind the last row that may stand for more calls */
	int64_t fold_leave_ns;	/* when the last of them was left */
	uint32_t next_capacity;	/* of its next block */
	struct block block;
	struct thread *next;	/* all threads; they outlive their end, for their blocks */
	MPI_Status status;	/* stands in for MPI_STATUS_IGNORE */
	MPI_Status *statuses;	/* and MPI_STATUSES_IGNORE */
	MPI_Request *requests;	/* as they were before the call */
	struct entry *entries;
	size_t statuses_capacity, requests_capacity, entries_capacity;
};

/* A call being recorded. */
struct at {
	struct thread *thread;
	uint64_t enter_ticks, leave_ticks;
	const void *from;	/* return address */
	uint16_t call;
};

/* An open epoch of general active target synchronisation: the rows that opened it. */
struct epoch {
	uint64_t start;		/* the first of them */
	uint32_t location, count;
};

/* A communicator, or an MPI window or file, which has the members of the one that it was made on. */
struct communicator {
	uintptr_t handle;
	uint64_t id;		/* the same on all members */
	uint32_t number;	/* within this rank */
	uint32_t created;	/* communicators made from it so far, by calls of all members */
	int32_t rank, size;
	int32_t peers;		/* members of the group that data is exchanged with; 0: unknown */
	uint32_t sources, targets;	/* of a topology: neighbours of this rank */
	MPI_Group group;		/* of an MPI window; else MPI_GROUP_NULL */
	struct epoch exposure, access;
	bool inter;
};

extern _Atomic bool lost;	/* the trace cannot be written any more */
extern _Atomic bool paused;	/* by MPI_Pcontrol: calls leave no rows */
extern _Atomic bool recording;	/* between MPI_Init and MPI_Finalize, in this process */
extern bool many_threads;	/* MPI_THREAD_MULTIPLE: tables are locked */
extern pthread_mutex_t table_lock;

static inline void lock_tables(void) { if (many_threads) pthread_mutex_lock(&table_lock); }
static inline void unlock_tables(void) { if (many_threads) pthread_mutex_unlock(&table_lock); }

extern __thread struct thread *self __attribute__((tls_model("initial-exec")));

/* unrecorded.c */
void say_unrecorded(void);	/* what the program uses of MPI and is not recorded */

/* recorder.c */
#ifdef HAVE_MPI_4
int session_init_wrapper(MPI_Info info, MPI_Errhandler handler, MPI_Session *session, const void *from);
int session_finalize_wrapper(MPI_Session *session, const void *from);
/* All processes, where there is a session; to be freed. MPI_GROUP_NULL: there is none. */
MPI_Group session_world(void);
#endif
struct thread *new_thread(void);	/* NULL: no memory */
bool thread_location(pid_t tid, uint32_t *location);	/* of one that has made MPI calls */
bool in_recorded_process(void);		/* recording, and not a forked child */
/* Recording ends, the program goes on. Nothing that fails in here may do more harm than that. */
void give_up(const char *what, const char *why);
void out_of_memory(void);
void say(const char *what);	/* one line on standard error */
int init_wrapper(int (*init)(void *), void *arguments, uint16_t call, const void *from);
int finalize_wrapper(int (*finalize)(void), const void *from);

/*
 * clock.c: calls are timed in ticks, of the processor's counter where that can be trusted and
 * of CLOCK_MONOTONIC, in nanoseconds, elsewhere. One map per clock leads to nanoseconds.
 */
struct clock_map {
	bool counter;
	uint64_t first_ticks;
	int64_t first_ns;
	uint64_t rate;		/* nanoseconds a tick, times 2^32 */
};
extern struct clock_map clock_map;
struct instant {		/* the same moment on both, before it is known which is used */
	uint64_t counter;
	int64_t monotonic_ns;
};
struct instant clock_instant(void);
uint64_t hash_text(uint64_t hash, const char *text);
int64_t clock_namespace_ns(void);
/* All ranks of MPI_COMM_WORLD: chooses the clock, which instants of before are then ticks of. */
void clock_start(const struct instant *init);
uint64_t clock_ticks_at(const struct instant *instant);
void clock_sync(void);		/* all ranks of MPI_COMM_WORLD; appends its samples to the trace */
void clock_sync_again(void);	/* after a collective of MPI_COMM_WORLD: at times compares again */

static inline uint64_t
clock_ticks(void)
{
	struct timespec now;

#ifdef __x86_64__
	if (clock_map.counter)
		return __builtin_ia32_rdtsc();
#endif
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline int64_t
ticks_ns(uint64_t ticks)
{
	__int128 since = (__int128)ticks - (__int128)clock_map.first_ticks;

	return clock_map.first_ns + (int64_t)(since * clock_map.rate >> 32);
}

static inline int64_t clock_ns(void) { return ticks_ns(clock_ticks()); }

/* file.c: the raw trace. All append functions may be called by any thread. */
bool file_claim(const char *path);	/* false: it is there; file_open() takes what was claimed */
bool file_open(const char *folder, int rank);
void file_close(struct thread *threads);
/* blocks.c: rows of a thread, by itself. */
void rows_commit(struct thread *thread, const struct entry *entries, uint32_t count);
/* One more call for the row committed last, which now lasts until LEAVE_NS; false: it is full. */
bool rows_fold(struct thread *thread, int64_t leave_ns);
void rows_replace(struct thread *thread, const struct entry *entry);	/* the row committed last */
/* small.c builds them, file.c writes them. */
struct small {			/* a small message being built; small_append ends it */
	unsigned char *bytes, own[1000];
	size_t size, capacity;
	bool full;		/* there was no memory: it is not written */
};
void small_begin(struct small *small, const char *kind, unsigned pairs);
void small_uint(struct small *small, const char *key, uint64_t value);
void small_int(struct small *small, const char *key, int64_t value);
void small_string(struct small *small, const char *key, const char *value);
void small_bytes(struct small *small, const char *key, const void *bytes, size_t size);
void small_strings(struct small *small, const char *key, const char *only);	/* an array of one */
void small_true(struct small *small, const char *key);
void small_free(struct small *small);
void small_append(struct small *small);

/* sites.c: return addresses get numbers from 1; 0 where there are too many. */
struct site { const void *address; uint32_t number; };
struct site_table {
	unsigned shift;		/* 64 less the bits of the size */
	size_t mask;		/* size - 1 */
	struct site slots[];
};
extern struct site_table *_Atomic sites;	/* one that has got too small stays for its readers */
/* CALL is the function called there, 0 for a frame further up. */
uint32_t plain_site(const void *address, uint16_t call);
uint32_t stack_site(const void *address, uint16_t call);	/* with the callers, options.stack */
uint32_t frames_site(const void *const *frames, int depth, uint16_t call);	/* of 0 frames: 0 */
void modules_append(void);

static inline size_t
site_slot(const struct site_table *table, const void *address)
{
	return (size_t)(((uintptr_t)address * 0x9e3779b97f4a7c15u) >> table->shift);
}

static inline uint32_t
site_number(const void *address, uint16_t call)
{
	const struct site_table *table = __atomic_load_n(&sites, __ATOMIC_ACQUIRE);
	const struct site *site = &table->slots[site_slot(table, address)];

	if (options.stack > 1)
		return stack_site(address, call);
	return __atomic_load_n(&site->address, __ATOMIC_ACQUIRE) == address ? site->number :
	    plain_site(address, call);
}

/* sample.c: samples of computation, where options.sample_hz asks for them. */
extern uint64_t sample_due_ticks;	/* when sample_drain() is to be called next */
void sample_start(int rank);
void sample_drain(void);
void sample_end(void);
void sample_forget(void);		/* in a forked child */

/* communicators.c: by handle. None is NULL; one that was never seen has the number 0. */
void communicators_start(void);
void communicators_add_world(void);	/* when MPI_Init has been called */
struct communicator *communicator_find(uintptr_t handle);
enum { NEAR = 64 };		/* those used last, by hash */
extern struct communicator *near[NEAR];

static inline unsigned
near_slot(uintptr_t handle)
{
	return (unsigned)((handle * 0x9e3779b97f4a7c15u) >> 58) % NEAR;
}

static inline struct communicator *
of_handle(uintptr_t handle)
{
	struct communicator *it;

	if (many_threads)	/* another one may change the slot, or free what is in it */
		return communicator_find(handle);
	it = near[near_slot(handle)];
	return it != NULL && it->handle == handle ? it : communicator_find(handle);
}

/* Handles of the three kinds are kept apart, whether they are addresses or numbers. */
static inline uintptr_t comm_key(MPI_Comm comm) { return (uintptr_t)comm * 4; }
static inline uintptr_t win_key(MPI_Win win) { return (uintptr_t)win * 4 + 1; }
static inline uintptr_t file_key(MPI_File file) { return (uintptr_t)file * 4 + 2; }
static inline uintptr_t partition_key(MPI_Comm comm) { return (uintptr_t)comm * 4 + 3; }
static inline struct communicator *communicator_of(MPI_Comm comm) { return of_handle(comm_key(comm)); }
static inline struct communicator *win_of(MPI_Win win) { return of_handle(win_key(win)); }
static inline struct communicator *file_of(MPI_File file) { return of_handle(file_key(file)); }

void note_new_communicator(MPI_Comm parent, MPI_Comm made);
void note_new_win(MPI_Comm parent, MPI_Win made);
void note_new_file(MPI_Comm parent, MPI_File made);
/* Made by a part of the parent's members, or with processes that are not in MPI_COMM_WORLD. */
void note_group_communicator(MPI_Comm parent, int tag, MPI_Comm made);
void note_parent(MPI_Comm parent);	/* that of a spawned process; it may be told again */
/* Where partitioned messages of the communicator go, which match none but each other. */
struct communicator *partitions_of(MPI_Comm comm);
uint64_t next_id(MPI_Comm parent);	/* counts a communicator made by all members of parent */
void register_communicator(MPI_Comm made, uint64_t creation);
void forget_communicator(struct communicator *comm);

/* requests.c */
enum request_kind {
	OF_SEND, OF_RECEIVE, OF_COLLECTIVE, OF_IDUP, OF_OTHER,
	OF_SENDRECV,		/* the row behind that of its start is the receive's */
	OF_PARTITIONS,		/* a partitioned send: its start is the row of the last partition */
};
#define NO_ROW UINT64_MAX	/* start of a request that was started while recording was paused */
struct request {
	MPI_Request handle;
	uint64_t start;		/* row of the start; of a persistent one that is idle its init */
	uint64_t init;		/* row of the init call of a persistent one */
	uint64_t creation;	/* OF_IDUP: id of the creation */
	uint64_t bytes;		/* persistent: size of the message or room for it, bytes sent */
	uint64_t received;	/* and received, of a persistent collective */
	MPI_Comm made;		/* OF_IDUP */
	uint32_t location, comm;	/* where its start is */
	uint32_t init_location;
	int32_t peer, tag;
	int partitions, ready;	/* OF_PARTITIONS: in all, and of them ready since its start */
	uint16_t start_call;	/* persistent: the name of the row of its start; 0: that of the call */
	uint8_t kind;
	bool persistent, active, cancelled;
};
void requests_start(void);
void requests_find_static(void);	/* when MPI_Init has been called */
void request_add(const struct request *request);
struct request *request_find(MPI_Request handle);	/* NULL: unknown */
void request_remove(struct request *request);	/* as found */
bool request_is_static(MPI_Request handle);	/* the one handle of all that are complete at once */
void static_add(uint32_t location, uint64_t start);
bool static_take(uint32_t *location, uint64_t *start);

/* notes.c and, where requests are involved, note_requests.c: rows of calls that have returned with
 * success. */
void commit(struct at *at, const struct entry *entry);
/* A call that exchanged nothing: a run of such calls may become one row. POLL: a test or probe that
 * found nothing. */
enum foldable { SHORT, POLL };
void commit_foldable(struct at *at, const struct entry *entry, enum foldable kind);
void fill_received(struct entry *entry, const MPI_Status *status);	/* where from, tag, size */
void recall_message(MPI_Message message, struct entry *entry);	/* envelope of a matched probe */
/* Makes the row that will be SEQ refer to row START of LOCATION: by distance, or across threads. */
void refer(const struct at *at, struct entry *e, uint64_t seq, uint32_t location, uint64_t start);
int32_t tag_of(int tag);
void types_start(void);
uint64_t bytes_of(int64_t count, MPI_Datatype type);
uint64_t bytes_of_counts(const int *counts, int n, MPI_Datatype type);
uint64_t bytes_of_large_counts(const MPI_Count *counts, int n, MPI_Datatype type);
int32_t peer_of(int rank);
void note_local(struct at *at, MPI_Comm comm);
void note_alone(struct at *at, bool done);	/* nobody else is involved */
void note_group_free(struct at *at, struct communicator *comm);	/* its handle is dead by now */
void abort_noted(MPI_Comm comm, int code, const void *from);
void pcontrol_noted(int level, const void *from);
uint64_t moved_bytes(const MPI_Status *status);
void note_lock(struct at *at, const struct communicator *win, int rank, bool exclusive);
void note_one_sided(struct at *at, const struct communicator *win, int rank, uint64_t sent,
    uint64_t received);
void note_one_sided_start(struct at *at, const struct communicator *win, int rank, uint64_t sent,
    uint64_t received, MPI_Request request);
void note_epoch(struct at *at, struct communicator *win, struct epoch *epoch, MPI_Group group);
void note_epoch_end(struct at *at, struct communicator *win, struct epoch *epoch, bool done);
void note_send(struct at *at, MPI_Comm comm, int dest, int tag, uint64_t bytes);
void note_receive(struct at *at, MPI_Comm comm, const MPI_Status *status);
void note_mreceive(struct at *at, MPI_Message message, const MPI_Status *status);
void note_sendrecv(struct at *at, MPI_Comm comm, int dest, int tag, uint64_t bytes,
    const MPI_Status *status);
void note_request(struct at *at, MPI_Comm comm, int peer, int tag, uint64_t bytes,
    enum request_kind kind, bool persistent, MPI_Request request);
struct envelope { int peer, tag; uint64_t bytes; };
void note_sendrecv_start(struct at *at, MPI_Comm comm, struct envelope send, struct envelope receive,
    MPI_Request request);
void note_partitioned(struct at *at, MPI_Comm comm, struct envelope envelope, int partitions,
    enum request_kind kind, MPI_Request request);
/* LAST: the number of the row's name where these are the last partitions. */
void note_ready(struct at *at, MPI_Request request, int partitions, uint16_t last);
void note_collective_init(struct at *at, const struct communicator *comm, int root, uint64_t sent,
    uint64_t received, MPI_Request request, uint16_t start);
void note_mreceive_start(struct at *at, MPI_Message message, uint64_t bytes, MPI_Request request);
void note_start(struct at *at, int count, const MPI_Request *requests);
void note_complete_all(struct at *at, int count, const MPI_Request *before, const MPI_Status *statuses);
void note_complete_one(struct at *at, bool done, const MPI_Request *before, int index,
    const MPI_Status *status);
void note_complete_some(struct at *at, const MPI_Request *before, int count, const int *indices,
    int base, const MPI_Status *statuses);
void note_cancel(struct at *at, MPI_Request request);
void note_request_free(struct at *at, MPI_Request request);
void note_probe(struct at *at, bool found, MPI_Comm comm, int source, int tag, const MPI_Status *status);
void note_mprobe(struct at *at, bool found, MPI_Comm comm, int source, int tag, MPI_Message message,
    const MPI_Status *status);
void note_collective(struct at *at, const struct communicator *comm, int root, uint64_t sent,
    uint64_t received);
void note_collective_start(struct at *at, const struct communicator *comm, int root, uint64_t sent,
    uint64_t received, MPI_Request request);
void note_idup(struct at *at, MPI_Comm comm, MPI_Comm made, MPI_Request request);

/* ---- what every call passes through ---- */

/* False: do not record. */
static inline bool
enter_call(struct at *at, uint16_t call, const void *from)
{
	struct thread *thread = self;

	if (!recording)
		return false;
	if (thread == NULL && (thread = new_thread()) == NULL)
		return false;
	if (thread->depth > 0)
		return false;		/* the library calls itself: not a call of the program */
	thread->depth = 1;
	at->thread = thread;
	at->call = call;
	at->from = from;
	at->enter_ticks = clock_ticks();
	return true;
}

static inline void leave_call(struct at *at) { at->leave_ticks = clock_ticks(); }
/* A call may take on it what else is to be done at times, outside of its own duration. */
static inline void
end_call(struct at *at)
{
	if (at->leave_ticks >= __atomic_load_n(&sample_due_ticks, __ATOMIC_RELAXED))
		sample_drain();
	at->thread->depth = 0;
}


static inline struct entry
entry_of(const struct at *at)
{
	return (struct entry){ .enter_ns = ticks_ns(at->enter_ticks),
	    .leave_ns = ticks_ns(at->leave_ticks), .call = at->call, .site = site_number(at->from, at->call),
	    .peer = NO_PEER, .tag = NO_TAG };
}

/* Storage of the thread, so that a wrapper needs no memory of its own. NULL: recording has ended. */
MPI_Status *own_statuses(struct thread *thread, int count);
MPI_Request *own_requests(struct thread *thread, int count);
struct entry *own_entries(struct thread *thread, int count);

#endif
