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

#include "../base/run/reached.h"
#include "graph.h"

static const char usage[] =
	"usage: lp-graph [--polls wait|work] [--poll-gap SECONDS] [--partial] [FILE]\n"
	"       lp-graph -o SHARDS FOLDER; or mpirun -n P lp-graph -o SHARDS FOLDER\n"
	"Match the messages, collectives and global synchronisation points of a trace.\n"
	"      --polls HOW        failed tests and probes before the one that succeeds are a wait\n"
	"                         for that, or work [wait]\n"
	"      --poll-gap SECONDS computing for longer between two of them is work [0.00002]\n"
	"  -o, --output SHARDS    of a folder of shards to one; several processes match theirs each\n"
	"      --round ROWS       so many rows of all shards are matched at a time [262144 and more]\n"
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
		locations[l].listed = (struct list){ NONE, NONE };
		locations[l].due = locations[l].held = locations[l].held_last = NONE;
	}
	return locations;
}

void
graph_begin(struct graph *graph, uint32_t shards)
{
	graph->free_operation = NONE;
	request_begin(graph);
	channels_begin_all(graph);
	epoch_begin(graph);
	locks_begin(graph);
	one_sided_begin(graph);
	holds_begin(graph);
	collective_begin(graph);
	edges_begin(graph);
	index_begin(&graph->index, shards);
}

