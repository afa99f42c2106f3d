/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SIGBUS from a mapping of the trace. If the file is truncated, or the disk cannot supply a page,
 * the kernel sends SIGBUS at the next store. The handler replaces the mapping by plain memory, the
 * store is repeated, and recording ends.
 *
 * The program sees its own handling of the signal. Its settings are kept here and applied to every
 * SIGBUS that is not ours; its queries are answered from here. If it ignores the signal, or blocks
 * it in the thread, the kernel ends the process all the same.
 */
#include <sys/mman.h>

#include "../front/front.h"
#include "file.h"

static struct sigaction theirs;		/* the program's setting */

static bool
replace_mapping(const unsigned char *address)
{
	int error;

	for (struct mapping *it = mappings; it != NULL; it = it->next) {
		unsigned char *map = it->map;

		if (map == NULL || address < map || address >= map + it->size)
			continue;
		if (mmap(map, it->size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			return false;
		/* the signal says nothing of a full disk or a quota: a wish for more room does */
		error = file_promise(raw.now->reserved + (1 << 20));
		give_up(raw.now->path, error != 0 ? strerror(error) : "a page of it is lost");
		return true;
	}
	return false;
}

static void
on_fault(int number, siginfo_t *info, void *context)
{
	struct sigaction action;

	if (info->si_code > 0 && replace_mapping(info->si_addr))
		return;
	action = theirs;
	if ((action.sa_flags & (int)SA_RESETHAND) != 0)
		theirs.sa_handler = SIG_DFL;
	if (action.sa_handler == SIG_DFL) {
		struct sigaction none = { .sa_handler = SIG_DFL };

		__sigaction(number, &none, NULL);
		if (info->si_code <= 0)
			/* pending until this returns; a fault occurs again */
			raise(number);
	} else if (action.sa_handler == SIG_IGN)
		return;
	else if ((action.sa_flags & SA_SIGINFO) != 0)
		action.sa_sigaction(number, info, context);
	else
		action.sa_handler(number);
}

/* Sets the program's action, but with on_fault as the handler. */
static int
set_action(const struct sigaction *wanted)
{
	struct sigaction mine = *wanted;

	if (wanted->sa_handler == SIG_IGN)	/* programs that it executes inherit SIG_IGN */
		return __sigaction(SIGBUS, wanted, NULL);
	mine.sa_flags = (wanted->sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO;
	mine.sa_sigaction = on_fault;
	return __sigaction(SIGBUS, &mine, NULL);
}

/* The program's sigaction() for this signal. */
static int
program_action(const struct sigaction *new, struct sigaction *old)
{
	struct sigaction before = theirs;

	if (new != NULL) {
		theirs = *new;
		if (set_action(new) != 0) {
			theirs = before;
			return -1;
		}
	}
	if (old != NULL)
		*old = before;
	return 0;
}

void
guard_begin(void)
{
	if (__sigaction(SIGBUS, NULL, &theirs) == 0 && set_action(&theirs) == 0)
		longpole_bus_action = program_action;
}

void
guard_end(void)
{
	struct sigaction now;

	if (longpole_bus_action == NULL)
		return;
	longpole_bus_action = NULL;
	if (__sigaction(SIGBUS, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
	    now.sa_sigaction == on_fault)
		__sigaction(SIGBUS, &theirs, NULL);
}
