/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-nrep - how many repetitions a measurement of each MPI function needs
 *
 * runs    as all ranks of one mpirun
 * writes  a table, by rank 0: function, size, ranks, repetitions, and their stability
 * memory  buffers for the largest call, and the times of one function at one size
 *
 * Methods and steps are those of PGMPI: see catalogue.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/tool/fields.h"
#include "measure.h"

static const char usage[] =
	"usage: lp-nrep [OPTION...], as the ranks of an mpirun\n"
	"Predict the repetitions that functions of the MPI library need; a table.\n"
	"  -f, --functions LIST   names, separated by commas [all]\n"
	"  -s, --sizes LIST       bytes a block [8,64,512,4096,32768,262144]\n"
	"      --rse T            relative standard error, threshold [0.01 if no other]\n"
	"      --cov-mean T       coefficient of variation of the last means [off]\n"
	"      --cov-median T     and of the last medians [off]\n"
	"      --mean-window N    how many means are the last ones [20]\n"
	"      --median-window N  how many medians [20]\n"
	"      --min N            repetitions at least [20]\n"
	"      --max N            and at most [2000]\n"
	"      --step N           first step; it doubles each time [5]\n"
	"      --predictions N    the greatest of so many is taken [3]\n"
	"  -S, --sync HOW         dissemination, barrier or window [dissemination]\n"
	"      --window US        microseconds from start to start [1000]\n"
	"  -w, --warm-up N        calls before any is timed [20]\n"
	"  -B, --budget SECONDS   end in about this time [no limit]\n"
	"      --steps FILE       the three values at each step, too: how they converge\n"
	"      --seed N           of the order [1]\n"
	"  -h, --help             print this text\n"
	"  -V, --version          print the version\n";

enum method { RSE, COV_MEAN, COV_MEDIAN, METHODS };

struct options {
	const char *functions, *sizes, *steps;
	double threshold[METHODS];	/* 0: the method is not used */
	size_t window[METHODS];		/* values; RSE has none */
	size_t min, max, step, predictions, warm_up;
	enum sync_kind sync;
	int64_t window_us, budget_ns;	/* budget 0: none */
	int64_t seed;
};

/* A function at a size, and its result so far. */
struct job {
	const struct subject *function;
	size_t bytes, reps;
	double value[METHODS];		/* at that many; NAN: unknown */
	const char *end;		/* "steady", "max" or "budget" */
	/* For output: */
	const char *name;
	int ranks;
};

#define JOB(member) FIELD(struct job, member)
static const struct field job_fields[] = {
	{ "function", JOB(name), .text = PLAIN },
	{ "m_bytes", JOB(bytes), .text = PLAIN },
	{ "ranks", JOB(ranks), .text = PLAIN },
	{ "nrep", JOB(reps), .text = PLAIN },
	{ "rse", JOB(value[RSE]), .text = "%.4f" },
	{ "cov_mean", JOB(value[COV_MEAN]), .text = "%.4f" },
	{ "cov_median", JOB(value[COV_MEDIAN]), .text = "%.4f" },
	{ "end", JOB(end), .text = PLAIN },
	FIELDS_END
};

struct state {
	struct options opt;
	struct sync sync;
	struct call call;
	struct job *jobs;
	size_t count;
	struct timed *timed;		/* opt.max each */
	struct sample times;
	int64_t began_ns;
	FILE *steps;			/* on rank 0, or NULL */
};

#define OPTION(member) MEMBER(struct options, member)

enum { MOST_COUNT = 10000000 };

