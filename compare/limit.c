/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits: NAME=VALUE, where VALUE is in seconds, or with % in per cent of A's run time. A limit is
 * exceeded only if the whole interval is above it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "../base/tool/whole_file.h"
#include "../base/tool/text.h"

static int64_t
all_waits(const struct summary *run, size_t index)
{
	int64_t ns = 0;

	(void)index;
	for (size_t s = 0; s < STATES; s++)
		ns += run->wait_ns[s];
	return ns;
}

/* Share of each rank's time that was lost, in 10^-9: an integer, like all values. */
static VALUE_IS(parallel_loss,
    isfinite(run->of.parallel) ? (int64_t)(1e9 * (1 - run->of.parallel)) : 0)

/* Whether function, file:line or text of the site is NAME; several sites may match. */
static bool
is_site(const struct unit *unit, const char *name)
{
	const struct place_names *p = &unit->place;
	char line[512];

	snprintf(line, sizeof line, "%s:%d", file_name(p->file), (int)p->line);
	return (p->function != NULL && strcmp(p->function, name) == 0) || strcmp(line, name) == 0 ||
	    strcmp(p->text, name) == 0;
}

/* Adds the limit as ASKED with its result. */
static void
judge_limit(struct verdict *v, const struct limit *asked, const struct change *change,
    const char *site)
{
	const double one = asked->is_share ? 1e9 / (asked->relative ? 100 : 1) :
	    asked->relative ? v->run_time.a / 100 : 1e9;
	const char *const space = asked->relative || !asked->is_share ? " " : "";
	struct limit *l = APPEND(v->limits, v->limit_count, v->limit_capacity);

	*l = *asked;
	l->judged = change->judged;
	l->value = (change->judged ? change->shift : (double)change->change_ns) / one;
	l->site = site;
	if (!l->judged) {
		snprintf(l->text, sizeof l->text,
		    "%s changed by %.6g%s%s, the limit is %.6g%s%s; too few runs to judge",
		    l->name, l->value, space, l->unit, l->limit, space, l->unit);
		return;
	}
	l->low = change->low / one;
	l->high = change->high / one;
	l->exceeded = l->low > l->limit;
	snprintf(l->text, sizeof l->text,
	    "%s grew by %.6g%s%s (95 %%: %.6g to %.6g), the limit is %.6g%s%s", l->name, l->value,
	    space, l->unit, l->low, l->high, l->limit, space, l->unit);
}

static void
judge_sites(const struct comparison *c, struct verdict *v, struct limit *asked)
{
	bool known = false;

	for (size_t u = 0; u < c->unit_count; u++)
		if (is_site(&c->units[u], asked->name + 5)) {
			judge_limit(v, asked, &v->sites[u].path, c->units[u].place.text);
			known = true;
		}
	if (!known) {
		snprintf(asked->text, sizeof asked->text, "%s: there is no such site", asked->name);
		*APPEND(v->limits, v->limit_count, v->limit_capacity) = *asked;
	}
}

static void
judge_one(const struct comparison *c, struct verdict *v, struct limit *asked)
{
	VALUE(of) = strcmp(asked->name, "wait") == 0 ? all_waits : NULL;
	struct change change;
	size_t state = 0;

	asked->is_share = strcmp(asked->name, "parallel_loss") == 0;
	asked->unit = asked->relative ? "%" : asked->is_share ? "" : "s";
	if (strncmp(asked->name, "site:", 5) == 0) {
		judge_sites(c, v, asked);
		return;
	}
	if (strcmp(asked->name, "run_time") == 0) {
		judge_limit(v, asked, &v->run_time, NULL);
		return;
	}
	if (asked->is_share)
		of = parallel_loss;
	for (size_t s = 0; s < STATES && of == NULL; s++)
		if (strcmp(asked->name, state_names[s]) == 0) {
			of = state_wait;
			state = s;
		}
	if (of == NULL)
		die("--limit: unknown name %s; known are run_time, parallel_loss, wait, "
		    "the wait states of lp-imbalance, and site:NAME", asked->name);
	change_of(c, of, state, &change);
	judge_limit(v, asked, &change, NULL);
}

bool
judge_limits(const struct comparison *c, struct verdict *v, const char **limits, size_t count)
{
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		const char *equals = strrchr(limits[i], '=');
		struct limit asked = { .typed = limits[i], .value = NAN, .low = NAN, .high = NAN };
		char *value;

		if (equals == NULL || equals == limits[i])
			die("--limit: %s is not NAME=VALUE", limits[i]);
		asked.name = need(strndup(limits[i], (size_t)(equals - limits[i])));
		value = need(strdup(equals + 1));
		asked.relative = value[0] != '\0' && value[strlen(value) - 1] == '%';
		if (asked.relative)
			value[strlen(value) - 1] = '\0';
		asked.limit = parse_number("--limit", value, 0, 1e18);
		judge_one(c, v, &asked);
		free(value);
	}
	for (size_t i = 0; i < v->limit_count; i++) {
		if (v->limits[i].exceeded || !v->limits[i].judged)
			note("%s", v->limits[i].text);
		any |= v->limits[i].exceeded;
	}
	return any;
}

/* ---- JUnit results ---------------------------------------------------------------------- */

static void
put_case(struct text *out, const struct limit *l)
{
	text_put(out, "  <testcase classname=\"lp-compare\" name=\"");
	text_markup(out, l->typed);
	if (l->site != NULL) {
		text_put(out, " ");
		text_markup(out, l->site);
	}
	text_put(out, l->exceeded ? "\">\n    <failure message=\"" : l->judged ?
	    "\">\n    <system-out>" : "\">\n    <skipped message=\"");
	text_markup(out, l->text);
	text_put(out, l->exceeded ? "\"/>\n  </testcase>\n" : l->judged ?
	    "</system-out>\n  </testcase>\n" : "\"/>\n  </testcase>\n");
}

/* A test case per limit; a limit that too few runs cannot decide is skipped. */
void
write_junit(const struct verdict *v, const char *name)
{
	static struct text text;	/* too large for the stack */
	struct whole_file whole = whole_file_begin(name);
	size_t failures = 0, skipped = 0;

	for (size_t i = 0; i < v->limit_count; i++) {
		failures += v->limits[i].exceeded;
		skipped += !v->limits[i].judged;
	}
	text_begin(&text, whole.file, name);
	text_print(&text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite "
	    "name=\"lp-compare\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n",
	    v->limit_count, failures, skipped);
	for (size_t i = 0; i < v->limit_count; i++)
		put_case(&text, &v->limits[i]);
	text_put(&text, "  <system-out>");
	text_markup(&text, v->text);
	text_put(&text, "</system-out>\n");
	text_put(&text, "</testsuite>\n");
	text_flush(&text);
	whole_file_end(&whole);
}
