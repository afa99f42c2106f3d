/* SPDX-License-Identifier: BSD-3-Clause */
/* Measurements of other tools as a stream: ReproMPI, IMB, OSU. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/mpi/catalogue.h"
#include "import.h"

struct samples {		/* trace.5, MEASUREMENTS */
	const char *name, *function, *role, *guideline;
	int number;
	uint64_t bytes, volume, count;
	const uint64_t *ns;
};

/* Reports the line read last. */
static _Noreturn void
die_line(const struct source *text, const char *what)
{
	die("%s: line %zu: %s", text->name, text->number, what);
}

static void
write_mpirun(struct writer *out, uint64_t ranks, const char *sync)
{
	message_begin(out, "mpirun", 2);
	put_uint(out, "ranks", ranks);
	put_string(out, "sync", sync);
	end_message(out);
}

static void
write_samples(struct writer *out, const struct samples *samples)
{
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
	put_column(out, "time", samples->ns, samples->count);
	end_message(out);
}

/* ---- ReproMPI ---- */

/*
 * ReproMPI's raw text: "#@key=value" lines, a line with the names of columns, a line per
 * repetition. The count is that of MPI's argument: the block of a Gather, the vector of a Reduce.
 */

/* The columns we read. */
enum column { TEST, COUNT, RUNTIME, ERROR, COLUMNS };

struct job {
	char *test;
	uint64_t count;
	uint64_t *ns;
	size_t samples, capacity;
};

struct file {
	uint64_t ranks, extent;
	char *sync;
	int place[COLUMNS];	/* position of the column in a line; -1: absent */
	struct job *jobs;
	size_t count, capacity;
};

/* Does the function move p blocks of the size that counts? */
static bool
moves_all(const char *function)
{
#define FUNCTION(name, in, out) { "MPI_" #name, in >= ALL || out >= ALL },
	static const struct { const char *name; bool all; } known[] = { FUNCTIONS(FUNCTION) };

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(known[i].name, function) == 0)
			return known[i].all;
	return false;
}

/* As the stream names them. */
static struct samples
samples_of(const struct source *text, const struct file *f, const struct job *job)
{
#define MOCKUP(gl, function, name, words, extra) \
	{ #function "_as_" #name, "MPI_" #function, "mockup", #function " <= " words, gl, 0, 0, \
	    0, NULL },
	static const struct samples known[] = { MOCKUPS(MOCKUP) };
	struct samples samples = { job->test, job->test, "function", "", 0, 0, 0, 0, NULL };

	if (strncmp(job->test, "GL_", 3) == 0) {
		size_t i = 0;

		while (i < sizeof known / sizeof *known &&
		    strcmp(known[i].name, job->test + 3) != 0)
			i++;
		if (i == sizeof known / sizeof *known)
			die("%s: no guideline is known for %s", text->name, job->test);
		samples = known[i];
	}
	samples.bytes = job->count * f->extent;
	samples.volume = moves_all(samples.function) ? samples.bytes * f->ranks : samples.bytes;
	samples.count = job->samples;
	samples.ns = job->ns;
	return samples;
}

static void
take_key(const struct source *text, struct file *f, const char *line)
{
	const char *value = strchr(line, '=');

	if (strncmp(line, "#@", 2) != 0 || value == NULL)
		return;
	value++;
	if (strncmp(line, "#@nprocs=", 9) == 0) {
		f->ranks = strtoull(value, NULL, 10);
		if (f->ranks == 0 || f->ranks > INT32_MAX)
			die_line(text, "nprocs is out of range");
	} else if (strncmp(line, "#@datatype_extent_bytes=", 24) == 0)
		f->extent = strtoull(value, NULL, 10);
	else if (strncmp(line, "#@sync=", 7) == 0 || strncmp(line, "#@procsync=", 11) == 0) {
		free(f->sync);
		f->sync = need(strdup(value));
	}
}

