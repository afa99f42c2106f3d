/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <math.h>

void
draw_begin(struct text *out, const char *id, int width, int height, const char *title,
    const char *description)
{
	text_print(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" viewBox=\"0 0 "
	    "%d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-labelledby=\"%s-t %s-d\">\n<title id=\"%s-t\">",
	    width, height, width, height, id, id, id);
	text_markup(out, title);
	text_print(out, "</title>\n<desc id=\"%s-d\">", id);
	text_markup(out, description);
	text_put(out, "</desc>\n");
}

void
draw_end(struct text *out)
{
	text_put(out, "</svg>\n");
}

void
draw_label(struct text *out, double x, double y, const char *anchor, const char *label)
{
	text_print(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
	text_markup(out, label);
	text_put(out, "</text>\n");
}

const char *
cut_label(const char *name, size_t most, char *text)
{
	size_t length = strlen(name);

	if (length > most)
		for (length = most; length > 0 && (name[length] & 0xc0) == 0x80; length--)
			;	/* do not cut within a character */
	snprintf(text, most + 4, "%.*s%s", (int)length, name, name[length] != '\0' ? "..." : "");
	return text;
}

void
draw_box(struct text *out, const char *class, double x, double y, double width, double height,
    const char *tip)
{
	if (width <= 0 || height <= 0)
		return;
	text_print(out, "<rect class=\"%s f\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"",
	    class, x, y, width, height);
	if (tip == NULL) {
		text_put(out, "/>\n");
		return;
	}
	text_put(out, "><title>");
	text_markup(out, tip);
	text_put(out, "</title></rect>\n");
}

void
draw_line(struct text *out, const char *class, double x1, double y1, double x2, double y2)
{
	text_print(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
	    class, x1, y1, x2, y2);
}

void
draw_mark(struct text *out, int width, double y, const char *label)
{
	draw_line(out, "grid", LEFT, y, width - RIGHT, y);
	draw_label(out, LEFT - 6, y + 4, "end", label);
}

void
draw_legend(struct text *out, int width, const struct colour *shown, size_t count,
    unsigned wanted)
{
	double x = 8, y = 8;

	for (size_t i = 0; i < count; i++) {
		const double each = 26 + 6.6 * (double)strlen(shown[i].name);

		if ((wanted >> i & 1) == 0)
			continue;
		if (x + each > width - RIGHT) {
			x = 8;
			y += 17;
		}
		draw_box(out, shown[i].class, x, y, 11, 11, NULL);
		draw_label(out, x + 15, y + 10, "start", shown[i].name);
		x += each;
	}
}

double
nice_step(double most, int count)
{
	double step = most > 0 ? pow(10, floor(log10(most / count))) : 1;

	if (most <= count * step)
		return step;
	return most <= 2 * count * step ? 2 * step : most <= 5 * count * step ?
	    5 * step : 10 * step;
}

void
time_label(double s, double largest_s, char *text, size_t size)
{
	if (largest_s >= 1)
		snprintf(text, size, "%.6g s", s);
	else if (largest_s >= 1e-3)
		snprintf(text, size, "%.6g ms", 1e3 * s);
	else
		snprintf(text, size, "%.6g us", 1e6 * s);
}

void
draw_time_axis(struct text *out, double run_s, double top, double bottom)
{
	double step = nice_step(run_s, 8);

	for (int i = 0; step * i <= run_s * (1 + 1e-9) && i < 20; i++) {
		double x = LEFT + (WIDE - LEFT - RIGHT) * step * i / run_s;
		char label[40];

		time_label(step * i, run_s, label, sizeof label);
		draw_line(out, "grid", x, top, x, bottom);
		draw_label(out, fmin(x, WIDE - 4.0 * (double)strlen(label)), bottom + 15,
		    "middle", label);
	}
}

size_t
label_step(double each, const char *longest)
{
	size_t step = 1;

	while (each * (double)step < 8 * (double)strlen(longest) + 6)
		step *= 2;
	return step;
}

void
group_label(int32_t ranks, size_t groups, size_t group, char *text, size_t size)
{
	const int64_t first = group_first(ranks, groups, group);
	const int64_t last = group_first(ranks, groups, group + 1) - 1;

	if (last <= first)
		snprintf(text, size, "%lld", (long long)first);
	else
		snprintf(text, size, "%lld-%lld", (long long)first, (long long)last);
}
