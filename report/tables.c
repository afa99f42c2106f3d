/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of the page: complete without a script, which only sorts them. Cells say what they hold. */
#include <math.h>
#include <stdlib.h>

#include "report.h"

enum { MOST_LINES = 200, LABEL = 1024, MOST_COLUMNS = 10 };

/* How a column's head says that its cells are printed. */
enum column { DECIMALS, SHARE, COUNT, NAME };
struct columns {
	struct text *out;
	enum column of[MOST_COLUMNS];
	size_t numbers, names;		/* all numbers come before the names */
};

/* Heads are separated by tabs: ".decimals", also "... (s)" and "... (rank-s)", "... (%)", "*name", or a count. */
static struct columns
begin_table(struct text *out, const char *id, const char *title, const char *note, const char *head)
{
	struct columns columns = { .out = out };
	char *heads = need(strdup(head)), *rest = heads, *name;

	text_print(out, "<section><h2 id=\"%s\">%s</h2>\n<div class=\"scroll\"><table id=\"t-%s\"><caption>%s</caption>"
	    "<thead><tr>", id, title, id, note);
	while ((name = strsep(&rest, "\t")) != NULL) {
		const enum column column = *name == '*' ? NAME :
		    *name == '.' || strstr(name, "s)") != NULL ? DECIMALS :
		    strstr(name, "(%)") != NULL ? SHARE : COUNT;

		columns.of[columns.numbers + columns.names] = column;
		*(column == NAME ? &columns.names : &columns.numbers) += 1;
		text_print(out, "<th scope=\"col\"%s>", column == NAME ? " class=\"t\"" : "");
		text_markup(out, name + (*name == '*' || *name == '.'));
		text_put(out, "</th>");
	}
	text_put(out, "</tr></thead><tbody>\n");
	free(heads);
	return columns;
}

/* Of all lines COUNT are in the table, or the first of these. */
static void
end_table(struct text *out, size_t count)
{
	text_put(out, "</tbody></table></div>");
	if (count > MOST_LINES)
		text_print(out, "<p class=\"soft\">The first %d of %zu lines; lp-imbalance --all and lp-critpath "
		    "--all print the rest.</p>", MOST_LINES, count);
	text_put(out, "</section>\n");
}

/* What is shown is rounded; what is sorted by, and can be compared with lp-imbalance's JSON, is not. */
static void
put_number(struct text *out, enum column column, double value)
{
	if (column == COUNT)
		text_print(out, "<td data-v=\"%.0f\">%.0f</td>", value, value);
	else if (column == SHARE)
		text_print(out, "<td data-v=\"%.9f\">%.2f</td>", value, 100 * value);
	else if (isfinite(value))
		text_print(out, "<td data-v=\"%.9f\">%.6f</td>", value, value);
	else
		text_put(out, "<td data-v=\"\">-</td>");
}

static void
put_cells(const struct columns *columns, const double *numbers, const char *const *names)
{
	struct text *out = columns->out;

	for (size_t i = 0; i < columns->numbers; i++)
		put_number(out, columns->of[i], numbers[i]);
	for (size_t i = 0; i < columns->names; i++) {
		text_put(out, "<td class=\"t\" title=\"");
		text_markup(out, names[i]);
		text_put(out, "\">");
		text_markup(out, names[i]);
		text_put(out, "</td>");
	}
	text_put(out, "</tr>\n");
}

static void
put_line(const struct columns *columns, const double *numbers, const char *const *names)
{
	text_put(columns->out, "<tr>");
	put_cells(columns, numbers, names);
}

static double
share_of_time(const struct page *page, int64_t ns)
{
	double all = (double)page->bins.run_ns * (double)page->im.graph.known.location_count;

	return (double)ns / all;
}

static int64_t
site_path_ns(const struct page *page, size_t site)
{
	return site < page->path_sites ? page->path_site_ns[site] : 0;
}

static void
places_table(struct text *out, const struct page *page)
{
	size_t count;
	struct place *places = places_sorted(&page->places, &count);
	struct columns columns;
	char where[LABEL];

	if (count > 0) {
		columns = begin_table(out, "places", "The critical path", "What the run could not have ended without, by rank and "
		    "place; computation is that before the call.", "share of path (%)\ttime (s)\trank\t*what\t*where");
		for (size_t i = 0; i < count && i < MOST_LINES; i++)
			put_line(&columns, (double[]){ (double)places[i].ns / (double)path_length_ns(page),
			    1e-9 * (double)places[i].ns, places[i].rank }, (const char *[]){
			    places[i].compute ? "computation before" : "in MPI",
			    site_label(page, places[i].site, where, sizeof where) });
		end_table(out, count);
	}
	free(places);
}

