/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of each MPI function. The table itself is call_table.h. */
#ifndef CALL_CLASS_H
#define CALL_CLASS_H

#include <stdbool.h>
#include <stdint.h>

/* The effect of a call on other ranks: all that matching and wait analysis need. */
enum call_class {
	CLASS_PART,		/* no call: a further operation of the call in the rows before */
	CLASS_LOCAL,		/* involves no other rank */
	CLASS_THREAD_WAIT,	/* outside of MPI, for another thread of the rank */
	CLASS_THREAD_SIGNAL,	/* what it waited for */
	CLASS_INIT,		/* MPI_Init, MPI_Init_thread: all ranks */
	CLASS_FINALIZE,		/* all ranks */
	CLASS_SEND,		/* blocking, all four modes */
	CLASS_RECV,		/* blocking; also MPI_Mrecv */
	CLASS_SENDRECV,		/* the call's row is the send, its part the receive */
	CLASS_SEND_START,	/* MPI_Isend and its modes */
	CLASS_RECV_START,	/* MPI_Irecv, MPI_Imrecv */
	CLASS_SEND_INIT,	/* persistent: made here, started by CLASS_START */
	CLASS_RECV_INIT,
	CLASS_COLLECTIVE_INIT,	/* persistent; its starts have the class of the non-blocking form */
	CLASS_START,		/* MPI_Start, MPI_Startall: each row starts the request it names */
	CLASS_COMPLETE,		/* Wait and Test: each row completes the request it names */
	CLASS_CANCEL,		/* the request that it names will end without a message */
	CLASS_REQUEST_FREE,	/* the request that it names is not seen again */
	CLASS_PROBE,		/* a matched one takes the message for its receive */
	CLASS_IO,		/* file I/O of one rank; bytes_sent written, bytes_received read */
	CLASS_RMA,		/* one-sided, of the origin alone: data, locks, flushes */
	CLASS_POST,		/* general active target: MPI_Win_post, a row for each origin */
	CLASS_ACCESS,		/* MPI_Win_start, a row for each target */
	CLASS_ACCESS_END,	/* MPI_Win_complete: each row ends what it refers to */
	CLASS_EXPOSE_END,	/* MPI_Win_wait, MPI_Win_test: likewise */
	CLASS_BARRIER,		/* all ranks wait for all ranks; no data */
	CLASS_ALL_TO_ALL,	/* all ranks wait for the data of all ranks */
	CLASS_ONE_TO_ALL,	/* all ranks wait for the root; peer is the root */
	CLASS_ALL_TO_ONE,	/* the root waits for all ranks; peer is the root */
	CLASS_SCAN,		/* each rank waits for the ranks up to its own */
	CLASS_NEIGHBOUR,	/* each rank waits for its sources in the topology */
	CLASS_FILE,		/* collective on a file: all wait for all; bytes as in CLASS_IO */
	CLASS_COMM_CREATE,	/* collective over the communicator that it is called on */
	CLASS_COMM_CREATE_GROUP,/* collective over the one that it makes, if that is known */
	CLASS_DISCONNECT,	/* collective; some libraries let all wait for all, others nobody */
	CLASS_BARRIER_START,	/* the non-blocking forms, complete in a row of CLASS_COMPLETE */
	CLASS_ALL_TO_ALL_START,
	CLASS_ONE_TO_ALL_START,
	CLASS_ALL_TO_ONE_START,
	CLASS_SCAN_START,
	CLASS_NEIGHBOUR_START,
	CLASS_FILE_START,
	CLASS_COMM_CREATE_START,
};

/* True if every member of the row's communicator makes the call: instances can be counted. */
static inline bool is_collective(enum call_class class)
{
	return class == CLASS_INIT || class == CLASS_FINALIZE ||
	    class >= CLASS_BARRIER;
}

/* The same, and the call is entered on that communicator. */
static inline bool is_entered_on(enum call_class class)
{
	return is_collective(class) && class != CLASS_COMM_CREATE_GROUP;
}

/* A send that its receiver never holds up: of an epoch of an MPI window, or to another thread. */
static inline bool is_signal(enum call_class class)
{
	return class == CLASS_THREAD_SIGNAL || class == CLASS_POST || class == CLASS_ACCESS_END;
}

/* Not all wait for all, but libraries pass data on in trees, and so make more ranks wait. */
static inline bool passes_on(enum call_class class)
{
	return class == CLASS_ONE_TO_ALL || class == CLASS_ALL_TO_ONE || class == CLASS_SCAN;
}

static inline bool is_collective_start(enum call_class class)
{
	return class >= CLASS_BARRIER_START;
}

/* The class on a known communicator, and blocking, with the same rule of waiting. */
static inline enum call_class blocking_class(enum call_class class)
{
	return class >= CLASS_BARRIER_START ? class - CLASS_BARRIER_START + CLASS_BARRIER :
	    class == CLASS_COMM_CREATE_GROUP ? CLASS_COMM_CREATE :
	    class == CLASS_DISCONNECT ? CLASS_FILE : class;
}

/* By index of call_name: 0 is the part, then the functions of call_table.h. */
extern const unsigned char call_classes[];
extern const unsigned call_class_count;

/* A name that only a stream defines counts as local. */
static inline enum call_class
call_class(unsigned call)
{
	return call < call_class_count ? (enum call_class)call_classes[call] : CLASS_LOCAL;
}

/* The rows that lp-graph makes where threads wait for each other. */
extern const uint16_t call_thread_wait, call_thread_signal;

/* What a call does to an MPI window from afar. */
enum one_sided_kind {
	NO_ACCESS, ACCESSES, LOCKS, UNLOCKS, FLUSHES, FLUSHES_LOCALLY, LOCKS_ALL, UNLOCKS_ALL,
	FLUSHES_ALL,
	ENDS_EPOCH,			/* of active targets */
};
enum one_sided_kind call_one_sided(unsigned call);

/* The row of a call that returned an error: MPI_Send(error). It is not matched. */
bool call_failed(unsigned call);
/* The row of a call that did not return: MPI_Recv(open). It is not matched, either. */
bool call_is_open(unsigned call);

/* A test of requests or an epoch, or a probe, which returns at once. */
bool call_polls(unsigned call);
/* A blocking collective in which some ranks may exchange data and others none. */
bool call_counts_differ(unsigned call);
/* MPI_Abort: it ends the run. */
bool call_aborts(unsigned call);
/* MPI_Comm_spawn and its kin: MPI_Init of the spawned processes is the same collective. */
bool call_spawns(unsigned call);
/* These, MPI_Comm_accept and connect: they wait for processes of another MPI_COMM_WORLD. */
bool call_meets(unsigned call);
/* The same function, maybe with large counts (MPI_Bcast_c)? */
bool calls_are_same(unsigned a, unsigned b);
/* May the members of one instance make these two calls? */
bool calls_meet(unsigned a, unsigned b);
/* Does this call of CLASS_IO or CLASS_RMA start a request (MPI_File_iread, MPI_Rput)? */
bool call_starts(unsigned call);
/* MPI_Mprobe and MPI_Improbe: no other receive gets the message. */
bool call_takes(unsigned call);

#endif
