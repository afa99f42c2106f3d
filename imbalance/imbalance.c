/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-imbalance - how long ranks wait for each other, per call, process and program
 *
 * reads   one graph stream
 * writes  a report: table, JSON or CSV
 * memory  ranks, and the rows between those just read and the oldest that lacks an edge
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "imbalance.h"

static const char usage[] =
	"usage: lp-imbalance [-F table|json|csv] [--all] [FILE]\n"
	"Report how long ranks wait for each other, from a graph stream.\n"
	"  -F, --format FORM  table, json or csv [table]\n"
	"      --all          table: every rank and call, not only those with most wait\n"
	"  -h, --help         print this text\n"
	"  -V, --version      print the version\n";

enum form { TABLE, JSON, CSV };

struct options {
	enum form form;
	bool all;
	const char *file;	/* NULL or "-": standard input */
};

/* A row with the latest start and earliest end of the others of its group. */
struct paired_row {
	struct row row;
	int64_t start_ns, end_ns;
	uint32_t edges;		/* that end here */
	bool paired;
};

struct state {
	struct reader in;
	struct definitions known;
	struct window window;
	struct edge_block edges;
	struct imbalance result;
	uint64_t *done;		/* by location: rows already counted */
	int64_t *last_leave_ns;	/* by location: of the last call counted; -1 before the first */
};

