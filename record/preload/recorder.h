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
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values of peer and tag: lp-trace(5), CALLS. */
enum { ANY_PEER = -1, NULL_PEER = -2, NO_PEER = -3, ROOT_PEER = -4, NO_TAG = -2 };

/* Numbers of the calls: their places in call_table.h, from 1; 0 is a part. */
enum call_number {
	NUMBER_part,
#define CALL(Name, ...) NUMBER_##Name,
#define SPECIAL(Name, ...) NUMBER_##Name,
#include "../../stream/call_table.h"
#undef CALL
#undef SPECIAL
	NUMBER_COUNT
};

/* One row. */
struct entry {
	int64_t enter_ns, leave_ns;
	uint64_t bytes_sent, bytes_received;
	uint32_t site, comm, request;
	int32_t peer, tag;
	uint16_t call;
};

/* The block that a thread fills: a mapping of the file. */
struct block {
	unsigned char *map;	/* NULL: none open */
	size_t map_bytes;
	unsigned char *message;	/* its first byte */
	size_t message_bytes;
	uint32_t count, capacity;
	bool wide;		/* 8 bytes for durations and sizes, else 4 */
	unsigned char *count_at, *enter, *duration, *call, *site, *comm, *peer, *tag, *sent, *received,
	    *request;
};

/* What a thread has of its own. */
struct thread {
	bool known;		/* has a location */
	int depth;		/* in an MPI call: calls within it are the library's own */
	uint32_t location;
	uint64_t seq;		/* of its next row */
	uint32_t next_capacity;	/* of its next block */
	struct block block;
	struct thread *next;	/* all threads; they outlive their end, for their blocks */
	MPI_Status status;	/* stands in for MPI_STATUS_IGNORE */
	MPI_Status *statuses;	/* and MPI_STATUSES_IGNORE */
	MPI_Request *requests;	/* as they were before the call */
	struct entry *entries;
	size_t status_capacity, request_capacity, entry_capacity;
};

/* A call being recorded. */
struct at {
	struct thread *thread;
	int64_t enter_ns, leave_ns;
	const void *from;	/* return address */
	uint16_t call;
};

struct communicator {
	MPI_Comm handle;
	uint64_t id;		/* the same on all members */
	uint32_t number;	/* within this rank */
	uint32_t created;	/* communicators made from it so far, by calls of all members */
	int32_t rank, size;
	int32_t peers;		/* members of the group that data is exchanged with; 0: unknown */
	bool inter;
};

extern bool recording;		/* between MPI_Init and MPI_Finalize, in this process */
extern bool many_threads;	/* MPI_THREAD_MULTIPLE: tables are locked */
extern pthread_mutex_t table_lock;

static inline void lock_tables(void) { if (many_threads) pthread_mutex_lock(&table_lock); }
static inline void unlock_tables(void) { if (many_threads) pthread_mutex_unlock(&table_lock); }

/* recorder.c */
bool enter_call(struct at *at, uint16_t call, const void *from);	/* false: do not record */
void leave_call(struct at *at);
void end_call(struct at *at);
struct entry entry_of(const struct at *at);
void give_up(const char *what, int error);	/* recording ends, the program goes on */
int init_wrapper(int (*init)(void *), void *arguments, uint16_t call, const void *from);
int finalize_wrapper(int (*finalize)(void), const void *from);

/* clock.c */
int64_t clock_ns(void);
void clock_sync(void);		/* all ranks of MPI_COMM_WORLD; appends its samples to the trace */

/* file.c: the raw trace. All append functions may be called by any thread. */
bool file_open(const char *folder, int rank, int ranks);
void file_commit(struct thread *thread, const struct entry *entries, uint32_t count);
void file_replace(struct thread *thread, const struct entry *entry);	/* the row committed last */
void file_close(struct thread *threads);
/* small.c builds them, file.c writes them. */
struct small {			/* a small message being built */
	unsigned char bytes[4600];
	size_t size;
	bool full;
};
void small_begin(struct small *small, const char *kind, unsigned pairs);
void small_uint(struct small *small, const char *key, uint64_t value);
void small_int(struct small *small, const char *key, int64_t value);
void small_string(struct small *small, const char *key, const char *value);
void small_bytes(struct small *small, const char *key, const void *bytes, size_t size);
void small_strings(struct small *small, const char *key, const char *only);	/* an array of one */
void small_true(struct small *small, const char *key);
void small_append(struct small *small);

/* sites.c */
uint32_t site_number(const void *address);
void modules_append(void);

/* communicators.c */
void communicators_start(void);
/* Never NULL; one that was never seen has the number 0. */
struct communicator *communicator_of(MPI_Comm comm);
void note_new_communicator(MPI_Comm parent, MPI_Comm made);
void note_group_communicator(MPI_Comm parent, int tag, MPI_Comm made);
uint64_t next_id(MPI_Comm parent);	/* counts a communicator made by all members of parent */
void register_communicator(MPI_Comm made, uint64_t creation);
void forget_communicator(struct communicator *comm);

/* requests.c */
enum request_kind { OF_SEND, OF_RECEIVE, OF_COLLECTIVE, OF_IDUP };
struct request {
	MPI_Request handle;
	uint64_t start;		/* row of the start; of a persistent one that is idle its init */
	uint64_t init;		/* row of the init call of a persistent one */
	uint64_t creation;	/* OF_IDUP: id of the creation */
	uint64_t bytes;		/* persistent: size of the message or room for it */
	MPI_Comm made;		/* OF_IDUP */
	uint32_t location, comm;
	int32_t peer, tag;
	uint8_t kind;
	bool persistent, active, cancelled;
};
void requests_start(void);
void request_add(const struct request *request);
struct request *request_find(MPI_Request handle);	/* NULL: unknown */
void request_remove(struct request *request);	/* as found */
bool request_is_static(MPI_Request handle);	/* the one handle of all that are complete at once */
void static_add(uint32_t location, uint64_t start);
bool static_take(uint32_t *location, uint64_t *start);

/* notes.c and, where requests are involved, note_requests.c: rows of calls that have returned with
 * success. */
void commit(struct at *at, const struct entry *entry);
void fill_received(struct entry *entry, const MPI_Status *status);	/* where from, tag, size */
void recall_message(MPI_Message message, struct entry *entry);	/* envelope of a matched probe */
int32_t tag_of(int tag);
uint64_t bytes_of(int count, MPI_Datatype type);
uint64_t bytes_of_counts(const int *counts, int n, MPI_Datatype type);
int32_t peer_of(int rank);
void note_local(struct at *at, MPI_Comm comm);
void note_comm_free(struct at *at, struct communicator *comm);	/* its handle is dead by now */
void note_send(struct at *at, MPI_Comm comm, int dest, int tag, uint64_t bytes);
void note_receive(struct at *at, MPI_Comm comm, const MPI_Status *status);
void note_mreceive(struct at *at, MPI_Message message, const MPI_Status *status);
void note_sendrecv(struct at *at, MPI_Comm comm, int dest, int tag, uint64_t bytes,
    const MPI_Status *status);
void note_request(struct at *at, MPI_Comm comm, int peer, int tag, uint64_t bytes,
    enum request_kind kind, bool persistent, MPI_Request request);
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

/* Storage of the thread, so that a wrapper needs no memory of its own. */
MPI_Status *own_statuses(struct thread *thread, int count);
MPI_Request *own_requests(struct thread *thread, int count);

#endif
