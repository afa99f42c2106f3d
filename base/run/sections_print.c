/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops whose steps are a run's sections, as text and JSON. */
#include <math.h>
#include <stdlib.h>

#include "../tool/fields.h"
#include "../tool/memory.h"
#include "sections.h"

static const char *const ends_names[] = { "begin", "end" };

struct found {
	const char *label;
	int ends;
	uint64_t steps, synchronised;
	double calls, chance, begin_s, end_s;
};
#define FOUND(member) FIELD(struct found, member)
static const struct field fields[] = {
	{ "loop", FOUND(label), .json = PLAIN },
	{ "divides_at", FOUND(ends), .json = PLAIN, .names = ends_names, .known = UNLESS_NEGATIVE },
	{ "steps", FOUND(steps), .json = PLAIN },
	{ "calls", FOUND(calls), .json = "%.3f" },
	{ "begin_s", FOUND(begin_s), .json = "%.9f" },
	{ "end_s", FOUND(end_s), .json = "%.9f" },
	{ "chance", FOUND(chance), .json = "%.3g" },
	{ "synchronisation_points", FOUND(synchronised), .json = PLAIN },
	FIELDS_END
};

static struct found
found_loop(const struct loop *loop)
{
	struct found f = { loop->label, loop->ends, loop->steps, loop->synchronised, loop->calls,
	    loop->chance, 1e-9 * (double)loop->begin_ns, 1e-9 * (double)loop->end_ns };

	if (loop->region > 0) {
		f.ends = -1;
		f.calls = f.chance = NAN;
	}
	return f;
}

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
text_loop(struct text *out, const struct found *f)
{
	text_print(out, "%llu steps, from %.6f s to %.6f s; ", (unsigned long long)f->steps,
	    f->begin_s, f->end_s);
	if (f->ends < 0) {
		text_line(out, "the instances of the region %s", f->label);
		return;
	}
	text_line(out, "each %ss with %s", ends_names[f->ends], f->label);
	if (f->calls > 1)
		text_print(out, "  a step has %.4g calls; the probability that all ranks call "
		    "there so regularly by chance is %s%.1g; ", f->calls,
		    f->chance < 1e-9 ? "below " : "", fmax(f->chance, 1e-9));
	else
		text_put(out, "  a step has no other call; all ranks call there equally often; ");
	text_line(out, f->synchronised > 0 ?
	    "all ranks are in the same step at each synchronisation point" :
	    "no synchronisation point confirms it");
}

void
sections_text(struct text *out, const struct sections *s)
{
	const struct found undecided = found_loop(&s->steps.undecided);

	for (size_t i = 0; i < s->steps.count; i++) {
		const struct found f = found_loop(&s->steps.loops[i]);

		text_loop(out, &f);
	}
	if (s->steps.count == 0)
		text_line(out, "no steps: the calls of the ranks show no common period");
	if (undecided.steps > 0)
		text_line(out, "undecided: %llu calls of %s, from %.6f s to %.6f s, may divide the "
		    "run into steps or come by chance (probability %.2g); --steps %llu takes them",
		    (unsigned long long)undecided.steps, undecided.label, undecided.begin_s,
		    undecided.end_s, undecided.chance, (unsigned long long)undecided.steps);
}

void
sections_json(struct json *out, const struct sections *s)
{
	const struct found undecided = found_loop(&s->steps.undecided);

	json_begin_array(out, "loops");
	for (size_t i = 0; i < s->steps.count; i++) {
		const struct found f = found_loop(&s->steps.loops[i]);

		json_row(out, NULL, fields, &f);
	}
	json_end_array(out);
	json_row(out, "undecided", fields, undecided.steps > 0 ? &undecided : NULL);
}
