/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../stream/stream.h"

const char *tool = "longpole";

static void
say(const char *format, va_list arguments)
{
	/* One write a line: several tools of a pipe share the terminal. */
	char line[1024];
	int used = snprintf(line, sizeof line, "%s: ", tool);

	vsnprintf(line + used, sizeof line - (size_t)used - 1, format, arguments);
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = '?';	/* a file name can hold anything */
	strcat(line, "\n");
	fflush(stdout);
	if (write(STDERR_FILENO, line, strlen(line)) < 0)
		return;		/* nobody is listening */
}

void
note(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
}

void
die(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
	_exit(TROUBLE);
}

void
die_input(const struct reader *in)
{
	die("%s:%llu: %s", in->file, (unsigned long long)in->error_offset, in->error);
}

void
die_output(void)
{
	int error = errno;

	if (error == EPIPE) {	/* the parent ignored SIGPIPE: end as if it had not */
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	die("standard output: %s", strerror(error));
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

	if (failed) {	/* long ago, perhaps: one more try says why */
		errno = EIO;
		if (write(STDOUT_FILENO, "\n", 1) >= 0)
			errno = EIO;
		die_output();
	}
	if (fflush(stdout) != 0 || close(STDOUT_FILENO) != 0)
		die_output();
	return (int)status;
}

static _Noreturn void
bad_value(const char *option, const char *text, const char *wanted)
{
	die("%s %s: %s", option, text, wanted);
}

int64_t
parse_integer(const char *option, const char *text, int64_t min, int64_t max)
{
	char *end, wanted[96];
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (end == text || *end != '\0' || errno != 0 || value < min || value > max) {
		snprintf(wanted, sizeof wanted, "a whole number from %lld to %lld is needed",
		    (long long)min, (long long)max);
		bad_value(option, text, wanted);
	}
	return value;
}

int64_t
parse_bytes(const char *option, const char *text, int64_t min, int64_t max)
{
	static const char suffixes[] = "kMG";
	char digits[32];
	size_t length = strlen(text);
	const char *suffix = length > 0 ? strchr(suffixes, text[length - 1]) : NULL;
	int64_t bytes;

	if (suffix == NULL || *suffix == '\0' || length > sizeof digits)
		return parse_integer(option, text, min, max);
	snprintf(digits, sizeof digits, "%.*s", (int)length - 1, text);
	bytes = parse_integer(option, digits, 0, INT32_MAX) << (10 * (suffix - suffixes + 1));
	if (bytes < min || bytes > max) {
		char wanted[96];

		snprintf(wanted, sizeof wanted, "bytes from %lld to %lld are needed", (long long)min,
		    (long long)max);
		bad_value(option, text, wanted);
	}
	return bytes;
}

double
parse_number(const char *option, const char *text, double min, double max)
{
	char *end, wanted[96];
	double value = strtod(text, &end);

	if (end == text || *end != '\0' || !(value >= min && value <= max)) {
		snprintf(wanted, sizeof wanted, "a number from %g to %g is needed", min, max);
		bad_value(option, text, wanted);
	}
	return value;
}

int64_t
parse_seconds(const char *option, const char *text)
{
	return llround(parse_number(option, text, -9e9, 9e9) * 1e9);
}

int
parse_choice(const char *option, const char *text, const char *const *choices)
{
	char wanted[160] = "one of";

	for (int i = 0; choices[i] != NULL; i++) {
		if (strcmp(text, choices[i]) == 0)
			return i;
		strncat(wanted, i > 0 ? ", " : " ", sizeof wanted - strlen(wanted) - 1);
		strncat(wanted, choices[i], sizeof wanted - strlen(wanted) - 1);
	}
	strncat(wanted, " is needed", sizeof wanted - strlen(wanted) - 1);
	bad_value(option, text, wanted);
}

void
refuse_terminal_output(void)
{
	/* Else the next file that is opened would take its place, and get the stream. */
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

void *
grow(void *pointer, size_t *capacity, size_t wanted, size_t size)
{
	size_t more = *capacity < 8 ? 8 : *capacity;

	if (wanted <= *capacity)
		return pointer;
	while (more < wanted)
		if (__builtin_mul_overflow(more, (size_t)2, &more))
			die("out of memory");
	if (more > SIZE_MAX / size)
		die("out of memory");
	pointer = need(realloc(pointer, more * size));
	*capacity = more;
	return pointer;
}

void
json_string(FILE *out, const char *text)
{
	putc('"', out);
	for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++)
		if (*c == '"' || *c == '\\')
			fprintf(out, "\\%c", *c);
		else if (*c < ' ')
			fprintf(out, "\\u%04x", *c);
		else
			putc(*c, out);
	putc('"', out);
}

static double
now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void
progress_begin(struct progress *progress)
{
	progress->shown = isatty(STDERR_FILENO);
	progress->began_s = progress->last_s = progress->shown ? now_s() : 0;
}

void
progress_show(struct progress *progress, uint64_t rows, uint64_t done_bytes, uint64_t all_bytes)
{
	double now, share;

	if (!progress->shown || (now = now_s()) - progress->last_s < 0.2)
		return;
	progress->last_s = now;
	share = all_bytes > 0 ? (double)done_bytes / (double)all_bytes : 0;
	fprintf(stderr, "\r%s: %.1f million calls, %.2f million/s", tool, 1e-6 * (double)rows,
	    1e-6 * (double)rows / (now - progress->began_s));
	if (share > 0)
		fprintf(stderr, ", %.0f %%, %.0f s left", 100 * share,
		    (now - progress->began_s) * (1 - share) / share);
	fputs("   ", stderr);
}

void
progress_end(struct progress *progress, uint64_t rows)
{
	if (progress->shown && progress->last_s > progress->began_s) {
		progress->last_s = 0;
		progress_show(progress, rows, 0, 0);
		fputc('\n', stderr);
	}
}
