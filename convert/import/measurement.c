/* SPDX-License-Identifier: BSD-3-Clause */
/* Measurements of other tools as a stream: shared by the importers of their formats. */
#include <string.h>
#include <unistd.h>

#include "import.h"

void
die_line(const struct text *text, const char *what)
{
	die("%s: line %zu: %s", text->name, text->number, what);
}

void
write_mpirun(struct writer *out, uint64_t ranks, const char *sync)
{
	message_begin(out, "mpirun", 2);
	put_uint(out, "ranks", ranks);
	put_string(out, "sync", sync);
	end_message(out);
}

void
write_samples(struct writer *out, const struct samples *samples)
{
	static const struct column_type times = { .width = 8, .required = true };

	message_begin(out, "samples", 10);
	put_string(out, "name", samples->name);
	put_string(out, "function", samples->function);
	put_string(out, "role", samples->role);
	put_string(out, "guideline", samples->guideline);
	put_int(out, "number", samples->number);
	put_uint(out, "bytes", samples->bytes);
	put_uint(out, "volume", samples->volume);
	put_uint(out, "part", 0);
	put_uint(out, "count", samples->count);
	put_column(out, "time", times, samples->ns, samples->count);
	end_message(out);
}

void
import_measurement(char **files, int argc, char **argv,
    void (*read_file)(struct text *, struct writer *))
{
	static char *standard_input[] = { "-", NULL };
	struct writer out;

	if (writer_open(&out, STDOUT_FILENO, "measurement", NULL, argc, argv) < 0)
		die_output();
	for (files = *files == NULL ? standard_input : files; *files != NULL; files++) {
		struct text text;

		text_open(&text, *files);
		read_file(&text, &out);
		text_close(&text);
	}
	if (writer_end(&out) < 0)
		die_output();
}
