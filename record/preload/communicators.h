/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators, MPI windows and files by their handles. */
#ifndef COMMUNICATORS_H
#define COMMUNICATORS_H

#include "recorder.h"

/* An open epoch of general active target synchronisation: the rows that opened it. */
struct epoch {
	uint64_t start;		/* the first of these rows */
	uint32_t location, count;
};

/* A communicator, or an MPI window or file, which has the members of its communicator. */
struct communicator {
	uintptr_t handle;
	uint64_t id;		/* the same on all members */
	uint32_t number;	/* of this rank */
	uint32_t collectives;	/* number of collectives so far */
	uint32_t created;	/* number of communicators made from it so far by all members */
	int32_t rank, size;
	int32_t peers;		/* size of the group that data is exchanged with; 0: unknown */
	uint32_t sources, targets;	/* neighbours of this rank in a topology */
	MPI_Group group;		/* of an open epoch on an MPI window; else MPI_GROUP_NULL */
	struct epoch exposure, access;
	bool inter;
	/* number of its ancestor that connects to another MPI_COMM_WORLD; 0: none */
	uint32_t root;
};

/* What all members of a new communicator know about it. */
struct creation {
	uint64_t id;
	uint32_t root;		/* the id is unique together with it; 0: unique alone */
	uint32_t on;		/* of partitions: the number of their communicator; else 0 */
};

/* How processes of two MPI_COMM_WORLDs got an intercommunicator; lp-merge pairs the sides. */
struct meeting {
	const char *how;
	uint64_t port;		/* the same on both sides; 0: not known */
	int64_t at_ns;
};

/* A null handle gives NULL; an unknown one gives the communicator of number 0. */
void communicators_add_world(void);	/* after MPI_Init */
SELDOM struct communicator *communicator_find(uintptr_t handle);
enum { NEAR = 64 };		/* the communicators used last, by hash */
SHARED struct communicator *near[NEAR];
SHARED bool have_world;		/* MPI_COMM_WORLD may be used */

ALWAYS unsigned
near_slot(uintptr_t handle)
{
	return (unsigned)((handle * 0x9e3779b97f4a7c15u) >> 58) % NEAR;
}

ALWAYS struct communicator *
of_handle(uintptr_t handle)
{
	struct communicator *it;

	/* another thread may move the slot or free what it points to */
	if (UNLIKELY(many_threads))
		return communicator_find(handle);
	it = near[near_slot(handle)];
	return LIKELY(it != NULL && it->handle == handle) ? it : communicator_find(handle);
}

/* Keys of the three kinds differ, whether their handles are addresses or numbers. */
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
/* Made by some of the parent's members, or with processes outside MPI_COMM_WORLD. */
void note_group_communicator(MPI_Comm parent, int tag, MPI_Comm made);
void note_meeting(struct meeting meeting, MPI_Comm made);
void note_parent(MPI_Comm parent);	/* parent of a spawned process; may be called again */
extern bool have_met;		/* another MPI_COMM_WORLD */
/* Where partitioned messages of the communicator are sent: they match only each other. */
struct communicator *partitions_of(MPI_Comm comm);
/* counts a communicator made by all members of PARENT */
struct creation next_creation(MPI_Comm parent);
void register_communicator(MPI_Comm made, struct creation creation);
void forget_communicator(struct communicator *comm);

/* ---- groups.c: numbers that identify a group of processes; all members compute the same ---- */

/* All processes, as a group that the caller frees. */
MPI_Group world_group(void);
/* The ranks of the group's members in BASE, for the caller to free; NULL: none, or no memory. */
int *ranks_in(MPI_Group group, MPI_Group base, int *size);
/* A hash of the ranks in BASE of the group's members, in order, and the first of these ranks. */
uint64_t hash_group(MPI_Group group, MPI_Group base, int *first);
/* Whether a member belongs to another MPI_COMM_WORLD. */
bool has_strangers(MPI_Group group);
int first_world_rank(MPI_Comm comm);
/*
 * Distinguishes communicators made by one call of all members of the parent. Both groups of an
 * intercommunicator get the same number.
 */
uint64_t place_in(MPI_Comm parent, MPI_Comm made);
/* What two MPI_COMM_WORLDs that meet both know. */
uint64_t port_of_name(const char *name, size_t length);	/* length of an array, or SIZE_MAX */
uint64_t port_of_root(MPI_Comm comm, int root);
uint64_t port_of_socket(int fd);

#endif
