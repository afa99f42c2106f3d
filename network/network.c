/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-network - the machine for lp-replay closest to a measured ping-pong and collectives
 *
 * reads   measurement streams
 * writes  a machine for lp-replay -n, or the measurements beside the machine's times
 * memory  the times of one function at one size, and a median of each
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/tool/table.h"
#include "network.h"

static const char usage[] =
	"usage: lp-network [-F machine|text|region] [-M dimemas|loggp] [-m FILE] [-c N] [-b RANGE]\n"
	"                  [-r N] [-q Q] [FILE ...]\n"
	"Fit latency, bandwidth, eager limit and collectives to measured times.\n"
	"  -F, --format FORM  machine, for lp-replay -n; text: measured and fitted times;\n"
	"                     region of parameters within 10 % [machine]\n"
	"  -M, --model MODEL  dimemas: one latency and bandwidth; loggp: tables by size [dimemas]\n"
	"  -m, --memory FILE  what was measured inside a node [as between nodes]\n"
	"  -c, --cpus N       ranks on a node [1]\n"
	"  -b, --bytes RANGE  fit to messages of 1-65536 bytes, for example [all]\n"
	"  -r, --ranks N      that the machine has nodes for [those measured]\n"
	"  -q, --quantile Q   of the repetitions, 0 the least; or mean [0.5]\n"
	"  -h, --help         print this text\n"
	"  -V, --version      print the version\n";

enum form { MACHINE, TABLE, REGION };

struct options {
	enum form form;
	bool loggp;
	char *memory;		/* NULL: not given */
	struct range bytes;
	int64_t cpus, ranks;	/* ranks 0: not given */
	double quantile;	/* of repetitions */
	char **files;
};

static struct range
parse_range(const char *option, const char *text)
{
	char *words = need(strdup(text)), *dash = strchr(words, '-');
	struct range range;

	if (dash == NULL)
		die("%s %s: two numbers with a - between them are needed", option, text);
	*dash = '\0';
	range.least = parse_bytes(option, words, 0, INT64_MAX);
	range.most = parse_bytes(option, dash + 1, range.least, INT64_MAX);
	free(words);
	return range;
}

#define OPTION(member) MEMBER(struct options, member)

static struct options
parse_options(int argc, char **argv)
{
	static const char *const forms[] = { "machine", "text", "region", NULL };
	static const char *const models[] = { "dimemas", "loggp", NULL };
	static const struct option_row rows[] = {
		{ "format", 'F', AS_FORM, OPTION(form), .choices = forms },
		{ "memory", 'm', AS_TEXT, OPTION(memory) }, { "model", 'M', ASKED },
		{ "cpus", 'c', AS_WHOLE, OPTION(cpus), 1, 1 << 24 }, { "bytes", 'b', ASKED },
		{ "ranks", 'r', AS_WHOLE, OPTION(ranks), 1, 1 << 24 }, { "quantile", 'q', ASKED },
		OPTIONS_END
	};
	struct options opt = { .cpus = 1, .quantile = 0.5, .bytes = { 0, INT64_MAX } };
	int c;

	while ((c = next_option(argc, argv, "", rows, usage, &opt)) != -1)
		switch (c) {
		case 'M': opt.loggp = parse_choice("--model", optarg, models) == 1; break;
		case 'b': opt.bytes = parse_range("--bytes", optarg); break;
		case 'q':
			opt.quantile = strcmp(optarg, "mean") == 0 ? MEAN_OF_ALL :
			    parse_number("--quantile", optarg, 0, 1);
			break;
		}
	opt.files = argv + optind;
	if (opt.loggp && opt.form == REGION)
		die("--format region: tables by size have no region");
	return opt;
}

static int64_t
nodes_of(const struct options *opt, const struct points *points)
{
	return ((opt->ranks > 0 ? opt->ranks : points->most_ranks) + opt->cpus - 1) / opt->cpus;
}

static struct points
points_inside(const struct options *opt)
{
	return read_points((char *[]){ opt->memory, NULL }, opt->bytes, opt->quantile);
}

struct fit {
	struct points points;
	struct pingpong pingpong;
	struct wires wires;
	struct collective *collectives;
	size_t collective_count;
};

static struct fit
make_fit(const struct options *opt, const char *file)
{
	struct fit f = { .points = read_points(opt->files, opt->bytes, opt->quantile),
	    .wires.cpus = opt->cpus };
	struct line inside;

	f.pingpong = fit_pingpong(&f.points, file);
	f.wires.between = inside = f.pingpong.all;
	if (opt->memory != NULL) {
		struct points points = points_inside(opt);

		inside = fit_pingpong(&points, opt->memory).all;
	}
	if (opt->cpus > 1)
		f.wires.inside = inside;
	f.collective_count = fit_collectives(&f.points, &f.wires, &f.collectives);
	return f;
}

