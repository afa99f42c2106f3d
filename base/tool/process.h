/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts about a process of this host from /proc. */
#ifndef PROCESS_H
#define PROCESS_H

#include <stddef.h>
#include <stdint.h>

/* The first bytes of a file of the process; "" if it has none. */
void process_read(int64_t pid, const char *name, char *to, size_t size);
/* R, S, D, T, ... as in proc(5); 0: there is no such process, or it is a zombie. */
char process_state(int64_t pid);

#endif
