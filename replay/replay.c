/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-replay - what a run would be on another network
 *
 * reads   one graph stream
 * writes  the same with simulated times, or a report
 * memory  ranks, and the rows between the first that is not yet simulated and the last read
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"

static const char usage[] =
	"usage: lp-replay [-n FILE] [--eager BYTES] [-F graph|json|table] [--partial] [FILE]\n"
	"Turn the recorded times of a graph stream into those of another network.\n"
	"  -n, --network FILE  the machine: a Dimemas .cfg or lp-replay's own format [ideal]\n"
	"      --eager BYTES   messages of so many bytes and more wait for their receiver\n"
	"                      [32k; with a Dimemas .cfg as the calls tell]\n"
	"  -F, --format FORM   graph, json or table [graph]\n"
	"      --partial       replay an input that blocks up to there\n"
	"  -h, --help          print this text\n"
	"  -V, --version       print the version\n";

enum form { GRAPH, JSON, TABLE };

struct options {
	const char *network;	/* NULL: the ideal one */
	int64_t eager_bytes;	/* -1: not given */
	enum form form;
	bool partial;
	const char *file;	/* NULL or "-": standard input */
};

/* Bytes with a suffix k, M or G, of 1024. */
static int64_t
parse_bytes(const char *option, const char *text)
{
	static const char suffixes[] = "kMG";
	char digits[32];
	size_t length = strlen(text);
	const char *suffix = length > 0 ? strchr(suffixes, text[length - 1]) : NULL;

	if (suffix == NULL || *suffix == '\0' || length > sizeof digits)
		return parse_integer(option, text, 0, INT64_MAX);
	snprintf(digits, sizeof digits, "%.*s", (int)length - 1, text);
	return parse_integer(option, digits, 0, INT32_MAX) << (10 * (suffix - suffixes + 1));
}

static struct options
parse_options(int argc, char **argv)
{
	static const char *const forms[] = { "graph", "json", "table", NULL };
	static const struct option longs[] = {
		{ "network", required_argument, NULL, 'n' }, { "eager", required_argument, NULL, 'E' },
		{ "format", required_argument, NULL, 'F' }, { "partial", no_argument, NULL, 'P' },
		{ "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	struct options opt = { NULL, -1, GRAPH, false, NULL };
	int c;

	while ((c = getopt_long(argc, argv, "n:F:hV", longs, NULL)) != -1)
		switch (c) {
		case 'n': opt.network = optarg; break;
		case 'E': opt.eager_bytes = parse_bytes("--eager", optarg); break;
		case 'F': opt.form = (enum form)parse_choice("--format", optarg, forms); break;
		case 'P': opt.partial = true; break;
		case 'h': print_and_exit(usage);
		case 'V': print_and_exit("lp-replay " VERSION "\n");
		default: bad_usage(usage);
		}
	if (argc - optind > 1)
		bad_usage(usage);
	opt.file = argv[optind];
	return opt;
}

struct state {
	struct reader in;
	struct definitions known;
	struct machine machine;
	struct engine engine;
	struct output *output;	/* NULL: a report */
	bool begun;		/* the message of kind run has come */
};

/* Rows that are done are needed no more, unless they are to be written. */
static void
forget(void *context, uint32_t location, uint64_t first, uint64_t end)
{
	struct engine *e = context;

	(void)first;
	lane_drop(&e->lanes[location], end);
}

static void
take_message(struct state *s, const struct message *message, struct calls *calls)
{
	struct engine *e = &s->engine;

	if (definitions_take(&s->known, &s->in, message) < 0)
		die_input(&s->in);
	if (is_kind(message, "run")) {
		machine_map(&s->machine, (uint32_t)s->known.ranks);
		engine_begin(e, &s->machine, &s->known);
		s->begun = true;
	} else if (is_kind(message, "calls")) {
		if (calls_read(calls, &s->in, message) < 0 ||
		    lanes_add(e, &s->in, message, calls) < 0)
			die_input(&s->in);
	} else if (is_kind(message, "messages")) {
		if (lanes_messages(e, &s->in, message) < 0)
			die_input(&s->in);
	} else if (is_kind(message, "collectives")) {
		if (lanes_collectives(e, &s->in, message) < 0)
			die_input(&s->in);
	}
	if (s->output != NULL)
		output_take(s->output, message, calls);
	if (is_kind(message, "settled") || is_kind(message, "sync")) {
		if (lanes_settle(e, &s->in, message) < 0)
			die_input(&s->in);
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
	unsigned blocked;

	lanes_end(e);
	engine_run(e);
	blocked = name_blocked(e);
	if (e->unmatched_sends > 0)
		note("%llu sends have no receive", (unsigned long long)e->unmatched_sends);
	if (blocked == 0 && e->unmatched_sends == 0)
		return;
	if (!partial)
		die("the run does not come to its end; --partial replays up to there");
	note("the replay is partial: %u of %u ranks blocked", blocked, e->locations);
}

int
main(int argc, char **argv)
{
	static struct state s;
	struct calls calls = { 0 };
	struct options opt;
	struct progress progress;
	struct message message;
	struct result result;
	int got;

	tool = "lp-replay";
	opt = parse_options(argc, argv);
	refuse_terminal_input(opt.file, usage);
	if (opt.form == GRAPH)
		refuse_terminal_output();
	if (opt.network != NULL)
		machine_read(&s.machine, opt.network);
	else
		machine_ideal(&s.machine);
	if (opt.eager_bytes >= 0)
		s.machine.eager_bytes = opt.eager_bytes;
	if (reader_open(&s.in, opt.file) < 0 ||
	    reader_refuse_content(&s.in, "trace", "lp-graph matches it first") < 0)
		die_input(&s.in);
	if (opt.form == GRAPH)
		s.output = output_begin();
	else {
		s.engine.done = forget;
		s.engine.context = &s.engine;
	}
	progress_begin(&progress);
	while ((got = reader_next(&s.in, &message)) > 0) {
		take_message(&s, &message, &calls);
		progress_show(&progress, s.in.rows, 0, 0);
	}
	if (got < 0)
		die_input(&s.in);
	progress_end(&progress, s.in.rows);
	if (!s.begun)
		die("the stream has no message of kind run");
	end_replay(&s, opt.partial);
	result_of(&result, &s.engine);
	if (opt.form == GRAPH) {
		output_flush(s.output, &s.engine);
		output_end(s.output, &s.engine, &result, &s.in, argc, argv);
		return DONE;
	}
	if (opt.form == JSON)
		print_json(&result);
	else
		print_table(&result);
	return finish(DONE);
}
