/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of the page. They are complete without a script, which only sorts them. Cells name their
 * column.
 */
#include <math.h>
#include <stdlib.h>

#include "../base/waits/counters.h"
#include "report.h"

enum { MOST_LINES = 200, MOST_CELLS = 10, MOST_NAMES = 2 };
#define LEAST_SHARE 5e-5	/* of the run: less would print as zero */

/* Print formats, chosen by a column's head. */
enum column { SECONDS, RATIO, SHARE, COUNT, NAME };

struct table_line {
	double numbers[MOST_CELLS];
	char *names[MOST_NAMES];
	size_t order;			/* of arrival */
};

struct columns {
	struct text *out;
	double run_s;
	enum column of[MOST_CELLS];
	bool has_shares;
	size_t numbers, names;		/* all numbers come before the names */
	struct table_line *lines;
	/* lines: kept, all, and with nearly zero */
	size_t count, capacity, came, small;
};

/*
 * Heads are separated by tabs: "... (s)", "... (rank-s)", "... (%)", ".ratio", "*name", or a count.
 */
static struct columns
begin_table(struct text *out, const struct page *page, const char *id, const char *title,
    const char *note, const char *head)
{
	struct columns columns = { .out = out, .run_s = seconds(page->bins.run_ns) };
	char *heads = need(strdup(head)), *rest = heads, *name;

	/* A caption would be as wide as the table, which may be wider than what is seen of it. */
	text_print(out, "<section><h2 id=\"%s\">%s</h2>\n<p class=\"soft note\" id=\"n-%s\">%s</p>"
	    "<div class=\"scroll\"><table id=\"t-%s\" aria-describedby=\"n-%s\"><thead><tr>", id,
	    title, id, note, id, id);
	while ((name = strsep(&rest, "\t")) != NULL) {
		const enum column column = *name == '*' ? NAME : *name == '.' ? RATIO : strstr(name,
		    "s)") != NULL ? SECONDS : strstr(name, "(%)") != NULL ? SHARE : COUNT;
		const bool sorts = columns.numbers == 0 && column != COUNT;

		columns.of[columns.numbers + columns.names] = column;
		columns.has_shares |= column == SHARE;
		*(column == NAME ? &columns.names : &columns.numbers) += 1;
		text_print(out, "<th scope=\"col\"%s%s>", column == NAME ? " class=\"t\"" : "",
		    sorts ? " aria-sort=\"descending\"" : "");
		text_markup(out, name + (*name == '*' || *name == '.'));
		text_put(out, "</th>");
	}
	text_put(out, "</tr></thead><tbody>\n");
	free(heads);
	return columns;
}

/* Shown numbers are rounded. Sort keys, which match lp-imbalance's JSON, are not. */
static void
put_number(const struct columns *columns, enum column column, double value)
{
	struct text *out = columns->out;

	if (!isfinite(value))
		text_put(out, "<td data-v=\"\">-</td>");
	else if (column == COUNT || value == 0)
		text_print(out, "<td data-v=\"%.0f\">%.0f</td>", value, value);
	else if (column == SECONDS)	/* enough digits for LEAST_SHARE of the run */
		text_print(out, "<td data-v=\"%.9f\">%.*f</td>", value,
		    (int)fmin(9, fmax(0, 5 - floor(log10(columns->run_s)))), value);
	else
		text_print(out, "<td data-v=\"%.9f\">%.2f</td>", value,
		    column == SHARE ? 100 * value : value);
}

ORDER(largest_first, struct table_line, MOST(numbers[0]) BY(order))

/* By the first column, unless that is a count. */
static void
sort_and_cut(struct columns *c, size_t most)
{
	if (c->of[0] != COUNT && c->count > 0)
		SORT(c->lines, c->count, largest_first);
	for (; c->count > most; c->count--)
		for (size_t i = 0; i < c->names; i++)
			free(c->lines[c->count - 1].names[i]);
}

