/* SPDX-License-Identifier: BSD-3-Clause */
/* The path by function and by line, for people and scripts: own time, and time with callees. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "critpath.h"
#include "../base/path/report.h"
#include "../base/run/sampled_place.h"
#include "../base/tool/fields.h"
#include "../base/tool/text.h"

static double
share(int64_t ns, int64_t of_ns)
{
	return of_ns > 0 ? (double)ns / (double)of_ns : 0;
}

static int64_t
all_ns(const struct listed *l, uint64_t samples)
{
	return (int64_t)(samples * (uint64_t)l->of->sums.period_ns);
}

/* Of the share of the path, from the number of samples. */
static double
error_of(const struct listed *l, uint64_t samples)
{
	return l->path_ns > 0 ? sampled_error(samples, l->on_path.worth_ns, l->on_path.drawn_ns) /
	    (double)l->path_ns : 0;
}

/* ---- text ---- */

static void
put_name(struct table_writer *table, const struct stack_frame *frame)
{
	if (frame->file != NULL)
		table_format(table, "%s (%s:%d)", frame->name,
		    file_name(frame->file), (int)frame->line);
	else
		table_text(table, frame->name);
	table_end_line(table);
}

/* A part of the path outside functions. */
static void
put_other(struct table_writer *table, const struct listed *l, const char *name,
    int64_t ns, double error)
{
	table_fixed(table, 100 * share(ns, l->path_ns), 2);
	if (error > 0)
		table_fixed(table, 100 * error, 2);
	else
		table_text(table, "");
	table_seconds(table, ns);
	for (int i = 0; i < 3; i++)
		table_text(table, "");
	put_name(table, &(struct stack_frame){ .name = name });
}

/* Parts of the computation outside functions. */
enum { OTHER_ROWS = OFF_REASONS + 1 };
struct other_row {
	const char *name;
	int64_t ns;
	double error;
	bool told;
};

static struct other_row
other_row(const struct listed *l, int i)
{
	const struct on_path *path = &l->on_path;
	const bool switched = l->of->sums.switched;

	if (i == OFF_REASONS)
		return (struct other_row){ on_core_name, path->unsampled_ns, error_of(l,
		    path->samples), switched };
	return (struct other_row){ off_names[i], path->off_ns[i], switched ? 0 : error_of(l,
	    path->samples), switched ? i != OFF_UNKNOWN || path->off_ns[i] > 0 : i == OFF_UNKNOWN };
}

static void
list_text(struct text *out, const struct listed *l, enum by by, size_t shown)
{
	struct table_writer table;

	text_char(out, '\n');
	table_begin(&table, out, by == BY_FUNCTION ?
	    "path_%\terror_%\tpath_s\twith_called_%\tall_%\tall_s\tfunction" :
	    "path_%\terror_%\tpath_s\twith_called_%\tall_%\tall_s\tline");
	for (size_t i = 0; i < l->count && i < shown && l->at[i].samples > 0; i++) {
		const struct function *it = &l->at[i];

		table_fixed(&table, 100 * share(it->path_ns, l->path_ns), 2);
		table_fixed(&table, 100 * error_of(l, it->samples), 2);
		table_seconds(&table, it->path_ns);
		table_fixed(&table, 100 * share(on_path_ns(&l->on_path, it->inclusive),
		    l->path_ns), 2);
		table_fixed(&table, 100 * (double)it->all / (double)l->all, 2);
		table_seconds(&table, all_ns(l, it->all));
		put_name(&table, &it->frame);
	}
	if (by == BY_FUNCTION) {
		for (int i = 0; i < OTHER_ROWS; i++) {
			const struct other_row row = other_row(l, i);

			if (row.told)
				put_other(&table, l, row.name, row.ns, row.error);
		}
		for (int kind = 0; kind < KINDS; kind++)
			if (other_names[kind] != NULL)
				put_other(&table, l, other_names[kind],
				    l->of->sums.path_ns[kind], 0);
	}
	table_end(&table);
}

ORDER(by_inclusive, struct function, MOST(inclusive) COMPARED(functions_by_path(a, b), 0))

/* Functions with callees, outermost first, as they have most. Sorts the list again. */
static void
inclusive_text(struct text *out, struct listed *l, enum by by, size_t shown)
{
	struct table_writer table;
	size_t lines = 0;

	SORT(l->at, l->count, by_inclusive);
	for (size_t i = 0; i < l->count && lines < shown; i++) {
		const struct function *it = &l->at[i];

		if (it->inclusive <= it->samples)
			continue;
		if (lines++ == 0) {
			text_char(out, '\n');
			table_begin(&table, out, by == BY_FUNCTION ?
			    "with_called_%\twith_called_s\tall_%\tfunction, with what it called" :
			    "with_called_%\twith_called_s\tall_%\tline, with what was called there");
		}
		table_fixed(&table, 100 * share(on_path_ns(&l->on_path, it->inclusive),
		    l->path_ns), 2);
		table_seconds(&table, on_path_ns(&l->on_path, it->inclusive));
		table_fixed(&table, 100 * (double)it->all_inclusive / (double)l->all, 2);
		put_name(&table, &it->frame);
	}
	if (lines > 0)
		table_end(&table);
}

