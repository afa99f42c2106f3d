/* SPDX-License-Identifier: BSD-3-Clause */
/* The timeline: the activity of each rank over time, and the path. */
#include <math.h>
#include <stdlib.h>

#include "../base/tool/csv.h"
#include "report.h"

enum { SHOWN_ROWS = 64, SHOWN_COLUMNS = 440, LEAST_HOP = 3 };

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

static size_t
end_column(const struct bins *bins, const struct raster *r, size_t column)
{
	const size_t to = (column + 1) * r->each_column;

	return to < bins->columns ? to : bins->columns;
}

/* A row of several ranks shows the first: an average would show what none of them did. */
static unsigned
main_of(const struct bins *bins, const struct raster *r, size_t row, size_t column)
{
	return bins_main(bins, row * r->each_row, column * r->each_column,
	    end_column(bins, r, column));
}

static unsigned
level_of(const struct bins *bins, const struct raster *r, size_t row, size_t column)
{
	return bins_path_level(bins, row * r->each_row, r->each_row, column * r->each_column,
	    end_column(bins, r, column));
}

/* The VALUE of all cells, which the caller frees; USED gets a bit for each value. */
static unsigned char *
cells_of(const struct bins *bins, const struct raster *r, unsigned *used,
    unsigned (*value)(const struct bins *bins, const struct raster *r, size_t row, size_t column))
{
	unsigned char *cells = zalloc(r->rows * r->columns, 1);

	for (size_t row = 0; row < r->rows; row++)
		for (size_t c = 0; c < r->columns; c++)
			*used |= 1u <<
			    (cells[row * r->columns + c] = (unsigned char)value(bins, r, row, c));
	return cells;
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
			size_t row = bins_path(bins, c * r->each_column, end_column(bins, r, c));
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
	unsigned char *cells = cells_of(bins, r, &used, level_of);

	for (unsigned level = 1; level < PATH_LEVELS; level++)
		if (used >> level & 1)
			draw_stretches(out, r, cells, level, classes[level], WAY, WAY_SIZE);
	free(cells);
}

/* The first location of a row. */
static size_t
location_of(const struct bins *bins, size_t row)
{
	return (row * bins->locations + bins->rows - 1) / bins->rows;
}

static void
location_label(const struct page *page, size_t row, char *text, size_t size)
{
	const struct definitions *known = &page->im.graph.known;
	const size_t l = location_of(&page->bins, row);

	if (known->location_thread != NULL && known->location_thread[l] > 0)
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

void
timeline_colours(const struct page *page, const char *classes[ACTIVITIES + 1],
    const char *names[ACTIVITIES + 1])
{
	for (int i = 0; i < ACTIVITIES; i++) {
		classes[i] = activity_classes[i];
		names[i] = activity_names[i];
	}
	classes[ACTIVITIES] = "way";
	names[ACTIVITIES] = bins_path_spreads(&page->bins) ? "critical path (darker: more of it)" :
	    "critical path";
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
	const char *classes[ACTIVITIES + 1], *names[ACTIVITIES + 1];
	unsigned char *cells;
	unsigned used = 0;

	draw_begin(out, id, WIDE, lanes_height(page), title, verdict);
	cells = cells_of(bins, &r, &used, main_of);
	timeline_colours(page, classes, names);
	draw_legend(out, WIDE, classes, names, ACTIVITIES + 1, (used & ~1u) |
	    (page->segments > 0 ? 1u << ACTIVITIES : 0));
	draw_time_axis(out, 1e-9 * (double)axis_ns, TOP, bottom);
	for (enum activity a = COMPUTING; a < ACTIVITIES; a++)
		if (used >> a & 1)
			draw_stretches(out, &r, cells, a, classes[a], LANE / 2, LANE);
	free(cells);
	if (bins_path_spreads(bins))
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
	const double width_s = 1e-9 * (double)bins->run_ns / (double)bins->columns;
	uint32_t first = 0, end;
	struct csv csv;

	csv_begin(&csv, out,
	    "rank,last_rank,from_s,to_s,outside_s,compute_s,mpi_s,wait_message_s,wait_receiver_s,wait_collective_s,wait_setup_s,wait_rma_s,blocked_s,preempted_s,path_s");
	for (size_t row = 0; row < bins->rows; row++, first = end) {
		for (end = first; end < bins->locations && bins_row(bins, end) == row;)
			end++;
		for (size_t c = 0; c < bins->columns && end > first; c++) {
			const float *ns = bins->ns + (row * bins->columns + c) * ACTIVITIES;

			csv_int(&csv, page->im.graph.known.location_rank[first]);
			csv_int(&csv, page->im.graph.known.location_rank[end - 1]);
			csv_fixed(&csv, (double)c * width_s, 12);
			csv_fixed(&csv, (double)(c + 1) * width_s, 12);
			for (int a = 0; a < ACTIVITIES; a++)
				csv_significant(&csv, 1e-9 * (double)ns[a], 7);
			csv_significant(&csv,
			    1e-9 * (double)bins->path_ns[row * bins->columns + c], 7);
			csv_end_row(&csv);
		}
	}
}
