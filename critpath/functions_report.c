/* SPDX-License-Identifier: BSD-3-Clause */
/* The path by function, for people, scripts and viewers of stacks. */
#include <stdlib.h>
#include <string.h>

#include "functions.h"

static const char *
file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static int64_t
path_length(const struct functions *f)
{
	return f->compute_ns + f->other_ns[MPI] + f->other_ns[TRANSFER] + f->other_ns[START];
}

static uint64_t
all_samples(const struct function *list, size_t count)
{
	uint64_t all = 0;

	for (size_t i = 0; i < count; i++)
		all += list[i].all;
	return all > 0 ? all : 1;
}

/* ---- inclusive: a function with all that it calls ---- */

static bool
has_name(const struct frames *frames, const char *name)
{
	for (size_t i = 0; i < frames->count; i++)
		if (strcmp(frames->names[i], name) == 0)
			return true;
	return false;
}

static void
add_inclusive(const struct functions *f, const struct definitions *known, struct function *list,
    size_t count)
{
	size_t places_count;
	struct sampled *places = functions_places(f, &places_count);

	for (size_t p = 0; p < places_count; p++) {
		struct frames frames = frames_of(known, &places[p]);

		for (size_t i = 0; i < count; i++)
			if (has_name(&frames, list[i].name)) {
				list[i].inclusive_ns += places[p].path_ns;
				list[i].all_inclusive += places[p].all;
			}
		frames_free(&frames);
	}
	free(places);
}

/* ---- text ---- */

static void
put_function(struct table_writer *table, const struct functions *f, const struct function *it,
    uint64_t all)
{
	const int64_t path_ns = path_length(f);

	table_fixed(table, path_ns > 0 ? 100 * (double)it->path_ns / (double)path_ns : 0, 2);
	table_fixed(table, 100 * functions_error(f, it, path_ns), 2);
	table_seconds(table, it->path_ns);
	table_fixed(table, 100 * (double)it->all / (double)all, 2);
	table_seconds(table, (int64_t)it->all * f->period_ns);
	if (it->file != NULL)
		table_format(table, "%s (%s:%d)", it->name, file_name(it->file), (int)it->line);
	else
		table_text(table, it->name);
	table_end_line(table);
}

static void
put_other(struct table_writer *table, const struct functions *f, const char *name, int64_t ns)
{
	const int64_t path_ns = path_length(f);

	table_fixed(table, path_ns > 0 ? 100 * (double)ns / (double)path_ns : 0, 2);
	table_text(table, "");
	table_seconds(table, ns);
	table_text(table, "");
	table_text(table, "");
	table_text(table, name);
	table_end_line(table);
}

static void
list_text(struct text *out, const struct functions *f, const struct definitions *known, enum by by,
    size_t shown)
{
	static const char *const heads[] = {
		"path_%\terror_%\tpath_s\tall_%\tall_s\tfunction", "path_%\terror_%\tpath_s\tall_%\tall_s\tline",
	};
	size_t count;
	struct function *list = functions_list(f, known, by, &count);
	const uint64_t all = all_samples(list, count);
	struct table_writer table;

	text_char(out, '\n');
	table_begin(&table, out, heads[by]);
	for (size_t i = 0; i < count && i < shown && list[i].path_ns > 0; i++)
		put_function(&table, f, &list[i], all);
	if (by == BY_FUNCTION) {
		put_other(&table, f, not_sampled, f->not_sampled_ns);
		for (int kind = 0; kind < KINDS; kind++)
			if (other_names[kind] != NULL)
				put_other(&table, f, other_names[kind], f->other_ns[kind]);
	}
	table_end(&table);
	free(list);
}

static int
by_all(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	if (a->all != b->all)
		return a->all > b->all ? -1 : 1;
	return strcmp(a->name, b->name);
}

/*
 * Where the path and a profile of all time disagree: a share that is less than half, or more than
 * twice, of the other, among those that make a hundredth of either.
 */
