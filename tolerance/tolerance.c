/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-tolerance - how much worse the network may be before a run takes longer
 *
 * reads   one graph stream; a file several times if links, buses or CPUs are limited
 * writes  run time against latency, 1/bandwidth and overhead of a call; as a stream after the input
 * memory  as lp-replay, and lines of ranks and of messages on their way since the ranks last heard
 *         of each other;
 *         for --sites 56 bytes for each sum and maximum of the run
 */
#include "tolerance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage[] =
	"usage: lp-tolerance [-n FILE] [--eager BYTES] [-p PERCENTS] [--range X] [--curves LIST]\n"
	"                    [--sites[=US]] [--scale WHAT] [-F text|json|csv|stream] [--partial] [FILE]\n"
	"Say how much worse the network may be before a run takes longer, from its graph stream.\n"
	"  -n, --network FILE  the machine: a Dimemas .cfg or lp-replay's own format [LogGP with a\n"
	"                      node for each rank, no latency and infinite bandwidth]\n"
	"      --eager BYTES   messages of so many bytes and more wait for their receiver\n"
	"                      [32k; with a Dimemas .cfg as the calls tell]\n"
	"  -p, --percents P    the largest values for runs that take P percent longer [1,2,5]\n"
	"      --range X       curves end at X times the machine's value [nowhere]\n"
	"      --curves LIST   only these curves: latency,gap,overhead\n"
	"      --sites[=US]    what is on the longest path, and gains from messages US earlier [10]\n"
	"      --scale WHAT    rank=N,site=NAME,call=NAME,factor=X: that computing, or with call=\n"
	"                      that communication, takes X times as long; may be repeated\n"
	"  -F, --format FORM   text, json, csv, or stream: the input and the curves [text]\n"
	"      --partial       replay an input that blocks up to there\n"
	"  -h, --help          print this text\n"
	"  -V, --version       print the version\n";

const char *const parameter_names[PARAMETERS] = { "latency", "gap", "overhead" };

static void
parse_percents(struct tolerance *t, const char *percents)
{
	char *copy = need(strdup(percents)), *rest = copy, *word;

	t->percent_count = 0;
	while ((word = strtok_r(rest, ",", &rest)) != NULL) {
		if (t->percent_count == MOST_PERCENTS)
			die("--percents %s: at most %d values", percents, MOST_PERCENTS);
		t->percents[t->percent_count++] = parse_number("--percents", word, 0, 1e6);
	}
	if (t->percent_count == 0)
		die("--percents: a percentage is missing");
	free(copy);
}

static void
parse_curves(struct tolerance *t, const char *names)
{
	char *copy = need(strdup(names)), *rest = copy, *word;

	memset(t->wanted, 0, sizeof t->wanted);
	while ((word = strtok_r(rest, ",", &rest)) != NULL) {
		int p = 0;

		while (p < PARAMETERS && strcmp(word, parameter_names[p]) != 0)
			p++;
		if (p == PARAMETERS)
			die("--curves: %s is none of latency, gap and overhead", word);
		t->wanted[p] = true;
	}
	free(copy);
}

#define OPTION(member) MEMBER(struct tolerance, member)

static void
parse_options(struct tolerance *t, int argc, char **argv)
{
	static const char *const forms[] = { "text", "json", "csv", "stream", NULL };
	enum { RANGE = 256, CURVES, SITES, SCALE };
	static const struct option_row rows[] = {
		{ "network", 'n', AS_TEXT, OPTION(replay.opt.network) },
		{ "eager", 0, AS_BYTES, OPTION(replay.opt.eager_bytes), 0, INT64_MAX },
		{ "percents", 'p', ASKED }, { "range", RANGE, ASKED }, { "curves", CURVES, ASKED },
		{ "sites", SITES, ASKED_MAYBE }, { "scale", SCALE, ASKED },
		{ "format", 'F', AS_FORM, OPTION(form), .choices = forms },
		{ "partial", 0, FLAG, OPTION(replay.opt.partial) }, OPTIONS_END
	};
	int c;

	t->replay.opt.plain = machine_loggp;
	t->replay.opt.eager_bytes = -1;
	parse_percents(t, "1,2,5");
	parse_curves(t, "latency,gap,overhead");
	while ((c = next_option(argc, argv, "", rows, usage, t)) != -1)
		switch (c) {
		case 'p': parse_percents(t, optarg); break;
		case RANGE: t->range = parse_number("--range", optarg, 0, 1e12); break;
		case CURVES: parse_curves(t, optarg); break;
		case SITES:
			t->sites = true;
			t->paths.earlier_ns = 1e3 * parse_number("--sites",
			    optarg != NULL ? optarg : "10", 0, 1e12);
			break;
		case SCALE: scale_add(&t->replay.opt.scales, optarg, argc, argv, &optind); break;
		}
	if (argc - optind > 1)
		bad_usage(usage);
	t->replay.opt.file = argv[optind];
}

static double
end_of(const struct tolerance *t, int p)
{
	return t->range > 0 && t->base[p] > 0 ? t->range * t->base[p] : INFINITY;
}

