/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts about a process of this host from /proc. */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The first bytes of a file of the process, terminated; returns how many, 0 if it has none. */
size_t process_read(int64_t pid, const char *name, char *to, size_t size);
/* R, S, D, T, ... as in proc(5); 0: there is no such process, or it is a zombie. */
char process_state(int64_t pid);

/*
 * The memory that this process may have, in bytes: of the machine, or what limits its address space
 * or its control groups, such as those of a batch job.
 */
uint64_t process_memory(void);

int64_t now_ns(void);			/* CLOCK_MONOTONIC */

/* As fork(), of a process that is killed when this one ends. */
pid_t fork_bound(void);
/* Signals typed at a terminal are for the program beside. */
void ignore_signals(void);

/* Libraries that a command preloads into the program it starts. */

/*
 * Finds liblongpole-NAME.so, relative to this command: in ../lib/longpole if it is installed,
 * else in ../lib. Dies if there is none.
 */
void preload_find(const char *name, char *path, size_t size);
/* Adds it to LD_PRELOAD, before the present value or after it. */
void preload_add(const char *library, bool in_front);

/* Runs another longpole tool: the one beside this program, else the one in PATH. */

/* Executes it in place of this process; WORDS as argv. */
_Noreturn void become_tool(char *const *words);
/* Starts it; *FROM reads its standard output. */
pid_t start_tool(char *const *words, int *from);
/* Did it end with status 0? It has printed its own errors. */
bool ended_well(pid_t child);

#endif
