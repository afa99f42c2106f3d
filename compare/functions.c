/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path by function, of sampled runs. lp-critpath gives the path of each place; here places
 * become functions, by name and file. Together with time that was not sampled and time other than
 * computation they add up to the path, and their changes to that of the run time. The same with the
 * path by steps or regions, and the time in none of them.
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
	static const char *const names[KINDS] = {
		[MPI] = "(MPI)", [TRANSFER] = "(transfer)", [START] = "(start)",
	};

	struct function_times *functions = &s->lists[FUNCTIONS].times;

	for (size_t k = 0; k < KINDS && functions->count > 0; k++)
		if (names[k] != NULL) {
			struct function_time f = { .name = names[k] };

			for (size_t i = 0; i < s->count; i++)
				f.path_ns += s->places[i].path_ns[k];
			function_times_add(functions, &f);
		}
	function_times_fold(functions);
}

/* ---- both sides ------------------------------------------------------------------------- */

#define LISTED(list, member) \
	run->lists[list].by_name[index] != NULL ? run->lists[list].by_name[index]->member : 0
static VALUE_IS(function_path, LISTED(FUNCTIONS, path_ns))
static VALUE_IS(function_all, LISTED(FUNCTIONS, all_ns))
static VALUE_IS(section_path, LISTED(SECTIONS, path_ns))

/* Gives names the same numbers in all runs. Returns false if a run has none. */
static bool
align_names(const struct comparison *c, int list, struct named_changes *changes)
{
	struct function_times all = { 0 };

	for (size_t r = 0; r < c->run_count; r++) {
		const struct function_times *its = &c->all[r].lists[list].times;

		if (its->count == 0)
			return false;
		for (size_t i = 0; i < its->count; i++)
			function_times_add(&all, &its->at[i]);
	}
	function_times_fold(&all);
	changes->count = all.count;
	changes->at = zalloc(all.count, sizeof *changes->at);
	for (size_t f = 0; f < all.count; f++) {
		struct function_change *it = &changes->at[f];

		it->name = it->text = all.at[f].name;
		it->file = all.at[f].file;
		if (it->file != NULL)
			it->text = formatted("%s (%s)", it->name, file_name(it->file));
	}
	for (size_t r = 0; r < c->run_count; r++) {
		struct named_times *its = &c->all[r].lists[list];

		its->by_name = zalloc(all.count, sizeof *its->by_name);
		function_times_fold(&its->times);
		for (size_t i = 0; i < its->times.count; i++) {
			const struct function_time *at = bsearch(&its->times.at[i], all.at,
			    all.count, sizeof *at, function_times_compare);

			its->by_name[at - all.at] = &its->times.at[i];
		}
	}
	return true;
}

ORDER(by_change, struct function_change,
    COMPARED(llabs(b->path.change_ns), llabs(a->path.change_ns)) BY_TEXT(name))

static void
judge_list(const struct comparison *c, const struct verdict *v, struct named_changes *changes,
    VALUE(path), VALUE(all))
{
	int64_t *parts_ns = zalloc(changes->count, sizeof *parts_ns);
	struct quantity *tests = zalloc(changes->count, sizeof *tests);
	size_t count = 0;

	apportion(c, path, 0, changes->count, v->run_time.change_ns, parts_ns);
	for (size_t f = 0; f < changes->count; f++) {
		struct function_change *it = &changes->at[f];

		change_of(c, path, f, &it->path);
		if (all != NULL)
			it->all_change_ns = difference(c, all, f);
		if (is_tested(v, &it->path))
			tests[count++] = (struct quantity){ .of = path, .index = f };
	}
	test_all(c, tests, count);
	for (size_t i = 0; i < count; i++) {
		changes->at[tests[i].index].path = tests[i].change;
		changes->at[tests[i].index].named = is_named(v, &tests[i].change);
	}
	for (size_t f = 0; f < changes->count; f++)
		changes->at[f].path.change_ns = parts_ns[f];
	SORT(changes->at, changes->count, by_change);
	free(parts_ns);
	free(tests);
}

void
judge_lists(const struct comparison *c, struct verdict *v)
{
	if (align_names(c, FUNCTIONS, &v->lists[FUNCTIONS]))
		judge_list(c, v, &v->lists[FUNCTIONS], function_path, function_all);
	if (align_names(c, SECTIONS, &v->lists[SECTIONS]))
		judge_list(c, v, &v->lists[SECTIONS], section_path, NULL);
}

void
print_list(struct text *text, const struct named_changes *list, const struct field *fields,
    const char *what, size_t shown)
{
	if (list->count > 0) {
		text_char(text, '\n');
		text_line(text, "change of the critical path by %s; these, too, make up that of "
		    "the run time", what);
		table_rows(text, fields, list->at, list->count < shown ? list->count : shown,
		    sizeof *list->at);
	}
	print_more(text, list->count, shown);
}

/* All steps together. */
void
print_steps(struct text *text, const struct comparison *c, const struct named_changes *list)
{
	const uint64_t steps[SIDES] = { c->runs[A][0].steps, c->runs[B][0].steps };
	double a_ns = 0, b_ns = 0;

	for (size_t i = 0; i < list->count; i++)
		if (list->at[i].name[0] != '(') {
			a_ns += list->at[i].path.a;
			b_ns += list->at[i].path.b;
		}
	if (steps[A] == 0 || steps[B] == 0)
		return;
	text_char(text, '\n');
	text_line(text, "%llu steps of %.9f s each, then %llu of %.9f s",
	    (unsigned long long)steps[A], 1e-9 * a_ns / (double)steps[A],
	    (unsigned long long)steps[B], 1e-9 * b_ns / (double)steps[B]);
}
