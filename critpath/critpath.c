/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-critpath - the critical path: what the run could not have ended without
 *
 * reads   one graph stream
 * writes  the same messages and the path's segments; or a report as text or JSON
 * memory  56 bytes for each row between two global synchronisation points; with -a kahn 120 more
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "critpath.h"

static const char usage[] =
	"usage: lp-critpath [-a walk|kahn] [-F stream|text|json] [--all] [FILE]\n"
	"Find the critical path of a run from its graph stream.\n"
	"  -a, --algorithm HOW  walk: backwards from the last event; kahn: topological\n"
	"                       order and dynamic programming [walk]\n"
	"  -F, --format FORM    stream: the input and the path's segments; text; json [stream]\n"
	"      --all            text: every rank, call and call site, not only the first\n"
	"  -h, --help           print this text\n"
	"  -V, --version        print the version\n";

enum form { STREAM, TEXT, JSON };

struct options {
	void (*solve)(const struct stretch *, struct segments *);
	enum form form;
	bool all;
	const char *file;	/* NULL or "-": standard input */
};

struct critpath {
	struct options opt;
	struct reader in;
	struct writer out;
	struct definitions known;
	struct window window;
	struct edge_block edges;
	struct member *members;		/* of one instance */
	uint32_t *waits_for;
	size_t member_capacity, wait_capacity;
	uint64_t *first_seq, *end_seq;	/* of the stretch being read */
	int64_t begin_ns;
	bool from_start;
	struct segments segments;
	struct report report;
};

