/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * longpole_begin("solver") and longpole_end("solver") name a part of a program for lp-record.
 * Without lp-record they do nothing. They look for it by dlsym(), since a weak symbol is no
 * function of a preloaded library in a program that is not position-independent.
 */
#ifndef LONGPOLE_H
#define LONGPOLE_H
#include <dlfcn.h>

static inline void
longpole_call_(const char *function, void (**found)(const char *), int *looked, const char *name)
{
	if (!*looked)
		*(void **)found = dlsym((void *)0, function);
	*looked = 1;
	if (*found)
		(*found)(name);
}
#define LONGPOLE_FUNCTION_(which) \
	static inline void longpole_##which(const char *name) \
	{ \
		static void (*found)(const char *); \
		static int looked; \
		longpole_call_("longpole_region_" #which, &found, &looked, name); \
	}
LONGPOLE_FUNCTION_(begin)
LONGPOLE_FUNCTION_(end)
#endif