static struct options
parse_options(int argc, char **argv)
{
	static const struct option_row rows[] = {
		{ "functions", 'f', AS_TEXT, OPTION(functions) },
		{ "sizes", 's', AS_TEXT, OPTION(sizes) },
		{ "rse", 0, AS_NUMBER, OPTION(threshold[RSE]), .from = 1e-9, .to = 1 },
		{ "cov-mean", 0, AS_NUMBER, OPTION(threshold[COV_MEAN]), .from = 1e-9, .to = 1 },
		{ "cov-median", 0, AS_NUMBER, OPTION(threshold[COV_MEDIAN]), .from = 1e-9,
		    .to = 1 },
		{ "mean-window", 0, AS_WHOLE, OPTION(window[COV_MEAN]), 2, MOST_COUNT },
		{ "median-window", 0, AS_WHOLE, OPTION(window[COV_MEDIAN]), 2, MOST_COUNT },
		{ "min", 0, AS_WHOLE, OPTION(min), 2, MOST_COUNT },
		{ "max", 0, AS_WHOLE, OPTION(max), 2, MOST_COUNT },
		{ "step", 0, AS_WHOLE, OPTION(step), 1, MOST_COUNT },
		{ "predictions", 0, AS_WHOLE, OPTION(predictions), 1, MOST_COUNT },
		{ "sync", 'S', AS_CHOICE, OPTION(sync), .choices = sync_names },
		{ "window", 0, AS_WHOLE, OPTION(window_us), 1, 1000000000 },
		{ "warm-up", 'w', AS_WHOLE, OPTION(warm_up), 0, MOST_COUNT },
		{ "steps", 0, AS_TEXT, OPTION(steps) },
		{ "budget", 'B', AS_SECONDS, OPTION(budget_ns) },
		{ "seed", 0, AS_WHOLE, OPTION(seed), 0, INT64_MAX },
		OPTIONS_END
	};
	struct options opt = { .functions = "all", .sizes = "8,64,512,4096,32768,262144",
	    .window = { 0, 20, 20 }, .min = 20, .max = 2000, .step = 5, .predictions = 3,
	    .warm_up = 20, .window_us = 1000, .seed = 1 };

	next_option(argc, argv, "", rows, usage, &opt);
	if (optind < argc)
		bad_usage(usage);
	if (opt.min > opt.max)
		die("--min %zu is more than --max %zu", opt.min, opt.max);
	if (!(opt.threshold[COV_MEAN] > 0) && !(opt.threshold[COV_MEDIAN] > 0) &&
	    !(opt.threshold[RSE] > 0))
		opt.threshold[RSE] = 0.01;
	return opt;
}

/* The first COUNT times that are within Tukey's fences, in order; all if there are 10 or fewer. */
static struct sample
fenced(const struct state *s, size_t count, bool fence)
{
	struct sample kept = { zalloc(count, sizeof(double)), count };
	double low = -INFINITY, high = INFINITY;

	for (size_t i = 0; i < count; i++)
		kept.at[i] = s->times.at[i];
	if (fence && count > 10)
		fences(kept, &low, &high);	/* sorts them */
	kept.count = 0;
	for (size_t i = 0; i < count; i++)
		if (s->times.at[i] >= low && s->times.at[i] <= high)
			kept.at[kept.count++] = s->times.at[i];
	return kept;
}

/* Standard deviation over mean of the means (medians) of the first n, n-1, ... n-window+1 times. */
static double
variation(const struct state *s, size_t count, enum method method)
{
	struct sample kept = fenced(s, count, method == COV_MEAN), copy = { zalloc(count, 8), 0 };
	size_t window = s->opt.window[method];
	struct sample last = { zalloc(window, sizeof(double)), window };
	double result = NAN;

	if (kept.count > window) {
		for (size_t i = 0; i < window; i++) {
			copy.count = kept.count - i;
			memcpy(copy.at, kept.at, copy.count * sizeof *copy.at);
			last.at[i] = method == COV_MEAN ? mean(copy) : median(copy);
		}
		result = standard_deviation(last) / mean(last);
	}
	free(kept.at);
	free(copy.at);
	free(last.at);
	return result;
}

static bool
is_steady(const struct state *s, size_t count, double value[METHODS])
{
	struct sample kept = fenced(s, count, true);
	bool steady = true;

	value[RSE] = standard_deviation(kept) / sqrt((double)kept.count) / mean(kept);
	free(kept.at);
	value[COV_MEAN] = variation(s, count, COV_MEAN);
	value[COV_MEDIAN] = variation(s, count, COV_MEDIAN);
	for (enum method m = RSE; m < METHODS; m++)
		if (s->opt.threshold[m] > 0 && !(value[m] <= s->opt.threshold[m]))
			steady = false;
	return steady;
}

