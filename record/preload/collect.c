/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrappers read the kernel's rings, but a program may compute for seconds without a call. A thread
 * of the recorder's own sleeps until the kernel says that a ring is half full, and reads them then.
 */
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "sample.h"

enum { COLLECTOR_STACK = 1 << 18 };

static pthread_t collector;
static bool running;
static pid_t _Atomic collector_tid;	/* 0: it has not begun */
static int rings_fd = -1, end_fd = -1;

static void *
collect(void *unused)
{
	struct epoll_event event = { 0 };

	collector_tid = gettid();
	while (event.data.fd != end_fd)
		if (epoll_wait(rings_fd, &event, 1, -1) == 1 && event.data.fd != end_fd &&
		    (event.events & EPOLLIN) != 0)	/* more than the end of a thread */
			sample_collect();
	return unused;
}

void
collect_begin(void)
{
	struct epoll_event event = { .events = EPOLLIN };

	rings_fd = epoll_create1(EPOLL_CLOEXEC);
	end_fd = event.data.fd = eventfd(0, EFD_CLOEXEC);
	epoll_ctl(rings_fd, EPOLL_CTL_ADD, end_fd, &event);
}

void
collect_from(const struct buffer *buffer)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.fd = buffer->fd };

	epoll_ctl(rings_fd, EPOLL_CTL_ADD, buffer->fd, &event);
}

/* Without the thread, what does not fit into the rings between two calls is lost, and counted. */
void
collect_start(void)
{
	pthread_attr_t attributes;
	sigset_t all, old;

	if (rings_fd < 0 || end_fd < 0 || pthread_attr_init(&attributes) != 0)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_setstacksize(&attributes, COLLECTOR_STACK);
	running = pthread_create(&collector, &attributes, collect, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attributes);
}

bool
is_collector(pid_t tid)
{
	return running && (collector_tid == tid || collector_tid == 0);
}

void
collect_end(void)
{
	if (running && eventfd_write(end_fd, 1) == 0)
		pthread_join(collector, NULL);
	close(rings_fd);
	close(end_fd);
	collect_forget();
}

void
collect_forget(void)
{
	running = false;
	rings_fd = end_fd = -1;
	collector_tid = 0;
}
