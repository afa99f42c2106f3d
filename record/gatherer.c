/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process that merges on a node. It outlives the launcher's ranks where these are killed, and keeps nothing open
 * that the launcher waits for but standard error.
 */
#include "gatherer.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../base/team/launcher.h"
#include "../base/tool/tool.h"
#include "nodes.h"

static struct {
	int fd;
	bool failed;		/* a program of this node has */
	time_t ended_s;		/* when the job was seen to be over; 0: it is not */
} gatherer;

/* The job is: no lp-record is left here, or a program has failed. */
static bool
is_over(void)
{
	struct timespec now;

	if (job.launched && gatherer.ended_s == 0 && (gatherer.failed ||
	    try_lock(gatherer.fd, ALIVE, F_WRLCK, F_OFD_SETLK))) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		gatherer.ended_s = now.tv_sec;
	}
	return gatherer.ended_s != 0;
}

/* Others may be late, but not for ever: of a job that the launcher has ended not all nodes need come. */
static bool
give_up(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return is_over() && now.tv_sec - gatherer.ended_s >= LATE_S;
}

/* How many ranks the launcher has started on this node; 0: it does not say. */
static int
ranks_here(void)
{
	static const char *const names[] = { "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (getenv(names[i]) != NULL)
			return atoi(getenv(names[i]));
	return 0;
}

/* " 0 4 8", and how many. */
static char *
ranks_of(const char *lines, int *count)
{
	char *ranks = zalloc(strlen(lines) + 1, 1), *end = ranks;
	int rank;

	for (*count = 0; *lines != '\0'; lines += strcspn(lines, "\n"), lines += *lines == '\n')
		if (sscanf(lines, "rank %d", &rank) == 1) {
			end += sprintf(end, " %d", rank);
			(*count)++;
		}
	return ranks;
}

/* Whether no program runs here any more; then nobody can start either. */
static bool
all_ended(void)
{
	lock(gatherer.fd, STARTING, F_WRLCK);	/* the first one has begun */
	unlock(gatherer.fd, STARTING);
	lock(gatherer.fd, RUNNING, F_WRLCK);
	unlock(gatherer.fd, RUNNING);
	lock(gatherer.fd, STARTING, F_WRLCK);	/* always before the other one */
	if (try_lock(gatherer.fd, RUNNING, F_WRLCK, F_OFD_SETLK)) {
		unlock(gatherer.fd, RUNNING);
		return true;
	}
	unlock(gatherer.fd, STARTING);
	return false;
}

/* Who starts when this has come back is of another job, and finds no file. */
static void
wait_for_ranks(struct node *node, const char *path)
{
	const struct timespec pause = { 0, 20000000 };

	for (bool all = false; !all; ) {
		char *lines;

		while (!all_ended())
			continue;
		if (!is_file_at(path, gatherer.fd))
			_exit(TROUBLE);		/* another job has begun, and this one never did */
		lines = read_lines(gatherer.fd);
		node->ranks = ranks_of(lines, &node->rank_count);
		gatherer.failed = strstr(lines, "failed ") != NULL;
		free(lines);
		all = node->rank_count >= ranks_here() || give_up();
		if (all)
			unlink(path);
		else
			free(node->ranks);
		unlock(gatherer.fd, STARTING);
		if (!all)
			nanosleep(&pause, NULL);
	}
}

static _Noreturn void
become_merge(char **words)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof "/lp-merge");

	launcher_forget();	/* it is none of the launcher's processes */
	if (length > 0) {
		path[length] = '\0';
		strcat(dirname(path), "/lp-merge");
		execv(path, words);
	}
	note("lp-merge: %s", strerror(errno));
	_exit(TROUBLE);
}

/* Others may wait for a node that is gone: they all end, and one says so. */
static void
end_meeting(const char *meeting, const char *lost)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s/failed", meeting) < 0)
		die("out of memory");
	if ((fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) >= 0) {
		note("%s: node %.*s is gone; the raw traces stay", job.shards, (int)strcspn(lost, "."), lost);
		close(fd);
	}
	free(path);
}

static int
wait_for_merge(struct node *node, pid_t child, const char *meeting)
{
	struct timespec pause = { 0, 1000000 };
	const char *lost;
	int status = 0;

	for (pid_t ended = 0; ended == 0 || (ended < 0 && errno == EINTR); ) {
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 500000000)
			pause.tv_nsec *= 2;
		nodes_beat(node, job.meeting);
		if (is_over() && (lost = nodes_lost(node, job.meeting)) != NULL)
			end_meeting(meeting, lost);
		ended = waitpid(child, &status, WNOHANG);
	}
	return status;
}

static bool
merge(struct node *node, const struct run *run)
{
	char **words = zalloc(run->count + 16, sizeof *words), *shards, *meeting, member[40];
	size_t count = 0;
	int status = TROUBLE;
	pid_t child;

	if (asprintf(&shards, "%s%s", job.shards, run->suffix) < 0 ||
	    asprintf(&meeting, "%s/run.%d", job.meeting, run->order) < 0)
		die("out of memory");
	snprintf(member, sizeof member, "%d/%d", run->member, run->members);
	char *const fixed[] = { "lp-merge", "-o", shards, "--shards", "node", "--meet", meeting, "--member", member,
	    "--partial", "--" };
	for (; count < sizeof fixed / sizeof fixed[0]; count++)
		words[count] = fixed[count];
	memcpy(words + count, run->files, run->count * sizeof *words);
	if ((child = fork()) == 0)
		become_merge(words);
	if (child > 0)
		status = wait_for_merge(node, child, meeting);
	free(words);
	free(shards);
	free(meeting);
	return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == DONE;
}

static int
by_order(const void *left, const void *right)
{
	const struct run *a = left, *b = right;

	return a->order < b->order ? -1 : a->order > b->order;
}

/* Of all runs of which this node has traces, in the same order on all nodes. */
static int
gather(struct node *node)
{
	bool well;

	find_runs(node, job.folder, job.launched ? job.host : NULL);
	well = nodes_meet(node, job.meeting, give_up);
	if (well && node->run_count > 1)
		qsort(node->runs, node->run_count, sizeof *node->runs, by_order);
	for (size_t i = 0; well && i < node->run_count; i++)
		well = merge(node, &node->runs[i]);
	nodes_part(node, job.meeting);
	return well ? DONE : TROUBLE;
}

_Noreturn void
gather_here(const char *path, int fd)
{
	static const int ignored[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE };
	struct node node = { .ranks_of_job = job.ranks };
	int status;

	setsid();
	for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
		signal(ignored[i], SIG_IGN);
	gatherer.fd = dup3(fd, STDIN_FILENO, 0) < 0 ? fd : STDIN_FILENO;
	dup2(STDERR_FILENO, STDOUT_FILENO);
	close_range(STDERR_FILENO + 1, ~0u, 0);	/* the launcher would wait for what this keeps open */
	fcntl(gatherer.fd, F_SETFD, FD_CLOEXEC);
	wait_for_ranks(&node, path);
	node.failed = is_over();
	snprintf(node.name, sizeof node.name, "%s.%d", job.host, (int)getpid());
	status = gather(&node);
	if (status != DONE)	/* with the first rank that fails the launcher stops listening to what was said */
		nanosleep(&(struct timespec){ 0, 200000000 }, NULL);
	add_line(gatherer.fd, "done", status);
	_exit(status);
}

int
gather_alone(void)
{
	struct node node = { .ranks = (char[]){ " 0" }, .rank_count = 1, .ranks_of_job = 1 };

	snprintf(node.name, sizeof node.name, "%s", job.host);
	return gather(&node);
}
