/* SPDX-License-Identifier: BSD-3-Clause */
/* The pictures. Each is complete, in a page or as a file. The timeline is in timeline.c. */
#include <math.h>
#include <stdlib.h>

#include "report.h"

enum { SHOWN_GROUPS = 64, SHOWN_GAINS = 10 };

/* ---- bars by rank ------------------------------------------------------------------------- */

struct bars {
	const char *id, *title;
	const struct colour *colours;
	size_t kinds;
	double (*value)(const struct page *page, int32_t rank, size_t kind);	/* seconds */
};

/* Mean over the ranks of a group. */
static double
group_value(const struct page *page, const struct bars *bars, size_t groups,
    size_t group, size_t kind)
{
	const int32_t ranks = page->im.graph.known.ranks;
	const int64_t first = group_first(ranks, groups, group);
	const int64_t end = group_first(ranks, groups, group + 1);
	double sum = 0;

	for (int64_t r = first; r < end; r++)
		sum += bars->value(page, (int32_t)r, kind);
	return sum / (double)(end - first);
}

static void
draw_scale(struct text *out, double most, double plot_height)
{
	double step = nice_step(most, 5);
	char label[40];

	for (int i = 0; step * i <= most * (1 + 1e-9) && i < 20; i++) {
		double y = TOP + plot_height * (1 - step * i / most);

		time_label(step * i, most, label, sizeof label);
		draw_mark(out, WIDTH, y, label);
	}
}

static void
draw_bar(struct text *out, const struct page *page, const struct bars *bars, size_t groups,
    size_t g, double most, double plot_height)
{
	const double step = (double)(WIDTH - LEFT - RIGHT) / (double)groups;
	double y = TOP + plot_height;
	char name[48], tip[200], length[40];

	group_label(page->im.graph.known.ranks, groups, g, name, sizeof name);
	for (size_t k = 0; k < bars->kinds; k++) {
		double value = group_value(page, bars, groups, g, k),
		    height = plot_height * value / most;

		time_label(value, most, length, sizeof length);
		snprintf(tip, sizeof tip, "rank %s: %s, %s", name, bars->colours[k].name,
		    length);
		y -= height;
		draw_box(out, bars->colours[k].class, LEFT + step * ((double)g + 0.1), y,
		    0.8 * step, height, tip);
	}
}

static void
draw_bars(struct text *out, const struct page *page, const struct bars *bars)
{
	const double plot_height = 220;
	size_t ranks = (size_t)page->im.graph.known.ranks,
	    groups = ranks < SHOWN_GROUPS ? ranks : SHOWN_GROUPS;
	size_t step, top = 0;
	double most = 0, longest = 0;
	unsigned used = 0;
	char label[48], text[240], length[40];

	for (size_t g = 0; g < groups; g++) {
		double sum = 0;

		for (size_t k = 0; k < bars->kinds; k++) {
			double value = group_value(page, bars, groups, g, k);

			sum += value;
			used |= value > 0 ? 1u << k : 0;
		}
		if (sum > longest) {
			longest = sum;
			top = g;
		}
	}
	most = longest > 0 ? longest : 1e-9;
	group_label((int32_t)ranks, groups, top, label, sizeof label);
	time_label(longest, most, length, sizeof length);
	snprintf(text, sizeof text, "Most of it has rank %s: %s%s.", label, length,
	    groups < ranks ? ", the mean of its group" : "");
	draw_begin(out, bars->id, WIDTH, (int)(TOP + plot_height) + 40, bars->title, text);
	draw_legend(out, WIDTH, bars->colours, bars->kinds, used);
	if (longest > 0)
		draw_scale(out, most, plot_height);
	else
		draw_label(out, 8, 20, "start", "none");
	group_label((int32_t)ranks, groups, groups - 1, label, sizeof label);
	step = label_step((double)(WIDTH - LEFT - RIGHT) / (double)groups, label);
	for (size_t g = 0; g < groups; g++) {
		draw_bar(out, page, bars, groups, g, most, plot_height);
		group_label((int32_t)ranks, groups, g, label, sizeof label);
		if (g % step == 0)
			draw_label(out, LEFT + (WIDTH - LEFT - RIGHT) * ((double)g + 0.5) /
			    (double)groups, TOP + plot_height + 15, "middle", label);
	}
	draw_label(out, WIDTH / 2, TOP + plot_height + 32, "middle", groups < ranks ?
	    "ranks, means of groups" : "rank");
	draw_end(out);
}

