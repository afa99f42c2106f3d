/* SPDX-License-Identifier: BSD-3-Clause */
/* The timeline: what each rank did when, and the path through it. */
#include <math.h>

#include "draw.h"

enum { SHOWN_ROWS = 64, SHOWN_COLUMNS = 440, LABEL = 1024 };

/* Of the bins, the rows and columns of a picture: ROWS by COLUMNS of them are one cell. */
struct raster {
	size_t rows, columns, each_row, each_column;
	double height, width;		/* of a row and a column in the picture */
	double right;			/* where the run ends */
};

static struct raster
raster_of(const struct bins *bins, int64_t axis_ns)
{
	const double plot = (WIDTH - LEFT - RIGHT) * (axis_ns > 0 ? (double)bins->run_ns / (double)axis_ns : 1);
	struct raster r = { .each_row = (bins->rows + SHOWN_ROWS - 1) / SHOWN_ROWS,
	    .each_column = (bins->columns + SHOWN_COLUMNS - 1) / SHOWN_COLUMNS };

	r.rows = (bins->rows + r.each_row - 1) / r.each_row;
	r.columns = (bins->columns + r.each_column - 1) / r.each_column;
	r.height = r.rows <= 8 ? 26 : r.rows <= 24 ? 14 : 380.0 / (double)r.rows;
	r.width = plot * (double)r.each_column / (double)bins->columns;
	r.right = LEFT + plot;
	return r;
}

static enum activity
cell_of_raster(const struct bins *bins, const struct raster *r, size_t row, size_t column)
{
	size_t from = column * r->each_column, to = from + r->each_column;

	/* A row of several stands for its first: an average of ranks would show what none of them did. */
	return bins_main(bins, row * r->each_row, from, to < bins->columns ? to : bins->columns);
}

/* One line for each stretch of the activity, all in one element. */
static void
draw_activity(struct text *out, const struct bins *bins, const struct raster *r, enum activity activity)
{
	bool any = false;

	for (size_t row = 0; row < r->rows; row++)
		for (size_t c = 0, end; c < r->columns; c = end) {
			end = c + 1;
			if (cell_of_raster(bins, r, row, c) != activity)
				continue;
			while (end < r->columns && cell_of_raster(bins, r, row, end) == activity)
				end++;
			if (!any)
				text_print(out, "<path class=\"%s s\" stroke-width=\"%.2f\" d=\"",
				    activity_classes[activity], r->height * 0.86);
			text_print(out, "M%.1f %.1fH%.1f", LEFT + r->width * (double)c,
			    TOP + r->height * ((double)row + 0.5), LEFT + r->width * (double)end);
			any = true;
		}
	if (any)
		text_put(out, "\"/>\n");
}

static unsigned
path_level(const struct bins *bins, const struct raster *r, size_t row, size_t column)
{
	const size_t from = column * r->each_column, to = from + r->each_column;

	return bins_path_level(bins, row * r->each_row, r->each_row, from, to < bins->columns ? to : bins->columns);
}

/* The path goes from row to row; a line beneath it sets it off from what it runs over. */
static void
draw_path(struct text *out, const struct bins *bins, const struct raster *r)
{
	for (int pass = 0; pass < 2; pass++) {
		bool begun = false;
		size_t last = SIZE_MAX;

		for (size_t c = 0; c < r->columns; c++) {
			size_t to = (c + 1) * r->each_column;
			size_t row = bins_path(bins, c * r->each_column, to < bins->columns ? to : bins->columns);
			double x = LEFT + r->width * (double)c, y;

			if (row == SIZE_MAX)
				continue;
			row /= r->each_row;
			y = TOP + r->height * ((double)row + 0.5);
			if (!begun)
				text_print(out, "<path class=\"%s\" d=\"M%.1f %.1f", pass == 0 ? "halo" : "way", x, y);
			else if (row != last)
				text_print(out, "H%.1fV%.1f", x, y);
			begun = true;
			last = row;
		}
		if (begun)
			text_print(out, "H%g\"/>\n", r->right);
	}
}

