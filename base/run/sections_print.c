/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops whose steps are a run's sections, as text and JSON. */
#include <math.h>
#include <stdlib.h>

#include "../tool/memory.h"
#include "sections.h"

static const char *const ends_names[] = { "begin", "end" };

#define LOOP(member) FIELD(struct loop, member)
static const struct field fields[] = {
	{ "loop", LOOP(label), .json = PLAIN },
	{ "divides_at", LOOP(ends), .json = PLAIN, .names = ends_names, .known = UNLESS_NEGATIVE },
	{ "steps", LOOP(steps), .json = PLAIN },
	{ "calls", LOOP(calls), .json = "%.3f" },
	{ "begin_s", LOOP(begin_ns), .json = "%.9f", .scale = 1e-9 },
	{ "end_s", LOOP(end_ns), .json = "%.9f", .scale = 1e-9 },
	{ "chance", LOOP(chance), .json = "%.3g" },
	{ "synchronisation_points", LOOP(synchronised), .json = PLAIN },
	FIELDS_END
};

static void
name_loop(struct loop *loop, struct call_place place, const struct definitions *known)
{
	const char *text = site_text(known, place.site);

	free(loop->label);
	loop->label = formatted("%s", text[0] != '\0' ? text : place.site > 0 ? "(unknown)" :
	    call_name(place.call));
}

void
sections_name(struct sections *s, const struct definitions *known)
{
	for (size_t i = 0; i < s->steps.count; i++) {
		struct loop *loop = &s->steps.loops[i];

		if (loop->region > 0)
			loop->label = formatted("%s", known->regions[loop->region]);
		else
			name_loop(loop, loop->ranks[0].place, known);
	}
	if (s->steps.undecided.steps > 0)
		name_loop(&s->steps.undecided, s->steps.undecided_at, known);
}

struct section_row
section_row(const struct sections *s, uint32_t section)
{
	struct section_row row = { section, "(none)", 0, 0, s->known->run_ns };
	uint64_t number = 0;
	const struct loop *loop;

	if (section == 0)
		return row;
	if (s->regions) {
		row.label = section < s->known->region_count ? s->known->regions[section] : NULL;
		row.label = row.label != NULL ? row.label : "(unknown)";
		row.instance = section < s->capacity ? s->at[section].instances : 0;
		return row;
	}
	loop = section_loop(s, section, &number);
	row.label = loop != NULL ? loop->label : row.label;
	row.instance = (int64_t)number;
	row.begin_ns = s->at[section].begin_ns;
	row.end_ns = s->at[section].end_ns;
	return row;
}

static void
text_loop(struct text *out, const struct loop *loop)
{
	text_print(out, "%llu steps, from %.6f s to %.6f s; ", (unsigned long long)loop->steps,
	    1e-9 * (double)loop->begin_ns, 1e-9 * (double)loop->end_ns);
	if (loop->region > 0) {
		text_line(out, "the instances of the region %s", loop->label);
		return;
	}
	text_line(out, "each %ss with %s", ends_names[loop->ends], loop->label);
	if (loop->calls > 1)
		text_print(out, "  a step has %.4g calls; the probability that all ranks call "
		    "there so regularly by chance is %s%.1g; ", loop->calls,
		    loop->chance < 1e-9 ? "below " : "", fmax(loop->chance, 1e-9));
	else
		text_put(out, "  a step has no other call; all ranks call there equally often; ");
	text_line(out, loop->synchronised > 0 ?
	    "all ranks are in the same step at each synchronisation point" :
	    "no synchronisation point confirms it");
}

void
sections_text(struct text *out, const struct sections *s)
{
	const struct loop *undecided = &s->steps.undecided;

	for (size_t i = 0; i < s->steps.count; i++)
		text_loop(out, &s->steps.loops[i]);
	if (s->steps.count == 0)
		text_line(out, "no steps: the calls of the ranks show no common period");
	if (undecided->steps > 0)
		text_line(out, "undecided: %llu calls of %s, from %.6f s to %.6f s, may divide the "
		    "run into steps or come by chance (probability %.2g); --steps %llu takes them",
		    (unsigned long long)undecided->steps, undecided->label,
		    1e-9 * (double)undecided->begin_ns, 1e-9 * (double)undecided->end_ns,
		    undecided->chance, (unsigned long long)undecided->steps);
}

void
sections_json(struct json *out, const struct sections *s)
{
	const struct loop *undecided = &s->steps.undecided;

	json_begin_array(out, "loops");
	for (size_t i = 0; i < s->steps.count; i++)
		json_row(out, NULL, fields, &s->steps.loops[i]);
	json_end_array(out);
	json_row(out, "undecided", fields, undecided->steps > 0 ? undecided : NULL);
}