static int
longest_on_path(const void *left, const void *right)
{
	const struct function_time *a = left, *b = right;

	if (a->path_ns != b->path_ns)
		return a->path_ns > b->path_ns ? -1 : 1;
	if (a->all_ns != b->all_ns)
		return a->all_ns > b->all_ns ? -1 : 1;
	return function_times_compare(a, b);
}

/* Of a run with samples: what computes on the path, beside what computes anywhere. */
static void
path_functions_table(struct text *out, const struct page *page)
{
	const struct function_times *f = &page->functions;
	struct function_time *sorted;
	struct columns columns;

	if (f->count == 0)
		return;
	sorted = zalloc(f->count, sizeof *sorted);
	memcpy(sorted, f->at, f->count * sizeof *sorted);
	qsort(sorted, f->count, sizeof *sorted, longest_on_path);
	columns = begin_table(out, "path-functions", "The critical path by function", "From samples, as many periods as there are: what computes on the path; "
	    "beside it all its computation, on all ranks. In parentheses: time without samples, and other than computation.",
	    "share of path (%)\ttime (s)\tall computation (s)\t*function\t*file");
	for (size_t i = 0; i < f->count && i < MOST_LINES; i++)
		put_line(&columns, (double[]){ (double)sorted[i].path_ns / (double)path_length_ns(page),
		    1e-9 * (double)sorted[i].path_ns, sorted[i].all_ns > 0 ? 1e-9 * (double)sorted[i].all_ns : NAN },
		    (const char *[]){ sorted[i].name, sorted[i].file != NULL ? sorted[i].file : "" });
	end_table(out, f->count);
	free(sorted);
}

static void
delays_table(struct text *out, const struct page *page)
{
	size_t count;
	struct delay *delays = sorted_delays(&page->im, &count);
	struct columns columns;
	char where[LABEL];

	columns = begin_table(out, "delays", "Delays", "What one rank did longer than others, and how long all others together waited for it: "
	    "at once, and by waits that led to further ones.",
	    "cost (rank-s)\tat once (s)\tlater (s)\trank\t*what\t*where");
	for (size_t i = 0; i < count && i < MOST_LINES; i++)
		put_line(&columns, (double[]){ 1e-9 * delay_cost_ns(&delays[i]), 1e-9 * delay_short_ns(&delays[i]),
		    1e-9 * delay_long_ns(&delays[i]), delays[i].rank }, (const char *[]){
		    delays[i].key % 2 == 0 ? "computation before" : "in MPI",
		    site_label(page, delays[i].key / 2, where, sizeof where) });
	end_table(out, count);
	free(delays);
}

/* Of a run with samples: each place where one rank computes longer, by function. */
static void
sampled_table(struct text *out, const struct page *page)
{
	const struct by_function *by = functions_by(&page->im, false);
	struct columns columns;
	size_t count = 0;
	char where[LABEL], what[400];

	if (by == NULL)
		return;
	snprintf(what, sizeof what, "From %llu samples, which saw %.2f %% of the ranks' computation on a core: what the "
	    "slowest rank of each place computes there, and the mean of the other ranks; what is more, with its standard "
	    "error.", (unsigned long long)by->samples,
	    by->compute_ns > 0 ? 100 * (double)by->core.on_ns / (double)by->compute_ns : 0);
	columns = begin_table(out, "functions", "Functions", what,
	    "more (s)\terror (s)\tslowest (s)\tothers (s)\tsamples\trank\t*function\t*in computation before");
	for (size_t i = 0; i < by->site_count; i++)
		for (size_t k = 0; k < by->sites[i].count; k++) {
			const struct excess *e = &by->sites[i].functions[k];

			if (count++ >= MOST_LINES)
				continue;
			put_line(&columns, (double[]){ 1e-9 * ((double)e->slow_ns - e->others_ns),
			    1e-9 * e->error_ns, 1e-9 * (double)e->slow_ns, 1e-9 * e->others_ns, (double)e->samples,
			    by->sites[i].rank }, (const char *[]){ by->names[e->function].name,
			    site_label(page, by->sites[i].site, where, sizeof where) });
		}
	end_table(out, count);
}

