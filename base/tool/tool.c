/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../mpi/launchers.h"
#include "../stream/stream.h"
#include "text.h"

const char *tool = "longpole";
const char *output_name = "standard output";

/*
 * In a recipe under longpole, standard error is a pipe for messages of other programs
 * (workflows/quiet). Those of tools go to the user at once.
 */
static void __attribute__((constructor))
speak_to_user(void)
{
	const char *messages = getenv("LONGPOLE_MESSAGES");
	struct stat s;

	if (messages != NULL && fstat(STDERR_FILENO, &s) == 0 && S_ISFIFO(s.st_mode) &&
	    dup2(atoi(messages), STDERR_FILENO) >= 0)
		fcntl(atoi(messages), F_SETFD, FD_CLOEXEC);
	unsetenv("LONGPOLE_MESSAGES");
}

/*
 * A block of calls takes up to 2.4 MB, mostly in columns of 64 to 128 KB, and a reader 1 MB. By
 * default malloc gives the columns back to the kernel after each block, and page faults take most
 * of the time.
 */
static void __attribute__((constructor))
keep_freed_memory(void)
{
	mallopt(M_TRIM_THRESHOLD, 4 << 20);
	mallopt(M_MMAP_THRESHOLD, 2 << 20);
}

static bool silent;

void
be_silent(bool from_now_on)
{
	silent = from_now_on;
}

static void
say(const char *format, va_list arguments)
{
	/* One write a line: several tools of a pipe share the terminal. */
	char message[1024], line[2048];
	int used = snprintf(line, sizeof line, "%s: ", tool);

	vsnprintf(message, sizeof message, format, arguments);
	/* names may contain anything */
	visible_copy(line + used, sizeof line - (size_t)used - 1, message);
	strcat(line, "\n");
	fflush(stdout);
	if (write(STDERR_FILENO, line, strlen(line)) < 0)
		return;		/* nobody is listening */
}

void
note(const char *format, ...)
{
	va_list arguments;

	if (silent)
		return;
	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
}

static bool (*ask_at_failure)(bool has_said);

void
on_failure(bool (*ask)(bool has_said))
{
	ask_at_failure = ask;
}

void
die(const char *format, ...)
{
	bool (*ask)(bool) = ask_at_failure;
	va_list arguments;

	ask_at_failure = NULL;
	if (ask == NULL || ask(false)) {
		va_start(arguments, format);
		say(format, arguments);
		va_end(arguments);
	}
	if (ask != NULL)
		ask(true);
	_exit(TROUBLE);
}

void
die_input(const struct reader *in)
{
	int64_t offset;
	const char *why = reader_error(in, &offset);

	if (offset < 0)		/* it was not opened, so there is no offset */
		die("%s: %s", reader_file(in), why);
	die("%s:%lld: %s", reader_file(in), (long long)offset, why);
}

char *
need_string(struct reader *in, const struct message *message, const char *key)
{
	char *value = body_string(message, key);

	if (value == NULL) {
		reader_fail(in, message->offset, "%s: %s is missing or no string",
		    message->kind, key);
		die_input(in);
	}
	return value;
}

void
die_output(void)
{
	int error = errno;

	if (error == EPIPE) {	/* the parent ignored SIGPIPE: end as if it had not */
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	die("%s: %s", output_name, strerror(error));
}

void
need_output(int result)
{
	if (result < 0)
		die_output();
}

void
end_message(struct writer *out)
{
	need_output(message_end(out));
}

void
flush_output(void *out)
{
	need_output(writer_flush(out));
}

void
bad_usage(const char *usage)
{
	fprintf(stderr, "%.*s\n", (int)strcspn(usage, "\n"), usage);
	_exit(TROUBLE);
}

void
print_and_exit(const char *text)
{
	fputs(text, stdout);
	exit(finish(DONE));
}

int
finish(enum exit_status status)
{
	bool failed = ferror(stdout) != 0;

	if (failed) {	/* perhaps long ago: another try finds the reason */
		errno = EIO;
		if (write(STDOUT_FILENO, "\n", 1) >= 0)
			errno = EIO;
		die_output();
	}
	if (fflush(stdout) != 0 || close(STDOUT_FILENO) != 0)
		die_output();
	return (int)status;
}

const char *
rank_of_launcher(void)
{
	const struct launcher *launcher = launcher_that_tells(false);

	return launcher != NULL ? getenv(launcher->rank) : NULL;
}

bool
is_terminal(int fd)
{
	return isatty(fd) && rank_of_launcher() == NULL;
}

void
refuse_terminal_output(void)
{
	/* Otherwise the next file opened would take its place and get the stream. */
	if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
		die_output();
	if (isatty(STDOUT_FILENO))
		die("standard output is a terminal; pipe the stream into a tool or a file "
		    "(lp-dump shows it as text)");
}

void
refuse_terminal_input(const char *file, const char *usage)
{
	if ((file == NULL || strcmp(file, "-") == 0) && isatty(STDIN_FILENO))
		bad_usage(usage);
}

void *
need(void *pointer)
{
	if (pointer == NULL)
		die("out of memory");
	return pointer;
}

void *
zalloc(size_t count, size_t size)
{
	return need(calloc(count > 0 ? count : 1, size));
}

char *
formatted(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	need_memory(vasprintf(&text, format, arguments));
	va_end(arguments);
	return text;
}

void *
grow_little(void *pointer, size_t *capacity, size_t wanted, size_t size)
{
	size_t more = *capacity + *capacity / 2;

	if (wanted <= *capacity)
		return pointer;
	if (more < wanted)
		more = wanted;
	pointer = need(reallocarray(pointer, more, size));
	*capacity = more;
	return pointer;
}

void *
grow(void *pointer, size_t *capacity, size_t wanted, size_t size)
{
	size_t more = *capacity < 8 ? 8 : *capacity;

	if (wanted <= *capacity)
		return pointer;
	while (more < wanted)
		if (__builtin_mul_overflow(more, (size_t)2, &more))
			die("out of memory");
	pointer = need(reallocarray(pointer, more, size));
	*capacity = more;
	return pointer;
}

void *
grow_zeroed(void *pointer, size_t *capacity, size_t wanted, size_t size)
{
	const size_t before = *capacity;

	pointer = grow(pointer, capacity, wanted, size);
	memset((char *)pointer + before * size, 0, (*capacity - before) * size);
	return pointer;
}