void
graph_end(struct graph *graph)
{
	match_end(graph);
	epoch_end(graph);
	locks_decide(graph, NONE, INT64_MAX);
	holds_decide(graph, NONE, INT64_MAX);
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

/* A persistent request is started: a send or a receive. */
static void
start_request(struct graph *graph, const struct graph_row *row)
{
	const struct request *request = request_find(graph, row->starter, row->start);
	enum call_class class = request != NULL ? request->class : CLASS_LOCAL;

	/* Rows of the thread that made it come later: the sizes show its kind. */
	if (request == NULL && row->calls->request_at[row->i] > 0)
		class = row->calls->bytes_received[row->i] > 0 ? CLASS_RECV_INIT : CLASS_SEND_INIT;
	if (class == CLASS_SEND_INIT)
		match_send(graph, row);
	else if (class == CLASS_RECV_INIT)
		match_post(graph, row);
}

/* The next row of the block; LOCATION: its thread. */
static void
read_row(struct graph_row *row, const struct location *location, const struct calls *c, size_t i)
{
	const uint32_t request = c->request[i], at = c->request_at[i];

	row->i = i;
	row->seq = c->first + i;
	row->candidates = location->candidates;
	row->comm = c->comm[i];
	row->peer = c->peer[i];
	row->tag = c->tag[i];
	if (c->call[i] != 0)	/* otherwise of the call before */
		row->call = c->call[i];
	row->refers = (request | at) > 0;
	if (row->refers) {
		row->starter = at > 0 ? at - 1 : c->location;
		row->start = at > 0 ? request : row->seq - request;
	}
}

/* MPI_Bsend keeps the message in a buffer of the program. */
static void
take_send(struct graph *graph, const struct graph_row *row, enum call_class class)
{
	if (class == CLASS_SEND_START)
		request_open(graph, row, (struct request){ .operation = NONE, .class = class,
		    .comm = row->comm, .peer = row->peer });
	else if (strcmp(call_name(row->call), "MPI_Bsend") != 0)
		hold_row(graph, row, row->comm, row->peer, true);
	match_send(graph, row);
}

/* A message is looked for, received, or is to be received later. */
static void
take_receive(struct graph *graph, const struct graph_row *row, enum call_class class)
{
	if (class == CLASS_PROBE) {
		if (row->refers && (row->starter != row->location || row->start != row->seq))
			match_answer(graph, row);
		else
			match_probe(graph, row, row->refers);
	} else if (class == CLASS_RECV) {
		if (row->refers)
			match_complete(graph, row);
		else
			match_receive(graph, row);
	} else {
		graph->locations[row->location].open++;
		if (row->refers)
			match_taken(graph, row);
		else
			match_post(graph, row);
	}
}

/* Requests that are made ahead of their use, started, completed and freed. */
static void
take_request(struct graph *graph, const struct graph_row *row, enum call_class class)
{
	int64_t *open = &graph->locations[row->location].open;
	struct request *request;

	switch (class) {
	case CLASS_COLLECTIVE_INIT:
		collective_init(graph, row);
		break;
	case CLASS_START:
		if (!row->refers)
			break;
		++*open;
		start_request(graph, row);
		break;
	case CLASS_COMPLETE:
		if (!row->refers)
			break;
		graph->locations[row->starter].open--;
		if ((request = request_find(graph, row->starter, row->start)) != NULL &&
		    request->class == CLASS_SEND_START) {
			hold_row(graph, row, request->comm, request->peer, true);
			request_close(graph, request);
		} else
			match_complete(graph, row);
		break;
	case CLASS_REQUEST_FREE:
		if (row->refers && request_free(graph, row->starter, row->start))
			graph->locations[row->starter].open--;
		break;
	default:
		request_open(graph, row, (struct request){ .operation = NONE, .class = class });
	}
}

static void
take_row(struct graph *graph, const struct graph_row *row)
{
	const struct calls *c = row->calls;
	const size_t i = row->i;
	const enum call_class class = call_class(row->call);
	const bool part = c->call[i] == 0;
	int64_t *open = &graph->locations[row->location].open;

	switch (class) {
	case CLASS_SENDRECV:
		if (part)
			match_receive(graph, row);
		else
			match_send(graph, row);
		break;
	case CLASS_SEND_START:
		++*open;
		/* fall through */
	case CLASS_SEND:
		take_send(graph, row, class);
		break;
	case CLASS_PROBE:
	case CLASS_RECV:
	case CLASS_RECV_START:
		take_receive(graph, row, class);
		break;
	case CLASS_SEND_INIT:
	case CLASS_RECV_INIT:
	case CLASS_COLLECTIVE_INIT:
	case CLASS_START:
	case CLASS_COMPLETE:
	case CLASS_REQUEST_FREE:
		take_request(graph, row, class);
		break;
	case CLASS_POST:
	case CLASS_ACCESS:
		epoch_open(graph, row, class);
		break;
	case CLASS_EXPOSE_END:
	case CLASS_ACCESS_END:
		if (row->refers)
			epoch_close(graph, row, class);
		break;
	case CLASS_RMA:
		lock_row(graph, row);
		one_sided_row(graph, row);
		/* fall through */
	case CLASS_IO:
		*open += call_starts(row->call);
		break;
	default:
		graph->counts.errors += call_failed(row->call);
		if (part || !is_collective(class))
			break;
		collective_member(graph, row);
		*open += is_collective_start(class);
	}
}

/* Writes the block anew, with the stream's numbers of calls. */
static void
write_block(struct graph *graph, const struct reader *in, const struct calls *calls)
{
	const uint16_t *number_of = reader_call_numbers(in);
	struct calls renumbered = *calls;
	uint16_t *numbers = zalloc(calls->count + 1, sizeof *numbers);

	for (size_t i = 0; i < calls->count; i++)
		numbers[i] = calls->call[i] == 0 ? 0 : number_of[calls->call[i]];
	renumbered.call = numbers;
	if (calls_write(&graph->out, &renumbered) < 0)
		die_output();
	free(numbers);
}

static void
take_block(struct graph *graph, struct reader *in, const struct message *message,
    const struct calls *calls, bool changed)
{
	struct location *location = &graph->locations[calls->location];
	struct graph_row row = { .calls = calls, .location = calls->location,
	    .rank = rank_of(graph, calls->location) };
	const bool computed = holds_to_come(graph, calls->location);

	if (calls->first != location->next_seq ||
	    (calls->count > 0 && calls->enter_ns[0] < location->last_leave_ns))
		die_message(in, message, "calls: the block does not follow the one before");
	if (!graph->has_samples)
		begin_block(graph);
	graph->has_samples = false;
	if (calls->count > 0 && calls->enter_ns[0] > graph->block_ns)
		graph->block_ns = calls->enter_ns[0];
	/* Edges come after the blocks of both their ends. */
	if (changed)
		write_block(graph, in, calls);
	else if (writer_pass(&graph->out, message, calls->count) < 0)
		die_output();
	for (size_t i = 0; i < calls->count; i++) {
		if (calls->request_at[i] > graph->known.location_count)
			die_message(in, message, "calls: request is out of range");
		read_row(&row, location, calls, i);
		location->next_seq = row.seq + 1;
		if (computed && calls->call[i] != 0)
			hold_reached(graph, &row);
		take_row(graph, &row);
		location->last_leave_ns = calls->leave_ns[i];
		if (graph->any_early)
			match_early(graph, row.location, row.seq);
	}
}

/* The run has come to AT_NS; rows still to come were not entered before the result. */
static int64_t
first_to_come(const struct graph *graph, struct reader *in, const struct message *message,
    int64_t *at_ns)
{
	struct reached reached;
	int64_t first_ns;

	reached_read(&reached, in, message, graph->known.location_count);
	*at_ns = first_ns = reached.at_ns;
	for (uint32_t l = 0; l < graph->known.location_count; l++)
		if (reached.since_ns[l] < first_ns)
			first_ns = reached.since_ns[l];
	reached_free(&reached);
	return first_ns > graph->block_ns ? first_ns : graph->block_ns;
}

/* REACHED: how far a run in progress has come; NULL: unknown. */
static void
settle(struct graph *graph, struct reader *in, const struct message *reached)
{
	uint64_t *seqs = zalloc(2 * (size_t)graph->known.location_count, sizeof *seqs),
	    *early = seqs + graph->known.location_count;
	int64_t at_ns = 0;
	const int64_t until_ns = reached == NULL ? graph->block_ns :
	    first_to_come(graph, in, reached, &at_ns);
	bool any;

	locks_decide(graph, 0, graph->block_ns);
	holds_decide(graph, 0, until_ns);
	any = reached != NULL && overdue_look(graph, at_ns, early);
	for (uint32_t l = 0; l < graph->known.location_count; l++)
		seqs[l] = settled_seq(graph, l);
	if (any)
		holds_forget(graph, early);
	write_settled(graph, seqs, any ? early : NULL);
	free(seqs);
}

void
pass_on(struct graph *graph, struct reader *in, const struct message *message,
    const struct calls *calls, bool changed)
{
	if (calls != NULL) {
		take_block(graph, in, message, calls, changed);
		return;
	}
	if (comes_before_calls(message) && !graph->has_samples) {
		graph->has_samples = true;
		begin_block(graph);
	}
	if (is_kind(message, "reached"))	/* everything known by then is written by then */
		settle(graph, in, message);
	if (is_definition(message))
		graph->index.defined = writer_offset(&graph->out);
	if (writer_pass(&graph->out, message, 0) < 0)
		die_output();
}

static void
match_stream(const struct options *opt, const struct polls *how, int argc, char **argv)
{
	struct graph graph = { 0 };
	struct calls calls = { 0 };
	struct polls polls = *how;
	struct progress progress;
	struct message message;
	struct reader *in;
	uint64_t settled_rows = 0;
	size_t lost = 0;
	bool told = false;	/* the reading of polls is announced */
	int got;

	refuse_terminal_input(opt->file, usage);
	refuse_terminal_output();
	if (reader_open(&in, opt->file, opt->partial ? READ_PARTIAL : READ_STREAM) < 0 ||
	    reader_refuse_content(in, "graph", "its messages and collectives are matched "
	    "already") < 0)
		die_input(in);
	tell_lost(in, &lost);
	if (writer_open(&graph.out, STDOUT_FILENO, "graph", in, argc, argv) < 0)
		die_output();
	reader_when_waiting(in, flush_output, &graph.out);
	graph_begin(&graph, 1);
	progress_begin(&progress);
	while ((got = reader_next(in, &message)) > 0) {
		if (definitions_take(&graph.known, in, &message) < 0)
			die_input(in);
		if (is_kind(&message, "run"))
			graph.locations = locations_new(graph.known.location_count);
		if (is_kind(&message, "calls") && !told) {
			graph.index.defined = writer_offset(&graph.out);
			polls_begin(&polls, &graph);
			told = true;
		}
		if (is_kind(&message, "calls")) {
			if (calls_read(&calls, in, &message) < 0)
				die_input(in);
			polls_take(&polls, &graph, in, &message, &calls);
			if (reader_rows(in) - settled_rows > SETTLE_ROWS +
			    16 * (uint64_t)graph.known.location_count) {
				settled_rows = reader_rows(in);
				settle(&graph, in, NULL);
			}
			progress_input(&progress, in);
		} else if (!is_kind(&message, "polls"))
			polls_take(&polls, &graph, in, &message, NULL);
	}
	if (got < 0)
		die_input(in);
	progress_end(&progress);
	tell_lost(in, &lost);
	polls_release(&polls, &graph, in, true);
	graph_end(&graph);
	polls_tell(&polls);
	write_matching(&graph);
	note_matching(&graph.counts, graph.index.syncs);
	if (index_write(&graph.index, &graph.out) < 0 || writer_end(&graph.out) < 0)
		die_output();
	reader_close(in);
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
