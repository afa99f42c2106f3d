/* SPDX-License-Identifier: BSD-3-Clause */
/* Run times from tables (CSV, TSV) and from graph streams. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/run/span.h"
#include "../base/tool/text.h"
#include "fit.h"

enum { COLUMN_N, COLUMN_T, COLUMN_TAU, COLUMN_DTAU, COLUMNS };
static const char *const column_names[COLUMNS] = { "n", "t", "tau", "dtau" };

struct table {
	const char *file;
	unsigned long line;
	char separator;
	int column[64];		/* meaning of the fields of a line; -1: ignored */
	size_t columns;
};

/* The next field of a line, without blanks around it; NULL after the last. */
static char *
next_field(char **rest, char separator)
{
	char *field = *rest, *end;

	if (field == NULL)
		return NULL;
	if ((end = strchr(field, separator)) != NULL)
		*end = '\0';
	*rest = end != NULL ? end + 1 : NULL;
	field += strspn(field, " \t\r\n");
	for (end = field + strlen(field); end > field && strchr(" \t\r\n", end[-1]) != NULL; end--)
		end[-1] = '\0';
	return field;
}

static void
read_header(struct table *table, char *line)
{
	bool found[COLUMNS] = { false };
	char *field;

	table->separator = strchr(line, '\t') != NULL ? '\t' : ',';
	while ((field = next_field(&line, table->separator)) != NULL) {
		if (table->columns == sizeof table->column / sizeof table->column[0])
			die("%s:%lu: more than %zu columns", table->file,
			    table->line, table->columns);
		table->column[table->columns] = -1;
		for (int c = 0; c < COLUMNS; c++)
			if (strcmp(field, column_names[c]) == 0) {
				if (found[c])
					die("%s:%lu: two columns %s", table->file,
					    table->line, field);
				found[c] = true;
				table->column[table->columns] = c;
			}
		table->columns++;
	}
	if (!found[COLUMN_N] || !found[COLUMN_T])
		die("%s:%lu: a header with n and t is needed", table->file, table->line);
}

/* An empty field was not measured. */
static double
read_value(const struct table *table, int column, const char *field)
{
	char *end;
	double value;

	if (*field == '\0' && column >= COLUMN_TAU)
		return NAN;
	value = strtod(field, &end);
	if (end == field || *end != '\0' || !isfinite(value))
		die("%s:%lu: %s is no number: \"%.40s\"", table->file, table->line,
		    column_names[column], field);
	return value;
}

static void
read_run(const struct table *table, struct program *p, char *line)
{
	double value[COLUMNS] = { NAN, NAN, NAN, NAN };
	char *field;
	size_t i;

	for (i = 0; (field = next_field(&line, table->separator)) != NULL; i++) {
		if (i == table->columns)
			die("%s:%lu: more fields than in the header", table->file, table->line);
		if (table->column[i] >= 0)
			value[table->column[i]] = read_value(table, table->column[i], field);
	}
	if (isnan(value[COLUMN_N]) || isnan(value[COLUMN_T]))
		die("%s:%lu: n or t is missing", table->file, table->line);
	if (!(value[COLUMN_N] >= 1 && value[COLUMN_N] <= 1e9) ||
	    value[COLUMN_N] != floor(value[COLUMN_N]))
		die("%s:%lu: n is no whole number from 1 to 1e9", table->file, table->line);
	if (!(value[COLUMN_T] > 0))
		die("%s:%lu: t is not above 0", table->file, table->line);
	if (value[COLUMN_TAU] > value[COLUMN_T])
		die("%s:%lu: tau is above t", table->file, table->line);
	if (value[COLUMN_TAU] < 0 || value[COLUMN_DTAU] < 0)
		die("%s:%lu: tau or dtau is negative", table->file, table->line);
	*APPEND(p->runs, p->count, p->capacity) = (struct run){ value[COLUMN_N], value[COLUMN_T],
	    value[COLUMN_TAU], value[COLUMN_DTAU] };
}

/* The last part of a path, without its last dot and the rest. */
static char *
base_name(const char *path)
{
	const char *begin = file_name(path), *dot = strrchr(begin, '.');

	return need(dot != NULL && dot > begin ? strndup(begin, (size_t)(dot - begin)) :
	    strdup(begin));
}

ORDER(by_n, struct run, BY(n) BY(t))

/* Puts the runs in order. Returns the number of different n. */
static size_t
order_runs(struct program *p)
{
	size_t different = 0;

	SORT(p->runs, p->count, by_n);
	for (size_t i = 0; i < p->count; i++)
		different += i == 0 || p->runs[i].n != p->runs[i - 1].n;
	return different;
}