static void
states_table(struct text *out, const struct page *page)
{
	const struct imbalance *im = &page->im;
	struct columns columns;
	char where[LABEL];

	columns = begin_table(out, "states", "Wait states", "All waits by kind; largest is the longest single one.",
	    "share of all time (%)\twait (s)\twaits\tlargest (s)\tby rank\t*state\t*where the largest was");
	for (int s = 0; s < STATES; s++) {
		const struct state_sums *sums = &im->states[s];
		const struct wait *w = &sums->largest;

		if (sums->wait_ns == 0)
			continue;
		text_print(out, "<tr data-state=\"%s\">", state_names[s]);
		put_cells(&columns, (double[]){ share_of_time(page, sums->wait_ns), 1e-9 * (double)sums->wait_ns,
		    (double)sums->count, 1e-9 * (double)(w->to_ns - w->from_ns),
		    im->graph.known.location_rank[w->location] },
		    (const char *[]){ state_names[s], site_label(page, w->site, where, sizeof where) });
	}
	end_table(out, 0);
}

static void
cells_table(struct text *out, const struct page *page, enum dimension by, const char *id,
    const char *title, const char *note, const char *name)
{
	size_t count;
	struct line *lines = sorted_cells(&page->im, by, &count);
	struct columns columns;
	char label[LABEL];

	snprintf(label, sizeof label, "wait (s)\twaits\tcomputation (s)\tMPI (s)\tcalls\t%s%s",
	    by == BY_SITE || by == BY_RANK ? "on the path (s)\t" : "", name);
	columns = begin_table(out, id, title, note, label);
	for (size_t i = 0; i < count && i < MOST_LINES; i++) {
		const struct cell *c = lines[i].cell;
		const size_t of = lines[i].index;
		const int64_t *path_ns = by == BY_RANK ? page->path_ns[of] : NULL;
		const double on_path_ns = (double)(path_ns == NULL ? site_path_ns(page, of) :
		    path_ns[COMPUTE_PIECE] + path_ns[MPI_PIECE] + path_ns[TRANSFER_PIECE]);

		put_line(&columns, (double[]){ 1e-9 * (double)lines[i].wait_ns, (double)c->waits,
		    1e-9 * (double)c->compute_ns, 1e-9 * (double)c->mpi_ns, (double)c->calls, 1e-9 * on_path_ns,
		    (double)of }, (const char *[]){ index_text(&page->im, by, of, label, sizeof label) });
	}
	end_table(out, count);
	free(lines);
}

static void
gains_table(struct text *out, const struct page *page)
{
	char title[200], where[LABEL];
	struct columns columns;

	if (page->gain_count == 0)
		return;
	snprintf(title, sizeof title, "If all computation up to one place and the calls there took %d %% less time on "
	    "every rank; at most is without other paths that take over.", page->percent);
	columns = begin_table(out, "gains", "Gains", title, "gain (s)\tgain (%)\tat most (s)\t*where");
	for (size_t i = 0; i < page->gain_count && i < MOST_LINES; i++) {
		const struct site_gain *gain = &page->gains[i];

		put_line(&columns, (double[]){ 1e-9 * (double)gain->gain_ns,
		    (double)gain->gain_ns / (double)path_length_ns(page), 1e-9 * (double)gain->most_ns },
		    (const char *[]){ site_label(page, gain->site, where, sizeof where) });
	}
	end_table(out, page->gain_count);
}

static void
runs_table(struct text *out, const struct page *page)
{
	struct columns columns;

	if (page->run_count < 2)
		return;
	columns = begin_table(out, "runs", "Runs", "Against the smallest one, as POP defines it.", "ranks\trun time (s)\t.speed-up\t"
	    "parallel (%)\tload balance (%)\tcommunication (%)\tcomputation scaling (%)\t*file");
	for (size_t i = 0; i < page->run_count; i++) {
		const struct times *run = &page->runs[i];

		put_line(&columns, (double[]){ run->ranks, 1e-9 * (double)run->run_ns, run->speedup,
		    run->of.parallel, run->of.load_balance, run->of.communication, run->computation_scaling },
		    (const char *[]){ run->file });
	}
	end_table(out, page->run_count);
}

void
tables_write(struct text *out, const struct page *page)
{
	places_table(out, page);
	path_functions_table(out, page);
	gains_table(out, page);
	delays_table(out, page);
	sampled_table(out, page);
	states_table(out, page);
	cells_table(out, page, BY_SITE, "sites", "Call sites", "Where in the program; computation is that up to "
	    "the call, MPI includes waits.", "*site");
	cells_table(out, page, BY_CALL, "calls", "MPI functions", "All calls of a function.", "*function");
	cells_table(out, page, BY_RANK, "ranks", "Ranks", "All ranks, those that waited longest first.", "rank");
	runs_table(out, page);
}
