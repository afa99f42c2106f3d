/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computation, calls, waits and delays by section of the run. Each time is cut where the sections
 * of its rank begin, so the sums of all sections are those of the run. A delay counts in the
 * section of the waits that it causes. Memory: 150 bytes for each section, and 16 bytes for each
 * rank and section that some rank has not left.
 */
#include <stdlib.h>

#include "../base/run/sections.h"
#include "report.h"

enum { TOLD = 20 };

struct section_sums {
	struct section_row row;
	int64_t compute_ns, mpi_ns, wait_ns;	/* of all ranks; waits are part of MPI */
	int64_t rank, rank_ns;			/* that computes most */
	double others_ns;			/* mean computation of the others */
	int64_t late;				/* the rank whose delays cost most; -1: none */
	double cost_ns, late_ns;		/* of all delays; of its own */
};

struct rank_sums {
	int64_t compute_ns;
	double cost_ns;
};

struct open_sums {
	uint32_t section;
	struct rank_sums *ranks;
};

struct by_section {
	struct observer observer;		/* first */
	struct sections sections;
	struct section_sums *sums;		/* by section */
	size_t sums_capacity;
	struct open_sums *open;
	size_t open_count, open_capacity;
	struct account *accounts;		/* by location */
	const struct definitions *known;
	uint32_t last;				/* section of the call just seen */
};

#define SUMS(member) FIELD(struct section_sums, member)
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
	STEP_FIELDS(struct section_sums, SUM_FIELDS),
	FIELDS_END
};
static const struct field region_fields[] = {
	REGION_FIELDS(struct section_sums, SUM_FIELDS),
	FIELDS_END
};

static struct section_sums *
sums_of(struct by_section *by, uint32_t section)
{
	return AT(by->sums, by->sums_capacity, section);
}

static struct rank_sums *
ranks_of(struct by_section *by, uint32_t section)
{
	struct open_sums *open;

	for (size_t i = by->open_count; i-- > 0;)
		if (by->open[i].section == section)
			return by->open[i].ranks;
	open = APPEND(by->open, by->open_count, by->open_capacity);
	open->section = section;
	open->ranks = zalloc((size_t)by->known->ranks, sizeof *open->ranks);
	return open->ranks;
}

static void
close_sums(struct by_section *by, const struct open_sums *open)
{
	struct section_sums *sums = sums_of(by, open->section);
	const int32_t ranks = by->known->ranks;

	for (int32_t r = 0; r < ranks; r++) {
		const struct rank_sums *of = &open->ranks[r];

		if (of->compute_ns > sums->rank_ns) {
			sums->rank = r;
			sums->rank_ns = of->compute_ns;
		}
		if (of->cost_ns > sums->late_ns) {
			sums->late = r;
			sums->late_ns = of->cost_ns;
		}
		sums->cost_ns += of->cost_ns;
	}
	if (ranks > 1)
		sums->others_ns = (double)(sums->compute_ns - sums->rank_ns) / (ranks - 1);
	free(open->ranks);
}

static void
see_delay(struct observer *observer, uint32_t key, int32_t rank, double cost_ns)
{
	struct by_section *by = (struct by_section *)(void *)observer;

	(void)key;
	ranks_of(by, by->last)[rank].cost_ns += cost_ns;
}

static void
see_call(struct observer *observer, struct imbalance *im, uint32_t location, const struct row *row,
    const struct wait *waits, int count)
{
	struct by_section *by = (struct by_section *)(void *)observer;
	struct account *account = &by->accounts[location];
	const int32_t rank = im->graph.known.location_rank[location];
	struct section_cut cut = section_cut(location, 0, account->until_ns, row->enter_ns);

	while (account->began && section_next(&by->sections, &cut)) {
		sums_of(by, cut.section)->compute_ns += cut.to_ns - cut.from_ns;
		ranks_of(by, cut.section)[rank].compute_ns += cut.to_ns - cut.from_ns;
	}
	cut = section_cut(location, 0, row->enter_ns, row->leave_ns);
	while (section_next(&by->sections, &cut)) {
		sums_of(by, cut.section)->mpi_ns += cut.to_ns - cut.from_ns;
		by->last = cut.section;
	}
	for (int i = 0; i < count; i++) {
		cut = section_cut(location, 0, waits[i].from_ns, waits[i].to_ns);
		while (section_next(&by->sections, &cut))
			sums_of(by, cut.section)->wait_ns += cut.to_ns - cut.from_ns;
	}
	account->until_ns = row->leave_ns;
	account->began = true;
}

