/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUN_UNENDED_H
#define RUN_UNENDED_H

#include "definitions.h"

/*
 * Makes a message of kind unended a part of the headline: "killed at 12.3 s: ranks 0-2 were in
 * MPI_Recv at exchange (a.c:12) since 0.4 s, rank 3 computed since 0.4 s". 1 or -1.
 */
int unended_take(struct definitions *definitions, struct reader *in, const struct message *message);

#endif