/* Keeps a line for end_table() unless its shares, or without shares its times, are nearly zero. */
static void
put_line(struct columns *c, const double *numbers, const char *const *names)
{
	const double least = LEAST_SHARE * (c->has_shares ? 1 : c->run_s);
	struct table_line *line;
	bool shows = c->of[0] == COUNT;

	if (c->count == 4 * MOST_LINES)
		sort_and_cut(c, MOST_LINES);
	GROW(c->lines, c->capacity, c->count + 1);
	line = &c->lines[c->count];
	line->order = c->came++;
	memcpy(line->numbers, numbers, c->numbers * sizeof *numbers);
	for (size_t i = 0; i < c->numbers; i++)
		shows |= c->of[i] == (c->has_shares ? SHARE : SECONDS) &&
		    fabs(line->numbers[i]) >= least;
	for (size_t i = 0; shows && i < c->names; i++)
		line->names[i] = need(strdup(names[i]));
	c->count += shows;
	c->small += !shows;
}

/* COUNT: number of all lines, if the lines left out are known to be smaller. */
static void
end_table(struct columns *c, size_t count)
{
	struct text *out = c->out;

	sort_and_cut(c, MOST_LINES);
	for (size_t l = 0; l < c->count; l++) {
		text_put(out, "<tr>");
		for (size_t i = 0; i < c->numbers; i++)
			put_number(c, c->of[i], c->lines[l].numbers[i]);
		for (size_t i = 0; i < c->names; i++) {
			text_put(out, "<td class=\"t\" title=\"");
			text_markup(out, c->lines[l].names[i]);
			text_put(out, "\">");
			text_markup(out, c->lines[l].names[i]);
			text_put(out, "</td>");
		}
		text_put(out, "</tr>\n");
	}
	text_put(out, "</tbody></table></div>");
	count = count > c->came ? count : c->came;
	if (count > c->count)
		text_print(out, "<p class=\"soft\">%zu of %zu lines; %slp-imbalance "
		    "--all and lp-critpath --all print the rest.</p>", c->count, count,
		    c->small > 0 ? "some others are less than 0.005 % of the run; " : "");
	text_put(out, "</section>\n");
	sort_and_cut(c, 0);
	free(c->lines);
}

static void
places_table(struct text *out, const struct page *page)
{
	struct same_sites same = { NULL };
	size_t count;
	struct place *places = places_by_name(&page->path.places, &page->im.graph.known, &same,
	    &count);
	struct columns columns;
	char where[LABEL];

	if (count > 0) {
		columns = begin_table(out, page, "places", "The critical path",
		    "What the run could not have ended without, by rank and place; computation is "
		    "that before the call.", "share of path (%)\ttime (s)\trank\t*what\t*where");
		for (size_t i = 0; i < count && i < MOST_LINES; i++)
			put_line(&columns, (double[]){ path_share(page, places[i].ns),
			    seconds(places[i].ns), places[i].rank }, (const char *[]){
			    places[i].compute ? "computation before" : "in MPI",
			    site_label(page, places[i].site, where) });
		end_table(&columns, count);
	}
	free(places);
	same_sites_free(&same);
}

/* With --by. */
static void
parts_table(struct text *out, const struct page *page)
{
	const bool steps = has_steps(page);
	struct columns columns;

	if (!steps && !has_regions(page))
		return;
	columns = begin_table(out, page, "by", steps ? "Steps" : "Regions", steps ?
	    "The critical path of each step, the longest first, and where most of it is." :
	    "The critical path of each region, without the regions within it.", steps ?
	    "on the path (s)\tcomputing (s)\tblocked (s)\tpreempted (s)\tMPI (s)\ttransfer (s)"
	    "\tstep\trank\t*loop\t*where" :
	    "on the path (s)\tcomputing (s)\tblocked (s)\tpreempted (s)\tMPI (s)\ttransfer (s)"
	    "\tinstances\trank\t*region\t*where");
	for (size_t i = 0; i < page->parts.count; i++) {
		const struct run_part *p = &page->parts.at[i];

		put_line(&columns, (double[]){ p->path_s, p->compute_s, p->blocked_s,
		    p->preempted_s, p->mpi_s, p->transfer_s, p->number, p->rank },
		    (const char *[]){ p->name, p->where });
	}
	end_table(&columns, page->parts.count);
}

