/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-replay - what a run would be on another network
 *
 * reads   one graph stream
 * writes  the same with simulated times, or a report
 * memory  ranks, and the rows between the first that is not yet simulated and the last read
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "replay.h"
#include "tolerance/tolerance.h"

static const char usage[] =
	"usage: lp-replay [-n FILE] [--eager BYTES] [-F stream|json|text|csv] [--partial]\n"
	"                 [--monitor RANKS] [--regions] [--scale WHAT] [--explain WHO] [FILE]\n"
	"Turn the recorded times of a graph stream into those of another network.\n"
	"  -n, --network FILE  the machine: a Dimemas .cfg or lp-replay's own format [ideal]\n"
	"      --eager BYTES   messages of so many bytes and more wait for their receiver\n"
	"                      [32k; with a Dimemas .cfg as the calls tell]\n"
	"  -F, --format FORM   stream, json, text or csv [stream]\n"
	"      --monitor RANKS transfer efficiency by pair of computing and call: all, or 0,2-3\n"
	"      --regions       instead of the pairs the phases they show\n"
	"      --scale WHAT    rank=N,site=NAME,call=NAME,factor=X: that computing, or with call=\n"
	"                      that communication, takes X times as long; may be repeated\n"
	"      --explain WHO   where the time of a rank, or of the message location:row, went\n"
	"      --whole         efficiencies of all the run, its start, Init and Finalize too\n"
	"      --tolerance[=P] run time against latency, 1/bandwidth and overhead of a call, and\n"
	"                      how large they may be for P percent more [1,2,5]\n"
	"      --range X       its curves end at X times the machine's value [nowhere]\n"
	"      --curves LIST   only these of latency,gap,overhead\n"
	"      --sites[=US]    who is on the longest way, and gains from messages US earlier [10]\n"
	"      --partial       replay an input that blocks up to there\n"
	"  -h, --help          print this text\n"
	"  -V, --version       print the version\n";

struct options {
	const char *network;	/* NULL: the ideal one */
	int64_t eager_bytes;	/* -1: not given */
	enum form form;
	bool partial, regions, whole;
	struct monitor monitor;	/* ranks NULL: none */
	struct scales scales;
	struct explain explain;
	struct tolerance tolerance;
	const char *file;	/* NULL or "-": standard input */
};

static struct options
parse_options(int argc, char **argv)
{
	static const char *const forms[] = { "stream", "json", "text", "csv", NULL };
	static const struct option longs[] = {
		{ "network", required_argument, NULL, 'n' }, { "eager", required_argument, NULL, 'E' },
		{ "format", required_argument, NULL, 'F' }, { "partial", no_argument, NULL, 'P' },
		{ "monitor", required_argument, NULL, 'M' }, { "regions", no_argument, NULL, 'R' },
		{ "scale", required_argument, NULL, 'S' }, { "explain", required_argument, NULL, 'X' },
		{ "whole", no_argument, NULL, 'W' },
		{ "tolerance", optional_argument, NULL, 'T' }, { "range", required_argument, NULL, 'G' },
		{ "curves", required_argument, NULL, 'C' }, { "sites", optional_argument, NULL, 'I' },
		{ NULL, 0, NULL, 0 },
	};
	struct options opt = { .eager_bytes = -1, .form = GRAPH };
	const char *curves = NULL;
	int c;

	while ((c = next_option(argc, argv, "n:F:", longs, usage)) != -1)
		switch (c) {
		case 'n': opt.network = optarg; break;
		case 'E': opt.eager_bytes = parse_bytes("--eager", optarg, 0, INT64_MAX); break;
		case 'F': opt.form = (enum form)parse_form(optarg, forms); break;
		case 'M': opt.monitor.ranks = optarg; break;
		case 'R': opt.regions = true; break;
		case 'S': scale_add(&opt.scales, optarg, argc, argv, &optind); break;
		case 'X': explain_parse(&opt.explain, optarg); break;
		case 'P': opt.partial = true; break;
		case 'W': opt.whole = true; break;
		case 'T': tolerance_parse(&opt.tolerance, optarg); break;
		case 'C': curves = optarg; break;
		case 'I':
			opt.tolerance.sites = true;
			opt.tolerance.paths.earlier_ns = 1e3 * parse_number("--sites",
			    optarg != NULL ? optarg : "10", 0, 1e12);
			break;
		case 'G': opt.tolerance.range = parse_number("--range", optarg, 0, 1e12); break;
		}
	if (argc - optind > 1)
		bad_usage(usage);
	if (opt.regions && opt.monitor.ranks == NULL)
		opt.monitor.ranks = "0";
	if (opt.tolerance.sites && !opt.tolerance.asked)
		tolerance_parse(&opt.tolerance, NULL);
	if (curves != NULL)
		tolerance_curves(&opt.tolerance, curves);
	opt.file = argv[optind];
	return opt;
}

