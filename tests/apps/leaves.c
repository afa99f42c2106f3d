/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * leaves WHAT [ARGUMENT ...] - programs that leave a call, their process or their libraries in
 * unusual ways. Each makes 10 barriers first and, if it gets there, 5 at the end.
 *
 *  jump            an error handler jumps out of 3 sends
 *  exit N, _exit N a signal handler ends the process, out of a probe for a message never sent
 *  finalize        a signal handler calls MPI_Finalize and exit, out of a computation
 *  exec            children by fork, vfork and posix_spawn execute something, one jumps and exits;
 *                  at last the process itself executes true
 *  unload A B      makes the calls of call_mpi in library A, closes it, and then those in B
 *
 * With -DPART: such a library, whose call_mpi makes CALLS barriers.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int call_mpi(void);

#ifdef PART
int
call_mpi(void)
{
	int result = 0;

	for (int i = 0; i < CALLS; i++)
		result |= MPI_Barrier(MPI_COMM_WORLD);
	return result;
}
#else

static jmp_buf back;
static int end_status;

static void
barriers(int count)
{
	for (int i = 0; i < count; i++)
		MPI_Barrier(MPI_COMM_WORLD);
}

static void
jump_back(MPI_Comm *comm, int *error, ...)
{
	(void)comm;
	(void)error;
	longjmp(back, 1);
}

static int
jump(void)
{
	static volatile int jumps;
	MPI_Errhandler handler;
	int value = 7;

	MPI_Comm_create_errhandler(jump_back, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	if (setjmp(back) != 0)
		jumps++;
	if (jumps < 3)
		MPI_Send(&value, 1, MPI_INT, 1 << 20, 0, MPI_COMM_WORLD);
	return jumps != 3;
}

static void end_by_exit(int number) { (void)number; exit(end_status); }
static void end_at_once(int number) { (void)number; _exit(end_status); }
static void
end_finalized(int number)
{
	(void)number;
	MPI_Finalize();
	exit(0);
}

/* A signal ends it. */
static int
probe_until(void (*handler)(int))
{
	MPI_Status status;

	signal(SIGALRM, handler);
	ualarm(20000, 0);
	if (handler == end_finalized)
		for (;;)
			;
	return MPI_Probe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &status);
}

extern char **environ;

static int
execute(void)
{
	char *const true_words[] = { "true", NULL };
	pid_t child[4];
	int status, result = 0;

	if ((child[0] = fork()) == 0) {
		execvp("true", true_words);
		_exit(9);
	}
	if ((child[1] = vfork()) == 0) {
		execvp("true", true_words);
		_exit(9);
	}
	if (posix_spawnp(&child[2], "true", NULL, NULL, true_words, environ) != 0)
		return 1;
	if ((child[3] = fork()) == 0)
		exit(0);	/* in a copy of this process, with the libraries' exit handlers */
	for (int i = 0; i < 4; i++)
		result |= waitpid(child[i], &status, 0) != child[i] || status != 0;
	return result;
}

static int
unload(char **libraries)
{
	for (int i = 0; i < 2; i++) {
		void *library = dlopen(libraries[i], RTLD_NOW);
		int (*call)(void);

		if (library == NULL)
			return 1;
		*(void **)&call = dlsym(library, "call_mpi");
		if (call == NULL || call() != 0 || dlclose(library) != 0)
			return 1;
	}
	return 0;
}

static int
run(int argc, char **argv)
{
	const char *what = argv[1];

	end_status = argc > 2 ? atoi(argv[2]) : 0;
	if (strcmp(what, "jump") == 0)
		return jump();
	if (strcmp(what, "exit") == 0)
		return probe_until(end_by_exit);
	if (strcmp(what, "_exit") == 0)
		return probe_until(end_at_once);
	if (strcmp(what, "finalize") == 0)
		return probe_until(end_finalized);
	if (strcmp(what, "exec") == 0)
		return execute();
	if (strcmp(what, "unload") == 0)
		return unload(argv + 2);
	return 2;
}

int
main(int argc, char **argv)
{
	int status, rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	barriers(10);
	status = argc > 1 ? run(argc, argv) : 2;
	barriers(5);
	MPI_Finalize();
	if (status == 0 && rank == 0)
		printf("%s: fine\n", argv[1]);
	fflush(stdout);
	if (argc > 1 && strcmp(argv[1], "exec") == 0)
		execlp("true", "true", (char *)NULL);
	return status;
}
#endif
