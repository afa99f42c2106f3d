/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of a library of MPI's standard ABI, of which one recorder serves all. It is linked
 * to none: its PMPI_ functions are doors (front/doors.c), and here each finds its address when it
 * is first called. The library may lack them, or have them in a second one; then the recorder calls
 * the MPI_ function itself. The library may in turn have loaded an MPI with an ABI of its own,
 * whose functions have the same names.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../front/front.h"

void longpole_begin(void *mpi);
/* The front's, if it loaded this recorder: to the system, the front's functions are the next. */
void *longpole_next(const char *name) __attribute__((weak));

static void *library;		/* as the front found it; NULL: this recorder is preloaded alone */

__attribute__((visibility("default"))) void
longpole_begin(void *mpi)
{
	library = mpi;
}

static bool
is_of_abi(const void *address)
{
	Dl_info of;

	return address != NULL && dladdr(address, &of) != 0 &&
	    is_abi_library(basename(of.dli_fname));
}

void
front_open(size_t door)
{
	const char *name = door_names[door], *plain = name + 1;
	void *to = dlsym(library != NULL ? library : RTLD_NEXT, name);
	char line[200];

	if (!is_of_abi(to))
		to = dlsym(RTLD_DEFAULT, name);
	if (!is_of_abi(to))
		to = longpole_next != NULL ? longpole_next(plain) : dlsym(RTLD_NEXT, plain);
	if (!is_of_abi(to)) {
		snprintf(line, sizeof line, "lp-record: the MPI library has no %s\n", plain);
		if (write(STDERR_FILENO, line, strlen(line)) > 0)
			abort();
		abort();
	}
	__atomic_store_n(&doors[door], to, __ATOMIC_RELEASE);
}