static struct options
parse_options(int argc, char **argv)
{
	static const char *const algorithms[] = { "walk", "kahn", NULL };
	static const char *const forms[] = { "stream", "text", "json", NULL };
	static const struct option longs[] = {
		{ "algorithm", required_argument, NULL, 'a' }, { "format", required_argument, NULL, 'F' },
		{ "all", no_argument, NULL, 'A' }, { "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' }, { NULL, 0, NULL, 0 },
	};
	struct options opt = { solve_walk, STREAM, false, NULL };
	int c;

	while ((c = getopt_long(argc, argv, "a:F:hV", longs, NULL)) != -1)
		switch (c) {
		case 'a':
			opt.solve = parse_choice("--algorithm", optarg, algorithms) == 0 ? solve_walk :
			    solve_kahn;
			break;
		case 'F': opt.form = (enum form)parse_choice("--format", optarg, forms); break;
		case 'A': opt.all = true; break;
		case 'h': print_and_exit(usage);
		case 'V': print_and_exit("lp-critpath " VERSION "\n");
		default: bad_usage(usage);
		}
	if (argc - optind > 1)
		bad_usage(usage);
	opt.file = argv[optind];
	return opt;
}

static struct event_row *
row_of(const struct critpath *c, uint32_t location, uint64_t seq)
{
	return window_row(&c->window, location, seq);
}

static void
link_rows(struct event_row *row, uint32_t other, uint64_t other_seq)
{
	row->has_other = true;
	row->other = other;
	row->other_seq = other_seq;
}

static void
take_messages(struct critpath *c, const struct message *message)
{
	struct edge_block *e = &c->edges;

	if (messages_read(e, &c->in, message, &c->window) < 0)
		die_input(&c->in);
	for (size_t i = 0; i < e->count; i++) {
		struct event_row *send = row_of(c, e->source[i], e->send[i]);
		struct event_row *receive = row_of(c, e->target[i], e->receive[i]);
		uint32_t poster = e->target[i];
		uint64_t post = e->receive[i];

		if (call_info(receive->row.call)->class == CLASS_COMPLETE)
			row_refers(&receive->row, e->target[i], e->receive[i], &poster, &post);
		send->is_send = true;
		link_rows(receive, e->source[i], e->send[i]);
		/* A send waits for the post of its receive. */
		link_rows(send, poster, post);
	}
}

static void
take_collectives(struct critpath *c, const struct message *message)
{
	struct edge_block *e = &c->edges;
	size_t at = 0;

	if (collectives_read(e, &c->in, message, &c->window) < 0)
		die_input(&c->in);
	for (size_t k = 0; k < e->instances; at += e->size[k++]) {
		uint32_t size = e->size[k];

		c->members = grow(c->members, &c->member_capacity, size, sizeof *c->members);
		c->waits_for = grow(c->waits_for, &c->wait_capacity, size, sizeof *c->waits_for);
		for (uint32_t i = 0; i < size; i++)
			c->members[i] = (struct member){ e->location[at + i], e->seq[at + i],
			    window_row(&c->window, e->location[at + i], e->seq[at + i]) };
		collective_waits(&c->known, c->members, size, c->waits_for);
		for (uint32_t i = 0; i < size; i++)
			if (c->waits_for[i] != NOBODY && c->waits_for[i] != i)
				link_rows(row_of(c, c->members[i].location, c->members[i].seq),
				    c->members[c->waits_for[i]].location,
				    c->members[c->waits_for[i]].seq);
	}
}

static const struct column_type location_type = { 4, false, true, 0 };
static const struct column_type time_type = { 8, true, true, 0 };
static const struct column_type kind_type = { 1, false, true, 0 };
static const struct column_type call_type = { 2, false, true, 0 };

static void
write_segments(struct critpath *c, const struct segment *at, size_t count)
{
	uint32_t *location = zalloc(count, sizeof *location), *site = zalloc(count, sizeof *site);
	int64_t *begin = zalloc(count, sizeof *begin), *end = zalloc(count, sizeof *end);
	uint16_t *call = zalloc(count, sizeof *call);
	uint8_t *kind = zalloc(count, sizeof *kind);

	for (size_t i = 0; i < count; i++) {
		location[i] = at[i].location;
		site[i] = at[i].site;
		begin[i] = at[i].begin_ns;
		end[i] = at[i].end_ns;
		call[i] = c->in.call_number[at[i].call];
		kind[i] = at[i].kind;
	}
	message_begin(&c->out, "segments", 7);
	put_uint(&c->out, "count", count);
	put_column(&c->out, "location", location_type, location, count);
	put_column(&c->out, "begin", time_type, begin, count);
	put_column(&c->out, "end", time_type, end, count);
	put_column(&c->out, "kind", kind_type, kind, count);
	put_column(&c->out, "call", call_type, call, count);
	put_column(&c->out, "site", location_type, site, count);
	if (message_end(&c->out) < 0)
		die_output();
	free(location);
	free(site);
	free(begin);
	free(end);
	free(call);
	free(kind);
}

/* The path of the stretch up to TO, and on with the next one. */
static void
solve_stretch(struct critpath *c, struct event to)
{
	struct stretch stretch = { &c->window, c->first_seq, c->end_seq, c->begin_ns, c->from_start, to };
	struct segments *s = &c->segments;
	const size_t block = 4096;

	s->count = 0;
	c->opt.solve(&stretch, s);
	for (size_t i = 0; i < s->count; i++) {
		if (c->opt.form == JSON)
			print_segment_json(&s->at[i], &c->known, c->report.segments == 0);
		report_add(&c->report, &c->known, &s->at[i]);
	}
	if (c->opt.form == STREAM)
		for (size_t i = 0; i < s->count; i += block)
			write_segments(c, s->at + i, s->count - i < block ? s->count - i : block);
}

/* A global synchronisation point: everything before it can be solved and forgotten. */
static void
take_sync(struct critpath *c, const struct message *message)
{
	struct event last = { 0, 0, false };
	int64_t last_ns = INT64_MIN;

	if (seqs_read(c->end_seq, &c->in, message, &c->window) < 0)
		die_input(&c->in);
	for (uint32_t l = 0; l < c->known.location_count; l++) {
		const struct event_row *row = row_of(c, l, c->end_seq[l]);

		if (row == NULL || row->row.part != 0 || c->end_seq[l] < c->first_seq[l]) {
			reader_fail(&c->in, message->offset, "sync: row %llu of location %u is not there",
			    (unsigned long long)c->end_seq[l], l);
			die_input(&c->in);
		}
		if (row->row.enter_ns > last_ns) {
			last = (struct event){ l, c->end_seq[l], false };
			last_ns = row->row.enter_ns;
		}
		c->end_seq[l]++;
	}
	solve_stretch(c, last);
	for (uint32_t l = 0; l < c->known.location_count; l++) {
		c->first_seq[l] = c->end_seq[l] - 1;
		window_drop(&c->window, l, c->first_seq[l]);
	}
	c->begin_ns = last_ns;
	c->from_start = false;
}

static void
take_end(struct critpath *c)
{
	struct event last = { 0, 0, true };
	int64_t last_ns = INT64_MIN;

	for (uint32_t l = 0; l < c->known.location_count; l++) {
		const struct event_row *row;

		c->end_seq[l] = window_end(&c->window, l);
		if (c->end_seq[l] == c->first_seq[l])
			continue;
		row = row_of(c, l, c->end_seq[l] - 1);
		if (row->row.leave_ns > last_ns) {
			last = (struct event){ l, c->end_seq[l] - 1 - row->row.part, true };
			last_ns = row->row.leave_ns;
		}
	}
	if (last_ns != INT64_MIN)
		solve_stretch(c, last);
}

static void
take_message(struct critpath *c, const struct message *message, struct calls *calls)
{
	uint64_t rows = 0;

	if (definitions_take(&c->known, &c->in, message) < 0)
		die_input(&c->in);
	if (is_kind(message, "run")) {
		window_open(&c->window, c->known.location_count, sizeof(struct event_row));
		c->first_seq = zalloc(c->known.location_count, sizeof *c->first_seq);
		c->end_seq = zalloc(c->known.location_count, sizeof *c->end_seq);
	} else if (is_kind(message, "calls")) {
		if (calls_read(calls, &c->in, message) < 0 ||
		    window_add(&c->window, &c->in, message, calls) < 0)
			die_input(&c->in);
		rows = calls->count;
	}
	if (c->opt.form == STREAM && writer_pass(&c->out, message, rows) < 0)
		die_output();
	if (is_kind(message, "messages"))
		take_messages(c, message);
	else if (is_kind(message, "collectives"))
		take_collectives(c, message);
	else if (is_kind(message, "sync"))
		take_sync(c, message);
}

static int
end_output(struct critpath *c)
{
	if (c->opt.form == TEXT) {
		report_text(&c->report, &c->known, c->opt.all);
		return finish(DONE);
	}
	if (c->opt.form == JSON) {
		printf("]");
		report_json(&c->report, &c->known);
		return finish(DONE);
	}
	message_begin(&c->out, "path", 3);
	put_int(&c->out, "run_ns", c->known.run_ns);
	put_int(&c->out, "length_ns", c->report.end_ns - c->report.begin_ns);
	put_uint(&c->out, "segments", c->report.segments);
	if (message_end(&c->out) < 0 || writer_end(&c->out) < 0)
		die_output();
	return DONE;
}

int
main(int argc, char **argv)
{
	static struct critpath c = { .from_start = true };
	struct calls calls = { 0 };
	struct progress progress;
	struct message message;
	int got;

	tool = "lp-critpath";
	c.opt = parse_options(argc, argv);
	refuse_terminal_input(c.opt.file, usage);
	if (c.opt.form == STREAM)
		refuse_terminal_output();
	if (reader_open(&c.in, c.opt.file) < 0)
		die_input(&c.in);
	if (reader_refuse_content(&c.in, "trace", "lp-graph matches it first") < 0)
		die_input(&c.in);
	if (c.opt.form == STREAM && writer_open(&c.out, STDOUT_FILENO, "path", &c.in, argc, argv) < 0)
		die_output();
	if (c.opt.form == JSON)
		printf("{\"segments\":[");
	progress_begin(&progress);
	while ((got = reader_next(&c.in, &message)) > 0) {
		take_message(&c, &message, &calls);
		progress_show(&progress, c.in.rows, 0, 0);
	}
	if (got < 0)
		die_input(&c.in);
	progress_end(&progress, c.in.rows);
	if (c.known.ranks > 0)
		take_end(&c);
	return end_output(&c);
}
