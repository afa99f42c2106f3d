/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads measurement streams into one median per subject, size and mpirun. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "guidelines.h"

static const char *const role_names[] = { "function", "mockup", "split", "control", NULL };

static uint64_t
number(struct reader *in, const struct message *message, const char *key)
{
	int64_t value;

	if (body_int(in, message, key, 0, INT64_MAX, &value) < 0)
		die_input(in);
	return (uint64_t)value;
}

static enum role
role_of(struct reader *in, const struct message *message)
{
	char *name = need_string(in, message, "role");
	int role = 0;

	while (role_names[role] != NULL && strcmp(role_names[role], name) != 0)
		role++;
	if (role_names[role] == NULL)
		die_message(in, message, "samples: role is out of range");
	free(name);
	return (enum role)role;
}

struct sample
scaled(const struct sample *sample, double factor)
{
	struct sample to = { zalloc(sample->count, sizeof *to.at), sample->count };

	for (size_t i = 0; i < to.count; i++)
		to.at[i] = factor * sample->at[i];
	return to;
}

static const char *const text_keys[SETTING_TEXTS] = {
	"library", "hosts", "type", "sync", "mended",
};

static struct setting
read_setting(struct reader *in, const struct message *message)
{
	struct setting s = { .root = 0 };

	for (int i = 0; i < SETTING_TEXTS; i++) {
		s.text[i] = body_string(message, text_keys[i]);
		if (s.text[i] == NULL)
			s.text[i] = need(strdup(""));
	}
	if (body_int(in, message, "ranks", 1, INT32_MAX, &s.ranks) < 0 ||
	    body_int_if(in, message, "root", 0, INT32_MAX, &s.root) < 0)
		die_input(in);
	return s;
}

static void
check_setting(struct reader *in, const struct message *message, const struct setting *before)
{
	struct setting now = read_setting(in, message);
	int bad = 0;

	if (now.ranks != before->ranks)
		bad = reader_fail(in, message->offset, "an mpirun of %"
		    PRId64 " ranks; those before have %" PRId64, now.ranks, before->ranks);
	else if (now.root != before->root)
		bad = reader_fail(in, message->offset,
		    "an mpirun with another root than those before");
	for (int i = 0; i < SETTING_TEXTS; i++) {
		if (bad == 0 && strcmp(now.text[i], before->text[i]) != 0)
			/* lp-mend's rules may be too long for a message */
			bad = i == MENDED ? reader_fail(in, message->offset,
			    "an mpirun under other rules of lp-mend than those before") :
			    reader_fail(in, message->offset, "an mpirun with %s \"%s\"; those "
			    "before have \"%s\": they are no repetitions of each other",
			    text_keys[i], now.text[i], before->text[i]);
		free(now.text[i]);
	}
	if (bad != 0)
		die_input(in);
}

/* Returns the campaign that the mpirun belongs to: the first stage or the second. */
static struct campaign *
take_mpirun(struct campaign *first, struct reader *in, const struct message *message)
{
	struct campaign *c = body_is(message, "stage", "confirm") ? first->confirm : first;

	if (first->mpiruns + first->confirm->mpiruns == 0)
		first->setting = first->confirm->setting = read_setting(in, message);
	else
		check_setting(in, message, &first->setting);
	c->mpiruns++;
	if (body_get(message, "barrier_spread") != NULL)
		*APPEND(c->spreads.at, c->spreads.count, c->spread_capacity) =
		    (double)number(in, message, "barrier_spread");
	return c;
}

struct series *
same_series(const struct campaign *c, const struct series *wanted)
{
	for (struct series *s = c->series; s < c->series + c->count; s++)
		if (s->bytes == wanted->bytes && s->role == wanted->role &&
		    s->part == wanted->part && strcmp(s->function, wanted->function) == 0 &&
		    (wanted->name == NULL || strcmp(s->name, wanted->name) == 0))
			return s;
	return NULL;
}

const struct series *
find_series(const struct campaign *c, const char *function, enum role role, uint64_t bytes,
    uint64_t part)
{
	return same_series(c, &(struct series){ .function = function, .role = role, .bytes = bytes,
	    .part = part });
}

