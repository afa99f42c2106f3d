/* SPDX-License-Identifier: BSD-3-Clause */
/* A gnuplot script with its data for each violated guideline, of one campaign or of sides. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../base/tool/whole_file.h"
#include "guidelines.h"

/* "Gather <= Allgather" as a file name: Gather-Allgather. */
static char *
plot_name(const char *folder, const char *guideline, const char *suffix)
{
	char *name = zalloc(strlen(folder) + strlen(guideline) + strlen(suffix) + 2, 1);
	char *end = name + sprintf(name, "%s/", folder);

	for (const char *c = guideline; *c != '\0'; c++)
		if (isalnum((unsigned char)*c) || *c == '_')
			*end++ = *c;
		else if (end[-1] != '-' && end[-1] != '/' && c[1] != '\0')
			*end++ = '-';
	strcpy(end, suffix);
	return name;
}

/* Of the splits of one size, only the reported one is shown, or else the last. */
static bool
is_shown(const struct verdict *v, size_t i)
{
	const struct judgement *j = &v->at[i];
	bool last = i + 1 == v->count || j[1].function != j->function || j[1].kind != j->kind;

	for (size_t k = i; last && k-- > 0 && v->at[k].function == j->function; )
		if (v->at[k].kind == j->kind && v->at[k].violated &&
		    strcmp(v->at[k].guideline, j->guideline) == 0)
			return false;
	return last || j->violated;
}

/* Logarithmic axes, except for 0 bytes, as for a barrier; a single size has space around it. */
static void
put_axes(struct text *out, uint64_t least, uint64_t most)
{
	text_print(out, "set logscale %s\n", least > 0 ? "xy" : "y");
	if (least == most)
		text_print(out, "set xrange [%g:%g]\nset xtics (%" PRIu64 ")\n",
		    least > 0 ? 0.5 * (double)least : -1, least > 0 ? 2 * (double)least : 1, least);
}

static void
put_data(struct text *out, const struct verdict *v, size_t first)
{
	uint64_t least = UINT64_MAX, most = 0;

	text_put(out, "$data << END\n# bytes function_us other_us top_us low_us high_us stars\n");
	for (size_t i = first;
	    i < v->count && strcmp(v->at[i].guideline, v->at[first].guideline) == 0; i++) {
		const struct judgement *j = &v->at[i];

		if (!is_shown(v, i))
			continue;
		least = j->function->bytes < least ? j->function->bytes : least;
		most = j->function->bytes > most ? j->function->bytes : most;
		/*
		 * The interval of the difference: where the function's time is above the other's.
		 */
		text_print(out, "%" PRIu64 " %.6f %.6f %.6f %.6f %.6f \"%s\"\n", j->function->bytes,
		    1e-3 * j->function_ns, 1e-3 * j->other_ns,
		    1e-3 * (j->function_ns > j->other_ns ? j->function_ns : j->other_ns),
		    1e-3 * (j->other_ns + j->shift.low), 1e-3 * (j->other_ns + j->shift.high),
		    j->violated ? stars(j->p_adjusted) : "");
	}
	text_put(out, "END\n");
	put_axes(out, least, most);
}

/* SIZE and KEY in gnuplot's syntax. */
static void
put_head(struct text *out, const char *size, const char *key, const char *picture,
    const char *title)
{
	text_print(out, "set terminal svg size %s background '#ffffff'\nset output ", size);
	text_gnuplot(out, picture);
	text_put(out, "\nset title ");
	text_gnuplot(out, title);
	text_print(out, " noenhanced\nset key %s noenhanced\nset xlabel 'bytes a block'\n", key);
}

static void
put_script(struct text *out, const struct verdict *v, size_t first, const char *picture)
{
	const struct judgement *j = &v->at[first];

	put_data(out, v, first);
	put_head(out, "640,400", "tmargin center", picture, j->guideline);
	text_put(out, "set ylabel 'run time (us), median of mpiruns'\n"
	    "set label 1 'violated: *** p < 0.001, ** p < 0.01, * p < 0.05; "
	    "bars: 95 % of the difference' "
	    "at graph 0.02, 0.04 font ',10'\n"
	    "set offsets graph 0.05, graph 0.05, graph 0.1, graph 0.12\n"
	    "plot $data using 1:2 with linespoints lc rgb '#d55e00' pt 7 title ");
	text_gnuplot(out, j->function->name);
	text_put(out, ", \\\n     $data using 1:3 with linespoints lc rgb '#0072b2' pt 5 title ");
	text_gnuplot(out, j->kind == MONOTONY ? "the same at the next size" :
	    j->other->role == SPLIT ? "the same in k parts" : j->other->name);
	text_put(out, ", \\\n     $data using 1:2:5:6 with yerrorbars lc rgb '#d55e00' pt -1 "
	    "notitle, \\\n     $data using 1:4:7 with labels offset 0,1 notitle\n");
}