static struct options
parse_options(int argc, char **argv)
{
	static const char *const forms[] = { "table", "json", "csv", NULL };
	static const struct option longs[] = {
		{ "format", required_argument, NULL, 'F' }, { "all", no_argument, NULL, 'A' },
		{ "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	struct options opt = { TABLE, false, NULL };
	int c;

	while ((c = getopt_long(argc, argv, "F:hV", longs, NULL)) != -1)
		switch (c) {
		case 'F': opt.form = (enum form)parse_choice("--format", optarg, forms); break;
		case 'A': opt.all = true; break;
		case 'h': print_and_exit(usage);
		case 'V': print_and_exit("lp-imbalance " VERSION "\n");
		default: bad_usage(usage);
		}
	if (argc - optind > 1)
		bad_usage(usage);
	opt.file = argv[optind];
	return opt;
}

static struct paired_row *
row_of(const struct state *s, uint32_t location, uint64_t seq)
{
	return window_row(&s->window, location, seq);
}

static void
take_messages(struct state *s, const struct message *message)
{
	struct edge_block *e = &s->edges;

	if (messages_read(e, &s->in, message, &s->window) < 0)
		die_input(&s->in);
	for (size_t i = 0; i < e->count; i++) {
		struct paired_row *send = row_of(s, e->source[i], e->send[i]);
		struct paired_row *receive = row_of(s, e->target[i], e->receive[i]);

		send->paired = receive->paired = true;
		send->start_ns = receive->row.enter_ns;
		send->end_ns = receive->row.leave_ns;
		receive->start_ns = send->row.enter_ns;
		receive->end_ns = send->row.leave_ns;
		receive->edges++;
	}
}

static void
take_collectives(struct state *s, const struct message *message)
{
	struct edge_block *e = &s->edges;
	size_t at = 0;

	if (collectives_read(e, &s->in, message, &s->window) < 0)
		die_input(&s->in);
	for (size_t k = 0; k < e->instances; at += e->size[k++]) {
		int64_t start_ns = INT64_MIN, end_ns = INT64_MAX;

		for (size_t i = at; i < at + e->size[k]; i++) {
			const struct row *row = window_row(&s->window, e->location[i], e->seq[i]);

			start_ns = row->enter_ns > start_ns ? row->enter_ns : start_ns;
			end_ns = row->leave_ns < end_ns ? row->leave_ns : end_ns;
		}
		for (size_t i = at; i < at + e->size[k]; i++) {
			struct paired_row *row = row_of(s, e->location[i], e->seq[i]);

			if (is_collective_start(call_info(row->row.call)->class))
				continue;	/* a start waits for nobody */
			row->paired = true;
			row->start_ns = start_ns;
			row->end_ns = end_ns;
			row->edges++;
		}
	}
}

static void
add_totals(struct totals *to, const struct totals *call)
{
	to->wait_before_ns += call->wait_before_ns;
	to->wait_after_ns += call->wait_after_ns;
	to->execution_ns += call->execution_ns;
	to->unsynchronised_ns += call->unsynchronised_ns;
	to->program_ns += call->program_ns;
	to->graph_ns += call->graph_ns;
	to->calls += call->calls;
	to->unsynchronised += call->unsynchronised;
	to->nodes += call->nodes;
	to->edges += call->edges;
}

/* One call that no further edge can reach: rows FIRST to before END. */
static void
count_call(struct state *s, uint32_t location, uint64_t first, uint64_t end)
{
	const struct paired_row *call = row_of(s, location, first), *group = NULL;
	const struct row *row = &call->row;
	struct totals t = { .graph_ns = row->leave_ns - row->enter_ns, .calls = 1, .nodes = 2,
	    .edges = 1 };
	struct imbalance *result = &s->result;
	size_t known = result->call_capacity;

	for (uint64_t seq = first; seq < end; seq++) {
		const struct paired_row *part = row_of(s, location, seq);

		t.edges += part->edges;
		if (part->paired && (group == NULL || part->start_ns > group->start_ns))
			group = part;
	}
	if (group == NULL)
		t.execution_ns = t.graph_ns;
	else {
		int64_t start_ns = group->start_ns > row->enter_ns ? group->start_ns : row->enter_ns;
		int64_t end_ns = group->end_ns < row->leave_ns ? group->end_ns : row->leave_ns;

		if (end_ns >= start_ns) {
			t.wait_before_ns = start_ns - row->enter_ns;
			t.wait_after_ns = row->leave_ns - end_ns;
			t.execution_ns = end_ns - start_ns;
		} else {
			t.unsynchronised_ns = t.graph_ns;
			t.unsynchronised = 1;
		}
	}
	result->calls = grow(result->calls, &result->call_capacity, row->call + (size_t)1,
	    sizeof *result->calls);
	memset(result->calls + known, 0, (result->call_capacity - known) * sizeof *result->calls);
	add_totals(&result->calls[row->call], &t);
	if (s->last_leave_ns[location] >= 0) {
		t.program_ns = row->enter_ns - s->last_leave_ns[location];
		t.edges++;
	}
	s->last_leave_ns[location] = row->leave_ns;
	add_totals(&result->ranks[s->known.location_rank[location]], &t);
	add_totals(&result->program, &t);
}

/* Counts and forgets the calls of which all rows lie before SEQ. */
static void
settle(struct state *s, uint32_t location, uint64_t seq)
{
	uint64_t first = s->done[location];

	while (first < seq) {
		const struct paired_row *row;
		uint64_t end = first + 1;

		while ((row = row_of(s, location, end)) != NULL && row->row.part > 0)
			end++;
		if (end > seq)
			break;
		count_call(s, location, first, end);
		first = end;
	}
	s->done[location] = first;
	window_drop(&s->window, location, first);
}

static void
take_settled(struct state *s, const struct message *message)
{
	uint64_t *seqs = zalloc(s->known.location_count, sizeof *seqs);

	if (seqs_read(seqs, &s->in, message, &s->window) < 0)
		die_input(&s->in);
	for (uint32_t l = 0; l < s->known.location_count; l++) {
		if (seqs[l] > window_end(&s->window, l)) {
			reader_fail(&s->in, message->offset, "settled: row %llu of location %u is not there",
			    (unsigned long long)seqs[l], l);
			die_input(&s->in);
		}
		settle(s, l, seqs[l]);
	}
	free(seqs);
}

static void
begin_run(struct state *s)
{
	uint32_t locations = s->known.location_count;

	window_open(&s->window, locations, sizeof(struct paired_row));
	s->done = zalloc(locations, sizeof *s->done);
	s->last_leave_ns = zalloc(locations, sizeof *s->last_leave_ns);
	memset(s->last_leave_ns, 0xff, locations * sizeof *s->last_leave_ns);
	s->result.ranks = zalloc((size_t)s->known.ranks, sizeof *s->result.ranks);
}

static void
take_message(struct state *s, const struct message *message, struct calls *calls)
{
	if (definitions_take(&s->known, &s->in, message) < 0)
		die_input(&s->in);
	if (is_kind(message, "run"))
		begin_run(s);
	else if (is_kind(message, "calls")) {
		if (calls_read(calls, &s->in, message) < 0 ||
		    window_add(&s->window, &s->in, message, calls) < 0)
			die_input(&s->in);
	} else if (is_kind(message, "messages"))
		take_messages(s, message);
	else if (is_kind(message, "collectives"))
		take_collectives(s, message);
	else if (is_kind(message, "settled") || is_kind(message, "sync"))
		take_settled(s, message);
}

int
main(int argc, char **argv)
{
	static struct state s;
	struct calls calls = { 0 };
	struct options opt;
	struct progress progress;
	struct message message;
	int got;

	tool = "lp-imbalance";
	opt = parse_options(argc, argv);
	refuse_terminal_input(opt.file, usage);
	if (reader_open(&s.in, opt.file) < 0 ||
	    reader_refuse_content(&s.in, "trace", "lp-graph matches it first") < 0)
		die_input(&s.in);
	progress_begin(&progress);
	while ((got = reader_next(&s.in, &message)) > 0) {
		take_message(&s, &message, &calls);
		progress_show(&progress, s.in.rows, 0, 0);
	}
	if (got < 0)
		die_input(&s.in);
	progress_end(&progress, s.in.rows);
	for (uint32_t l = 0; l < s.known.location_count; l++)
		settle(&s, l, window_end(&s.window, l));
	if (opt.form == JSON)
		print_json(&s.result, &s.known);
	else if (opt.form == CSV)
		print_csv(&s.result, &s.known);
	else
		print_table(&s.result, &s.known, opt.all);
	return finish(DONE);
}
