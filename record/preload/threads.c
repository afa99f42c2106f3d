/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads that make MPI calls, and their state. */
#include <stdlib.h>
#include <unistd.h>

#include "frames.h"
#include "rows.h"

struct thread *all_threads;
static uint32_t thread_count;
__thread struct thread *self;

struct thread *
new_thread(void)
{
	struct thread *thread = zeroed(sizeof *thread);
	const uint32_t number = thread_number(gettid());

	if (thread == NULL)
		return NULL;
	pthread_mutex_lock(&table_lock);
	thread->location = thread_count++;
	thread->tid = gettid();
	thread->number = thread->location > 0 ? number : 0;
	thread->next = all_threads;
	all_threads = thread;
	pthread_mutex_unlock(&table_lock);
	thread->block.open = &no_block;
	if (thread->location > 0)	/* the first one's is written with the row of MPI_Init */
		rows_begin(thread);
	return self = thread;
}

/*
 * An error handler or another callback may leave its call by longjmp. A call within a call is below
 * it on the thread's stack; if it is not, the thread has jumped. If the frame is on another stack
 * (of a signal handler, or the program's own), nothing is known.
 */
bool
call_was_left(struct thread *thread, const void *frame)
{
	const uintptr_t at = (uintptr_t)frame;

	if (thread->within == sample_mark) {
		sample_enter(thread);
		return true;
	}
	if (at < (uintptr_t)thread->within)
		return false;
	if (thread->stack == 0 && !find_stack(&thread->stack, &thread->stack_end))
		return false;
	return at > thread->stack && at <= thread->stack_end;
}

struct thread *
thread_of(pid_t tid)
{
	struct thread *thread;

	pthread_mutex_lock(&table_lock);
	/* the last one first */
	for (thread = all_threads; thread != NULL && thread->tid != tid; )
		thread = thread->next;
	pthread_mutex_unlock(&table_lock);
	return thread;
}

void *
zeroed(size_t size)
{
	void *storage = calloc(1, size);

	if (storage == NULL)
		out_of_memory();
	return storage;
}

void *
room_for(void *storage, size_t *capacity, size_t wanted, size_t size)
{
	size_t larger = 2 * *capacity;
	void *more;

	if (wanted <= *capacity && storage != NULL)
		return storage;
	if (larger < wanted || larger < 16)
		larger = wanted < 16 ? 16 : wanted;
	if ((more = realloc(storage, larger * size)) == NULL)
		out_of_memory();
	else
		*capacity = larger;
	return more;
}

void *
own_storage(struct storage *storage, int count, size_t size)
{
	void *own = room_for(storage->at, &storage->capacity, count < 0 ? 0 : (size_t)count, size);

	if (own != NULL)	/* else the thread keeps its old storage */
		storage->at = own;
	return own;
}
