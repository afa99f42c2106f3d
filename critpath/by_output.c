/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "critpath.h"

enum { TOLD = 20, SLOW_TOLD = 8 };	/* in text */

#define OF(member) FIELD(struct section_path, member)
#define PATH_FIELDS \
	{ "path_s", OF(path_ns), IN_SECONDS }, \
	{ "start_s", OF(start_ns), .csv = "%.9f", .json = "%.9f", .scale = 1e-9 }, \
	{ "compute_s", OF(ns[COMPUTING]), IN_SECONDS }, \
	{ "blocked_s", OF(ns[BLOCKED]), IN_SECONDS }, \
	{ "preempted_s", OF(ns[PREEMPTED]), IN_SECONDS }, \
	{ "mpi_s", OF(ns[CALLING]), IN_SECONDS }, \
	{ "polls_s", OF(polls_ns), .csv = "%.9f", .json = "%.9f", .scale = 1e-9 }, \
	{ "transfer_s", OF(ns[RECEIVING]), IN_SECONDS }, \
	{ "rank", OF(rank), IN_ALL }, \
	{ "rank_s", OF(rank_ns), IN_SECONDS }, \
	{ "where", OF(where), IN_ALL }, \
	{ "function", OF(function), IN_ALL }
static const struct field step_fields[] = {
	STEP_FIELDS(struct section_path, PATH_FIELDS),
	{ "slow", OF(slow), .csv = PLAIN },
	FIELDS_END
};
static const struct field region_fields[] = {
	REGION_FIELDS(struct section_path, PATH_FIELDS),
	FIELDS_END
};

static const struct field *
fields_of(const struct by_section *by)
{
	return by->sections.regions ? region_fields : step_fields;
}

#define SLOW(member) FIELD(struct slow, member)
static const struct field slow_fields[] = {
	{ "step", SLOW(instance), .json = PLAIN },
	{ "of", SLOW(of), .json = PLAIN },
	{ "times", SLOW(times), .json = "%.3f" },
	{ "extra_s", SLOW(extra_ns), .json = "%.9f", .scale = 1e-9 },
	{ "cause", SLOW(cause_name), .json = PLAIN },
	{ "cause_extra_s", SLOW(cause_ns), .json = "%.9f", .scale = 1e-9 },
	{ "rank", SLOW(rank), .json = PLAIN },
	{ "rank_s", SLOW(ns), .json = "%.9f", .scale = 1e-9 },
	{ "where", SLOW(where), .json = PLAIN },
	{ "function", SLOW(function), .json = PLAIN },
	{ "loop", SLOW(label), .json = PLAIN },
	{ "sentence", SLOW(sentence), .json = PLAIN },
	FIELDS_END
};

#define TREND(member) FIELD(struct trend, member)
static const struct field trend_fields[] = {
	{ "loop", TREND(label), .json = PLAIN },
	{ "steps", TREND(steps), .json = PLAIN },
	{ "slope_s", TREND(slope_ns), .json = "%.12f", .scale = 1e-9 },
	{ "low_s", TREND(low_ns), .json = "%.12f", .scale = 1e-9 },
	{ "high_s", TREND(high_ns), .json = "%.12f", .scale = 1e-9 },
	{ "growth", TREND(growth), .json = "%.6f" },
	FIELDS_END
};

ORDER(longest, struct section_path, MOST(path_ns) BY(row.section))

static void
text_trends(struct text *out, const struct by_section *by)
{
	for (size_t i = 0; i < by->sections.steps.count; i++) {
		struct trend t;

		if (!trend_of(by, i, &t))
			continue;
		if (t.low_ns > 0 || t.high_ns < 0)
			text_line(out, "steps get %s: each by %.3g s (from %.3g to %.3g s, with "
			    "95 %% confidence), %.1f %% from the first to the last",
			    t.slope_ns > 0 ? "longer" : "shorter", 1e-9 * fabs(t.slope_ns),
			    1e-9 * fmin(fabs(t.low_ns), fabs(t.high_ns)),
			    1e-9 * fmax(fabs(t.low_ns), fabs(t.high_ns)), 100 * fabs(t.growth));
		else
			text_line(out, "steps get neither longer nor shorter: between %.3g s less "
			    "and %.3g s more a step, with 95 %% confidence", -1e-9 * t.low_ns,
			    1e-9 * t.high_ns);
	}
}

static void
by_text(struct critpath *c, const struct slow *slow, size_t count)
{
	struct by_section *by = c->by;
	struct text *out = &c->output.text;
	const size_t shown = c->opt.all ? SIZE_MAX : SLOW_TOLD;

	report_head(out, &c->output.report, &c->run.graph.known, NULL);
	if (by->sections.regions)
		text_line(out, by->sections.count > 1 ? "by region, without the regions within it" :
		    "no regions: the program has named none");
	else
		sections_text(out, &by->sections);
	text_trends(out, by);
	for (size_t i = 0; i < count && i < shown; i++)
		text_line(out, "%s", slow[i].sentence);
	if (count > shown)
		text_line(out, "%zu more slow steps: see --all", count - shown);
	text_char(out, '\n');
	SORT(by->paths, by->sections.count, longest);
	table_first(out, fields_of(by), by->paths, by->sections.count, sizeof *by->paths,
	    c->opt.all ? SIZE_MAX : TOLD);
}

static void
by_json(struct critpath *c, const struct slow *slow, size_t count)
{
	const struct by_section *by = c->by;
	struct json *out = &c->output.json;
	struct trend t;

	json_begin_object(out, NULL);
	json_seconds(out, "run_s", c->run.graph.known.run_ns);
	json_seconds(out, "path_s", report_length_ns(&c->output.report));
	if (!by->sections.regions) {
		sections_json(out, &by->sections);
		json_begin_array(out, "trends");
		for (size_t i = 0; i < by->sections.steps.count; i++)
			if (trend_of(by, i, &t))
				json_row(out, NULL, trend_fields, &t);
		json_end_array(out);
		json_rows(out, "slow", slow_fields, slow, count, sizeof *slow);
	}
	json_rows(out, by->sections.regions ? "regions" : "sections", fields_of(by), by->paths,
	    by->sections.count, sizeof *by->paths);
	json_end_object(out);
	json_end_line(out);
}

void
by_print(struct critpath *c)
{
	size_t count;
	struct slow *slow = slow_steps(c->by, &c->run.graph.known, &count);

	for (size_t i = 0; i < count; i++)
		c->by->paths[slow[i].step - c->by->paths].slow = slow[i].sentence;
	if (c->opt.form == TEXT)
		by_text(c, slow, count);
	else if (c->opt.form == JSON)
		by_json(c, slow, count);
	else
		csv_rows(&c->output.text, fields_of(c->by), c->by->paths, c->by->sections.count,
		    sizeof *c->by->paths);
	text_flush(&c->output.text);
	free(slow);
}
