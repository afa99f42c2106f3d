/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUN_UNENDED_H
#define RUN_UNENDED_H

#include "definitions.h"

/*
 * Takes a message of kind unended: a part of the headline, "killed at 12.3 s: deadlock: 0 waits in
 * MPI_Ssend to 1 ...", and what open calls wait for. 1 or -1.
 */
int unended_take(struct definitions *definitions, struct reader *in, const struct message *message);

#endif
