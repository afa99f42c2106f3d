/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions by which a program names its regions (longpole.h), and the Fortran module's. A
 * region may begin before the first call of MPI, which loads the recorder, so it does that as well.
 */
#include "regions.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT struct region_hooks longpole_regions;

/* A recorder that is preloaded alone has no front. */
extern void front_seek(void) __attribute__((weak));

static void
seek(void)
{
	if (front_seek != NULL)
		front_seek();
}

EXPORT void
longpole_region_begin(const char *name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (longpole_regions.begin == NULL)
		pthread_once(&once, seek);
	if (longpole_regions.begin != NULL)
		longpole_regions.begin(name);
}

bool
regions_are_own(void)
{
	const char *options = getenv("LONGPOLE_OPTIONS");

	return options == NULL || strstr(options, "own_regions=1") != NULL;
}

EXPORT void
longpole_region_end(const char *name)
{
	if (longpole_regions.end != NULL)
		longpole_regions.end(name);
}
