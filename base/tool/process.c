/* SPDX-License-Identifier: BSD-3-Clause */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tool.h"

size_t
process_read(int64_t pid, const char *name, char *to, size_t size)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof path, "/proc/%lld/%s", (long long)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? 0 : read(fd, to, size - 1);
	got = got > 0 ? got : 0;
	to[got] = '\0';
	if (fd >= 0)
		close(fd);
	return (size_t)got;
}

char
process_state(int64_t pid)
{
	char stat[512];
	const char *behind;

	process_read(pid, "stat", stat, sizeof stat);
	behind = strrchr(stat, ')');
	return behind == NULL || behind[1] != ' ' || behind[2] == 'Z' ||
	    behind[2] == 'X' ? '\0' : behind[2];
}

/* The number in a file; UINT64_MAX: there is none. */
static uint64_t
number_in(const char *file)
{
	unsigned long long number;
	FILE *in = fopen(file, "re");
	const bool any = in != NULL && fscanf(in, "%llu", &number) == 1;

	if (in != NULL)
		fclose(in);
	return any ? number : UINT64_MAX;
}

/* The least limit of a group and those around it. A container may show its own as the root. */
static uint64_t
group_memory(const char *root, char *group, const char *name)
{
	uint64_t least = UINT64_MAX;

	for (char *slash;; *slash = '\0') {
		char *file = formatted("%s%s/%s", root, group, name);
		const uint64_t limit = number_in(file);

		free(file);
		least = limit < least ? limit : least;
		if ((slash = strrchr(group, '/')) == NULL)
			return least;
	}
}

uint64_t
process_memory(void)
{
	uint64_t least = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	struct rlimit space;
	char groups[4096], *rest = groups, *line;

	if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur < least)
		least = space.rlim_cur;
	process_read(getpid(), "cgroup", groups, sizeof groups);
	while ((line = strtok_r(rest, "\n", &rest)) != NULL) {	/* number:controllers:group */
		char *group = line, *controllers;
		uint64_t limit = UINT64_MAX;

		strsep(&group, ":");
		controllers = strsep(&group, ":");	/* the group may have further ones */
		if (group != NULL && *controllers == '\0')
			limit = group_memory("/sys/fs/cgroup", group, "memory.max");
		else if (group != NULL && strstr(controllers, "memory") != NULL)
			limit = group_memory("/sys/fs/cgroup/memory", group,
			    "memory.limit_in_bytes");
		least = limit < least ? limit : least;
	}
	return least;
}

int64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

pid_t
fork_bound(void)
{
	const pid_t parent = getpid(), child = fork();

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)	/* it has ended already */
			_exit(TROUBLE);
	}
	return child;
}

void
ignore_signals(void)
{
	for (int i = 1; i < NSIG; i++)
		signal(i, i == SIGCHLD ? SIG_DFL : SIG_IGN);
}

/* ---- libraries that are preloaded ---- */

void
preload_find(const char *name, char *path, size_t size)
{
	ssize_t got = readlink("/proc/self/exe", path, size - 1);
	char *slash;
	size_t length;

	if (got < 0)
		die("/proc/self/exe: %s", strerror(errno));
	path[got] = '\0';
	for (int up = 0; up < 2; up++)
		if ((slash = strrchr(path, '/')) != NULL)
			*slash = '\0';
	length = strlen(path);
	snprintf(path + length, size - length, "/lib/longpole");
	if (access(path, X_OK) != 0)
		path[length + strlen("/lib")] = '\0';
	length = strlen(path);
	snprintf(path + length, size - length, "/liblongpole-%s.so", name);
	if (access(path, R_OK) != 0)
		die("%s: %s", path, strerror(errno));
	if (strpbrk(path, " :") != NULL)
		die("%s: the dynamic linker preloads nothing from a path with a blank or a colon",
		    path);
}

void
preload_add(const char *library, bool in_front)
{
	const char *others = getenv("LD_PRELOAD");
	char *all;

	if (others == NULL || *others == '\0') {
		setenv("LD_PRELOAD", library, 1);
		return;
	}
	all = formatted("%s:%s", in_front ? library : others, in_front ? others : library);
	setenv("LD_PRELOAD", all, 1);
	free(all);
}

/* ---- other tools ---- */

_Noreturn void
become_tool(char *const *words)
{
	char program[PATH_MAX], path[PATH_MAX + NAME_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

	if (length > 0) {
		program[length] = '\0';
		snprintf(path, sizeof path, "%s/%s", dirname(program), words[0]);
		execv(path, words);
	}
	execvp(words[0], words);
	note("%s cannot be started: %s", words[0], strerror(errno));
	_exit(TROUBLE);
}

pid_t
start_tool(char *const *words, int *from)
{
	int ends[2];
	pid_t child;

	fflush(stdout);
	if (pipe(ends) < 0 || (child = fork()) < 0)
		die("%s cannot be started: %s", words[0], strerror(errno));
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		become_tool(words);
	}
	close(ends[1]);
	*from = ends[0];
	return child;
}

bool
ended_well(pid_t child)
{
	int status;

	return waitpid(child, &status, 0) >= 0 && status == 0;
}