/* nrep(0) = min, nrep(i) = nrep(i-1) + step 2^(i-1), until all methods are satisfied. */
static void
predict(struct state *s, struct job *job, size_t round, int64_t end_ns)
{
	size_t count = 0, next = s->opt.min, step = s->opt.step;
	double value[METHODS];
	const char *end = NULL;

	set_call(&s->call, job->function, job->bytes / s->call.extent);
	for (size_t i = 0; i < s->opt.warm_up; i++)
		job->function->run(&s->call);
	if (s->sync.kind == WINDOW)
		sync_clocks(&s->sync);
	while (end == NULL) {
		int late = s->opt.budget_ns > 0 && now_ns() > end_ns;
		bool steady;

		for (size_t i = count; i < next; i++)
			s->timed[i] = (struct timed){ job->function->run, &s->call, 0 };
		time_calls(&s->sync, s->timed + count, next - count);
		for (; count < next; count++)
			s->times.at[count] = (double)s->timed[count].ns;
		if (s->opt.budget_ns > 0)
			MPI_Bcast(&late, 1, MPI_INT, 0, s->call.comm);
		steady = is_steady(s, count, value);
		if (s->steps != NULL)
			fprintf(s->steps, "%s\t%zu\t%d\t%zu\t%zu\t%.6g\t%.6g\t%.6g\n",
			    job->function->name, job->bytes, s->call.ranks, round + 1, count,
			    value[RSE], value[COV_MEAN], value[COV_MEDIAN]);
		end = steady ? "steady" : count == s->opt.max ? "max" : late ? "budget" : NULL;
		next = s->opt.max - count < step ? s->opt.max : count + step;
		step *= 2;
	}
	if (count > job->reps) {
		job->reps = count;
		job->end = end;
		memcpy(job->value, value, sizeof value);
	}
}

static void
plan(struct state *s)
{
	bool *chosen = choose_functions(s->opt.functions);
	size_t *sizes, size_count = parse_sizes("--sizes", s->opt.sizes, &sizes), capacity = 0;

	s->call = make_call(MPI_COMM_WORLD, 0, BYTE, sizes[size_count - 1]);
	for (size_t f = 0; f < function_count; f++)
		for (size_t i = 0; chosen[f] && i < size_count; i++) {
			size_t bytes = functions[f].input == NONE ? 0 : sizes[i];

			if (functions[f].input == NONE && i > 0)
				break;
			*APPEND(s->jobs, s->count, capacity) = (struct job){
			    .function = &functions[f], .bytes = bytes,
			    .name = functions[f].name, .ranks = s->call.ranks };
		}
	s->sync = (struct sync){ s->opt.sync, s->call.comm, s->call.rank, s->call.ranks,
	    1000 * s->opt.window_us, 0, 0 };
	s->timed = zalloc(s->opt.max, sizeof *s->timed);
	s->times = (struct sample){ zalloc(s->opt.max, sizeof(double)), s->opt.max };
	free(chosen);
	free(sizes);
}

/* Each prediction runs all jobs in a new order. */
static void
predict_all(struct state *s)
{
	struct random random = { (uint64_t)s->opt.seed };
	size_t *order = zalloc(s->count, sizeof *order), left = s->opt.predictions * s->count;

	for (size_t round = 0; round < s->opt.predictions; round++) {
		random_order(&random, order, s->count);
		for (size_t i = 0; i < s->count; i++, left--) {
			int64_t now = now_ns();

			predict(s, &s->jobs[order[i]], round,
			    now + (s->began_ns + s->opt.budget_ns - now) / (int64_t)left);
		}
	}
	free(order);
}

int
main(int argc, char **argv)
{
	static struct state s;
	static struct text text;	/* too large for the stack */

	tool = "lp-nrep";
	s.opt = parse_options(argc, argv);
	MPI_Init(&argc, &argv);
	s.began_ns = now_ns();
	plan(&s);
	if (is_refused_launch(&s.call)) {
		MPI_Finalize();
		return TROUBLE;
	}
	if (s.opt.steps != NULL && s.call.rank == 0) {
		s.steps = fopen(s.opt.steps, "w");
		if (s.steps == NULL)
			die("%s: %s", s.opt.steps, strerror(errno));
		fprintf(s.steps, "function\tm_bytes\tranks\tprediction\tnrep\trse\tcov_mean\t"
		    "cov_median\n");
	}
	predict_all(&s);
	if (s.steps != NULL && fclose(s.steps) != 0)
		die("%s: %s", s.opt.steps, strerror(errno));
	note_budget(&s.call, s.began_ns, s.opt.budget_ns);
	if (s.call.rank == 0) {
		text_begin(&text, stdout, NULL);
		table_rows(&text, job_fields, s.jobs, s.count, sizeof *s.jobs);
		text_flush(&text);
	}
	MPI_Finalize();
	return finish(DONE);
}
