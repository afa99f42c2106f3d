/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports threads to the recorder as they begin: polling would miss short ones. */
#include "front.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT void (*_Atomic longpole_thread_began)(void);

struct beginning {
	void *(*function)(void *);
	void *argument;
};

/* The last call is a jump, so this function is on no stack of the thread. */
static void *
begin(void *argument)
{
	const struct beginning beginning = *(struct beginning *)argument;
	void (*tell)(void) = longpole_thread_began;

	free(argument);
	if (tell != NULL)
		tell();
	return beginning.function(beginning.argument);
}

EXPORT int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
    void *argument)
{
	static const char *const versions[] = { "GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17" };
	static __typeof__(&pthread_create) _Atomic next;
	__typeof__(&pthread_create) call = next;
	struct beginning *beginning;
	int error;

	for (size_t i = 0; call == NULL && i < sizeof versions / sizeof versions[0]; i++)
		*(void **)&call = dlvsym(RTLD_NEXT, "pthread_create", versions[i]);
	if (call == NULL)
		return EAGAIN;
	next = call;
	if (longpole_thread_began == NULL || (beginning = malloc(sizeof *beginning)) == NULL)
		return call(thread, attributes, function, argument);
	*beginning = (struct beginning){ function, argument };
	if ((error = call(thread, attributes, begin, beginning)) != 0)
		free(beginning);
	return error;
}
