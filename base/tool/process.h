/* SPDX-License-Identifier: BSD-3-Clause */
/* What /proc says of a process of this host. */
#ifndef PROCESS_H
#define PROCESS_H

#include <stddef.h>
#include <stdint.h>

/* The first bytes of a file of the process; "" where there are none. */
void process_read(int64_t pid, const char *name, char *to, size_t size);
/* R, S, D, T, ... as in proc(5); 0: there is none, or it is dead and nobody has looked at its
 * status yet. */
char process_state(int64_t pid);

#endif
