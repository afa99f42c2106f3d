/* SPDX-License-Identifier: BSD-3-Clause */
/* Call sites: return addresses get numbers. */
#ifndef SITES_H
#define SITES_H

#include "recorder.h"

/* Return addresses get numbers from 1; 0 if there are too many. */
struct site { const void *address; uint32_t number; };
struct site_table {
	unsigned shift;		/* 64 minus log2 of the size */
	size_t mask;		/* size - 1 */
	struct site slots[];
};
/* old tables are kept for their readers */
SHARED struct site_table *_Atomic sites;
/* CALL is the function called there, 0 for a frame further up. */
SELDOM uint32_t plain_site(const void *address, uint16_t call);
/* with its callers: options.stack */
SELDOM uint32_t stack_site(const void *address, uint16_t call);
/* returns 0 for 0 frames */
uint32_t frames_site(const void *const *frames, int depth, uint16_t call);
void modules_append(void);		/* reports modules loaded since the last time */
/* The code of the reported module; 0 bytes: it is in none. */
struct code { uint64_t from, bytes; };
struct code code_around(const void *address);
/* python.c: the places in Python of a call that its binding to MPI makes. Returns their number. */
int python_places(const void *address, uint16_t call, const void **places, int most);
void python_start(const void *from);	/* in MPI_Init, which is called from there */
/* Reports a function as a module, in which offset >> 16 is the line; the table is locked. */
void function_append(uint64_t base, uint64_t bytes, const char *file, const char *name);

ALWAYS size_t
site_slot(const struct site_table *table, const void *address)
{
	return (size_t)(((uintptr_t)address * 0x9e3779b97f4a7c15u) >> table->shift);
}

ALWAYS uint32_t
site_number(const void *address, uint16_t call)
{
	const struct site_table *table = __atomic_load_n(&sites, __ATOMIC_ACQUIRE);
	const struct site *site = &table->slots[site_slot(table, address)];

	if (UNLIKELY(options.any_stack))
		return stack_site(address, call);
	return LIKELY(__atomic_load_n(&site->address, __ATOMIC_ACQUIRE) == address) ? site->number :
	    plain_site(address, call);
}

#endif
