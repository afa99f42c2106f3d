/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ping-pong as a table of bytes and microseconds per half round trip: plain, from osu_latency, or
 * from IMB's PingPong, which has the repetitions between the two.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/mpi/catalogue.h"
#include "import.h"

struct table {
	struct text *text;
	int time_column;	/* from 0 */
	bool elsewhere;		/* in an IMB table of another benchmark */
	size_t sizes;
};

/* Comments name the benchmark of the lines that follow. */
static void
take_comment(struct table *t, const char *line)
{
	const char *benchmark = strstr(line, "Benchmarking "), *osu = strstr(line, "OSU MPI");

	/* "OSU MPI Latency Test", or "OSU MPI-CUDA Latency Test" */
	if (osu != NULL && strncmp(osu + strcspn(osu + 4, " ") + 4, " Latency", 8) != 0)
		die_line(t->text, "of OSU's benchmarks only osu_latency is a ping-pong");
	if (benchmark != NULL) {
		benchmark += strlen("Benchmarking ");
		t->elsewhere = strcspn(benchmark, " \t") != 8 ||
		    strncmp(benchmark, "PingPong", 8) != 0;
		t->time_column = 1;
	}
	if (strstr(line, "#repetitions") != NULL)
		t->time_column = 2;
}

static void
take_size(struct table *t, struct writer *out, char *line)
{
	char *rest = line, *word, *end, *bytes = NULL, *us = NULL;
	unsigned long long size;
	double time_us;
	uint64_t ns;

	for (int at = 0; (word = strtok_r(rest, " \t,;", &rest)) != NULL; at++)
		if (at == 0)
			bytes = word;
		else if (at == t->time_column)
			us = word;
	if (us == NULL)
		die_line(t->text, "bytes and microseconds are needed");
	size = strtoull(bytes, &end, 10);
	if (*end != '\0' || *bytes == '-' || size > INT64_MAX)
		die_line(t->text, "the bytes are not a whole number");
	time_us = strtod(us, &end);
	if (*end != '\0' || !(time_us > 0 && time_us < 1e12))
		die_line(t->text, "no time in microseconds");
	ns = (uint64_t)llround(1e3 * PINGPONG_MESSAGES * time_us);
	write_samples(out, &(struct samples){ .name = "MPI_Pingpong", .function = "MPI_Pingpong",
	    .role = "function", .guideline = "", .bytes = size, .volume = size,
	    .count = 1, .ns = &ns });
	t->sizes++;
}

static void
read_file(struct text *text, struct writer *out)
{
	struct table table = { .text = text, .time_column = 1 };

	write_mpirun(out, 2, "");
	while (text_next(text)) {
		char *line = text->line + strspn(text->line, " \t");

		if (*line == '#')
			take_comment(&table, line);
		else if (*line != '\0' && !table.elsewhere)
			take_size(&table, out, line);
	}
	if (table.sizes == 0)
		die("%s: contains no ping-pong", text->name);
}

void
import_pingpong(char **files, int argc, char **argv)
{
	import_measurement(files, argc, argv, read_file);
}
