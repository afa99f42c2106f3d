/* SPDX-License-Identifier: BSD-3-Clause */
/* Another tool of ours as a process: the one beside this program, else the one in PATH. */
#ifndef START_H
#define START_H

#include <stdbool.h>
#include <sys/types.h>

/* Becomes it; WORDS as argv. */
_Noreturn void become_tool(char *const *words);
/* Starts it; *FROM is where its standard output comes. */
pid_t start_tool(char *const *words, int *from);
/* Has it ended well? What it has to say it has said. */
bool ended_well(pid_t child);

#endif
