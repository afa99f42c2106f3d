/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path by function, of sampled runs. lp-critpath gives the path of each place; here places
 * become functions, by name and file. Together with time that was not sampled and time other than
 * computation they add up to the path, and their changes to that of the run time.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "../base/tool/text.h"

/* Time other than computation has its own lines, so that all lines add up to the path. */
void
add_other_functions(struct summary *s)
{
	static const char *const names[PATH_KINDS_COUNT] = {
		[PATH_MPI] = "(MPI)", [PATH_TRANSFER] = "(transfer)", [PATH_START] = "(start)",
	};

	for (size_t k = 0; k < PATH_KINDS_COUNT && s->functions.count > 0; k++)
		if (names[k] != NULL) {
			struct function_time f = { .name = names[k] };

			for (size_t i = 0; i < s->count; i++)
				f.path_ns += s->places[i].path_ns[k];
			function_times_add(&s->functions, &f);
		}
	function_times_fold(&s->functions);
}

/* ---- both sides ------------------------------------------------------------------------- */

static VALUE_IS(function_path,
    run->by_function[index] != NULL ? run->by_function[index]->path_ns : 0)
static VALUE_IS(function_all, run->by_function[index] != NULL ? run->by_function[index]->all_ns : 0)

/* Gives functions the same numbers in all runs. Returns false if a run has no functions. */
static bool
align_functions(const struct comparison *c, struct verdict *v)
{
	struct function_times all = { 0 };

	for (int side = A; side < SIDES; side++)
		for (size_t r = 0; r < c->count[side]; r++) {
			const struct summary *run = &c->runs[side][r];

			if (run->functions.count == 0)
				return false;
			for (size_t i = 0; i < run->functions.count; i++)
				function_times_add(&all, &run->functions.at[i]);
		}
	function_times_fold(&all);
	v->function_count = all.count;
	v->functions = zalloc(all.count, sizeof *v->functions);
	for (size_t f = 0; f < all.count; f++) {
		struct function_change *it = &v->functions[f];

		it->name = it->text = all.at[f].name;
		it->file = all.at[f].file;
		if (it->file != NULL)
			it->text = formatted("%s (%s)", it->name, file_name(it->file));
	}
	for (int side = A; side < SIDES; side++)
		for (size_t r = 0; r < c->count[side]; r++) {
			struct summary *run = &c->runs[side][r];

			run->by_function = zalloc(all.count, sizeof *run->by_function);
			function_times_fold(&run->functions);
			for (size_t i = 0; i < run->functions.count; i++) {
				const struct function_time *at = bsearch(&run->functions.at[i],
				    all.at, all.count, sizeof *at, function_times_compare);

				run->by_function[at - all.at] = &run->functions.at[i];
			}
		}
	return true;
}

ORDER(by_change, struct function_change,
    COMPARED(llabs(b->path.change_ns), llabs(a->path.change_ns)) BY_TEXT(name))

void
judge_functions(const struct comparison *c, struct verdict *v)
{
	struct quantity *tests;
	int64_t *parts_ns;
	size_t count = 0;

	if (!align_functions(c, v))
		return;
	parts_ns = zalloc(v->function_count, sizeof *parts_ns);
	tests = zalloc(v->function_count, sizeof *tests);
	apportion(c, function_path, 0, v->function_count, v->run_time.change_ns, parts_ns);
	for (size_t f = 0; f < v->function_count; f++) {
		struct function_change *it = &v->functions[f];

		change_of(c, function_path, f, &it->path);
		it->all_change_ns = difference(c, function_all, f);
		if (is_tested(v, &it->path))
			tests[count++] = (struct quantity){ .of = function_path, .index = f };
	}
	test_all(c, tests, count);
	for (size_t i = 0; i < count; i++) {
		v->functions[tests[i].index].path = tests[i].change;
		v->functions[tests[i].index].named = is_named(v, &tests[i].change);
	}
	for (size_t f = 0; f < v->function_count; f++)
		v->functions[f].path.change_ns = parts_ns[f];
	SORT(v->functions, v->function_count, by_change);
	free(parts_ns);
	free(tests);
}
