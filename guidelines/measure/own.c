/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a file of guidelines:
 * 	guideline = [ name ":" ] function "<=" step { "+" step }
 * 	step = name "(" [ [ place "," ] place "," number ] ")"
 * 	       [ "root" factor ] [ "for" "i" "<" factor ]
 * 	place = buffer [ "[" number "]" ]
 */
#include <stdlib.h>
#include <string.h>

#include "jobs.h"

/* ---- functions for a right side ------------------------------------------------------------- */

#define ACTION(name, action) static void run_##name(const struct call *c) { action; }
ACTION(Reduce_local, MPI_Reduce_local(c->send, c->recv, c->count, c->type, c->op))
ACTION(Copy, memcpy(c->recv, c->send, (size_t)c->count * c->extent))
ACTION(Zero, memset(c->recv, 0, (size_t)c->count * c->extent))

static const struct action actions[] = {
	{ "Gatherv", run_Gatherv, ONE, ALL_AT_ROOT, false },
	{ "Scatterv", run_Scatterv, ALL_AT_ROOT, ONE, false },
	{ "Allgatherv", run_Allgatherv, ONE, ALL, false },
	{ "Alltoallv", run_Alltoallv, ALL, ALL, false },
	{ "Reduce_local", run_Reduce_local, ONE, ONE, true },
	{ "Copy", run_Copy, ONE, ONE, true },
	{ "Zero", run_Zero, NONE, ONE, true },
};

/* A function of the guidelines, with or without MPI_; not the one with gaps. */
static const struct subject *
find_function(const char *name)
{
	if (strncmp(name, "MPI_", 4) == 0)
		name += 4;
	for (size_t i = 0; i < guideline_functions; i++)
		if (functions[i].input != TWO && strcmp(functions[i].name + 4, name) == 0)
			return &functions[i];
	return NULL;
}

static bool
find_action(const char *name, struct action *action)
{
	const struct subject *f = find_function(name);

	if (f != NULL) {
		*action = (struct action){ f->name + 4, f->run, f->input, f->output, false };
		return true;
	}
	if (strncmp(name, "MPI_", 4) == 0)
		name += 4;
	for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
		if (strcmp(actions[i].name, name) == 0) {
			*action = actions[i];
			return true;
		}
	return false;
}

/* ---- steps ---------------------------------------------------------------------------------- */

static struct number
read_number(struct scanner *s, bool same, bool factor)
{
	struct number number;

	scan_blanks(s);
	number = (struct number){ s->at, s->line, factor };
	s->same = same;
	if (factor)
		scan_factor(s, NULL);
	else
		scan_number(s, NULL);
	s->same = false;
	return number;
}

static struct place
read_place(struct scanner *s, struct own *own)
{
	struct place place = { 0 };
	char name[OWN_NAME];

	if (!scan_name(s, name))
		return place;
	while (place.buffer < own->buffer_count && strcmp(own->buffers[place.buffer], name) != 0)
		place.buffer++;
	if (place.buffer == OWN_BUFFERS) {
		scan_fail(s, "more than %d buffers", OWN_BUFFERS);
		return place;
	}
	if (place.buffer == own->buffer_count)
		strcpy(own->buffers[own->buffer_count++], name);
	if (scan_word(s, "[")) {
		place.offset = read_number(s, false, false);
		scan_need(s, "]");
	}
	return place;
}

static void
parse_step(struct scanner *s, struct own *own)
{
	struct own_step *step = &own->steps[own->step_count];
	char name[OWN_NAME];

	if (own->step_count == OWN_STEPS) {
		scan_fail(s, "more than %d calls", OWN_STEPS);
		return;
	}
	if (!scan_name(s, name))
		return;
	if (!find_action(name, &step->action)) {
		scan_fail(s, "%s cannot be called by a right side", name);
		return;
	}
	own->step_count++;
	scan_need(s, "(");
	if (step->action.output != NONE) {
		if (step->action.input != NONE) {
			step->from = read_place(s, own);
			scan_need(s, ",");
		}
		step->to = read_place(s, own);
		if (s->error[0] == '\0' && step->to.buffer == IN)
			scan_fail(s, "%s writes to in, which must not change", name);
		scan_need(s, ",");
		step->count = read_number(s, !step->action.local, false);
	}
	scan_need(s, ")");
	/* After the arguments: a root of its own, and a number of repetitions. */
	if (scan_word(s, "root"))
		step->root = read_number(s, true, true);
	if (scan_word(s, "for") && scan_need(s, "i") && scan_need(s, "<"))
		step->turns = read_number(s, true, true);
}

