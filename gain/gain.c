/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-gain - what if something took longer or shorter: gains, slack, alternatives
 *
 * reads   one graph stream
 * writes  the same messages, the path's segments and the answers; or a report as text or
 *         JSON; a report of several forms goes to a terminal as text
 * memory  about 150 bytes for each row between two global synchronisation points, up to --most:
 *         a run with a longer stretch has no gains; rows as in lp-critpath
 */
#include <unistd.h>

#include "../base/tool/process.h"
#include "gain.h"

static const char usage[] =
	"usage: lp-gain [--gain PERCENT] [--slack] [-k N] [-F text|json|stream] [--all] [FILE]\n"
	"Say what a run would gain if something took less time, from its graph stream.\n"
	"      --gain PERCENT   what each call site would gain if it took less time [20, where\n"
	"                       nothing else is asked]\n"
	"      --slack          how much later each activity could end without harm\n"
	"  -k, --alternatives N the N longest ways through the run beside the path [0]\n"
	"      --needed         the path over all that calls need, not what they waited for\n"
	"      --scale WHAT     the same, with rank=N,site=NAME,call=NAME,factor=X times as long\n"
	"  -a, --algorithm HOW  of these two: walk, kahn, dijkstra, delta: the same path [walk]\n"
	"  -F, --format FORM    text, json, stream: the input, the path and what was asked for\n"
	"                       [stream; to a terminal, of --needed and of --scale text]\n"
	"      --json FILE      the report as JSON, too\n"
	"      --path FILE      the path alone as a stream, too, as lp-critpath joins\n"
	"      --all            text: every rank, call and call site, not only the first\n"
	"      --whole          gains of all the path, its start, Init and Finalize too\n"
	"      --memory MB      for rows; older ones go into a temporary file [128 and more]\n"
	"      --most MB        for what may change in one stretch; a run with a longer one has no\n"
	"                       gains [half of the memory there is]\n"
	"  -h, --help           print this text\n"
	"  -V, --version        print the version\n";

struct options {
	enum form form;
	bool slack, needed, all, whole;
	int percent, alternatives;
	int algorithm;			/* enum chooser; -1: unsaid */
	struct scales scales;
	size_t memory;			/* bytes for rows; SIZE_MAX: unsaid */
	size_t most;			/* bytes for the graph of a stretch */
	/* files for JSON and for the path alone, beside the form; NULL: none */
	const char *json, *path;
	const char *file;		/* NULL or "-": standard input */
};

struct asked {
	struct options opt;
	struct team team;
	struct run run;
	struct functions functions;
	struct output output;
	struct segments segments;	/* of a stretch */
	struct whatif whatif;
	struct choice choice;
	bool path_only;			/* the graph of a stretch would be too large */
};

#define OPTION(member) MEMBER(struct options, member)

static struct options
parse_options(int argc, char **argv)
{
	static const char *const algorithms[] = { "walk", "kahn", "dijkstra", "delta", NULL };
	static const char *const forms[] = { "stream", "text", "json", NULL };
	enum { SCALE = 256 };
	static const struct option_row rows[] = {
		{ "gain", 0, AS_WHOLE, OPTION(percent), 1, 100 },
		{ "slack", 0, FLAG, OPTION(slack) },
		{ "alternatives", 'k', AS_WHOLE, OPTION(alternatives), 1, 1000 },
		{ "needed", 0, FLAG, OPTION(needed) }, { "scale", SCALE, ASKED },
		{ "algorithm", 'a', AS_CHOICE, OPTION(algorithm), .choices = algorithms },
		{ "format", 'F', AS_FORM, OPTION(form), .choices = forms },
		{ "json", 0, AS_TEXT, OPTION(json) }, { "path", 0, AS_TEXT, OPTION(path) },
		{ "all", 0, FLAG, OPTION(all) },
		{ "whole", 0, FLAG, OPTION(whole) },
		{ "memory", 0, AS_MEGABYTES, OPTION(memory) },
		{ "most", 0, AS_MEGABYTES, OPTION(most) }, OPTIONS_END
	};
	struct options opt = { .form = UNSAID_FORM, .algorithm = -1, .memory = SIZE_MAX,
	    .most = (size_t)process_memory() / 2 };

	while (next_option(argc, argv, "", rows, usage, &opt) == SCALE)
		scale_add(&opt.scales, optarg, argc, argv, &optind);
	if (argc - optind > 1)
		bad_usage(usage);
	opt.needed |= opt.scales.count > 0;
	if (opt.needed && (opt.slack || opt.alternatives > 0 || opt.percent > 0))
		die("--needed and --scale are of another path than --slack, --alternatives and "
		    "--gain");
	if (opt.needed && opt.form == STREAM)
		die("--needed and --scale: what would be has forms text and json");
	if (opt.needed && opt.path != NULL)
		die("--path: of --needed and --scale there is no stream");
	if (!opt.needed && opt.algorithm >= 0)
		die("-a is of --needed and --scale");
	if (!opt.needed && !opt.slack && opt.alternatives == 0 && opt.percent == 0)
		opt.percent = 20;
	if (opt.form == UNSAID_FORM)
		opt.form = opt.needed || isatty(STDOUT_FILENO) ? TEXT : STREAM;
	opt.file = argv[optind];
	return opt;
}

/*
 * Does the graph of this stretch need more memory than it may have? Gains are of the whole run, so
 * there are none then. The path goes on without it, and forgets rows as early as it can.
 */
