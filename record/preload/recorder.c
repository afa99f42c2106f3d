/* SPDX-License-Identifier: BSD-3-Clause */
/* When recording begins and ends, and what every recorded call passes through. */
#include "recorder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool recording;
bool many_threads;
pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

static pid_t recorded_pid;	/* a forked child is another process: it must not write */
static struct thread *threads;
static uint32_t thread_count;
static __thread struct thread *self __attribute__((tls_model("initial-exec")));

static struct thread *
this_thread(void)
{
	struct thread *thread = self;

	if (thread != NULL)
		return thread;
	if ((thread = calloc(1, sizeof *thread)) == NULL)
		return NULL;
	pthread_mutex_lock(&table_lock);
	thread->location = thread_count++;
	thread->next = threads;
	threads = thread;
	pthread_mutex_unlock(&table_lock);
	self = thread;
	return thread;
}

bool
enter_call(struct at *at, uint16_t call, const void *from)
{
	if (!__atomic_load_n(&recording, __ATOMIC_ACQUIRE))
		return false;
	at->thread = this_thread();
	if (at->thread == NULL || at->thread->depth > 0)
		return false;		/* the library calls itself: not a call of the program */
	at->thread->depth = 1;
	at->call = call;
	at->from = from;
	at->enter_ns = clock_ns();
	return true;
}

void
leave_call(struct at *at)
{
	at->leave_ns = clock_ns();
}

void
end_call(struct at *at)
{
	at->thread->depth = 0;
}

struct entry
entry_of(const struct at *at)
{
	return (struct entry){ .enter_ns = at->enter_ns, .leave_ns = at->leave_ns, .call = at->call,
	    .site = site_number(at->from), .peer = NO_PEER, .tag = NO_TAG };
}

void
give_up(const char *what, int error)
{
	char line[600];
	int size = snprintf(line, sizeof line, "lp-record: %s: %s; recording of this rank ends\n", what,
	    strerror(error));

	if (__atomic_exchange_n(&recording, false, __ATOMIC_ACQ_REL) && size > 0)
		if (write(STDERR_FILENO, line, (size_t)size) < 0)
			return;
}

static void
in_forked_child(void)
{
	recording = false;
}

MPI_Status *
own_statuses(struct thread *thread, int count)
{
	if (count > 0 && (size_t)count > thread->status_capacity) {
		MPI_Status *more = realloc(thread->statuses, (size_t)count * sizeof *more);

		if (more == NULL)
			abort();	/* where the program itself would not go on either */
		thread->statuses = more;
		thread->status_capacity = (size_t)count;
	}
	return thread->statuses;
}

MPI_Request *
own_requests(struct thread *thread, int count)
{
	if (count > 0 && (size_t)count > thread->request_capacity) {
		MPI_Request *more = realloc(thread->requests, (size_t)count * sizeof *more);

		if (more == NULL)
			abort();
		thread->requests = more;
		thread->request_capacity = (size_t)count;
	}
	return thread->requests;
}

static void
append_rank(int rank, int ranks)
{
	struct small small;
	unsigned long long run[1] = { 0 };
	char host[256] = "", program[4096] = "";

	if (rank == 0) {
		FILE *random = fopen("/dev/urandom", "r");

		if (random == NULL || fread(run, sizeof run, 1, random) != 1)
			run[0] = (unsigned long long)clock_ns() ^ (unsigned long long)getpid() << 40;
		if (random != NULL)
			fclose(random);
		run[0] >>= 1;
	}
	PMPI_Bcast(run, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
	gethostname(host, sizeof host - 1);
	if (readlink("/proc/self/exe", program, sizeof program - 1) < 0)
		program[0] = '\0';
	small_begin(&small, "rank", 6);
	small_uint(&small, "rank", (uint64_t)rank);
	small_uint(&small, "ranks", (uint64_t)ranks);
	small_uint(&small, "run", run[0]);
	small_string(&small, "host", host);
	small_uint(&small, "pid", (uint64_t)getpid());
	small_string(&small, "program", program);
	small_append(&small);
}

/* Every rank takes part in what is collective here, also one that cannot write its file. */
static void
begin(const char *folder)
{
	int rank, ranks, provided;
	MPI_Comm parent;

	PMPI_Comm_get_parent(&parent);
	if (parent != MPI_COMM_NULL)
		return;		/* spawned processes have a world of their own, and rank 0 again */
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
	PMPI_Query_thread(&provided);
	many_threads = provided == MPI_THREAD_MULTIPLE;
	recorded_pid = getpid();
	pthread_atfork(NULL, NULL, in_forked_child);
	recording = true;
	if (this_thread() == NULL || !file_open(folder, rank, ranks))
		recording = false;
	append_rank(rank, ranks);
	modules_append();
	communicators_start();
	requests_start();
	clock_sync();
	unsetenv("LONGPOLE_DIR");	/* what this process starts is not part of the run */
}

int
init_wrapper(int (*init)(void *), void *arguments, uint16_t call, const void *from)
{
	const char *folder = getenv("LONGPOLE_DIR");
	struct at at = { .call = call, .from = from };
	struct entry entry;
	int result;

	at.enter_ns = clock_ns();
	result = init(arguments);
	if (result != MPI_SUCCESS || folder == NULL || recording)
		return result;
	begin(folder);
	if (recording) {
		at.thread = this_thread();
		leave_call(&at);
		entry = entry_of(&at);
		file_commit(at.thread, &entry, 1);
	}
	return result;
}

int
finalize_wrapper(int (*finalize)(void), const void *from)
{
	struct at at = { .call = NUMBER_Finalize, .from = from };
	struct entry entry;
	int result;

	at.thread = self;
	if (recorded_pid != getpid())
		return finalize();
	at.enter_ns = clock_ns();
	clock_sync();		/* also where this rank's file has failed: all ranks call it */
	if (!recording)
		return finalize();
	if ((at.thread = this_thread()) == NULL)
		return finalize();
	at.thread->depth = 1;
	/*
	 * The row is there before the call returns: a launcher kills all ranks as soon as the first
	 * has ended with another status than 0, and most of them are still in here then.
	 */
	leave_call(&at);
	entry = entry_of(&at);
	file_commit(at.thread, &entry, 1);
	result = finalize();
	leave_call(&at);
	entry.leave_ns = at.leave_ns;
	file_replace(at.thread, &entry);
	at.thread->depth = 0;
	if (recording) {
		__atomic_store_n(&recording, false, __ATOMIC_RELEASE);
		file_close(threads);
	}
	return result;
}
