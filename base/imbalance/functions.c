/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>

#include "../waits/counters.h"
#include "../waits/hybrid.h"
#include "imbalance.h"

/*
 * A function: the cost of its delays to others, or its excess computation before a call compared
 * with other ranks.
 */
struct function_line {
	const char *what, *function, *file, *where;
	const char *in;			/* of time blocked: the function; NULL: unknown */
	double cost_ns, error_ns, slow_ns, others_ns, more_ns;	/* NaN: does not apply */
	int32_t rank;			/* negative, likewise */
	int64_t samples;
};
#define LINE(member) FIELD(struct function_line, member)
#define NS(member) LINE(member), .scale = 1e-9

static const struct field data_fields[] = {
	{ "what", LINE(what), .csv = PLAIN },
	{ "function", LINE(function), IN_DATA },
	{ "in", LINE(in), .json = PLAIN, .optional = true },
	{ "file", LINE(file), IN_DATA },
	{ "cost_s", NS(cost_ns), .csv = "%.9f", .json = "%.9f", .optional = true },
	{ "standard_error_s", NS(error_ns), .csv = "%.9f" },
	{ "where", LINE(where), .csv = PLAIN },
	{ "rank", LINE(rank), .csv = PLAIN, .known = UNLESS_NEGATIVE },
	{ "slow_s", NS(slow_ns), .csv = "%.9f", .json = "%.9f", .optional = true },
	{ "others_s", NS(others_ns), .csv = "%.9f", .json = "%.9f", .optional = true },
	{ "more_s", NS(more_ns), .csv = "%.9f", .json = "%.9f", .optional = true },
	{ "standard_error_s", NS(error_ns), .json = "%.9f" },
	{ "samples", LINE(samples), IN_DATA, .known = UNLESS_NEGATIVE, .optional = true },
	{ "in", LINE(in), .csv = PLAIN },
	FIELDS_END
};
static const struct field cost_fields[] = {
	{ "cost_s", LINE(cost_ns), IN_SECONDS },
	{ "error_s", LINE(error_ns), IN_SECONDS },
	{ "function whose delays others spent waiting for", LINE(function), .text = PLAIN },
	FIELDS_END
};
static const struct field excess_fields[] = {
	{ "more_s", LINE(more_ns), IN_SECONDS },
	{ "error_s", LINE(error_ns), IN_SECONDS },
	{ "slow_s", LINE(slow_ns), IN_SECONDS },
	{ "others_s", LINE(others_ns), IN_SECONDS },
	{ "rank", LINE(rank), IN_ALL },
	{ "function that takes longer there than on the other ranks", LINE(where), .text = PLAIN },
	FIELDS_END
};

static struct function_line
cost_line(const struct by_function *by, size_t i)
{
	const struct function_cost *c = &by->costs[i];

	return (struct function_line){ "delay", by->names[c->function].name,
	    by->names[c->function].file, NULL, by->names[c->function].in, c->cost_ns, c->error_ns,
	    NAN, NAN, NAN, -1, -1 };
}

static struct function_line
excess_line(const struct by_function *by, const struct uneven *u, size_t k)
{
	const struct excess *e = &u->functions[k];

	return (struct function_line){ "compute", by->names[e->function].name,
	    by->names[e->function].file, u->where, by->names[e->function].in, NAN, e->error_ns,
	    (double)e->slow_ns, e->others_ns, (double)e->slow_ns - e->others_ns, u->rank,
	    (int64_t)e->samples };
}

/* ---- text ---- */

/* The excess of the slowest rank over the others. */
static void
print_excess(struct text *out, const struct by_function *by, size_t sites, size_t functions)
{
	struct table_writer table;
	char text[2048], name[512];

	text_char(out, '\n');
	table_begin(&table, out, NULL);
	table_head(&table, excess_fields);
	for (size_t i = 0; i < by->site_count && i < sites; i++) {
		const struct uneven *u = &by->sites[i];

		for (size_t k = 0; k < u->count && k < functions; k++) {
			struct function_line line = excess_line(by, u, k);

			if (line.more_ns <= 0)
				break;
			snprintf(text, sizeof text, "%s, in compute up to %s", function_text(
			    &by->names[u->functions[k].function], name, sizeof name), u->where);
			line.where = text;
			table_row(&table, excess_fields, &line);
		}
	}
	table_end(&table);
}

/* ---- counters, if samples have them -------------------------------------------------- */

