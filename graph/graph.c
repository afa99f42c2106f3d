/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-graph - match messages, collectives and synchronisation points
 *
 * reads   one trace
 * writes  the same messages, and after each block the edges that it completes;
 *         from shards of a trace, shards of a graph, with one process or several
 * memory  ranks, messages and collectives in flight
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "held.h"

static const char usage[] =
	"usage: lp-graph [--polls wait|work] [--poll-gap SECONDS] [--partial] [FILE]\n"
	"       lp-graph -o SHARDS FOLDER; or mpirun -n P lp-graph -o SHARDS FOLDER\n"
	"Match the messages, collectives and global synchronisation points of a trace.\n"
	"      --polls HOW        failed tests and probes before the one that succeeds are a wait\n"
	"                         for that, or work [wait]\n"
	"      --poll-gap SECONDS computing for longer between two of them is work [0.00002]\n"
	"  -o, --output SHARDS    of a folder of shards to one; several processes match theirs each\n"
	"      --round ROWS       so many rows of all shards are matched at a time [65536 and more]\n"
	"      --partial          a folder of shards may lack some; what is damaged is left out\n"
	"  -h, --help             print this text\n"
	"  -V, --version          print the version\n";

enum { SETTLE_ROWS = 1 << 16 };		/* between two messages of kind settled, at least */

struct options {
	const char *file;
	const char *output;	/* folder of shards; NULL: one stream */
	uint64_t round;		/* rows of all shards in a round; 0: chosen here */
	bool partial;
};

#define OPTION(member) MEMBER(struct options, member)

static struct options
parse_options(int argc, char **argv, struct polls *polls)
{
	static const char *const readings[] = { "wait", "work", NULL };
	enum { POLLS = 256, POLL_GAP };
	static const struct option_row rows[] = {
		{ "polls", POLLS, ASKED }, { "poll-gap", POLL_GAP, ASKED },
		{ "partial", 0, FLAG, OPTION(partial) }, { "output", 'o', AS_TEXT, OPTION(output) },
		{ "round", 0, AS_WHOLE, OPTION(round), 1, INT64_C(1) << 40 }, OPTIONS_END
	};
	struct options opt = { 0 };
	int c;

	*polls = (struct polls){ .as_waits = true, .gap_ns = 20000 };
	while ((c = next_option(argc, argv, "", rows, usage, &opt)) != -1)
		if (c == POLLS)
			polls->as_waits = parse_choice("--polls", optarg, readings) == 0;
		else if ((polls->gap_ns = parse_seconds("--poll-gap", optarg)) < 0)
			die("--poll-gap: less than no time");
	if (argc - optind > 1)
		bad_usage(usage);
	opt.file = argv[optind];
	if (opt.output != NULL && (opt.file == NULL || opt.partial))
		die(opt.file == NULL ? "-o needs the folder of shards that is matched" :
		    "--partial makes one stream: without -o");
	return opt;
}

/* Reports missing or damaged parts of shards once. */
static void
tell_lost(const struct reader *in, size_t *told)
{
	for (const char *line; (line = reader_lost(in, *told)) != NULL; (*told)++)
		note("%s", line);
}

struct location *
locations_new(uint32_t count)
{
	struct location *locations = zalloc(count, sizeof *locations);

	for (uint32_t l = 0; l < count; l++) {
		locations[l].last_leave_ns = INT64_MIN;
		locations[l].computings.last_leave_ns = INT64_MIN;
		locations[l].listed = (struct list){ NONE, NONE };
		locations[l].due = locations[l].held = locations[l].held_last = NONE;
	}
	return locations;
}

void
graph_begin(struct graph *graph, uint32_t shards)
{
	graph->free_operation = NONE;
	graph->next_background_ns = INT64_MAX;
	locks_begin(graph);
	holds_begin(graph);
	edges_begin(graph);
	index_begin(&graph->index, shards);
}

void
graph_end(struct graph *graph)
{
	order_take(graph, INT64_MAX);
	match_end(graph);
	epoch_end(graph);
	locks_decide(graph, NONE, INT64_MAX);
	holds_decide(graph, NONE, INT64_MAX);
	backgrounds_decide(graph, NONE, INT64_MAX);
	collective_end(graph);
	edges_flush(graph);
}

