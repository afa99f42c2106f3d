/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Merging as the last step of the job: on each node one process waits until the ranks there have ended, and runs
 * lp-merge on their traces, which meets those of the other nodes beside the shards. No MPI: the program has
 * used the launcher's.
 */
#ifndef GATHER_H
#define GATHER_H

#include <stdbool.h>

/* SHARDS are to be made of the raw traces in FOLDER. Before the program starts; dies where they cannot be. */
void gather_begin(const char *shards, const char *folder);
/*
 * The program has ended. Returns when the shards are there: DONE; or TROUBLE, and somebody has said why. Where it
 * FAILED returns at once: the launcher is to know, and ends the others; what is there is gathered all the same.
 */
int gather_end(bool failed);

#endif
