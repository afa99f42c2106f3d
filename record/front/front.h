/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interface between the doors (doors.c) and their opener (front.c), and what the other files tell a
 * recorder. A recorder contains those as well, in case it is preloaded alone: the program calls the
 * first definition in the search order.
 */
#ifndef FRONT_H
#define FRONT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct answer {
	void *done;		/* NULL: ask the system directly */
	void *address;
};

extern const char *const door_names[];	/* sorted by strcmp() */
extern void *doors[];			/* target of each name */
extern const size_t door_count;
extern void *system_dlsym;		/* NULL until front_dlsym() was called */

void front_open(size_t door);	/* at the first call of each name: sets its doors[] */
void front_seek(void);		/* loads the recorder early, if an MPI is there already */
struct answer front_dlsym(void *handle, const char *name);

/* Whether a file's name is that of a library with the standard ABI of MPI, or with its PMPI_. */
static inline bool
is_abi_library(const char *name)
{
	return strncmp(name, "libmpi_abi", 10) == 0 || strncmp(name, "libpmpi_abi", 11) == 0;
}

/*
 * Set by a recorder that handles SIGBUS: it gets the program's calls of sigaction() for that
 * signal. NULL: nobody handles it.
 */
extern int (*_Atomic longpole_bus_action)(const struct sigaction *, struct sigaction *);
/* The C library's sigaction, under a name that nothing overrides. */
int __sigaction(int number, const struct sigaction *new, struct sigaction *old);

/*
 * Called in pthread_create() with 0, and returns the time; then in the new thread with that time,
 * before its function. NULL: not wanted.
 */
extern int64_t (*_Atomic longpole_thread_begins)(int64_t created_ns);
/* Threads created since then that did not begin yet, as they lack a core. */
extern int _Atomic longpole_threads_to_begin;

/*
 * Called after each dlclose() of the program, since another library may be loaded at the same
 * addresses. NULL: not wanted.
 */
extern void (*_Atomic longpole_unloaded)(void);
/* The C library's own function of a name that this library has, too; NULL: there is none. */
void *libc_function(const char *name);
int close_library(void *handle);	/* its dlclose() */

/*
 * Regions of the calling thread, as programs call them (regions.c) or other tools' interfaces. The
 * hooks are set by a recorder when it is loaded.
 */
extern struct region_hooks {
	void (*begin)(const char *name);
	void (*end)(const char *name);	/* NULL: the innermost one */
} longpole_regions;
void longpole_region_begin(const char *name);
void longpole_region_end(const char *name);

#endif
