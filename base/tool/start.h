/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs another longpole tool: the one beside this program, else the one in PATH. */
#ifndef START_H
#define START_H

#include <stdbool.h>
#include <sys/types.h>

/* Executes it in place of this process; WORDS as argv. */
_Noreturn void become_tool(char *const *words);
/* Starts it; *FROM reads its standard output. */
pid_t start_tool(char *const *words, int *from);
/* Did it end with status 0? It has printed its own errors. */
bool ended_well(pid_t child);

#endif
