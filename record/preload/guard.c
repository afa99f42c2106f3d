/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SIGBUS from a mapping of the trace. When the file is cut, or the disk cannot give a page of it,
 * the kernel sends that signal at the next store: the handler puts plain memory in the place of the
 * mapping, the store is done again, and recording ends.
 *
 * The program's own handling of the signal stays what the program believes it to be: what it sets
 * is kept here and done for every SIGBUS that is not ours, and what it asks for is answered from
 * here. Where it ignores the signal, or blocks it in the thread, the kernel ends the process all
 * the same.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../front/front.h"
#include "file.h"
#include "recorder.h"

struct guarded {
	unsigned char *_Atomic map;	/* NULL: not in use */
	_Atomic size_t size;
	struct guarded *next;
};

/* The handler may walk the list at any time: entries are used again, never freed. */
static struct guarded *_Atomic all;
static struct sigaction theirs;		/* what the program has set */

struct guarded *
guard_add(void *map, size_t size)
{
	struct guarded *it = all;

	while (it != NULL && it->map != NULL)
		it = it->next;
	if (it == NULL) {
		if ((it = malloc(sizeof *it)) == NULL)
			return NULL;
		it->map = NULL;
		it->next = all;
		all = it;
	}
	it->size = size;
	it->map = map;
	return it;
}

void
guard_remove(struct guarded *guarded)
{
	guarded->map = NULL;
}

static bool
replace_mapping(const unsigned char *address)
{
	for (struct guarded *it = all; it != NULL; it = it->next) {
		unsigned char *map = it->map;

		if (map == NULL || address < map || address >= map + it->size)
			continue;
		if (mmap(map, it->size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			return false;
		give_up(raw.now->path, "the file was cut, or its disk has failed");
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
			/* held back until this returns; a fault comes again */
			raise(number);
	} else if (action.sa_handler == SIG_IGN)
		return;
	else if ((action.sa_flags & SA_SIGINFO) != 0)
		action.sa_sigaction(number, info, context);
	else
		action.sa_handler(number);
}

/* Sets what the program wants, with on_fault in the place of its handler. */
static int
set_action(const struct sigaction *wanted)
{
	struct sigaction mine = *wanted;

	if (wanted->sa_handler == SIG_IGN)	/* to be inherited by what the program executes */
		return __sigaction(SIGBUS, wanted, NULL);
	mine.sa_flags = (wanted->sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO;
	mine.sa_sigaction = on_fault;
	return __sigaction(SIGBUS, &mine, NULL);
}

/* What the program sets and asks for. */
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
