/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits of what may have become worse: NAME=VALUE, where VALUE is seconds, or per cent of A's run
 * time with % behind it. One is exceeded only where the whole interval lies beyond it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

static int64_t
state_wait(const struct summary *run, size_t state)
{
	return run->wait_ns[state];
}

static int64_t
all_waits(const struct summary *run, size_t index)
{
	int64_t ns = 0;

	(void)index;
	for (size_t s = 0; s < STATES; s++)
		ns += run->wait_ns[s];
	return ns;
}

/* What of each rank's time was lost, in 10^-9, so that it is an integer like all. */
static int64_t
parallel_loss(const struct summary *run, size_t index)
{
	(void)index;
	return isfinite(run->parallel) ? (int64_t)(1e9 * (1 - run->parallel)) : 0;
}

/* Sites whose function, file:line or whole text is NAME; all of them are looked at. */
static bool
is_site(const struct unit *unit, const char *name)
{
	const struct place *p = unit->first;
	const char *slash = p->file != NULL ? strrchr(p->file, '/') : NULL;
	char line[512], text[512];

	snprintf(line, sizeof line, "%s:%d", slash != NULL ? slash + 1 : p->file != NULL ? p->file : "",
	    (int)p->line);
	return (p->function != NULL && strcmp(p->function, name) == 0) || strcmp(line, name) == 0 ||
	    strcmp(unit_text(unit, text, sizeof text), name) == 0;
}

static bool
is_beyond(const struct verdict *v, const char *name, const struct change *change, double limit,
    bool relative, bool is_share)
{
	const double unit = is_share ? 1e9 / (relative ? 100 : 1) : relative ? v->run_time.a / 100 : 1e9;
	const char *const units = relative ? " %" : is_share ? "" : " s";

	if (!change->judged) {
		note("%s changed by %.6g%s, the limit is %.6g%s; too few runs to judge", name,
		    (double)change->change_ns / unit, units, limit, units);
		return false;
	}
	if (change->low / unit <= limit)
		return false;
	note("%s grew by %.6g%s (95 %%: %.6g to %.6g), the limit is %.6g%s", name, change->shift / unit, units,
	    change->low / unit, change->high / unit, limit, units);
	return true;
}

static bool
exceeds_one(const struct comparison *c, const struct verdict *v, const char *name, double limit,
    bool relative)
{
	struct change change;
	bool beyond = false, known = false;

	if (strncmp(name, "site:", 5) == 0) {
		for (size_t u = 0; u < c->unit_count; u++)
			if (is_site(&c->units[u], name + 5)) {
				beyond |= is_beyond(v, name, &v->paths[u], limit, relative, false);
				known = true;
			}
		if (!known)
			note("%s: there is no such site", name);
		return beyond;
	}
	if (strcmp(name, "run_time") == 0)
		return is_beyond(v, name, &v->run_time, limit, relative, false);
	if (strcmp(name, "parallel_loss") == 0) {
		change_of(c, parallel_loss, 0, &change);
		return is_beyond(v, name, &change, limit, relative, true);
	}
	if (strcmp(name, "wait") == 0) {
		change_of(c, all_waits, 0, &change);
		return is_beyond(v, name, &change, limit, relative, false);
	}
	for (size_t s = 0; s < STATES; s++)
		if (strcmp(name, state_names[s]) == 0) {
			change_of(c, state_wait, s, &change);
			return is_beyond(v, name, &change, limit, relative, false);
		}
	die("--limit: there is nothing called %s; there are run_time, parallel_loss, wait, the wait states "
	    "of lp-imbalance, and site:NAME", name);
}

bool
exceeds(const struct comparison *c, const struct verdict *v, const char **limits, size_t count)
{
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		const char *equals = strrchr(limits[i], '=');
		char *name, *value;
		bool relative;

		if (equals == NULL || equals == limits[i])
			die("--limit: %s is not NAME=VALUE", limits[i]);
		name = need(strndup(limits[i], (size_t)(equals - limits[i])));
		value = need(strdup(equals + 1));
		relative = value[0] != '\0' && value[strlen(value) - 1] == '%';
		if (relative)
			value[strlen(value) - 1] = '\0';
		any |= exceeds_one(c, v, name, parse_number("--limit", value, 0, 1e18), relative);
		free(name);
		free(value);
	}
	return any;
}
