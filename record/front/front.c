/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library that lp-record preloads. It is linked to no MPI. At the first call of an MPI function
 * it finds the MPI that this process has loaded, at start or by dlopen(), and loads the recorder of
 * that MPI from its own folder. dlsym() returns these doors to programs that ask for MPI functions.
 * The library of lp-mend is built from the same files with other names (Makefile), without dlsym().
 *
 * Before that call it does nothing and opens nothing.
 */
#include "front.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../base/mpi/launchers.h"

#ifndef FRONT
#define FRONT "record"			/* prefix of libraries: liblongpole-record.*.so */
#define FRONT_SETTING "LONGPOLE_DIR"	/* if the environment lacks it, there is nothing to do */
#define FRONT_PART "recorder"
#define FRONT_LOSS "nothing is recorded"
#else
#undef EXPORT
#define EXPORT
#endif

void *system_dlsym;

/* Identified by the prefix of the library's file name. */
static const struct mpi {
	const char *library, *name, *title, *package;
} mpis[] = {
	{ "libmpi_abi", "abi", "the standard ABI of MPI 5.0", NULL },
	{ "libmpi.so.40", "openmpi", "Open MPI", "libopenmpi-dev" },
	{ "libmpich.so.", "mpich", "MPICH", "libmpich-dev" },
	{ "libmpi.so.12", "mpich", "MPICH", "libmpich-dev" },
};

struct found {
	const struct mpi *mpi;
	char path[4096];
};

/* The first one: a library of the standard ABI may have loaded the MPI that does its work. */
static int
look_at(struct dl_phdr_info *info, size_t size, void *context)
{
	struct found *found = context;
	const char *base = basename(info->dlpi_name);

	(void)size;
	for (size_t i = 0; i < sizeof mpis / sizeof mpis[0]; i++)
		if (strncmp(base, mpis[i].library, strlen(mpis[i].library)) == 0) {
			found->mpi = &mpis[i];
			snprintf(found->path, sizeof found->path, "%s", info->dlpi_name);
			return 1;
		}
	return 0;
}

static void *
ask_system(void *handle, const char *name)
{
	void *(*ask)(void *, const char *) = NULL;

	if (system_dlsym == NULL) {
		void *found = libc_function("dlsym");

		if (found == NULL)
			abort();
		__atomic_store_n(&system_dlsym, found, __ATOMIC_RELEASE);
	}
	*(void **)&ask = system_dlsym;
	return ask(handle, name);
}

/* Searches all loaded objects behind this library. */
struct search {
	const char *name;
	void *address;
	const void *own_base;
};

static int
search_in(struct dl_phdr_info *info, size_t size, void *context)
{
	struct search *search = context;
	void *handle, *address;
	Dl_info of;

	(void)size;
	if (info->dlpi_name[0] == '\0' ||
	    (handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD)) == NULL)
		return 0;
	address = ask_system(handle, search->name);
	close_library(handle);
	if (address == NULL || dladdr(address, &of) == 0 || of.dli_fbase == search->own_base ||
	    strstr(of.dli_fname, "/liblongpole-" FRONT ".") != NULL)
		return 0;
	search->address = address;
	return 1;
}

/* For recorders, which cannot use RTLD_NEXT because they are not in the search order. */
EXPORT void *longpole_next(const char *name);
void *
longpole_next(const char *name)
{
	struct search search = { name, NULL, NULL };
	Dl_info own;

	if (dladdr(doors, &own) != 0)
		search.own_base = own.dli_fbase;
	dl_iterate_phdr(search_in, &search);
	return search.address;
}

static void
say(const char *line)
{
	const struct launcher *launcher = launcher_that_tells(true);
	const char *rank = launcher != NULL ? getenv(launcher->rank) : NULL;

	if ((rank == NULL || strcmp(rank, "0") == 0) &&
	    write(STDERR_FILENO, line, strlen(line)) < 0)
		return;
}

