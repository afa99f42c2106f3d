/* SPDX-License-Identifier: BSD-3-Clause */
#include "start.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool.h"

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