/* Median and quartiles over mpiruns, us. */
static void
print_spread(struct text *out, const struct series *s, double factor)
{
	struct sample sorted = scaled(&s->quartiles, 1);
	double middle = median(sorted);	/* sorts them */

	text_print(out, " %.6f %.6f %.6f", 1e-3 * factor * middle,
	    1e-3 * factor * quantile_of(sorted, 0.25),
	    1e-3 * factor * (quantile_of(sorted, 0.25) + quartile_distance(sorted)));
	free(sorted.at);
}

static void
put_side_data(struct text *out, const struct sides *s, size_t i, const struct row *row)
{
	text_print(out,
	    "$side%zu << END\n# bytes function_us low high other_us low high violated\n", i);
	for (size_t k = 0; k < row->count; k++) {
		const struct judgement *j = find_judgement(&s->at[i], row->guideline,
		    row->sizes[k]);

		if (j == NULL)
			continue;
		text_print(out, "%" PRIu64, row->sizes[k]);
		print_spread(out, j->function, 1);
		print_spread(out, j->other, j->factor);
		text_print(out, " \"%s\"\n", j->violated ? "v" : "");
	}
	text_put(out, "END\n");
}

/* A colour per side: solid for its function, broken for the other side of the guideline. */
static void
put_sides(struct text *out, const struct sides *s, const struct row *row, const char *picture)
{
	static const char *const colours[] = { "#d55e00", "#0072b2", "#009e73", "#cc79a7",
	    "#e69f00", "#56b4e9" };

	for (size_t i = 0; i < s->count; i++)
		put_side_data(out, s, i, row);
	put_axes(out, row->sizes[0], row->sizes[row->count - 1]);
	put_head(out, "760,480", "tmargin center maxcols 1", picture, row->guideline);
	text_put(out, "set ylabel 'run time (us)'\n"
	    "set label 1 'v: violated; bars: quartiles of the mpiruns' "
	    "at graph 0.02, 0.96 font ',10'\n"
	    "set offsets graph 0.05, graph 0.05, graph 0.1, graph 0.15\nplot ");
	for (size_t i = 0; i < s->count; i++) {
		const char *colour = colours[i % (sizeof colours / sizeof colours[0])];

		text_print(out, "%s$side%zu using 1:2 with lines lw 2 lc rgb '%s' title ",
		    i > 0 ? ", \\\n     " : "", i, colour);
		text_gnuplot(out, s->at[i].name);
		text_print(out, ", \\\n     $side%zu using 1:2:3:4 with yerrorbars lc rgb '%s' pt "
		    "7 notitle, \\\n     $side%zu using 1:5:6:7 with yerrorbars lc rgb '%s' pt 6 "
		    "notitle, \\\n"
		    "     $side%zu using 1:5 with lines dt 2 lc rgb '%s' notitle, \\\n"
		    "     $side%zu using 1:2:8 with labels offset 0,1.2 tc rgb '%s' notitle", i,
		    colour, i, colour, i, colour, i, colour);
	}
	text_put(out, ", \\\n     NaN with lines dt 2 lc rgb '#444444' title 'broken: what it is "
	    "compared with'\n");
}

/* From SIDES, or from V if that is NULL. */
static void
write_plot(const char *guideline, const struct sides *sides, const struct verdict *v, size_t first,
    const char *folder)
{
	char *script = plot_name(folder, guideline, ".gp");
	char *picture = plot_name(folder, guideline, ".svg");
	static struct text text;	/* too large for the stack */
	struct whole_file whole = whole_file_begin(script);

	text_begin(&text, whole.file, script);
	if (sides != NULL)
		put_sides(&text, sides, &sides->rows[first], strrchr(picture, '/') + 1);
	else
		put_script(&text, v, first, strrchr(picture, '/') + 1);
	text_flush(&text);
	whole_file_end(&whole);
	free(script);
	free(picture);
}

static void
make_plot_folder(const char *folder)
{
	if (mkdir(folder, 0777) < 0 && errno != EEXIST)
		die("%s: %s", folder, strerror(errno));
}

void
plot_sides(const struct sides *s, const char *folder)
{
	make_plot_folder(folder);
	for (size_t r = 0; r < s->row_count; r++)
		if (s->rows[r].news)
			write_plot(s->rows[r].guideline, s, NULL, r, folder);
}

void
write_plots(const struct verdict *v, const char *folder)
{
	const char *last = "";

	make_plot_folder(folder);
	for (size_t i = 0; i < v->count; i++) {
		size_t first = i;

		if (!v->at[i].violated || strcmp(v->at[i].guideline, last) == 0)
			continue;
		while (first > 0 && strcmp(v->at[first - 1].guideline, v->at[i].guideline) == 0)
			first--;
		last = v->at[i].guideline;
		write_plot(v->at[first].guideline, NULL, v, first, folder);
	}
}