/* Closes the sections that no rank is in any more. */
static void
close_sections(struct by_section *by)
{
	int64_t until_ns = INT64_MAX;
	size_t kept = 0;
	uint32_t oldest;

	for (uint32_t l = 0; l < by->known->location_count; l++)
		if (by->accounts[l].until_ns < until_ns)
			until_ns = by->accounts[l].until_ns;
	oldest = sections_forget(&by->sections, until_ns);
	if (by->sections.regions)
		return;
	for (size_t i = 0; i < by->open_count; i++)
		if (by->open[i].section > 0 && by->open[i].section < oldest)
			close_sums(by, &by->open[i]);
		else
			by->open[kept++] = by->open[i];
	by->open_count = kept;
}

static void
see_message(struct observer *observer, struct imbalance *im, const struct message *message,
    const struct calls *calls)
{
	struct by_section *by = (struct by_section *)(void *)observer;

	by->known = &im->graph.known;
	if (is_kind(message, "run"))
		by->accounts = zalloc(by->known->location_count, sizeof *by->accounts);
	sections_take(&by->sections, by->known, im->graph.in, message, calls);
	if (is_kind(message, "sync") || is_kind(message, "settled"))
		close_sections(by);
}

ORDER(by_wait, struct section_sums, MOST(wait_ns) BY(row.section))

static void
print(struct text *out, struct by_section *by, enum form form, bool all)
{
	const bool regions = by->sections.regions;
	const struct field *fields = regions ? region_fields : step_fields;
	const size_t count = by->sections.count;
	struct json json;

	if (form == CSV) {
		csv_rows(out, fields, by->sums, count, sizeof *by->sums);
	} else if (form == JSON) {
		json_begin(&json, out);
		json_begin_object(&json, NULL);
		json_seconds(&json, "run_s", by->known->run_ns);
		if (!regions)
			sections_json(&json, &by->sections);
		json_rows(&json, regions ? "regions" : "sections", fields, by->sums,
		    count, sizeof *by->sums);
		json_end_object(&json);
		json_end_line(&json);
	} else {
		if (!regions)
			sections_text(out, &by->sections);
		text_char(out, '\n');
		SORT(by->sums, count, by_wait);
		table_first(out, fields, by->sums, count, sizeof *by->sums, all ? SIZE_MAX : TOLD);
	}
}

void
print_sections(struct imbalance *im, const char *file, bool regions, uint64_t steps, enum form form,
    bool all)
{
	static struct text out;			/* large for a stack */
	static struct by_section by = { .observer = { .message = see_message, .call = see_call,
	    .delay = see_delay } };

	if (regions)
		sections_by_regions(&by.sections);
	else
		sections_by_steps(&by.sections, file, steps);
	im->observer = &by.observer;
	read_graph(im, file);
	for (size_t i = 0; i < by.open_count; i++)
		close_sums(&by, &by.open[i]);
	sections_name(&by.sections, by.known);
	for (uint32_t i = 0; i < by.sections.count; i++) {
		struct section_sums *sums = sums_of(&by, i);

		sums->row = section_row(&by.sections, i);
		if (sums->late_ns <= 0)
			sums->late = -1;
	}
	text_begin(&out, stdout, NULL);
	print(&out, &by, form, all);
	text_flush(&out);
}