#define COUNTS(member) FIELD(struct counter_line, member)
#define ACROSS(counter) COUNTS(across[COUNT_##counter]), .known = UNLESS_NEGATIVE, .optional = true
static const struct field rank_count_fields[] = {
	{ "rank", COUNTS(rank), .text = PLAIN, .json = PLAIN },
	SHOWN_COUNTS(struct counter_line, counts),
	{ "counted_share", COUNTS(share), .text = "%.4f", .json = "%.6f" },
	{ "across_task_clock_s", ACROSS(task_clock), .json = "%.9f", .scale = 1e-9 },
	{ "across_page_faults", ACROSS(page_faults), .json = PLAIN },
	{ "across_migrations", ACROSS(migrations), .json = PLAIN },
	{ "across_instructions", ACROSS(instructions), .json = PLAIN },
	{ "across_cycles", ACROSS(cycles), .json = PLAIN },
	FIELDS_END
};
static const struct field function_count_fields[] = {
	{ "rank", COUNTS(rank), .text = PLAIN, .json = PLAIN },
	{ "function", COUNTS(function), .json = PLAIN }, { "file", COUNTS(file), .json = PLAIN },
	SHOWN_COUNTS(struct counter_line, counts),
	{ "counted between two samples in", COUNTS(function), .text = PLAIN }, FIELDS_END
};

#define PRODUCT(member) FIELD(struct product, member)
#define RATIO(name, member) { name "_ratio", PRODUCT(member), .json = "%.6f", .optional = true }
static const struct field product_fields[] = {
	{ "rank", PRODUCT(rank), .json = PLAIN },
	RATIO("compute", compute), RATIO("on_core", on_core), RATIO("instructions", instructions),
	RATIO("cycles_per_instruction", cycles_per_instruction), RATIO("clock", clock),
	{ "blocked_more_s", PRODUCT(blocked_ns), .json = "%.9f", .scale = 1e-9 },
	{ "preempted_more_s", PRODUCT(preempted_ns), .json = "%.9f", .scale = 1e-9 },
	{ "unknown_more_s", PRODUCT(unknown_ns), .json = "%.9f", .scale = 1e-9 },
	FIELDS_END
};

static void
lines_text(struct text *out, const struct field *fields, const struct counter_line *lines,
    size_t count, size_t most)
{
	text_char(out, '\n');
	table_rows(out, fields, lines, count < most ? count : most, sizeof *lines);
}

static void
counters_text(struct text *out, const struct imbalance *im, const struct by_function *by, bool all)
{
	struct counters found;
	struct product p;
	char line[512];

	if (!counters_find(im, by, &found))
		return;
	lines_text(out, rank_count_fields, found.ranks, (size_t)found.rank_count,
	    all ? SIZE_MAX : 16);
	counters_say(&found, line, sizeof line);
	text_line(out, "%s", line);
	if (counters_product(by, &found, &p)) {
		product_say(&found, &p, line, sizeof line);
		text_line(out, "%s", line);
	}
	lines_text(out, function_count_fields, found.functions, found.function_count,
	    all ? SIZE_MAX : 10);
	counters_free(&found);
}

static void
counters_json(struct json *out, const struct imbalance *im, const struct by_function *by)
{
	struct counters found;
	struct product p;

	if (!counters_find(im, by, &found))
		return;
	json_break(out);
	json_begin_object(out, "counters");
	json_begin_array(out, "none_of");
	for (int c = 0; c < COUNTERS; c++)
		if (!found.known[c])
			json_text(out, NULL, counter_names[c]);
	json_end_array(out);
	json_rows(out, "by_rank", rank_count_fields, found.ranks, (size_t)found.rank_count,
	    sizeof *found.ranks);
	if (counters_product(by, &found, &p))
		json_row(out, "slowest", product_fields, &p);
	json_rows(out, "by_function", function_count_fields, found.functions, found.function_count,
	    sizeof *found.functions);
	json_end_object(out);
	counters_free(&found);
}

/* ---- by rank, if switches are recorded ----------------------------------------------- */

#define CORE(member) FIELD(struct rank_core, member)
static const struct field core_fields[] = {
	{ "rank", CORE(rank), .text = PLAIN, .json = PLAIN },
	{ "compute_s", CORE(compute_ns), IN_SECONDS },
	{ "on_core_s", CORE(core.on_ns), IN_SECONDS },
	{ "blocked_s", CORE(core.off_ns[OFF_BLOCKED]), IN_SECONDS },
	{ "preempted_s", CORE(core.off_ns[OFF_PREEMPTED]), IN_SECONDS },
	{ "unknown_s", CORE(core.off_ns[OFF_UNKNOWN]), IN_SECONDS },
	{ "threads_mean", CORE(threads_mean), .text = "%.2f", .json = "%.6f" },
	{ "alone_share", CORE(alone_share), .text = "%.4f", .json = "%.6f" },
	FIELDS_END
};