/* The next message is the first with rows of a block, or its samples. */
static void
begin_block(struct graph *graph)
{
	graph->block.offset = writer_offset(&graph->out);
	graph->block.syncs = graph->index.syncs;
}

/* Writes the block anew, with the stream's numbers of calls. */
static void
write_block(struct graph *graph, const struct calls *calls)
{
	const uint16_t *number_of = reader_call_numbers(graph->in);
	struct calls renumbered = *calls;
	uint16_t *numbers = zalloc(calls->count + 1, sizeof *numbers);

	for (size_t i = 0; i < calls->count; i++) {
		const uint16_t call = calls->call[i];

		numbers[i] = call == 0 ? 0 : call == call_thread_wait ? graph->thread_numbers[0] :
		    call == call_thread_signal ? graph->thread_numbers[1] : number_of[call];
	}
	renumbered.call = numbers;
	need_output(calls_write(&graph->out, &renumbered));
	free(numbers);
}

static void
take_block(struct graph *graph, const struct message *message, const struct calls *calls,
    bool changed)
{
	struct location *location = &graph->locations[calls->location];

	if (calls->first != location->read_seq ||
	    (calls->count > 0 && calls->enter_ns[0] < location->last_leave_ns))
		die_message(graph->in, message, "calls: the block does not follow the one before");
	for (size_t i = 0; i < calls->count; i++)
		if (calls->request_at[i] > graph->known.location_count)
			die_message(graph->in, message, "calls: request is out of range");
	if (!graph->has_samples)
		begin_block(graph);
	graph->has_samples = false;
	if (calls->count > 0 && calls->enter_ns[0] > graph->block_ns)
		graph->block_ns = calls->enter_ns[0];
	/* Edges come after the blocks of both their ends. */
	if (changed)
		write_block(graph, calls);
	else
		need_output(writer_pass(&graph->out, message, calls->count));
	location->read_seq += calls->count;
	if (calls->count > 0)
		location->last_leave_ns = calls->leave_ns[calls->count - 1];
	if (!order_keep(graph, calls))
		take_rows(graph, calls, 0, calls->count);
	if (!graph->followed)
		order_take(graph, graph->block_ns);
}

/* The run has come to AT_NS; rows still to come were not entered before the result. */
static int64_t
first_to_come(const struct graph *graph, const struct message *message, int64_t *at_ns)
{
	struct reached reached;
	int64_t first_ns;

	reached_read(&reached, graph->in, message, graph->known.location_count);
	*at_ns = first_ns = reached.at_ns;
	for (uint32_t l = 0; l < graph->known.location_count; l++)
		if (reached.since_ns[l] < first_ns)
			first_ns = reached.since_ns[l];
	reached_free(&reached);
	return first_ns > graph->block_ns ? first_ns : graph->block_ns;
}

/* REACHED: how far a run in progress has come; NULL: unknown, ROWS have been read. */
static void
settle(struct graph *graph, const struct message *reached, uint64_t rows)
{
	const uint32_t locations = graph->known.location_count;
	uint64_t *seqs = zalloc(2 * (size_t)locations, sizeof *seqs), *early = seqs + locations;
	int64_t at_ns = 0;
	const int64_t until_ns = reached == NULL ? graph->block_ns :
	    first_to_come(graph, reached, &at_ns);
	bool any;

	if (reached != NULL)
		order_take(graph, until_ns);
	locks_decide(graph, 0, graph->block_ns);
	holds_decide(graph, 0, until_ns);
	backgrounds_decide(graph, 0, until_ns);
	if (graph->overdue == NULL)
		graph->overdue = overdue_new(locations);
	if (reached != NULL)
		overdue_look(graph->overdue, NULL, graph->locations, at_ns, true, INT64_MAX);
	else
		overdue_look(graph->overdue, NULL, graph->locations, (int64_t)rows, false,
		    until_ns);
	for (uint32_t l = 0; l < locations; l++) {
		seqs[l] = settled_seq(graph, l);
		early[l] = reached == NULL ? hold_settled(graph, l) : UINT64_MAX;
	}
	any = overdue_pass(graph, early);
	if (any && reached != NULL)
		holds_forget(graph, early);
	write_settled(graph, seqs, any ? early : NULL);
	free(seqs);
}

