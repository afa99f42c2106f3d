/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-stuck decides whether the run hangs. It is asked by a process beside the run again and again,
 * at SIGUSR1, and when the launcher failed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../base/tool/process.h"
#include "../base/tool/tool.h"
#include "record.h"

enum {
	LOOKS = 4,			/* within the time after which a run counts as stuck */
	LEAST_MS = 250, MOST_MS = 10000,	/* between two looks */
	SHARE = 20,			/* a look takes at most 1/20 of a core */
	SETTLE_MS = 1000,		/* a run that is ending ends within this */
	GRACE_MS = 10000,		/* from SIGTERM to SIGKILL */
};

#define ANSWER_NS 10000000000	/* a user who asks does not wait longer */

static volatile pid_t watcher, answering;
static struct { bool told, ended_run; } *shared;	/* shared with the watching process */

/* Starts lp-stuck, with its answer written to OUT. */
static pid_t
ask(const char *folder, int64_t after_ns, int out)
{
	char after[40];
	char *const words[] = { "lp-stuck", "--after", after, (char *)(uintptr_t)folder, NULL };
	sigset_t none;
	pid_t pid;

	if ((pid = fork_bound()) != 0)
		return pid;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	snprintf(after, sizeof after, "%.3f", (double)after_ns / 1e9);
	unsetenv("LD_PRELOAD");
	dup2(out, STDOUT_FILENO);
	/* there may be no trace yet */
	dup2(open("/dev/null", O_RDWR | O_CLOEXEC), STDERR_FILENO);
	become_tool(words);
}

static int
status_of(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return TROUBLE;
	return WIFEXITED(status) ? WEXITSTATUS(status) : TROUBLE;
}

static void
sleep_ms(int64_t ms)
{
	struct timespec left = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		continue;
}

/* Prints what lp-stuck has written to the file. */
static void
tell(int answer)
{
	char chunk[4096];
	ssize_t got;

	for (off_t at = 0; (got = pread(answer, chunk, sizeof chunk, at)) > 0; at += got)
		if (write(STDERR_FILENO, chunk, (size_t)got) != got)
			break;
}

/* ---- the process beside the run ---- */

static int64_t
children_cpu_ms(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
	    (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
}

/* Killed at the end of the run, so it reports no hang of a run that is just ending. */
static _Noreturn void
watch(const struct hang *hang, pid_t run)
{
	const int64_t usual_ms = hang->after_ns / 1000000 / LOOKS;
	int64_t pause_ms = usual_ms < LEAST_MS ? LEAST_MS : usual_ms > MOST_MS ? MOST_MS : usual_ms;

	for (int answer; (answer = memfd_create("stuck", MFD_CLOEXEC)) >= 0; close(answer)) {
		const int64_t before_ms = children_cpu_ms();

		sleep_ms(pause_ms);
		if (status_of(ask(hang->folder, hang->after_ns, answer)) == ANSWER_IS_NO) {
			sleep_ms(SETTLE_MS);
			tell(answer);
			shared->told = true;
			if (!hang->ends_run)
				_exit(DONE);
			note("the run hangs, and is ended");
			shared->ended_run = true;
			kill(run, SIGTERM);
			sleep_ms(GRACE_MS);
			kill(run, SIGKILL);
			_exit(ANSWER_IS_NO);
		}
		if (pause_ms < (children_cpu_ms() - before_ms) * SHARE)
			pause_ms = (children_cpu_ms() - before_ms) * SHARE;
	}
	_exit(TROUBLE);
}

void
hang_watch(const struct hang *hang, pid_t run)
{
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || (watcher = fork_bound()) != 0)
		return;
	ignore_signals();
	watch(hang, run);
}

void
hang_stop(void)
{
	if (watcher > 0 && !shared->ended_run)
		kill(watcher, SIGKILL);
}

bool
hang_ended_run(void)
{
	if (answering > 0)
		status_of(answering);
	if (watcher <= 0)
		return false;
	kill(watcher, SIGKILL);
	status_of(watcher);
	watcher = 0;
	return shared->ended_run;
}

void
hang_say(const struct hang *hang)
{
	const int answer = shared != NULL && shared != MAP_FAILED && shared->told ? -1 :
	    memfd_create("stuck", MFD_CLOEXEC);

	if (answer >= 0 && status_of(ask(hang->folder, hang->after_ns, answer)) == ANSWER_IS_NO)
		tell(answer);
	if (answer >= 0)
		close(answer);
}

/* ---- SIGUSR1 ---- */

/* Whether all processes below the launcher that have no children catch the signal. */
static bool
program_catches(pid_t pid, int number)
{
	char path[80];
	char status[1 << 14];
	const char *caught;
	bool any = false, all = true;
	struct dirent *entry;
	DIR *tasks;
	FILE *children;
	int child;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	if ((tasks = opendir(path)) == NULL)
		return false;
	while ((entry = readdir(tasks)) != NULL) {
		snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", (int)pid,
		    entry->d_name);
		if (entry->d_name[0] == '.' || (children = fopen(path, "r")) == NULL)
			continue;
		for (; fscanf(children, "%d", &child) == 1; any = true)
			all = all && program_catches(child, number);
		fclose(children);
	}
	closedir(tasks);
	process_read(pid, "status", status, sizeof status);
	caught = strstr(status, "SigCgt:");
	return any ? all : caught != NULL &&
	    (strtoull(caught + strlen("SigCgt:"), NULL, 16) >> (number - 1) & 1) != 0;
}

void
hang_answer(const struct hang *hang, pid_t run)
{
	if (program_catches(run, SIGUSR1))
		kill(run, SIGUSR1);
	if (hang->folder != NULL)
		answering = ask(hang->folder,
		    hang->after_ns < ANSWER_NS ? hang->after_ns : ANSWER_NS, STDERR_FILENO);
}