/* The cost to others of the rank's delays. TEXT gets, in SIZE bytes, the most costly reasons. */
static double
rank_reasons(const struct by_function *by, int32_t rank, char *text, size_t size)
{
	double cost_ns = 0;
	size_t used = 0;
	int told = 0;
	char name[256];

	text[0] = '\0';
	for (size_t i = 0; i < by->rank_cost_count; i++) {
		const struct rank_cost *c = &by->rank_costs[i];

		if (c->rank != rank)
			continue;
		cost_ns += c->cost_ns;
		if (told++ < 3 && used < size)
			used += (size_t)snprintf(text + used, size - used, "%s%.6f s %s",
			    told > 1 ? ", " : "", 1e-9 * c->cost_ns,
			    function_text(&by->names[c->function], name, sizeof name));
	}
	return cost_ns;
}

static void
core_table(struct text *out, const struct by_function *by, bool all)
{
	const int32_t shown = all || by->rank_count < 16 ? by->rank_count : 16;
	char reasons[1024];

	if (by->ranks == NULL)
		return;
	text_char(out, '\n');
	table_rows(out, core_fields, by->ranks, (size_t)shown, sizeof *by->ranks);
	text_char(out, '\n');
	for (int32_t r = 0; r < shown; r++) {
		const double cost_ns = rank_reasons(by, r, reasons, sizeof reasons);

		if (cost_ns > 0)
			text_line(out, "rank %d made the others wait %.6f s: %s", (int)r,
			    1e-9 * cost_ns, reasons);
	}
}

void
functions_table(struct text *out, const struct imbalance *im, bool all)
{
	const struct by_function *by = functions_by(im, false, false);
	struct table_writer table;
	char name[512];

	if (by == NULL)
		return;
	text_char(out, '\n');
	text_line(out, "%llu samples: of the ranks' computation, %.6f s, %.2f %% was seen on a "
	    "core", (unsigned long long)by->samples, 1e-9 * (double)by->compute_ns,
	    by->compute_ns > 0 ? 100 * (double)by->core.on_ns / (double)by->compute_ns : 0);
	core_table(out, by, all);
	counters_text(out, im, by, all);
	text_char(out, '\n');
	table_begin(&table, out, NULL);
	table_head(&table, cost_fields);
	for (size_t i = 0; i < by->cost_count && (all || i < 6); i++) {
		struct function_line line = cost_line(by, i);

		line.function = function_text(&by->names[by->costs[i].function], name,
		    sizeof name);
		table_row(&table, cost_fields, &line);
	}
	table_end(&table);
	print_excess(out, by, all ? SIZE_MAX : 4, all ? SIZE_MAX : 4);
}

/* ---- JSON ---- */

static void
put_uneven(struct json *out, const struct by_function *by, const struct uneven *u)
{
	json_break(out);
	json_begin_object(out, NULL);
	json_uint(out, "site", u->site);
	json_text(out, "where", u->where);
	json_int(out, "rank", u->rank);
	json_seconds(out, "slow_s", u->slow_ns);
	json_fixed(out, "others_s", 1e-9 * u->others_ns, 9);
	json_begin_array(out, "functions");
	for (size_t k = 0; k < u->count; k++) {
		const struct function_line line = excess_line(by, u, k);

		json_row(out, NULL, data_fields, &line);
	}
	json_end_array(out);
	json_end_object(out);
}

/* Of all ranks, and of each: whose delays cost others how much, and for which reasons. */
static void
put_off_core(struct json *out, const struct by_function *by)
{
	json_seconds(out, "blocked_s", by->core.off_ns[OFF_BLOCKED]);
	json_seconds(out, "preempted_s", by->core.off_ns[OFF_PREEMPTED]);
	json_seconds(out, "unknown_s", by->core.off_ns[OFF_UNKNOWN]);
	json_rows(out, "by_rank", core_fields, by->ranks, (size_t)by->rank_count,
	    sizeof *by->ranks);
}