/* ---- guidelines ----------------------------------------------------------------------------- */

/* The calls joined by PLUS; local copies are named only if there is nothing else. */
static char *
calls_of(const struct own *own, const char *plus)
{
	char *names = formatted("%s", "");

	for (int local = 0; local < 2 && names[0] == '\0'; local++)
		for (size_t i = 0; i < own->step_count; i++) {
			char *before = names;

			if (own->steps[i].action.local != (local == 1))
				continue;
			names = formatted("%s%s%s", before, before[0] != '\0' ? plus : "",
			    own->steps[i].action.name);
			free(before);
		}
	return names;
}

static void
add_subject(struct scanner *s, struct own_file *file, const struct own *own, const char *label)
{
	struct subject *to = &file->subjects[file->count];
	const char *left = own->function->name + 4;
	char *names = label[0] != '\0' ? formatted("%s", label) : calls_of(own, "+");
	char *short_names = label[0] != '\0' ? formatted("%s", label) : calls_of(own, "");

	*to = (struct subject){ .name = formatted("%s_as_%s", left, short_names), .own = own,
	    .function = own->function->name, .guideline = formatted("%s <= %s", left, names),
	    .memory = "those of its buffers", .run = program_run,
	    .number = OWN_FIRST + (int)file->count };
	for (size_t i = 0; i < mockup_count; i++)
		if (strcmp(mockups[i].name, to->name) == 0)
			scan_fail(s, "there is a built-in \"%s\": give it a name, as in "
			    "mine: %s <= ...", to->guideline, left);
	for (size_t i = 0; i < file->count; i++)
		if (strcmp(file->subjects[i].name, to->name) == 0)
			scan_fail(s, "line %zu has a \"%s\" already: give it a name, as in "
			    "mine: %s <= ...", file->subjects[i].own->line, to->guideline, left);
	free(names);
	free(short_names);
	file->count++;
}

static void
parse_guideline(struct scanner *s, struct own_file *file)
{
	struct own *own = zalloc(1, sizeof *own);
	char name[OWN_NAME], label[OWN_NAME] = "";

	own->line = s->line;
	strcpy(own->buffers[IN], "in");
	strcpy(own->buffers[OUT], "out");
	own->buffer_count = 2;
	if (file->count == OWN_LINES)
		scan_fail(s, "more than %d guidelines", OWN_LINES);
	if (!scan_name(s, name))
		return;
	if (scan_word(s, ":")) {
		strcpy(label, name);
		if (!scan_name(s, name))
			return;
	}
	own->function = find_function(name);
	if (own->function == NULL) {
		scan_fail(s,
		    "%s is no function that can be measured; lp-measure --list shows them", name);
		return;
	}
	scan_need(s, "<=");
	do
		parse_step(s, own);
	while (s->error[0] == '\0' && scan_word(s, "+"));
	scan_blanks(s);
	if (*s->at != '\n' && *s->at != '\0')
		scan_need(s, "+");
	if (s->error[0] == '\0')
		add_subject(s, file, own, label);
}

bool
own_parse(const char *text, size_t size, struct own_file *file, char error[ERROR_BYTES])
{
	struct scanner s = { .at = text, .line = 1, .error = error };

	error[0] = '\0';
	*file = (struct own_file){ .subjects = zalloc(OWN_LINES, sizeof *file->subjects) };
	while (error[0] == '\0') {
		scan_blanks(&s);
		if (*s.at == '\0')
			break;
		if (*s.at == '\n') {
			s.at++;
			s.line++;
			continue;
		}
		parse_guideline(&s, file);
	}
	if (error[0] == '\0' && s.at != text + size)
		scan_fail(&s, "a byte of 0");
	if (error[0] == '\0' && file->count == 0)
		scan_fail(&s, "the file contains no guideline");
	return error[0] == '\0';
}
