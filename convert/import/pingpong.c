/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ping-pong as a table of bytes and microseconds, half a round trip: as it is, of osu_latency, or the
 * PingPong of IMB, which has the repetitions between the two.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/mpi/catalogue.h"
#include "import.h"

static _Noreturn void
die_line(const struct text *text, const char *what)
{
	die("%s: line %zu: %s", text->name, text->number, what);
}

struct table {
	struct text text;
	int time_column;	/* from 0 */
	bool elsewhere;		/* in a table of IMB that is no ping-pong */
	size_t sizes;
};

/* Comments tell which benchmark the lines behind them are of. */
static void
take_comment(struct table *t, const char *line)
{
	const char *benchmark = strstr(line, "Benchmarking "), *osu = strstr(line, "OSU MPI");

	/* "OSU MPI Latency Test", or "OSU MPI-CUDA Latency Test" */
	if (osu != NULL && strncmp(osu + strcspn(osu + 4, " ") + 4, " Latency", 8) != 0)
		die_line(&t->text, "of OSU's benchmarks only osu_latency is a ping-pong");
	if (benchmark != NULL) {
		benchmark += strlen("Benchmarking ");
		t->elsewhere = strcspn(benchmark, " \t") != 8 || strncmp(benchmark, "PingPong", 8) != 0;
		t->time_column = 1;
	}
	if (strstr(line, "#repetitions") != NULL)
		t->time_column = 2;
}

static void
put_size(struct writer *out, int64_t bytes, double us)
{
	static const struct column_type times = { .width = 8, .required = true };
	uint64_t ns = (uint64_t)llround(1e3 * PINGPONG_MESSAGES * us);

	message_begin(out, "samples", 10);
	put_string(out, "name", "MPI_Pingpong");
	put_string(out, "function", "MPI_Pingpong");
	put_string(out, "role", "function");
	put_string(out, "guideline", "");
	put_int(out, "number", 0);
	put_int(out, "bytes", bytes);
	put_int(out, "volume", bytes);
	put_int(out, "part", 0);
	put_int(out, "count", 1);
	put_column(out, "time", times, &ns, 1);
	if (message_end(out) < 0)
		die_output();
}

static void
take_size(struct table *t, struct writer *out, char *line)
{
	char *rest = line, *word, *end, *bytes = NULL, *us = NULL;
	unsigned long long size;
	double time_us;

	for (int at = 0; (word = strtok_r(rest, " \t,;", &rest)) != NULL; at++)
		if (at == 0)
			bytes = word;
		else if (at == t->time_column)
			us = word;
	if (us == NULL)
		die_line(&t->text, "bytes and microseconds are needed");
	size = strtoull(bytes, &end, 10);
	if (*end != '\0' || *bytes == '-' || size > INT64_MAX)
		die_line(&t->text, "no whole number of bytes");
	time_us = strtod(us, &end);
	if (*end != '\0' || !(time_us > 0 && time_us < 1e12))
		die_line(&t->text, "no time in microseconds");
	put_size(out, (int64_t)size, time_us);
	t->sizes++;
}

static void
read_file(struct table *t, struct writer *out)
{
	message_begin(out, "mpirun", 2);
	put_int(out, "ranks", 2);
	put_string(out, "sync", "");
	if (message_end(out) < 0)
		die_output();
	while (text_next(&t->text)) {
		char *line = t->text.line + strspn(t->text.line, " \t");

		if (*line == '#')
			take_comment(t, line);
		else if (*line != '\0' && !t->elsewhere)
			take_size(t, out, line);
	}
	if (t->sizes == 0)
		die("%s: no ping-pong in it", t->text.name);
}

void
import_pingpong(char **files, int argc, char **argv)
{
	static char *standard_input[] = { "-", NULL };
	struct writer out;

	if (writer_open(&out, STDOUT_FILENO, "measurement", NULL, argc, argv) < 0)
		die_output();
	for (files = *files == NULL ? standard_input : files; *files != NULL; files++) {
		struct table table = { .time_column = 1 };

		text_open(&table.text, *files);
		read_file(&table, &out);
		text_close(&table.text);
	}
	if (writer_end(&out) < 0)
		die_output();
}