static void
read_table(FILE *in, const char *file, struct program *p)
{
	struct table table = { .file = file };
	char *line = NULL;
	size_t capacity = 0, different;
	ssize_t length;

	while ((length = getline(&line, &capacity, in)) >= 0) {
		char *text = line;

		table.line++;
		if (strlen(line) != (size_t)length)
			die("%s:%lu: a zero byte", file, table.line);
		if (table.line == 1 && strncmp(text, "\xef\xbb\xbf", 3) == 0)
			text += 3;
		text[strcspn(text, "#")] = '\0';
		if (text[strspn(text, " \t\r\n")] == '\0')
			continue;
		if (table.columns == 0)
			read_header(&table, text);
		else
			read_run(&table, p, text);
	}
	if (ferror(in))
		die("%s: %s", file, strerror(errno));
	if (table.columns == 0)
		die("%s:%lu: a header with n and t is needed", file, table.line);
	if (p->count < LEAST_RUNS)
		die("%s:%lu: %zu points, at least %d are needed", file, table.line,
		    p->count, LEAST_RUNS);
	if ((different = order_runs(p)) < LEAST_N)
		die("%s:%lu: %zu values of n, at least %d are needed", file, table.line,
		    different, LEAST_N);
	free(line);
}

/*
 * The run begins when the first rank leaves MPI_Init, and ends when the last enters MPI_Finalize
 * (base/run/span.h). That omits time outside the program's control, but not the waits of ranks for
 * each other there. WHOLE: the whole run instead.
 */
static struct run
read_graph(const char *file, bool whole)
{
	const struct rank_spans all = read_spans(file, true);
	const struct span *spans = all.spans;
	int64_t begin_ns = whole ? 0 : INT64_MAX, end_ns = whole ? all.run_ns : 0;
	struct run run = { .n = all.ranks };
	double run_ns, *tau = zalloc((size_t)all.ranks, sizeof *tau);

	if (all.ranks == 0 || all.run_ns <= 0)
		die("%s: no run with a run time", file);
	for (int32_t r = 0; r < all.ranks && !whole; r++) {
		begin_ns = smaller(begin_ns, spans[r].begin_ns);
		end_ns = larger(end_ns, spans[r].end_ns);
	}
	/* Whole nanoseconds, exact for any possible run; damaged input may have any times. */
	run_ns = (double)end_ns - (double)begin_ns;
	run.t = 1e-9 * run_ns;
	if (!(run.t > 0))
		die("%s: no time between MPI_Init and MPI_Finalize; --whole uses the whole run",
		    file);
	for (int32_t r = 0; r < all.ranks; r++) {
		tau[r] = 1e-9 *
		    (run_ns - (double)(whole ? spans[r].outside_ns : spans[r].useful_ns));
		run.tau += tau[r] / run.n;
	}
	for (int32_t r = 0; r < all.ranks && all.ranks > 1; r++)
		run.dtau += (tau[r] - run.tau) * (tau[r] - run.tau) / (run.n - 1);
	run.dtau = sqrt(run.dtau);
	run.tau = fmax(0, fmin(run.tau, run.t));	/* rounding */
	free(tau);
	free(all.spans);
	return run;
}

static struct program *
add_program(struct program **all, size_t *capacity, size_t *count, char *name)
{
	struct program *program = APPEND(*all, *count, *capacity);

	*program = (struct program){ .name = name };
	return program;
}

struct program *
read_programs(char **files, size_t count, bool whole, size_t *programs)
{
	struct program *all = NULL, *p;
	size_t capacity = 0;

	*programs = 0;
	for (size_t i = 0; i < (count > 0 ? count : 1); i++) {
		const bool is_stdin = count == 0 || strcmp(files[i], "-") == 0;
		const char *file = is_stdin ? "standard input" : files[i];
		FILE *in = is_stdin ? stdin : fopen(file, "r");

		if (in == NULL)
			die("%s: %s", file, strerror(errno));
		if (ungetc(getc(in), in) != 0x92) {	/* a stream begins with an array of two */
			p = add_program(&all, &capacity, programs, base_name(file));
			read_table(in, file, p);
		} else if (is_stdin || fseek(in, 0, SEEK_END) < 0)
			die("%s: graph streams are read from files only", file);
		else {
			/* graph streams of a folder, as on the command line, belong together */
			const char *slash = strrchr(file, '/');
			char *name = need(slash != NULL ? strndup(file, (size_t)(slash - file)) :
			    strdup("runs"));
			size_t k = 0;

			while (k < *programs && strcmp(all[k].name, name) != 0)
				k++;
			p = k < *programs ? &all[k] : add_program(&all, &capacity, programs, name);
			*APPEND(p->runs, p->count, p->capacity) = read_graph(file, whole);
		}
		if (!is_stdin)
			fclose(in);
	}
	for (p = all; p < all + *programs; p++) {
		const size_t different = order_runs(p);

		if (p->count < LEAST_RUNS || different < LEAST_N)
			die("%s: %zu points at %zu values of n, at least %d at %d are needed",
			    p->name, p->count, different, LEAST_RUNS, LEAST_N);
	}
	return all;
}
