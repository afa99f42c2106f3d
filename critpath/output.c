/* SPDX-License-Identifier: BSD-3-Clause */
#include "critpath.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void
put_sums(struct critpath *c, const struct segments *segments)
{
	if (c->opt.every_ns > 0)
		every_add(c, segments);
	else if (c->by != NULL)
		by_add(c, segments);
	else
		output_report(&c->output, segments);
}

void
put_segments(struct critpath *c, const struct segments *segments)
{
	put_sums(c, segments);
	if (c->opt.form == STREAM)
		output_write(&c->output, 0, segments);
}

/* The file of --verdict, without its newline; NULL: not given. */
static char *
given_verdict(const char *file)
{
	static const char begin[] = "{\"sentence\":";
	char *verdict = NULL;
	size_t size = 0;
	ssize_t length;
	FILE *in;

	if (file == NULL)
		return NULL;
	if ((in = fopen(file, "r")) == NULL)
		die("%s: %s", file, strerror(errno));
	length = getdelim(&verdict, &size, '\0', in);
	if (length < 2 || strncmp(verdict, begin, sizeof begin - 1) != 0 ||
	    strcmp(verdict + length - 2, "}\n") != 0)
		die("%s: not a verdict as lp-report --verdict writes it", file);
	fclose(in);
	verdict[length - 1] = '\0';
	return verdict;
}

/*
 * Waits until mpirun has read all output: the one of Open MPI 5 may put half of a waiting line of
 * one output into the other.
 */
static void
wait_for_reader(void)
{
	const bool terminal = isatty(STDOUT_FILENO);
	int left = 0;

	fflush(stdout);
	for (int ms = 0; ms < 2000 &&
	    ioctl(STDOUT_FILENO, terminal ? TIOCOUTQ : FIONREAD, &left) == 0 && left > 0; ms++)
		usleep(1000);
}

/* Reports the gaps of an approximate path, after all other output. */
static void
tell_gaps(const struct critpath *c)
{
	const struct report *r = &c->output.report;
	const int64_t all_ns = r->end_ns - r->begin_ns;
	char distance[160] = "; --distance compares it with the exact path";

	if (c->distance.wanted)
		snprintf(distance, sizeof distance, "; for %.2f %% of the time it is on the exact "
		    "path's rank, for %.2f %% at its site, too", 100 * distance_share(&c->distance,
		    c->distance.same_rank_ns), 100 * distance_share(&c->distance,
		    c->distance.same_site_ns));
	if (c->team.size > 1)
		wait_for_reader();
	note("intervals: %zu groups; the length is %.9f s, gaps are %.9f s (%.2f %%)%s",
	    r->computations, seconds(report_length_ns(r)), seconds(r->gap_ns),
	    all_ns > 0 ? 100 * (double)r->gap_ns / (double)all_ns : 0, distance);
}

void
end_output(struct critpath *c)
{
	struct output *o = &c->output;
	const struct distance *d = &c->distance;
	const struct definitions *known = &c->run.graph.known;

	if (c->opt.every_ns > 0) {
		every_tell(c);
		return;
	}
	if (c->by != NULL) {
		by_end(c);
		return;
	}
	if (output_has_json(o)) {
		char *verdict = given_verdict(c->opt.verdict);

		output_json(o, NULL, verdict);
		free(verdict);
		functions_json(&o->json, &c->functions, known);
		if (d->wanted) {
			json_break(&o->json);
			json_begin_object(&o->json, "distance");
			json_double(&o->json, "same_rank_share",
			    distance_share(d, d->same_rank_ns));
			json_double(&o->json, "same_site_share",
			    distance_share(d, d->same_site_ns));
			json_end_object(&o->json);
		}
		output_end_json(o);
	}
	if (c->opt.form >= FOLDED) {
		if (!c->functions.sums.any)
			die("%s: no samples: lp-record --sample takes them",
			    reader_file(c->run.graph.in));
		functions_stacks(&o->text, &c->functions, known, c->opt.form == SPEEDSCOPE);
	} else if (c->opt.form == TEXT) {
		report_text(&o->text, &o->report, known, c->opt.all);
		functions_text(&o->text, &c->functions, known, c->opt.all);
		text_flush(&o->text);
	} else if (c->opt.form == STREAM) {
		output_end_stream(o, &c->functions);
	}
	if (c->opt.algorithm == INTERVALS)
		tell_gaps(c);
}
