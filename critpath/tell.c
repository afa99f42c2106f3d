/* SPDX-License-Identifier: BSD-3-Clause */
#include "tell.h"

#include <sys/ioctl.h>
#include <unistd.h>

void
begin_output(struct critpath *c, int argc, char **argv)
{
	c->report.whole = c->opt.whole;
	c->distance.wanted = c->opt.distance;
	if (c->opt.form == STREAM &&
	    writer_open(&c->out, STDOUT_FILENO, "path", c->run.in, argc, argv) < 0)
		die_output();
	text_begin(&c->text, stdout, NULL);
	json_begin(&c->json, &c->text);
	if (c->opt.form == JSON) {
		json_begin_object(&c->json, NULL);
		json_begin_array(&c->json, "segments");
	}
}

/*
 * How many pieces from I on are one loop of polls: failed polls at one site, and the computing between. A
 * second of such a loop has some million.
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

static void
segments_json(struct critpath *c, const struct segments *segments)
{
	enum { MOST_APART = 64 };	/* pieces of a loop that are printed one by one */

	for (size_t i = 0, count; i < segments->count; i += count) {
		count = polling_loop(segments, i);
		if (count <= MOST_APART)
			count = 1;
		segment_json(&c->json, &segments->at[i], count, &c->run.known);
	}
}

void
report_segments(struct critpath *c, const struct segments *segments)
{
	if (c->opt.form == JSON)
		segments_json(c, segments);
	for (size_t i = 0; i < segments->count; i++) {
		report_add(&c->report, &c->run.known, &segments->at[i]);
		if (!c->path_counted)
			functions_segment(&c->functions, &segments->at[i]);
	}
}

void
put_segments(struct critpath *c, const struct segments *segments)
{
	report_segments(c, segments);
	if (c->opt.form != STREAM)
		return;
	if (c->early.count == 0) {
		write_segments(&c->out, c->run.in, 0, segments);
		return;
	}
	segment_file_add(&c->early, segments);
	segment_file_write(&c->early, &c->out, c->run.in);
}

void
pass_message(struct critpath *c, const struct message *message)
{
	int64_t rows = 0;

	if (c->opt.form != STREAM)
		return;
	if (reader_verify(c->run.in, message) < 0 || (is_kind(message, "calls") &&
	    body_int(c->run.in, message, "count", 0, UINT32_MAX, &rows) < 0))
		die_input(c->run.in);
	if (writer_pass(&c->out, message, (uint64_t)rows) < 0)
		die_output();
}

static void
put_distance(struct json *out, const struct distance *distance)
{
	json_break(out);
	json_begin_object(out, "distance");
	json_double(out, "same_rank_share", distance_share(distance, distance->same_rank_ns));
	json_double(out, "same_site_share", distance_share(distance, distance->same_site_ns));
	json_end_object(out);
}

void
end_output(struct critpath *c)
{
	if (c->opt.form >= FOLDED) {
		if (!c->functions.sums.any)
			die("%s: no samples: lp-record --sample takes them", reader_file(c->run.in));
		functions_stacks(&c->text, &c->functions, &c->run.known, c->opt.form == SPEEDSCOPE);
	} else if (c->opt.form == TEXT) {
		report_text(&c->text, &c->report, &c->run.known, &c->whatif, c->opt.all);
		if (c->choice.wanted) {
			text_char(&c->text, '\n');
			text_line(&c->text, "the path over all that calls need%s", c->choice.scales.count > 0 ?
			    ", with what --scale changes" : "");
		}
		functions_text(&c->text, &c->functions, &c->run.known, c->opt.all);
		whatif_text(&c->text, &c->whatif, &c->report, &c->run.known, c->opt.all);
		text_flush(&c->text);
	} else if (c->opt.form == JSON) {
		json_end_array(&c->json);
		report_json(&c->json, &c->report, &c->run.known, &c->whatif);
		functions_json(&c->json, &c->functions, &c->run.known);
		whatif_json(&c->json, &c->whatif, &c->run.known);
		if (c->distance.wanted)
			put_distance(&c->json, &c->distance);
		if (c->choice.wanted)
			json_bool(&c->json, "needed", true);
		json_end_object(&c->json);
		json_end_line(&c->json);
		text_flush(&c->text);
	} else {
		if (c->whatif.faster > 0)
			write_gains(&c->out, &c->whatif);
		if (c->functions.sums.any)
			functions_write(&c->out, &c->functions);
		message_begin(&c->out, "path", 3);
		put_int(&c->out, "run_ns", c->run.known.run_ns);
		put_int(&c->out, "length_ns", report_length_ns(&c->report));
		put_uint(&c->out, "segments", c->report.segments);
		if (message_end(&c->out) < 0 || writer_end(&c->out) < 0)
			die_output();
	}
}

/*
 * Until mpirun has taken all that was written: that of Open MPI 5 puts the half of a line that waits on one
 * output into what comes on the other.
 */
static void
wait_for_reader(void)
{
	const bool terminal = isatty(STDOUT_FILENO);
	int left = 0;

	fflush(stdout);
	for (int ms = 0; ms < 2000 && ioctl(STDOUT_FILENO, terminal ? TIOCOUTQ : FIONREAD, &left) == 0 && left > 0; ms++)
		usleep(1000);
}

void
tell_gaps(const struct critpath *c)
{
	const struct report *r = &c->report;
	const int64_t all_ns = r->end_ns - r->begin_ns;
	char distance[160] = "; --distance compares it with the exact path";

	if (c->distance.wanted)
		snprintf(distance, sizeof distance, "; for %.2f %% of the time it is on the exact path's rank, for %.2f %% "
		    "at its site, too", 100 * distance_share(&c->distance, c->distance.same_rank_ns),
		    100 * distance_share(&c->distance, c->distance.same_site_ns));
	if (c->team.size > 1)
		wait_for_reader();
	note("intervals: %zu groups; the length is %.9f s, gaps are %.9f s (%.2f %%)%s", r->computations,
	    seconds(report_length_ns(r)), seconds(r->gap_ns), all_ns > 0 ? 100 * (double)r->gap_ns / (double)all_ns : 0,
	    distance);
}
