/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions by which a program names its regions: those of longpole.h and of the Fortran
 * module, and those of libraries that name regions of their callers: LIKWID's marker API, PETSc's
 * stages, and Caliper's regions and phases. Programs that are linked to these libraries dynamically
 * call the functions here, which call the library's own.
 */
#include "front.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"	/* programs declare them */

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

EXPORT struct region_hooks longpole_regions;

/* A recorder that is preloaded alone has no front. */
extern void front_seek(void) __attribute__((weak));

/* A region may begin before the first call of MPI, which loads the recorder: so this does, too. */
EXPORT void
longpole_region_begin(const char *name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (longpole_regions.begin == NULL && front_seek != NULL)
		pthread_once(&once, front_seek);
	if (longpole_regions.begin != NULL)
		longpole_regions.begin(name);
}

EXPORT void
longpole_region_end(const char *name)
{
	if (longpole_regions.end != NULL)
		longpole_regions.end(name);
}

/* ---- of libraries ---- */

/* lp-record was asked not to record those of other tools' interfaces. */
static bool
regions_are_own(void)
{
	const char *options = getenv("LONGPOLE_OPTIONS");

	return options == NULL || strstr(options, "own_regions=1") != NULL;
}

static void
begin(const char *name)
{
	if (!regions_are_own())
		longpole_region_begin(name);
}

static void
end(const char *name)
{
	if (!regions_are_own())
		longpole_region_end(name);
}

/* The library's own function; NONE if it is not there, and its result is then of no use. */
#define NEXT(name, none, parameters, arguments) \
	({ \
		static int (*_Atomic next) parameters; \
		int (*call) parameters = next; \
		if (call == NULL) { \
			*(void **)&call = dlsym(RTLD_NEXT, #name); \
			next = call; \
		} \
		call != NULL ? call arguments : (none); \
	})

/* A function of a name that begins a region, after its own work, or ends it, before that. */
#define BEGINS(function) \
	EXPORT int \
	function(const char *name) \
	{ \
		const int result = NEXT(function, 0, (const char *), (name)); \
		\
		begin(name); \
		return result; \
	}
#define ENDS(function) \
	EXPORT int \
	function(const char *name) \
	{ \
		end(name); \
		return NEXT(function, 0, (const char *), (name)); \
	}
BEGINS(likwid_markerStartRegion)
ENDS(likwid_markerStopRegion)
BEGINS(cali_begin_region)		/* of Caliper: void, so that no caller looks */
ENDS(cali_end_region)
BEGINS(cali_begin_phase)
ENDS(cali_end_phase)

/* ---- PETSc: stages have numbers ---- */

enum { STAGES = 256 };
static const char *_Atomic stages[STAGES] = { "Main Stage" };

EXPORT int
PetscLogStageRegister(const char *name, int *stage)
{
	const int result = NEXT(PetscLogStageRegister, 0, (const char *, int *), (name, stage));

	if (result == 0 && *stage >= 0 && *stage < STAGES && stages[*stage] == NULL)
		stages[*stage] = strdup(name);
	return result;
}

EXPORT int
PetscLogStagePush(int stage)
{
	const int result = NEXT(PetscLogStagePush, 0, (int), (stage));
	const char *name = stage >= 0 && stage < STAGES ? stages[stage] : NULL;

	begin(name != NULL ? name : "(a stage)");
	return result;
}

EXPORT int
PetscLogStagePop(void)
{
	end(NULL);
	return NEXT(PetscLogStagePop, 0, (void), ());
}