static void
difference_text(struct text *out, const struct functions *f, const struct definitions *known,
    size_t shown)
{
	size_t count, lines = 0;
	struct function *list = functions_list(f, known, BY_FUNCTION, &count);
	const uint64_t all = all_samples(list, count);
	const int64_t sampled_ns = f->compute_ns - f->not_sampled_ns;
	struct table_writer table;

	qsort(list, count, sizeof *list, by_all);
	text_char(out, '\n');
	table_begin(&table, out, "path_rank\tall_rank\tpath_share_%\tall_share_%\ton the path and in all time");
	for (size_t i = 0; i < count && lines < shown && sampled_ns > 0; i++) {
		double there = (double)list[i].path_ns / (double)sampled_ns;
		double everywhere = (double)list[i].all / (double)all;
		size_t rank = 1;

		if ((there < 0.01 && everywhere < 0.01) || (there <= 2 * everywhere && everywhere <= 2 * there))
			continue;
		for (size_t j = 0; j < count; j++)
			rank += list[j].path_ns > list[i].path_ns;
		table_uint(&table, rank);
		table_uint(&table, i + 1);
		table_fixed(&table, 100 * there, 2);
		table_fixed(&table, 100 * everywhere, 2);
		table_text(&table, list[i].name);
		table_end_line(&table);
		lines++;
	}
	table_end(&table);
	if (lines == 0)
		text_line(out, "no function that makes 1 %% differs by more than a factor of two");
	free(list);
}

void
functions_text(struct text *out, const struct functions *f, const struct definitions *known, bool all)
{
	const size_t shown = all ? SIZE_MAX : 10;
	uint64_t samples;
	double on_core_s;

	if (!f->any)
		return;
	samples = functions_samples(f);
	on_core_s = 1e-9 * (double)samples * (double)f->period_ns;
	text_char(out, '\n');
	text_line(out, "computation on the path %.6f s: %llu samples, %.6f s on a core; %.6f s not sampled; "
	    "%llu samples lost in all", seconds(f->compute_ns), (unsigned long long)samples, on_core_s,
	    seconds(f->not_sampled_ns), (unsigned long long)f->lost);
	list_text(out, f, known, BY_FUNCTION, shown);
	list_text(out, f, known, BY_LINE, shown);
	difference_text(out, f, known, shown);
}

/* ---- JSON ---- */

static void
put_numbers(struct json *out, const struct functions *f, const struct function *it, uint64_t all)
{
	const int64_t path_ns = path_length(f);

	json_seconds(out, "path_s", it->path_ns);
	json_double(out, "path_share", path_ns > 0 ? (double)it->path_ns / (double)path_ns : 0);
	json_seconds(out, "all_s", (int64_t)it->all * f->period_ns);
	json_double(out, "all_share", (double)it->all / (double)all);
	json_double(out, "standard_error", functions_error(f, it, path_ns));
	json_uint(out, "samples", it->samples);
}

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
list_json(struct json *out, const struct functions *f, const struct definitions *known, enum by by)
{
	size_t count;
	struct function *list = functions_list(f, known, by, &count);
	const uint64_t all = all_samples(list, count);

	json_break(out);
	json_begin_array(out, by == BY_FUNCTION ? "by_function" : "by_line");
	if (by == BY_FUNCTION)
		add_inclusive(f, known, list, count);
	for (size_t i = 0; i < count; i++) {
		put_place(out, list[i].name, list[i].file, (int)list[i].line);
		put_numbers(out, f, &list[i], all);
		if (by == BY_FUNCTION) {
			json_seconds(out, "path_inclusive_s", list[i].inclusive_ns);
			json_seconds(out, "all_inclusive_s", (int64_t)list[i].all_inclusive * f->period_ns);
		}
		json_end_object(out);
	}
	for (int kind = -1; kind < KINDS; kind++) {	/* so that the sum is the path */
		const struct function rest = { .path_ns = kind < 0 ? f->not_sampled_ns : f->other_ns[kind] };

		if (kind >= 0 && other_names[kind] == NULL)
			continue;
		put_place(out, kind < 0 ? not_sampled : other_names[kind], NULL, 0);
		json_seconds(out, "path_s", rest.path_ns);
		json_double(out, "path_share", path_length(f) > 0 ?
		    (double)rest.path_ns / (double)path_length(f) : 0);
		json_seconds(out, "all_s", 0);
		json_double(out, "all_share", 0);
		json_double(out, "standard_error", 0);
		json_uint(out, "samples", 0);
		json_end_object(out);
	}
	json_end_array(out);
	free(list);
}

void
functions_json(struct json *out, const struct functions *f, const struct definitions *known)
{
	if (!f->any)
		return;
	list_json(out, f, known, BY_FUNCTION);
	list_json(out, f, known, BY_LINE);
}
