/* SPDX-License-Identifier: BSD-3-Clause */
/* The path by step or region, as lp-critpath --by -F csv prints it: its picture and slow steps. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/tool/fields.h"
#include "../base/tool/process.h"
#include "../base/tool/spool.h"
#include "report.h"

enum { SHOWN_REGIONS = 12, OWN_COLOURS = 6, MOST_HEADS = 32 };

#define PART(member) FIELD(struct run_part, member), .csv = PLAIN
static const struct field fields[] = {
	{ "region", PART(name) }, { "loop", PART(name) }, { "where", PART(where) },
	{ "slow", PART(slow) }, { "step", PART(number) }, { "instances", PART(number) },
	{ "rank", PART(rank) }, { "path_s", PART(path_s) }, { "compute_s", PART(compute_s) },
	{ "blocked_s", PART(blocked_s) }, { "preempted_s", PART(preempted_s) },
	{ "mpi_s", PART(mpi_s) }, { "transfer_s", PART(transfer_s) }, FIELDS_END
};

/* A cell of CSV, and what ends it: a comma, a newline, or EOF. */
static char *
next_cell(FILE *in, int *end)
{
	char *cell = NULL;
	size_t count = 0, capacity = 0;
	bool quoted = false;
	int c, last = EOF;

	for (; (c = getc(in)) != EOF && (quoted || (c != ',' && c != '\n')); last = c) {
		quoted ^= c == '"';
		if (c != '"' || (quoted && last == '"'))	/* two are one in the cell */
			*APPEND(cell, count, capacity) = (char)c;
	}
	*APPEND(cell, count, capacity) = '\0';
	*end = c;
	return cell;
}

static void
set_cell(struct run_part *part, const char *head, char *cell)
{
	for (const struct field *f = fields; f->name != NULL; f++) {
		void *const member = (char *)part + f->offset;

		if (strcmp(head, f->name) != 0)
			continue;
		if (f->type == FIELD_STRING) {
			*(char **)member = cell;
			return;
		}
		*(double *)member = cell[0] != '\0' ? atof(cell) : NAN;
	}
	free(cell);
}

static void
read_parts(struct run_parts *parts, FILE *in)
{
	char *heads[MOST_HEADS] = { NULL }, *cell;
	size_t count = 0;
	int end = ',';

	while (end == ',' && count < MOST_HEADS)
		heads[count++] = next_cell(in, &end);
	for (size_t i = 0; cell = next_cell(in, &end), end != EOF; i = end == ',' ? i + 1 : 0) {
		if (i == 0)
			APPEND(parts->at, parts->count, parts->capacity)->number = NAN;
		set_cell(&parts->at[parts->count - 1], heads[i % count], cell);
	}
	for (size_t i = 0; i < count; i++)
		free(heads[i]);
}

ORDER(longest, struct run_part, MOST(path_s))