/* Where it goes through too many rows for that: the darker a cell, the more of the path is in it. */
static void
draw_path_levels(struct text *out, const struct bins *bins, const struct raster *r)
{
	for (unsigned level = 1; level < PATH_LEVELS; level++) {
		bool begun = false;

		for (size_t row = 0; row < r->rows; row++)
			for (size_t c = 0, to; c < r->columns; c = to) {
				to = c + 1;
				if (path_level(bins, r, row, c) != level)
					continue;
				while (to < r->columns && path_level(bins, r, row, to) == level)
					to++;
				if (!begun)
					text_print(out, "<path class=\"way f w%u\" d=\"", level);
				text_print(out, "M%.1f %.1fh%.1fv%.1fh-%.1fz", LEFT + r->width * (double)c,
				    TOP + r->height * ((double)row + 0.3), r->width * (double)(to - c), 0.4 * r->height,
				    r->width * (double)(to - c));
				begun = true;
			}
		if (begun)
			text_put(out, "\"/>\n");
	}
}

static void
location_label(const struct page *page, size_t row, char *text, size_t size)
{
	const struct definitions *known = &page->im.graph.known;
	const struct bins *bins = &page->bins;
	/* The first location of the row. */
	size_t l = (row * bins->locations + bins->rows - 1) / bins->rows;

	if (known->location_thread != NULL && known->location_thread[l] > 0)
		snprintf(text, size, "%d.%u", (int)known->location_rank[l], known->location_thread[l]);
	else
		snprintf(text, size, "%d", (int)known->location_rank[l]);
}

void
timeline_colours(const struct page *page, const char *classes[ACTIVITIES + 1], const char *names[ACTIVITIES + 1])
{
	for (int i = 0; i < ACTIVITIES; i++) {
		classes[i] = activity_classes[i];
		names[i] = activity_names[i];
	}
	classes[ACTIVITIES] = "way";
	names[ACTIVITIES] = bins_path_spreads(&page->bins) ? "critical path (darker: more of it)" : "critical path";
}

/* Of the activities in USED, a bit each. */
static void
timeline_legend(struct text *out, const struct page *page, unsigned used)
{
	const char *classes[ACTIVITIES + 1], *names[ACTIVITIES + 1];

	timeline_colours(page, classes, names);
	draw_legend(out, classes, names, ACTIVITIES + 1, (used & ~1u) |
	    (page->segments > 0 ? 1u << ACTIVITIES : 0));
}

int
lanes_height(const struct page *page)
{
	const struct raster r = raster_of(&page->bins, 0);

	return (int)(TOP + r.height * (double)r.rows) + 40;
}

void
draw_lanes(struct text *out, const struct page *page, const char *id, const char *title, int64_t axis_ns)
{
	const struct bins *bins = &page->bins;
	const struct raster r = raster_of(bins, axis_ns);
	const double bottom = TOP + r.height * (double)r.rows;
	char *verdict = verdict_sentence(&page->verdict.pole), label[32];
	size_t step = (size_t)ceil(12 / r.height);
	unsigned used = 0;

	draw_begin(out, id, lanes_height(page), title, verdict);
	for (size_t row = 0; row < r.rows; row++)
		for (size_t c = 0; c < r.columns; c++)
			used |= 1u << cell_of_raster(bins, &r, row, c);
	timeline_legend(out, page, used);
	draw_time_axis(out, 1e-9 * (double)axis_ns, TOP, bottom);
	for (enum activity a = COMPUTING; a < ACTIVITIES; a++)
		if (used >> a & 1)
			draw_activity(out, bins, &r, a);
	if (bins_path_spreads(bins))
		draw_path_levels(out, bins, &r);
	else
		draw_path(out, bins, &r);
	for (size_t row = 0; row < r.rows; row += step) {
		location_label(page, row * r.each_row, label, sizeof label);
		draw_label(out, LEFT - 6, TOP + r.height * ((double)row + 0.5) + 4, "end", label);
	}
	draw_label(out, 8, TOP - 6, "start", "rank");
	draw_label(out, WIDTH / 2, bottom + 32, "middle", "time since the run began");
	draw_end(out);
	free(verdict);
}

void
draw_timeline(struct text *out, const struct page *page)
{
	draw_lanes(out, page, "timeline", "Timeline: what each rank did, and the critical path over it",
	    page->bins.run_ns);
}