/* ---- the path beside a profile of all time ---- */

/* A function's share of the samples on the path and of all, and its rank in each. */
struct beside {
	struct stack_frame frame;	/* line -1: none */
	uint64_t path_rank, all_rank;
	double path, path_error, all, all_error;
	bool on_path;
};

#define BESIDE(member) FIELD(struct beside, member)
static const struct field beside_fields[] = {
	{ "function", BESIDE(frame.name), .json = PLAIN },
	{ "file", BESIDE(frame.file), .json = PLAIN },
	{ "line", BESIDE(frame.line), .json = PLAIN, .known = UNLESS_NEGATIVE },
	{ "path_rank", BESIDE(path_rank), .json = PLAIN },
	{ "all_rank", BESIDE(all_rank), .json = PLAIN },
	{ "share_of_sampled_path", BESIDE(path), .json = PLAIN },
	{ "path_standard_error", BESIDE(path_error), .json = PLAIN },
	{ "all_share", BESIDE(all), .json = PLAIN },
	{ "all_standard_error", BESIDE(all_error), .json = PLAIN },
	{ "on_path", BESIDE(on_path), .json = PLAIN },
	FIELDS_END
};

ORDER(by_all, struct beside, MOST(all) BY(path_rank))

/* The first of a profile first; then the first of the path. */
#define IN_PROFILE(item) ((item)->all > (item)->path)
#define RANK_IN(item) (IN_PROFILE(item) ? (item)->all_rank : (item)->path_rank)
ORDER(by_which, struct beside, COMPARED(IN_PROFILE(b), IN_PROFILE(a))
    COMPARED(RANK_IN(a), RANK_IN(b)))

static double
share_error(double share, uint64_t of)
{
	return sqrt(share * (1 - share) / (double)of);
}

/*
 * Functions with at least 1 % of either, and with less than half or more than twice the share on
 * the path compared to all time, by more than three standard errors.
 */
static struct rows
find_beside(const struct listed *l)
{
	struct beside *list = zalloc(l->count + 1, sizeof *list);
	const uint64_t samples = l->on_path.samples;
	size_t count = 0;

	for (size_t i = 0; i < l->count && samples > 0; i++) {
		const struct function *it = &l->at[i];
		const double path = (double)it->samples / (double)samples,
		    all = (double)it->all / (double)l->all;

		list[i] = (struct beside){ it->frame, i + 1, 0, path, share_error(path, samples),
		    all, share_error(all, l->all), it->samples > 0 };
		if (it->frame.file == NULL)
			list[i].frame.line = -1;
	}
	SORT(list, l->count, by_all);
	for (size_t i = 0; i < l->count && samples > 0; i++) {
		struct beside b = list[i];

		b.all_rank = i + 1;
		if ((b.path >= 0.01 || b.all >= 0.01) &&
		    (b.path < b.all / 2 || b.all < b.path / 2) &&
		    fabs(b.path - b.all) > 3 * hypot(b.path_error, b.all_error))
			list[count++] = b;
	}
	SORT(list, count, by_which);
	return (struct rows){ beside_fields, list, count, sizeof *list };
}

static void
beside_text(struct text *out, const struct listed *l, size_t shown)
{
	struct table_writer table;
	size_t lines[2] = { 0 };
	const struct rows rows = find_beside(l);
	struct beside *list = rows.at;

	text_char(out, '\n');
	table_begin(&table, out, "path_rank\tall_rank\tpath_share_%\tall_share_%\ton the path and "
	    "in all time");
	for (size_t i = 0; i < rows.count; i++) {
		if (lines[list[i].all > list[i].path]++ >= shown)
			continue;
		table_uint(&table, list[i].path_rank);
		table_uint(&table, list[i].all_rank);
		table_fixed(&table, 100 * list[i].path, 2);
		table_fixed(&table, 100 * list[i].all, 2);
		table_format(&table,
		    "%s: %s", list[i].frame.name, !list[i].on_path ? "not on the path" :
		    list[i].all > list[i].path ? "less on the path" : "more on the path");
		table_end_line(&table);
	}
	table_end(&table);
	if (rows.count == 0)
		text_line(out, "no function that makes 1 %% differs by more than a factor of two, "
		    "beyond three standard errors");
	free(list);
}

