/* SPDX-License-Identifier: BSD-3-Clause */
/* The path by function, for people and scripts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "functions.h"
#include "report.h"
#include "../base/tool/file_name.h"

/* A list with what its shares are of. */
struct listed {
	const struct function_sums *sums;
	struct function *at;
	size_t count;
	int64_t path_ns, sampled_ns;
	uint64_t all;		/* samples, 1 where there are none */
};

static struct listed
list_by(const struct functions *f, const struct definitions *known, enum by by)
{
	struct listed l = { .sums = &f->sums, .sampled_ns = f->sums.compute_ns - f->sums.not_sampled_ns };

	l.path_ns = f->sums.compute_ns;
	for (int kind = 0; kind < KINDS; kind++)
		l.path_ns += f->sums.other_ns[kind];
	l.at = functions_list(f, known, by, &l.count);
	for (size_t i = 0; i < l.count; i++)
		l.all += l.at[i].all;
	l.all += l.all == 0;
	return l;
}

static double
of_path(const struct listed *l, int64_t ns)
{
	return l->path_ns > 0 ? (double)ns / (double)l->path_ns : 0;
}

static double
error_of(const struct listed *l, const struct function *it)
{
	return it->error * of_path(l, l->sampled_ns);
}

static int64_t
all_ns(const struct listed *l, uint64_t samples)
{
	return (int64_t)samples * l->sums->period_ns;
}

/* ---- text ---- */

static void
put_name(struct table_writer *table, const struct function *it)
{
	if (it->file != NULL)
		table_format(table, "%s (%s:%d)", it->name, file_name(it->file), (int)it->line);
	else
		table_text(table, it->name);
}

static void
put_function(struct table_writer *table, const struct listed *l, const struct function *it)
{
	table_fixed(table, 100 * of_path(l, it->path_ns), 2);
	table_fixed(table, 100 * error_of(l, it), 2);
	table_seconds(table, it->path_ns);
	table_fixed(table, 100 * of_path(l, it->inclusive_ns), 2);
	table_fixed(table, 100 * (double)it->all / (double)l->all, 2);
	table_seconds(table, all_ns(l, it->all));
	put_name(table, it);
	table_end_line(table);
}

static void
put_other(struct table_writer *table, const struct listed *l, const char *name, int64_t ns)
{
	table_fixed(table, 100 * of_path(l, ns), 2);
	table_text(table, "");
	table_seconds(table, ns);
	for (int i = 0; i < 3; i++)
		table_text(table, "");
	table_text(table, name);
	table_end_line(table);
}

static void
list_text(struct text *out, const struct listed *l, enum by by, size_t shown)
{
	static const char *const heads[] = {
		"path_%\terror_%\tpath_s\twith_called_%\tall_%\tall_s\tfunction",
		"path_%\terror_%\tpath_s\twith_called_%\tall_%\tall_s\tline",
	};
	struct table_writer table;

	text_char(out, '\n');
	table_begin(&table, out, heads[by]);
	for (size_t i = 0; i < l->count && i < shown && l->at[i].path_ns > 0; i++)
		put_function(&table, l, &l->at[i]);
	if (by == BY_FUNCTION) {
		put_other(&table, l, not_sampled, l->sums->not_sampled_ns);
		for (int kind = 0; kind < KINDS; kind++)
			if (other_names[kind] != NULL)
				put_other(&table, l, other_names[kind], l->sums->other_ns[kind]);
	}
	table_end(&table);
}

static int
by_inclusive(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	if (a->inclusive_ns != b->inclusive_ns)
		return a->inclusive_ns > b->inclusive_ns ? -1 : 1;
	return a->path_ns != b->path_ns ? (a->path_ns < b->path_ns ? -1 : 1) :
	    strcmp(a->name, b->name) != 0 ? strcmp(a->name, b->name) : (a->line > b->line) - (a->line < b->line);
}