static double
wait_value(const struct page *page, int32_t rank, size_t kind)
{
	int64_t ns = 0;

	for (int s = 0; s < STATES; s++)
		if (activity_of((enum state)s) == (enum activity)(WAIT_MESSAGE + kind))
			ns += state_ns(&page->im.tables[BY_RANK], (size_t)rank, s);
	return seconds(ns);
}

static void
draw_waits(struct text *out, const struct page *page)
{
	static const struct bars bars = { "waits", "Waits by rank and kind",
	    colours + WAIT_MESSAGE, WAITS_END - WAIT_MESSAGE, wait_value };

	draw_bars(out, page, &bars);
}

static double
path_value(const struct page *page, int32_t rank, size_t kind)
{
	return seconds(page->path_ranks[rank].ns[kind]);
}

static void
draw_path_bars(struct text *out, const struct page *page)
{
	static const struct colour pieces[KINDS] = { { "a1", "computation" }, { "a2", "MPI" },
	    { "a3", "transfer" }, { "a6", "start and end" } };
	static const struct bars bars = { "path", "The critical path by rank and kind",
	    pieces, KINDS, path_value };

	draw_bars(out, page, &bars);
}

static bool
has_path(const struct page *page)
{
	return page->path.segments > 0;
}

/* ---- communication matrix ------------------------------------------------------------------ */

static bool
has_messages(const struct page *page)
{
	for (size_t i = 0; i < page->matrix.side * page->matrix.side; i++)
		if (page->matrix.messages[i] > 0)
			return true;
	return false;
}

static void
bytes_label(double bytes, char *text, size_t size)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	int u = 0;

	for (; bytes >= 1000 && u < 4; u++)
		bytes /= 1000;
	snprintf(text, size, "%.3g %s", bytes, units[u]);
}

static void
draw_matrix_cells(struct text *out, const struct matrix *m, double cell, double top_bytes)
{
	char tip[160], from[48], to[48], size[24];

	for (size_t i = 0; i < m->side * m->side; i++) {
		int shade = 0;
		char class[8];

		if (m->messages[i] == 0)
			continue;
		shade = (int)(6 -
		    log2(top_bytes / (double)(m->bytes[i] > 0 ? m->bytes[i] : 1)) / 2);
		snprintf(class, sizeof class, "m%d", shade < 1 ? 1 : shade > 6 ? 6 : shade);
		group_label(m->ranks, m->side, i / m->side, from, sizeof from);
		group_label(m->ranks, m->side, i % m->side, to, sizeof to);
		bytes_label((double)m->bytes[i], size, sizeof size);
		snprintf(tip, sizeof tip, "%s to %s: %s in %llu messages", from, to, size,
		    (unsigned long long)m->messages[i]);
		draw_box(out, class, LEFT + cell * (double)(i % m->side),
		    TOP + cell * (double)(i / m->side), cell * 0.94, cell * 0.94,
		    m->side <= 32 ? tip : NULL);
	}
}