static void
computation_text(struct text *out, const struct functions *f)
{
	const struct on_path path = functions_on_path(f);
	const unsigned long long samples = path.samples, missing = f->sums.lost;

	if (!f->sums.switched) {
		text_line(out, "computation on the path %.6f s: %llu samples, %.2f %% or %.6f s on "
		    "a core; %.6f s not on a core, or not sampled; %llu samples lost in all",
		    seconds(path.compute_ns), samples, 100 * share(path.on_core_ns,
		    path.compute_ns), seconds(path.on_core_ns), seconds(path.off_ns[OFF_UNKNOWN]),
		    missing);
		return;
	}
	if (f->sums.clock) {
		text_line(out, "computation on the path %.6f s: %.6f s on a core, by the threads' "
		    "own clocks; %.6f s off it, or not timed: the kernel reported no switches",
		    seconds(path.compute_ns), seconds(path.on_core_ns),
		    seconds(path.off_ns[OFF_UNKNOWN]));
		return;
	}
	text_line(out, "computation on the path %.6f s: %.6f s on a core, %.6f s blocked, %.6f s "
	    "preempted, %.6f s unknown; %.2f threads on cores, one alone for %.2f %%; %llu "
	    "samples, %llu records lost in all", seconds(path.compute_ns), seconds(path.on_core_ns),
	    seconds(path.off_ns[OFF_BLOCKED]), seconds(path.off_ns[OFF_PREEMPTED]),
	    seconds(path.off_ns[OFF_UNKNOWN]), share(f->sums.threads_ns, path.compute_ns),
	    100 * share(f->sums.alone_ns, path.compute_ns), samples, missing);
	if (path.awaited_ns > 0)
		text_line(out, "%.6f s of this in threads that the first thread of their rank "
		    "waited for", seconds(path.awaited_ns));
}

/* ---- how waiting for threads was recognised ---- */

struct recognised {
	const char *module, *by;
	uint64_t samples;		/* in all time */
};
static const struct field recognised_fields[] = {
	{ "module", FIELD(struct recognised, module), .json = PLAIN },
	{ "by", FIELD(struct recognised, by), .json = PLAIN },
	{ "samples", FIELD(struct recognised, samples), .json = PLAIN },
	FIELDS_END
};

static struct recognised *
find_recognised(const struct functions *f, const struct definitions *known, size_t *count)
{
	struct recognised *list = NULL;
	size_t places, capacity = 0, k;
	struct sampled *place = functions_places(f, &places);

	*count = 0;
	for (size_t i = 0; i < places; i++) {
		const enum waiting how = waiting_at(known, place[i].site);
		struct recognised one = { .by = how == WAITING_BY_MODULE ? "module" : "function" };

		if (how == NOT_WAITING)
			continue;
		one.module = file_name(known->modules[known->sites[place[i].site].module].path);
		for (k = 0; k < *count && (strcmp(list[k].module, one.module) != 0 ||
		    list[k].by != one.by); k++)
			;
		GROW(list, capacity, *count + 1);
		if (k == *count)
			list[(*count)++] = one;
		list[k].samples += place[i].all;
	}
	free(place);
	return list;
}

static void
recognised_text(struct text *out, const struct functions *f, const struct definitions *known)
{
	size_t count;
	struct recognised *list = find_recognised(f, known, &count);

	for (size_t i = 0; i < count; i++)
		if (list[i].samples > 0)	/* else threads only blocked there */
			text_line(out, "waiting for threads: %llu samples in %s, recognised by its "
			    "%s", (unsigned long long)list[i].samples, list[i].module,
			    list[i].by[0] == 'm' ? "name, as the functions have none" :
			    "functions");
	free(list);
}

/* Writes the first ones as a table, and frees all. */
static void
rows_text(struct text *out, struct rows rows, size_t most)
{
	if (rows.count > 0) {
		text_char(out, '\n');
		table_first(out, rows.fields, rows.at, rows.count, rows.size, most);
	}
	free(rows.at);
}

void
functions_text(struct text *out, const struct functions *f,
    const struct definitions *known, bool all)
{
	const size_t shown = all ? SIZE_MAX : 10;
	struct listed functions, lines;
	struct rows counted;

	if (!f->sums.any)
		return;
	text_char(out, '\n');
	computation_text(out, f);
	recognised_text(out, f, known);
	functions = functions_list(f, known, BY_FUNCTION);
	lines = functions_list(f, known, BY_LINE);
	list_text(out, &functions, BY_FUNCTION, shown);
	rows_text(out, blocked_rows(&functions, known), shown);
	rows_text(out, awaited_rows(&functions, known), shown);
	counted = counted_rows(f, known);
	if (counted.count > shown)	/* without a line for the others */
		counted.count = shown;
	rows_text(out, counted, shown);
	inclusive_text(out, &functions, BY_FUNCTION, shown);
	list_text(out, &lines, BY_LINE, shown);
	inclusive_text(out, &lines, BY_LINE, shown);
	SORT(functions.at, functions.count, functions_by_path);
	beside_text(out, &functions, shown);
	free(functions.at);
	free(lines.at);
}