/* Watches the engine, unless something is limited. */
static void
begin(struct tolerance *t)
{
	struct engine *e = &t->replay.engine;
	const struct machine *m = e->machine;
	size_t n = 0;

	for (int p = 0; p < PARAMETERS; p++)
		t->base[p] = machine_value(m, (enum parameter)p);
	t->sampled = e->contended ? "links, buses or CPUs are limited" :
	    !machine_is_uniform(m, LATENCY) ? "latency differs between nodes" :
	    !machine_is_uniform(m, GAP) ? "bandwidth differs between machines" : NULL;
	if (t->sampled != NULL)
		return;
	for (int p = 0; p < PARAMETERS; p++)
		if (t->wanted[p]) {
			t->curves[p] = (struct curve){ .parameter = (enum parameter)p,
			    .base = t->base[p], .range = end_of(t, p),
			    .locations = e->locations, .generation = 1 };
			t->watchers[n++] = curve_watcher(&t->curves[p]);
		}
	if (t->sites)
		t->watchers[n++] = paths_watcher(&t->paths, e->locations);
	marks_begin(e, &t->marks, t->watchers, n);
	t->marks.pays = t->sites;
}

static double
run_ns(const struct engine *e)
{
	int64_t last_ns = 0;

	for (uint32_t l = 0; l < e->locations; l++)
		last_ns = finish_ns(&e->runners[l]) > last_ns ? finish_ns(&e->runners[l]) : last_ns;
	return (double)last_ns;
}

/* The run time with one parameter changed. A separate process returns all of its memory. */
static double
try(const struct replay_options *opt, enum parameter parameter, double value)
{
	int ends[2], status;
	pid_t child;
	double ns = 0;

	if (opt->file == NULL || strcmp(opt->file, "-") == 0)
		die("limited resources: the run is replayed several times, so it must be a FILE");
	if (fflush(stdout) != 0 || pipe(ends) < 0 || (child = fork()) < 0)
		die("no process for a replay");
	if (child == 0) {
		static struct replay again;
		struct progress progress = { 0 };
		struct message message;

		again.opt = *opt;
		replay_open(&again);
		machine_set(&again.machine, parameter, value);
		while (progress_next(&progress, again.graph.in, &message))
			replay_take(&again, &message);
		replay_end(&again);
		ns = run_ns(&again.engine);
		_exit(write(ends[1], &ns, sizeof ns) == sizeof ns ? DONE : TROUBLE);
	}
	close(ends[1]);
	if (read(ends[0], &ns, sizeof ns) != sizeof ns ||
	    waitpid(child, &status, 0) < 0 || status != 0)
		die("a replay with another %s failed", parameter_names[parameter]);
	close(ends[0]);
	return ns;
}

/* Tries some values on a limited machine; for a parameter that is 0, usual steps. */
static void
sample(struct tolerance *t, int p)
{
	static const double factors[] = { 0, 0.1, 0.2, 0.5, 1, 1.5, 2, 3, 5, 10, 20, 50 };
	static const double units[PARAMETERS] = { 1000, 0.1, 100 };	/* ns, ns a byte, ns */
	enum { FACTORS = sizeof factors / sizeof *factors };
	double unit = t->base[p] > 0 ? t->base[p] : units[p], values[FACTORS], ns[FACTORS];
	size_t n = 0;

	for (int i = 0; i < FACTORS; i++)
		if (factors[i] * unit <= end_of(t, p))
			values[n++] = factors[i] * unit;
	for (size_t i = 0; i < n; i++)
		ns[i] = try(&t->replay.opt, (enum parameter)p, values[i]);
	t->pieces[p] = zalloc(n, sizeof *t->pieces[p]);
	t->piece_count[p] = n - 1;
	for (size_t i = 0; i + 1 < n; i++)
		t->pieces[p][i] = (struct piece){ values[i], values[i + 1], ns[i],
		    (ns[i + 1] - ns[i]) / (values[i + 1] - values[i]), NULL, 0 };
}

static void
find_curves(struct tolerance *t)
{
	const struct engine *e = &t->replay.engine;

	t->run_ns = run_ns(e);
	for (uint32_t l = 0; l < e->locations; l++)
		t->recorded_ns = fmax(t->recorded_ns, (double)e->runners[l].recorded_leave_ns);
	if (t->sampled == NULL)
		t->sampled = t->marks.broken;
	for (int p = 0; p < PARAMETERS; p++) {
		if (!t->wanted[p])
			continue;
		if (t->sampled != NULL)
			sample(t, p);
		else
			t->piece_count[p] = curve_end(&t->curves[p], &t->pieces[p]);
		for (size_t i = 0; i < t->piece_count[p]; i++) {
			t->pieces[p][i].parameter = parameter_names[p];
			t->pieces[p][i].exact = t->sampled == NULL;
		}
	}
}

int
main(int argc, char **argv)
{
	static struct tolerance t;
	struct replay *r = &t.replay;
	struct progress progress = { 0 };
	struct message message;
	struct writer out;

	tool = "lp-tolerance";
	parse_options(&t, argc, argv);
	refuse_terminal_input(r->opt.file, usage);
	if (t.form == STREAM)
		refuse_terminal_output();
	replay_open(r);
	if (t.form == STREAM)
		need_output(writer_open(&out, STDOUT_FILENO, reader_content(r->graph.in),
		    r->graph.in, argc, argv));
	while (progress_next(&progress, r->graph.in, &message)) {
		enum graph_item item = replay_take(r, &message);

		if (item == GRAPH_RUN)
			begin(&t);
		if (t.form == STREAM)
			need_output(writer_pass(&out, &message,
			    item == GRAPH_CALLS ? r->graph.calls.count : 0));
	}
	replay_end(r);
	find_curves(&t);
	if (t.form != STREAM) {
		tolerance_print(&t);
		return finish(DONE);
	}
	tolerance_write(&t, &out);
	need_output(writer_end(&out));
	return DONE;
}