struct state {
	struct options opt;
	struct graph_input graph;	/* rows are in the engine's lanes */
	struct machine machine;
	struct engine engine;
	struct output *output;	/* NULL: a report */
	struct result result;
	bool begun;		/* the message of kind run has come */
};

/* A call has been left. Its rows are needed no more, unless they are to be written. */
static void
done(void *context, uint32_t location, uint64_t first, uint64_t end)
{
	struct state *s = context;
	struct engine *e = &s->engine;
	const struct runner *r = &e->runners[location];

	if (s->opt.monitor.ranks != NULL && location == r->rank)
		monitor_take(&s->opt.monitor, r->rank, row_at(e, location, first)->call,
		    r->recorded_leave_ns, (int64_t)(r->now_ns + 0.5), r->recorded_useful_ns);
	if (s->output == NULL)
		lane_drop(&e->lanes[location], end);
}

static double
scale(void *context, uint32_t rank, const struct replay_row *row, bool compute)
{
	struct state *s = context;

	return scale_factor(&s->opt.scales, &s->graph.known, rank, row->call, row->site, compute);
}

static void
slept(void *context, uint32_t location, const struct op *op, double begin_ns)
{
	struct state *s = context;
	struct runner *r = &s->engine.runners[location];

	explain_wait(&r->spent, &s->engine, op, begin_ns, r->now_ns, r->woken_ns);
}

static void
over(void *context, uint32_t flight)
{
	struct state *s = context;
	const struct flight *f = &s->engine.flights[flight];

	if (f->source == s->opt.explain.location && (f->flags & MESSAGE_PART) == 0 &&
	    s->engine.trails[flight].send_seq == s->opt.explain.seq)
		explain_message(&s->engine, flight);
}

static void
take_useful(struct state *s, const struct message *message)
{
	static const struct column_type time_type = { 8, true, true, 0 };
	struct result *r = &s->result;
	size_t n = (size_t)s->graph.known.ranks;
	int64_t count;

	r->running_ns = zalloc(n, sizeof *r->running_ns);
	r->instructions = zalloc(n, sizeof *r->instructions);
	r->cycles = zalloc(n, sizeof *r->cycles);
	if (body_int(s->graph.in, message, "count", (int64_t)n, (int64_t)n, &count) < 0 ||
	    body_column(s->graph.in, message, "running", time_type, n, n, r->running_ns) < 0 ||
	    body_column(s->graph.in, message, "instructions", time_type, n, n, r->instructions) < 0 ||
	    body_column(s->graph.in, message, "cycles", time_type, n, n, r->cycles) < 0)
		die_input(s->graph.in);
}

/* Who looks on costs time, so only who is asked for does. */
static void
begin_run(struct state *s)
{
	struct engine *e = &s->engine;

	machine_map(&s->machine, (uint32_t)s->graph.known.ranks);
	engine_begin(e, &s->machine, &s->graph.known);
	e->context = s;
	e->done = done;
	e->scale = s->opt.scales.count > 0 ? scale : NULL;
	e->explains = s->opt.explain.asked;
	e->slept = s->opt.explain.asked && !s->opt.explain.message ? slept : NULL;
	e->over = s->opt.explain.message ? over : NULL;
	if (s->opt.tolerance.asked)
		tolerance_begin(&s->opt.tolerance, e);
	if (s->opt.monitor.ranks != NULL)
		monitor_run(&s->opt.monitor, (uint32_t)s->graph.known.ranks);
	s->begun = true;
}

static void
take_message(struct state *s, const struct message *message)
{
	struct graph_input *g = &s->graph;
	struct engine *e = &s->engine;
	enum graph_item item = graph_take(g, message);
	int taken = 0;

	switch (item) {
	case GRAPH_RUN: begin_run(s); break;
	case GRAPH_CALLS: taken = lanes_add(e, g->in, message, &g->calls); break;
	case GRAPH_MESSAGES: case GRAPH_PROBES: taken = lanes_messages(e, g->in, message, &g->edges); break;
	case GRAPH_COLLECTIVES: taken = lanes_collectives(e, g->in, message, &g->edges); break;
	default:
		if (is_kind(message, "useful"))
			take_useful(s, message);
	}
	if (taken < 0)
		die_input(g->in);
	if (s->output != NULL)
		output_take(s->output, message, &g->calls);
	if (item == GRAPH_SETTLED || item == GRAPH_SYNC) {
		if (lanes_settle(e, g->in, message, g->seqs) < 0)
			die_input(g->in);
		engine_run(e);
		if (s->output != NULL)
			output_flush(s->output, e);
	}
}

