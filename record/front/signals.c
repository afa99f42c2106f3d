/* SPDX-License-Identifier: BSD-3-Clause */
#include "front.h"

EXPORT int (*_Atomic longpole_bus_action)(const struct sigaction *, struct sigaction *);

EXPORT int
sigaction(int number, const struct sigaction *restrict new, struct sigaction *restrict old)
{
	int (*action)(const struct sigaction *, struct sigaction *) = longpole_bus_action;

	return number == SIGBUS && action != NULL ? action(new, old) :
	    __sigaction(number, new, old);
}

EXPORT __sighandler_t
signal(int number, __sighandler_t handler)
{
	struct sigaction new = { .sa_handler = handler, .sa_flags = SA_RESTART }, old;

	if (number != SIGBUS || longpole_bus_action == NULL)
		return ssignal(number, handler);	/* an alias of signal() */
	sigaddset(&new.sa_mask, SIGBUS);
	return sigaction(number, &new, &old) == 0 ? old.sa_handler : SIG_ERR;
}
