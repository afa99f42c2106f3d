/* SPDX-License-Identifier: BSD-3-Clause */
/* A picture for each violated guideline: a gnuplot script with its data in it. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../base/tool/text.h"
#include "guidelines.h"

/* "Gather <= Allgather" as a file name: Gather-Allgather. */
static char *
file_name(const char *folder, const char *guideline, const char *suffix)
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

/* Of the splits of one size the one that is reported is shown, or else the last. */
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

static void
print_data(struct text *out, const struct verdict *v, size_t first)
{
	text_put(out, "$data << END\n# bytes function_us other_us top_us low_us high_us stars\n");
	for (size_t i = first; i < v->count && strcmp(v->at[i].guideline, v->at[first].guideline) == 0;
	    i++) {
		const struct judgement *j = &v->at[i];

		if (!is_shown(v, i))
			continue;
		/* The interval is that of the difference: where the function's time lies above the other's. */
		text_print(out, "%" PRIu64 " %.6f %.6f %.6f %.6f %.6f \"%s\"\n", j->function->bytes,
		    1e-3 * j->function_ns, 1e-3 * j->other_ns,
		    1e-3 * (j->function_ns > j->other_ns ? j->function_ns : j->other_ns),
		    1e-3 * (j->other_ns + j->shift.low), 1e-3 * (j->other_ns + j->shift.high),
		    j->violated ? stars(j->p_adjusted) : "");
	}
	text_put(out, "END\n");
}

/* What the other side is called in the legend. */
static const char *
other_side(const struct judgement *j)
{
	return j->kind == MONOTONY ? "the same at the next size" : j->other->role == SPLIT ?
	    "the same in k parts" : j->other->name;
}

static void
put_script(struct text *out, const struct verdict *v, size_t first, const char *picture)
{
	const struct judgement *j = &v->at[first];

	print_data(out, v, first);
	text_put(out, "set terminal svg size 640,400 background '#ffffff'\nset output ");
	text_gnuplot(out, picture);
	text_put(out, "\nset title ");
	text_gnuplot(out, j->guideline);
	text_put(out, " noenhanced\nset logscale xy\nset key tmargin center noenhanced\n"
	    "set xlabel 'bytes a block'\nset ylabel 'run time (us), median of mpiruns'\n"
	    "set label 1 'violated: *** p < 0.001, ** p < 0.01, * p < 0.05; bars: 95 % of the difference' "
	    "at graph 0.02, 0.04 font ',10'\n"
	    "set offsets graph 0.05, graph 0.05, graph 0.1, graph 0.12\n"
	    "plot $data using 1:2 with linespoints lc rgb '#d55e00' pt 7 title ");
	text_gnuplot(out, j->function->name);
	text_put(out, ", \\\n     $data using 1:3 with linespoints lc rgb '#0072b2' pt 5 title ");
	text_gnuplot(out, other_side(j));
	text_put(out, ", \\\n     $data using 1:2:5:6 with yerrorbars lc rgb '#d55e00' pt -1 notitle, \\\n"
	    "     $data using 1:4:7 with labels offset 0,1 notitle\n");
}

static void
write_plot(const struct verdict *v, size_t first, const char *folder)
{
	const char *guideline = v->at[first].guideline;
	char *script = file_name(folder, guideline, ".gp");
	char *picture = file_name(folder, guideline, ".svg");
	static struct text text;	/* large for a stack */
	FILE *file = fopen(script, "w");

	if (file == NULL)
		die("%s: %s", script, strerror(errno));
	text_begin(&text, file, script);
	put_script(&text, v, first, strrchr(picture, '/') + 1);
	text_flush(&text);
	if (fclose(file) != 0)
		die("%s: %s", script, strerror(errno));
	free(script);
	free(picture);
}

void
write_plots(const struct verdict *v, const char *folder)
{
	const char *last = "";

	if (mkdir(folder, 0777) < 0 && errno != EEXIST)
		die("%s: %s", folder, strerror(errno));
	for (size_t i = 0; i < v->count; i++) {
		size_t first = i;

		if (!v->at[i].violated || strcmp(v->at[i].guideline, last) == 0)
			continue;
		while (first > 0 && strcmp(v->at[first - 1].guideline, v->at[i].guideline) == 0)
			first--;
		last = v->at[i].guideline;
		write_plot(v, first, folder);
	}
}