/* For a sampled run: functions that compute on the path, and anywhere. */
static void
path_functions_table(struct text *out, const struct page *page)
{
	const struct function_times *f = &page->functions;
	struct columns columns;

	if (f->count == 0)
		return;
	columns = begin_table(out, page, "path-functions", "The critical path by function",
	    "From samples, as many periods as there are: what computes on the path; beside it all its computation, on all ranks. In parentheses: time without samples, and other than computation.",
	    "share of path (%)\ttime (s)\tall computation (rank-s)\t*function\t*file");
	for (size_t i = 0; i < f->count; i++)
		put_line(&columns, (double[]){
		    path_share(page, f->at[i].path_ns), seconds(f->at[i].path_ns),
		    f->at[i].all_ns > 0 ? seconds(f->at[i].all_ns) : NAN },
		    (const char *[]){ f->at[i].name, f->at[i].file != NULL ? f->at[i].file : "" });
	end_table(&columns, f->count);
}

static void
delays_table(struct text *out, const struct page *page)
{
	size_t count;
	struct delay *delays = sorted_delays(&page->im, &count);
	struct columns columns = begin_table(out, page, "delays", "Delays", "What one rank did "
	    "longer than others, and how long all others together waited for it: at once, and by waits that led to further ones.",
	    "cost (rank-s)\tat once (rank-s)\tlater (rank-s)\trank\t*what\t*where");
	char where[LABEL];

	for (size_t i = 0; i < count && i < MOST_LINES; i++)
		put_line(&columns, (double[]){ 1e-9 * delay_cost_ns(&delays[i]),
		    1e-9 * delay_short_ns(&delays[i]), 1e-9 * delay_long_ns(&delays[i]),
		    delays[i].rank }, (const char *[]){
		    delays[i].key % 2 == 0 ? "computation before" : "in MPI",
		    site_label(page, delays[i].key / 2, where) });
	end_table(&columns, count);
	free(delays);
}

/* For a sampled run: each place where one rank computes longer, by function. */
static void
sampled_table(struct text *out, const struct page *page)
{
	const struct by_function *by = functions_by(&page->im, false, false);
	struct columns columns;
	char where[LABEL], what[400], function[LABEL];

	if (by == NULL)
		return;
	snprintf(what, sizeof what, "From %llu samples, which saw %.2f %% of the ranks' "
	    "computation on a core: what the slowest rank of each place computes there, and the mean of the other ranks; what is more, with its standard "
	    "error.", (unsigned long long)by->samples,
	    by->compute_ns > 0 ? 100 * (double)by->core.on_ns / (double)by->compute_ns : 0);
	columns = begin_table(out, page, "functions", "Functions", what,
	    "more (s)\terror (s)\tslowest (s)\tothers (s)\tsamples\trank\t*function\t*in computation before");
	for (size_t i = 0; i < by->site_count; i++)
		for (size_t k = 0; k < by->sites[i].count; k++) {
			const struct excess *e = &by->sites[i].functions[k];

			put_line(&columns, (double[]){ 1e-9 * ((double)e->slow_ns - e->others_ns),
			    1e-9 * e->error_ns, seconds(e->slow_ns),
			    1e-9 * e->others_ns, (double)e->samples, by->sites[i].rank },
			    (const char *[]){ function_text(&by->names[e->function], function,
			    sizeof function),
			    site_label(page, by->sites[i].site, where) });
		}
	end_table(&columns, 0);
}

static double
counted(int64_t count)
{
	return count < 0 ? NAN : (double)count;
}

static void
put_counts(struct columns *columns, const struct counter_line *line, const char *function)
{
	const struct shown_counts *c = &line->counts;

	put_line(columns, (double[]){ line->rank, 1e-9 * counted(c->on_core_ns),
	    1e-9 * counted(c->of[COUNT_task_clock]), counted(c->of[COUNT_page_faults]),
	    counted(c->of[COUNT_migrations]), counted(c->of[COUNT_instructions]),
	    counted(c->of[COUNT_cycles]), c->cycles_per_instruction, 1e-9 * c->clock_hz },
	    (const char *[]){ function });
}

