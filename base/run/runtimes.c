/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampled_place.h"

#include <fnmatch.h>
#include <string.h>

#include "../tool/text.h"

/*
 * A line for each runtime and function, as patterns of fnmatch(3); NO_NAME: any function without a
 * name. Distributions strip runtimes, and only functions that programs call keep their names. A
 * function missing here, such as GOMP_loop_dynamic_next, does not wait in its own code.
 */
#define NO_NAME NULL
#define C_LIBRARY "c"
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
	/* std::barrier, atomics and semaphores of GNU's C++ library, and of LLVM's */
	{ "*", "*std::__detail::__platform_wait*" },
	{ "*", "*std::__detail::__waiter*" },
	{ "*", "*std::__atomic_wait_address*" },
	{ "*", "*__libcpp_*wait*" },
	{ "*", "*__libcpp_thread_poll_with_backoff*" },
	/* the C library: threads wait here for each other, for nothing else */
	{ C_LIBRARY, "*futex_wait*" },
	{ C_LIBRARY, "__futex_abstimed_wait_*" },
	{ C_LIBRARY, "*lll_lock_wait*" },
	{ C_LIBRARY, "*pthread_barrier_wait*" },
	{ C_LIBRARY, "*pthread_cond_wait*" },
	{ C_LIBRARY, "*pthread_join*" },
	{ C_LIBRARY, "*pthread_clockjoin*" },
	{ C_LIBRARY, "*pthread_spin_lock*" },
	{ C_LIBRARY, "*sched_yield" },
	{ C_LIBRARY, "*sem_wait*" },
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

static bool
is_c_library(const char *module)
{
	return is_like("libc[.-]*", module) || is_like("libpthread[.-]*", module);
}

/* Is it a place in the C library? */
static bool
is_in_c(const struct definitions *known, uint32_t site)
{
	const char *module = site_module(known, site);

	return module != NULL && is_c_library(file_name(module));
}

enum waiting
waiting_at(const struct definitions *known, uint32_t site)
{
	const char *path = site_module(known, site), *module = file_name(path);
	const struct site *s = defined_site(known, site);

	if (path == NULL)
		return NOT_WAITING;
	for (size_t i = 0; i < sizeof waiting_functions / sizeof waiting_functions[0]; i++) {
		const bool in_c = strcmp(waiting_functions[i].module, C_LIBRARY) == 0;

		if ((in_c ? is_c_library(module) : is_like(waiting_functions[i].module, module)) &&
		    is_within(s, waiting_functions[i].function))
			return s->function == NULL ? WAITING_BY_MODULE : in_c ?
			    WAITING_IN_C_LIBRARY : WAITING_BY_FUNCTION;
	}
	return NOT_WAITING;
}

bool
is_system_call(const struct definitions *known, uint32_t site)
{
	return is_in_c(known, site) && (is_within(&known->sites[site], "syscall") ||
	    is_within(&known->sites[site], "*syscall_cancel*"));
}

/* A stripped C library has no names for its routines for system calls that may be cancelled. */
static bool
is_nameless(const struct definitions *known, uint32_t site)
{
	return is_in_c(known, site) && known->sites[site].function == NULL;
}

enum waiting
waiting_below(const struct definitions *known, uint32_t site, uint32_t callers)
{
	const struct site *stack = defined_site(known, callers);

	if (stack == NULL || !(is_system_call(known, site) || is_nameless(known, site)))
		return NOT_WAITING;
	for (uint32_t i = 0; i < (stack->stack != NULL ? stack->depth : 1); i++) {
		const uint32_t caller = stack->stack != NULL ? stack->stack[i] : callers;

		if (site_module(known, caller) != NULL && !is_system_call(known, caller) &&
		    !is_nameless(known, caller))
			return waiting_at(known, caller);
	}
	return NOT_WAITING;
}

bool
may_wait_below(const struct definitions *known, uint32_t site, uint32_t callers)
{
	return is_system_call(known, site) || (callers == 0 && is_nameless(known, site));
}
