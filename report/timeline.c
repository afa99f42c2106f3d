/* SPDX-License-Identifier: BSD-3-Clause */
/* The timeline: the activity of each rank over time, and the path. */
#include <math.h>
#include <stdlib.h>

#include "../base/tool/csv.h"
#include "report.h"

enum { SHOWN_ROWS = 64, LEAST_HOP = 3 };

/* In units of a row's height: the lane, and below it the path, so that it hides nothing. */
#define LANE 0.76
#define WAY 0.91	/* its middle */
#define WAY_SIZE 0.14

/* How bins map to a picture: ROWS by COLUMNS of them are one cell. */
struct raster {
	size_t rows, columns, each_row, each_column;
	double height, width;		/* of a row and a column in the picture */
	double right;			/* end of the run */
};

static struct raster
raster_of(const struct bins *bins, int64_t axis_ns)
{
	const double plot = (WIDE - LEFT - RIGHT) *
	    (axis_ns > 0 ? (double)bins->run_ns / (double)axis_ns : 1);
	struct raster r = { .each_row = (bins->rows + SHOWN_ROWS - 1) / SHOWN_ROWS,
	    .each_column = (bins->columns + SHOWN_COLUMNS - 1) / SHOWN_COLUMNS };

	r.rows = (bins->rows + r.each_row - 1) / r.each_row;
	r.columns = (bins->columns + r.each_column - 1) / r.each_column;
	r.height = r.rows <= 8 ? 26 : r.rows <= 24 ? 14 : 380.0 / (double)r.rows;
	r.width = plot * (double)r.each_column / (double)bins->columns;
	r.right = LEFT + plot;
	return r;
}

/*
 * A line for each run of cells of that value, all in one element; AT and SIZE are shares of a row.
 */
static void
draw_stretches(struct text *out, const struct raster *r, const unsigned char *cells, unsigned value,
    const char *class, double at, double size)
{
	text_print(out, "<path class=\"%s s\" stroke-width=\"%.2f\" d=\"", class, r->height * size);
	for (size_t row = 0; row < r->rows; row++, cells += r->columns)
		for (size_t c = 0, end; c < r->columns; c = end) {
			for (end = c + 1; end < r->columns && cells[end] == cells[c];)
				end++;
			if (cells[c] == value)
				text_print(out, "M%.1f %.1fH%.1f", LEFT + r->width * (double)c,
				    TOP + r->height * ((double)row + at),
				    LEFT + r->width * (double)end);
		}
	text_put(out, "\"/>\n");
}

static double
way_y(const struct raster *r, size_t row)
{
	return TOP + r->height * ((double)row + WAY);
}

/* A line below each lane that the path is in, with thin ones between lanes unless too close. */
static void
draw_path(struct text *out, const struct bins *bins, const struct raster *r)
{
	for (int hops = 1; hops >= 0; hops--) {
		double hop_x = -LEAST_HOP;
		size_t last = SIZE_MAX;

		for (size_t c = 0; c < r->columns; c++) {
			size_t row = bins_path(bins, c * r->each_column, r->each_column);
			const double x = LEFT + r->width * (double)c;

			if (row == SIZE_MAX || row / r->each_row == last)
				continue;
			row /= r->each_row;
			if (last == SIZE_MAX)
				text_print(out, "<path class=\"%s\" stroke-width=\"%.2f\" "
				    "d=\"M%.1f %.1f", hops ? "hop" : "way",
				    hops ? 0.8 : r->height * WAY_SIZE, x, way_y(r, row));
			else if (!hops)
				text_print(out, "H%.1fM%.1f %.1f", x, x, way_y(r, row));
			else if (x - hop_x >= LEAST_HOP)
				text_print(out, "M%.1f %.1fV%.1f", hop_x = x, way_y(r, last),
				    way_y(r, row));
			last = row;
		}
		if (last != SIZE_MAX && !hops)
			text_print(out, "H%g", r->right);
		if (last != SIZE_MAX)
			text_put(out, "\"/>\n");
	}
}

/* If the path crosses too many rows for lines: a darker cell contains more of the path. */
static void
draw_path_levels(struct text *out, const struct bins *bins, const struct raster *r)
{
	static const char *const classes[PATH_LEVELS] = { "", "way w1", "way w2", "way w3", "way" };
	unsigned used = 0;
	unsigned char *cells = bins_cells(bins, r->each_row, r->each_column, true, &used);

	for (unsigned level = 1; level < PATH_LEVELS; level++)
		if (used >> level & 1)
			draw_stretches(out, r, cells, level, classes[level], WAY, WAY_SIZE);
	free(cells);
}

/* The first location of a row. */
static size_t
location_of(const struct bins *bins, size_t row)
{
	return (size_t)group_first(bins->locations, bins->rows, row);
}

static void
location_label(const struct page *page, size_t row, char *text, size_t size)
{
	const struct definitions *known = &page->im.graph.known;
	const size_t l = location_of(&page->bins, row);

	if (known->location_thread[l] > 0)
		snprintf(text, size, "%d.%u", (int)known->location_rank[l],
		    known->location_thread[l]);
	else
		snprintf(text, size, "%d", (int)known->location_rank[l]);
}