/* For a run with counters: each rank, and where it counted most. */
static void
counters_table(struct text *out, const struct page *page)
{
	const struct by_function *by = functions_by(&page->im, false, false);
	struct counters all;
	struct product product;
	struct columns columns;
	char note[1024];

	if (by == NULL || !counters_find(&page->im, by, &all))
		return;
	counters_say(&all, note, sizeof note);
	if (counters_product(by, &all, &product)) {
		strcat(note, "; ");
		product_say(&all, &product, note + strlen(note), sizeof note - strlen(note));
	}
	columns = begin_table(out, page, "counters", "Counters", note,
	    "rank\tcounted (s)\ttask clock (s)\tpage faults\tmigrations\tinstructions\tcycles\t.cycles per instruction\t.clock (GHz)\t*function");
	for (int32_t r = 0; r < all.rank_count && r < MOST_LINES / 2; r++)
		put_counts(&columns, &all.ranks[r], "(all)");
	for (size_t i = 0; i < all.function_count && i < MOST_LINES / 2; i++)
		put_counts(&columns, &all.functions[i], all.functions[i].function);
	end_table(&columns, (size_t)all.rank_count + all.function_count);
	counters_free(&all);
}

static void
states_table(struct text *out, const struct page *page)
{
	const struct imbalance *im = &page->im;
	const double all_ns = (double)page->bins.run_ns * (double)counted_locations(im);
	struct columns columns = begin_table(out, page, "states", "Wait states",
	    "All waits by kind; largest is the longest single one.", "share of all time (%)\twait "
	    "(rank-s)\twaits\tlargest (s)\tby rank\t*state\t*where the largest was");
	char where[LABEL];

	for (int s = 0; s < STATES; s++) {
		const struct state_sums *sums = &im->states[s];
		const struct wait *w = &sums->largest;

		if (sums->wait_ns == 0)
			continue;
		put_line(&columns,
		    (double[]){ (double)sums->wait_ns / all_ns, seconds(sums->wait_ns),
		    (double)sums->count, seconds(w->to_ns - w->from_ns),
		    im->graph.known.location_rank[w->location] }, (const char *[]){ state_names[s],
		    site_label(page, w->site, where) });
	}
	end_table(&columns, 0);
}

static const char *
host_name(const struct page *page, int32_t rank)
{
	const struct headline *headline = &page->im.graph.known.headline;
	const size_t host = headline_host(headline, rank);

	return host == SIZE_MAX ? "" : headline->hosts[host].name;
}

/* Sums over the ranks of each host, if there are several hosts. */
static void
hosts_table(struct text *out, const struct page *page)
{
	const struct headline *headline = &page->im.graph.known.headline;
	const struct table *ranks = &page->im.tables[BY_RANK];
	double (*sums)[4];
	struct columns columns;

	if (headline->host_count < 2)
		return;
	sums = zalloc(headline->host_count, sizeof *sums);
	for (size_t r = 0; r < (size_t)page->im.graph.known.ranks; r++) {
		const size_t host = headline_host(headline, (int32_t)r);

		if (host == SIZE_MAX)
			continue;
		sums[host][0] += seconds(share_told_ns(&page->path_ranks[r], false));
		sums[host][1] += seconds(waits_ns(ranks, r));
		sums[host][2] += seconds(ranks->cells[r].compute_ns);
		sums[host][3] += seconds(ranks->cells[r].mpi_ns);
	}
	columns = begin_table(out, page, "hosts", "Hosts",
	    "The ranks of each host together; MPI includes waits.",
	    "on the path (s)\twait (rank-s)\tcomputation (rank-s)\tMPI (rank-s)\tranks\t*host");
	for (size_t i = 0; i < headline->host_count; i++)
		put_line(&columns, (double[]){ sums[i][0], sums[i][1], sums[i][2], sums[i][3],
		    headline->hosts[i].ranks }, (const char *[]){ headline->hosts[i].name });
	end_table(&columns, 0);
	free(sums);
}