/* Those that called others: outermost first, as they have most. */
static void
inclusive_text(struct text *out, const struct listed *l, enum by by, size_t shown)
{
	struct function *list = zalloc(l->count + 1, sizeof *list);
	struct table_writer table;
	size_t count = 0;

	for (size_t i = 0; i < l->count; i++)
		if (l->at[i].inclusive_ns > l->at[i].path_ns)
			list[count++] = l->at[i];
	qsort(list, count, sizeof *list, by_inclusive);
	if (count > 0) {
		text_char(out, '\n');
		table_begin(&table, out, by == BY_FUNCTION ?
		    "with_called_%\twith_called_s\tall_%\tfunction, with what it called" :
		    "with_called_%\twith_called_s\tall_%\tline, with what was called there");
		for (size_t i = 0; i < count && i < shown; i++) {
			table_fixed(&table, 100 * of_path(l, list[i].inclusive_ns), 2);
			table_seconds(&table, list[i].inclusive_ns);
			table_fixed(&table, 100 * (double)list[i].all_inclusive / (double)l->all, 2);
			put_name(&table, &list[i]);
			table_end_line(&table);
		}
		table_end(&table);
	}
	free(list);
}

/* ---- the path beside a profile of all time ---- */

/* A function's share of the sampled path and of all computation, and its place by each. */
struct beside {
	const struct function *it;
	size_t path_rank, all_rank;
	double path, all, all_error;
};

static int
by_all(const void *left, const void *right)
{
	const struct function *a = *(const struct function *const *)left;
	const struct function *b = *(const struct function *const *)right;

	return a->all != b->all ? (a->all > b->all ? -1 : 1) : (a > b) - (a < b);
}

/* Before a profile's: those that it has first; then those that the path has first. */
static int
by_which(const void *left, const void *right)
{
	const struct beside *a = left, *b = right;
	const bool profile = a->all > a->path;

	if (profile != (b->all > b->path))
		return profile ? -1 : 1;
	return profile ? (a->all_rank > b->all_rank) - (a->all_rank < b->all_rank) :
	    (a->path_rank > b->path_rank) - (a->path_rank < b->path_rank);
}

/*
 * Those that make a hundredth of either and less than half, or more than twice, of the path than of all
 * time, by more than three standard errors.
 */
static struct beside *
find_beside(const struct listed *l, size_t *count)
{
	struct beside *list = zalloc(l->count + 1, sizeof *list);
	const struct function **profile = zalloc(l->count + 1, sizeof *profile);

	for (size_t i = 0; i < l->count; i++)
		profile[i] = &l->at[i];
	qsort(profile, l->count, sizeof *profile, by_all);
	*count = 0;
	for (size_t i = 0; i < l->count && l->sampled_ns > 0; i++) {
		struct beside b = { .it = profile[i], .all_rank = i + 1 };

		b.path_rank = (size_t)(b.it - l->at) + 1;
		b.path = (double)b.it->path_ns / (double)l->sampled_ns;
		b.all = (double)b.it->all / (double)l->all;
		b.all_error = sqrt(b.all * (1 - b.all) / (double)l->all);
		if ((b.path >= 0.01 || b.all >= 0.01) && (b.path < b.all / 2 || b.all < b.path / 2) &&
		    fabs(b.path - b.all) > 3 * hypot(b.it->error, b.all_error))
			list[(*count)++] = b;
	}
	qsort(list, *count, sizeof *list, by_which);
	free(profile);
	return list;
}

static void
beside_text(struct text *out, const struct listed *l, size_t shown)
{
	struct table_writer table;
	size_t count, lines[2] = { 0 };
	struct beside *list = find_beside(l, &count);

	text_char(out, '\n');
	table_begin(&table, out, "path_rank\tall_rank\tpath_share_%\tall_share_%\ton the path and in all time");
	for (size_t i = 0; i < count; i++) {
		if (lines[list[i].all > list[i].path]++ >= shown)
			continue;
		table_uint(&table, list[i].path_rank);
		table_uint(&table, list[i].all_rank);
		table_fixed(&table, 100 * list[i].path, 2);
		table_fixed(&table, 100 * list[i].all, 2);
		table_format(&table, "%s: %s", list[i].it->name, list[i].it->samples == 0 ? "not on the path" :
		    list[i].all > list[i].path ? "less on the path" : "more on the path");
		table_end_line(&table);
	}
	table_end(&table);
	if (count == 0)
		text_line(out, "no function that makes 1 %% differs by more than a factor of two, beyond three "
		    "standard errors");
	free(list);
}

