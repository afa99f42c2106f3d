/* SPDX-License-Identifier: BSD-3-Clause */
#include "output.h"

#include <unistd.h>

enum { BLOCK = 4096 };		/* rows in a message */

static void
write_block(struct writer *out, const struct reader *in, int number, const struct segment *at,
    size_t count)
{
	uint32_t location[BLOCK], site[BLOCK];
	int64_t begin[BLOCK], end[BLOCK];
	uint16_t call[BLOCK];
	uint8_t kind[BLOCK], polls[BLOCK];
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		location[i] = at[i].location;
		site[i] = at[i].site;
		begin[i] = at[i].begin_ns;
		end[i] = at[i].end_ns;
		call[i] = reader_call_numbers(in)[at[i].call];
		kind[i] = at[i].kind;
		polls[i] = at[i].polls;
		any |= at[i].polls;
	}
	message_begin(out, number > 0 ? "alternatives" : "segments", (number > 0 ? 8U : 7U) + any);
	if (number > 0)
		put_int(out, "number", number);
	put_uint(out, "count", count);
	put_column(out, "location", location, count);
	put_column(out, "begin", begin, count);
	put_column(out, "end", end, count);
	put_column(out, "kind", kind, count);
	put_column(out, "call", call, count);
	put_column(out, "site", site, count);
	if (any)
		put_column(out, "polls", polls, count);
	end_message(out);
}

void
output_write(struct output *o, int number, const struct segments *segments)
{
	for (size_t i = 0; i < segments->count; i += BLOCK)
		write_block(&o->out, o->run->graph.in, number, segments->at + i,
		    segments->count - i < BLOCK ? segments->count - i : BLOCK);
}

bool
output_has_json(const struct output *o)
{
	return o->form == JSON || o->json_name != NULL;
}

void
output_begin(struct output *o, int argc, char **argv)
{
	if (o->form == STREAM &&
	    writer_open(&o->out, STDOUT_FILENO, "path", o->run->graph.in, argc, argv) < 0)
		die_output();
	if (o->form == STREAM)
		reader_when_waiting(o->run->graph.in, flush_output, &o->out);
	text_begin(&o->text, stdout, NULL);
	if (output_has_json(o)) {
		o->json_file = whole_file_begin(o->json_name);
		text_begin(&o->json_text, o->json_file.file, o->json_name);
		json_begin(&o->json, &o->json_text);
		json_begin_object(&o->json, NULL);
		json_begin_array(&o->json, "segments");
	}
}

/*
 * How many pieces from I on form one polling loop: failed polls at one site, and the computing
 * between them. A loop of one second has some million pieces.
 */
static size_t
polling_loop(const struct segments *segments, size_t i)
{
	const struct segment *first = &segments->at[i];
	size_t end = i;

	for (; end < segments->count; end++) {
		const struct segment *s = &segments->at[end];

		if (s->location != first->location || s->site != first->site ||
		    (s->kind != COMPUTE && !(s->kind == MPI && s->polls)))
			break;
	}
	return end - i;
}

void
output_report(struct output *o, const struct segments *segments)
{
	if (output_has_json(o)) {
		enum { MOST_APART = 64 };	/* pieces of a loop to print one by one */

		for (size_t i = 0, count; i < segments->count; i += count) {
			count = polling_loop(segments, i);
			if (count <= MOST_APART)
				count = 1;
			segment_json(&o->json, &segments->at[i], count, &o->run->graph.known);
		}
	}
	for (size_t i = 0; i < segments->count; i++) {
		report_add(&o->report, &o->run->graph.known, &segments->at[i]);
		if (o->functions != NULL)
			functions_segment(o->functions, &segments->at[i]);
	}
}

void
output_pass(struct output *o, const struct message *message)
{
	struct reader *in = o->run->graph.in;
	int64_t rows = 0;

	if (o->form != STREAM)
		return;
	if (reader_verify(in, message) < 0 || (is_kind(message, "calls") &&
	    body_int(in, message, "count", 0, UINT32_MAX, &rows) < 0))
		die_input(in);
	if (writer_pass(&o->out, message, (uint64_t)rows) < 0)
		die_output();
}

void
output_json(struct output *o, const struct gains *gains, const char *verdict)
{
	json_end_array(&o->json);
	report_json(&o->json, &o->report, &o->run->graph.known, gains, verdict);
}

void
output_end_json(struct output *o)
{
	json_end_object(&o->json);
	json_end_line(&o->json);
	text_flush(&o->json_text);
	whole_file_end(&o->json_file);
}

void
output_end_stream(struct output *o, const struct functions *functions)
{
	if (functions->sums.any)
		functions_write(&o->out, functions);
	message_begin(&o->out, "path", 3);
	put_int(&o->out, "run_ns", o->run->graph.known.run_ns);
	put_int(&o->out, "length_ns", report_length_ns(&o->report));
	put_uint(&o->out, "segments", o->report.segments);
	if (message_end(&o->out) < 0 || writer_end(&o->out) < 0)
		die_output();
}
