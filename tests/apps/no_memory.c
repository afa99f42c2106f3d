/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * To be preloaded: allocation number FAIL of the recorder and all later ones fail. At the end the
 * number of allocations goes into the file SEEN.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static long allocations, first = -1;

static int
fails(const void *caller)
{
	static __thread int within;
	Dl_info info;
	int ours;

	if (within || first < 0)
		return 0;
	within = 1;
	ours = dladdr(caller, &info) != 0 && strstr(info.dli_fname, "liblongpole-record") != NULL;
	within = 0;
	if (!ours || ++allocations < first)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *
malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *
calloc(size_t count, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *
realloc(void *old, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

__attribute__((constructor)) static void
begin(void)
{
	if (getenv("FAIL") != NULL)
		first = atol(getenv("FAIL"));
}

__attribute__((destructor)) static void
end(void)
{
	FILE *file = allocations > 0 && getenv("SEEN") != NULL ? fopen(getenv("SEEN"), "w") : NULL;

	if (file != NULL) {
		fprintf(file, "%ld\n", allocations);
		fclose(file);
	}
}
