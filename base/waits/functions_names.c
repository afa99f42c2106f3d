/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of what a rank did before a call: functions, and the rest of the time. */
#include <stdlib.h>
#include <string.h>

#include "../run/places.h"
#include "../run/sampled_place.h"
#include "functions.h"

const struct sampled_function taken_rest = { .name = not_sampled },
	taken_on_core = { .name = on_core_name }, taken_in_mpi = { .name = "(MPI)" };

const char *
function_text(const struct sampled_function *function, char *text, size_t size)
{
	if (function->in == NULL)
		return function->name;
	snprintf(text, size, "%s in %s", function->name, function->in);
	return text;
}

static struct sampled_function
function_of(const struct imbalance *im, const struct taken *taken, bool own)
{
	const struct definitions *known = &im->graph.known;
	const uint32_t place = taken->place;
	struct stack_frame frame = { .name = on_core_name }, inlined;
	const char *in = NULL;

	if (place == taken_off(OFF_BLOCKED) && taken->own > 0) {
		frame = own_frame(known, taken->own, &inlined);
		in = frame.name;
	} else if (place < TAKEN_THREADS)
		frame = own ? own_frame(known, taken->own, &inlined) : place_frame(known, place);
	if (place >= TAKEN_OFF_CORE)
		frame.name = off_names[place - TAKEN_OFF_CORE];
	return (struct sampled_function){ frame.name, in, frame.file };
}

ORDER(by_name, struct sampled_function, BY_TEXT(name) BY_ANY_TEXT(in) BY_ANY_TEXT(file))
FOLD(fold_names, struct sampled_function, by_name, )

ORDER(by_place, struct taken, BY(site) BY(function) BY(rank))
FOLD(fold_taken, struct taken, by_place, to->samples += more->samples;)

uint32_t
function_named(const struct by_function *by, const struct sampled_function *key)
{
	const struct sampled_function *found =
	    bsearch(key, by->names, by->count, sizeof *key, by_name);

	return (uint32_t)(found - by->names);
}

struct taken *
sorted_taken(const struct imbalance *im, const struct site_groups *groups, struct by_function *by,
    size_t *count, bool own)
{
	const size_t places = taken_places(im);
	struct taken *list = zalloc(places + 1, sizeof *list);

	by->names = zalloc(places + 4, sizeof *by->names);
	by->count = *count = 0;
	for (size_t i = 0; i < places; i++) {
		if (!taken_at(im, i, &list[*count]) || list[*count].place == TAKEN_THREADS ||
		    list[*count].place == TAKEN_ALONE)
			continue;
		if (list[*count].period_ns > by->period_ns)
			by->period_ns = list[*count].period_ns;
		by->names[by->count++] = function_of(im, &list[(*count)++], own);
	}
	by->names[by->count++] = taken_rest;
	by->names[by->count++] = taken_on_core;
	by->names[by->count++] = taken_in_mpi;
	by->count = fold_names(by->names, by->count);
	for (size_t i = 0; i < *count; i++) {
		const struct sampled_function key = function_of(im, &list[i], own);

		list[i].function = function_named(by, &key);
		list[i].site = groups->of[list[i].site];	/* counted with its calls */
	}
	*count = fold_taken(list, *count);
	return list;
}

struct site_groups
site_groups(const struct imbalance *im)
{
	const struct definitions *known = &im->graph.known;
	struct site_groups g = { .count = im->site_count };
	struct same_sites same = { 0 };

	g.of = zalloc(g.count + 1, sizeof *g.of);
	g.compute_ns = zalloc(g.count + 1, sizeof *g.compute_ns);
	for (uint32_t site = 0; site < g.count; site++) {
		const uint32_t group = g.of[site] = first_of_name(&same, known, site);

		if (im->sites[site] == NULL)
			continue;
		if (g.compute_ns[group] == NULL)
			g.compute_ns[group] = zalloc((size_t)known->ranks, sizeof **g.compute_ns);
		for (int32_t r = 0; r < known->ranks; r++)
			g.compute_ns[group][r] += im->sites[site][r].compute_ns;
	}
	same_sites_free(&same);
	return g;
}

void
site_groups_free(struct site_groups *groups)
{
	for (size_t g = 0; g < groups->count; g++)
		free(groups->compute_ns[g]);
	free(groups->compute_ns);
	free(groups->of);
}