static void
cells_table(struct text *out, const struct page *page, enum dimension by, const char *id,
    const char *title, const char *note, const char *name)
{
	size_t count;
	struct line *lines = sorted_cells(&page->im, by, &count);
	struct columns columns;
	const char *unit = by == BY_RANK ? "s" : "rank-s";
	const struct share_list *sites = &page->path.by[OF_SITE];
	const bool path = page->path.segments > 0 && (by == BY_SITE || by == BY_RANK);
	char label[LABEL];

	snprintf(label, sizeof label, "%swait (%s)\twaits\tcomputation (%s)\tMPI (%s)\tcalls\t%s",
	    path ? "on the path (s)\t" : "", unit, unit, unit, name);
	columns = begin_table(out, page, id, title, note, label);
	for (size_t i = 0; i < count; i++) {
		const struct cell *c = lines[i].cell;
		const size_t of = lines[i].index;
		const int64_t path_ns = by == BY_RANK ?
		    share_told_ns(&page->path_ranks[of], false) : of < sites->count ?
		    share_sum(&sites->at[of]) : 0;
		const double numbers[] = { seconds(path_ns), seconds(lines[i].wait_ns),
		    (double)c->waits, seconds(c->compute_ns), seconds(c->mpi_ns),
		    (double)c->calls, (double)of };

		put_line(&columns, numbers + !path,
		    (const char *[]){ by == BY_RANK ? host_name(page, (int32_t)of) :
		    index_text(&page->im, by, of, label, sizeof label) });
	}
	end_table(&columns, count);
	free(lines);
}

static void
gains_table(struct text *out, const struct page *page)
{
	char title[200], where[LABEL];
	struct columns columns;

	if (page->gain_count == 0)
		return;
	snprintf(title, sizeof title, "If all computation up to one place and the calls there took "
	    "%d %% less time on every rank; at most is without other paths that take over.",
	    page->percent);
	columns = begin_table(out, page, "gains", "Gains", title,
	    "gain (s)\tgain (%)\tat most (s)\t*where");
	for (size_t i = 0; i < page->gain_count; i++) {
		const struct site_gain *gain = &page->gains[i];

		put_line(&columns, (double[]){ seconds(gain->gain_ns),
		    path_share(page, gain->gain_ns), seconds(gain->most_ns) },
		    (const char *[]){ site_label(page, gain->site, where) });
	}
	end_table(&columns, page->gain_count);
}

static void
runs_table(struct text *out, const struct page *page)
{
	struct columns columns;

	if (page->run_count < 2)
		return;
	columns = begin_table(out, page, "runs", "Runs", "Against the smallest one, as POP defines "
	    "it.", "ranks\trun time (s)\t.speed-up\tparallel (%)\tload balance (%)\tcommunication "
	    "(%)\tcomputation scaling (%)\t*file");
	for (const struct times *run = page->runs; run < page->runs + page->run_count; run++) {
		put_line(&columns, (double[]){ run->ranks, seconds(run->run_ns), run->speedup,
		    run->of.parallel, run->of.load_balance, run->of.communication,
		    run->computation_scaling }, (const char *[]){ run->file });
	}
	end_table(&columns, page->run_count);
}

void
tables_write(struct text *out, const struct page *page)
{
	places_table(out, page);
	parts_table(out, page);
	path_functions_table(out, page);
	gains_table(out, page);
	delays_table(out, page);
	sampled_table(out, page);
	counters_table(out, page);
	states_table(out, page);
	cells_table(out, page, BY_SITE, "sites", "Call sites", "Where in the program; computation "
	    "is that up to the call, MPI includes waits.", "*site");
	cells_table(out, page, BY_CALL, "calls", "MPI functions",
	    "All calls of a function.", "*function");
	hosts_table(out, page);
	cells_table(out, page, BY_RANK, "ranks", "Ranks",
	    "All calls and all computation of a rank; MPI includes waits.",
	    page->im.graph.known.headline.host_count > 1 ? "rank\t*host" : "rank");
	runs_table(out, page);
}