/* The median within Tukey's fences, as in PGMPI; QUARTILE gets the lower quartile of all times. */
static double
median_of(struct reader *in, const struct message *message, double *quartile)
{
	size_t count = (size_t)number(in, message, "count");
	uint64_t *ns;
	struct sample sample;
	double result;

	if (count == 0 || count > message->size)
		die_message(in, message, "samples: count is out of range");
	ns = zalloc(count, sizeof *ns);
	if (body_column(in, message, "time", count, ns) < 0)
		die_input(in);
	sample = (struct sample){ zalloc(count, sizeof(double)), count };
	for (size_t i = 0; i < count; i++)
		sample.at[i] = (double)ns[i];
	median(sample);		/* sorts them */
	*quartile = quantile_of(sample, 0.25);
	result = median(within_fences(sample));
	free(sample.at);
	free(ns);
	return result;
}

static void
take_samples(struct campaign *c, struct reader *in, const struct message *message)
{
	struct series wanted = { .role = role_of(in, message),
	    .name = need_string(in, message, "name"), .function = need_string(in, message,
	    "function"), .guideline = need_string(in, message, "guideline"),
	    .number = (int)number(in, message, "number"), .bytes = number(in, message, "bytes"),
	    .volume = number(in, message, "volume"), .part = number(in, message, "part") };
	struct series *s;
	double quartile;

	if (c == NULL)
		die_message(in, message, "samples: no mpirun before them");
	s = same_series(c, &wanted);
	if (s == NULL) {
		s = APPEND(c->series, c->count, c->capacity);
		*s = wanted;
	}
	if (s->medians.count >= c->mpiruns)
		die_message(in, message, "samples: %s at %" PRIu64 " bytes twice in one mpirun",
		    s->name, s->bytes);
	*APPEND(s->medians.at, s->medians.count, s->capacity) = median_of(in, message, &quartile);
	*APPEND(s->quartiles.at, s->quartiles.count, s->quartile_capacity) = quartile;
	if (number(in, message, "count") > s->reps)
		s->reps = (size_t)number(in, message, "count");
}

static void
read_file(struct campaign *c, const char *file)
{
	struct progress progress = { 0 };
	struct reader *in;
	struct message message;
	struct campaign *stage = NULL;

	if (reader_open(&in, file, READ_STREAM) < 0 || reader_need_content(in, "measurement") < 0)
		die_input(in);
	while (progress_next(&progress, in, &message))
		if (is_kind(&message, "mpirun"))
			stage = take_mpirun(c, in, &message);
		else if (is_kind(&message, "samples"))
			take_samples(stage, in, &message);
	reader_close(in);
}

/* Each side of each guideline must be measured at each size in each mpirun. */
static void
check_sides(const struct campaign *c)
{
	for (const struct series *s = c->series; s < c->series + c->count; s++) {
		if (s->medians.count != c->mpiruns)
			die("%s at %" PRIu64 " bytes: measured in %zu of %zu mpiruns", s->name,
			    s->bytes, s->medians.count, c->mpiruns);
		if (s->role != FUNCTION &&
		    find_series(c, s->function, FUNCTION, s->bytes, 0) == NULL)
			die("%s at %" PRIu64 " bytes: no measurement of %s",
			    s->role == MOCKUP ? s->guideline : s->name, s->bytes, s->function);
		if (s->role != MOCKUP)
			continue;
		for (const struct series *f = c->series; f < c->series + c->count; f++) {
			struct series there = *s;

			there.bytes = f->bytes;
			if (f->role == FUNCTION && strcmp(f->function, s->function) == 0 &&
			    same_series(c, &there) == NULL)
				die("%s at %" PRIu64 " bytes: no measurement of %s", s->guideline,
				    f->bytes, s->name);
		}
	}
}

/* By function, role, name, size: the result does not depend on the order of jobs. */
ORDER(by_place, struct series, BY_TEXT(function) BY(role) BY(number) BY_TEXT(name) BY(bytes)
    BY(part))

struct campaign
read_campaign(char **files, size_t count)
{
	struct campaign c = { .confirm = zalloc(1, sizeof *c.confirm) };

	for (size_t i = 0; i < count; i++)
		read_file(&c, files[i]);
	if (c.mpiruns < 2 || c.confirm->mpiruns == 1)
		die("a campaign of %zu mpirun%s: at least 2 are needed, better 20",
		    c.mpiruns < 2 ? c.mpiruns : c.confirm->mpiruns,
		    c.mpiruns == 1 || c.confirm->mpiruns == 1 ? "" : "s");
	if (c.count == 0)
		die("no measurements");
	SORT(c.series, c.count, by_place);
	SORT(c.confirm->series, c.confirm->count, by_place);
	check_sides(&c);
	check_sides(c.confirm);
	if (c.confirm->mpiruns == 0) {
		free(c.confirm);
		c.confirm = NULL;
	}
	return c;
}
