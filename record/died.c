/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The trace of a killed rank has no end and does not say when the rank died. The recorder outlives
 * the rank, and appends this behind the last message.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../base/stream/stream.h"
#include "../base/tool/process.h"
#include "../base/tool/tool.h"
#include "record.h"

enum { STEP_MS = 10, MOST_STEPS = 100 };	/* wait until the launcher's ranks are gone */

struct deaths { int64_t at_ns; int steps; bool one_lives; char host[256]; };

static bool
lives(int64_t pid, int *steps)
{
	for (; pid > 0 && process_state(pid) != 0; ++*steps) {
		if (*steps == MOST_STEPS)
			return true;
		nanosleep(&(struct timespec){ 0, STEP_MS * 1000000 }, NULL);
	}
	return false;
}

/* Other hosts have other clocks. */
static void
put_died(const char *path, uint64_t offset, bool here, int64_t at_ns)
{
	struct writer out;
	const int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);

	writer_start(&out, -1);
	message_begin(&out, "died", here);
	if (here)
		put_int(&out, "at_ns", at_ns);
	/* The reserved space behind it is cut to one byte. */
	if (message_end(&out) == 0 && msgpack_sbuffer_write(&out.buffer, "", 1) == 0 &&
	    fd >= 0 && pwrite(fd, out.buffer.data, out.buffer.size, (off_t)offset) ==
	    (ssize_t)out.buffer.size && ftruncate(fd, (off_t)(offset + out.buffer.size)) != 0)
		note("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	writer_close(&out);
}

static void
mark(const char *path, struct deaths *died)
{
	struct reader *in = NULL;
	struct message message;
	uint64_t cut = 0;
	int64_t pid = 0;
	bool here = false;

	if (reader_open(&in, path, READ_SKIMMING) < 0) {
		reader_close(in);
		return;
	}
	while (reader_next(in, &message) > 0 && !is_kind(&message, "died"))
		if (is_kind(&message, "cut"))
			cut = message.offset;
		else if ((is_kind(&message, "rank") || is_kind(&message, "starts")) &&
		    body_get(&message, "pid") != NULL &&
		    body_int(in, &message, "pid", 1, INT32_MAX, &pid) == 0)
			here = body_is(&message, "host", died->host);
	reader_close(in);
	if (cut > 0 && here && lives(pid, &died->steps))
		died->one_lives = true;
	else if (cut > 0)
		put_died(path, cut, here, died->at_ns);
}

static void
mark_all(struct paths paths, struct deaths *died)
{
	for (int i = 0; i < paths.count; i++)
		mark(paths.at[i], died);
	paths_free(&paths);
}

bool
died_mark(const char *folder, const char *rank, int64_t at_ns)
{
	struct deaths died = { .at_ns = at_ns };

	gethostname(died.host, sizeof died.host - 1);
	mark_all(folder_traces(folder, rank), &died);
	mark_all(folder_starting(folder, rank), &died);
	return !died.one_lives;
}