/* NAME 1.5 UNIT # +- 0.1; INVERTED: a time per byte, as a rate. Not printed if below its error. */
static void
print_quantity(struct text *out, const char *name, double value, double error, const char *unit,
    bool inverted)
{
	if (value <= error && error > 0) {
		text_print(out, "# %s: not fixed by these measurements\n", name);
		value = 0;
		error = -1;
	}
	if (inverted && value <= 0) {
		text_print(out, "%s infinite\n", name);
		return;
	}
	text_print(out, "%s %.6g %s", name, inverted ? 1 / value : value, unit);
	if (error >= 0)
		text_print(out, "\t# +- %.2g", inverted ? error / value / value : error);
	text_print(out, "\n");
}

static void
print_eager(struct text *out, const struct pingpong *p)
{
	for (size_t k = 0; k < p->segment_count && p->segment_count > 1; k++) {
		const struct segment *s = &p->segments[k];

		text_print(out, "# %llu to %llu bytes: %.4g us", (unsigned long long)s->first,
		    (unsigned long long)s->last, s->line.latency_us);
		if (s->line.us_per_byte != 0)
			text_print(out, " + bytes / %.5g MB/s", 1 / s->line.us_per_byte);
		text_print(out, "\n");
	}
	if (!p->has_limit) {
		text_print(out, "# an eager limit is not visible\neager all\n");
		return;
	}
	text_print(out, "eager %llu B\t# the limit lies above %llu and up to here",
	    (unsigned long long)p->from, (unsigned long long)p->below);
	if (p->below_least != p->below || p->from_most != p->from)
		text_print(out, "; above %llu and up to %llu is possible",
		    (unsigned long long)p->below_least, (unsigned long long)p->from_most);
	text_print(out, "\n");
}

/* As in machines, without MPI_. */
static void
put_name(struct text *out, const char *function)
{
	char *name = need(strdup(function + strlen("MPI_")));

	for (char *c = name; *c != '\0'; c++)
		*c = (char)tolower((unsigned char)*c);
	text_visible(out, name);
	free(name);
}

static void
print_collectives(struct text *out, const struct fit *f)
{
	text_print(out, "collective all logarithmic\n");
	for (size_t i = 0; i < f->collective_count; i++) {
		const struct collective *c = &f->collectives[i];

		text_put(out, "collective ");
		put_name(out, c->function);
		text_print(out,
		    " %s %s %s %s\t# ", model_names[c->phases.in], size_names[c->phases.in_size],
		    model_names[c->phases.out], size_names[c->phases.out_size]);
		if (c->few)
			text_put(out, "not fixed by so few measurements");
		else
			text_print(out, "error %.1f %%", 100 * c->mean_error);
		text_line(out, "%s", c->alike ? "; of 2 ranks all models are the same" : "");
	}
}

static void
print_machine(struct text *out, const struct options *opt, const struct fit *f)
{
	const struct pingpong *p = &f->pingpong;
	const struct line *inside = &f->wires.inside;

	text_line(out, "# lp-network: %s, a ping-pong of %zu sizes", f->points.library, p->count);
	text_print(out, "# error of latency and bandwidth: mean %.1f %%, most %.1f %% at %llu "
	    "bytes\n", 100 * p->mean_error, 100 * p->most_error, (unsigned long long)p->most_at);
	text_print(out, "machine\n");
	print_quantity(out, "bandwidth", p->all.us_per_byte, p->all.us_per_byte_error,
	    "MB/s", true);
	print_collectives(out, f);
	text_print(out, "nodes %lld\ncpus %lld\n", (long long)nodes_of(opt, &f->points),
	    (long long)opt->cpus);
	print_quantity(out, "latency", p->all.latency_us, p->all.latency_error_us, "us", false);
	if (opt->cpus > 1) {	/* otherwise nothing moves in memory */
		print_quantity(out, "memory latency", inside->latency_us,
		    inside->latency_error_us, "us", false);
		print_quantity(out, "memory bandwidth", inside->us_per_byte,
		    inside->us_per_byte_error, "MB/s", true);
	}
	text_print(out, "mapping %lld\n", (long long)opt->cpus);
	print_eager(out, p);
	text_print(out, "init recorded\n");
}

/* Tables by size; without collectives, whose schedules are fitted on this machine. */
static char *
tables_machine(const struct options *opt, const struct points *points, const struct ends *ends)
{
	static const char *const links[LINKS] = { "exchanges and bursts with no links",
	    "exchanges with links of both directions", "bursts with links of one direction" };
	static struct text out;
	char *text = NULL;
	size_t size = 0;
	FILE *file = need(open_memstream(&text, &size));

	text_begin(&out, file, "memory");
	text_line(&out, "# lp-network: %s, tables of %zu sizes", points->library, ends->count);
	for (int i = NO_LINKS; i < LINKS; i++)
		if (isnan(ends->checked[i]))
			text_line(&out, "# error of %s: not known, they were not measured",
			    links[i]);
		else
			text_line(&out, "# error of %s: %.1f %%", links[i],
			    100 * ends->checked[i]);
	text_print(&out, "machine\nmodel loggp\nnodes %lld\ncpus %lld\n",
	    (long long)nodes_of(opt, points), (long long)opt->cpus);
	text_print(&out, "latency %.6g us\n", ends->latency_us);
	if (ends->links != NO_LINKS)
		text_print(&out, "links 1 %d\n", ends->links == FULL_DUPLEX);
	text_print(&out, "mapping %lld\n", (long long)opt->cpus);
	if (ends->has_limit)
		text_print(&out, "eager %llu B\n", (unsigned long long)ends->below + 1);
	else
		text_print(&out, "eager all\n");
	text_print(&out, "init recorded\ncommunicators recorded\n");
	print_ends(&out, ends, "");
	print_combining(&out, ends);
	if (opt->memory != NULL && opt->cpus > 1) {
		struct points inside = points_inside(opt);
		struct ends memory = fit_ends(&inside, opt->memory);

		text_print(&out, "memory latency %.6g us\n", memory.latency_us);
		if (memory.links != NO_LINKS)
			text_print(&out, "memory links 1 1\n");
		print_ends(&out, &memory, "memory ");
	}
	text_flush(&out);
	if (fclose(file) != 0)
		die("out of memory");
	return need(text);
}

