/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-guidelines - whether an MPI library keeps performance guidelines
 *
 * reads   measurement streams, one or more mpiruns each
 * writes  a verdict; with --rules, an Open MPI rules file that fixes the violations
 * memory  one number for each mpirun, function, mock-up and size
 */
#include "guidelines.h"

static const char usage[] =
	"usage: lp-guidelines [OPTION...] [FILE...]\n"
	"Judge whether an MPI library keeps its performance guidelines.\n"
	"  -F, --format FORM      text, tables, json, csv or stream [text]\n"
	"      --all              text: every violation, not only the first ones\n"
	"  -t, --test TEST        wilcoxon, normal or ks [wilcoxon]\n"
	"  -c, --correction HOW   holm, bh or none [holm]\n"
	"  -a, --alpha P          level of significance [0.05]\n"
	"  -m, --margin NS        smaller differences do not count [the barrier's spread]\n"
	"      --pairs            judge one stage by pairs, as two stages are\n"
	"      --slower SHARE     pairs: so much slower is no violation [0.05]\n"
	"      --difference SHARE held is only where so much would have been seen [0.25]\n"
	"      --candidates FILE  for lp-measure: what a second stage measures\n"
	"  -p, --plots DIR        a gnuplot script for each violated guideline\n"
	"  -r, --rules FILE       measure other algorithms and write Open MPI rules\n"
	"      --mpirun COMMAND   with --rules: what starts the ranks [mpirun -n RANKS]\n"
	"      --compare          FILEs are folders of campaigns: the first and the others\n"
	"  -h, --help             print this text\n"
	"  -V, --version          print the version\n"
	"Exit status: 0 all are held, 1 one is violated, 2 trouble, 3 not decidable.\n";

enum form { TEXT, TABLES, JSON, CSV, STREAM };

struct options {
	enum form form;
	bool all, compare;
	struct rules_of_judging rules;
	const char *plots, *rules_file, *mpirun, *candidates;
	char **files;
	size_t file_count;
};

#define OPTION(member) MEMBER(struct options, member)

static struct options
parse_options(int argc, char **argv)
{
	static const char *const forms[] = { "text", "tables", "json", "csv", "stream", NULL };
	static const char *const tests[] = { "wilcoxon", "normal", "ks", NULL };
	static const char *const corrections[] = { "holm", "bh", "none", NULL };
	static const struct option_row rows[] = {
		{ "format", 'F', AS_FORM, OPTION(form), .choices = forms },
		{ "all", 0, FLAG, OPTION(all) },
		{ "test", 't', AS_CHOICE, OPTION(rules.test), .choices = tests },
		{ "correction", 'c', AS_CHOICE, OPTION(rules.correction), .choices = corrections },
		{ "alpha", 'a', AS_NUMBER, OPTION(rules.alpha), .from = 1e-9, .to = 0.5 },
		{ "margin", 'm', AS_NUMBER, OPTION(rules.margin_ns), .from = 0, .to = 1e12 },
		{ "plots", 'p', AS_TEXT, OPTION(plots) },
		{ "rules", 'r', AS_TEXT, OPTION(rules_file) },
		{ "mpirun", 0, AS_TEXT, OPTION(mpirun) },
		{ "slower", 0, AS_NUMBER, OPTION(rules.slower), .from = 0, .to = 100 },
		{ "pairs", 0, FLAG, OPTION(rules.paired) },
		{ "difference", 0, AS_NUMBER, OPTION(rules.difference), .from = 1e-6, .to = 100 },
		{ "candidates", 0, AS_TEXT, OPTION(candidates) },
		{ "compare", 0, FLAG, OPTION(compare) }, OPTIONS_END
	};
	static char *standard_input[] = { "-" };
	struct options opt = { .rules = { WILCOXON, HOLM, 0.05, -1, 0.05, 0.25, false } };

	next_option(argc, argv, "", rows, usage, &opt);
	opt.files = optind < argc ? argv + optind : standard_input;
	opt.file_count = optind < argc ? (size_t)(argc - optind) : 1;
	if (opt.compare && (optind == argc || opt.form == STREAM || opt.rules_file != NULL ||
	    opt.candidates != NULL))
		bad_usage(usage);
	return opt;
}

/* The answer is yes only if all tests were decidable. */
static enum exit_status
status_of(const struct verdict *v)
{
	enum { NOT_DECIDABLE = 3 };

	return v->violations > 0 ? ANSWER_IS_NO : v->undecided > 0 ?
	    (enum exit_status)NOT_DECIDABLE : DONE;
}

/* Prints all folders side by side; the exit status is that of the last. */
static int
compare(const struct options *opt, struct text *text)
{
	struct sides s = read_sides(opt->files, opt->file_count, &opt->rules);

	if (opt->plots != NULL)
		plot_sides(&s, opt->plots);
	text_begin(text, stdout, NULL);
	switch (opt->form) {
	case JSON: print_sides_json(text, &s, &opt->rules); break;
	case CSV: print_sides_csv(text, &s, &opt->rules); break;
	default: print_sides(text, &s, &opt->rules, opt->all);
	}
	text_flush(text);
	return finish(status_of(&s.at[s.count - 1].v));
}

int
main(int argc, char **argv)
{
	static struct text text;	/* too large for the stack */
	struct options opt;
	struct campaign c;
	struct verdict v;
	size_t judged;
	bool violated;

	tool = "lp-guidelines";
	opt = parse_options(argc, argv);
	if (opt.compare)
		return compare(&opt, &text);
	refuse_terminal_input(opt.files[0], usage);
	if (opt.form == STREAM)
		refuse_terminal_output();
	c = read_campaign(opt.files, opt.file_count);
	v = judge(&c, &opt.rules);
	if (v.control_failed)
		note("the A/A control failed: %s differs from itself (p %.3g); the order of the "
		    "jobs or another load decides here, do not trust the verdict",
		    v.control->function, v.control_p);
	if (opt.candidates != NULL && write_candidates(&c, &v, opt.candidates) == 0)
		note("no candidates: nothing is left to confirm");
	judged = c.confirm != NULL ? c.confirm->mpiruns : c.mpiruns;
	if (judged < v.needed && opt.candidates == NULL)
		note("%zu mpiruns are too few for %zu tests; %zu are needed", judged,
		    v.tests, v.needed);
	if (opt.plots != NULL)
		write_plots(&v, opt.plots);
	violated = v.violations > 0;
	if (opt.form == STREAM && opt.rules_file != NULL && violated) {
		text_begin(&text, stderr, "standard error");
		mend(&c, &v, &opt.rules, opt.rules_file, opt.mpirun, &text);
		text_flush(&text);
	}
	text_begin(&text, stdout, NULL);
	switch (opt.form) {
	case TEXT: print_table(&text, &c, &v, &opt.rules, opt.all); break;
	case TABLES: print_tables(&text, &c, &v); break;
	case JSON: print_json(&text, &c, &v, &opt.rules); break;
	case CSV: print_csv(&text, &v); break;
	case STREAM: write_stream(&c, &v, argc, argv); return status_of(&v);
	}
	text_flush(&text);
	if (opt.rules_file != NULL && violated) {
		if (opt.form == JSON || opt.form == CSV)
			text_begin(&text, stderr, "standard error");
		violated = !mend(&c, &v, &opt.rules, opt.rules_file, opt.mpirun, &text);
		text_flush(&text);
	}
	return finish(violated ? status_of(&v) : opt.rules_file != NULL ? DONE : status_of(&v));
}
