/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the doors (doors.c) and the one who opens them (front.c) share; and what signals.c and
 * unload.c tell a recorder, which are in it, too, for where it is preloaded alone: what stands
 * first in the order of libraries is what all of them and the program call.
 */
#ifndef FRONT_H
#define FRONT_H

#include <signal.h>
#include <stddef.h>

struct answer {
	void *done;		/* NULL: ask the system, as if nobody had been in between */
	void *address;
};

extern const char *const door_names[];	/* in order of strcmp() */
extern void *doors[];			/* by name: where calls of it go */
extern const size_t door_count;
extern void *system_dlsym;		/* NULL until front_dlsym() was called */

void front_open(size_t door);	/* at the first call of each: sets its place in doors[] */
struct answer front_dlsym(void *handle, const char *name);

/*
 * A recorder that handles SIGBUS for itself gets what the program sets and asks for: as sigaction()
 * of that signal. NULL: nobody handles it.
 */
extern int (*_Atomic longpole_bus_action)(const struct sigaction *, struct sigaction *);
/* The C library's own sigaction, by a name that no other definition hides. */
int __sigaction(int number, const struct sigaction *new, struct sigaction *old);

/* In each thread that pthread_create() makes, before its own function; NULL: nobody wants to
 * know. */
extern void (*_Atomic longpole_thread_began)(void);

/* After each dlclose() of the program, as another library may come to the same addresses; NULL:
 * nobody wants to know. */
extern void (*_Atomic longpole_unloaded)(void);
int close_library(void *handle);	/* the C library's own */

#endif