/* Everything has been read; who is not at the end will never be. */
static void
end_replay(struct state *s, bool partial)
{
	struct engine *e = &s->engine;
	size_t unreceived;
	unsigned blocked;

	lanes_end(e);
	engine_run(e);
	blocked = name_blocked(e);
	unreceived = e->lost_sends.count;
	if (unreceived > 0)
		note("%zu sends have no receive", unreceived);
	if (blocked == 0 && unreceived == 0)
		return;
	if (!partial)
		die("the run does not come to its end; --partial replays up to there");
	note("the replay is partial: %u of %u ranks blocked", blocked, e->locations);
}

static void
write_or_print(struct state *s, int argc, char **argv)
{
	struct options *opt = &s->opt;
	struct result *result = &s->result;

	if (opt->explain.asked) {
		if (!opt->explain.message)	/* that of a message has been said */
			explain_rank(&s->engine, opt->explain.location);
	} else if (opt->form == GRAPH) {
		output_flush(s->output, &s->engine);
		output_partial(s->output, &s->engine);	/* nothing is left, unless the run is blocked */
		if (opt->monitor.ranks != NULL)
			monitor_write(&opt->monitor, output_writer(s->output));
		if (opt->regions)
			regions_write(&opt->monitor, output_writer(s->output));
		if (opt->tolerance.asked)
			tolerance_write(&opt->tolerance, output_writer(s->output));
		output_end(s->output, &s->engine, result, s->graph.in, argc, argv);
	} else if (opt->tolerance.asked)
		tolerance_print(&opt->tolerance, opt->form);
	else if (opt->form == TEXT && opt->regions)
		regions_print(&opt->monitor);
	else if (opt->form == TEXT && opt->monitor.ranks != NULL)
		monitor_print(&opt->monitor);
	else
		result_print(result, opt->form);
}

static void
choose_machine(struct state *s)
{
	if (s->opt.network != NULL)
		machine_read(&s->machine, s->opt.network);
	else if (s->opt.tolerance.asked)
		machine_loggp(&s->machine);
	else
		machine_ideal(&s->machine);
	if (s->opt.eager_bytes >= 0)
		s->machine.eager_bytes = s->opt.eager_bytes;
}

/* Reads a stream to its end and replays it. */
static void
replay(struct state *s)
{
	struct progress progress = { 0 };
	struct message message;

	graph_open(&s->graph, s->opt.file, READ_STREAM);
	while (progress_next(&progress, s->graph.in, &message))
		take_message(s, &message);
	if (!s->begun)
		die("the stream has no message of kind run");
	end_replay(s, s->opt.partial);
}

/* The run time with one parameter changed, by a process of its own, which begins as this one did. */
static double
try(void *context, enum parameter parameter, double value)
{
	const struct state *s = context;
	int ends[2], status;
	pid_t child;
	double run_ns = 0;

	if (s->opt.file == NULL || strcmp(s->opt.file, "-") == 0)
		die("limited resources: the run is replayed several times, so it must be a FILE");
	if (fflush(stdout) != 0 || pipe(ends) < 0 || (child = fork()) < 0)
		die("no process for a replay");
	if (child == 0) {
		static struct state again;

		again.opt = s->opt;
		again.opt.tolerance.asked = false;
		again.opt.form = JSON;
		choose_machine(&again);
		machine_set(&again.machine, parameter, value);
		replay(&again);
		result_of(&again.result, &again.engine);
		run_ns = (double)again.result.run_ns;
		_exit(write(ends[1], &run_ns, sizeof run_ns) == sizeof run_ns ? DONE : TROUBLE);
	}
	close(ends[1]);
	if (read(ends[0], &run_ns, sizeof run_ns) != sizeof run_ns || waitpid(child, &status, 0) < 0 ||
	    status != 0)
		die("a replay with another %s failed", parameter_names[parameter]);
	close(ends[0]);
	return run_ns;
}

int
main(int argc, char **argv)
{
	static struct state s;

	tool = "lp-replay";
	s.opt = parse_options(argc, argv);
	refuse_terminal_input(s.opt.file, usage);
	if (s.opt.form == GRAPH && !s.opt.explain.asked)
		refuse_terminal_output();
	choose_machine(&s);
	if (s.opt.form == GRAPH && !s.opt.explain.asked)
		s.output = output_begin();
	replay(&s);
	s.result.whole = s.opt.whole;
	result_of(&s.result, &s.engine);
	if (s.opt.tolerance.asked)
		tolerance_end(&s.opt.tolerance, (double)s.result.run_ns, try, &s);
	write_or_print(&s, argc, argv);
	return s.output != NULL ? DONE : finish(DONE);
}