static void
draw_matrix(struct text *out, const struct page *page)
{
	struct colour shades[] = { { .class = "m6" }, { .class = "m5" }, { .class = "m4" },
	    { .class = "m3" }, { .class = "m2" }, { .class = "m1" } };
	const struct matrix *m = &page->matrix;
	const double cell = m->side <= 8 ? 36 : 400.0 / (double)m->side;
	const double size = cell * (double)m->side;
	size_t most = 0, step = (size_t)ceil(13 / cell), across;
	char names[6][40], text[200], from[48], to[48], label[32];

	for (size_t i = 0; i < m->side * m->side; i++)
		most = m->bytes[i] > m->bytes[most] ? i : most;
	group_label(m->ranks, m->side, most / m->side, from, sizeof from);
	group_label(m->ranks, m->side, most % m->side, to, sizeof to);
	bytes_label((double)m->bytes[most], label, sizeof label);
	snprintf(text, sizeof text, "Most bytes go from rank %s to rank %s: %s in %llu messages.",
	    from, to, label, (unsigned long long)m->messages[most]);
	draw_begin(out, "matrix", WIDTH, (int)(TOP + size) + 44,
	    "Who sends how much to whom", text);
	for (int i = 0; i < 6; i++) {
		bytes_label((double)m->bytes[most] / pow(4, i + (i < 5)), label, sizeof label);
		snprintf(names[i], sizeof names[i], i < 5 ? "from %s" : "less", label);
		shades[i].name = names[i];
	}
	draw_legend(out, WIDTH, shades, 6, 0x3f);
	draw_matrix_cells(out, m, cell, (double)(m->bytes[most] > 0 ? m->bytes[most] : 1));
	group_label(m->ranks, m->side, m->side - 1, label, sizeof label);
	across = label_step(cell, label);
	for (size_t i = 0; i < m->side; i++) {
		group_label(m->ranks, m->side, i, label, sizeof label);
		if (i % step == 0)
			draw_label(out, LEFT - 6, TOP + cell * ((double)i + 0.5) + 4, "end", label);
		if (i % across == 0)
			draw_label(out, LEFT + cell * ((double)i + 0.5), TOP + size + 15,
			    "middle", label);
	}
	draw_label(out, 8, TOP + size + 32, "start", "receiving rank; senders at the left");
	draw_end(out);
}

/* ---- gains and efficiencies ---------------------------------------------------------------- */

static bool
has_gains(const struct page *page)
{
	return page->gain_count > 0;
}

void
draw_row(struct text *out, int i, const char *class, const char *name, double share, double full,
    const char *number)
{
	enum { SHOWN = 60, NUMBER = 70 };
	const double y = TOP + 40 * i, right = 8 + (WIDTH - 8 - NUMBER) * share / full;
	char label[SHOWN + 4];

	draw_label(out, 8, y + 10, "start", cut_label(name, SHOWN, label));
	draw_box(out, class, 8, y + 16, right - 8, 11, name);
	draw_label(out, right + 6, y + 26, "start", number);
}

static void
draw_gains(struct text *out, const struct page *page)
{
	const size_t count = page->gain_count < SHOWN_GAINS ? page->gain_count : SHOWN_GAINS;
	const struct site_gain *gains = page->gains;
	char title[160], where[LABEL], number[64];

	snprintf(title, sizeof title, "What the run would gain if all up to and in one place took "
	    "%d %% less time", page->percent);
	draw_begin(out, "gains", WIDTH, TOP + 40 * (int)count + 8, title, site_label(page,
	    gains[0].site, where));
	snprintf(number, sizeof number, "if all up to and in a place took %d %% less time",
	    page->percent);
	draw_label(out, 8, 20, "start", number);
	for (size_t i = 0; i < count; i++) {
		const double share = path_share(page, gains[i].gain_ns);

		snprintf(number, sizeof number, "%.2f %%", 100 * share);
		draw_row(out, (int)i, "a2", site_label(page, gains[i].site, where),
		    fmax(share, 0), fmax(path_share(page, gains[0].gain_ns), 1e-9), number);
	}
	draw_end(out);
}

static void
draw_one_efficiency(struct text *out, const struct page *page)
{
	const struct efficiency e = efficiency_of(&page->im, false);
	const char *names[5] = { "parallel efficiency = load balance x communication",
	    "load balance", "communication efficiency", "serialisation (ideal network)",
	    "transfer (ideal network)" };
	double values[5] = { e.parallel, e.load_balance, e.communication, NAN, NAN };
	int count = 3;
	char number[32], text[128];

	if (page->ideal != NULL) {
		const struct ideal_efficiency i = ideal_efficiency_of(&page->im,
		    page->ideal, false);

		values[3] = i.serialisation;
		values[4] = i.transfer;
		count = 5;
	}
	snprintf(text, sizeof text, "Parallel efficiency %.1f %%.", 100 * e.parallel);
	draw_begin(out, "efficiency", WIDTH, TOP + 40 * count + 8,
	    "Efficiencies as POP defines them", text);
	draw_label(out, 8, 20, "start",
	    "efficiencies as POP defines them; 100 % is as good as can be");
	for (int i = 0; i < count; i++)
		if (isfinite(values[i])) {
			snprintf(number, sizeof number, "%.1f %%", 100 * values[i]);
			draw_row(out, i, i == 0 ? "a5" : "a2", names[i], values[i],
			    fmax(1, values[i]), number);
		}
	draw_end(out);
}