/* Returns NULL, with a message, if there is none. */
static void *
open_recorder(const struct mpi *mpi)
{
	char path[4096 + 64], line[4096 + 400];
	void *recorder;
	Dl_info own;
	char *slash;

	if (getenv(FRONT_SETTING) == NULL || dladdr(doors, &own) == 0)
		return NULL;
	snprintf(path, sizeof path - 60, "%s", own.dli_fname);
	slash = strrchr(path, '/');
	snprintf(slash != NULL ? slash + 1 : path, 60, "liblongpole-" FRONT ".%s.so", mpi->name);
	if ((recorder = dlopen(path, RTLD_NOW | RTLD_LOCAL)) != NULL)
		return recorder;
	if (access(path, F_OK) != 0 && mpi->package == NULL)
		snprintf(line, sizeof line, "lp-" FRONT ": the program has %s, and there is no "
		    "%s: " FRONT_LOSS "\n", mpi->title, path);
	else if (access(path, F_OK) != 0)
		snprintf(line, sizeof line, "lp-" FRONT ": the program has %s, whose "
		    FRONT_PART " is not built: install %s and type make lib/liblongpole-"
		    FRONT ".%s.so all\n", mpi->title, mpi->package, mpi->name);
	else
		snprintf(line, sizeof line, "lp-" FRONT ": %s; " FRONT_LOSS "\n", dlerror());
	say(line);
	return NULL;
}

static void *recorder, *own_mpi;	/* NULL: there is none */

static void
find_recorder(void)
{
	struct found found = { NULL, "" };

	dl_iterate_phdr(look_at, &found);
	if (found.mpi == NULL)
		return;
	recorder = open_recorder(found.mpi);
	own_mpi = dlopen(found.path, RTLD_LAZY | RTLD_NOLOAD);
	if (recorder != NULL) {
		/* The recorder may want to know the MPI library behind it. */
		void (*tell)(void *) = NULL;

		*(void **)&tell = ask_system(recorder, "longpole_begin");
		if (tell != NULL)
			tell(own_mpi);
	}
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

void
front_seek(void)
{
	struct found found = { NULL, "" };

	dl_iterate_phdr(look_at, &found);
	if (found.mpi != NULL)
		pthread_once(&once, find_recorder);
}

/*
 * Only at the call: a program uses few of some 1600 names, and a library of another MPI may own
 * one.
 */
void
front_open(size_t door)
{
	const char *name = door_names[door];
	void *to = NULL;

	pthread_once(&once, find_recorder);
	if (recorder != NULL)
		to = ask_system(recorder, name);
	if (to == NULL && own_mpi != NULL)
		to = ask_system(own_mpi, name);
	if (to == NULL && (to = longpole_next(name)) == NULL) {
		say("lp-" FRONT ": a function of MPI is called that no loaded library has\n");
		abort();
	}
	__atomic_store_n(&doors[door], to, __ATOMIC_RELEASE);
}

static int
by_name(const void *name, const void *other)
{
	return strcmp(name, *(const char *const *)other);
}

struct answer
front_dlsym(void *handle, const char *name)
{
	static const struct answer ask = { NULL, NULL };
	struct found found = { NULL, "" };
	const char *const *known;
	void *address, *there;
	Dl_info of, own;

	if (system_dlsym == NULL)
		ask_system(RTLD_DEFAULT, "dlsym");
	if (handle == RTLD_NEXT || (recorder != NULL && handle == recorder) || name == NULL)
		return ask;
	if (strncmp(name, "MPI_", 4) != 0 && strncmp(name, "MPIX_", 5) != 0 &&
	    strncmp(name, "mpi_", 4) != 0)
		return ask;
	known = bsearch(name, door_names, door_count, sizeof *door_names, by_name);
	if (known == NULL)
		return ask;
	dl_iterate_phdr(look_at, &found);
	if (handle == RTLD_DEFAULT)	/* the program checks whether it has MPI */
		return found.mpi != NULL && longpole_next(name) != NULL ? ask :
		    (struct answer){ &doors, NULL };
	there = ask_system(handle, name);
	/* a library of the standard ABI may lack PMPI_Init */
	address = found.mpi == NULL ? NULL :
	    ask_system(handle, found.mpi == mpis ? "MPI_Init" : "PMPI_Init");
	/* If a library has its own function of that name, it is not MPI's. */
	if (there == NULL || address == NULL || dladdr(there, &of) == 0 ||
	    dladdr(doors, &own) == 0 || of.dli_fbase == own.dli_fbase ||
	    strncmp(basename(of.dli_fname), "libmpi", 6) != 0)
		return (struct answer){ &doors, there };
	*(void **)&address = ask_system(RTLD_DEFAULT, name);
	return (struct answer){ &doors, address };
}
