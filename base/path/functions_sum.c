/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins the paths by function that several processes, or parts, have found. They are sums of whole
 * numbers, so the result does not depend on who found what.
 */
#include "output.h"

enum { BLOCK = 4096 };		/* places in a message */

static void
add_sums(struct functions *f, const struct function_sums *more)
{
	f->sums.any |= more->any;
	f->sums.switched |= more->switched;
	f->sums.clock |= more->clock;
	core_time_add(&f->sums.core, &more->core);
	f->sums.threads_ns += more->threads_ns;
	f->sums.alone_ns += more->alone_ns;
	f->sums.lost += more->lost;
	if (more->period_ns > f->sums.period_ns)
		f->sums.period_ns = more->period_ns;
	for (int kind = 0; kind < KINDS; kind++)
		f->sums.path_ns[kind] += more->path_ns[kind];
}

void
functions_gather(struct functions *f, const struct team *team)
{
	size_t own, places, members;
	struct sampled *mine = functions_places(f, &own);
	struct sampled *all = team_gather(team, mine, own, sizeof *mine, &places);
	struct function_sums *sums = team_gather(team, &f->sums, 1, sizeof f->sums, &members);

	if (team->rank == 0) {	/* its own places come first */
		for (size_t i = own; i < places; i++)
			functions_add_place(f, &all[i]);
		for (size_t m = 1; m < members; m++)
			add_sums(f, &sums[m]);
	}
	free(mine);
	free(all);
	free(sums);
}

/* ---- between parts, as a message ---- */

/* From switches; only the first block has it. */
static const struct {
	const char *key;
	size_t at;
} core_keys[] = {
#define OF(member) offsetof(struct function_sums, member)
	{ "on_core_ns", OF(core.on_ns) }, { "blocked_ns", OF(core.off_ns[OFF_BLOCKED]) },
	{ "preempted_ns", OF(core.off_ns[OFF_PREEMPTED]) }, { "unknown_ns",
	OF(core.off_ns[OFF_UNKNOWN]) },
	{ "threads_ns", OF(threads_ns) }, { "alone_ns", OF(alone_ns) },
#undef OF
};
enum { CORE_KEYS = sizeof core_keys / sizeof core_keys[0] };

/* Columns of places in a message; some groups may be missing. */
enum group { ALWAYS, BLOCKED, THREADS, COUNTED, GROUPS };
static const struct place_column {
	const char *key;
	size_t at;			/* of the member */
	uint8_t width;
	enum group group;
} columns[] = {
#define OF(member) offsetof(struct sampled, member), sizeof ((struct sampled *)NULL)->member
#define COUNTER(name, ...) \
	{ #name, OF(counts.of[COUNT_##name]), COUNTED },
	{ "site", OF(site), ALWAYS }, { "callers", OF(callers), ALWAYS },
	{ "all", OF(all), ALWAYS }, { "samples", OF(samples), ALWAYS },
	{ "blocked", OF(blocked_ns), BLOCKED }, { "blocked_before", OF(before_ns), BLOCKED },
	{ "rank", OF(rank), THREADS }, { "worker", OF(worker), THREADS },
	{ "awaited", OF(awaited_ns), THREADS },
	{ "counted", OF(counted_ns), COUNTED },
#include "../stream/counters.h"
#undef COUNTER
#undef OF
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static struct column_type
type_of(const struct place_column *c)
{
	return (struct column_type){ c->width, false, c->group == ALWAYS, 0 };
}

static void
put_group(struct writer *out, enum group group, const struct sampled *places, size_t count)
{
	for (const struct place_column *c = columns; c < columns + COLUMNS; c++)
		if (c->group == group)
			put_member(out, c->key, type_of(c), (const char *)places + c->at, count,
			    sizeof *places);
}

static void
write_block(struct writer *out, const struct functions *f, const struct sampled *places,
    size_t count, bool first)
{
	const struct on_path on_path = functions_on_path(f);
	bool has[GROUPS] = { [ALWAYS] = true };
	int64_t path[BLOCK], ns;
	unsigned pairs = 5;

	for (size_t i = 0; i < count; i++) {
		path[i] = on_path_ns(&on_path, places[i].samples);
		has[BLOCKED] |= places[i].blocked_ns > 0 || places[i].before_ns > 0;
		has[THREADS] |= places[i].worker > 0;
		for (int c = 0; c < COUNTERS; c++)
			has[COUNTED] |= places[i].counts.of[c] > 0;
	}
	for (const struct place_column *c = columns; c < columns + COLUMNS; c++)
		pairs += has[c->group];
	message_begin(out, "sampled_path", pairs + (first && f->sums.switched ? CORE_KEYS + 2 : 0));
	put_uint(out, "count", count);
	put_int(out, "period_ns", f->sums.period_ns);
	put_uint(out, "lost", first ? f->sums.lost : 0);
	put_int(out, "not_sampled_ns", first ? on_path.off_ns[OFF_UNKNOWN] : 0);
	for (int k = 0; first && f->sums.switched && k < CORE_KEYS; k++) {
		memcpy(&ns, (const char *)&f->sums + core_keys[k].at, sizeof ns);
		put_int(out, core_keys[k].key, ns);
	}
	if (first && f->sums.switched) {
		put_int(out, "unsampled_ns", on_path.unsampled_ns);
		put_bool(out, "clock", f->sums.clock);
	}
	put_group(out, ALWAYS, places, count);
	put_column(out, "path", path, count);
	for (int g = ALWAYS + 1; g < GROUPS; g++)
		if (has[g])
			put_group(out, (enum group)g, places, count);
	end_message(out);
}

void
functions_write(struct writer *out, const struct functions *f)
{
	size_t count;
	struct sampled *places = functions_places(f, &count);

	for (size_t i = 0; i == 0 || i < count; i += BLOCK)
		write_block(out, f, places + i, count - i < BLOCK ? count - i : BLOCK, i == 0);
	free(places);
}

void
functions_read(struct functions *f, struct reader *in, const struct message *message)
{
	struct function_sums sums = { .any = true };
	struct sampled *places;
	char *values;
	int64_t ns;
	size_t n;

	if (body_int(in, message, "count", 0, BLOCK, &n) < 0 ||
	    body_int(in, message, "period_ns", 0, INT64_MAX, &sums.period_ns) < 0 ||
	    body_int(in, message, "lost", 0, INT64_MAX, &sums.lost) < 0)
		die_input(in);
	sums.switched = body_get(message, "clock") != NULL;
	sums.clock = body_true(message, "clock");
	for (int k = 0; k < CORE_KEYS && sums.switched; k++) {
		if (body_int(in, message, core_keys[k].key, 0, INT64_MAX / 4096, &ns) < 0)
			die_input(in);
		memcpy((char *)&sums + core_keys[k].at, &ns, sizeof ns);
	}
	places = zalloc(n, sizeof *places);
	values = zalloc(n, sizeof(uint64_t));
	for (const struct place_column *c = columns; c < columns + COLUMNS; c++) {
		if (body_column_of(in, message, c->key, type_of(c), n, n, values) < 0)
			die_input(in);
		for (size_t i = 0; i < n; i++)
			memcpy((char *)&places[i] + c->at, values + i * c->width, c->width);
	}
	add_sums(f, &sums);
	for (size_t i = 0; i < n; i++)
		functions_add_place(f, &places[i]);
	free(places);
	free(values);
}
