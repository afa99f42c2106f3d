/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pipes the trace as corrected so far through lp-graph: merge (a child) | lp-graph (a child) | this
 * process.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/team/launcher.h"
#include "../base/tool/start.h"
#include "order.h"

static char *command[] = { "lp-merge", NULL };

static pid_t
start(int in, int out, const int *others, struct input *trace)
{
	pid_t child = fork();
	int nowhere;

	if (child < 0)
		die("cannot start a process");
	if (child > 0)
		return child;
	if ((nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)) >= 0)
		dup2(nowhere, STDERR_FILENO);
	if (in >= 0)
		dup2(in, STDIN_FILENO);
	if (out >= 0 && trace == NULL)
		dup2(out, STDOUT_FILENO);
	for (int i = 0; i < 4; i++)
		if (trace == NULL || others[i] != out)
			close(others[i]);
	if (trace != NULL) {
		trace->sampled = false;		/* samples are not needed here */
		write_trace(trace, out, false, 1, command);
		_exit(DONE);
	}
	launcher_forget();	/* the child is not a process of the launcher */
	become_tool((char *[]){ "lp-graph", NULL });
}

/*
 * Neither child has standard error. This process finds damage in the raw traces by writing the
 * trace once more. Messages of lp-graph appear only if the user runs it.
 */
static _Noreturn void
die_matching(const struct matched *matched)
{
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (nowhere >= 0)
		write_trace(matched->input, nowhere, false, 1, command);
	die("lp-graph cannot match the trace: %s (--sync offset does without it)",
	    reader_error(matched->graph.in, NULL));
}

void
matched_open(struct matched *matched, struct input *input, size_t row_bytes)
{
	char name[32];
	int ends[4];	/* the trace: to read, to write; the graph: likewise */

	memset(matched, 0, sizeof *matched);
	matched->input = input;
	matched->graph.row_bytes = row_bytes;
	fflush(NULL);
	if (pipe(ends) < 0 || pipe(ends + 2) < 0)
		die("no more pipes");
	matched->merge = start(-1, ends[1], ends, input);
	matched->matcher = start(ends[0], ends[3], ends, NULL);
	close(ends[0]);
	close(ends[1]);
	close(ends[3]);
	snprintf(name, sizeof name, "/dev/fd/%d", ends[2]);
	if (reader_open(&matched->graph.in, name, READ_STREAM) < 0)
		die_matching(matched);
	close(ends[2]);		/* the reader has its own */
}

bool
matched_next(struct matched *matched, enum graph_item *item)
{
	struct message message;
	int got = reader_next(matched->graph.in, &message);

	if (got < 0 || (got > 0 && (*item = graph_read(&matched->graph, &message)) == GRAPH_BAD))
		die_matching(matched);
	return got > 0;
}

void
matched_close(struct matched *matched)
{
	const pid_t children[] = { matched->merge, matched->matcher };
	int status;

	graph_close(&matched->graph);
	for (int i = 0; i < 2; i++)
		if (waitpid(children[i], &status, 0) < 0 || status != 0)
			die("lp-graph failed after it had matched the trace");
}
