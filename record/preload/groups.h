/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that identify a group of processes. All members compute the same. */
#ifndef GROUPS_H
#define GROUPS_H

#include "recorder.h"

/* All processes, as a group that the caller frees. */
MPI_Group world_group(void);
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

#endif
