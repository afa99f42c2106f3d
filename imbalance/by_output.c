/* SPDX-License-Identifier: BSD-3-Clause */
/* A run by step or region, as a table. */
#include "report.h"

enum { TOLD = 20 };

#define SUMS(member) FIELD(struct section_line, member)
#define SUM_FIELDS \
	{ "compute_s", SUMS(compute_ns), IN_SECONDS }, \
	{ "mpi_s", SUMS(mpi_ns), IN_SECONDS }, \
	{ "wait_s", SUMS(wait_ns), IN_SECONDS }, \
	{ "most_computing", SUMS(rank), IN_ALL }, \
	{ "its_compute_s", SUMS(rank_ns), IN_SECONDS }, \
	{ "others_compute_s", SUMS(others_ns), IN_SECONDS }, \
	{ "delay_s", SUMS(cost_ns), IN_SECONDS }, \
	{ "most_delaying", SUMS(late), IN_ALL, .known = UNLESS_NEGATIVE }, \
	{ "its_delay_s", SUMS(late_ns), IN_SECONDS }
static const struct field step_fields[] = {
	STEP_FIELDS(struct section_line, SUM_FIELDS),
	FIELDS_END
};
static const struct field region_fields[] = {
	REGION_FIELDS(struct section_line, SUM_FIELDS),
	FIELDS_END
};

struct section_line
section_line(const struct section_sums *sums, int32_t ranks)
{
	struct section_line line = { .late = -1 };

	for (int32_t r = 0; r < ranks; r++) {
		const struct share *of = &sums->shares[r];

		line.compute_ns += of->ns[COMPUTING];
		line.mpi_ns += of->ns[IN_MPI];
		line.wait_ns += of->ns[WAITING];
		line.cost_ns += of->cost_ns;
		if (of->ns[COMPUTING] > line.rank_ns) {
			line.rank = r;
			line.rank_ns = of->ns[COMPUTING];
		}
		if (of->cost_ns > line.late_ns) {
			line.late = r;
			line.late_ns = of->cost_ns;
		}
	}
	if (ranks > 1)
		line.others_ns = (double)(line.compute_ns - line.rank_ns) / (ranks - 1);
	return line;
}

ORDER(by_wait, struct section_line, MOST(wait_ns) BY(row.section))

void
print_sections(struct by_section *by, bool all)
{
	const bool regions = by->sections.regions;
	const struct field *fields = regions ? region_fields : step_fields;
	const size_t count = by->sections.count;
	struct text *out = &by->text;
	struct json *json = &by->json;

	sections_name(&by->sections, &by->im->graph.known);
	for (size_t i = 0; i < count; i++)
		by->lines[i].row = section_row(&by->sections, (uint32_t)i);
	if (by->form == CSV) {
		csv_rows(out, fields, by->lines, count, sizeof *by->lines);
	} else if (by->form == JSON) {
		json_begin_object(json, NULL);
		json_seconds(json, "run_s", by->im->graph.known.run_ns);
		if (!regions)
			sections_json(json, &by->sections);
		json_rows(json, regions ? "regions" : "sections", fields, by->lines, count,
		    sizeof *by->lines);
		json_end_object(json);
		json_end_line(json);
	} else {
		if (!regions)
			sections_text(out, &by->sections);
		text_char(out, '\n');
		SORT(by->lines, count, by_wait);
		table_first(out, fields, by->lines, count, sizeof *by->lines,
		    all ? SIZE_MAX : TOLD);
	}
}