static void
check_room(struct asked *a, const struct message *message)
{
	enum { ROW_BYTES = 150 };
	const struct run *run = &a->run;
	uint64_t rows = 0;

	if (a->path_only || !is_kind(message, "settled"))
		return;
	for (uint32_t l = 0; l < run->graph.known.location_count; l++)
		if (run->graph.seqs[l] > run->first_seq[l])
			rows += run->graph.seqs[l] - run->first_seq[l];
	if (rows <= a->opt.most / ROW_BYTES)
		return;
	if (a->opt.needed || a->opt.slack || a->opt.alternatives > 0)
		die("%llu rows without a synchronisation point would need more than the %zu MB of "
		    "--most", (unsigned long long)rows, a->opt.most >> 20);
	note("no gains: %llu rows without a synchronisation point would need more than the %zu MB "
	    "of --most", (unsigned long long)rows, a->opt.most >> 20);
	a->path_only = true;
	a->opt.percent = a->whatif.gains.percent = 0;
	run_forget_instances(&a->run);
}

static void
take_piece(void *asked)
{
	struct asked *a = asked;

	output_report(&a->output, &a->segments);
	if (a->opt.form == STREAM)
		output_early(&a->output, &a->segments);
}

static void
solve_stretch(struct asked *a, const struct pieces *pieces, struct event last)
{
	struct stretch stretch;

	if (a->path_only)
		pieces_end(pieces, last);
	stretch = run_stretch(&a->run, last);
	a->segments.count = 0;
	if (a->opt.needed) {
		choice_solve(&a->choice, a->opt.algorithm < 0 ? CHOOSE_WALK :
		    (enum chooser)a->opt.algorithm, &stretch, &a->run.instances,
		    &a->segments);
		output_report(&a->output, &a->segments);
		return;
	}
	while (!solve_walk(&stretch, &a->segments))
		cut_cycle(&stretch);
	output_report(&a->output, &a->segments);
	if (!a->path_only)
		whatif_add(&a->whatif, &stretch, &a->run.instances);
	if (a->opt.form != STREAM)
		return;
	output_write(&a->output, 0, &a->segments);
	write_slack(&a->output.out, &a->whatif.rows);
	for (int n = 0; n < a->whatif.count; n++)
		output_write(&a->output, n + 1, &a->whatif.alternatives[n].segments);
}

static void
end_output(struct asked *a)
{
	struct output *o = &a->output;
	const struct definitions *known = &a->run.graph.known;
	const struct gains *gains = a->opt.percent > 0 ? &a->whatif.gains : NULL;

	if (output_has_json(o)) {
		output_json(o, gains, NULL);
		whatif_json(&o->json, &a->whatif, known);
		if (a->opt.needed)
			json_bool(&o->json, "needed", true);
		output_end_json(o);
	}
	if (a->opt.form == TEXT) {
		if (a->opt.needed) {
			report_text(&o->text, &o->report, known, a->opt.all);
			text_char(&o->text, '\n');
			text_line(&o->text, "the path over all that calls need%s",
			    a->choice.scales.count > 0 ? ", with what --scale changes" : "");
		} else {
			report_head(&o->text, &o->report, known, gains);
		}
		whatif_text(&o->text, &a->whatif, &o->report, known, a->opt.all);
		text_flush(&o->text);
	} else if (a->opt.form == STREAM && gains != NULL) {
		write_gains(&o->out, gains);
	}
	output_end(o, &a->functions);
}

int
main(int argc, char **argv)
{
	static struct asked a = { .team = { .size = 1 } };
	const struct pieces pieces = { &a.run, &a.segments, take_piece, &a };
	struct progress progress = { 0 };
	struct message message;
	struct event last;

	tool = "lp-gain";
	a.opt = parse_options(argc, argv);
	refuse_terminal_input(a.opt.file, usage);
	if (a.opt.form == STREAM)
		refuse_terminal_output();
	run_open(&a.run, a.opt.file, READ_STREAM, ALL_STRETCHES, &a.team);
	a.run.keeps_instances = true;
	a.run.window_bytes = a.opt.memory;
	/* Samples have the times of recorded pieces, not of changed ones. */
	a.run.functions = a.opt.needed ? NULL : &a.functions;
	a.choice = (struct choice){ .scales = a.opt.scales, .last = NOBODY };
	a.whatif = (struct whatif){ .functions = &a.functions, .slack = a.opt.slack,
	    .whole = a.opt.whole, .count = a.opt.alternatives, .gains.percent = a.opt.percent };
	a.output.form = a.opt.form;
	a.output.json_name = a.opt.json;
	a.output.alone_name = a.opt.path;
	a.output.run = &a.run;
	a.output.functions = a.run.functions;
	a.output.report.whole = a.opt.whole;
	output_begin(&a.output, argc, argv);
	while (run_next(&a.run, &message)) {
		bool ended = run_take(&a.run, &message, &last);

		output_pass(&a.output, &message);
		if (ended) {
			solve_stretch(&a, &pieces, last);
			run_advance(&a.run);
		} else {
			check_room(&a, &message);
			if (a.path_only && run_decided(&a.run, &message, &last))
				pieces_take(&pieces, last);
		}
		progress_input(&progress, a.run.graph.in);
	}
	progress_end(&progress);
	if (run_end(&a.run, &last)) {
		solve_stretch(&a, &pieces, last);
		run_count_rest(&a.run);
	}
	whatif_end(&a.whatif, &a.run.graph.known);
	end_output(&a);
	return a.opt.form == STREAM ? DONE : finish(DONE);
}