/* ---- JSON ---- */

/* Of a function, or of a part with INCLUSIVE_NS and no samples. */
static void
put_numbers(struct json *out, const struct listed *l, const struct function *it, int64_t ns,
    int64_t inclusive_ns, double error)
{
	json_break(out);
	json_begin_object(out, NULL);
	json_text(out, "function", it->frame.name);
	if (it->frame.file != NULL) {
		json_text(out, "file", it->frame.file);
		json_int(out, "line", it->frame.line);
	} else {
		json_null(out, "file");
		json_null(out, "line");
	}
	json_seconds(out, "path_s", ns);
	json_double(out, "path_share", share(ns, l->path_ns));
	json_seconds(out, "all_s", all_ns(l, it->all));
	json_double(out, "all_share", (double)it->all / (double)l->all);
	json_double(out, "standard_error", error);
	json_uint(out, "samples", it->samples);
	json_seconds(out, "path_inclusive_s", inclusive_ns);
	json_seconds(out, "all_inclusive_s", all_ns(l, it->all_inclusive));
	json_end_object(out);
}

static void
list_json(struct json *out, const struct listed *l, const char *key)
{
	json_break(out);
	json_begin_array(out, key);
	for (size_t i = 0; i < l->count; i++)
		put_numbers(out, l, &l->at[i], l->at[i].path_ns,
		    on_path_ns(&l->on_path, l->at[i].inclusive), error_of(l, l->at[i].samples));
	/* So that the sum is the path. */
	for (int i = 0; i < OTHER_ROWS; i++) {
		const struct other_row row = other_row(l, i);

		if (row.told)
			put_numbers(out, l, &(struct function){ .frame.name = row.name }, row.ns,
			    row.ns, row.error);
	}
	for (int kind = 0; kind < KINDS; kind++) {
		const int64_t ns = l->of->sums.path_ns[kind];

		if (other_names[kind] != NULL)
			put_numbers(out, l, &(struct function){ .frame.name = other_names[kind] },
			    ns, ns, 0);
	}
	json_end_array(out);
}

/* SOURCE: of the time on a core. Without switches the reasons for time off it are unknown. */
void
computation_json(struct json *out, const struct functions *f, const struct on_path *path)
{
	json_begin_object(out, "computation");
	json_seconds(out, "path_s", path->compute_ns);
	json_seconds(out, "on_core_s", path->on_core_ns);
	if (f->sums.switched) {
		json_seconds(out, "blocked_s", path->off_ns[OFF_BLOCKED]);
		json_seconds(out, "preempted_s", path->off_ns[OFF_PREEMPTED]);
		json_seconds(out, "unknown_s", path->off_ns[OFF_UNKNOWN]);
		json_double(out, "threads_mean", share(f->sums.threads_ns, path->compute_ns));
		json_double(out, "alone_share", share(f->sums.alone_ns, path->compute_ns));
		json_seconds(out, "awaited_s", path->awaited_ns);
		json_text(out, "source", f->sums.clock ? "thread clock" : "switches");
	}
	json_uint(out, "samples", path->samples);
	json_end_object(out);
}

/* Writes them, and frees them. */
static void
put_rows_of(struct json *out, const char *key, struct rows rows)
{
	json_break(out);
	json_rows(out, key, rows.fields, rows.at, rows.count, rows.size);
	free(rows.at);
}

void
functions_json(struct json *out, const struct functions *f, const struct definitions *known)
{
	struct listed functions, lines;
	struct rows counted;
	struct recognised *recognised;
	size_t count;

	if (!f->sums.any)
		return;
	functions = functions_list(f, known, BY_FUNCTION);
	lines = functions_list(f, known, BY_LINE);
	json_break(out);
	computation_json(out, f, &functions.on_path);
	recognised = find_recognised(f, known, &count);
	if (count > 0)
		json_rows(out, "waiting_for_threads", recognised_fields, recognised, count,
		    sizeof *recognised);
	free(recognised);
	list_json(out, &functions, "by_function");
	list_json(out, &lines, "by_line");
	if (f->sums.switched) {
		put_rows_of(out, "blocked", blocked_rows(&functions, known));
		put_rows_of(out, "awaited", awaited_rows(&functions, known));
	}
	counted = counted_rows(f, known);
	if (counted.count > 0)
		put_rows_of(out, "counted", counted);
	put_rows_of(out, "beside_all_time", find_beside(&functions));
	free(functions.at);
	free(lines.at);
}
