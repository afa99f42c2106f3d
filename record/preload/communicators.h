/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators, MPI windows and files by their handles. */
#ifndef COMMUNICATORS_H
#define COMMUNICATORS_H

#include "recorder.h"

/* An open epoch of general active target synchronisation: the rows that opened it. */
struct epoch {
	uint64_t start;		/* the first of them */
	uint32_t location, count;
};

/* A communicator, or an MPI window or file, which has the members of the one that it was made
 * on. */
struct communicator {
	uintptr_t handle;
	uint64_t id;		/* the same on all members */
	uint32_t number;	/* within this rank */
	uint32_t collectives;	/* called on it so far */
	uint32_t created;	/* communicators made from it so far, by calls of all members */
	int32_t rank, size;
	int32_t peers;		/* members of the group that data is exchanged with; 0: unknown */
	uint32_t sources, targets;	/* of a topology: neighbours of this rank */
	MPI_Group group;		/* of an MPI window; else MPI_GROUP_NULL */
	struct epoch exposure, access;
	bool inter;
	/* number of the intercommunicator with another MPI_COMM_WORLD that it comes from; 0:
	 * none */
	uint32_t root;
};

/* What all members of a new communicator know of it alike. */
struct creation {
	uint64_t id;
	uint32_t root;		/* with it the id is the same for all; 0: without */
};

/* How processes of two MPI_COMM_WORLDs got an intercommunicator: they find each other in
 * lp-merge. */
struct meeting {
	const char *how;
	uint64_t port;		/* the same on both sides; 0: not known */
	int64_t at_ns;
};

/* None is NULL; one that was never seen has the number 0. */
void communicators_start(void);
void communicators_add_world(void);	/* when MPI_Init has been called */
SELDOM struct communicator *communicator_find(uintptr_t handle);
enum { NEAR = 64 };		/* those used last, by hash */
SHARED struct communicator *near[NEAR];

ALWAYS unsigned
near_slot(uintptr_t handle)
{
	return (unsigned)((handle * 0x9e3779b97f4a7c15u) >> 58) % NEAR;
}

ALWAYS struct communicator *
of_handle(uintptr_t handle)
{
	struct communicator *it;

	if (UNLIKELY(many_threads))	/* another one may change the slot, or free what is in it */
		return communicator_find(handle);
	it = near[near_slot(handle)];
	return LIKELY(it != NULL && it->handle == handle) ? it : communicator_find(handle);
}

/* Handles of the three kinds are kept apart, whether they are addresses or numbers. */
ALWAYS uintptr_t comm_key(MPI_Comm comm) { return (uintptr_t)comm * 4; }
ALWAYS uintptr_t win_key(MPI_Win win) { return (uintptr_t)win * 4 + 1; }
ALWAYS uintptr_t file_key(MPI_File file) { return (uintptr_t)file * 4 + 2; }
ALWAYS uintptr_t partition_key(MPI_Comm comm) { return (uintptr_t)comm * 4 + 3; }
ALWAYS struct communicator *communicator_of(MPI_Comm comm) { return of_handle(comm_key(comm)); }
ALWAYS struct communicator *win_of(MPI_Win win) { return of_handle(win_key(win)); }
ALWAYS struct communicator *file_of(MPI_File file) { return of_handle(file_key(file)); }

void note_new_communicator(MPI_Comm parent, MPI_Comm made);
void note_new_win(MPI_Comm parent, MPI_Win made);
void note_new_file(MPI_Comm parent, MPI_File made);
/* Made by a part of the parent's members, or with processes that are not in MPI_COMM_WORLD. */
void note_group_communicator(MPI_Comm parent, int tag, MPI_Comm made);
uint64_t port_of_name(const char *name, size_t length);	/* the length of an array, or SIZE_MAX */
uint64_t port_of_root(MPI_Comm comm, int root);
uint64_t port_of_socket(int fd);
void note_meeting(struct meeting meeting, MPI_Comm made);
void note_parent(MPI_Comm parent);	/* that of a spawned process; it may be told again */
bool have_met(void);		/* another MPI_COMM_WORLD */
/* Where partitioned messages of the communicator go, which match none but each other. */
struct communicator *partitions_of(MPI_Comm comm);
/* counts a communicator made by all members of parent */
struct creation next_creation(MPI_Comm parent);
void register_communicator(MPI_Comm made, struct creation creation);
void forget_communicator(struct communicator *comm);

#endif