static bool
has_efficiency(const struct page *page)
{
	return isfinite(efficiency_of(&page->im, false).parallel);
}

/* Over several runs: lines against the number of ranks. */
static void
draw_efficiencies(struct text *out, const struct page *page)
{
	static const struct colour curves[4] = { { "a5", "parallel" }, { "a2", "load balance" },
	    { "a3", "communication" }, { "a7", "computation scaling" } };
	const struct times *runs = page->runs;
	const double low = log2(runs[0].ranks), high = log2(runs[page->run_count - 1].ranks);
	const double height = 220, width = WIDTH - LEFT - RIGHT - 40;
	char label[48];

	draw_begin(out, "efficiency", WIDTH, (int)(TOP + height) + 40, "Efficiencies of several "
	    "runs, by ranks", "Each against the smallest run, as POP defines them.");
	draw_legend(out, WIDTH, curves, 4, 0xf);
	for (int i = 0; i <= 5; i++) {
		snprintf(label, sizeof label, "%d %%", 20 * i);
		draw_mark(out, WIDTH, TOP + height * (1 - 0.2 * i), label);
	}
	for (int k = 0; k < 4; k++)
		for (size_t i = 0; i < page->run_count; i++) {
			const struct efficiency *e = &runs[i].of;
			const double values[4] = { e->parallel, e->load_balance, e->communication,
				runs[i].computation_scaling };
			double x = LEFT + 20 +
			    (high > low ? width * (log2(runs[i].ranks) - low) / (high - low) : 0);

			text_print(out, i == 0 ? "<path class=\"%s s\" stroke-width=\"2\" "
			    "d=\"M%.1f %.1f" : "%.0sL%.1f %.1f", curves[k].class, x,
			    TOP + height * (1 - fmin(values[k], 1.1)));
			if (i + 1 == page->run_count)
				text_put(out, "\"/>\n");
		}
	for (size_t i = 0; i < page->run_count; i++) {
		snprintf(label, sizeof label, "%d", (int)runs[i].ranks);
		draw_label(out, LEFT + 20 +
		    (high > low ? width * (log2(runs[i].ranks) - low) / (high - low) : 0),
		    TOP + height + 15, "middle", label);
	}
	draw_label(out, WIDTH / 2, TOP + height + 32, "middle", "ranks");
	draw_end(out);
}

static void
draw_efficiency(struct text *out, const struct page *page)
{
	(page->run_count > 1 ? draw_efficiencies : draw_one_efficiency)(out, page);
}

static bool
has_beside(const struct page *page)
{
	return page->beside.svg != NULL;
}

static bool
has_monitor(const struct page *page)
{
	return page->monitor.count > 0;
}

const struct figure figures[] = {
	[TIMELINE_FIGURE] = { "timeline", "Timeline", draw_timeline, NULL, true },
	[BESIDE_FIGURE] = { "beside", "Timelines of two runs", draw_beside, has_beside, true },
	{ "steps", "Critical path by step", draw_by_steps, has_steps, true },
	{ "regions", "Critical path by region", draw_by_regions, has_regions, false },
	{ "path", "Critical path by rank", draw_path_bars, has_path, false },
	{ "waits", "Waits by rank", draw_waits, NULL, false },
	{ "gains", "What would be gained", draw_gains, has_gains, false },
	{ "efficiency", "Efficiencies", draw_efficiency, has_efficiency, false },
	{ "monitor", "Transfer efficiency over time", draw_monitor, has_monitor, true },
	{ "matrix", "Communication", draw_matrix, has_messages, false },
};
const size_t figure_count = sizeof figures / sizeof *figures;