static void
print_rules(struct text *out, const struct rules *rules)
{
	for (const struct rule_found *r = rules->at; r < rules->at + rules->count; r++) {
		text_put(out, "schedule ");
		put_name(out, r->function);
		text_print(out, " %s %llu B %lld", schedule_names[r->schedule],
		    (unsigned long long)r->from_bytes, (long long)r->from_ranks);
		if (r->segment > 0)
			text_print(out, " segment %llu B", (unsigned long long)r->segment);
		if (r->sizes > (r->segment > 0 ? 2 : 1))	/* else one is always close */
			text_print(out, "\t# error %.1f %%", 100 * r->error / (double)r->sizes);
		text_char(out, '\n');
	}
	for (size_t i = 0; i < rules->beside_count; i++) {
		const struct beside_found *b = &rules->besides[i];

		text_put(out, "beside ");
		put_name(out, b->function);
		text_print(out, " %llu B %.6g us %lld\n", (unsigned long long)b->bytes, b->us,
		    (long long)b->ranks);
	}
}

static void
print_table(struct text *out, const struct points *points)
{
	struct table_writer table;

	table_begin(&table, out, "function\tranks\tbytes\tmeasured_us\tfitted_us\terror_%");
	for (const struct point *point = points->at; point < points->at + points->count; point++) {
		if (point->fitted_us < 0)
			continue;
		table_text(&table, point->function);
		table_int(&table, point->ranks);
		table_uint(&table, point->bytes);
		table_fixed(&table, point->us, 4);
		table_fixed(&table, point->fitted_us, 4);
		if (point->taken)
			table_text(&table, "");
		else
			table_fixed(&table, 100 * (point->fitted_us / point->us - 1), 2);
		table_end_line(&table);
	}
	table_end(&table);
}

/* Around the best line, from a tenth to ten times of both parameters. */
static void
print_region(struct text *out, const struct fit *f)
{
	enum { DECADE = 60 };
	struct table_writer table;

	table_begin(&table, out, "latency_us\tMB_s\terror");
	for (int i = -DECADE; i <= DECADE; i++)
		for (int k = -DECADE; k <= DECADE; k++) {
			double latency_us = f->pingpong.all.latency_us * pow(10,
			    (double)i / DECADE);
			double us_per_byte = f->pingpong.all.us_per_byte * pow(10,
			    (double)k / DECADE);
			double error = line_error(&f->points, latency_us, us_per_byte);

			if (error > 0.1 || us_per_byte <= 0)
				continue;
			table_significant(&table, latency_us, 6);
			table_significant(&table, 1 / us_per_byte, 6);
			table_fixed(&table, error, 6);
			table_end_line(&table);
		}
	table_end(&table);
}

static void
use_tables(struct text *out, const struct options *opt, const char *file)
{
	struct points points = read_points(opt->files, opt->bytes, opt->quantile);
	struct ends ends = fit_ends(&points, file);
	char *machine = tables_machine(opt, &points, &ends);
	struct rules rules = fit_schedules(&points, machine);

	for (size_t i = 0; i < points.count; i++)
		if (is_pingpong(&points.at[i])) {
			points.at[i].fitted_us = points.at[i].us;
			points.at[i].taken = true;
		}
	if (opt->form == TABLE)
		print_table(out, &points);
	else {
		text_put(out, machine);
		print_rules(out, &rules);
	}
}

int
main(int argc, char **argv)
{
	static struct text text;	/* large for a stack */
	struct options opt;
	struct fit fit;
	const char *file;

	tool = "lp-network";
	opt = parse_options(argc, argv);
	file = opt.files[0] != NULL ? opt.files[0] : "standard input";
	refuse_terminal_input(opt.files[0], usage);
	text_begin(&text, stdout, NULL);
	if (opt.loggp)
		use_tables(&text, &opt, file);
	else {
		fit = make_fit(&opt, file);
		if (opt.form == MACHINE)
			print_machine(&text, &opt, &fit);
		else if (opt.form == TABLE)
			print_table(&text, &fit.points);
		else
			print_region(&text, &fit);
	}
	text_flush(&text);
	return finish(DONE);
}