static void
put_rank_delays(struct json *out, const struct by_function *by)
{
	json_break(out);
	json_begin_array(out, "delays_by_rank");
	for (size_t i = 0; i < by->rank_cost_count; ) {
		const int32_t rank = by->rank_costs[i].rank;
		double cost_ns = 0;

		for (size_t k = i; k < by->rank_cost_count && by->rank_costs[k].rank == rank; k++)
			cost_ns += by->rank_costs[k].cost_ns;
		json_break(out);
		json_begin_object(out, NULL);
		json_int(out, "rank", rank);
		json_fixed(out, "cost_s", 1e-9 * cost_ns, 9);
		json_begin_array(out, "reasons");
		for (; i < by->rank_cost_count && by->rank_costs[i].rank == rank; i++) {
			const struct sampled_function *f = &by->names[by->rank_costs[i].function];

			json_begin_object(out, NULL);
			json_text(out, "function", f->name);
			if (f->in != NULL)
				json_text(out, "in", f->in);
			if (f->file != NULL)
				json_text(out, "file", f->file);
			json_fixed(out, "cost_s", 1e-9 * by->rank_costs[i].cost_ns, 9);
			json_end_object(out);
		}
		json_end_array(out);
		json_end_object(out);
	}
	json_end_array(out);
}

void
functions_members(struct json *out, const struct imbalance *im)
{
	const struct by_function *by = functions_by(im, false, false);

	if (by == NULL)
		return;
	json_break(out);
	json_begin_object(out, "computation");
	json_seconds(out, "ranks_s", by->compute_ns);
	json_seconds(out, "on_core_s", by->core.on_ns);
	if (by->ranks != NULL)
		put_off_core(out, by);
	json_uint(out, "samples", by->samples);
	json_end_object(out);
	if (by->ranks != NULL)
		put_rank_delays(out, by);
	counters_json(out, im, by);
	json_break(out);
	json_begin_array(out, "delays_by_function");
	for (size_t i = 0; i < by->cost_count; i++) {
		const struct function_line line = cost_line(by, i);

		json_break(out);
		json_row(out, NULL, data_fields, &line);
	}
	json_end_array(out);
	json_break(out);
	json_begin_array(out, "compute_by_function");
	for (size_t i = 0; i < by->site_count; i++)
		put_uneven(out, by, &by->sites[i]);
	json_end_array(out);
}

/* ---- CSV ---- */

void
functions_rows(struct text *text, const struct imbalance *im)
{
	const struct by_function *by = functions_by(im, false, false);
	struct csv csv;

	csv_head(&csv, text, data_fields);
	for (size_t i = 0; by != NULL && i < by->cost_count; i++) {
		const struct function_line line = cost_line(by, i);

		csv_row(&csv, data_fields, &line);
	}
	for (size_t i = 0; by != NULL && i < by->site_count; i++)
		for (size_t k = 0; k < by->sites[i].count; k++) {
			const struct function_line line = excess_line(by, &by->sites[i], k);

			csv_row(&csv, data_fields, &line);
		}
}

void
hybrid_line(struct text *out, const struct imbalance *im)
{
	struct hybrid h;

	if (hybrid_of(im, &h))
		text_line(out, "hybrid efficiencies (POP): parallel %.4f = MPI %.4f x threads "
		    "%.4f; threads = serial %.4f x imbalance %.4f x on a core %.4f%s", h.parallel,
		    h.mpi, h.threads, h.serial, h.imbalance, h.on_core, h.sampled ? "" :
		    "; without samples threads that spin count as useful");
}

void
hybrid_member(struct json *out, const struct imbalance *im)
{
	struct hybrid h;

	json_break(out);
	if (!hybrid_of(im, &h)) {
		json_null(out, "hybrid");
		return;
	}
	json_begin_object(out, "hybrid");
	json_fixed(out, "parallel", h.parallel, 9);
	json_fixed(out, "mpi", h.mpi, 9);
	json_fixed(out, "threads", h.threads, 9);
	json_fixed(out, "serial", h.serial, 9);
	json_fixed(out, "imbalance", h.imbalance, 9);
	json_fixed(out, "on_core", h.on_core, 9);
	json_text(out, "spinning", h.sampled ? "waiting" : "useful");
	json_int(out, "thread_count", h.thread_count);
	json_seconds(out, "outside_mpi_s", h.outside_ns);
	json_seconds(out, "useful_s", h.useful_ns);
	json_seconds(out, "serial_s", h.serial_ns);
	json_seconds(out, "imbalance_s", h.imbalance_ns);
	json_seconds(out, "blocked_s", h.blocked_ns);
	json_seconds(out, "preempted_s", h.preempted_ns);
	json_seconds(out, "unknown_s", h.unknown_ns);
	json_end_object(out);
}
