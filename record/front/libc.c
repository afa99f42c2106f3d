/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the C library that a recorder must know of: threads as they begin, since polling
 * would miss short ones, and the program's handling of SIGBUS.
 */
#include "front.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

/* ---- threads ---- */

EXPORT int64_t (*_Atomic longpole_thread_begins)(int64_t created_ns);
EXPORT int _Atomic longpole_threads_to_begin;

struct beginning {
	void *(*function)(void *);
	void *argument;
	int64_t created_ns;
};

/* The last call is a jump, so this function is on no stack of the thread. */
static void *
begin(void *argument)
{
	const struct beginning beginning = *(struct beginning *)argument;
	int64_t (*tell)(int64_t) = longpole_thread_begins;
	int cancels;

	free(argument);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancels);
	if (tell != NULL)
		tell(beginning.created_ns);
	longpole_threads_to_begin--;
	pthread_setcancelstate(cancels, NULL);
	return beginning.function(beginning.argument);
}

EXPORT int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
    void *argument)
{
	static __typeof__(&pthread_create) _Atomic next;
	__typeof__(&pthread_create) call = next;
	int64_t (*tell)(int64_t) = longpole_thread_begins;
	struct beginning *beginning;
	int error;

	if (call == NULL && (*(void **)&call = libc_function("pthread_create")) == NULL)
		return EAGAIN;
	next = call;
	if (tell == NULL || (beginning = malloc(sizeof *beginning)) == NULL)
		return call(thread, attributes, function, argument);
	*beginning = (struct beginning){ function, argument, tell(0) };
	longpole_threads_to_begin++;
	if ((error = call(thread, attributes, begin, beginning)) != 0) {
		longpole_threads_to_begin--;
		free(beginning);
	}
	return error;
}

/* ---- SIGBUS ---- */

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
