/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-fit - parallel overhead from run times alone
 *
 * reads   tables of run times (CSV, TSV), or graph streams, one for each run
 * writes  a report for each program: table, JSON, CSV or a stream; or a gnuplot script
 * memory  runs
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/stream/stream.h"
#include "fit.h"

static const char usage[] =
	"usage: lp-fit [-F text|json|csv|stream] [OPTION...] [FILE...]\n"
	"Estimate parallel overhead from run times, given as n,t[,tau,dtau] or as graph streams.\n"
	"  -F, --format FORM      text, json, csv or stream [text]\n"
	"      --gnuplot          a gnuplot script with data instead\n"
	"      --model MODEL      hofinger, amdahl or usl [all, chosen by AICc]\n"
	"      --paper            the procedure of Hoefinger and Haunschmid, t_1 as measured\n"
	"      --serial F         the same with this serial share f, not found by its rule\n"
	"      --residuals KIND   of t: log, relative or absolute [log]\n"
	"      --tau N,...        measured overhead that joins the fit: all, none or at these n [all]\n"
	"      --predict N,...    also at these n\n"
	"      --from N           leave runs on fewer cores out of the fits, but keep their t_1\n"
	"      --whole            graph streams: with MPI_Init, MPI_Finalize and what is around them\n"
	"  -h, --help             print this text\n"
	"  -V, --version          print the version\n";

enum form { TEXT, JSON, CSV, STREAM, GNUPLOT };
enum { MOST_CORES = 1000000000 };	/* in an option */

struct options {
	enum form form;
	struct settings settings;
	bool whole;			/* of graph streams: start and end, too */
	char **files;
	size_t file_count;
};

static double *
parse_list(const char *option, const char *text, size_t *count)
{
	char *copy = need(strdup(text)), *rest = copy, *word;
	double *list = NULL;
	size_t capacity = 0;

	*count = 0;
	while ((word = strsep(&rest, ",")) != NULL)
		*APPEND(list, *count, capacity) = (double)parse_integer(option, word, 1,
		    MOST_CORES);
	free(copy);
	return list;
}

#define OPTION(member) MEMBER(struct options, member)

static struct options
parse_options(int argc, char **argv)
{
	enum { GNUPLOT_SCRIPT = 256, MODEL, TAU, PREDICT };
	static const char *const forms[] = { "text", "json", "csv", "stream", NULL };
	static const struct option_row rows[] = {
		{ "format", 'F', AS_FORM, OPTION(form), .choices = forms },
		{ "gnuplot", GNUPLOT_SCRIPT, ASKED_ALONE }, { "model", MODEL, ASKED },
		{ "paper", 0, FLAG, OPTION(settings.paper) },
		{ "serial", 0, AS_NUMBER, OPTION(settings.serial), .from = 0, .to = 1 },
		{ "residuals", 0, AS_CHOICE, OPTION(settings.residuals),
		    .choices = residual_names },
		{ "tau", TAU, ASKED }, { "predict", PREDICT, ASKED },
		{ "from", 0, AS_WHOLE, OPTION(settings.from), 1, MOST_CORES },
		{ "whole", 0, FLAG, OPTION(whole) }, OPTIONS_END
	};
	struct options opt = { .form = TEXT,
	    .settings = { .models = (1u << MODELS) - 1, .serial = NAN, .join_all = true } };
	struct settings *s = &opt.settings;
	int c;

	while ((c = next_option(argc, argv, "", rows, usage, &opt)) != -1)
		switch (c) {
		case GNUPLOT_SCRIPT: opt.form = GNUPLOT; break;
		case MODEL: s->models = 1u << parse_choice("--model", optarg, model_names); break;
		case TAU:
			s->join_all = strcmp(optarg, "all") == 0;
			s->joined_count = 0;
			if (!s->join_all && strcmp(optarg, "none") != 0)
				s->joined = parse_list("--tau", optarg, &s->joined_count);
			break;
		case PREDICT:
			s->predict = parse_list("--predict", optarg, &s->predict_count);
			break;
		}
	s->paper |= !isnan(s->serial);
	if (s->paper && s->models != (1u << MODELS) - 1)
		die("--model: the paper's procedure has its own");
	s->whole_curve = opt.form == GNUPLOT;
	opt.files = argv + optind;
	opt.file_count = (size_t)(argc - optind);
	return opt;
}

/* All input is read and judged before the first byte of output. */
int
main(int argc, char **argv)
{
	static struct text text;	/* large for a stack */
	struct options opt;
	struct program *programs;
	struct writer out;
	size_t count;

	tool = "lp-fit";
	opt = parse_options(argc, argv);
	if (opt.file_count == 0)
		refuse_terminal_input(NULL, usage);
	if (opt.form == STREAM)
		refuse_terminal_output();
	programs = read_programs(opt.files, opt.file_count, opt.whole, &count);
	if (opt.form == STREAM)
		need_output(writer_open(&out, STDOUT_FILENO, "fit", NULL, argc, argv));
	text_begin(&text, stdout, NULL);
	for (size_t i = 0; i < count; i++) {
		struct analysis analysis = analyse(&programs[i], &opt.settings);

		switch (opt.form) {
		case TEXT: print_table(&text, &analysis); break;
		case JSON: print_json(&text, &analysis); break;
		case CSV: print_csv(&text, &analysis, i == 0); break;
		case GNUPLOT: print_gnuplot(&text, &analysis); break;
		case STREAM: write_messages(&out, &analysis); break;
		}
	}
	if (opt.form == STREAM)
		need_output(writer_end_of(&out, false));
	text_flush(&text);
	return finish(DONE);
}