void
pass_on(struct graph *graph, const struct message *message, const struct calls *calls,
    bool changed)
{
	if (calls != NULL) {
		take_block(graph, message, calls, changed);
		return;
	}
	if (comes_before_calls(message) && !graph->has_samples) {
		graph->has_samples = true;
		begin_block(graph);
	}
	if (is_kind(message, "reached"))	/* everything known by then is written by then */
		settle(graph, message, 0);
	if (is_definition(message))
		graph->index.defined = writer_offset(&graph->out);
	need_output(writer_pass(&graph->out, message, 0));
}

/* A stream while it is matched. */
struct matching {
	struct graph graph;
	struct polls polls;
	struct handovers handovers;
	uint64_t rows, settled_rows;
	bool told;			/* the reading of polls is announced */
};

static void
match_message(void *to, const struct message *message, struct calls *calls, bool changed)
{
	struct matching *m = to;

	if (calls != NULL && !m->told) {
		order_begin(&m->graph);
		m->graph.index.defined = writer_offset(&m->graph.out);
		polls_begin(&m->polls, &m->graph, m->handovers.count);
		m->told = true;
	}
	polls_take(&m->polls, &m->graph, message, calls, changed);
	m->rows += calls != NULL ? calls->count : 0;
	if (calls != NULL && m->rows - m->settled_rows > SETTLE_ROWS +
	    16 * (uint64_t)m->graph.known.location_count) {
		m->settled_rows = m->rows;
		settle(&m->graph, NULL, m->rows);
	}
}

static void
match_held(struct matching *m)
{
	handovers_find(&m->handovers, &m->graph);
	handovers_pass(&m->handovers, match_message, m);
}

static void
match_stream(const struct options *opt, const struct polls *how, int argc, char **argv)
{
	struct matching m = { .polls = *how };
	struct graph *graph = &m.graph;
	struct calls calls = { 0 };
	struct progress progress = { 0 };
	struct message message;
	size_t lost = 0;
	int got;

	refuse_terminal_input(opt->file, usage);
	refuse_terminal_output();
	if (reader_open(&graph->in, opt->file, opt->partial ? READ_PARTIAL : READ_STREAM) < 0 ||
	    reader_refuse_content(graph->in, "graph", "its messages and collectives are matched "
	    "already") < 0)
		die_input(graph->in);
	tell_lost(graph->in, &lost);
	need_output(writer_open(&graph->out, STDOUT_FILENO, "graph", graph->in, argc, argv));
	reader_when_waiting(graph->in, flush_output, &graph->out);
	graph_begin(graph, 1);
	while ((got = reader_next(graph->in, &message)) > 0) {
		const bool is_block = is_kind(&message, "calls");

		definitions_take(&graph->known, graph->in, &message);
		if (is_block && calls_read(&calls, graph->in, &message) < 0)
			die_input(graph->in);
		if (is_kind(&message, "run")) {
			graph->locations = locations_new(graph->known.location_count);
			graph->followed = body_get(&message, "followed") != NULL;
		}
		if (!is_kind(&message, "polls") && !handovers_hold(&m.handovers, graph,
		    &message, is_block ? &calls : NULL)) {
			match_held(&m);		/* they became too many */
			match_message(&m, &message, is_block ? &calls : NULL, false);
		}
		progress_input(&progress, graph->in);
	}
	if (got < 0)
		die_input(graph->in);
	match_held(&m);
	progress_end(&progress);
	tell_lost(graph->in, &lost);
	polls_release(&m.polls, graph, true);
	graph_end(graph);
	polls_tell(&m.polls, &graph->counts);
	if (m.handovers.count > 0)
		note("%llu times a thread began in, or waited for, another one of its rank",
		    (unsigned long long)m.handovers.count);
	graph->counts.syncs = graph->index.syncs;
	write_matching(graph);
	note_matching(&graph->counts);
	need_output(index_write(&graph->index, &graph->out));
	need_output(writer_end(&graph->out));
	reader_close(graph->in);
}

int
main(int argc, char **argv)
{
	struct options opt;
	struct polls polls;
	struct team team;

	tool = "lp-graph";
	team = team_start(&argc, &argv);
	opt = parse_options(argc, argv, &polls);
	if (opt.output == NULL && team.size > 1)
		die("several processes write shards: -o FOLDER");
	team_open(&team, &argc, &argv);
	if (opt.output != NULL)
		match_shards(opt.file, opt.output, &polls, opt.round, &team, argc, argv);
	else
		match_stream(&opt, &polls, argc, argv);
	team_close();
	return DONE;
}