void
by_read(struct run_parts *parts, const char *what, const char *file)
{
	const bool is_stdin = file == NULL || strcmp(file, "-") == 0;
	struct stat status;
	char by[32];
	int from;
	pid_t child;
	FILE *in;

	if (is_stdin)
		spool_stdin();
	else if (stat(file, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
		die("--by reads %s twice: it must be a file, or standard input", file);
	parts->what = what;
	snprintf(by, sizeof by, "--by=%s", what);
	child = start_tool((char *[]){ "lp-critpath", by, "-F", "csv", "--",
	    is_stdin ? "-" : (char *)(uintptr_t)file, NULL }, &from);
	in = need(fdopen(from, "r"));
	read_parts(parts, in);
	fclose(in);
	if (strcmp(what, "region") == 0)
		SORT(parts->at, parts->count, longest);
	if (!ended_well(child))
		die("lp-critpath failed");
	if (is_stdin && lseek(STDIN_FILENO, 0, SEEK_SET) < 0)
		die("standard input: %s", strerror(errno));
}

bool
has_steps(const struct page *page)
{
	return page->parts.count > 1 && strcmp(page->parts.what, "step") == 0;
}

bool
has_regions(const struct page *page)
{
	return page->parts.count > 1 && !has_steps(page);
}

/* ---- the picture ------------------------------------------------------------------------ */

/* The ranks with most steps, by number of steps; their colours are those of other charts. */
struct rank_steps { int32_t rank; size_t steps; };

ORDER(most_steps, struct rank_steps, MOST(steps) BY(rank))

static struct rank_steps *
count_steps(const struct page *page)
{
	const int32_t ranks = page->im.graph.known.ranks;
	struct rank_steps *of = zalloc((size_t)ranks + OWN_COLOURS, sizeof *of);

	for (int32_t r = 0; r < ranks; r++)
		of[r].rank = r;
	for (size_t i = 1; i < page->parts.count; i++)
		if (page->parts.at[i].rank >= 0 && page->parts.at[i].rank < ranks)
			of[(size_t)page->parts.at[i].rank].steps++;
	SORT(of, (size_t)ranks, most_steps);
	return of;
}

static size_t
colour_of(const struct rank_steps *ranks, double rank)
{
	size_t i = 0;

	while (i < OWN_COLOURS && ranks[i].rank != (int32_t)rank)
		i++;
	return i;
}

/* A point for each step, or for the longest of as many as share a column; slow ones in a circle. */
static void
draw_steps(struct text *out, const struct page *page, const struct rank_steps *ranks,
    const struct colour *shown, double most, double height)
{
	const struct run_parts *parts = &page->parts;
	const size_t steps = parts->count - 1, each = (steps + SHOWN_COLUMNS - 1) / SHOWN_COLUMNS;
	char tip[100];

	for (size_t first = 1; first < parts->count; first += each) {
		const struct run_part *p = &parts->at[first];
		double x, y;

		for (size_t i = first; i < first + each && i < parts->count; i++)
			if (parts->at[i].path_s > p->path_s)
				p = &parts->at[i];
		x = LEFT + (WIDE - LEFT - RIGHT) * ((double)(p - parts->at) - 0.5) / (double)steps;
		y = TOP + height * (1 - p->path_s / most);
		snprintf(tip, sizeof tip, "step %.0f: %.6f s, most of it on rank %.0f", p->number,
		    p->path_s, p->rank);
		draw_box(out, shown[colour_of(ranks, p->rank)].class, x - 2, y - 2, 4, 4,
		    steps <= SHOWN_COLUMNS ? tip : NULL);
		if (p->slow != NULL && p->slow[0] != '\0')
			text_print(out, "<circle class=\"a3 s\" cx=\"%.1f\" cy=\"%.1f\" r=\"6\" "
			    "stroke-width=\"1.5\"/>\n", x, y);
	}
}

void
draw_by_steps(struct text *out, const struct page *page)
{
	struct colour shown[OWN_COLOURS + 1] = { { .class = "a2" }, { .class = "a3" },
	    { .class = "a4" }, { .class = "a5" }, { .class = "a7" }, { .class = "a8" },
	    { "a1", "others" } };
	const struct run_parts *parts = &page->parts;
	struct rank_steps *ranks = count_steps(page);
	const double height = 180;
	char names[OWN_COLOURS][32], label[48], text[160];
	double most = 1e-9;
	unsigned used = 0;

	for (size_t i = 1; i < parts->count; i++) {
		if (parts->at[i].path_s > most)	/* fmax here crashes GCC 12 on AArch64 */
			most = parts->at[i].path_s;
		used |= 1u << colour_of(ranks, parts->at[i].rank);
	}
	for (size_t i = 0; i < OWN_COLOURS; i++) {
		snprintf(names[i], sizeof names[i], "rank %d", (int)ranks[i].rank);
		shown[i].name = names[i];
	}
	time_label(most, most, label, sizeof label);
	snprintf(text, sizeof text, "%zu steps, the longest of %s on the critical path.",
	    parts->count - 1, label);
	draw_begin(out, "steps", WIDE, (int)(TOP + height) + 40,
	    "The critical path of each step, and the rank with most of it", text);
	draw_legend(out, WIDE, shown, OWN_COLOURS + 1, used);
	for (int i = 0; nice_step(most, 4) * i <= most; i++) {
		const double at = nice_step(most, 4) * i, y = TOP + height * (1 - at / most);

		time_label(at, most, label, sizeof label);
		draw_mark(out, WIDE, y, label);
	}
	draw_steps(out, page, ranks, shown, most, height);
	draw_label(out, LEFT, TOP + height + 15, "start", "1");
	snprintf(label, sizeof label, "%zu", parts->count - 1);
	draw_label(out, WIDE - RIGHT, TOP + height + 15, "end", label);
	draw_label(out, WIDE / 2, TOP + height + 32, "middle",
	    "step; slow ones are within circles");
	draw_end(out);
	free(ranks);
}

void
draw_by_regions(struct text *out, const struct page *page)
{
	const size_t count = page->parts.count;
	const struct run_part *parts = page->parts.at;
	double all = 0;
	char number[64];

	for (size_t i = 0; i < count; i++)
		all += parts[i].path_s;
	draw_begin(out, "regions", WIDTH, TOP + 40 * (int)(count < SHOWN_REGIONS ? count :
	    SHOWN_REGIONS) + 8, "The critical path by region, without the regions within it",
	    parts[0].name);
	draw_label(out, 8, 20, "start", "share of the critical path, without the regions within");
	for (size_t i = 0; i < count && i < SHOWN_REGIONS; i++) {
		snprintf(number, sizeof number, "%.2f %%", 100 * parts[i].path_s / all);
		draw_row(out, (int)i, "a2", parts[i].name, parts[i].path_s,
		    fmax(parts[0].path_s, 1e-9), number);
	}
	draw_end(out);
}

/* The sentences of slow steps. */
void
put_slow(struct text *out, const struct page *page)
{
	enum { SHOWN = 8 };
	size_t count = 0;

	for (size_t i = 0; i < page->parts.count; i++) {
		const char *slow = page->parts.at[i].slow;

		if (slow == NULL || slow[0] == '\0' || ++count > SHOWN)
			continue;
		text_put(out, count == 1 ? "<section><h2 id=\"slow\">Slow steps</h2>\n<p>" : "<p>");
		text_markup(out, slow);
		text_put(out, "</p>\n");
	}
	if (count > SHOWN)
		text_print(out, "<p class=\"soft\">%zu more: lp-critpath --by step --all.</p>\n",
		    count - SHOWN);
	if (count > 0)
		text_put(out, "</section>\n");
}
