/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_SHOWN = 8, HEIGHT = 76, GAP_BELOW = 26 };

/* ---- reading ------------------------------------------------------------------------------ */

static void
take_pairs(struct monitor *m, struct reader *in, const struct message *message)
{
	int64_t rank, *recorded, *simulated;
	struct monitored *at = NULL;	/* there are enough */
	size_t n;

	if (body_int(in, message, "rank", 0, INT32_MAX, &rank) < 0 ||
	    body_count(in, message, "count", 0, UINT32_MAX, "end", &n) < 0)
		die_input(in);
	recorded = zalloc(n, sizeof *recorded);
	simulated = zalloc(n, sizeof *simulated);
	if (body_column(in, message, "recorded_end", n, recorded) < 0 ||
	    body_column(in, message, "end", n, simulated) < 0)
		die_input(in);
	if (m->count > 0 && m->ranks[m->count - 1].rank == (int32_t)rank)
		at = &m->ranks[m->count - 1];
	else if (m->count < MOST_SHOWN) {
		at = APPEND(m->ranks, m->count, m->capacity);
		at->rank = (int32_t)rank;
	}
	for (size_t i = 0; at != NULL && i < n; i++)
		if (recorded[i] > 0 && recorded[i] <= m->run_ns && simulated[i] >= 0) {
			size_t column = (size_t)((double)recorded[i] / (double)m->run_ns *
			    MONITOR_COLUMNS);

			column = column < MONITOR_COLUMNS ? column : MONITOR_COLUMNS - 1;
			at->recorded_ns[column] = recorded[i];
			at->simulated_ns[column] = simulated[i];
		}
	free(recorded);
	free(simulated);
}

static double
float_of(struct reader *in, const struct message *message, const char *key)
{
	const msgpack_object *value = body_get(message, key);

	if (value == NULL ||
	    (value->type != MSGPACK_OBJECT_FLOAT64 && value->type != MSGPACK_OBJECT_FLOAT32))
		die_message(in, message, "region: %s is missing or no float", key);
	return value->via.f64;
}

static void
take_phase(struct monitor *m, struct reader *in, const struct message *message)
{
	int64_t rank, begin_ns, end_ns;

	if (body_int(in, message, "rank", 0, INT32_MAX, &rank) < 0 ||
	    body_int(in, message, "begin_ns", 0, INT64_MAX, &begin_ns) < 0 ||
	    body_int(in, message, "end_ns", begin_ns, INT64_MAX, &end_ns) < 0)
		die_input(in);
	*APPEND(m->phases, m->phase_count, m->phase_capacity) = (struct phase){ (int32_t)rank,
	    begin_ns, end_ns, float_of(in, message, "transfer_efficiency"), float_of(in, message,
	    "computing") };
}

void
monitor_read(struct monitor *m, const char *file, int64_t run_ns)
{
	struct progress progress = { 0 };
	struct message message;
	struct reader *in;

	m->run_ns = run_ns > 0 ? run_ns : 1;
	if (reader_open(&in, file, READ_STREAM) < 0)
		die_input(in);
	while (progress_next(&progress, in, &message))
		if (is_kind(&message, "monitor"))
			take_pairs(m, in, &message);
		else if (is_kind(&message, "region"))
			take_phase(m, in, &message);
	reader_close(in);
}

/* ---- drawing ------------------------------------------------------------------------------ */

static double
x_of(const struct monitor *m, double ns)
{
	return LEFT + (WIDE - LEFT - RIGHT) * ns / (double)m->run_ns;
}

static double
y_of(double top, double efficiency)
{
	return top + HEIGHT * (1 - fmin(fmax(efficiency, 0), 1.2) / 1.2);
}

static void
draw_phases(struct text *out, const struct monitor *m, int32_t rank, double top)
{
	char tip[160];

	for (const struct phase *p = m->phases; p < m->phases + m->phase_count; p++) {
		const double left = x_of(m, (double)p->begin_ns),
		    right = x_of(m, fmin((double)p->end_ns, (double)m->run_ns));

		if (p->rank != rank)
			continue;
		snprintf(tip, sizeof tip, "phase from %.6g s to %.6g s: transfer efficiency %.1f "
		    "%%, computing %.1f %%", seconds(p->begin_ns), seconds(p->end_ns),
		    100 * p->efficiency, 100 * p->computing);
		draw_box(out, "a1", left, y_of(top, p->efficiency), right - left,
		    top + HEIGHT - y_of(top, p->efficiency), tip);
		draw_line(out, "grid", left, top, left, top + HEIGHT);
	}
}

/* LOCAL: per column; else since the beginning of the run. */
static void
draw_curve(struct text *out, const struct monitor *m, const struct monitored *rank,
    double top, bool local)
{
	int64_t last_recorded = 0, last_simulated = 0;
	bool any = false;

	text_print(out, "<path class=\"%s s\" stroke-width=\"%s\" d=\"", local ? "a3" : "a5",
	    local ? "0.8" : "2.2");
	for (size_t c = 0; c < MONITOR_COLUMNS; c++) {
		const int64_t recorded = rank->recorded_ns[c] - (local ? last_recorded : 0);
		const int64_t simulated = rank->simulated_ns[c] - (local ? last_simulated : 0);

		if (rank->recorded_ns[c] == 0 || recorded <= 0)
			continue;
		text_print(out, "%c%.1f %.1f", any ? 'L' : 'M', x_of(m,
		    (double)rank->recorded_ns[c]), y_of(top, (double)simulated / (double)recorded));
		last_recorded = rank->recorded_ns[c];
		last_simulated = rank->simulated_ns[c];
		any = true;
	}
	text_put(out, "\"/>\n");
}

void
draw_monitor(struct text *out, const struct page *page)
{
	static const struct colour shown[3] = { { "a1", "phase" }, { "a3", "transfer efficiency "
	    "from one moment to the next" }, { "a5", "since the beginning" } };
	const struct monitor *m = &page->monitor;
	const double bottom = TOP + (double)m->count * (HEIGHT + GAP_BELOW) - GAP_BELOW;
	char label[48];

	draw_begin(out, "monitor", WIDE, (int)bottom + 40, "Transfer efficiency over time",
	    "The time that the run would take on the replayed network against that recorded, at each rank.");
	draw_legend(out, WIDE, shown, 3, m->phase_count > 0 ? 7 : 6);
	for (size_t i = 0; i < m->count; i++) {
		const double top = TOP + (double)i * (HEIGHT + GAP_BELOW);

		draw_phases(out, m, m->ranks[i].rank, top);
		for (int k = 0; k <= 2; k++) {
			snprintf(label, sizeof label, "%d %%", 50 * k);
			draw_mark(out, WIDE, y_of(top, 0.5 * k), label);
		}
		draw_curve(out, m, &m->ranks[i], top, true);
		draw_curve(out, m, &m->ranks[i], top, false);
		snprintf(label, sizeof label, "rank %d", (int)m->ranks[i].rank);
		draw_label(out, WIDE - RIGHT, top - 4, "end", label);
	}
	draw_time_axis(out, seconds(m->run_ns), bottom, bottom + 4);
	draw_end(out);
}
