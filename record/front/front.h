/* SPDX-License-Identifier: BSD-3-Clause */
/* What the doors (doors.c) and the one who opens them (front.c) share. */
#ifndef FRONT_H
#define FRONT_H

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

#endif