void
functions_text(struct text *out, const struct functions *f, const struct definitions *known, bool all)
{
	const size_t shown = all ? SIZE_MAX : 10;
	struct listed functions, lines;
	uint64_t samples;

	if (!f->sums.any)
		return;
	samples = functions_samples(f);
	text_char(out, '\n');
	text_line(out, "computation on the path %.6f s: %llu samples, %.6f s on a core; %.6f s not sampled; "
	    "%llu samples lost in all", seconds(f->sums.compute_ns), (unsigned long long)samples,
	    1e-9 * (double)samples * (double)f->sums.period_ns, seconds(f->sums.not_sampled_ns),
	    (unsigned long long)f->sums.lost);
	functions = list_by(f, known, BY_FUNCTION);
	lines = list_by(f, known, BY_LINE);
	list_text(out, &functions, BY_FUNCTION, shown);
	inclusive_text(out, &functions, BY_FUNCTION, shown);
	list_text(out, &lines, BY_LINE, shown);
	inclusive_text(out, &lines, BY_LINE, shown);
	beside_text(out, &functions, shown);
	free(functions.at);
	free(lines.at);
}

/* ---- JSON ---- */

static void
put_place(struct json *out, const char *name, const char *file, int line)
{
	json_break(out);
	json_begin_object(out, NULL);
	json_text(out, "function", name);
	if (file != NULL) {
		json_text(out, "file", file);
		json_int(out, "line", line);
	} else {
		json_null(out, "file");
		json_null(out, "line");
	}
}

static void
put_numbers(struct json *out, const struct listed *l, const struct function *it)
{
	json_seconds(out, "path_s", it->path_ns);
	json_double(out, "path_share", of_path(l, it->path_ns));
	json_seconds(out, "all_s", all_ns(l, it->all));
	json_double(out, "all_share", (double)it->all / (double)l->all);
	json_double(out, "standard_error", error_of(l, it));
	json_uint(out, "samples", it->samples);
	json_seconds(out, "path_inclusive_s", it->inclusive_ns);
	json_seconds(out, "all_inclusive_s", all_ns(l, it->all_inclusive));
	json_end_object(out);
}

static void
list_json(struct json *out, const struct listed *l, const char *key)
{
	json_break(out);
	json_begin_array(out, key);
	for (size_t i = 0; i < l->count; i++) {
		put_place(out, l->at[i].name, l->at[i].file, (int)l->at[i].line);
		put_numbers(out, l, &l->at[i]);
	}
	for (int kind = -1; kind < KINDS; kind++) {	/* so that the sum is the path */
		const int64_t ns = kind < 0 ? l->sums->not_sampled_ns : l->sums->other_ns[kind];
		const struct function rest = { .path_ns = ns, .inclusive_ns = ns };

		if (kind >= 0 && other_names[kind] == NULL)
			continue;
		put_place(out, kind < 0 ? not_sampled : other_names[kind], NULL, 0);
		put_numbers(out, l, &rest);
	}
	json_end_array(out);
}

static void
beside_json(struct json *out, const struct listed *l)
{
	size_t count;
	struct beside *list = find_beside(l, &count);

	json_break(out);
	json_begin_array(out, "beside_all_time");
	for (size_t i = 0; i < count; i++) {
		put_place(out, list[i].it->name, list[i].it->file, (int)list[i].it->line);
		json_uint(out, "path_rank", list[i].path_rank);
		json_uint(out, "all_rank", list[i].all_rank);
		json_double(out, "share_of_sampled_path", list[i].path);
		json_double(out, "path_standard_error", list[i].it->error);
		json_double(out, "all_share", list[i].all);
		json_double(out, "all_standard_error", list[i].all_error);
		json_bool(out, "on_path", list[i].it->samples > 0);
		json_end_object(out);
	}
	json_end_array(out);
	free(list);
}

void
functions_json(struct json *out, const struct functions *f, const struct definitions *known)
{
	struct listed functions, lines;

	if (!f->sums.any)
		return;
	functions = list_by(f, known, BY_FUNCTION);
	lines = list_by(f, known, BY_LINE);
	list_json(out, &functions, "by_function");
	list_json(out, &lines, "by_line");
	beside_json(out, &functions);
	free(functions.at);
	free(lines.at);
}
