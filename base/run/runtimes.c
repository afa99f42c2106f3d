/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtimes.h"

#include <fnmatch.h>

#include "../tool/text.h"

/*
 * A line for each runtime and function, as patterns of fnmatch(3); NO_NAME: any function without a
 * name. Distributions strip runtimes, and only functions that programs call keep their names. A
 * function missing here, such as GOMP_loop_dynamic_next, does not wait in its own code.
 */
#define NO_NAME NULL
static const struct {
	const char *module, *function;
} waiting_functions[] = {
	/* GCC; statically linked, it is in the program's own module */
	{ "libgomp[.-]*", NO_NAME },
	{ "*", "gomp_barrier_wait*" },
	{ "*", "gomp_team_barrier_wait*" },
	{ "*", "gomp_simple_barrier_wait*" },
	{ "*", "gomp_sem_wait*" },
	{ "*", "gomp_mutex_lock_slow" },
	{ "*", "gomp_ptrlock_get_slow" },
	{ "*", "gomp_ordered_sync" },
	{ "*", "gomp_thread_start" },
	{ "libgomp[.-]*", "do_spin" },
	{ "libgomp[.-]*", "do_wait" },
	{ "libgomp[.-]*", "futex_wait" },
	{ "libgomp[.-]*", "cpu_relax" },
	{ "libgomp[.-]*", "GOMP_barrier*" },
	{ "libgomp[.-]*", "GOMP_doacross_*wait" },
	{ "libgomp[.-]*", "GOMP_loop_end" },
	{ "libgomp[.-]*", "GOMP_sections_end" },
	/* clang's libomp, and libiomp5 of Intel, which has the same functions */
	{ "libomp[.5-]*", NO_NAME },
	{ "libiomp5*", NO_NAME },
	{ "*", "__kmp_*barrier*" },
	{ "*", "__kmp_wait_*" },
	{ "*", "__kmp_*suspend*" },
	{ "*", "*kmp_flag_*" },
	{ "*", "__kmp_x86_pause" },
	{ "*", "__kmp_yield*" },
	{ "*", "__kmp_acquire_*lock*" },
	{ "*", "__kmpc_barrier*" },
	/* TBB */
	{ "libtbb.so*", NO_NAME },
	{ "*", "tbb::*wait*" },
	{ "*", "tbb::*pause*" },
	{ "*", "tbb::*steal_task*" },
	{ "*", "tbb::*private_worker::run*" },
};

static bool
is_like(const char *pattern, const char *name)
{
	return pattern == NULL || name == NULL ? pattern == name : fnmatch(pattern, name, 0) == 0;
}

/* The function itself, or one into which it is inlined. */
static bool
is_within(const struct site *site, const char *pattern)
{
	if (is_like(pattern, site->function))
		return true;
	for (size_t i = 0; pattern != NO_NAME && i < site->inlined_count; i++)
		if (is_like(pattern, site->inlined[i].function))
			return true;
	return false;
}

enum waiting
waiting_at(const struct definitions *known, uint32_t site)
{
	const struct site *s = site > 0 && site < known->site_count ? &known->sites[site] : NULL;
	const char *module = s != NULL && s->module < known->module_count ?
	    known->modules[s->module] : NULL;

	if (module == NULL)
		return NOT_WAITING;
	module = file_name(module);
	for (size_t i = 0; i < sizeof waiting_functions / sizeof waiting_functions[0]; i++)
		if (is_like(waiting_functions[i].module, module) &&
		    is_within(s, waiting_functions[i].function))
			return s->function == NULL ? WAITING_BY_MODULE : WAITING_BY_FUNCTION;
	return NOT_WAITING;
}
