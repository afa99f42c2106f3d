/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of SVG pictures. Colours are classes of figure.css, so that a page can be dark. */
#ifndef DRAW_H
#define DRAW_H

#include "report.h"

/* Widths of a chart, for a narrow screen or a column of a paper, and of a time axis; margins. */
enum { WIDTH = 480, WIDE = 800, LEFT = 64, RIGHT = 16, TOP = 44 };

/* Opens the element with a title and a description for screen readers. */
void draw_begin(struct text *out, const char *id, int width, int height, const char *title,
    const char *description);
void draw_end(struct text *out);
/* ANCHOR: start, middle or end. */
void draw_label(struct text *out, double x, double y, const char *anchor, const char *label);
/* Cuts NAME to MOST bytes if it is longer; TEXT has MOST + 4. */
const char *cut_label(const char *name, size_t most, char *text);
void draw_box(struct text *out, const char *class, double x, double y, double width, double height,
    const char *tip);
void draw_line(struct text *out, const char *class, double x1, double y1, double x2, double y2);

/* timeline.c: a run's rows on an axis of that length. */
int lanes_height(const struct page *page);
void draw_lanes(struct text *out, const struct page *page, const char *id, const char *title,
    int64_t axis_ns);
/* beside.c: READ reads the other run in a process of its own. */
void beside_read(struct beside *beside, const char *own, const char *other,
    void (*read)(struct page *page, void *arguments), void *arguments);
bool has_beside(const struct page *page);
void draw_beside(struct text *out, const struct page *page);

/* A legend in two rows at the top; bit i of WANTED selects entry i. */
void draw_legend(struct text *out, int width, const char *const *classes, const char *const *names,
    size_t count, unsigned wanted);

/* A step of 1, 2 or 5 times a power of ten that divides MOST into at most COUNT parts. */
double nice_step(double most, int count);
/* "1.5 s", "20 ms", "3 us": in the unit that fits LARGEST. */
void time_label(double s, double largest_s, char *text, size_t size);
/* The time axis below a wide plot, from 0 to RUN_S. */
void draw_time_axis(struct text *out, double run_s, double top, double bottom);
/* Label every n-th of marks that are EACH apart, so that labels as long as LONGEST fit. */
size_t label_step(double each, const char *longest);
/* "0", "16-31", ... for ranks in groups. */
void group_label(int32_t ranks, size_t groups, size_t group, char *text, size_t size);

/* timeline.c: the picture of one run. */
void draw_timeline(struct text *out, const struct page *page);

#endif
