/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports threads to the recorder as they begin: polling would miss short ones. */
#include "front.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

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
