/* SPDX-License-Identifier: BSD-3-Clause */
/* A process beside the run that does what its ranks need not do themselves: see ahead.c. */
#ifndef AHEAD_H
#define AHEAD_H

#include <stdbool.h>

/*
 * For the traces of the folder, or of that rank alone; NULL: of all. The folder is one of which follow_can()
 * is true: what one process makes ready others find ready. False: there is no such process.
 */
bool ahead_start(const char *folder, const char *rank);
/* The run has ended: waits until all full blocks have their hashes. */
void ahead_stop(void);
/* For a signal handler: ahead_stop() waits no longer, and what has no hash stays so. */
void ahead_interrupt(void);

#endif