static size_t
host_of_row(const struct page *page, const struct raster *r, size_t row)
{
	const struct definitions *known = &page->im.graph.known;

	return headline_host(&known->headline,
	    known->location_rank[location_of(&page->bins, row * r->each_row)]);
}

/* If there are several hosts: a line at the left of each host's rows, and its name, cut to fit. */
static void
draw_hosts(struct text *out, const struct page *page, const struct raster *r)
{
	const struct headline *headline = &page->im.graph.known.headline;

	if (headline->host_count < 2)
		return;
	for (size_t row = 0, end; row < r->rows; row = end) {
		const size_t host = host_of_row(page, r, row);
		double top, bottom;
		char name[68];

		for (end = row + 1; end < r->rows && host_of_row(page, r, end) == host;)
			end++;
		top = TOP + r->height * (double)row + 1;
		bottom = TOP + r->height * (double)end - 1;
		if (host == SIZE_MAX)
			continue;
		draw_line(out, "host", 22, top, 22, bottom);
		text_print(out, "<text transform=\"translate(16 %.1f) rotate(-90)\" "
		    "text-anchor=\"middle\">", (top + bottom) / 2);
		text_markup(out, cut_label(headline->hosts[host].name,
		    (size_t)fmin(64, fmax(0, (bottom - top) / 7 - 2)), name));
		text_put(out, "</text>\n");
	}
}

int
lanes_height(const struct page *page)
{
	const struct raster r = raster_of(&page->bins, 0);

	return (int)(TOP + r.height * (double)r.rows) + 40;
}

void
draw_lanes(struct text *out, const struct page *page, const char *id, const char *title,
    int64_t axis_ns)
{
	const struct bins *bins = &page->bins;
	const struct raster r = raster_of(bins, axis_ns);
	const double bottom = TOP + r.height * (double)r.rows;
	char *verdict = verdict_sentence(&page->verdict.pole), label[32];
	const size_t step = (size_t)fmax(1, nice_step((double)r.rows, (int)((bottom - TOP) / 12)));
	const bool spreads = bins_path_spreads(bins);
	unsigned used = 0;
	unsigned char *cells = bins_cells(bins, r.each_row, r.each_column, false, &used);

	draw_begin(out, id, WIDE, lanes_height(page), title, verdict);
	draw_legend(out, WIDE, colours, COLOURS, (used & ~1u) |
	    (page->path.segments > 0 ? 1u << (spreads ? PATH_SHARES : ON_PATH) : 0));
	draw_time_axis(out, seconds(axis_ns), TOP, bottom);
	for (enum activity a = COMPUTING; a < ACTIVITIES; a++)
		if (used >> a & 1)
			draw_stretches(out, &r, cells, a, colours[a].class, LANE / 2, LANE);
	free(cells);
	if (spreads)
		draw_path_levels(out, bins, &r);
	else
		draw_path(out, bins, &r);
	for (size_t row = 0; row < r.rows; row += step) {
		location_label(page, row * r.each_row, label, sizeof label);
		draw_label(out, LEFT - 6, TOP + r.height * ((double)row + LANE / 2) + 4,
		    "end", label);
	}
	draw_hosts(out, page, &r);
	draw_label(out, 8, bottom + 15, "start", "rank");
	draw_label(out, WIDE / 2, bottom + 32, "middle", "time since the run began");
	draw_end(out);
	free(verdict);
}

void
draw_timeline(struct text *out, const struct page *page)
{
	draw_lanes(out, page, "timeline",
	    "Timeline: what each rank did, and the critical path over it", page->bins.run_ns);
}

/* The columns of the timeline as numbers, for figures made elsewhere. */
void
columns_write(struct text *out, const struct page *page)
{
	const struct bins *bins = &page->bins;
	const double width_s = seconds(bins->run_ns) / (double)bins->columns;
	const int32_t *rank = page->im.graph.known.location_rank;
	struct csv csv;

	csv_begin(&csv, out,
	    "rank,last_rank,from_s,to_s,outside_s,compute_s,mpi_s,wait_message_s,wait_receiver_s,wait_collective_s,wait_setup_s,wait_rma_s,blocked_s,preempted_s,path_s");
	for (size_t row = 0; row < bins->rows; row++)
		for (size_t c = 0; c < bins->columns; c++) {
			const float *ns = bins->ns + (row * bins->columns + c) * LAYERS;

			csv_int(&csv, rank[location_of(bins, row)]);
			csv_int(&csv, rank[location_of(bins, row + 1) - 1]);
			csv_fixed(&csv, (double)c * width_s, 12);
			csv_fixed(&csv, (double)(c + 1) * width_s, 12);
			for (int layer = 0; layer < LAYERS; layer++)
				csv_significant(&csv, 1e-9 * (double)ns[layer], 7);
			csv_end_row(&csv);
		}
}
