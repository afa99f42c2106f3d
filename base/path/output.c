/* SPDX-License-Identifier: BSD-3-Clause */
#include "output.h"

#include <errno.h>
#include <unistd.h>

#include "../tool/spool.h"

enum { BLOCK = 4096 };		/* rows in a message */

/* GOT is what writing to OUT has returned. */
static void
check_written(const struct output *o, const struct writer *out, int got)
{
	if (got < 0 && out == &o->alone)
		die("%s: %s", o->alone_name, strerror(errno));
	need_output(got);
}

void
rows_table(struct text *out, struct rows rows, size_t most)
{
	table_first(out, rows.fields, rows.at, rows.count, rows.size, most);
	free(rows.at);
}

void
rows_json(struct json *out, const char *key, struct rows rows)
{
	json_break(out);
	json_rows(out, key, rows.fields, rows.at, rows.count, rows.size);
	free(rows.at);
}

void
put_member(struct writer *out, const char *key, struct column_type type, const void *member,
    size_t count, size_t row_size)
{
	char *values = need(malloc(count * type.width + 1));

	/* The compiler makes one instruction of a constant size. */
#define GATHER(width) \
	for (size_t i = 0; i < count; i++) \
		memcpy(values + i * (width), (const char *)member + i * row_size, width)
	if (type.width == 8)
		GATHER(8);
	else if (type.width == 4)
		GATHER(4);
	else
		GATHER(type.width);
#undef GATHER
	put_column_of(out, key, type, values, count);
	free(values);
}

static void
write_block(const struct output *o, struct writer *out, int number, const struct segment *at,
    size_t count)
{
	uint16_t call[BLOCK];
	uint8_t polls[BLOCK];
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		call[i] = reader_call_numbers(o->run->graph.in)[at[i].call];
		polls[i] = at[i].polls;
		any |= at[i].polls;
	}
	message_begin(out, number > 0 ? "alternatives" : "segments", (number > 0 ? 8U : 7U) + any);
	if (number > 0)
		put_int(out, "number", number);
	put_uint(out, "count", count);
	PUT_MEMBER(out, "location", at, location, count);
	PUT_MEMBER(out, "begin", at, begin_ns, count);
	PUT_MEMBER(out, "end", at, end_ns, count);
	PUT_MEMBER(out, "kind", at, kind, count);
	put_column(out, "call", call, count);
	PUT_MEMBER(out, "site", at, site, count);
	if (any)
		put_column(out, "polls", polls, count);
	check_written(o, out, message_end(out));
}

static void
write_segments(const struct output *o, struct writer *out, int number,
    const struct segments *segments)
{
	for (size_t i = 0; i < segments->count; i += BLOCK)
		write_block(o, out, number, segments->at + i,
		    segments->count - i < BLOCK ? segments->count - i : BLOCK);
}

static _Noreturn void
die_file(void)
{
	die("temporary file: %s", errno != 0 ? strerror(errno) : "it has been cut");
}

void
output_early(struct output *o, const struct segments *segments)
{
	if (o->early == NULL && (o->early = fdopen(spool_open(), "w+")) == NULL)
		die_file();
	if (segments->count > 0 && fwrite(segments->at, sizeof *segments->at, segments->count,
	    o->early) != segments->count)
		die_file();
	o->early_count += segments->count;
}

void
output_write(struct output *o, int number, const struct segments *segments)
{
	struct segment at[BLOCK];

	if (number > 0 || o->early_count == 0) {
		write_segments(o, &o->out, number, segments);
		return;
	}
	output_early(o, segments);
	if (fseek(o->early, 0, SEEK_SET) < 0)
		die_file();
	while (o->early_count > 0) {
		const size_t count = o->early_count < BLOCK ? o->early_count : BLOCK;

		errno = 0;
		if (fread(at, sizeof *at, count, o->early) != count)
			die_file();
		write_block(o, &o->out, 0, at, count);
		o->early_count -= count;
	}
	if (fseek(o->early, 0, SEEK_SET) < 0)
		die_file();
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
	if (o->alone_name != NULL) {
		o->alone_file = whole_file_begin(o->alone_name);
		check_written(o, &o->alone, writer_open(&o->alone,
		    dup(fileno(o->alone_file.file)), "path", o->run->graph.in, argc, argv));
	}
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
	if (o->alone_name != NULL)
		write_segments(o, &o->alone, 0, segments);
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
	const bool alone = o->alone_name != NULL && is_definition(message);
	int64_t rows = 0;

	if (o->form != STREAM && !alone)
		return;
	if (reader_verify(in, message) < 0 || (is_kind(message, "calls") &&
	    body_int(in, message, "count", 0, UINT32_MAX, &rows) < 0))
		die_input(in);
	if (alone)
		check_written(o, &o->alone, writer_pass(&o->alone, message, 0));
	if (o->form != STREAM)
		return;
	need_output(writer_pass(&o->out, message, (uint64_t)rows));
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

static void
end_path(const struct output *o, struct writer *out, const struct functions *functions)
{
	if (functions->sums.any)
		functions_write(out, functions);
	message_begin(out, "path", 3);
	put_int(out, "run_ns", o->run->graph.known.run_ns);
	put_int(out, "length_ns", report_length_ns(&o->report));
	put_uint(out, "segments", o->report.segments);
	check_written(o, out, message_end(out) < 0 ? -1 : writer_end(out));
}

void
output_end(struct output *o, const struct functions *functions)
{
	if (o->form == STREAM)
		end_path(o, &o->out, functions);
	if (o->alone_name != NULL) {
		end_path(o, &o->alone, functions);
		whole_file_end(&o->alone_file);
	}
}