static void
take_columns(const struct source *text, struct file *f, char *line)
{
	static const char *const names[][2] = {
		{ "test", "test" }, { "count", "msize_bytes" }, { "runtime_sec", "runtime_sec" },
		{ "errorcode", "errorcode" },
	};
	char *rest = line, *word;

	for (int c = 0; c < COLUMNS; c++)
		f->place[c] = -1;
	for (int at = 0; (word = strtok_r(rest, " \t", &rest)) != NULL; at++)
		for (int c = 0; c < COLUMNS; c++)
			if (strcmp(word, names[c][0]) == 0 || strcmp(word, names[c][1]) == 0)
				f->place[c] = at;
	if (f->place[TEST] < 0 || f->place[COUNT] < 0 || f->place[RUNTIME] < 0)
		die_line(text,
		    "test, count and runtime_sec are needed (a summary has no run times)");
}

static struct job *
job_of(struct file *f, const char *test, uint64_t count)
{
	for (size_t i = f->count; i-- > 0; )	/* nearly always the last one */
		if (f->jobs[i].count == count && strcmp(f->jobs[i].test, test) == 0)
			return &f->jobs[i];
	GROW(f->jobs, f->capacity, f->count + 1);
	f->jobs[f->count] = (struct job){ .test = need(strdup(test)), .count = count };
	return &f->jobs[f->count++];
}

static void
take_sample(const struct source *text, struct file *f, char *line)
{
	char *words[COLUMNS] = { NULL }, *rest = line, *word, *end;
	unsigned long long count;
	struct job *job;
	double seconds;

	for (int at = 0; (word = strtok_r(rest, " \t", &rest)) != NULL; at++)
		for (int c = 0; c < COLUMNS; c++)
			if (f->place[c] == at)
				words[c] = word;
	if (words[TEST] == NULL || words[COUNT] == NULL || words[RUNTIME] == NULL)
		die_line(text, "a column is missing");
	count = strtoull(words[COUNT], &end, 10);
	if (*end != '\0' || words[COUNT][0] == '-')
		die_line(text, "count is not a whole number");
	seconds = strtod(words[RUNTIME], &end);
	if (*end != '\0' || !(seconds >= 0 && seconds < 9e9))
		die_line(text, "runtime_sec is not a time");
	if (words[ERROR] != NULL && strcmp(words[ERROR], "0") != 0)
		return;		/* began late, or overran its window */
	job = job_of(f, words[TEST], count);
	*APPEND(job->ns, job->samples, job->capacity) = (uint64_t)llround(1e9 * seconds);
}

/*
 * ReproMPI 1.0 omits the copies of mock-ups. So GL_Gather_as_Allgather makes the same call as
 * MPI_Allgather: an A/A control.
 */
static void
put_control(const struct source *text, struct writer *out, const struct file *f,
    const struct job *job)
{
	for (const struct job *of = f->jobs; of < f->jobs + f->count; of++)
		if (strcmp(of->test, "MPI_Allgather") == 0 && of->count == job->count) {
			struct samples control = samples_of(text, f, of);

			control.name = "Gather_as_Allgather";
			control.role = "control";
			control.count = job->samples;
			control.ns = job->ns;
			write_samples(out, &control);
		}
}

void
take_reprompi(struct source *text, struct writer *out)
{
	struct file f = { .extent = 1 };
	bool columns = false;

	while (text_next(text)) {
		char *line = text->line;

		if (line[0] == '#')
			take_key(text, &f, line);
		else if (line[strspn(line, " \t")] == '\0')
			continue;
		else if (!columns) {
			take_columns(text, &f, line);
			columns = true;
		} else
			take_sample(text, &f, line);
	}
	if (f.ranks == 0)
		die("%s: no line #@nprocs=, so the number of ranks is not known", text->name);
	if (f.count == 0)
		die("%s: no run times", text->name);
	write_mpirun(out, f.ranks, f.sync != NULL ? f.sync : "");
	for (size_t i = 0; i < f.count; i++) {
		const struct samples samples = samples_of(text, &f, &f.jobs[i]);

		write_samples(out, &samples);
		if (strcmp(samples.name, "Gather_as_Allgather") == 0)
			put_control(text, out, &f, &f.jobs[i]);
	}
	for (size_t i = 0; i < f.count; i++) {
		free(f.jobs[i].test);
		free(f.jobs[i].ns);
	}
	free(f.jobs);
	free(f.sync);
}

/* ---- IMB and OSU ---- */

/*
 * A ping-pong as a table of bytes and microseconds per half round trip: plain, from osu_latency, or
 * from IMB's PingPong, which has the repetitions between the two.
 */

struct table {
	struct source *text;
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

void
take_pingpong(struct source *text, struct writer *out)
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
