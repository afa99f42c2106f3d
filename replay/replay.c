/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-replay - the run on another network
 *
 * reads   one graph stream
 * writes  the same with simulated times, or a report
 * memory  ranks, and the rows from the first that is not yet simulated to the last read
 */
#include "replay.h"

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
	"      --partial       replay an input that blocks up to there\n"
	"  -h, --help          print this text\n"
	"  -V, --version       print the version\n";

struct state {
	enum form form;
	bool regions;
	struct monitor monitor;	/* ranks NULL: none */
	struct explain explain;
	struct replay replay;
	struct output *output;	/* NULL: a report */
	struct text text;
	struct result result;
};

#define OPTION(member) MEMBER(struct state, member)

static void
parse_options(struct state *s, int argc, char **argv)
{
	static const char *const forms[] = { "stream", "json", "text", "csv", NULL };
	enum { SCALE = 256, EXPLAIN, GONE };
	static const struct option_row rows[] = {
		{ "network", 'n', AS_TEXT, OPTION(replay.opt.network) },
		{ "eager", 0, AS_BYTES, OPTION(replay.opt.eager_bytes), 0, INT64_MAX },
		{ "format", 'F', AS_FORM, OPTION(form), .choices = forms },
		{ "partial", 0, FLAG, OPTION(replay.opt.partial) },
		{ "monitor", 0, AS_TEXT, OPTION(monitor.ranks) },
		{ "regions", 0, FLAG, OPTION(regions) }, { "scale", SCALE, ASKED },
		{ "explain", EXPLAIN, ASKED }, { "whole", 0, FLAG, OPTION(result.whole) },
		{ "tolerance", GONE, ASKED_MAYBE }, { "range", GONE, ASKED },
		{ "curves", GONE, ASKED }, { "sites", GONE, ASKED_MAYBE }, OPTIONS_END
	};
	int c;

	s->replay.opt.plain = machine_ideal;
	s->replay.opt.eager_bytes = -1;
	while ((c = next_option(argc, argv, "", rows, usage, s)) != -1)
		switch (c) {
		case SCALE: scale_add(&s->replay.opt.scales, optarg, argc, argv, &optind); break;
		case EXPLAIN: explain_parse(&s->explain, optarg); break;
		default: die("--tolerance, --range, --curves and --sites are those of "
		    "lp-tolerance");
		}
	if (argc - optind > 1)
		bad_usage(usage);
	if (s->regions && s->monitor.ranks == NULL)
		s->monitor.ranks = "0";
	s->replay.opt.file = argv[optind];
}

static void
done(void *context, uint32_t location)
{
	struct state *s = context;
	const struct runner *r = &s->replay.engine.runners[location];

	if (location == r->rank)
		monitor_take(&s->monitor, r->rank, r->row->call, r->recorded_leave_ns,
		    (int64_t)(r->now_ns + 0.5), r->recorded_useful_ns);
}

static void
over(void *context, uint32_t flight)
{
	struct state *s = context;
	const struct flight *f = &s->replay.engine.flights[flight];

	if (f->source == s->explain.location && (f->flags & MESSAGE_PART) == 0 &&
	    s->replay.engine.trails[flight].send_seq == s->explain.seq) {
		explain_message(&s->text, &s->replay.engine, flight);
		text_flush(&s->text);
	}
}

static void
take_useful(struct state *s, const struct message *message)
{
	static const char *const keys[] = { "running", "instructions", "cycles" };
	struct result *r = &s->result;
	struct reader *in = s->replay.graph.in;
	const size_t n = (size_t)s->replay.graph.known.ranks;
	int64_t *values = zalloc(n, sizeof *values), sums[3] = { 0 }, count;

	if (body_int(in, message, "count", (int64_t)n, (int64_t)n, &count) < 0)
		die_input(in);
	r->has_states = true;
	r->most_useful_ns = 0;
	for (int k = 0; k < 3; k++) {
		if (body_column(in, message, keys[k], n, values) < 0)
			die_input(in);
		for (size_t i = 0; i < n; i++) {
			sums[k] += values[i];
			if (k == 0)
				r->most_useful_ns = larger(r->most_useful_ns, values[i]);
		}
	}
	r->all_useful_ns = sums[0];
	r->instructions = sums[1];
	r->cycles = sums[2];
	free(values);
}

static void
take_message(struct state *s, const struct message *message)
{
	enum graph_item item = replay_take(&s->replay, message);

	if (item == GRAPH_RUN) {
		/* Each hook costs time, so only the needed ones are set. */
		struct engine *e = &s->replay.engine;

		e->context = s;
		e->done = s->monitor.ranks != NULL ? done : NULL;
		e->keeps_rows = s->output != NULL;
		e->explains = s->explain.asked;
		e->over = s->explain.message ? over : NULL;
		if (s->monitor.ranks != NULL)
			monitor_run(&s->monitor, (uint32_t)s->replay.graph.known.ranks);
	}
	if (is_kind(message, "useful"))
		take_useful(s, message);
	if (s->output == NULL)
		return;
	output_take(s->output, message, &s->replay.graph.calls);
	if (item == GRAPH_SETTLED || item == GRAPH_SYNC)
		output_flush(s->output, &s->replay.engine);
}

static void
write_or_print(struct state *s, int argc, char **argv)
{
	struct engine *e = &s->replay.engine;

	if (s->explain.asked) {
		/* the explanation of a message is printed already */
		if (!s->explain.message)
			explain_rank(&s->text, e, s->explain.location);
	} else if (s->form == GRAPH) {
		output_flush(s->output, e);
		/* nothing is left, unless the run is blocked */
		output_partial(s->output, e);
		if (s->monitor.ranks != NULL)
			monitor_write(&s->monitor, output_writer(s->output));
		if (s->regions)
			regions_write(&s->monitor, output_writer(s->output));
		output_end(s->output, e, &s->result, s->replay.graph.in, argc, argv);
	} else if (s->form == TEXT && s->regions)
		regions_print(&s->text, &s->monitor);
	else if (s->form == TEXT && s->monitor.ranks != NULL)
		monitor_print(&s->text, &s->monitor);
	else
		result_print(&s->text, &s->result, &s->replay, s->form);
}

int
main(int argc, char **argv)
{
	static struct state s;
	struct progress progress = { 0 };
	struct message message;

	tool = "lp-replay";
	parse_options(&s, argc, argv);
	refuse_terminal_input(s.replay.opt.file, usage);
	if (s.form == GRAPH && !s.explain.asked) {
		refuse_terminal_output();
		s.output = output_begin();
	}
	text_begin(&s.text, stdout, NULL);
	replay_open(&s.replay);
	while (progress_next(&progress, s.replay.graph.in, &message))
		take_message(&s, &message);
	replay_end(&s.replay);
	result_of(&s.result, &s.replay.engine);
	write_or_print(&s, argc, argv);
	text_flush(&s.text);
	return s.output != NULL ? DONE : finish(DONE);
}
